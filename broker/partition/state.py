"""The state that a partition derives from its log. Pure.

Only `apply` adds to it, both for appended batches and for batches replayed after a restart.
"""

from collections.abc import Sequence

from headrace.broker.partition.leader_epochs import LeaderEpochs
from headrace.broker.partition.producer_state import (
    NO_PRODUCER_ID,
    ProducerStates,
    last_sequence,
)
from headrace.broker.partition.time_index import MAX_SEGMENT_MS, MAX_TIMESTAMP_MS, TimeIndex
from headrace.broker.partition.transactions import Transactions
from headrace.protocol.partition_checkpoint import AbortedEntry, BatchMetadata, OngoingTransaction
from headrace.protocol.records.batch import (
    CONTROL_FLAG,
    LENGTH_OVERHEAD_BYTES,
    NO_SEQUENCE,
    TRANSACTIONAL_FLAG,
    BatchHeader,
    newest_timestamp,
)
from headrace.protocol.records.control import EndOfTransaction


class PartitionState:
    """Producers, transactions, leader epochs and time index of one partition, and up to where it is cleaned."""

    __slots__ = ("cleaned_offset", "epochs", "producers", "times", "transactions")

    def __init__(self, *, producer_id_expiration_ms: int) -> None:
        self.producers = ProducerStates(expiration_ms=producer_id_expiration_ms)
        self.epochs = LeaderEpochs()
        self.times = TimeIndex()
        self.transactions: Transactions | None = None  # None: there was none
        self.cleaned_offset = 0  # of a compacted topic: below it, cleaning has come to its end

    def restore_transactions(
        self, ongoing: Sequence[OngoingTransaction], aborted: Sequence[AbortedEntry]
    ) -> None:
        """Replace all transactions by those of a checkpoint."""
        self.transactions, self.producers.busy = None, ()
        if ongoing or aborted:
            self._know_transactions(Transactions(ongoing, aborted))

    def _know_transactions(self, transactions: Transactions) -> Transactions:
        self.transactions = transactions
        self.producers.busy = transactions.ongoing
        return transactions

    @property
    def size_bytes(self) -> int:
        """Bytes of all batches in the log; up to one segment too many if the log starts within a segment."""
        return self.times.end_bytes - self.times.start_bytes

    def trim(self, log_start_offset: int, log_end_offset: int) -> None:
        """Drop the index of batches below the log start; producers stay until they expire."""
        self.epochs.trim(log_start_offset)
        self.times.trim(log_start_offset, log_end_offset)
        if self.transactions is not None:
            self.transactions.trim(log_start_offset)

    def cleaned(
        self, end_offset: int, times: TimeIndex, bytes_before: int, log: tuple[int, int]
    ) -> None:
        """Take in that everything below an offset was cleaned: see `TimeIndex.replace_below`; `log` is its ends."""
        if log[0] < end_offset:
            self.times.replace_below(end_offset, times, bytes_before)
            self.times.trim(*log)
        self.cleaned_offset = end_offset

    def skip(self, start_offset: int, end_offset: int, *, newest_ms: int, now_ms: int) -> None:
        """Pass over batches that cannot be read: of `newest_ms` at most, of unknown producers, under any epoch.

        The leader epochs need nothing: one that is not known begins where the next known one does. Transactions stay
        ongoing: a marker may be among what is lost, but nobody knows which, so the next marker decides.
        """
        self.times.skip(start_offset, end_offset, newest_ms)
        self.producers.lose(now_ms)

    def apply(
        self,
        header: BatchHeader,
        marker: EndOfTransaction | None,
        base_offset: int,
        leader_epoch: int,
        now_ms: int,
        segment_ms: int = MAX_SEGMENT_MS,
        latest_ms: int = MAX_TIMESTAMP_MS,
    ) -> None:
        """Add the batch at `base_offset`, written under `leader_epoch`; of a control batch, its `marker`.

        `now_ms` is the wall clock, `segment_ms` the longest time that a segment covers (`segment.ms`). A timestamp
        beyond `latest_ms` counts as that: older versions stored such batches, and would never delete by age again.
        """
        self.epochs.assign(leader_epoch, base_offset)
        newest_ms = min(newest_timestamp(header), latest_ms)
        size_bytes = header.batch_length + LENGTH_OVERHEAD_BYTES
        self.times.append(base_offset, newest_ms, size_bytes, segment_ms)
        producer_id = header.producer_id
        if producer_id == NO_PRODUCER_ID:
            return
        flags = header.attributes
        if flags & CONTROL_FLAG:
            if marker is not None:
                self._end_transaction(header, marker, base_offset, now_ms)
            return
        count = header.last_offset_delta + 1
        sequence = header.base_sequence
        batch = BatchMetadata(
            sequence,
            last_sequence(sequence, count),
            base_offset,
            base_offset + count - 1,
            header.max_timestamp,
        )
        self.producers.update(
            producer_id, header.producer_epoch, None if sequence == NO_SEQUENCE else batch, now_ms
        )
        if flags & TRANSACTIONAL_FLAG:
            transactions = self.transactions or self._know_transactions(Transactions())
            transactions.begin(producer_id, base_offset)

    def _end_transaction(
        self, header: BatchHeader, marker: EndOfTransaction, offset: int, now_ms: int
    ) -> None:
        producer_id = header.producer_id
        self.producers.mark(producer_id, header.producer_epoch, marker.coordinator_epoch, now_ms)
        if self.transactions is not None:
            self.transactions.end(producer_id, offset, marker.marker)
