"""Checks one data block, of any size, while its bytes are read; only batch headers are kept. Pure.

What is compared: the block's header with the index entry, the data with the checksum, and the
batches with both: each of the entry's stream, each where the one before ends, as many as said, from
the entry's first offset to its last.
"""

import struct
from collections.abc import Callable
from typing import Final, NamedTuple

from headrace.checksums import crc32c
from headrace.invariants import require
from headrace.storage.objects.data_block import BLOCK_HEADER_BYTES, MAGIC
from headrace.storage.objects.index_block import IndexEntry
from headrace.storage.record_batch import HEADER_BYTES as BATCH_HEADER_BYTES
from headrace.storage.record_batch import MAGIC as BATCH_MAGIC

MAX_DAMAGE_PER_BLOCK: Final = 8

_BLOCK_PREFIX: Final = struct.Struct(">BBii")
_BLOCK_CRC: Final = struct.Struct(">I")
_BATCH: Final = struct.Struct(">Bqqqii")

assert _BLOCK_PREFIX.size + _BLOCK_CRC.size == BLOCK_HEADER_BYTES
assert _BATCH.size == BATCH_HEADER_BYTES


class Damage(NamedTuple):
    """One defect, and its position."""

    position: int  # in the object
    what: str
    run: tuple[int, int, int] | None = (
        None  # stream id, start and end offset; None: more than a block
    )


class BatchHead(NamedTuple):
    """One StreamRecordBatch, without its payload."""

    position: int  # of its header in the object
    stream_id: int
    epoch: int
    base_offset: int
    end_offset: int
    payload_bytes: int


def _ignore(_: BatchHead) -> None:
    """Keep nothing."""


class BlockScan:
    """One block, fed in order from its first byte to its last."""

    def __init__(
        self, entry: IndexEntry, *, on_batch: Callable[[BatchHead], None] = _ignore
    ) -> None:
        self._entry = entry
        self._on_batch = on_batch
        self._damage: list[Damage] = []
        self._pending = bytearray()  # of a header that is not complete yet
        self._fed_bytes = 0
        self._prefix = b""  # of the block's header, once it is complete
        self._expected_crc = 0
        self._crc = 0
        self._payload_left = 0  # bytes of the current batch's payload still to come
        self._decodes = True  # until a header is invalid
        self._next_offset = entry.start_offset
        self.batches = 0

    @property
    def remaining_bytes(self) -> int:
        """Bytes still to be fed."""
        return self._entry.size - self._fed_bytes

    def feed(self, view: memoryview) -> None:
        """Take the next bytes, not more than remain."""
        require(len(view) <= self.remaining_bytes)
        position = 0
        if not self._prefix:
            position = self._collect(view, 0, BLOCK_HEADER_BYTES)
            if len(self._pending) == BLOCK_HEADER_BYTES:
                self._open()
        data = view[position:]
        self._crc = crc32c(data, self._crc)
        while self._decodes and position < len(view):
            position = self._advance(view, position)
        self._fed_bytes += len(view)

    def finish(self) -> list[Damage]:
        """Return the defects of the block, all of which has been fed."""
        require(not self.remaining_bytes)
        entry = self._entry
        actual = crc32c(self._prefix, self._crc)
        if self._prefix and actual != self._expected_crc:
            self._report(0, f"checksum is {actual:#010x}, not {self._expected_crc:#010x}")
        if self._decodes:
            if self._payload_left or self._pending:
                self._report(entry.size, "the last batch is cut off")
            elif self._next_offset != entry.end_offset:
                self._report(
                    0, f"batches end at offset {self._next_offset}, not {entry.end_offset}"
                )
            elif self.batches != entry.record_count:
                self._report(0, f"{self.batches} batches, the index says {entry.record_count}")
        return self._damage

    def _advance(self, view: memoryview, position: int) -> int:
        """Pass over a payload, or (a piece of) a batch header."""
        if self._payload_left:
            taken = min(self._payload_left, len(view) - position)
            self._payload_left -= taken
            return position + taken
        position = self._collect(view, position, BATCH_HEADER_BYTES)
        if len(self._pending) == BATCH_HEADER_BYTES:
            self._begin_batch(self._fed_bytes + position - BATCH_HEADER_BYTES)
        return position

    def _collect(self, view: memoryview, position: int, wanted_bytes: int) -> int:
        end = min(len(view), position + wanted_bytes - len(self._pending))
        self._pending += view[position:end]
        return end

    def _open(self) -> None:
        """Check the block's header."""
        entry = self._entry
        self._prefix = bytes(self._pending[: _BLOCK_PREFIX.size])
        self._expected_crc = _BLOCK_CRC.unpack_from(self._pending, _BLOCK_PREFIX.size)[0]
        self._pending.clear()
        magic, flags, count, length = _BLOCK_PREFIX.unpack(self._prefix)
        if magic != MAGIC or flags != 0:
            self._report(0, f"not a data block: magic {magic:#x}, flags {flags:#x}")
            self._decodes = False
            return
        if length != entry.size - BLOCK_HEADER_BYTES:
            self._report(
                0, f"its header says {length} bytes of data, the index {entry.size} with the header"
            )
        if count != entry.record_count:
            self._report(0, f"its header says {count} batches, the index {entry.record_count}")

    def _begin_batch(self, at: int) -> None:
        """Check a batch's header, `at` bytes into the block."""
        magic, stream_id, epoch, base_offset, count, length = _BATCH.unpack(self._pending)
        self._pending.clear()
        entry = self._entry
        if magic != BATCH_MAGIC or count < 1 or length < 0:
            self._report(at, f"not a batch: magic {magic:#x}, count {count}, length {length}")
            self._decodes = False
            return
        if stream_id != entry.stream_id:
            self._report(at, f"batch of stream {stream_id} in a block of stream {entry.stream_id}")
            self._decodes = False
            return
        if base_offset != self._next_offset:
            self._report(at, f"batch at offset {base_offset}, expected {self._next_offset}")
        self._next_offset = base_offset + count
        self._payload_left = length
        self.batches += 1
        self._on_batch(
            BatchHead(
                entry.position + at, stream_id, epoch, base_offset, base_offset + count, length
            )
        )

    def _report(self, at: int, what: str) -> None:
        entry = self._entry
        if len(self._damage) < MAX_DAMAGE_PER_BLOCK:
            block = f"stream {entry.stream_id} offsets {entry.start_offset} to {entry.end_offset}"
            run = entry.stream_id, entry.start_offset, entry.end_offset
            self._damage.append(Damage(entry.position + at, f"block of {block}: {what}", run))
