"""Everything a partition derives from its log. Pure.

`apply` is the only way in, for a batch just appended as for one replayed after a restart.
"""

from broker.partition.leader_epochs import LeaderEpochs
from broker.partition.producer_state import (
    NO_PRODUCER_ID,
    BatchMetadata,
    ProducerStates,
    last_sequence,
)
from broker.partition.time_index import TimeIndex
from protocol.records.batch import BatchHeader


class PartitionState:
    """Producers, leader epochs and time index of one partition."""

    __slots__ = ("epochs", "producers", "size_bytes", "times")

    def __init__(self, *, producer_id_expiration_ms: int) -> None:
        self.producers = ProducerStates(expiration_ms=producer_id_expiration_ms)
        self.epochs = LeaderEpochs()
        self.times = TimeIndex()
        self.size_bytes = 0  # of all batches in the log

    def apply(
        self,
        header: BatchHeader,
        base_offset: int,
        leader_epoch: int,
        size_bytes: int,
        now_ms: int,
    ) -> None:
        """Take in the batch that lies at `base_offset`, written under `leader_epoch`; `now_ms` is the wall clock."""
        self.size_bytes += size_bytes
        self.epochs.assign(leader_epoch, base_offset)
        self.times.append(base_offset, header.max_timestamp, size_bytes)
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
