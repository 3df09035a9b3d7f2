"""A data block in memory: verified at its first use, decoded as far as it is needed. Pure."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from headrace.storage.errors import CorruptObjectError
from headrace.storage.objects.data_block import verify_block
from headrace.storage.objects.index_block import IndexEntry
from headrace.storage.record_batch import StreamRecordBatch, decode_batch

MAX_RESUME_POINTS = 16  # readers of one block whose position in it is remembered


class ReadRun:
    """The blocks that one request read.

    It names its blocks and does not refer to them: a block refers to its segment, and megabytes in a reference cycle
    would stay until a full garbage collection, of which a busy broker makes one in an hour.
    """

    __slots__ = ("block_keys", "on_wasted", "size_bytes", "used")

    def __init__(
        self,
        size_bytes: int,
        block_keys: Sequence[tuple[int, int]],
        on_wasted: Callable[[], None] | None,
    ) -> None:
        self.size_bytes = size_bytes
        self.block_keys = block_keys  # object id and position of each block
        self.on_wasted = on_wasted  # set when it was read ahead
        self.used = on_wasted is None


class Collected(NamedTuple):
    """Whole, contiguous batches of one block."""

    batches: list[StreamRecordBatch]
    end_offset: int  # behind the last one
    size_bytes: int  # of the payloads


class CachedBlock:
    """One data block, verified at its first use."""

    __slots__ = ("_bytes", "_data", "_resume", "entry", "object_id", "segment")

    def __init__(
        self, object_id: int, entry: IndexEntry, content: memoryview, segment: ReadRun
    ) -> None:
        self.object_id = object_id
        self.entry = entry
        self.segment = segment
        self._bytes = content
        self._data: memoryview | None = None
        self._resume: dict[int, int] = {}  # offset -> position of its batch in the data

    def collect(self, start: int, end: int, max_size_bytes: int, *, with_first: bool) -> Collected:
        """Decode batches from the one that holds `start` on.

        Args:
            start: an offset in this block.
            end: exclusive; batches that begin below it are taken.
            max_size_bytes: of the payloads.
            with_first: whether the first one is taken even if it is larger than that.

        Raises:
            CorruptObjectError: the block contradicts its index entry or checksum; the text names
                object and position.
        """
        try:
            return self._collect(start, end, max_size_bytes, with_first=with_first)
        except CorruptObjectError as error:
            raise CorruptObjectError(
                f"object {self.object_id}, block at {self.entry.position}: {error}"
            ) from error

    def _collect(self, start: int, end: int, max_size_bytes: int, *, with_first: bool) -> Collected:
        data = self._verified()
        position = self._position_of(start, data)
        limit = min(end, self.entry.end_offset)
        stream_id, block_end = self.entry.stream_id, self.entry.end_offset
        batches: list[StreamRecordBatch] = []
        cursor, taken = start, 0
        while cursor < limit:
            batch, following = decode_batch(data, position)
            size = len(batch.payload)
            if taken + size > max_size_bytes and (batches or not with_first):
                break
            misplaced = batch.base_offset != cursor if batches else batch.base_offset > cursor
            if misplaced or batch.stream_id != stream_id:
                raise CorruptObjectError(
                    f"found offset {batch.base_offset} of stream {batch.stream_id}, "
                    f"expected offset {cursor} of stream {stream_id}"
                )
            batches.append(batch)
            cursor = batch.base_offset + batch.count
            taken += size
            position = following
        if cursor < block_end:
            if len(self._resume) >= MAX_RESUME_POINTS:
                self._resume.clear()
            self._resume[cursor] = position
        return Collected(batches, cursor, taken)

    def _position_of(self, offset: int, data: memoryview) -> int:
        known = self._resume.pop(offset, None)
        if known is not None:
            return known
        position = 0
        while True:
            batch, following = decode_batch(data, position)
            if batch.base_offset + batch.count > offset:
                return position
            position = following

    def _verified(self) -> memoryview:
        if self._data is None:
            record_count, data = verify_block(self._bytes)
            entry = self.entry
            first, _ = decode_batch(data, 0)
            if (
                record_count != entry.record_count
                or first.stream_id != entry.stream_id
                or first.base_offset != entry.start_offset
            ):
                raise CorruptObjectError(
                    f"it begins with offset {first.base_offset} of stream {first.stream_id}, "
                    f"the index says {entry}"
                )
            self._data = data
        return self._data
