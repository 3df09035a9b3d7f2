"""A second kind of shard, as small as one can be: counters by name, in a topic of their own."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from headrace.broker.cluster.topic_creation import CoordinatorTopic
from headrace.broker.coordinator.runtime.record_fields import CorruptRecordError
from headrace.broker.coordinator.runtime.shard import (
    DeletedTopic,
    Instant,
    LiveState,
    Shard,
    ShardDecision,
    ShardEvent,
    ShardKind,
    Turn,
)
from headrace.metadata.image import MetadataImage
from headrace.protocol.records.batch import NO_PRODUCER_ID
from headrace.protocol.records.control import Marker
from headrace.protocol.records.record import RecordReader

TOPIC: Final = CoordinatorTopic("counters", 2, {"cleanup.policy": "compact"})
IDLE_MS: Final = 10_000  # then a counter is removed
VALUE_BYTES: Final = 8


class Count(NamedTuple):
    """`value` None removes a counter."""

    name: str
    value: int | None


class Reached(NamedTuple):
    """The answer to a request that waited for a value."""

    name: str
    value: int


class Replayed(NamedTuple):
    """What a shard was given."""

    offset: int
    producer_id: int
    producer_epoch: int
    record: Count


def encode(record: Count) -> tuple[bytes, bytes | None]:
    value = record.value
    return record.name.encode(), None if value is None else value.to_bytes(VALUE_BYTES)


def decode(reader: RecordReader) -> Iterator[tuple[Count | None, int]]:
    for _, _, key, value, _ in reader:
        if not key or (value is not None and len(value) != VALUE_BYTES):
            raise CorruptRecordError("not a counter")
        yield Count(key.decode(), None if value is None else int.from_bytes(value)), 1


class Counters(Shard[Count]):
    """One partition of the topic."""

    def __init__(self) -> None:
        self.values: dict[str, int] = {}
        self.live: LiveState[Count] = Live(self.values)
        self.replayed: list[Replayed] = []
        self.images: list[MetadataImage] = []
        self.most_deleted = 0  # topics that were given at once
        self.is_unloaded = False
        self._open: dict[int, list[Count]] = {}  # by producer
        self._idle_at_ms: dict[str, int] = {}
        self._waiting: list[tuple[int, Reached]] = []

    # The verbs

    def replay(self, offset: int, producer_id: int, producer_epoch: int, record: Count) -> None:
        self.replayed.append(Replayed(offset, producer_id, producer_epoch, record))
        if producer_id != NO_PRODUCER_ID:
            self._open.setdefault(producer_id, []).append(record)
        elif record.value is None:
            self.values.pop(record.name, None)
            self._idle_at_ms.pop(record.name, None)
        else:
            self.values[record.name] = record.value

    def replay_end_transaction(
        self, producer_id: int, _producer_epoch: int, marker: Marker
    ) -> None:
        for name, value in self._open.pop(producer_id, []):
            if marker is Marker.COMMIT and value is not None:
                self.values[name] = value

    def loaded(self, image: MetadataImage, now: Instant) -> ShardDecision[Count, None]:
        self.images.append(image)
        self._idle_at_ms = dict.fromkeys(self.values, now.elapsed_ms + IDLE_MS)
        return self._turn(now).decide(None)

    def new_image(
        self, image: MetadataImage, deleted: Sequence[DeletedTopic], now: Instant
    ) -> ShardDecision[Count, int]:
        """One deleted topic at a time; its counter goes."""
        turn = self._turn(now)
        self.images.append(image)
        self.most_deleted = max(self.most_deleted, len(deleted))
        for topic in deleted[:1]:
            if topic.name in self.values:
                turn.persist(Count(topic.name, None))
        return turn.decide(len(deleted[:1]))

    def unloaded(self) -> None:
        self.is_unloaded = True

    def next_deadline_ms(self) -> int | None:
        return min(self._idle_at_ms.values(), default=None)

    def expire(self, now: Instant) -> ShardDecision[Count, None]:
        turn = self._turn(now)
        for name in [name for name, at in self._idle_at_ms.items() if at <= now.elapsed_ms]:
            turn.persist(Count(name, None))
            turn.note(name, "idle")
        return turn.decide(None)

    # Operations

    def add(self, name: str, count: int, now: Instant) -> ShardDecision[Count, int]:
        """Add to a counter, in steps of 1, each a record."""
        turn = self._turn(now)
        for _ in range(count):
            turn.persist(Count(name, self.values.get(name, 0) + 1))
        self._idle_at_ms[name] = now.elapsed_ms + IDLE_MS
        for waiting in list(self._waiting):
            token, wanted = waiting
            if self.values.get(wanted.name, 0) >= wanted.value:
                self._waiting.remove(waiting)
                turn.answer(token, Reached(wanted.name, self.values[wanted.name]))
        return turn.decide(self.values.get(name, 0))

    def set_all(self, values: Mapping[str, int], now: Instant) -> ShardDecision[Count, None]:
        """Set several counters, all of them or none."""
        turn: Turn[Count] = Turn(now, None)
        for name, value in values.items():
            turn.persist(Count(name, value))
        return turn.decide(None)

    def wait(self, token: int, wanted: Reached, now: Instant) -> ShardDecision[Count, None]:
        """Answer when a counter has reached a value."""
        self._waiting.append((token, wanted))
        return self._turn(now).decide(None)

    def _turn(self, now: Instant) -> Turn[Count]:
        return Turn(now, self.replay)


class Live:
    """One record for each counter."""

    def __init__(self, values: Mapping[str, int]) -> None:
        self._values = values

    @property
    def count(self) -> int:
        return len(self._values)

    @property
    def size_bytes(self) -> int:
        return sum(len(name) + VALUE_BYTES for name in self._values)

    def read(self) -> Iterator[Count]:
        for name in list(self._values):
            if name in self._values:
                yield Count(name, self._values[name])


def counter_kind(shards: list[Counters], events: list[ShardEvent]) -> ShardKind[Counters, Count]:
    """The kind; notes the shards that it makes, and the events."""

    def new_shard() -> Counters:
        shards.append(Counters())
        return shards[-1]

    return ShardKind(
        topic=TOPIC.name,
        new_shard=new_shard,
        encode=encode,
        decode=decode,
        on_event=events.append,
    )
