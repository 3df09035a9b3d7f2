"""Fetch sessions (KIP-227): a client sends its partitions once, and then only the changes. Pure.

| request (session id, epoch) | meaning |
|---|---|
| (0 or id, -1) | no session; one with this id is closed |
| (0 or id, 0) | full fetch, which begins a session; one with this id is closed |
| (id, n > 0) | incremental: names only changed partitions, and those to forget |

An incremental answer leaves out partitions without news: no records, no error, high watermark and log
start offset as in the last answer. A partition that returned records moves to the end of the session,
so that every partition gets its turn when the limits are too small for all of them.

`FetchSessions.begin` (session_cache) gives a context, whose partitions are then read; its `finish`
decides which of the reads are answered, and with which session id. A long wait may lie in between:
the session may have been evicted, and the client may have sent another request.

Source: `FetchSession.scala` of Apache Kafka (FetchManager, FetchContext, FetchSessionCache).
"""

from collections.abc import Callable, Sequence
from typing import Final, Generic, NamedTuple, Protocol, TypeVar
from uuid import UUID

from headrace.protocol.errors import ErrorCode
from headrace.protocol.fetch.request import FetchPartition, FetchRequest

NO_SESSION: Final = 0
FINAL_EPOCH: Final = -1
INITIAL_EPOCH: Final = 0
EPOCH_MAX: Final = 2**31 - 1


SessionPartitionKey = tuple[str | UUID | None, int]


class PartitionRead(Protocol):
    """The fields of one partition's read that a session needs."""

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
        "current_leader_epoch",
        "fetch_offset",
        "high_watermark",
        "index",
        "log_start_offset",
        "max_bytes",
        "topic",
        "topic_id",
    )

    def __init__(self, topic: str, topic_id: UUID | None, asked: FetchPartition) -> None:
        self.topic = topic  # empty in a request by topic id
        self.topic_id = topic_id
        self.index = asked.partition_index
        self.high_watermark = -1
        self.log_start_offset = -1
        self.ask(asked)

    @property
    def key(self) -> SessionPartitionKey:
        """The key of this partition in requests."""
        return (self.topic or self.topic_id, self.index)

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


class FetchSession:
    """One client's session. The order of the partitions is that in which they are read."""

    __slots__ = ("by_id", "created_ms", "epoch", "last_used_ms", "partitions", "session_id")

    def __init__(
        self,
        session_id: int,
        partitions: dict[SessionPartitionKey, SessionPartition],
        now_ms: int,
        *,
        by_id: bool,
    ) -> None:
        self.session_id = session_id
        self.partitions = partitions
        self.by_id = by_id
        self.created_ms = now_ms
        self.last_used_ms = now_ms
        self.epoch = next_epoch(INITIAL_EPOCH)

    def update(self, request: FetchRequest) -> None:
        """Add, change and forget partitions."""
        for topic in request.topics:
            name = topic.topic_id if self.by_id else topic.name
            for asked in topic.partitions:
                key = (name, asked.partition_index)
                known = self.partitions.get(key)
                if known is None:
                    self.partitions[key] = SessionPartition(topic.name, topic.topic_id, asked)
                else:
                    known.ask(asked)
        for forgotten in request.forgotten:
            name = forgotten.topic_id if self.by_id else forgotten.name
            for index in forgotten.partitions:
                self.partitions.pop((name, index), None)

    def move_to_end(self, key: SessionPartitionKey) -> None:
        """Move a partition behind the others; no effect if the session no longer has it."""
        partition = self.partitions.pop(key, None)
        if partition is not None:
            self.partitions[key] = partition


class SessionlessContext:
    """A fetch that begins no session."""

    def __init__(self, partitions: Sequence[SessionPartition]) -> None:
        self.partitions = partitions

    def finish(self, reads: Sequence[Read], now_ms: int) -> SessionAnswer[Read]:
        """Everything is answered."""
        del now_ms
        return SessionAnswer(ErrorCode.NONE, NO_SESSION, reads)


class FullContext:
    """A full fetch, which begins a session."""

    def __init__(
        self,
        partitions: dict[SessionPartitionKey, SessionPartition],
        begin_session: Callable[[dict[SessionPartitionKey, SessionPartition], int], int],
    ) -> None:
        self._by_key = partitions
        self._begin_session = begin_session  # also takes the time; returns the id, or 0
        self.partitions: Sequence[SessionPartition] = list(partitions.values())

    def finish(self, reads: Sequence[Read], now_ms: int) -> SessionAnswer[Read]:
        """Everything is answered; session id 0 when there is no room for a session.

        Args:
            reads: one for each of `partitions`, in their order.
            now_ms: monotonic.
        """
        for partition, read in zip(self.partitions, reads, strict=True):
            partition.note_answer(read)
        session_id = self._begin_session(self._by_key, now_ms)
        return SessionAnswer(ErrorCode.NONE, session_id, reads)


class IncrementalContext:
    """A fetch of all partitions of a session."""

    def __init__(self, session: FetchSession) -> None:
        self._session = session
        self._epoch = session.epoch
        self.partitions: Sequence[SessionPartition] = list(session.partitions.values())

    def finish(self, reads: Sequence[Read], now_ms: int) -> SessionAnswer[Read]:
        """Only changes are answered; INVALID_FETCH_SESSION_EPOCH if the client has sent another request since.

        Args:
            reads: one for each of `partitions`, in their order.
            now_ms: monotonic.
        """
        del now_ms
        session = self._session
        if session.epoch != self._epoch:
            return SessionAnswer(ErrorCode.INVALID_FETCH_SESSION_EPOCH, session.session_id, ())
        answered = []
        for partition, read in zip(self.partitions, reads, strict=True):
            if not partition.note_answer(read):
                continue
            answered.append(read)
            if read.size_bytes > 0:
                session.move_to_end(partition.key)
        return SessionAnswer(ErrorCode.NONE, session.session_id, answered)


FetchContext = SessionlessContext | FullContext | IncrementalContext


def next_epoch(epoch: int) -> int:
    """Return the epoch after this one; the greatest is followed by 1, since 0 begins a session."""
    return 1 if epoch == EPOCH_MAX else epoch + 1
