"""Batches of idempotent producers that were refused for a moment, and what was sent behind them. Pure.

A producer sends several requests without waiting. One is refused, since the partition is being opened, there is no
room, or this broker has not heard of a new topic; a moment later the next one could be appended. It must be refused
alike, until the first has been sent again.
Appended, it would overtake the first where the producer is not known yet. Called out of order, librdkafka gives all of
its producer's batches new sequences, also those of other partitions whose outcome it does not know: they are stored
twice. (Java's producer repeats just that batch.)
"""

from typing import Final, NamedTuple
from uuid import UUID

from headrace.broker.partition.producer_state import NO_PRODUCER_ID, SEQUENCE_COUNT
from headrace.protocol.errors import ErrorCode
from headrace.protocol.records.batch import HEADER_BYTES, MAGIC, BatchHeader, parse_header

MAX_REFUSED: Final = 10_000  # the oldest go first; what was sent behind them is out of order again
# Requests that were sent before the refusal was heard of have come by then.
REFUSED_FOR_MS: Final = 30_000
_NOTHING: Final = -1
# Those that a producer answers by sending the same batch again.
PASSING: Final = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
    }
)
# A partition by the id of its topic; by its name while this broker does not know the topic.
RefusedKey = tuple[UUID | str, int]


class Refused(NamedTuple):
    """The first batch of a producer that was refused, of a partition."""

    epoch: int
    sequence: int
    code: ErrorCode
    at_ms: int
    behind: int = _NOTHING  # the sequence of what was first refused because of it


class RefusedBatches:
    """All of a broker's. Times are of a monotonic clock: the time of day may be set while a batch is missing."""

    def __init__(self) -> None:
        # By partition and producer id, in the order of their refusals.
        self.by_producer: dict[tuple[RefusedKey, int], Refused] = {}

    def note(
        self, partition: RefusedKey, records: memoryview | None, code: ErrorCode, now_ms: int
    ) -> None:
        """Note that a batch was refused, and not appended."""
        if code not in PASSING or records is None or len(records) < HEADER_BYTES:
            return
        header = parse_header(records)
        if header.magic != MAGIC or header.producer_id == NO_PRODUCER_ID:
            return
        key = (partition, header.producer_id)
        if self._behind(key, header, now_ms) is not None:
            return
        self.by_producer.pop(key, None)
        self.by_producer[key] = Refused(header.producer_epoch, header.base_sequence, code, now_ms)
        while len(self.by_producer) > MAX_REFUSED or self._is_over(self._oldest, now_ms):
            del self.by_producer[next(iter(self.by_producer))]

    def before(self, partition: RefusedKey, header: BatchHeader, now_ms: int) -> Refused | None:
        """Return the refused batch that this one was sent behind; forget it if it is this one, or will not come.

        Producers send again in order: the first batch that was refused because of it comes again behind it only.
        """
        key = (partition, header.producer_id)
        found = self._behind(key, header, now_ms)
        while self.by_producer and self._is_over(self._oldest, now_ms):
            del self.by_producer[next(iter(self.by_producer))]
        if found is None or found.behind == header.base_sequence:
            self.by_producer.pop(key, None)
            return None
        if found.behind == _NOTHING:
            self.by_producer[key] = found._replace(behind=header.base_sequence)
        return found

    def _behind(
        self, key: tuple[RefusedKey, int], header: BatchHeader, now_ms: int
    ) -> Refused | None:
        found = self.by_producer.get(key)
        if found is None or found.epoch != header.producer_epoch or self._is_over(found, now_ms):
            return None
        ahead = (header.base_sequence - found.sequence) % SEQUENCE_COUNT
        return found if 0 < ahead < SEQUENCE_COUNT // 2 else None

    @property
    def _oldest(self) -> Refused:
        return next(iter(self.by_producer.values()))

    def _is_over(self, found: Refused, now_ms: int) -> bool:
        return now_ms - found.at_ms > REFUSED_FOR_MS
