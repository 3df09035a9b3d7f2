"""Lists a ring for display: block by block as recovery reads it, or page by page, with the damage. Pure.

Sans-IO, fed like `headrace.wal.ring.recovery.Scan`. It decides nothing and never stops at damage: `Scan` decides
what recovery does with the same pages.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from headrace.wal.framing import (
    BLOCK_HEADER_BYTES,
    RECORD_HEADER_BYTES,
    BlockHeader,
    body_is_intact,
    checksum_seed,
    read_block_header,
    read_record_header,
)
from headrace.wal.layout import PAGE_BYTES, Superblock, align_up
from headrace.wal.ring.recovery import MAX_PROOF_BYTES, Page, classify


class RecordState(Enum):
    """What is known of a record."""

    INTACT = "intact"
    RELEASED = "released"  # intact, at or below the trim offset
    BODY_DAMAGED = "body damaged"
    UNREADABLE = "header damaged"  # the rest of the block is lost with it


@dataclass(frozen=True, slots=True)
class RecordSeen:
    """A record, or what is left of it."""

    offset: int
    position: int
    body: memoryview  # empty if the header is damaged
    state: RecordState


@dataclass(frozen=True, slots=True)
class BlockSeen:
    """A block of this generation at its position."""

    offset: int
    position: int
    header: BlockHeader
    records: tuple[RecordSeen, ...]

    @property
    def end(self) -> int:
        """Offset behind its last page."""
        return self.offset + align_up(self.header.length)


@dataclass(frozen=True, slots=True)
class PagesSeen:
    """Adjacent pages of the same kind that are not a block."""

    offset: int  # that a block at the first of them would have in this lap
    position: int
    pages: int
    what: str

    @property
    def end(self) -> int:
        """Offset behind the last."""
        return self.offset + self.pages * PAGE_BYTES


Seen = BlockSeen | PagesSeen

ZEROS = "zeros"


class RingWalk:
    """One lap, or as much of it as blocks can be in."""

    def __init__(self, superblock: Superblock, *, whole_lap: bool) -> None:
        """Begin at the head.

        Args:
            superblock: of the log.
            whole_lap: see every page of the ring; otherwise end where no block can follow.
        """
        self.ring = superblock.ring
        self._end = superblock.head_offset + self.ring.size_bytes
        self._superblock = superblock
        self._whole_lap = whole_lap
        self._seed = checksum_seed(superblock.generation_id)
        self._at = superblock.head_offset
        self._last_end = self._at  # of the last block seen
        self._bytes_needed = PAGE_BYTES
        self._run: PagesSeen | None = None

    def wants(self) -> tuple[int, int] | None:
        """Return the offset to be fed next and the least number of bytes; None at the end."""
        reach = self._end
        if not self._whole_lap:
            window_bytes = self._superblock.window_bytes
            reach = min(reach, self._last_end + window_bytes + min(window_bytes, MAX_PROOF_BYTES))
        return None if self._at >= reach else (self._at, self._bytes_needed)

    def feed(self, memory: memoryview) -> Iterator[Seen]:
        """Yield what is found at the wanted offset, in whole pages. Views of bodies are on `memory`."""
        start = self._at
        while (wanted := self.wants()) is not None and (at := wanted[0] - start) < len(memory):
            header = read_block_header(memory, at)
            page = classify(header, self._at, self._superblock)
            if page is not Page.BLOCK or header is None:
                is_zero = not bytes(memory[at : at + PAGE_BYTES]).strip(b"\0")
                yield from self._add_page(ZEROS if is_zero else page.value)
                continue
            size = align_up(header.length)
            if at + size > len(memory):
                self._bytes_needed = size
                return
            self._bytes_needed = PAGE_BYTES
            yield from self._end_run()
            records = tuple(self._records(memory[at : at + header.length], header))
            yield BlockSeen(self._at, self.ring.position(self._at), header, records)
            self._at = self._last_end = self._at + size

    def finish(self) -> Iterator[Seen]:
        """Yield what the end of the walk completes: pages behind the last block."""
        if self._whole_lap:
            yield from self._end_run()

    def _add_page(self, what: str) -> Iterator[Seen]:
        run = self._run
        if run is not None and run.what == what:
            self._run = PagesSeen(run.offset, run.position, run.pages + 1, what)
        else:
            yield from self._end_run()
            self._run = PagesSeen(self._at, self.ring.position(self._at), 1, what)
        self._at += PAGE_BYTES

    def _end_run(self) -> Iterator[Seen]:
        if self._run is not None:
            yield self._run
            self._run = None

    def _records(self, block: memoryview, header: BlockHeader) -> Iterator[RecordSeen]:
        at = BLOCK_HEADER_BYTES
        while at < len(block):
            offset = header.offset + at
            position = self.ring.position(offset)
            record = read_record_header(block, at, offset, self._seed)
            body_at = at + RECORD_HEADER_BYTES
            if record is None or body_at + record.length > len(block):
                yield RecordSeen(offset, position, memoryview(b""), RecordState.UNREADABLE)
                return
            at = body_at + record.length
            body = block[body_at:at]
            state = RecordState.INTACT
            if not body_is_intact(body, record.body_crc, self._seed):
                state = RecordState.BODY_DAMAGED
            elif offset <= self._superblock.trim_offset:
                state = RecordState.RELEASED
            yield RecordSeen(offset, position, body, state)
