"""Idempotent producers of a partition: whether a batch is next, a duplicate, or out of order. Pure.

Batch headers and times in, decisions out. State changes only by `update`, which appends and replays share,
so a partition rebuilt from its log cannot differ from the one that wrote it (KIP-98, KIP-360).

If part of the log cannot be read, nobody knows which batches it held. Kafka takes any sequence from a producer that
it does not know; here, until what was lost would have expired, such a producer must begin at sequence 0, and anything
else is OUT_OF_ORDER_SEQUENCE_NUMBER: it may be a repetition of a batch that is stored where nobody can read it.
"""

from collections.abc import Container, Iterable, Iterator
from enum import Enum, auto
from typing import NamedTuple

import msgspec

from headrace.protocol.partition_checkpoint import (
    NO_COORDINATOR_EPOCH,
    NOT_LOST,
    BatchMetadata,
    ProducerEntry,
)

NO_PRODUCER_ID = -1
BATCHES_RETAINED = 5  # as in Kafka: bounds a client's max.in.flight.requests.per.connection
SEQUENCE_COUNT = 2**31  # sequences wrap from 2**31 - 1 to 0


class SequenceCheck(Enum):
    """What to do with a batch."""

    APPEND = auto()
    DUPLICATE = auto()
    OUT_OF_ORDER = auto()
    STALE_EPOCH = auto()


class Check(NamedTuple):
    """SequenceCheck, and the original batch when it is a duplicate."""

    outcome: SequenceCheck
    duplicate: BatchMetadata | None = None


_APPEND = Check(SequenceCheck.APPEND)
_OUT_OF_ORDER = Check(SequenceCheck.OUT_OF_ORDER)
_STALE_EPOCH = Check(SequenceCheck.STALE_EPOCH)


def last_sequence(first_sequence: int, count: int) -> int:
    """Sequence of the last record of a batch that starts at `first_sequence`, with Kafka's wrap."""
    return (first_sequence + count - 1) % SEQUENCE_COUNT


class ProducerStates:
    """All producers of a partition.

    Holds at most `max_producers` of them; the one that was idle for longest is dropped first, and none in a transaction
    unless all are.
    """

    def __init__(self, *, expiration_ms: int, max_producers: int = 100_000) -> None:
        self.expiration_ms = expiration_ms  # of those that are idle; it may change
        self._max_producers = max_producers
        self._entries: dict[int, ProducerEntry] = {}  # in order of last use
        self.busy: Container[int] = ()  # those in a transaction
        self.lost_ms = NOT_LOST  # when state was lost, until whatever was lost would have expired

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[ProducerEntry]:
        return iter(self._entries.values())

    def check(self, producer_id: int, epoch: int, first_sequence: int, count: int) -> Check:
        """Check a batch before it is appended; changes nothing."""
        entry = self._entries.get(producer_id)
        if entry is None:
            # After a loss, it may be a repetition of what cannot be read; the first of a producer must be let in.
            return _APPEND if self.lost_ms == NOT_LOST or first_sequence == 0 else _OUT_OF_ORDER
        if epoch < entry.epoch:
            return _STALE_EPOCH
        if epoch > entry.epoch:
            return _APPEND if first_sequence == 0 else _OUT_OF_ORDER
        if not entry.batches:  # of this epoch only a marker is known, or records without a sequence
            return _APPEND if first_sequence == 0 else _OUT_OF_ORDER
        last = last_sequence(first_sequence, count)
        for batch in entry.batches:
            if batch.first_sequence == first_sequence and batch.last_sequence == last:
                return Check(SequenceCheck.DUPLICATE, batch)
        expected = (entry.batches[-1].last_sequence + 1) % SEQUENCE_COUNT
        return _APPEND if first_sequence == expected else _OUT_OF_ORDER

    def lacks(self, producer_id: int, epoch: int, sequence: int) -> bool:
        """Whether the batch with this first sequence would be appended, and is no repetition."""
        return self.check(producer_id, epoch, sequence, 1).outcome is SequenceCheck.APPEND

    def is_stale(self, producer_id: int, epoch: int) -> bool:
        """Whether a newer epoch of a producer is known."""
        entry = self._entries.get(producer_id)
        return entry is not None and epoch < entry.epoch

    def coordinator_epoch(self, producer_id: int) -> int:
        """Epoch of the coordinator that wrote the newest marker of a producer; -1: none is known."""
        entry = self._entries.get(producer_id)
        return NO_COORDINATOR_EPOCH if entry is None else entry.coordinator_epoch

    def update(
        self, producer_id: int, epoch: int, batch: BatchMetadata | None, now_ms: int
    ) -> None:
        """Record an appended batch, live or replayed; None: it has no sequence.

        Idle time is measured by `now_ms`, not by the batch's own timestamps: those come from the client and may be days
        old or missing, and a producer that is dropped while it retries writes its batch twice.
        """
        entry = self._entries.pop(producer_id, None)
        batches: tuple[BatchMetadata, ...] = ()
        coordinator_epoch = NO_COORDINATOR_EPOCH
        if entry is not None:
            coordinator_epoch = entry.coordinator_epoch
            if entry.epoch == epoch:
                batches = entry.batches
        if batch is not None:
            batches = (*batches[1 - BATCHES_RETAINED :], batch)
        self._entries[producer_id] = ProducerEntry(
            producer_id, epoch, now_ms, batches, coordinator_epoch
        )
        if len(self._entries) > self._max_producers:
            self._drop_oldest()

    def mark(self, producer_id: int, epoch: int, coordinator_epoch: int, now_ms: int) -> None:
        """Record a marker, live or replayed: as a batch without records, of a coordinator."""
        self.update(producer_id, epoch, None, now_ms)
        entry = self._entries.get(producer_id)
        if entry is not None:
            self._entries[producer_id] = msgspec.structs.replace(
                entry, coordinator_epoch=coordinator_epoch
            )

    def _drop_oldest(self) -> None:
        for _ in range(len(self._entries)):
            producer_id = next(iter(self._entries))
            entry = self._entries.pop(producer_id)
            if producer_id not in self.busy:
                return
            self._entries[producer_id] = entry  # behind those that are idle
        del self._entries[next(iter(self._entries))]

    def expire(self, now_ms: int) -> int:
        """Drop producers that have been idle for longer than `expiration_ms`, in no transaction; return how many."""
        limit = now_ms - self.expiration_ms
        expired = [
            pid
            for pid, entry in self._entries.items()
            if entry.updated_ms < limit and pid not in self.busy
        ]
        for producer_id in expired:
            del self._entries[producer_id]
        if self.lost_ms < limit:
            self.lost_ms = NOT_LOST
        return len(expired)

    def lose(self, now_ms: int) -> None:
        """Drop all producers: batches of unknown producers follow, which cannot be read."""
        self._entries.clear()
        self.lost_ms = now_ms

    def restore(self, entries: Iterable[ProducerEntry], lost_ms: int = NOT_LOST) -> None:
        """Replace all producers by those of a checkpoint."""
        self._entries = {entry.producer_id: entry for entry in entries}
        self.lost_ms = lost_ms
