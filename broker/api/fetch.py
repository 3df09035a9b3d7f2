"""Fetch (API key 1), versions 4 to 18.

Behaviour:
  * Data in memory is answered at once, as views of the bytes that the WAL wrote; other data is read from the bucket.
  * Waits for `min_bytes` up to `max_wait_ms`, unless there is an error; a time-out gives an empty answer, not an error.
  * Whole batches only, in the order of the request; the first partition with data returns at least one batch (KIP-74).
  * A partition that another broker leads, or at a newer epoch, is answered with its leader's address (KIP-951).
  * Sessions (KIP-227); when the cache is full, the answer has session id 0, and the client continues with full fetches.
Deviations from Apache Kafka:
  * No partial batch at the end of a partition's records, no preferred read replica, no diverging epoch (there are no
    followers).
Version notes:
  * 7: sessions.  9: leader epoch of the client.  12: flexible.  13: topic ids.  16: node endpoints.
Source: FetchRequest.json, FetchResponse.json of Apache Kafka 4.3; KIP-74, KIP-98, KIP-227, KIP-516, KIP-951.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any
from uuid import UUID

from headrace.broker.api.current_leaders import name_leaders
from headrace.broker.cluster.cluster_view import ClusterView
from headrace.broker.fetch.reader import FetchReader, PartitionRead, ReadResult
from headrace.broker.fetch.session import FetchContext
from headrace.broker.fetch.session_cache import FetchSessions
from headrace.broker.network.request_context import RequestContext
from headrace.broker.network.session import Reply
from headrace.broker.telemetry.request_metrics import RequestMetrics
from headrace.config.node import LogConfig
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import KafkaError
from headrace.protocol.fetch.request import FetchRequest, decode_fetch
from headrace.protocol.fetch.response import (
    NODE_ENDPOINTS_SINCE,
    FetchPartitionResponse,
    FetchTopicResponse,
    encode_fetch_response,
)
from headrace.protocol.leader_discovery import NodeEndpoint

API = ApiKey.FETCH
TOPIC_IDS_SINCE = 13
READ_COMMITTED = 1


class FetchHandler:
    """Serves Fetch from frame to answer."""

    def __init__(
        self,
        *,
        reader: FetchReader,
        cluster: ClusterView,
        sessions: FetchSessions,
        config: LogConfig,
        metrics: RequestMetrics,
    ) -> None:
        self._reader = reader
        self._cluster = cluster
        self._sessions = sessions
        self._config = config
        self._metrics = metrics

    def start(
        self, context: RequestContext, body: memoryview, reply: Reply
    ) -> Coroutine[Any, Any, None] | None:
        """Answer now when memory holds enough, else return the coroutine that waits and reads."""
        begin_s = self._metrics.clock_s()
        version = context.version
        request = decode_fetch(version, body)
        try:
            session = self._sessions.begin(version, request, int(begin_s * 1000))
        except KafkaError as error:
            header = context.header
            code = int(error.code)
            reply.send(encode_fetch_response(version, header.correlation_id, 0, code, 0, []))
            return None
        by_id = version >= TOPIC_IDS_SINCE
        max_bytes = min(request.max_bytes, self._config.max_fetch_bytes)
        fetch = _Fetch(context, request, session, max_bytes, by_id=by_id)
        result = self._reader.read_cached(session.partitions, max_bytes, by_id=by_id)
        if not result.has_cold and fetch.is_enough(result):
            self._answer(fetch, result, reply)
            self._metrics.observe_fetch(self._metrics.clock_s() - begin_s)
            return None
        return self._wait(fetch, reply, begin_s)

    async def _wait(self, fetch: "_Fetch", reply: Reply, begin_s: float) -> None:
        """Read, from the bucket if necessary, until there is enough, time is up, or the client has disconnected."""
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + fetch.request.max_wait_ms / 1000
        targets, by_id = fetch.session.partitions, fetch.by_id
        while not reply.is_lost:
            moved = asyncio.Event()
            reply.on_lost = moved.set
            # Registered before reading, so that appends during a cold read are not missed.
            registered = self._reader.partitions_of(targets, by_id=by_id)
            for partition in registered:
                partition.add_reader(moved.set)
            try:
                result = await self._reader.read(targets, fetch.max_bytes, by_id=by_id)
                if fetch.is_enough(result) or loop.time() >= deadline_s:
                    self._answer(fetch, result, reply)
                    self._metrics.observe_fetch(self._metrics.clock_s() - begin_s)
                    return
                if (
                    not result.has_cold
                ):  # else read again at once: the read from the bucket is still inflight
                    await _wait_until(moved, deadline_s)
            finally:
                for partition in registered:
                    partition.remove_reader(moved.set)

    def _answer(self, fetch: "_Fetch", result: ReadResult, reply: Reply) -> None:
        answer = fetch.session.finish(result.reads, int(self._metrics.clock_s() * 1000))
        aborted = () if fetch.request.isolation_level == READ_COMMITTED else None
        topics: list[FetchTopicResponse] = []
        current: tuple[str, UUID | None] | None = None
        partitions: list[FetchPartitionResponse] = []
        for read in answer.reads:
            key = (read.target.topic, read.target.topic_id)
            if key != current:
                current = key
                partitions = []
                topics.append(FetchTopicResponse(key[0], key[1], partitions))
            partitions.append(_partition(read, aborted))
        header = fetch.context.header
        endpoints: list[NodeEndpoint] = []
        if result.has_error and header.api_version >= NODE_ENDPOINTS_SINCE:
            topics, endpoints = name_leaders(self._cluster, fetch.context, topics)
        reply.send(
            encode_fetch_response(
                header.api_version,
                header.correlation_id,
                0,
                int(answer.error),
                answer.session_id,
                topics,
                endpoints,
            )
        )


async def _wait_until(moved: asyncio.Event, deadline_s: float) -> None:
    """Wait for more data; after the deadline the caller reads once more and answers with what it has."""
    try:
        async with asyncio.timeout_at(deadline_s):
            await moved.wait()
    except TimeoutError:
        return


class _Fetch:
    """One inflight request."""

    __slots__ = ("by_id", "context", "max_bytes", "request", "session")

    def __init__(
        self,
        context: RequestContext,
        request: FetchRequest,
        session: FetchContext,
        max_bytes: int,
        *,
        by_id: bool,
    ) -> None:
        self.context = context
        self.request = request
        self.session = session
        self.max_bytes = max_bytes
        self.by_id = by_id

    def is_enough(self, result: ReadResult) -> bool:
        """Whether the answer need not wait any longer."""
        request = self.request
        return (
            result.has_error
            or request.max_wait_ms <= 0
            or not self.session.partitions
            or result.available_bytes >= min(request.min_bytes, self.max_bytes)
        )


def _partition(read: PartitionRead, aborted: tuple[()] | None) -> FetchPartitionResponse:
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
