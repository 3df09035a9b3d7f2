"""What reads the log of a partition: its offsets and leader epochs, its batches, and who waits for more of them.

The high watermark is the data stream's confirm offset: everything below it is durable and was acknowledged under a
valid lease. The replication factor is one, so it depends on nothing else. How far a reader may read depends on its
isolation: the last stable offset is the high watermark unless a transaction is ongoing.
"""

from collections.abc import Callable, Sequence
from enum import IntEnum

from headrace.broker.partition.damage import DamagedRange, KnownDamage
from headrace.broker.partition.opening import damaged_range
from headrace.broker.partition.state import PartitionState
from headrace.broker.partition.wakeups import Reader
from headrace.protocol.errors import ErrorCode
from headrace.protocol.partition_checkpoint import AbortedEntry
from headrace.storage.errors import DAMAGE, StorageError
from headrace.storage.record_batch import StreamRecordBatch
from headrace.storage.stream import Stream

NO_LEADER_EPOCH = -1


class Isolation(IntEnum):
    """How much a reader may see, as requests say it; any other number counts as the first."""

    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1


class ReadSide:
    """The log of one partition, as readers see it."""

    def __init__(
        self,
        data: Stream,
        state: PartitionState,
        leader_epoch: int,
        wake: Callable[[dict[Reader, None]], None],
    ) -> None:
        self._data = data
        self._state = state
        self._leader_epoch = leader_epoch
        self._wake = wake
        self.readers: dict[Reader, None] = {}  # to be called when the log moves
        self.damage = KnownDamage()

    @property
    def log_start_offset(self) -> int:
        """First offset that can be read."""
        return self._data.start_offset

    @property
    def high_watermark(self) -> int:
        """First offset that is not acknowledged."""
        return self._data.confirm_offset

    @property
    def last_stable_offset(self) -> int:
        """First offset that a read_committed consumer may not see."""
        end = self._data.confirm_offset
        transactions = self._state.transactions
        if transactions is None:
            return end
        return max(transactions.last_stable_offset(end), self._data.start_offset)

    def readable_end(self, isolation: int) -> int:
        """First offset that a reader may not see."""
        if isolation == Isolation.READ_COMMITTED:
            return self.last_stable_offset
        return self._data.confirm_offset

    def aborted_between(self, start_offset: int, end_offset: int) -> Sequence[AbortedEntry]:
        """The aborted transactions that have records in a range of offsets; not what was deleted."""
        transactions = self._state.transactions
        return (
            () if transactions is None else transactions.aborted_between(start_offset, end_offset)
        )

    @property
    def log_end_offset(self) -> int:
        """Offset that the next batch gets."""
        return self._data.next_offset

    @property
    def size_bytes(self) -> int:
        """Bytes that the partition's data occupies, uploaded or not."""
        return self._state.size_bytes

    def check_leader_epoch(self, requested: int) -> ErrorCode:
        """Compare a client's leader epoch with the current one (KIP-320); -1 skips the check."""
        if requested in (NO_LEADER_EPOCH, self._leader_epoch):
            return ErrorCode.NONE
        if requested < self._leader_epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        return ErrorCode.UNKNOWN_LEADER_EPOCH

    def epoch_of(self, offset: int) -> int:
        """Leader epoch under which `offset` was, or would next be, written."""
        if offset >= self._data.next_offset:
            return self._leader_epoch
        return self._state.epochs.epoch_of(offset)

    def end_offset_of_epoch(self, epoch: int) -> tuple[int, int]:
        """(largest epoch <= `epoch` with data, its end offset); the current epoch counts even if it is empty.

        (-1, -1) for an epoch above the current one, or a negative one.
        """
        if not 0 <= epoch <= self._leader_epoch:
            return -1, -1
        if epoch == self._leader_epoch:
            return epoch, self.high_watermark
        return self._state.epochs.end_offset(epoch, self.high_watermark)

    def read_cached(self, offset: int, max_bytes: int) -> list[StreamRecordBatch] | None:
        """Batches from memory without waiting; None when they must come from the bucket."""
        return self._data.fetch_cached(offset, max_bytes)

    async def read(self, offset: int, max_bytes: int) -> list[StreamRecordBatch]:
        """Batches from the one that holds `offset`, at least one unless `offset` is the high watermark.

        Raises:
            OffsetOutOfRangeError: below the log start or above the high watermark.
            StorageError: the bucket does not answer.
        """
        try:
            batches = await self._data.fetch(offset, max_bytes)
        except DAMAGE as error:
            reason = f"{type(error).__name__}: {error}"
            self.damage.add(DamagedRange(offset, offset + 1, reason))
            raise
        if self.damage and batches:
            self.damage.was_read(offset, batches[-1].end_offset)
        return batches

    async def damaged_range(self, offset: int, error: StorageError) -> DamagedRange:
        """As `opening.damaged_range`, after `read` met damage at `offset`."""
        return await damaged_range(self._data, offset, error)

    @property
    def unreadable(self) -> list[DamagedRange]:
        """What is known to be damaged among the records that are not deleted."""
        return self.damage.remaining(self.log_start_offset) if self.damage else []

    def add_reader(self, reader: Reader) -> None:
        """Call `reader` once when an end of what can be read moves, or the partition closes."""
        self.readers[reader] = None

    def remove_reader(self, reader: Reader) -> None:
        """Undo `add_reader`; no effect once the partition has moved: the reader was called, or is about to be."""
        self.readers.pop(reader, None)

    def wake_readers(self) -> None:
        """Have the readers called that listen: the high watermark or the log start offset may have moved."""
        if self.readers:
            readers, self.readers = self.readers, {}
            self._wake(readers)
