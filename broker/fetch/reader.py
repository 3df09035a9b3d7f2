"""Reads many partitions for one Fetch: limits, the at-least-one rule, hot and cold data."""

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence

import msgspec

from headrace.broker.fetch.cold_reads import ColdReads
from headrace.broker.fetch.enough import cut_off
from headrace.broker.fetch.read_failures import ReadFailures
from headrace.broker.fetch.session import SessionPartition
from headrace.broker.fetch.waiting import CountedBytes
from headrace.broker.partition.partition import Partition
from headrace.broker.partition.read_side import NO_LEADER_EPOCH, Isolation, ReadSide
from headrace.broker.partition.registry import PartitionRegistry
from headrace.broker.partition.storage_errors import code_of
from headrace.broker.telemetry.request_metrics import RequestMetrics
from headrace.protocol.errors import ErrorCode
from headrace.protocol.partition_checkpoint import AbortedEntry
from headrace.steps import Steps
from headrace.storage.errors import StorageError
from headrace.storage.record_batch import StreamRecordBatch
from headrace.turns import Turns

# How long an answer waits for the bucket: a bucket that hangs must not block data that is in memory. The read
# continues without its Fetch, and the next Fetch of the same position joins it.
MAX_COLD_WAIT_MS = 1_000
MAX_COLD_READS = 16  # of one Fetch at a time; requests to the bucket have their own bound
SLICE_PARTITIONS = 100  # looked at before others may have their turn: a millisecond at most


class PartitionRead(msgspec.Struct):
    """The result for one target."""

    target: SessionPartition
    error: ErrorCode = ErrorCode.NONE
    partition: Partition | None = None
    high_watermark: int = -1
    last_stable_offset: int = -1
    readable_end: int = -1  # one of the two, as the fetch is isolated
    is_committed: bool = False  # it is isolated from transactions that are ongoing
    log_start_offset: int = -1
    aborted: Sequence[AbortedEntry] = ()  # transactions with records among `batches`
    batches: Sequence[StreamRecordBatch] = ()
    size_bytes: int = 0
    is_cold: bool = False  # its data is not in memory, and has not been read yet

    @property
    def log(self) -> ReadSide | None:
        """What reads the partition's log; None if it is not open here."""
        return None if self.partition is None else self.partition.reads

    def cached(self, offset: int, max_bytes: int) -> Sequence[StreamRecordBatch] | None:
        """Batches from memory that may be read; None when they must come from the bucket."""
        assert self.partition is not None
        batches = self.partition.reads.read_cached(offset, max_bytes)
        return self.bounded(batches) if self.is_committed and batches else batches

    def bounded(self, batches: Sequence[StreamRecordBatch]) -> Sequence[StreamRecordBatch]:
        """Those of some batches that may be read: the log may have grown, and a transaction begins with a batch."""
        if not batches or batches[-1].end_offset <= self.readable_end:
            return batches
        return [it for it in batches if it.base_offset < self.readable_end]


class ReadResult(msgspec.Struct):
    """All targets of a fetch, in the order of the request; none without a valid lease."""

    reads: list[PartitionRead] = msgspec.field(default_factory=list)
    size_bytes: int = 0
    available_bytes: int = 0  # what `min_bytes` is compared with
    has_error: bool = False
    has_cold: bool = False
    has_lease: bool = True  # else all partitions are `withheld`, whether they were read or not


class FetchReader:
    """Reads targets in request order.

    The first partition that has data returns at least one whole batch whatever its size, so that a
    consumer always makes progress (KIP-74); from then on the limits are strict.

    The lease is checked after reading: without a valid lease no data is returned, because it may be stale.
    """

    def __init__(
        self, partitions: PartitionRegistry, metrics: RequestMetrics, turns: Turns
    ) -> None:
        self.partitions = partitions
        self.wakeups = partitions.wakeups  # of the sessions
        self._turns = turns
        self._cold_reads = ColdReads(ReadFailures(metrics).note)

    def count(
        self, target: SessionPartition, counted: CountedBytes | None, *, by_id: bool, isolation: int
    ) -> CountedBytes | None:
        """Listen to a partition, and count what may be read of it; None when it must be read to know.

        Args:
            target: the partition.
            counted: of an earlier count, from which this one continues.
            by_id: whether topics go by id.
            isolation: how much may be read, as requests say it.
        """
        read = self._locate(target, by_id=by_id, isolation=isolation)
        if read.error is not ErrorCode.NONE:
            return None
        reads = read.log
        assert reads is not None
        target.listen(reads)
        if counted is None:
            counted = CountedBytes(target.fetch_offset, 0, reads)
        offset, size_bytes, log = counted
        if log is not reads:
            return None
        if offset < read.readable_end and size_bytes < max(1, target.max_bytes):
            room_bytes = target.max_bytes - size_bytes
            batches = read.cached(offset, room_bytes)
            if not batches:
                return None
            found_bytes = sum([len(batch.payload) for batch in batches])
            if size_bytes and found_bytes > room_bytes:
                size_bytes = target.max_bytes  # a read would end before this batch
            else:
                offset = batches[-1].end_offset
                size_bytes += found_bytes
                if offset < read.readable_end:
                    size_bytes = cut_off(size_bytes, target.max_bytes)
        return CountedBytes(offset, size_bytes, log)

    def read_cached(
        self, targets: Sequence[SessionPartition], max_bytes: int, *, by_id: bool, isolation: int
    ) -> ReadResult:
        """Read what is in memory, without waiting; partitions that are not are marked cold."""
        result = ReadResult()
        for target in targets:
            read = self._locate(target, by_id=by_id, isolation=isolation)
            result.reads.append(read)
            if read.error is not ErrorCode.NONE:
                result.has_error = True
                continue
            assert read.partition is not None
            if target.fetch_offset >= read.readable_end:
                continue
            budget = min(max_bytes - result.size_bytes, target.max_bytes)
            if result.size_bytes and budget <= 0:
                continue
            batches = read.cached(target.fetch_offset, budget)
            if batches is None:
                read.is_cold = True
                result.has_cold = True
            else:
                self._take(result, read, batches, budget)
        return self._withhold_without_lease(result)

    async def read(
        self, targets: Sequence[SessionPartition], max_bytes: int, *, by_id: bool, isolation: int
    ) -> ReadResult:
        """Read every target, from the bucket if necessary; cold targets are read concurrently.

        Targets that the bucket has not answered within `MAX_COLD_WAIT_MS` stay marked cold, and empty. Their
        sessions listen to the partitions from before they are read, so that nothing is missed meanwhile.
        """
        result = ReadResult()
        pending: deque[PartitionRead] = deque()
        for position, target in enumerate(targets, 1):
            read = self._locate(target, by_id=by_id, isolation=isolation)
            result.reads.append(read)
            if read.log is not None:
                target.listen(read.log)
            if read.error is not ErrorCode.NONE:
                result.has_error = True
            elif target.fetch_offset < read.readable_end:
                pending.append(read)
            if position % SLICE_PARTITIONS == 0:
                await self._turns.pause()
        deadline_s = asyncio.get_running_loop().time() + MAX_COLD_WAIT_MS / 1000
        while pending:
            wave = _next_wave(pending, result.size_bytes, max_bytes)
            cold = [planned for planned in wave if planned.batches is None]
            if len(cold) == 1:
                await self._read_cold(cold[0], deadline_s)
            elif cold:
                async with asyncio.TaskGroup() as group:
                    for planned in cold:
                        group.create_task(self._read_cold(planned, deadline_s))
            for planned in wave:
                self._take_planned(result, planned, max_bytes)
                result.has_error = result.has_error or planned.read.error is not ErrorCode.NONE
            if len(wave) == SLICE_PARTITIONS:
                await self._turns.pause()
        result.has_cold = any(read.is_cold for read in result.reads)
        return self._withhold_without_lease(result)

    async def _read_cold(self, planned: "_Planned", deadline_s: float) -> None:
        """Read one partition from the bucket; after `deadline_s` the read continues detached."""
        read = planned.read
        assert read.partition is not None
        try:
            planned.batches = await self._cold_reads.read(
                read.partition, read.target.fetch_offset, planned.max_bytes, deadline_s
            )
        except StorageError as error:
            read.error = code_of(error)
        else:
            read.is_cold = planned.batches is None
            if planned.batches is not None and read.is_committed:
                planned.batches = read.bounded(planned.batches)

    def _withhold_without_lease(self, result: ReadResult) -> ReadResult:
        if self.partitions.is_lease_valid():
            return result
        return ReadResult(has_error=True, has_lease=False)

    def _take_planned(self, result: ReadResult, planned: "_Planned", max_bytes: int) -> None:
        if planned.batches is None:
            return  # an error, or not yet
        read = planned.read
        if read.is_committed and _has_forgotten(read):
            read.error = ErrorCode.OFFSET_OUT_OF_RANGE
            return
        # Less than planned if an earlier first batch was larger than its limit.
        budget = min(max_bytes - result.size_bytes, planned.max_bytes)
        self._take(result, read, planned.batches, budget)

    def _take(
        self,
        result: ReadResult,
        read: PartitionRead,
        batches: Sequence[StreamRecordBatch],
        budget: int,
    ) -> None:
        """Keep the batches that fit; the first batch of the whole answer always does."""
        size = 0
        count = 0
        for batch in batches:
            size_after = size + len(batch.payload)
            if size_after > budget and (count or result.size_bytes):
                break
            size = size_after
            count += 1
        read.batches = batches if count == len(batches) else batches[:count]
        read.size_bytes = size
        result.size_bytes += size
        reached = batches[count - 1].end_offset if count else read.target.fetch_offset
        partition = read.partition
        if partition is not None:
            if partition.traffic is not None:
                partition.traffic.read(size)
            if read.is_committed and partition.state.transactions is not None:
                offset = read.target.fetch_offset
                read.aborted = partition.reads.aborted_between(offset, reached)
        result.available_bytes += cut_off(size, budget) if reached < read.readable_end else size

    def _locate(self, target: SessionPartition, *, by_id: bool, isolation: int) -> PartitionRead:
        read = PartitionRead(target, is_committed=isolation == Isolation.READ_COMMITTED)
        if by_id:
            found = self.partitions.find_by_id(target.topic_id, target.index)
        else:
            found = self.partitions.find(target.topic, target.index)
        if not isinstance(found, Partition):
            read.error = found
            return read
        read.partition, log = found, found.reads
        if target.current_leader_epoch != NO_LEADER_EPOCH:
            read.error = log.check_leader_epoch(target.current_leader_epoch)
        high_watermark = read.high_watermark = log.high_watermark
        read.last_stable_offset = read.readable_end = high_watermark
        if found.state.transactions is not None:
            read.last_stable_offset = log.last_stable_offset
            read.readable_end = log.readable_end(isolation)
        log_start_offset = read.log_start_offset = log.log_start_offset
        if (
            read.error is ErrorCode.NONE
            and not log_start_offset <= target.fetch_offset <= high_watermark
            and not log_start_offset <= target.fetch_offset <= log.log_end_offset
        ):
            read.error = ErrorCode.OFFSET_OUT_OF_RANGE
        return read


def withheld(
    targets: Sequence[SessionPartition],
) -> Steps[list[PartitionRead]]:
    """Answer partitions without a valid lease, in slices."""
    reads = []
    for number, target in enumerate(targets, start=1):
        reads.append(PartitionRead(target, ErrorCode.NOT_LEADER_OR_FOLLOWER))
        if number % SLICE_PARTITIONS == 0:
            yield
    return reads


def _has_forgotten(read: PartitionRead) -> bool:
    """Whether records that were read were deleted meanwhile, and with them what was aborted of them."""
    found = read.partition
    if found is None or found.state.transactions is None:
        return False
    return found.reads.log_start_offset > read.target.fetch_offset


def counted(reads: Sequence[PartitionRead]) -> Iterator[tuple[SessionPartition, CountedBytes]]:
    """What was found of each partition, for a Fetch that goes on waiting."""
    for read in reads:
        target = read.target
        reached = read.batches[-1].end_offset if read.batches else target.fetch_offset
        size_bytes = read.size_bytes
        if reached < read.readable_end:
            size_bytes = cut_off(size_bytes, target.max_bytes)
        yield target, CountedBytes(reached, size_bytes, read.log)


class _Planned(msgspec.Struct):
    """A partition that is read in the current wave."""

    read: PartitionRead
    max_bytes: int
    batches: Sequence[StreamRecordBatch] | None  # None: to be read from the bucket


def _next_wave(pending: deque[PartitionRead], taken_bytes: int, max_bytes: int) -> list[_Planned]:
    """Take the next targets off `pending`, in order, as long as the limits hold even if each returns its maximum.

    So each target has the limit that it would have after those before it were read, and no read data is discarded.
    If the targets return less, there is room for another wave.
    """
    wave: list[_Planned] = []
    cold = planned_bytes = 0
    while pending and cold < MAX_COLD_READS and len(wave) < SLICE_PARTITIONS:
        read = pending[0]
        target = read.target
        room = max_bytes - taken_bytes
        if taken_bytes and min(room, target.max_bytes) <= 0:
            pending.popleft()
            continue
        if wave and room - planned_bytes < max(1, target.max_bytes):
            break
        budget = min(room, target.max_bytes)
        batches = read.cached(target.fetch_offset, budget)
        cold += batches is None
        planned_bytes += budget if batches is None else sum(len(it.payload) for it in batches)
        wave.append(_Planned(pending.popleft(), budget, batches))
    return wave
