"""One block while it is filled and written: the memory of one device write. Pure."""

from headrace.wal.framing import (
    BLOCK_HEADER_BYTES,
    RECORD_HEADER_BYTES,
    BlockHeader,
    write_block_header,
    write_record,
)
from headrace.wal.layout import PAGE_BYTES
from headrace.wal.port import Appended, Buffer

_ZEROS = bytes(PAGE_BYTES)


class Block:
    """Records from the first append until they are confirmed."""

    __slots__ = (
        "buffer_bytes",
        "last_record_offset",
        "limit",
        "memory",
        "offset",
        "previous_end",
        "records",
        "size_bytes",
        "used",
        "written",
    )

    def __init__(
        self, memory: memoryview, *, offset: int, previous_end: int, buffer_bytes: int
    ) -> None:
        self.memory = memory
        self.offset = offset
        self.previous_end = previous_end
        self.buffer_bytes = buffer_bytes  # of the buffer that `memory` is a part of
        self.limit = len(memory)
        self.used = BLOCK_HEADER_BYTES
        self.size_bytes = PAGE_BYTES  # that it occupies in the ring: whole pages
        self.records = 0
        self.last_record_offset = -1
        self.written = False

    @classmethod
    def full(cls) -> "Block":
        """Return a block that nothing fits into, which represents `no block is open`."""
        return cls(memoryview(b""), offset=0, previous_end=0, buffer_bytes=0)

    def append(self, header: Buffer, payload: Buffer, seed: int) -> Appended:
        """Add a record; the caller has checked that it fits."""
        at = self.used
        offset = self.offset + at
        copy = write_record(self.memory, at, header, payload, offset, seed)
        size = RECORD_HEADER_BYTES + len(header) + len(payload)
        self.used = used = at + size
        self.size_bytes = used + -used % PAGE_BYTES
        self.records += 1
        self.last_record_offset = offset
        # What its constructor does, without a call of Python code.
        return tuple.__new__(Appended, (offset, offset + size, copy, self.buffer_bytes))

    @property
    def end(self) -> int:
        """Logical offset behind the block's last page."""
        return self.offset + self.size_bytes

    def seal(self) -> int:
        """Close the block: cut the memory to what is written and zero its rest; return its size."""
        size = self.size_bytes
        self.memory[self.used : size] = _ZEROS[: size - self.used]
        self.memory = self.memory[:size]
        self.limit = self.used
        return size

    def stamp(self, *, generation_id: int, confirmed_offset: int, superblock_sequence: int) -> None:
        """Write the block header, at submission."""
        write_block_header(
            self.memory,
            BlockHeader(
                self.used,
                generation_id,
                self.offset,
                self.previous_end,
                confirmed_offset,
                superblock_sequence,
                self.records,
            ),
        )
