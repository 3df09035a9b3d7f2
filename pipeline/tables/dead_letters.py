"""Bad records to a topic: the record as it was, and where it was and why in its headers.

    | part of the dead letter      | content                                                          |
    |------------------------------|------------------------------------------------------------------|
    | key                          | TOPIC-PARTITION-OFFSET-ID: compaction keeps one of a repeated letter |
    | value                        | the record's value                                               |
    | header headrace.topic        | the topic that it was in                                         |
    | header headrace.topic-id     | the topic's id, where it is known                                |
    | header headrace.partition    | the partition, as decimal digits                                 |
    | header headrace.offset       | the offset, as decimal digits                                    |
    | header headrace.timestamp-ms | the record's timestamp, as decimal digits                        |
    | header headrace.key          | the record's key, if it has one                                  |
    | header headrace.reason       | what is wrong with it                                            |
    | header headrace.value-bytes  | the size of its value, if that is left out                       |
    | header headrace.key-bytes    | the size of its key, if that is left out                         |

A letter that the client or the topic refuses as too large is sent by itself, in a batch of its own, and then without
the record's value, and its key if that is large: they are in the record's own topic, as long as that keeps them.

The topic's id keeps a letter apart from those of an earlier topic of the same name. Where it is not known, and in
letters of older versions, it is missing, also in the key.

They are written before the micro-batch is committed. A job that dies between the two would write them again: the first
micro-batch of a job looks first at what has come into the topic since the table's last commit.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)

from headrace.pipeline.tables.errors import TableError
from headrace.pipeline.tables.rows import BadRecord

TIMEOUT_S: Final = 60.0
_POLL_S: Final = 1.0
_MARGIN_MS: Final = 300_000  # by which clocks may differ
_ERRORS_ONLY: Final = 3  # syslog level
_MAX_KEPT_KEY_BYTES: Final = 1_024  # of a record whose value is left out
# How large a letter may be is for the topic to say: librdkafka would refuse a record that its default allows.
_OF_ANY_SIZE: Final = {"message.max.bytes": 1_000_000_000}
_TOGETHER: Final[Mapping[str, int]] = {}
_SINGLY: Final = {"batch.num.messages": 1}


@dataclass(frozen=True, slots=True)
class Letter:
    """A bad record, and the topic that it is from."""

    record: BadRecord
    topic_id: str = ""
    is_adopted: bool = (
        False  # the table learns the topic's id just now: a letter without one may be this one's
    )
    is_cut: bool = False  # without the record's value, and its key if that is large

    @property
    def value(self) -> bytes | None:
        """What it has of the record's value; nothing is not null, which would be a tombstone."""
        return b"" if self.is_cut else self.record.value

    @property
    def key(self) -> str:
        """What identifies it."""
        place = place_of(self.record)
        return f"{place}-{self.topic_id}" if self.topic_id else place

    def is_among(self, keys: Collection[str]) -> bool:
        """Whether it has been written already, by the keys of those that were."""
        return self.key in keys or (self.is_adopted and place_of(self.record) in keys)


class DeadLetters(Protocol):
    """Where bad records go."""

    def write(self, letters: Sequence[Letter], since_ms: int | None) -> None:
        """Write them, unless they have been written since a time.

        Raises:
            TableError: they cannot be written.
        """
        ...


class NoDeadLetters:
    """Bad records are not kept."""

    def write(self, letters: Sequence[Letter], since_ms: int | None) -> None:
        """See `DeadLetters.write`."""
        del since_ms
        if letters:
            it = letters[0].record
            raise TableError(
                f"record {it.topic}-{it.partition}, offset {it.offset}: {it.reason}. With a topic in "
                f"[dead_letters], bad records go there and the table goes on"
            )


class DeadLetterTopic:
    """A topic of bad records."""

    def __init__(self, bootstrap: str, topic: str, client: Mapping[str, str]) -> None:
        self._client = {**client, "bootstrap.servers": bootstrap, "log_level": _ERRORS_ONLY}
        self._topic = topic
        self._is_first = True

    def write(self, letters: Sequence[Letter], since_ms: int | None) -> None:
        """See `DeadLetters.write`."""
        known = self._written(since_ms) if letters and self._is_first else set()
        self._is_first = False
        left = [it for it in letters if not it.is_among(known)]
        if left:
            self._send(left)

    def _send(self, letters: Sequence[Letter]) -> None:
        left = self._too_large(letters, _TOGETHER)
        if left:  # maybe since others were in its batch
            left = self._too_large(left, _SINGLY)
        if left:
            left = self._too_large([replace(it, is_cut=True) for it in left], _SINGLY)
        if left:
            raise self._unsent(f"the topic does not even take {left[0].key} without its value")

    def _too_large(self, letters: Sequence[Letter], settings: Mapping[str, int]) -> list[Letter]:
        """Send letters; return those that are refused as too large."""
        producer = Producer(
            {**_OF_ANY_SIZE, **self._client, **settings, "enable.idempotence": True}
        )
        too_large: list[Letter] = []
        refused: list[str] = []

        def told(error: KafkaError, letter: Letter) -> None:
            if error.code() == KafkaError.MSG_SIZE_TOO_LARGE:
                too_large.append(letter)
            else:
                refused.append(error.str())

        for it in letters:
            try:
                self._produce(producer, it, told)
            except KafkaException as error:
                told(error.args[0], it)
        left = producer.flush(TIMEOUT_S)
        if refused or left:
            raise self._unsent(
                refused[0] if refused else f"{left} were not answered in {TIMEOUT_S:.0f} s"
            )
        return too_large

    def _produce(
        self, producer: Producer, letter: Letter, told: Callable[[KafkaError, Letter], None]
    ) -> None:
        def delivered(error: KafkaError | None, message: Message) -> None:
            del message
            if error is not None:
                told(error, letter)

        while True:
            try:
                producer.produce(
                    self._topic,
                    key=letter.key,
                    value=letter.value,
                    headers=headers_of(letter),
                    on_delivery=delivered,
                )
            except BufferError:
                producer.poll(_POLL_S)
            else:
                return

    def _unsent(self, why: str) -> TableError:
        return TableError(f"dead letters could not be written to topic {self._topic}: {why}")

    def _written(self, since_ms: int | None) -> set[str]:
        """Keys of the letters that are in the topic already, from a time on."""
        consumer = Consumer(
            {**self._client, "group.id": "headrace-dead-letters", "enable.auto.commit": False}
        )
        try:
            ends = _ends(consumer, self._topic)
            starts = _starts(consumer, self._topic, ends, since_ms)
            return _keys(consumer, starts, ends)
        except KafkaException as error:
            raise TableError(
                f"topic {self._topic} of dead letters: {error.args[0].str()}"
            ) from error
        finally:
            consumer.close()


def place_of(record: BadRecord) -> str:
    """What identifies a bad record of one topic."""
    return f"{record.topic}-{record.partition}-{record.offset}"


def headers_of(letter: Letter) -> list[tuple[str, str | bytes | None]]:
    """The headers of a dead letter."""
    record = letter.record
    headers: list[tuple[str, str | bytes | None]] = [
        ("headrace.topic", record.topic.encode()),
        ("headrace.partition", str(record.partition).encode()),
        ("headrace.offset", str(record.offset).encode()),
        ("headrace.timestamp-ms", str(record.timestamp_ms).encode()),
        ("headrace.reason", record.reason.encode()),
    ]
    if letter.topic_id:
        headers.append(("headrace.topic-id", letter.topic_id.encode()))
    if letter.is_cut and record.value is not None:
        headers.append(("headrace.value-bytes", str(len(record.value)).encode()))
    if record.key is not None and letter.is_cut and len(record.key) > _MAX_KEPT_KEY_BYTES:
        headers.append(("headrace.key-bytes", str(len(record.key)).encode()))
    elif record.key is not None:
        headers.append(("headrace.key", record.key))
    return headers


def _ends(consumer: Consumer, topic: str) -> dict[int, int]:
    told = consumer.list_topics(topic, timeout=TIMEOUT_S).topics[topic]
    if told.error is not None:  # there is none yet: the first letter may create it
        return {}
    found = {}
    for partition in told.partitions:
        bounds = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=TIMEOUT_S)
        if bounds[1] > bounds[0]:
            found[partition] = bounds[1]
    return found


def _starts(
    consumer: Consumer, topic: str, ends: Mapping[int, int], since_ms: int | None
) -> list[TopicPartition]:
    """Where to begin in each partition that has something since a time."""
    if since_ms is None:
        return [TopicPartition(topic, it, OFFSET_BEGINNING) for it in ends]
    wanted = [TopicPartition(topic, it, max(0, since_ms - _MARGIN_MS)) for it in ends]
    found = consumer.offsets_for_times(wanted, timeout=TIMEOUT_S) if wanted else []
    return [it for it in found if 0 <= it.offset < ends[it.partition]]


def _keys(
    consumer: Consumer,
    starts: list[TopicPartition],
    ends: Mapping[int, int],
    monotonic_s: Callable[[], float] = time.monotonic,
) -> set[str]:
    """Keys of all letters from some offsets to the ends.

    Raises:
        TableError: a minute passes without one.
    """
    found: set[str] = set()
    left = {it.partition for it in starts}
    consumer.assign(starts)
    heard_s = monotonic_s()
    while left:
        message = consumer.poll(_POLL_S)
        if message is None or message.error() is not None:
            # Records at the end may be gone, or invisible: then the position is what counts.
            for it in consumer.position([TopicPartition(s.topic, s.partition) for s in starts]):
                if it.offset >= ends[it.partition]:
                    left.discard(it.partition)
            if monotonic_s() - heard_s > TIMEOUT_S:
                raise TableError("the topic of dead letters cannot be read: no record for a minute")
            continue
        heard_s = monotonic_s()
        key, partition, offset = message.key(), message.partition(), message.offset()
        if isinstance(key, bytes):
            found.add(key.decode(errors="replace"))
        if partition is not None and offset is not None and offset + 1 >= ends[partition]:
            left.discard(partition)
    return found
