"""Lays batches out as one object: data blocks, index block, footer. Copies no payload. Pure."""

from collections.abc import Sequence

import msgspec

from headrace.checksums import crc32c
from headrace.storage.objects.data_block import (
    BLOCK_HEADER_BYTES,
    MAX_BLOCK_SIZE,
    encode_block_header,
)
from headrace.storage.objects.footer import FOOTER_BYTES, Footer, encode_footer
from headrace.storage.objects.index_block import MAX_END_OFFSET_DELTA, IndexEntry, encode_entry
from headrace.storage.ports import StreamRange
from headrace.storage.record_batch import HEADER_BYTES, StreamRecordBatch, encode_header

Buffer = bytes | memoryview

_MAX_DATA_LENGTH = MAX_BLOCK_SIZE - BLOCK_HEADER_BYTES
_NO_STREAM = -1


class WrittenObject(msgspec.Struct, frozen=True):
    """What `finish` returns."""

    parts: list[Buffer]  # concatenated: the object, or what `drain` has not returned of it
    size_bytes: int  # of the whole object
    ranges: list[StreamRange]  # one per contiguous run of a stream, in (stream id, offset) order


class ObjectWriter:
    """Collects the batches of one object, streams in (stream id, offset) order.

    A block holds one stream. It is closed when the next batch would make it, header included,
    larger than `max_block_bytes`, when a delta would not fit in its field, and where offsets are
    not contiguous. A gap also begins another range.
    """

    __slots__ = (
        "_block_start",
        "_crc",
        "_data_bytes",
        "_end",
        "_epoch",
        "_header_slot",
        "_index",
        "_max_block_bytes",
        "_parts",
        "_position",
        "_range_start",
        "_ranges",
        "_record_count",
        "_stream_id",
    )

    def __init__(self, max_block_bytes: int) -> None:
        if not BLOCK_HEADER_BYTES < max_block_bytes <= MAX_BLOCK_SIZE:
            raise ValueError(f"max_block_bytes {max_block_bytes} out of range")
        self._max_block_bytes = max_block_bytes
        self._parts: list[Buffer] = []
        self._index = bytearray()
        self._position = 0  # of the current block in the object
        self._ranges: list[StreamRange] = []
        # The current range.
        self._stream_id = _NO_STREAM
        self._epoch = 0
        self._range_start = 0
        self._end = -1
        # The current block; its header is filled in when it is closed.
        self._header_slot = 0
        self._block_start = 0
        self._record_count = 0
        self._data_bytes = 0
        self._crc = 0

    @property
    def size_bytes(self) -> int:
        """Bytes of the object if it were finished now, without the current block's index entry."""
        block = BLOCK_HEADER_BYTES + self._data_bytes if self._data_bytes else 0
        return self._position + block + len(self._index) + FOOTER_BYTES

    def add(self, stream_id: int, batches: Sequence[StreamRecordBatch]) -> None:
        """Append batches of one stream; may be called again for the same stream with what follows.

        The payloads are kept, not copied: they must not change until the object has been written.

        Raises:
            ValueError: order is violated, or a batch belongs to another stream or cannot be
                encoded.
        """
        for batch in batches:
            batch_stream_id, epoch, start, count, payload = batch
            if batch_stream_id != stream_id:
                raise ValueError(f"batch of stream {batch_stream_id} among those of {stream_id}")
            header = encode_header(stream_id, epoch, start, count, len(payload))
            self._make_room(stream_id, epoch, start, start + count, HEADER_BYTES + len(payload))
            self._record_count += 1
            self._parts.append(header)
            self._parts.append(payload)
            self._crc = crc32c(payload, crc32c(header, self._crc))

    def add_block(self, entry: IndexEntry, epoch: int, data: memoryview) -> None:
        """Append the data of a verified block of another object without decoding it.

        Raises:
            ValueError: order is violated.
        """
        self._make_room(entry.stream_id, epoch, entry.start_offset, entry.end_offset, len(data))
        self._record_count += entry.record_count
        self._parts.append(data)
        self._crc = crc32c(data, self._crc)

    def drain(self) -> list[Buffer]:
        """Return, in order, what is final so far: all blocks except the current one."""
        final = self._header_slot if self._data_bytes else len(self._parts)
        parts, self._parts = self._parts[:final], self._parts[final:]
        self._header_slot = 0
        return parts

    def finish(self) -> WrittenObject:
        """Close the object. The writer must not be used afterwards.

        Raises:
            ValueError: nothing was added.
        """
        self._close_block()
        self._close_range()
        if not self._ranges:
            raise ValueError("an object must hold data")
        index = bytes(self._index)
        footer = encode_footer(Footer(self._position, len(index), crc32c(index)))
        self._parts += (index, footer)
        return WrittenObject(self._parts, self._position + len(index) + len(footer), self._ranges)

    def _make_room(self, stream_id: int, epoch: int, start: int, end: int, size: int) -> None:
        """Open a new block or range if `[start, end)` of `size` bytes does not go into this one."""
        if stream_id != self._stream_id or start != self._end:
            self._begin_range(stream_id, epoch, start, end)
        elif (
            BLOCK_HEADER_BYTES + self._data_bytes + size > self._max_block_bytes
            or end - self._block_start > MAX_END_OFFSET_DELTA
        ):
            self._close_block()
        if not self._data_bytes:
            if size > _MAX_DATA_LENGTH:
                raise ValueError(f"{size} bytes do not fit into a data block")
            self._header_slot = len(self._parts)
            self._parts.append(b"")
            self._block_start = start
        self._data_bytes += size
        self._end = end
        self._epoch = max(self._epoch, epoch)

    def _begin_range(self, stream_id: int, epoch: int, start: int, end: int) -> None:
        earliest = max((self._stream_id, self._end), (0, 0))
        if (stream_id, start) < earliest or start < 0 or end <= start:
            raise ValueError(
                f"offsets {start} to {end} of stream {stream_id} come after "
                f"offset {self._end} of stream {self._stream_id}"
            )
        self._close_block()
        self._close_range()
        self._stream_id = stream_id
        self._epoch = epoch
        self._range_start = start

    def _close_block(self) -> None:
        if not self._data_bytes:
            return
        self._parts[self._header_slot] = encode_block_header(
            self._record_count, self._data_bytes, self._crc
        )
        size = BLOCK_HEADER_BYTES + self._data_bytes
        self._index += encode_entry(
            IndexEntry(
                self._stream_id,
                self._block_start,
                self._end,
                self._record_count,
                self._position,
                size,
            )
        )
        self._position += size
        self._record_count = self._data_bytes = self._crc = 0

    def _close_range(self) -> None:
        if self._stream_id != _NO_STREAM:
            self._ranges.append(
                StreamRange(self._stream_id, self._epoch, self._range_start, self._end)
            )
