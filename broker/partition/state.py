"""The state that a partition derives from its log. Pure.

Only `apply` adds to it, both for appended batches and for batches replayed after a restart.
"""

from headrace.broker.partition.leader_epochs import LeaderEpochs
from headrace.broker.partition.producer_state import (
    NO_PRODUCER_ID,
    ProducerStates,
    last_sequence,
)
from headrace.broker.partition.time_index import MAX_SEGMENT_MS, MAX_TIMESTAMP_MS, TimeIndex
from headrace.protocol.partition_checkpoint import BatchMetadata
from headrace.protocol.records.batch import BatchHeader, newest_timestamp


class PartitionState:
    """Producers, leader epochs and time index of one partition."""

    __slots__ = ("epochs", "producers", "times")

    def __init__(self, *, producer_id_expiration_ms: int) -> None:
        self.producers = ProducerStates(expiration_ms=producer_id_expiration_ms)
        self.epochs = LeaderEpochs()
        self.times = TimeIndex()

    @property
    def size_bytes(self) -> int:
        """Bytes of all batches in the log; up to one segment too many if the log starts within a segment."""
        return self.times.end_bytes - self.times.start_bytes

    def trim(self, log_start_offset: int, log_end_offset: int) -> None:
        """Drop the index of batches below the log start; producers stay until they expire."""
        self.epochs.trim(log_start_offset)
        self.times.trim(log_start_offset, log_end_offset)

    def skip(self, start_offset: int, end_offset: int, *, newest_ms: int, now_ms: int) -> None:
        """Pass over batches that cannot be read: of `newest_ms` at most, by nobody knows whom, under any epoch.

        The leader epochs need nothing: one that is not known begins where the next known one does.
        """
        self.times.skip(start_offset, end_offset, newest_ms)
        self.producers.lose(now_ms)

    def apply(
        self,
        header: BatchHeader,
        base_offset: int,
        leader_epoch: int,
        size_bytes: int,
        now_ms: int,
        segment_ms: int = MAX_SEGMENT_MS,
        latest_ms: int = MAX_TIMESTAMP_MS,
    ) -> None:
        """Add the batch at `base_offset`, written under `leader_epoch`.

        `now_ms` is the wall clock, `segment_ms` the longest time that a segment covers (`segment.ms`). A timestamp
        beyond `latest_ms` counts as that: older versions stored such batches, and would never delete by age again.
        """
        self.epochs.assign(leader_epoch, base_offset)
        newest_ms = min(newest_timestamp(header), latest_ms)
        self.times.append(base_offset, newest_ms, size_bytes, segment_ms)
        if header.producer_id != NO_PRODUCER_ID and not header.is_control:
            count = header.last_offset_delta + 1
            self.producers.update(
                header.producer_id,
                header.producer_epoch,
                BatchMetadata(
                    header.base_sequence,
                    last_sequence(header.base_sequence, count),
                    base_offset,
                    base_offset + count - 1,
                    header.max_timestamp,
                ),
                now_ms,
            )
