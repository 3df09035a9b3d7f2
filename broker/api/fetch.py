"""Fetch (API key 1), versions 4 to 18.

Behaviour:
  * Data in memory is answered at once, as views of the bytes that the WAL wrote; other data is read from the bucket.
  * Waits for `min_bytes` up to `max_wait_ms`, at most five minutes, unless there is an error. Then it answers with what
    there is; a time-out is no error.
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
from collections.abc import Coroutine, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from headrace.broker.api.current_leaders import name_leaders
from headrace.broker.cluster.cluster_view import ClusterView
from headrace.broker.fetch.reader import (
    SLICE_PARTITIONS,
    FetchReader,
    PartitionRead,
    ReadResult,
    counted,
)
from headrace.broker.fetch.session import FetchContext, FetchSession, SessionAnswer
from headrace.broker.fetch.session_cache import FetchSessions
from headrace.broker.fetch.waiting import WaitingFetch
from headrace.broker.network.request_context import RequestContext
from headrace.broker.network.session import Reply
from headrace.broker.network.turn_share import TurnShare
from headrace.broker.telemetry.request_metrics import RequestMetrics
from headrace.config.node import LogConfig
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import KafkaError
from headrace.protocol.fetch.request import FetchRequest, decode_fetch
from headrace.protocol.fetch.response import (
    NODE_ENDPOINTS_SINCE,
    FetchPartitionResponse,
    FetchTopicResponse,
    encode_fetch_in_slices,
    encode_fetch_response,
)
from headrace.protocol.leader_discovery import NodeEndpoint
from headrace.protocol.server_connection import Buffer

API = ApiKey.FETCH
READ_COMMITTED = 1
MAX_WAIT_MS = 300_000  # whatever a client asks for; the answer is an empty one then
LONG_REQUEST_BYTES = 16 * 1024  # may name some 500 partitions


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
        turns: TurnShare,
    ) -> None:
        self._turns = turns
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
        if len(body) > LONG_REQUEST_BYTES:
            return self._begin_later(context, request, reply, begin_s)
        return self._begin(context, request, reply, begin_s)

    async def _begin_later(
        self, context: RequestContext, request: FetchRequest, reply: Reply, begin_s: float
    ) -> None:
        """Begin in another turn of the loop: decoding took long enough."""
        await self._turns.pause()
        rest = self._begin(context, request, reply, begin_s)
        if rest is not None:
            await rest

    def _begin(
        self, context: RequestContext, request: FetchRequest, reply: Reply, begin_s: float
    ) -> Coroutine[Any, Any, None] | None:
        version = context.version
        try:
            session = self._sessions.begin(version, request, int(begin_s * 1000))
        except KafkaError as error:
            header = context.header
            code = int(error.code)
            reply.send(encode_fetch_response(version, header.correlation_id, 0, code, 0, []))
            return None
        max_bytes = min(request.max_bytes, self._config.max_fetch_bytes)
        fetch = _Fetch(context, request, session, max_bytes)
        if len(session.session.changed) <= SLICE_PARTITIONS:
            targets = session.session.look()
            result = self._reader.read_cached(targets, max_bytes, by_id=fetch.by_id)
            if not result.has_cold and fetch.is_enough(result):
                self._answer(fetch, self._finish(fetch, result), reply)
                self._metrics.observe_fetch(self._metrics.clock_s() - begin_s)
                session.end()
                return None
        return self._wait(fetch, reply, begin_s)

    async def _wait(self, fetch: "_Fetch", reply: Reply, begin_s: float) -> None:
        """Read, from the bucket if necessary, until there is enough, time is up, or the client has disconnected."""
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + min(fetch.request.max_wait_ms, MAX_WAIT_MS) / 1000
        context, session = fetch.session, fetch.session.session
        waiting = WaitingFetch(
            session, fetch.enough_bytes, partial(self._reader.count, by_id=fetch.by_id)
        )
        try:
            while not reply.is_lost:
                targets = () if context.is_over else session.look()
                result = await self._reader.read(targets, fetch.max_bytes, by_id=fetch.by_id)
                if (
                    fetch.is_enough(result)
                    or waiting.has_enough
                    or context.is_over
                    or loop.time() >= deadline_s
                ):
                    answer = self._finish(fetch, result)
                    if len(answer.reads) <= SLICE_PARTITIONS:
                        self._answer(fetch, answer, reply)
                    else:
                        await self._answer_in_slices(fetch, answer, reply)
                    self._metrics.observe_fetch(self._metrics.clock_s() - begin_s)
                    return
                if result.has_cold:
                    continue  # the read from the bucket is still inflight
                waiting.begin(counted(result))
                await _Wait(session, waiting, reply).until(deadline_s, self._turns)
        finally:
            context.end()

    def _finish(self, fetch: "_Fetch", result: ReadResult) -> SessionAnswer[PartitionRead]:
        fetch.has_error = result.has_error
        if not result.has_lease:
            result = self._reader.withheld(fetch.session.session.all())
        return fetch.session.finish(result.reads, int(self._metrics.clock_s() * 1000))

    def _answer(self, fetch: "_Fetch", answer: SessionAnswer[PartitionRead], reply: Reply) -> None:
        topics: list[FetchTopicResponse] = []
        fetch.add(topics, answer.reads)
        header = fetch.context.header
        topics, endpoints = self._name_leaders(fetch, topics)
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

    async def _answer_in_slices(
        self, fetch: "_Fetch", answer: SessionAnswer[PartitionRead], reply: Reply
    ) -> None:
        """Answer very many partitions, for which others must not wait."""
        topics: list[FetchTopicResponse] = []
        for start in range(0, len(answer.reads), SLICE_PARTITIONS):
            fetch.add(topics, answer.reads[start : start + SLICE_PARTITIONS])
            await self._turns.pause()
        header = fetch.context.header
        topics, endpoints = self._name_leaders(fetch, topics)
        frame: list[Buffer] = []
        for buffers in encode_fetch_in_slices(
            header.api_version, header.correlation_id, answer.session_id, topics, endpoints
        ):
            frame = buffers
            await self._turns.pause()
        reply.send(frame)

    def _name_leaders(
        self, fetch: "_Fetch", topics: list[FetchTopicResponse]
    ) -> tuple[list[FetchTopicResponse], Sequence[NodeEndpoint]]:
        if fetch.has_error and fetch.context.version >= NODE_ENDPOINTS_SINCE:
            return name_leaders(self._cluster, fetch.context, topics)
        return topics, ()


class _Wait:
    """Counts what moves, at most once in a turn, until there is enough."""

    __slots__ = ("_is_over", "_session", "_waiting", "_woken")

    def __init__(self, session: FetchSession, waiting: WaitingFetch, reply: Reply) -> None:
        self._session = session
        self._waiting = waiting
        self._woken: asyncio.Future[None] | None = None
        self._is_over = False
        reply.on_lost = self.interrupt

    async def until(self, deadline_s: float, turns: TurnShare) -> None:
        """Wait until there is enough, a partition must be read, the wait was interrupted, or time is up."""
        loop = asyncio.get_running_loop()
        timeout = loop.call_at(deadline_s, self.interrupt)
        session, waiting = self._session, self._waiting
        session.waiter = self
        try:
            while not (waiting.has_enough or waiting.must_read):
                if not session.moved:
                    self._woken = loop.create_future()
                    await self._woken
                await turns.pause()  # thousands may wait for the same record
                if self._is_over:
                    return
                waiting.count(SLICE_PARTITIONS)
        finally:
            timeout.cancel()
            if session.waiter is self:
                session.waiter = None

    def moved(self) -> None:
        """Go on in another turn: many partitions may move in this one, and producers wait for its end."""
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)

    def interrupt(self) -> None:
        """End the wait."""
        self._is_over = True
        self.moved()


class _Fetch:
    """One inflight request."""

    __slots__ = ("by_id", "context", "enough_bytes", "has_error", "max_bytes", "request", "session")

    def __init__(
        self, context: RequestContext, request: FetchRequest, session: FetchContext, max_bytes: int
    ) -> None:
        self.context = context
        self.request = request
        self.session = session
        self.max_bytes = max_bytes
        self.enough_bytes = min(request.min_bytes, max_bytes)
        self.by_id = session.session.by_id
        self.has_error = False

    def add(self, topics: list[FetchTopicResponse], reads: Sequence[PartitionRead]) -> None:
        """Add reads to an answer; partitions of one topic that follow each other are together."""
        aborted = () if self.request.isolation_level == READ_COMMITTED else None
        current: tuple[str, UUID | None] | None = None
        partitions: list[FetchPartitionResponse] = []
        if topics:
            last = topics.pop()
            current, partitions = (last.name, last.topic_id), [*last.partitions]
            topics.append(last._replace(partitions=partitions))
        for read in reads:
            key = (read.target.topic, read.target.topic_id)
            if key != current:
                current = key
                partitions = []
                topics.append(FetchTopicResponse(key[0], key[1], partitions))
            partitions.append(_partition(read, aborted))

    def is_enough(self, result: ReadResult) -> bool:
        """Whether the answer need not wait any longer."""
        return (
            result.has_error
            or self.request.max_wait_ms <= 0
            or not self.session.session.partitions
            or result.available_bytes >= self.enough_bytes
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
