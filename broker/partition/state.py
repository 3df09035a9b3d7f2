"""Everything a partition derives from its log. Pure.

`apply` is the only way in, for a batch just appended as for one replayed after a restart.
"""

from headrace.broker.partition.leader_epochs import LeaderEpochs
from headrace.broker.partition.producer_state import (
    NO_PRODUCER_ID,
    BatchMetadata,
    ProducerStates,
    last_sequence,
)
from headrace.broker.partition.time_index import MAX_STEP_MS, TimeIndex
from headrace.protocol.records.batch import BatchHeader


class PartitionState:
    """Producers, leader epochs and time index of one partition."""

    __slots__ = ("epochs", "producers", "times")

    def __init__(self, *, producer_id_expiration_ms: int) -> None:
        self.producers = ProducerStates(expiration_ms=producer_id_expiration_ms)
        self.epochs = LeaderEpochs()
        self.times = TimeIndex()

    @property
    def size_bytes(self) -> int:
        """Bytes of all batches in the log; of those that were given up in part of a step, maybe a step too many."""
        return self.times.end_bytes - self.times.start_bytes

    def trim(self, log_start_offset: int, log_end_offset: int) -> None:
        """Forget where the batches below the log start were; producers stay until they expire."""
        self.epochs.trim(log_start_offset)
        self.times.trim(log_start_offset, log_end_offset)

    def apply(
        self,
        header: BatchHeader,
        base_offset: int,
        leader_epoch: int,
        size_bytes: int,
        now_ms: int,
        step_ms: int = MAX_STEP_MS,
    ) -> None:
        """Take in the batch that lies at `base_offset`, written under `leader_epoch`.

        `now_ms` is the wall clock, `step_ms` how finely the log is divided in time (`segment.ms`).
        """
        self.epochs.assign(leader_epoch, base_offset)
        # A careless client leaves the maximum empty; no record may go for that.
        newest_ms = max(header.max_timestamp, header.base_timestamp)
        self.times.append(base_offset, newest_ms, size_bytes, step_ms)
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
