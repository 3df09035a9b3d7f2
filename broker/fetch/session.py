"""Fetch sessions (KIP-227): a client sends its partitions once, and then only the changes. Pure.

| request (session id, epoch) | meaning |
|---|---|
| (0 or id, -1) | no session; one with this id is closed |
| (0 or id, 0) | full fetch, which begins a session; one with this id is closed |
| (id, n > 0) | incremental: names only changed partitions, and those to forget |

An incremental answer leaves out partitions without news: no records, no error, high watermark and log
start offset as in the last answer. A partition that returned records moves to the end of the session,
so that every partition gets its turn when the limits are too small for all of them.

A Fetch reads only the partitions that may have news (`FetchSession.changed`). A partition is left out when
it was read and had nothing to tell; the session then listens to it, and adds it again when it has moved,
or when the client names it. So a Fetch costs what has changed, not what the session holds.

`FetchSessions.begin` (session_cache) gives a context with a session, whose changed partitions are then
read; its `finish` decides which of the reads are answered, and with which session id. A long wait may lie
in between: the session may have been evicted, and the client may have sent another request.

Source: `FetchSession.scala` of Apache Kafka (FetchManager, FetchContext, FetchSessionCache).
"""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Final, Generic, NamedTuple, Protocol, TypeVar
from uuid import UUID

from headrace.protocol.errors import ErrorCode
from headrace.protocol.fetch.request import FetchPartition, FetchRequest

NO_SESSION: Final = 0
FINAL_EPOCH: Final = -1
INITIAL_EPOCH: Final = 0
EPOCH_MAX: Final = 2**31 - 1

SessionPartitionKey = tuple[str | int, int]  # name or number of the id, and index


class Log(Protocol):
    """What a session listens to (`Partition`)."""

    def add_reader(self, reader: Callable[[], None]) -> None:
        """Call `reader` once when the log has moved."""
        ...

    def remove_reader(self, reader: Callable[[], None]) -> None:
        """Undo `add_reader`."""
        ...


class FetchWaiter(Protocol):
    """The Fetch that waits in a session."""

    def moved(self) -> None:
        """A partition has moved."""
        ...

    def interrupt(self) -> None:
        """The wait is over: the session was closed, or has a newer request."""
        ...


class PartitionRead(Protocol):
    """The fields of one partition's read that a session needs."""

    @property
    def target(self) -> "SessionPartition":
        """What was read."""
        ...

    @property
    def partition(self) -> Log | None:
        """The log; None if it is not open here."""
        ...

    @property
    def error(self) -> int:
        """Error code; 0 none."""
        ...

    @property
    def high_watermark(self) -> int:
        """High watermark for the answer; -1 unknown."""
        ...

    @property
    def log_start_offset(self) -> int:
        """Log start offset for the answer; -1 unknown."""
        ...

    @property
    def size_bytes(self) -> int:
        """Size of the records."""
        ...


Read = TypeVar("Read", bound=PartitionRead)


class SessionAnswer(NamedTuple, Generic[Read]):
    """An answer: the session's error, its id (0: none), and the partitions."""

    error: ErrorCode
    session_id: int
    reads: Sequence[Read]


class SessionPartition:
    """A partition that a client fetches: its last request, and its last answer."""

    __slots__ = (
        "_log",
        "_session",
        "current_leader_epoch",
        "fetch_offset",
        "high_watermark",
        "index",
        "log_start_offset",
        "max_bytes",
        "topic",
        "topic_id",
        "turn",
    )

    def __init__(
        self,
        session: "FetchSession",
        topic: str,
        topic_id: UUID | None,
        asked: FetchPartition,
        turn: int,
    ) -> None:
        self._session: FetchSession | None = session  # None: no longer part of it
        self._log: Log | None = None  # listened to
        self.topic = topic  # empty in a request by topic id
        self.topic_id = topic_id
        self.index = asked.partition_index
        self.high_watermark = -1
        self.log_start_offset = -1
        self.turn = turn  # partitions are read in this order
        self.current_leader_epoch = asked.current_leader_epoch
        self.fetch_offset = asked.fetch_offset
        self.max_bytes = asked.partition_max_bytes

    def ask(self, asked: FetchPartition) -> None:
        """Update from the client's request."""
        self.current_leader_epoch = asked.current_leader_epoch
        self.fetch_offset = asked.fetch_offset
        self.max_bytes = asked.partition_max_bytes

    def note_answer(self, read: PartitionRead) -> bool:
        """Return whether this read must be answered, and record it as the last answer."""
        is_news = (
            read.size_bytes > 0
            or read.error != 0
            or read.high_watermark != self.high_watermark
            or read.log_start_offset != self.log_start_offset
        )
        # After an error the next read of the partition is always answered.
        self.high_watermark = -1 if read.error != 0 else read.high_watermark
        self.log_start_offset = read.log_start_offset
        return is_news

    def listen(self, log: Log) -> None:
        """Hear of the next move of a log; no effect once the partition has left its session."""
        if self._log is None and self._session is not None:
            self._log = log
            log.add_reader(self._moved)

    def leave(self) -> None:
        """Leave the session: listen no more."""
        if self._log is not None:
            self._log.remove_reader(self._moved)
        self._log = self._session = None

    def _moved(self) -> None:
        self._log = None  # which calls once
        if self._session is not None:
            self._session.partition_moved(self)


class FetchSession:
    """The partitions of one client. Also of a Fetch without a session, as long as it is in service."""

    session_id = NO_SESSION
    epoch = 1
    created_ms = 0
    last_used_ms = 0
    is_closed = False
    waiter: FetchWaiter | None = None
    _last_turn = 0

    def __init__(self, request: FetchRequest, *, by_id: bool) -> None:
        self.by_id = by_id
        self.partitions: dict[SessionPartitionKey, SessionPartition] = {}
        self.changed: set[SessionPartition] = set()  # may have news; it listens to all others
        self.moved: set[SessionPartition] = set()  # those of them that moved since the last look
        self.update(request)

    def update(self, request: FetchRequest) -> None:
        """Add, change and forget partitions."""
        partitions, changed, by_id = self.partitions, self.changed, self.by_id
        for topic in request.topics:
            name = _number(topic.topic_id) if by_id else topic.name
            for asked in topic.partitions:
                key = (name, asked.partition_index)
                known = partitions.get(key)
                if known is None:
                    self._last_turn += 1
                    known = SessionPartition(
                        self, topic.name, topic.topic_id, asked, self._last_turn
                    )
                    partitions[key] = known
                else:
                    known.ask(asked)
                changed.add(known)
        for forgotten in request.forgotten:
            name = _number(forgotten.topic_id) if by_id else forgotten.name
            for index in forgotten.partitions:
                gone = partitions.pop((name, index), None)
                if gone is not None:
                    changed.discard(gone)
                    self.moved.discard(gone)
                    gone.leave()

    def look(self) -> list[SessionPartition]:
        """Begin to read: return what may have news, in the order in which it is read."""
        if self.moved:
            self.moved = set()
        return sorted(self.changed, key=_TURN)

    def all(self) -> list[SessionPartition]:
        """Return every partition, in the order in which they are read."""
        return sorted(self.partitions.values(), key=_TURN)

    def settle(self, reads: Sequence[Read], *, in_turns: bool) -> list[Read]:
        """Take in the answer of what `look` returned, or of `all`; return the reads that are news.

        With `in_turns`, partitions that return records go to the end.
        """
        changed, self.moved = self.moved, set()  # what moved while it was read may have more
        answered = []
        for read in reads:
            target = read.target
            if target.note_answer(read):
                answered.append(read)
            if read.size_bytes > 0 and in_turns:
                self._last_turn += 1
                target.turn = self._last_turn
            if read.error != 0 or target.fetch_offset < read.high_watermark:
                changed.add(target)
            elif target not in changed and read.partition is not None:
                target.listen(read.partition)
        self.changed = changed
        return answered

    def partition_moved(self, partition: SessionPartition) -> None:
        """A partition that is listened to has moved."""
        self.changed.add(partition)
        self.moved.add(partition)
        if self.waiter is not None:
            self.waiter.moved()

    def interrupt(self) -> None:
        """End the wait of the Fetch that waits in this session."""
        waiter, self.waiter = self.waiter, None
        if waiter is not None:
            waiter.interrupt()

    def close(self) -> None:
        """Listen to nothing any more."""
        if self.is_closed:
            return
        self.is_closed = True
        for partition in self.partitions.values():
            partition.leave()
        self.interrupt()


class SessionlessContext:
    """A fetch that begins no session."""

    is_over = False

    def __init__(self, session: FetchSession) -> None:
        self.session = session

    def finish(self, reads: Sequence[Read], now_ms: int) -> SessionAnswer[Read]:
        """Everything is answered."""
        del now_ms
        return SessionAnswer(ErrorCode.NONE, NO_SESSION, reads)

    def end(self) -> None:
        """The request is no longer in service."""
        self.session.close()


class FullContext:
    """A full fetch, which begins a session."""

    is_over = False

    def __init__(
        self, session: FetchSession, try_keep: Callable[[FetchSession, int], bool]
    ) -> None:
        self.session = session
        self._try_keep = try_keep  # also takes the time

    def finish(self, reads: Sequence[Read], now_ms: int) -> SessionAnswer[Read]:
        """Everything is answered; session id 0 when there is no room for a session.

        Args:
            reads: of every partition.
            now_ms: monotonic.
        """
        if self._try_keep(self.session, now_ms):
            self.session.settle(reads, in_turns=False)
        return SessionAnswer(ErrorCode.NONE, self.session.session_id, reads)

    def end(self) -> None:
        """The request is no longer in service."""
        if self.session.session_id == NO_SESSION:
            self.session.close()


class IncrementalContext:
    """A fetch of what has changed in a session."""

    def __init__(self, session: FetchSession) -> None:
        self.session = session
        self._epoch = session.epoch

    @property
    def is_over(self) -> bool:
        """Whether the session was closed, or the client has sent another request since."""
        return self.session.is_closed or self.session.epoch != self._epoch

    def finish(self, reads: Sequence[Read], now_ms: int) -> SessionAnswer[Read]:
        """Only changes are answered; INVALID_FETCH_SESSION_EPOCH if the client has sent another request since.

        Args:
            reads: of what `look` returned, or of every partition.
            now_ms: monotonic.
        """
        del now_ms
        session = self.session
        if session.epoch != self._epoch:
            return SessionAnswer(ErrorCode.INVALID_FETCH_SESSION_EPOCH, session.session_id, ())
        answered = session.settle(reads, in_turns=True)
        return SessionAnswer(ErrorCode.NONE, session.session_id, answered)

    def end(self) -> None:
        """The request is no longer in service; its session is."""


FetchContext = SessionlessContext | FullContext | IncrementalContext


def next_epoch(epoch: int) -> int:
    """Return the epoch after this one; the greatest is followed by 1, since 0 begins a session."""
    return 1 if epoch == EPOCH_MAX else epoch + 1


def _number(topic_id: UUID | None) -> int:
    """Return a key that is hashed faster than an id."""
    return 0 if topic_id is None else topic_id.int


_TURN: Final = attrgetter("turn")
