"""Index block: where each data block of an object lies and what it holds.

Entries of 36 bytes, sorted by (stream id, start offset); since blocks are written in that order
too, also by position. All integers are big-endian.

| offset | bytes | type | field | meaning |
|---|---|---|---|---|
| 0  | 8 | i64 | stream id        | a block holds one stream only |
| 8  | 8 | i64 | start offset     | base offset of the first batch |
| 16 | 4 | i32 | end offset delta | exclusive end = start offset + delta; at least 1 |
| 20 | 4 | i32 | record count     | batches in the block, at least 1 |
| 24 | 8 | i64 | block position   | of the block's header in the object |
| 32 | 4 | i32 | block size       | bytes, header included |

The block has no header of its own: the footer has its position, length and CRC32C. `ObjectIndex`
keeps the encoded bytes and decodes only the entries that are needed, so that an index of many blocks
costs no more memory than its bytes.

Source: S3Stream's DataBlockIndex.
"""

import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from headrace.storage.errors import CorruptObjectError
from headrace.storage.objects.data_block import BLOCK_HEADER_BYTES, MAX_BLOCK_SIZE

_ENTRY = struct.Struct(">qqiiqi")
_STREAM_AND_START = struct.Struct(">qq")
_POSITION = struct.Struct(">q")
INDEX_ENTRY_BYTES = _ENTRY.size
MAX_END_OFFSET_DELTA = 2**31 - 1

assert INDEX_ENTRY_BYTES == 36


_stream_and_start = _STREAM_AND_START.pack


class IndexEntry(NamedTuple):
    """One data block, `[position, position + size)`: offsets `[start_offset, end_offset)`."""

    stream_id: int
    start_offset: int
    end_offset: int
    record_count: int
    position: int
    size: int


def encode_entry(entry: IndexEntry) -> bytes:
    """Encode one entry.

    Raises:
        ValueError: the span of offsets, the count or the size do not fit in 31 bits.
    """
    delta = entry.end_offset - entry.start_offset
    if not 1 <= delta <= MAX_END_OFFSET_DELTA or entry.start_offset < 0:
        raise ValueError(f"offsets {entry.start_offset} to {entry.end_offset} do not fit")
    if not 1 <= entry.record_count < 2**31 or not 1 <= entry.size <= MAX_BLOCK_SIZE:
        raise ValueError(f"block of {entry.record_count} batches, {entry.size} bytes does not fit")
    return _ENTRY.pack(
        entry.stream_id, entry.start_offset, delta, entry.record_count, entry.position, entry.size
    )


class ObjectIndex:
    """The blocks of one object, found by stream and offset."""

    __slots__ = ("_count", "_data_bytes", "_encoded")

    def __init__(self, view: memoryview, data_bytes: int) -> None:
        """Copy the verified bytes of an index block, so that the buffer of the read can be freed.

        Args:
            view: the entries, whose checksum has been checked.
            data_bytes: where the data blocks end; no entry may reach beyond.

        Raises:
            CorruptObjectError: the length is not a multiple of an entry's.
        """
        if len(view) % INDEX_ENTRY_BYTES:
            raise CorruptObjectError(
                f"index block of {len(view)} bytes is not made of whole entries"
            )
        self._encoded = bytes(view)
        self._count = len(view) // INDEX_ENTRY_BYTES
        self._data_bytes = data_bytes

    def __len__(self) -> int:
        return self._count

    @property
    def data_bytes(self) -> int:
        """Bytes of all data blocks."""
        return self._data_bytes

    @property
    def size_bytes(self) -> int:
        """Bytes of the encoded entries."""
        return len(self._encoded)

    def entry(self, ordinal: int) -> IndexEntry:
        """Decode the entry with that 0-based ordinal.

        Raises:
            CorruptObjectError: the entry is invalid.
        """
        stream_id, start, delta, count, position, size = _ENTRY.unpack_from(
            self._encoded, ordinal * INDEX_ENTRY_BYTES
        )
        if (
            delta < 1
            or count < 1
            or size <= BLOCK_HEADER_BYTES
            or position < 0
            or position + size > self._data_bytes
        ):
            raise CorruptObjectError(f"index entry {ordinal} of stream {stream_id} is invalid")
        return IndexEntry(stream_id, start, start + delta, count, position, size)

    def __iter__(self) -> Iterator[IndexEntry]:
        return map(self.entry, range(self._count))

    def find(self, stream_id: int, start_offset: int, end_offset: int) -> Iterator[IndexEntry]:
        """Yield, in order, the blocks that hold any of `[start_offset, end_offset)` of a stream.

        Raises:
            CorruptObjectError: an entry is invalid.
        """
        ordinal = bisect_right(
            range(self._count), _stream_and_start(stream_id, start_offset), key=self._sort_key
        )
        # The block before may begin earlier and reach into the range.
        ordinal = max(ordinal - 1, 0)
        while ordinal < self._count:
            entry = self.entry(ordinal)
            if entry.stream_id > stream_id or (
                entry.stream_id == stream_id and entry.start_offset >= end_offset
            ):
                return
            if entry.stream_id == stream_id and entry.end_offset > start_offset:
                yield entry
            ordinal += 1

    def following(self, block: IndexEntry, size_bytes: int) -> Iterator[IndexEntry]:
        """Yield the blocks that lie right behind one, of any stream, as many as come to `size_bytes`.

        Raises:
            CorruptObjectError: an entry is invalid.
        """
        ordinal = bisect_right(
            range(self._count),
            _stream_and_start(block.stream_id, block.start_offset),
            key=self._sort_key,
        )
        position = block.position + block.size
        while ordinal < self._count:
            found = self.entry(ordinal)
            position += found.size
            size_bytes -= found.size
            if size_bytes < 0 or found.position + found.size != position:
                return
            yield found
            ordinal += 1

    def extent_bytes(self, stream_id: int, start_offset: int, end_offset: int) -> int:
        """Return the size of the blocks that hold all of `[start_offset, end_offset)` of a stream.

        Two look-ups for any number of blocks: those of a stream are adjacent.

        Raises:
            CorruptObjectError: there are no such blocks, or they do not begin and end there.
        """
        ordinals = range(self._count)
        start_key = _stream_and_start(stream_id, start_offset)
        end_key = _stream_and_start(stream_id, end_offset)
        first = bisect_right(ordinals, start_key, key=self._sort_key) - 1
        last = bisect_left(ordinals, end_key, key=self._sort_key) - 1
        if 0 <= first <= last:
            begin, end = self.entry(first), self.entry(last)
            if begin.stream_id == stream_id and end.end_offset >= end_offset > start_offset:
                return end.position + end.size - begin.position
        raise CorruptObjectError(
            f"the index lacks offsets {start_offset} to {end_offset} of stream {stream_id}"
        )

    def block_boundary(self, position: int, limit: int) -> int:
        """Return the end of the last block that ends at or below `limit`, at least one block on.

        Args:
            position: of a block.
            limit: a position in the object.
        """
        if limit >= self._data_bytes:
            return self._data_bytes
        ordinals = range(self._count)
        ordinal = bisect_right(ordinals, limit, key=self._position) - 1
        boundary = self._position(ordinal)
        if boundary > position:
            return boundary
        following = bisect_right(ordinals, position, key=self._position)
        return self._position(following) if following < self._count else self._data_bytes

    def _sort_key(self, ordinal: int) -> bytes:
        # Neither field is negative, so the encoded ones sort as the decoded ones would.
        position = ordinal * INDEX_ENTRY_BYTES
        return self._encoded[position : position + _STREAM_AND_START.size]

    def _position(self, ordinal: int) -> int:
        position: int = _POSITION.unpack_from(self._encoded, ordinal * INDEX_ENTRY_BYTES + 24)[0]
        return position
