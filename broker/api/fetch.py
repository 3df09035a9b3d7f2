"""Fetch (API key 1), versions 4 to 18.

In this order:
  1. Decode. Find or begin the session; only what is named, or may have news, is looked at.
  2. Wait for partitions that are about to come here.
  3. Read what is in memory, up to the end for the request's isolation. Enough: go on with 6, without a task.
  4. Read the rest from the bucket, side by side, for a second at most. Enough, or no time left: go on with 6.
  5. Count what moves until that is enough, or time is up, or the client is gone; then read again (4).
  6. Answer nothing of it without a valid lease. Answer what is news to the session, with the leaders of what is
     elsewhere.
Behaviour:
  * Data in memory is answered at once, as views of the bytes that the WAL wrote; other data is read from the bucket.
  * Waits for `min_bytes` up to `max_wait_ms`, at most five minutes, unless there is an error. Then it answers with what
    there is; a time-out is no error.
  * Under read_committed what lies before the last stable offset, and which transactions of it were aborted.
  * Whole batches only, in the order of the request; the first partition with data returns at least one batch (KIP-74).
  * A partition that is about to move to this broker is waited for, for at most two seconds.
  * A partition that another broker leads, or at a newer epoch, is answered with its leader's address (KIP-951).
  * Sessions (KIP-227); when the cache is full, the answer has session id 0, and the client continues with full fetches.
Deviations from Apache Kafka:
  * No partial batch at the end of a partition's records, no preferred read replica, no diverging epoch (there are no
    followers).
Version notes:
  * 7: sessions.  9: leader epoch of the client.  12: flexible.  13: topic ids.  16: node endpoints.
Source: FetchRequest.json, FetchResponse.json of Apache Kafka 4.4; KIP-74, KIP-98, KIP-227, KIP-516, KIP-951.
"""

import asyncio
from collections.abc import Sequence
from functools import partial

from headrace.broker.api.current_leaders import name_leaders
from headrace.broker.cluster.cluster_view import ClusterView
from headrace.broker.fetch.enough import Enough
from headrace.broker.fetch.reader import (
    SLICE_PARTITIONS,
    FetchReader,
    PartitionRead,
    ReadResult,
    counted,
    withheld,
)
from headrace.broker.fetch.session import FetchContext, FetchSession, SessionPartition
from headrace.broker.fetch.session_cache import FetchSessions
from headrace.broker.fetch.waiting import WaitingFetch
from headrace.broker.network.reply import Reply
from headrace.broker.network.request_context import RequestContext, RestOfRequest
from headrace.broker.partition.opening_queue import PartitionKey
from headrace.broker.partition.read_side import Isolation
from headrace.broker.telemetry.request_metrics import RequestMetrics
from headrace.config.node import LogConfig
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode, KafkaError, ProtocolError
from headrace.protocol.fetch.request import FetchRequest, decode_fetch_steps
from headrace.protocol.fetch.response import (
    NODE_ENDPOINTS_SINCE,
    AbortedTransaction,
    FetchPartitionResponse,
    FetchTopicResponse,
    encode_fetch_in_slices,
    encode_fetch_response,
)
from headrace.protocol.leader_discovery import NodeEndpoint
from headrace.protocol.server_connection import Buffer
from headrace.steps import Steps, freed
from headrace.turns import Turns

API = ApiKey.FETCH
LOOK_FOR_ABANDONED_S = 5.0
MAX_WAIT_MS = 300_000  # whatever a client asks for; the answer is an empty one then


class FetchHandler:
    """Serves Fetch from frame to answer."""

    api_key = API
    requires = (
        Access(
            AclOperation.READ,
            ResourceType.TOPIC,
            instead=(
                Access(AclOperation.CLUSTER_ACTION, ResourceType.CLUSTER, when="a replica asks"),
            ),
        ),
    )

    def __init__(
        self,
        *,
        reader: FetchReader,
        cluster: ClusterView,
        sessions: FetchSessions,
        config: LogConfig,
        metrics: RequestMetrics,
        turns: Turns,
    ) -> None:
        self._turns = turns
        self._reader = reader
        self._wakeups = reader.wakeups
        self._partitions = reader.partitions
        self._transit = reader.partitions.transit
        self._cluster = cluster
        self._sessions = sessions
        self._config = config
        self._metrics = metrics

    async def run(self) -> None:
        """Remove the sessions of clients that are gone, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_FOR_ABANDONED_S)
            self._sessions.remove_abandoned(self._now_ms())
            await self._turns.run(self._sessions.leave_closed())

    def start(
        self, context: RequestContext, body: memoryview, reply: Reply
    ) -> RestOfRequest | None:
        """Answer now when memory holds enough, else return the coroutine that waits and reads."""
        steps = self._steps(context, body, reply)
        if self._wakeups.is_behind:
            return self._go_on(steps, reply)
        try:
            next(steps)
        except StopIteration as end:
            rest: RestOfRequest | None = end.value
            return rest
        return self._go_on(steps, reply)

    async def _go_on(self, steps: Steps[RestOfRequest | None], reply: Reply) -> None:
        """Go on with a request that names many partitions, or has to know first what has moved."""
        await self._wakeups.caught_up()
        await self._turns.pause()
        try:
            rest = await self._turns.run(steps)
        except ProtocolError as error:
            reply.refuse(error)
            return
        if rest is not None:
            await rest

    def _steps(
        self, context: RequestContext, body: memoryview, reply: Reply
    ) -> Steps[RestOfRequest | None]:
        """Decode, and begin to serve; return what must run to complete the request."""
        version = context.version
        request = yield from decode_fetch_steps(version, body)
        try:
            begun = yield from self._sessions.begin(version, request, self._now_ms())
        except KafkaError as error:
            header, code = context.header, int(error.code)
            throttle_ms = reply.throttle_ms
            reply.send(
                encode_fetch_response(version, header.correlation_id, throttle_ms, code, 0, [])
            )
            return self._leave_closed()
        fetch = _Fetch(
            context, request, begun, min(request.max_bytes, self._config.max_fetch_bytes)
        )
        session = begun.session
        session.connection = reply.connection
        if self._transit and len(session.changed) <= SLICE_PARTITIONS:
            arriving = self._arriving(session.look(), by_id=fetch.by_id)
            if arriving:
                return self._wait(fetch, reply, arriving)
        if len(session.changed) <= SLICE_PARTITIONS:
            result = self._reader.read_cached(
                session.look(), fetch.max_bytes, by_id=fetch.by_id, isolation=fetch.isolation
            )
            if not result.has_cold and result.has_lease and fetch.enough.is_found(result):
                reply.send((yield from self._answer(fetch, result, reply.throttle_ms)))
                begun.end()
                return self._leave_closed()
        return self._wait(fetch, reply)

    def _now_ms(self) -> int:
        return int(self._metrics.clock_s() * 1000)

    def _leave_closed(self) -> RestOfRequest | None:
        """The rest of what this request, or one before it, has closed."""
        if self._sessions.closed:
            return self._turns.run(self._sessions.leave_closed())
        return None

    def _arriving(self, targets: Sequence[SessionPartition], *, by_id: bool) -> list[PartitionKey]:
        """The targets that are about to move to this broker, and are not open yet."""
        partitions = self._partitions
        found = (
            partitions.known(it.topic or "", it.topic_id if by_id else None, it.index)
            for it in targets
        )
        return [
            it for it in found if it is not None and it in self._transit and not partitions.get(it)
        ]

    async def _wait(
        self,
        fetch: "_Fetch",
        reply: Reply,
        arriving: Sequence[PartitionKey] = (),
    ) -> None:
        """Read, from the bucket if necessary, until there is enough, time is up, or the client has disconnected.

        First wait for partitions that are on their way; what is not here after a moment is answered as always.
        """
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + min(fetch.request.max_wait_ms, MAX_WAIT_MS) / 1000
        context, session = fetch.session, fetch.session.session
        waiting = WaitingFetch(
            session,
            fetch.enough,
            partial(self._reader.count, by_id=fetch.by_id, isolation=fetch.isolation),
        )
        is_over = False
        try:
            await self._transit.settled(arriving)
            while not reply.is_lost:
                targets = () if context.is_over else session.look()
                result = await self._reader.read(
                    targets, fetch.max_bytes, by_id=fetch.by_id, isolation=fetch.isolation
                )
                if (
                    fetch.enough.is_found(result)
                    or waiting.has_enough
                    or context.is_over
                    or is_over
                    or loop.time() >= deadline_s
                ):
                    reply.send(
                        await self._turns.run(self._answer(fetch, result, reply.throttle_ms))
                    )
                    break
                if result.has_cold:
                    continue  # the read from the bucket is still inflight
                waiting.begin()
                for start in range(0, len(result.reads), SLICE_PARTITIONS):
                    waiting.add(counted(result.reads[start : start + SLICE_PARTITIONS]))
                    await self._turns.pause()
                is_over = await _Wait(session, waiting, reply).until(deadline_s, self._turns)
        finally:
            context.end()
        await self._turns.run(self._sessions.leave_closed())

    def _answer(self, fetch: "_Fetch", result: ReadResult, throttle_ms: int) -> Steps[list[Buffer]]:
        """Make the answer, and free what it is made of, in slices: others must not wait for one of many partitions."""
        error, session_id = fetch.session.begin_answer(self._now_ms())
        header = fetch.context.header
        version, correlation_id = header.api_version, header.correlation_id
        if error != ErrorCode.NONE:
            code = int(error)
            return encode_fetch_response(version, correlation_id, throttle_ms, code, session_id, [])
        reads = result.reads
        if not result.has_lease:
            reads = yield from withheld(fetch.session.session.all())
        is_committed = fetch.isolation == Isolation.READ_COMMITTED
        topics: list[FetchTopicResponse] = []
        partitions: list[FetchPartitionResponse] = []
        name, topic_id = None, None
        for start in range(0, len(reads), SLICE_PARTITIONS):
            if start:
                yield
            for read in fetch.session.news(reads[start : start + SLICE_PARTITIONS]):
                target = read.target
                if target.topic != name or target.topic_id != topic_id:
                    name, topic_id = target.topic, target.topic_id
                    partitions = []  # of one topic, as long as they follow each other
                    topics.append(FetchTopicResponse(name, topic_id, partitions))
                partitions.append(_partition(read, is_committed=is_committed))
        endpoints: Sequence[NodeEndpoint] = ()
        if result.has_error and version >= NODE_ENDPOINTS_SINCE:
            topics, endpoints = yield from name_leaders(self._cluster, fetch.context.client, topics)
        if len(reads) <= SLICE_PARTITIONS:
            return encode_fetch_response(
                version, correlation_id, throttle_ms, 0, session_id, topics, endpoints
            )
        answer = yield from encode_fetch_in_slices(
            version, correlation_id, throttle_ms, session_id, topics, endpoints
        )
        yield from freed(reads, SLICE_PARTITIONS)
        for topic in topics:
            yield from freed(topic.partitions, SLICE_PARTITIONS)
        return answer


class _Wait:
    """Counts what moves, at most once in a turn, until there is enough."""

    __slots__ = ("_is_over", "_session", "_waiting", "_woken")

    def __init__(self, session: FetchSession, waiting: WaitingFetch, reply: Reply) -> None:
        self._session = session
        self._waiting = waiting
        self._woken: asyncio.Future[None] | None = None
        self._is_over = False
        reply.on_lost = self.interrupt

    async def until(self, deadline_s: float, turns: Turns) -> bool:
        """Wait until there is enough, a partition must be read, the wait was interrupted, or time is up.

        Returns:
            Whether it was interrupted or time is up: a timer may fire a little early, so the clock does not tell.
        """
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
                    break
                waiting.count(SLICE_PARTITIONS)
        finally:
            timeout.cancel()
            if session.waiter is self:
                session.waiter = None
        return self._is_over

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

    __slots__ = (
        "by_id", "context", "enough", "isolation", "max_bytes", "request", "session"
    )  # fmt: skip

    def __init__(
        self, context: RequestContext, request: FetchRequest, session: FetchContext, max_bytes: int
    ) -> None:
        self.context = context
        self.request = request
        self.session = session
        self.max_bytes = max_bytes
        self.by_id = session.session.by_id
        self.isolation = request.isolation_level
        self.enough = Enough(
            min_bytes=request.min_bytes,
            max_bytes=max_bytes,
            may_wait=request.max_wait_ms > 0 and bool(session.session.partitions),
        )


def _partition(read: PartitionRead, *, is_committed: bool) -> FetchPartitionResponse:
    aborted: Sequence[AbortedTransaction] | None = () if is_committed else None
    if read.aborted:
        aborted = [AbortedTransaction(it.producer_id, it.first_offset) for it in read.aborted]
    return FetchPartitionResponse(
        read.target.index,
        int(read.error),
        read.high_watermark,
        read.last_stable_offset,
        read.log_start_offset,
        aborted,
        -1,
        [batch.payload for batch in read.batches],
    )
