"""Fetch sessions (KIP-227): what a client has told once, it need not tell again. Pure.

| request (session id, epoch) | meaning |
|---|---|
| (0 or id, -1) | no session; one with this id is closed |
| (0 or id, 0) | full fetch, which begins a session; one with this id is closed |
| (id, n > 0) | incremental: only what changed is named, and what is to be forgotten |

An incremental answer leaves out the partitions about which there is nothing new: no records, no
error, high watermark and log start offset as told last. A partition that returned records goes to
the end of the session, so that all get their turn when the limits do not reach for all of them.

`FetchSessions.begin` (session_cache) gives a context, whose partitions are then read; its `finish`
says which of what was read is answered, and with which session id. It may be a long wait in
between: a session may be evicted meanwhile, and a client may have gone on with another request.

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
    """What a session must know of what was read of one partition."""

    @property
    def error(self) -> int:
        """Error code; 0 none."""
        ...

    @property
    def high_watermark(self) -> int:
        """As it is answered; -1 unknown."""
        ...

    @property
    def log_start_offset(self) -> int:
        """As it is answered; -1 unknown."""
        ...

    @property
    def size_bytes(self) -> int:
        """Of the records."""
        ...


Read = TypeVar("Read", bound=PartitionRead)


class SessionAnswer(NamedTuple, Generic[Read]):
    """What is answered: the session's error, its id (0: none), and these partitions."""

    error: ErrorCode
    session_id: int
    reads: Sequence[Read]


class SessionPartition:
    """A partition that a client fetches: what it asks for, and what it was told last."""

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
        """What the client calls this partition."""
        return (self.topic or self.topic_id, self.index)

    def ask(self, asked: FetchPartition) -> None:
        """Take over what the client asks for now."""
        self.current_leader_epoch = asked.current_leader_epoch
        self.fetch_offset = asked.fetch_offset
        self.max_bytes = asked.partition_max_bytes

    def tell(self, read: PartitionRead) -> bool:
        """Whether this must be answered; what the client then knows is remembered."""
        is_news = (
            read.size_bytes > 0
            or read.error != 0
            or read.high_watermark != self.high_watermark
            or read.log_start_offset != self.log_start_offset
        )
        # After an error the partition is answered again, whatever it says then.
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
        """Let the others go first next time; a partition that was forgotten meanwhile stays so."""
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
    """A fetch of everything that the client wants, which begins a session."""

    def __init__(
        self,
        partitions: dict[SessionPartitionKey, SessionPartition],
        begin_session: Callable[[dict[SessionPartitionKey, SessionPartition], int], int],
    ) -> None:
        self._by_key = partitions
        self._begin_session = begin_session  # takes the time too; gives the id, or 0
        self.partitions: Sequence[SessionPartition] = list(partitions.values())

    def finish(self, reads: Sequence[Read], now_ms: int) -> SessionAnswer[Read]:
        """Everything is answered; session id 0 when there is no room for a session.

        Args:
            reads: one for each of `partitions`, in their order.
            now_ms: monotonic.
        """
        for partition, read in zip(self.partitions, reads, strict=True):
            partition.tell(read)
        session_id = self._begin_session(self._by_key, now_ms)
        return SessionAnswer(ErrorCode.NONE, session_id, reads)


class IncrementalContext:
    """A fetch of all partitions of a session."""

    def __init__(self, session: FetchSession) -> None:
        self._session = session
        self._epoch = session.epoch
        self.partitions: Sequence[SessionPartition] = list(session.partitions.values())

    def finish(self, reads: Sequence[Read], now_ms: int) -> SessionAnswer[Read]:
        """Only news is answered; INVALID_FETCH_SESSION_EPOCH if the client has gone on meanwhile.

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
            if not partition.tell(read):
                continue
            answered.append(read)
            if read.size_bytes > 0:
                session.move_to_end(partition.key)
        return SessionAnswer(ErrorCode.NONE, session.session_id, answered)


FetchContext = SessionlessContext | FullContext | IncrementalContext


def next_epoch(epoch: int) -> int:
    """Give the epoch after this one; behind the greatest comes 1, since 0 begins a session."""
    return 1 if epoch == EPOCH_MAX else epoch + 1
