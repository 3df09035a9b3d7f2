"""Fetch sessions (KIP-227): a client sends its partitions once, and then only the changes. Pure.

| request (session id, epoch) | meaning |
|---|---|
| (0 or id, -1) | no session; one with this id is closed |
| (0 or id, 0) | full fetch, which begins a session; one with this id is closed |
| (id, n > 0) | incremental: names only changed partitions, and those to forget |

An incremental answer leaves out partitions without news: no records, no error, high watermark, last stable offset and
log start offset as in the last answer. A partition that returned records moves to the end of the session,
so that every partition gets its turn when the limits are too small for all of them.

A Fetch reads only the partitions that may have news (`FetchSession.changed`). A partition is left out when
it was read and had no news; the session then listens to it, and adds it again when it has moved,
or when the client names it. So a Fetch costs what has changed, not what the session holds.

`FetchSessions.begin` (session_cache) gives a context with a session, whose changed partitions are then
read; its `begin_answer` gives the session id of the answer, and `news` which of them. A long wait may lie
in between: the session may have been evicted, and the client may have sent another request. The same goes for each
step of what is done in steps.

Source: `FetchSession.scala` of Apache Kafka (FetchManager, FetchContext, FetchSessionCache).
"""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Final, NamedTuple, Protocol, TypeVar
from uuid import UUID

from headrace.broker.network.reply import Activity
from headrace.protocol.errors import ErrorCode
from headrace.protocol.fetch.request import FetchPartition, FetchRequest
from headrace.steps import Steps

NO_SESSION: Final = 0
FINAL_EPOCH: Final = -1
INITIAL_EPOCH: Final = 0
EPOCH_MAX: Final = 2**31 - 1
STEP_PARTITIONS: Final = 200  # changed before others may have their turn: some hundred microseconds

SessionPartitionKey = tuple[str | int, int]  # name or number of the id, and index


class Log(Protocol):
    """What a session listens to (`ReadSide`)."""

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
    def log(self) -> Log | None:
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
    def last_stable_offset(self) -> int:
        """Last stable offset for the answer; -1 unknown."""
        ...

    @property
    def readable_end(self) -> int:
        """End of what this fetch may read; -1 unknown."""
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


class SessionAnswer(NamedTuple):
    """The head of an answer: the session's error, with which no partitions are answered, and its id (0: none)."""

    error: ErrorCode
    session_id: int


class SessionPartition:
    """A partition that a client fetches: its last request, and its last answer."""

    __slots__ = (
        "_log",
        "_session",
        "current_leader_epoch",
        "fetch_offset",
        "high_watermark",
        "index",
        "last_stable_offset",
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
        self.last_stable_offset = -1
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
            or read.last_stable_offset != self.last_stable_offset
            or read.log_start_offset != self.log_start_offset
        )
        # After an error the next read of the partition is always answered.
        self.high_watermark = -1 if read.error != 0 else read.high_watermark
        self.last_stable_offset = read.last_stable_offset
        self.log_start_offset = read.log_start_offset
        return is_news

    def listen(self, log: Log) -> None:
        """Hear of the next move of a log; no effect once the partition has left its session."""
        if self._log is None and self._session is not None:
            self._log = log
            log.add_reader(self._moved)

    def leave(self) -> None:
        """Leave the session: listen no more."""
        self._session = None
        if self._log is not None:
            self._log.remove_reader(self._moved)
            self._log = None

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
    connection: Activity | None = None  # of the latest request
    _last_turn = 0

    def __init__(self, *, by_id: bool) -> None:
        self.by_id = by_id
        self.isolation = 0  # of the latest request
        # In the order in which they are read.
        self.partitions: dict[SessionPartitionKey, SessionPartition] = {}
        self.changed: set[SessionPartition] = set()  # may have news; it listens to all others
        self.moved: set[SessionPartition] = set()  # those of them that moved since the last look

    def update(self, request: FetchRequest) -> Steps[None]:
        """Add, change and forget partitions, `STEP_PARTITIONS` at a time, as long as the session is not closed."""
        for made, _ in enumerate(self._changes(request)):
            if made and made % STEP_PARTITIONS == 0:
                yield
                if self.is_closed:
                    return

    def _changes(self, request: FetchRequest) -> Steps[None]:
        """Add, change or forget one partition after the other; it stops before each."""
        partitions, by_id = self.partitions, self.by_id
        if request.isolation_level != self.isolation:
            self.isolation = request.isolation_level
            for partition in list(partitions.values()):  # each may be read up to another end
                yield
                self.changed.add(partition)
        for topic in request.topics:
            name = _number(topic.topic_id) if by_id else topic.name
            for asked in topic.partitions:
                yield
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
                self.changed.add(known)  # another set, perhaps, after a pause
        for forgotten in request.forgotten:
            name = _number(forgotten.topic_id) if by_id else forgotten.name
            for index in forgotten.partitions:
                yield
                self._forget((name, index))

    def _forget(self, key: SessionPartitionKey) -> None:
        gone = self.partitions.pop(key, None)
        if gone is not None:
            self.changed.discard(gone)
            self.moved.discard(gone)
            gone.leave()

    def look(self) -> list[SessionPartition]:
        """Begin to read: return what may have news, in the order in which it is read."""
        if self.moved:
            self.moved = set()
        changed = self.changed
        if len(changed) == len(self.partitions):
            return self.all()
        if len(changed) > STEP_PARTITIONS:  # to sort them takes longer
            return [partition for partition in self.partitions.values() if partition in changed]
        found = sorted(changed, key=_TURN)
        # One that had thousands is slow to go through, however few are left.
        self.changed = set(found)
        return found

    def all(self) -> list[SessionPartition]:
        """Return every partition, in the order in which they are read."""
        return list(self.partitions.values())

    def settle(self, reads: Sequence[Read], *, in_turns: bool) -> list[Read]:
        """Take in the answer of some of what `look` returned, or of `all`; return the reads that are news.

        With `in_turns`, partitions that return records go to the end. What moved while it was read may have more.
        """
        changed, moved = self.changed, self.moved
        answered = []
        for read in reads:
            target = read.target
            if target.note_answer(read):
                answered.append(read)
            if read.size_bytes > 0 and in_turns:
                self._to_the_end(target)
            if read.error != 0 or target.fetch_offset < read.readable_end:
                changed.add(target)
            elif target not in moved:
                changed.discard(target)
                if read.log is not None:
                    target.listen(read.log)
        return answered

    def _to_the_end(self, target: SessionPartition) -> None:
        self._last_turn += 1
        target.turn = self._last_turn
        topic = _number(target.topic_id) if self.by_id else target.topic
        key = (topic, target.index)
        if self.partitions.pop(key, None) is not None:  # else it has left
            self.partitions[key] = target

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
        """Be no session any more. `leave` must follow."""
        self.is_closed = True
        self.interrupt()

    def leave(self) -> Steps[None]:
        """Listen to nothing any more, and free the partitions, after `close`: `STEP_PARTITIONS` at a time."""
        while self.partitions:
            for _ in range(min(STEP_PARTITIONS, len(self.partitions))):
                _, partition = self.partitions.popitem()
                self.changed.discard(partition)
                self.moved.discard(partition)
                partition.leave()
            yield


class SessionlessContext:
    """A fetch that begins no session."""

    is_over = False

    def __init__(self, session: FetchSession, close: Callable[[FetchSession], None]) -> None:
        self.session = session
        self._close = close

    def begin_answer(self, now_ms: int) -> SessionAnswer:
        """No session."""
        del now_ms
        return _WITHOUT_SESSION

    def news(self, reads: Sequence[Read]) -> Sequence[Read]:
        """Everything is answered."""
        return reads

    def end(self) -> None:
        """The request is no longer in service."""
        self._close(self.session)


class FullContext:
    """A full fetch, which begins a session."""

    is_over = False

    def __init__(
        self,
        session: FetchSession,
        try_keep: Callable[[FetchSession, int], bool],
        close: Callable[[FetchSession], None],
    ) -> None:
        self.session = session
        self._try_keep = try_keep  # also takes the time
        self._close = close

    def begin_answer(self, now_ms: int) -> SessionAnswer:
        """Session id 0 when there is no room for a session. `now_ms` is monotonic."""
        self._try_keep(self.session, now_ms)
        return SessionAnswer(ErrorCode.NONE, self.session.session_id)

    def news(self, reads: Sequence[Read]) -> Sequence[Read]:
        """Everything is answered."""
        if self.session.session_id != NO_SESSION:
            self.session.settle(reads, in_turns=False)
        return reads

    def end(self) -> None:
        """The request is no longer in service."""
        if self.session.session_id == NO_SESSION:
            self._close(self.session)


class IncrementalContext:
    """A fetch of what has changed in a session."""

    def __init__(self, session: FetchSession) -> None:
        self.session = session
        self._epoch = session.epoch

    @property
    def is_over(self) -> bool:
        """Whether the session was closed, or the client has sent another request since."""
        return self.session.is_closed or self.session.epoch != self._epoch

    def begin_answer(self, now_ms: int) -> SessionAnswer:
        """INVALID_FETCH_SESSION_EPOCH, and no partitions, if the client has sent another request since."""
        del now_ms
        session = self.session
        is_current = session.epoch == self._epoch
        error = ErrorCode.NONE if is_current else ErrorCode.INVALID_FETCH_SESSION_EPOCH
        return SessionAnswer(error, session.session_id)

    def news(self, reads: Sequence[Read]) -> Sequence[Read]:
        """Only changes are answered. What another request may have asked for meanwhile is left as it is."""
        if self.session.epoch != self._epoch:
            return reads
        return self.session.settle(reads, in_turns=True)

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
_WITHOUT_SESSION: Final = SessionAnswer(ErrorCode.NONE, NO_SESSION)
