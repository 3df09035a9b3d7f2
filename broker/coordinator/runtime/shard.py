"""What a kind of coordinator is made of: its shards, their decisions, and how its records are written. Pure.

A shard is the state of one partition of the kind's topic. Each operation on it takes the time and gives a
`ShardDecision`: records and answers. What survives a restart changes in `replay` alone, whether a record has just been
decided on or comes from the log, so that the next operation sees its effect; but no answer is sent before the records
of this and all earlier decisions are durable. When they cannot be made durable, the shard is discarded and loaded from
the log again, so memory never keeps state that the log does not have.

Source: `CoordinatorShard`, `CoordinatorResult` of Apache Kafka.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar
from uuid import UUID

import msgspec

from headrace.metadata.image import MetadataImage
from headrace.protocol.records.batch import NO_PRODUCER_ID
from headrace.protocol.records.control import Marker
from headrace.protocol.records.record import RecordReader

NO_OFFSET: Final = -1
NO_PRODUCER_EPOCH: Final = -1

R = TypeVar("R")  # a record
R_co = TypeVar("R_co", covariant=True)
T = TypeVar("T")
Replay = Callable[[int, int, int, R], None]


class Instant(NamedTuple):
    """Now, on two clocks: timers run on the first, records and retention on the second."""

    elapsed_ms: int  # monotonic, of any origin
    wall_ms: int  # since the epoch


class DeletedTopic(NamedTuple):
    """A topic that was deleted."""

    name: str
    topic_id: UUID


class ParkedAnswer(NamedTuple):
    """The answer to the parked request with this token."""

    token: int
    result: object


class ShardEvent(NamedTuple):
    """An event for the broker's log."""

    owner: str  # the group, for example
    text: str


class ShardDecision(msgspec.Struct, Generic[R, T], frozen=True):
    """Records to append, and answers to send once they are durable.

    The records of an atomic decision are in one batch, so a load finds all of them or none. They are replayed by the
    driver when it is known that one batch can hold them; while deciding, the shard changes nothing, so a decision that
    is too large has changed nothing. Records of other decisions were replayed when they were decided on, and may be
    spread over several batches.
    """

    response: T
    records: list[R]
    answers: list[ParkedAnswer]
    events: list[ShardEvent]
    is_atomic: bool = False


class Turn(Generic[R]):
    """One operation on a shard: its time, and its records and answers so far."""

    __slots__ = ("_answers", "_events", "_records", "_replay", "now")

    def __init__(self, now: Instant, replay: Replay[R] | None) -> None:
        """Begin a decision, which is atomic without `replay`."""
        self.now = now
        self._replay = replay
        self._records: list[R] = []
        self._answers: list[ParkedAnswer] = []
        self._events: list[ShardEvent] = []

    def persist(self, record: R) -> None:
        """Change durable state, at once unless the decision is atomic; the driver appends the record."""
        self._records.append(record)
        if self._replay is not None:
            self._replay(NO_OFFSET, NO_PRODUCER_ID, NO_PRODUCER_EPOCH, record)

    def answer(self, token: int, result: object) -> None:
        """Answer a parked request, once this decision is durable."""
        self._answers.append(ParkedAnswer(token, result))

    def note(self, owner: str, text: str) -> None:
        """Add an event for the broker's log."""
        self._events.append(ShardEvent(owner, text))

    def decide(self, response: T) -> ShardDecision[R, T]:
        """Close the turn."""
        is_atomic = self._replay is None
        return ShardDecision(response, self._records, self._answers, self._events, is_atomic)


class LiveState(Protocol[R_co]):
    """The records from which a load makes a shard as it is now."""

    @property
    def count(self) -> int:
        """How many there are."""
        ...

    @property
    def size_bytes(self) -> int:
        """About how many bytes they take in a log."""
        ...

    def read(self) -> Iterator[R_co]:
        """Give each as it is when it is asked for; the shard may change meanwhile."""
        ...


class Shard(Protocol[R]):
    """The state of one partition; `R` is a record, or a run of them that are read as one."""

    live: LiveState[R]  # what a rewrite of the log writes

    def replay(self, offset: int, producer_id: int, producer_epoch: int, record: R, /) -> None:
        """Apply a record; `producer_id` is that of a transaction which is not known to have ended, or -1.

        The offset is that of the first record of a run, and -1 while a decision that is not atomic is made. Where
        another tool has copied a compacted log, it may be lower than the log's, but it is in order.

        Raises:
            CorruptRecordError: this shard cannot have such a record; the partition is not served.
        """
        ...

    def replay_end_transaction(
        self, _producer_id: int, _producer_epoch: int, _marker: Marker, /
    ) -> None:
        """Apply the end of a transaction to the records that came with this producer id; by default there are none."""
        return

    def loaded(self, image: MetadataImage, now: Instant, /) -> ShardDecision[R, None]:
        """Begin to serve: every record of the log was replayed."""
        ...

    def new_image(
        self, image: MetadataImage, deleted: Sequence[DeletedTopic], now: Instant, /
    ) -> ShardDecision[R, int]:
        """Take in that topics have changed, some of the work at a time.

        Decides how many of the deleted topics, from the first on, need nothing more; called again until it is all.
        """
        ...

    def unloaded(self) -> None:
        """End: this broker does not lead the partition any more, or loads a new shard from its log."""
        return

    def next_deadline_ms(self) -> int | None:
        """When `expire` has something to do, in ms of the monotonic clock."""
        ...

    def expire(self, now: Instant, /) -> ShardDecision[R, None]:
        """Do what is due."""
        ...


S = TypeVar("S", bound=Shard[Any])


class ShardKind(NamedTuple, Generic[S, R]):
    """What a kind of shard hands to the runtime."""

    topic: str  # one partition of it is the log of one shard
    new_shard: Callable[[], S]
    encode: Callable[[R], tuple[bytes, bytes | None]]  # key and value; CorruptRecordError
    # Each record, or run of them, and how many it stands for; None for kinds that a newer version writes.
    decode: Callable[[RecordReader], Iterator[tuple[object | None, int]]]
    on_event: Callable[[ShardEvent], None]
