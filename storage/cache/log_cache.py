"""LogCache: confirmed records in WAL order, from their confirmation until after their upload. Pure.

After a start it begins with what the WAL held, which has been uploaded by then: opening a partition
and consumers near its end need not read that from the bucket.

Used from one loop only.

Records enter in groups (those that shared a WAL buffer) and gather in the active block. Archiving
closes it and hands it to the upload; once it is committed, in WAL order, its groups may be
evicted, oldest first. What is not committed is never evicted: admission keeps that below the
capacity, not this class.

A group either keeps its WAL buffer, and is charged for the whole of it, or, when that buffer is
used by less than half, moves its payloads into memory of their own, so that low rates do not pin
a buffer per record.

Beside the blocks there is one index per stream: the records of a contiguous run of offsets, with
the running total of their bytes, so that a read is two bisections and a slice.

Source: S3Stream's LogCache.
"""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from headrace.invariants import InvariantError, require
from headrace.storage.record_batch import HEADER_BYTES, StreamRecordBatch

# Measured: 405 bytes of Python objects for a record (tuple, view, integers, list slots), 650 for
# a record that is a group of its own.
RECORD_OVERHEAD_BYTES = 512
GROUP_OVERHEAD_BYTES = 256
STREAM_OVERHEAD_BYTES = 512  # a stream's entries in a block
MIN_EVICTED_ENTRIES = 64  # before an index drops the slots of what it has evicted

_EVICTED = StreamRecordBatch(-1, -1, -1, 0, memoryview(b""))


class ConfirmedGroup(NamedTuple):
    """Records that lie in one WAL buffer, in WAL order."""

    batches: Sequence[StreamRecordBatch]
    wal_offset: int  # of the first record
    wal_end_offset: int  # of the last record, exclusive
    buffer_bytes: int  # memory that the WAL buffer occupies


def max_charge(payload_bytes: int, records: int) -> int:
    """Most that `put` will charge for records which the WAL has not confirmed yet."""
    overhead = RECORD_OVERHEAD_BYTES + GROUP_OVERHEAD_BYTES + STREAM_OVERHEAD_BYTES
    return 2 * payload_bytes + records * overhead


class _Group(NamedTuple):
    charge_bytes: int
    batches: Sequence[StreamRecordBatch]


class CacheBlock:
    """A stretch of the WAL: what one upload takes to the bucket."""

    __slots__ = (
        "charge_bytes",
        "committed",
        "groups",
        "opened_ms",
        "record_count",
        "sizes_bytes",
        "streams",
        "wal_end_offset",
        "wal_offset",
    )

    def __init__(self, opened_ms: int, wal_offset: int) -> None:
        self.opened_ms = opened_ms
        self.wal_offset = wal_offset
        self.wal_end_offset = wal_offset
        self.charge_bytes = 0
        self.record_count = 0
        self.committed = False
        # By stream, in offset order and without gaps; emptied at the commit.
        self.streams: dict[int, list[StreamRecordBatch]] = {}
        self.sizes_bytes: dict[int, int] = {}  # of the encoded batches
        self.groups: list[_Group] = []

    def take(
        self, stream_ids: Sequence[int]
    ) -> tuple[dict[int, list[StreamRecordBatch]], dict[int, int]]:
        """Take the records of some streams out, as they are uploaded apart; return them, and their sizes.

        They stay readable, and are charged to this block until it is committed.
        """
        found = [it for it in stream_ids if it in self.streams]
        return (
            {it: self.streams.pop(it) for it in found},
            {it: self.sizes_bytes.pop(it) for it in found},
        )


class _StreamIndex:
    """A contiguous run of one stream's records; entries before `head` have been evicted."""

    __slots__ = ("bases", "batches", "byte_ends", "bytes_total", "end_offset", "head")

    def __init__(self, end_offset: int) -> None:
        self.end_offset = end_offset
        self.bytes_total = 0  # of payloads ever appended
        self.bases: list[int] = []
        self.byte_ends: list[int] = []  # `bytes_total` right after each record
        self.batches: list[StreamRecordBatch] = []
        self.head = 0

    def append(self, batch: StreamRecordBatch, payload_bytes: int, end_offset: int) -> None:
        self.bytes_total += payload_bytes
        self.bases.append(batch.base_offset)
        self.byte_ends.append(self.bytes_total)
        self.batches.append(batch)
        self.end_offset = end_offset

    def forget(self, end_offset: int) -> None:
        """Forget the records that end at or below an offset; one at least begins there or behind it, or holds it."""
        passed = bisect_right(self.bases, end_offset, self.head) - 1
        if passed > self.head:
            del self.bases[:passed], self.byte_ends[:passed], self.batches[:passed]
            self.head = 0

    def evict(self, base_offset: int) -> bool:
        """Forget the first record if it is the one at `base_offset`; True when none is left."""
        head = self.head
        if self.bases[head] != base_offset:
            return False
        self.batches[head] = _EVICTED
        self.head = head = head + 1
        if head == len(self.bases):
            return True
        if head >= MIN_EVICTED_ENTRIES and 2 * head >= len(self.bases):
            del self.bases[:head], self.byte_ends[:head], self.batches[:head]
            self.head = 0
        return False


class LogCache:
    """Recent records of all streams, within `capacity_bytes` as far as uploads keep up."""

    __slots__ = (
        "_active",
        "_archived",
        "_evictable",
        "_indexes",
        "_max_block_bytes",
        "_size_bytes",
        "capacity_bytes",
        "max_block_wal_bytes",
        "record_count",
        "unuploaded_bytes",
    )

    def __init__(
        self, *, capacity_bytes: int, max_block_bytes: int, max_block_wal_bytes: int
    ) -> None:
        """Make an empty cache.

        Args:
            capacity_bytes: bound of everything held, as charged.
            max_block_bytes: charge at which the active block is full.
            max_block_wal_bytes: stretch of the WAL at which it is full, which padding can make
                much longer than its records. May be changed at any time.
        """
        self.capacity_bytes = capacity_bytes  # bound of `size_bytes`, as far as uploads keep up
        self._max_block_bytes = max_block_bytes
        self.max_block_wal_bytes = max_block_wal_bytes
        self._size_bytes = 0
        self.record_count = 0  # of everything that is held
        self.unuploaded_bytes = 0  # the part of `size_bytes` that must not be evicted
        self._indexes: dict[int, _StreamIndex] = {}
        self._active: CacheBlock | None = None
        self._archived: deque[CacheBlock] = deque()  # not yet committed, in WAL order
        self._evictable: deque[_Group] = deque()  # committed, in WAL order

    @property
    def size_bytes(self) -> int:
        """Memory charged for everything that is held."""
        return self._size_bytes

    @property
    def active(self) -> CacheBlock | None:
        """The block that records enter; None when it has none."""
        return self._active

    @property
    def active_opened_ms(self) -> int | None:
        """When the active block got its first record; None when it has none."""
        return None if self._active is None else self._active.opened_ms

    @property
    def oldest_unuploaded_ms(self) -> int | None:
        """When the oldest record entered that is not committed; None when all are."""
        return self._archived[0].opened_ms if self._archived else self.active_opened_ms

    @property
    def active_is_full(self) -> bool:
        """Whether the active block should be archived now."""
        block = self._active
        return block is not None and (
            block.charge_bytes >= self._max_block_bytes
            or block.wal_end_offset - block.wal_offset >= self.max_block_wal_bytes
        )

    def put(self, group: ConfirmedGroup, now_ms: int) -> None:
        """Add records that the WAL has confirmed, then evict what exceeds the capacity.

        Groups come in WAL order, and the records of a stream in offset order.
        """
        batches, wal_offset, wal_end_offset, buffer_bytes = group
        charge, batches = _charged(batches, buffer_bytes)
        block = self._active
        if block is None:
            block = self._active = CacheBlock(now_ms, wal_offset)
        if wal_offset < block.wal_end_offset:
            raise InvariantError("groups must come in WAL order")
        charge += STREAM_OVERHEAD_BYTES * self._add_records(block, batches)
        block.groups.append(_Group(charge, batches))
        block.record_count += len(batches)
        block.wal_end_offset = wal_end_offset
        block.charge_bytes += charge
        self.unuploaded_bytes += charge
        self._size_bytes += charge
        if self._size_bytes > self.capacity_bytes:
            self._evict()

    def put_committed(self, batches: Sequence[StreamRecordBatch], buffer_bytes: int) -> None:
        """Add records that are committed already, which lie in one buffer, before the first `put`.

        Groups come in WAL order, and the records of a stream in offset order.
        """
        require(self._active is None and not self._archived, "newer records have been put")
        charge, batches = _charged(batches, buffer_bytes)
        charge += STREAM_OVERHEAD_BYTES * self._add_records(CacheBlock(0, 0), batches)
        self._evictable.append(_Group(charge, batches))
        self._size_bytes += charge
        self._evict()

    def _add_records(self, block: CacheBlock, batches: Sequence[StreamRecordBatch]) -> int:
        """Enter records; return how many streams are new to the block."""
        self.record_count += len(batches)
        indexes = self._indexes
        streams = block.streams
        sizes = block.sizes_bytes
        new_streams = 0
        for batch in batches:
            stream_id, _, base_offset, count, payload = batch
            in_block = streams.get(stream_id)
            index = indexes.get(stream_id)
            if index is None or index.end_offset != base_offset:
                # After a gap, another node had the stream in between: the older records here are
                # committed, and reads of them go to the bucket.
                require(index is None or index.end_offset < base_offset, "offset went back")
                require(in_block is None, "gap within a block")
                index = indexes[stream_id] = _StreamIndex(base_offset)
            index.append(batch, len(payload), base_offset + count)
            if in_block is None:
                streams[stream_id] = [batch]
                sizes[stream_id] = HEADER_BYTES + len(payload)
                new_streams += 1
            else:
                in_block.append(batch)
                sizes[stream_id] += HEADER_BYTES + len(payload)
        return new_streams

    def get(
        self, stream_id: int, start_offset: int, end_offset: int, max_bytes: int
    ) -> list[StreamRecordBatch] | None:
        """Whole batches from the one that holds `start_offset`, whose bases lie below `end_offset`.

        The payloads come to at most `max_bytes`, except that there is always one batch.

        Returns:
            None when `start_offset` is not held.
        """
        index = self._indexes.get(stream_id)
        if index is None or not index.bases[index.head] <= start_offset < index.end_offset:
            return None
        bases = index.bases
        first = bisect_right(bases, start_offset, index.head) - 1
        batches = index.batches
        byte_ends = index.byte_ends
        bytes_before = byte_ends[first] - len(batches[first].payload)
        last = bisect_right(byte_ends, bytes_before + max_bytes, first)
        if index.end_offset > end_offset:
            last = min(last, bisect_left(bases, end_offset, first))
        return batches[first : max(last, first + 1)]

    def first_offset(self, stream_id: int) -> int | None:
        """Base offset of the first record held of a stream; from there on it is contiguous."""
        index = self._indexes.get(stream_id)
        return None if index is None else index.bases[index.head]

    def forget(self, stream_id: int, end_offset: int) -> None:
        """Have what lies below an offset, which is committed, read from the bucket from now on.

        Its memory is freed with its group.
        """
        index = self._indexes.get(stream_id)
        if index is None:
            return
        if index.end_offset <= end_offset:
            del self._indexes[stream_id]
        else:
            index.forget(end_offset)

    def unuploaded_wal_end(self, stream_id: int) -> int | None:
        """WAL offset behind the last block that holds uncommitted records of a stream, if any."""
        blocks = [*self._archived] if self._active is None else [*self._archived, self._active]
        for block in reversed(blocks):
            if stream_id in block.streams:
                return block.wal_end_offset
        return None

    def archive(self) -> CacheBlock | None:
        """Close the active block for upload; None when it is empty."""
        block, self._active = self._active, None
        if block is not None:
            self._archived.append(block)
        return block

    def mark_committed(self, block: CacheBlock) -> None:
        """Let a block's records be evicted; blocks are committed in the order of archiving."""
        oldest = self._archived.popleft()
        require(oldest is block, "blocks must be committed in WAL order")
        block.committed = True
        self.unuploaded_bytes -= block.charge_bytes
        self._evictable.extend(block.groups)
        block.groups = []
        block.streams = {}
        block.sizes_bytes = {}
        self._evict()

    def _evict(self) -> None:
        indexes = self._indexes
        while self._size_bytes > self.capacity_bytes and self._evictable:
            charge_bytes, batches = self._evictable.popleft()
            self._size_bytes -= charge_bytes
            self.record_count -= len(batches)
            for batch in batches:
                index = indexes.get(batch.stream_id)
                if index is not None and index.evict(batch.base_offset):
                    del indexes[batch.stream_id]


def _charged(
    batches: Sequence[StreamRecordBatch], buffer_bytes: int
) -> tuple[int, Sequence[StreamRecordBatch]]:
    """Charge of records that lie in one buffer, without their streams'; and the records, moved if that is smaller."""
    payload_bytes = sum([len(batch.payload) for batch in batches])
    overhead_bytes = GROUP_OVERHEAD_BYTES + len(batches) * RECORD_OVERHEAD_BYTES
    if 2 * payload_bytes < buffer_bytes:
        return payload_bytes + overhead_bytes, _copied(batches)
    return max(payload_bytes, buffer_bytes) + overhead_bytes, batches


def _copied(batches: Sequence[StreamRecordBatch]) -> list[StreamRecordBatch]:
    """The same records, their payloads in one allocation of exactly their size."""
    joined = memoryview(b"".join([batch.payload for batch in batches]))
    copies = []
    position = 0
    for stream_id, epoch, base_offset, count, payload in batches:
        end = position + len(payload)
        copies.append(StreamRecordBatch(stream_id, epoch, base_offset, count, joined[position:end]))
        position = end
    return copies
