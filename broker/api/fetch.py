"""Fetch (API key 1), versions 4 to 18.

Behaviour:
  * Data in memory is answered at once, as views of the bytes that the WAL wrote; what is not is read from the bucket.
  * Waits for `min_bytes` up to `max_wait_ms`, unless there is an error; a time-out is an empty answer, no error.
  * Whole batches only, in the order of the request; the first partition with data returns at least one batch (KIP-74).
  * Sessions (KIP-227); a full cache declines with session id 0, and the client goes on with full fetches.
Deviations from Apache Kafka:
  * No partial batch at the end of a partition's records, no preferred read replica, no diverging epoch (there are no
    followers).
Version notes:
  * 7: sessions.  9: leader epoch of the client.  12: flexible.  13: topic ids.  16: node endpoints.
Source: FetchRequest.json, FetchResponse.json of Apache Kafka 4.3; KIP-74, KIP-98, KIP-227, KIP-516.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any
from uuid import UUID

from broker.api.context import RequestContext
from broker.fetch.reader import FetchReader, FetchTarget, PartitionRead, ReadResult
from broker.network.session import Reply
from broker.telemetry.request_metrics import RequestMetrics
from config.node import LogConfig
from protocol.api_keys import ApiKey
from protocol.fetch.request import FetchRequest, decode_fetch
from protocol.fetch.response import (
    FetchPartitionResponse,
    FetchTopicResponse,
    encode_fetch_response,
)

API = ApiKey.FETCH
TOPIC_IDS_SINCE = 13
READ_COMMITTED = 1


class FetchHandler:
    """Serves Fetch from frame to answer."""

    def __init__(self, *, reader: FetchReader, config: LogConfig, metrics: RequestMetrics) -> None:
        self._reader = reader
        self._config = config
        self._metrics = metrics

    def start(
        self, context: RequestContext, body: memoryview, reply: Reply
    ) -> Coroutine[Any, Any, None] | None:
        """Answer now when memory holds enough, or return what waits and reads."""
        begin_s = self._metrics.clock_s()
        request = decode_fetch(context.version, body)
        by_id = context.version >= TOPIC_IDS_SINCE
        targets = [
            FetchTarget(
                topic.name,
                topic.topic_id,
                partition.partition_index,
                partition.current_leader_epoch,
                partition.fetch_offset,
                partition.partition_max_bytes,
            )
            for topic in request.topics
            for partition in topic.partitions
        ]
        bytes_max = min(request.max_bytes, self._config.fetch_bytes_max)
        result = self._reader.read_cached(targets, bytes_max, by_id=by_id)
        if not result.has_cold and self._is_enough(request, targets, result, bytes_max):
            self._answer(context, request, result, reply)
            self._metrics.observe_fetch(self._metrics.clock_s() - begin_s)
            return None
        return self._wait(context, request, targets, bytes_max, reply)

    def _is_enough(
        self,
        request: FetchRequest,
        targets: list[FetchTarget],
        result: ReadResult,
        bytes_max: int,
    ) -> bool:
        return (
            result.has_error
            or request.max_wait_ms <= 0
            or not targets
            or result.size_bytes >= min(request.min_bytes, bytes_max)
        )

    async def _wait(
        self,
        context: RequestContext,
        request: FetchRequest,
        targets: list[FetchTarget],
        bytes_max: int,
        reply: Reply,
    ) -> None:
        """Read, from the bucket where need be, until there is enough or time is up."""
        by_id = context.version >= TOPIC_IDS_SINCE
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + request.max_wait_ms / 1000
        while True:
            moved = asyncio.Event()
            # Registered before reading: what arrives while a cold partition is read is not missed.
            registered = self._reader.partitions_of(targets, by_id=by_id)
            for partition in registered:
                partition.add_reader(moved.set)
            try:
                result = await self._reader.read(targets, bytes_max, by_id=by_id)
                if self._is_enough(request, targets, result, bytes_max):
                    break
                async with asyncio.timeout_at(deadline_s):
                    await moved.wait()
            except TimeoutError:
                result = await self._reader.read(targets, bytes_max, by_id=by_id)
                break
            finally:
                for partition in registered:
                    partition.remove_reader(moved.set)
        self._answer(context, request, result, reply)

    def _answer(
        self, context: RequestContext, request: FetchRequest, result: ReadResult, reply: Reply
    ) -> None:
        aborted = () if request.isolation_level == READ_COMMITTED else None
        topics: list[FetchTopicResponse] = []
        current: tuple[str | None, UUID | None] | None = None
        partitions: list[FetchPartitionResponse] = []
        for read in result.reads:
            key = (read.target.topic, read.target.topic_id)
            if key != current:
                current = key
                partitions = []
                topics.append(FetchTopicResponse(key[0] or "", key[1], partitions))
            partitions.append(self._partition(read, aborted))
        reply.send(
            encode_fetch_response(context.version, context.header.correlation_id, 0, 0, 0, topics)
        )

    def _partition(self, read: PartitionRead, aborted: tuple[()] | None) -> FetchPartitionResponse:
        return FetchPartitionResponse(
            read.target.index,
            int(read.error),
            read.high_watermark,
            read.high_watermark,
            read.log_start_offset,
            aborted,
            -1,
            [batch.payload for batch in read.batches],
        )
