"""The fetch sessions of a broker (KIP-227), in a bounded number of slots.

Source: `FetchManager`, `FetchSessionCacheShard` in `FetchSession.scala` of Apache Kafka.
"""

import random
from collections import OrderedDict, deque
from typing import Final

from headrace.broker.fetch.session import (
    FINAL_EPOCH,
    INITIAL_EPOCH,
    NO_SESSION,
    STEP_PARTITIONS,
    FetchContext,
    FetchSession,
    FullContext,
    IncrementalContext,
    SessionlessContext,
    next_epoch,
)
from headrace.protocol.errors import ErrorCode, KafkaError
from headrace.protocol.fetch.request import TOPIC_IDS_SINCE, FetchRequest
from headrace.steps import Steps, completed

MAX_SESSION_ID: Final = 2**31 - 1
EVICTION_MS: Final = 120_000  # a session that was not used for this long may be evicted
# A session whose client is connected no more is removed this long after its last use. A client that comes back begins
# another one.
ABANDONED_MS: Final = 10_000
# Over all sessions, about 200 MB. At this bound no session is created, and one that grows is closed; so is one with
# more partitions than one client ever has.
MAX_PARTITIONS: Final = 500_000
MAX_SESSION_PARTITIONS: Final = 150_000


class FetchSessions:
    """The sessions of a broker: at most `max_slots`, and `max_partitions` partitions in them.

    When all slots are taken, a session that was not used for `EVICTION_MS` makes room, else one
    that is older than that and smaller than the new one; else the new one is declined.
    """

    def __init__(
        self, max_slots: int, rng: random.Random, *, max_partitions: int = MAX_PARTITIONS
    ) -> None:
        self._max_slots = max_slots
        self._max_partitions = max_partitions
        self._rng = rng
        self._sessions: OrderedDict[int, FetchSession] = OrderedDict()  # least recently used first
        self._sizes: dict[int, int] = {}  # partitions of each session, as counted
        self.closed: deque[Steps[None]] = deque()
        self.partition_count = 0
        self.evictions = 0

    def __len__(self) -> int:
        return len(self._sessions)

    def begin(self, version: int, request: FetchRequest, now_ms: int) -> Steps[FetchContext]:
        """Return the context with the partitions of a request, which are taken in in steps.

        Args:
            version: of the request; from 13 on partitions are named by topic id.
            request: as decoded.
            now_ms: monotonic.

        Raises:
            KafkaError: FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH or
                FETCH_SESSION_TOPIC_ID_ERROR; the client then sends a full fetch.
        """
        by_id = version >= TOPIC_IDS_SINCE
        if request.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            if request.session_id != NO_SESSION:
                self._remove(request.session_id)
            begun = FetchSession(by_id=by_id)
            yield from begun.update(request)
            if request.session_epoch == FINAL_EPOCH:
                return SessionlessContext(begun, self.close)
            return FullContext(begun, self.try_keep, self.close)
        session = self._sessions.get(request.session_id)
        if session is None:
            raise KafkaError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.epoch != request.session_epoch:
            raise KafkaError(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        if session.by_id != by_id:
            raise KafkaError(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        return (yield from self._continue(session, request, now_ms))

    def close(self, session: FetchSession) -> None:
        """Be done with a session; one that has many partitions leaves them in `leave_closed`."""
        if session.is_closed:
            return
        self._close_later(session)
        if len(session.partitions) <= STEP_PARTITIONS:
            completed(self.closed.pop())

    def _close_later(self, session: FetchSession) -> None:
        """Have `leave_closed` leave the partitions, however few they are."""
        session.close()
        self.closed.append(session.leave())

    def leave_closed(self) -> Steps[None]:
        """Leave the partitions of sessions that were closed."""
        while self.closed:
            yield from self.closed.popleft()

    def remove_abandoned(self, now_ms: int) -> None:
        """Remove the sessions whose clients are connected no more: their partitions take hundreds of megabytes.

        They are left in `leave_closed`, since thousands of clients may have gone at once.
        """
        abandoned: list[int] = []
        for session_id, session in self._sessions.items():  # least recently used first
            if now_ms - session.last_used_ms < ABANDONED_MS:
                break
            if session.connection is not None and session.connection.closed:
                abandoned.append(session_id)
        for session_id in abandoned:
            self._close_later(self._take(session_id))

    def try_keep(self, session: FetchSession, now_ms: int) -> bool:
        """Give a session an id and keep it; False when there is no room for it."""
        size = len(session.partitions)
        if self.partition_count + size > self._max_partitions:
            return False
        if len(self._sessions) >= self._max_slots and not self._evict(size, now_ms):
            return False
        session.session_id = self._new_id()
        session.created_ms = session.last_used_ms = now_ms
        self._sessions[session.session_id] = session
        self._count(session)
        return True

    def _continue(
        self, session: FetchSession, request: FetchRequest, now_ms: int
    ) -> Steps[FetchContext]:
        session.interrupt()
        session.last_used_ms = now_ms
        self._sessions.move_to_end(session.session_id)
        session.epoch = next_epoch(session.epoch)
        context = IncrementalContext(session)
        is_isolated_anew = request.isolation_level != session.isolation
        if request.topics or request.forgotten or is_isolated_anew:
            yield from session.update(request)
            if session.is_closed:
                return context
            self._count(session)
        if not session.partitions:
            self._remove(session.session_id)
            return SessionlessContext(session, self.close)
        if (
            self.partition_count > self._max_partitions
            or len(session.partitions) > MAX_SESSION_PARTITIONS
        ):
            self._remove(session.session_id)
            raise KafkaError(
                ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
                "the fetch sessions of this broker hold too many partitions",
            )
        return context

    def _evict(self, size: int, now_ms: int) -> bool:
        oldest = next(iter(self._sessions.values()), None)
        if oldest is None:
            return False
        victim: FetchSession | None = None
        if now_ms - oldest.last_used_ms > EVICTION_MS:
            victim = oldest
        else:
            settled = (
                session
                for session in self._sessions.values()
                if now_ms - session.created_ms > EVICTION_MS and len(session.partitions) < size
            )
            victim = min(settled, key=lambda session: len(session.partitions), default=None)
        if victim is None:
            return False
        self._remove(victim.session_id)
        self.evictions += 1
        return True

    def _remove(self, session_id: int) -> None:
        if session_id in self._sessions:
            self.close(self._take(session_id))

    def _take(self, session_id: int) -> FetchSession:
        self.partition_count -= self._sizes.pop(session_id, 0)
        return self._sessions.pop(session_id)

    def _count(self, session: FetchSession) -> None:
        size = len(session.partitions)
        self.partition_count += size - self._sizes.get(session.session_id, 0)
        self._sizes[session.session_id] = size

    def _new_id(self) -> int:
        while True:
            session_id = self._rng.randint(1, MAX_SESSION_ID)
            if session_id not in self._sessions:
                return session_id
