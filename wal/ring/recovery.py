"""The recovery scan of the ring: the decision table, and the walk that applies it. Pure.

Sans-IO: `Scan` says what to read next and is fed with it. It begins at the head, where a block
begins, and goes from block to block. A page without the block that should be there opens a
*gap*; from there it goes page by page, as far as the window reaches, since writes complete out of
order and blocks behind a gap may be durable.

A gap or a damaged record is harmless only if nothing of it was ever acknowledged. That is known
from the highest *confirmed offset* in the superblock or in any block: what cannot be read below it
is corruption. A block says where the block before it ended, so the unused rest of a lap is not
taken for a gap.

Corruption is refused, unless the loss is accepted: then the walk continues to the end of the ring,
returns what is intact, and counts what is not. The window does not bound what damage may have
cost. If the newest superblock is damaged, there may be blocks that only that one allowed: up to a
lap beyond those that the older one knows of.

Source: "How to implement high performance WAL based on raw devices" (recovery); confirmed offsets,
the link to the block before, the refusals and their acceptance are Headrace's own.
"""

from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from functools import cache

from headrace.invariants import require
from headrace.wal.errors import WalCorruptError, WalVersionError
from headrace.wal.framing import (
    BLOCK_HEADER_BYTES,
    BLOCK_MAGIC,
    RECORD_HEADER_BYTES,
    BlockHeader,
    body_is_intact,
    checksum_seed,
    page_beginnings,
    read_block_header,
    read_record_header,
)
from headrace.wal.layout import (
    MAGIC,
    PAGE_BYTES,
    ShutdownType,
    Superblock,
    align_up,
    decode_superblock,
)
from headrace.wal.port import RecoveredRecord

# Read beyond the window, at most: no block can be there unless the gap before it is damage.
MAX_PROOF_BYTES = 4 * 1024 * 1024
_SECTOR_BYTES = (
    512  # smallest unit that a device may write to a wrong position; a superblock fits in
)
_SUPERBLOCK_MAGIC = int.from_bytes(MAGIC[:4], "big")
# Lost ranges that a summary names, and gaps that are not yet known to be losses.
MAX_LOST_RANGES = 1000


class Page(Enum):
    """What a page is where a block may begin."""

    BLOCK = "a block of this generation at its position"
    EARLIER_LAP = "a block of this generation that this lap has not overwritten yet"
    LATER_LAP = "a block of this generation that only a newer superblock allows"
    NEWER_SUPERBLOCK = (
        "a block of this generation that names a newer superblock than the newest found"
    )
    OTHER_GENERATION = "a block from before the last reset"
    NOTHING = "no block"


class ScanAction(Enum):
    """What to do about a page."""

    REPLAY = "read the block's records"
    PROBE = "look at the next page"
    STOP = "the log ends here"
    REFUSE = "something acknowledged is lost"


class Is(Enum):
    """What a row of the table requires of a condition."""

    YES = "yes"
    NO = "no"
    ANY = "any"

    def accepts(self, *, actual: bool) -> bool:
        """Whether the condition is met."""
        return self is Is.ANY or actual is (self is Is.YES)


@dataclass(frozen=True, slots=True)
class Case:
    """One row: it applies when the page is one of `pages` and each condition is met."""

    name: str
    pages: frozenset[Page]
    loses_confirmed: Is  # a gap or damaged record is below the highest confirmed offset
    in_window: Is  # the block could have been written while the first gap was still open
    in_scan: Is  # the page is before the end of the search
    loss_accepted: Is  # damage is not refused
    verdict: ScanAction


_BLOCK = frozenset({Page.BLOCK})
_STALE = frozenset({Page.NEWER_SUPERBLOCK})
_LATER = frozenset({Page.LATER_LAP})
_OTHER = frozenset({Page.EARLIER_LAP, Page.OTHER_GENERATION, Page.NOTHING})
_EVERY = frozenset(Page)

CASES = (
    #    name                          page    loses   window  scan    accepted verdict
    Case("next block", _BLOCK, Is.NO, Is.YES, Is.YES, Is.ANY, ScanAction.REPLAY),
    Case("acknowledged data lost", _BLOCK, Is.YES, Is.ANY, Is.YES, Is.NO, ScanAction.REFUSE),
    Case("gap wider than the window", _BLOCK, Is.NO, Is.NO, Is.YES, Is.NO, ScanAction.REFUSE),
    Case("newest superblock lost", _STALE, Is.ANY, Is.ANY, Is.YES, Is.NO, ScanAction.REFUSE),
    Case("overwritten by a later lap", _LATER, Is.ANY, Is.ANY, Is.YES, Is.NO, ScanAction.REFUSE),
    Case("search", _OTHER, Is.ANY, Is.ANY, Is.YES, Is.ANY, ScanAction.PROBE),
    Case("end of the log", _EVERY, Is.NO, Is.ANY, Is.NO, Is.ANY, ScanAction.STOP),
    Case("acknowledged tail lost", _EVERY, Is.YES, Is.ANY, Is.NO, Is.NO, ScanAction.REFUSE),
    Case("block behind a loss", _BLOCK, Is.YES, Is.ANY, Is.YES, Is.YES, ScanAction.REPLAY),
    Case("block behind a wide gap", _BLOCK, Is.NO, Is.NO, Is.YES, Is.YES, ScanAction.REPLAY),
    Case("block of a lost superblock", _STALE, Is.ANY, Is.ANY, Is.YES, Is.YES, ScanAction.REPLAY),
    Case("a lap to come", _LATER, Is.ANY, Is.ANY, Is.YES, Is.YES, ScanAction.PROBE),
    Case("end behind a loss", _EVERY, Is.YES, Is.ANY, Is.NO, Is.YES, ScanAction.STOP),
)


@cache  # its arguments have 96 values in all
def decide(
    page: Page, *, loses_confirmed: bool, in_window: bool, in_scan: bool, loss_accepted: bool
) -> Case:
    """Return the one row that applies."""
    for case in CASES:
        if (
            page in case.pages
            and case.loses_confirmed.accepts(actual=loses_confirmed)
            and case.in_window.accepts(actual=in_window)
            and case.in_scan.accepts(actual=in_scan)
            and case.loss_accepted.accepts(actual=loss_accepted)
        ):
            return case
    msg = f"no case for {page}"
    raise AssertionError(msg)


def classify(header: BlockHeader | None, at: int, superblock: Superblock) -> Page:
    """Classify the page that `header` was read from, at the ring's offset `at`."""
    if header is None:
        return Page.NOTHING
    if header.generation_id != superblock.generation_id:
        return Page.OTHER_GENERATION
    if header.offset != at:
        return Page.LATER_LAP if header.offset > at else Page.EARLIER_LAP
    fits = (
        BLOCK_HEADER_BYTES < header.length <= superblock.ring.distance_to_end(at)
        and header.previous_end <= header.offset
        and header.confirmed_offset <= header.previous_end
    )
    if not fits:
        return Page.NOTHING
    is_newer = header.superblock_sequence > superblock.sequence
    return Page.NEWER_SUPERBLOCK if is_newer else Page.BLOCK


@dataclass(slots=True)
class ScanSummary:
    """What a scan found; for the log and for tools."""

    records: int = 0  # returned
    blocks: int = 0
    gaps: int = 0  # missing blocks and damaged records; of a loss that is not accepted, none was acknowledged
    earlier_lap_pages: int = 0
    other_generation_pages: int = 0
    confirmed_offset: int = 0  # highest in any block or superblock
    end_offset: int = 0  # behind the last valid block
    superblock_lost: bool = (
        False  # a newer one than the newest found was written, and accepted as lost
    )
    # Acknowledged and lost, as [start, end) offsets; only if that is accepted.
    lost: list[tuple[int, int]] = field(default_factory=list)  # the first MAX_LOST_RANGES
    lost_ranges: int = 0
    lost_bytes: int = 0

    @property
    def known_offset(self) -> int:
        """How far the log reaches: at least to where everything had been confirmed when the owner stopped."""
        return max(self.confirmed_offset, self.end_offset)

    def add_loss(self, start: int, end: int) -> None:
        """Count a range, unless it is empty."""
        if start >= end:
            return
        self.lost_ranges += 1
        self.lost_bytes += end - start
        if len(self.lost) < MAX_LOST_RANGES:
            self.lost.append((start, end))


class Scan:
    """One walk over the ring of a log; over at once after a graceful shutdown."""

    def __init__(self, superblock: Superblock, *, path: str, accept_loss: bool = False) -> None:
        self._superblock = superblock
        self.ring = superblock.ring
        self._seed = checksum_seed(superblock.generation_id)
        self._path = path
        self.accepts_loss = accept_loss  # of what was acknowledged
        self._at = superblock.head_offset  # next page
        self._expected = superblock.head_offset  # where the next block should begin
        self._ring_end = superblock.head_offset + self.ring.size_bytes
        self._released = superblock.head_offset  # nothing below it was still needed
        self._first_gap: int | None = None
        self._gaps: deque[tuple[int, int]] = deque()  # losses, if they turn out to be acknowledged
        self._block_bytes_needed = PAGE_BYTES
        self._held: list[
            RecoveredRecord
        ] = []  # behind a gap: not returned before the verdict on it
        # A graceful shutdown leaves an empty ring.
        self._finished = superblock.shutdown is ShutdownType.GRACEFUL
        self.summary = ScanSummary(
            confirmed_offset=superblock.confirmed_offset, end_offset=superblock.head_offset
        )

    def wants(self) -> tuple[int, int] | None:
        """Return the offset to be fed next and the least number of bytes; None when the scan is over.

        More may be fed, as far as it is contiguous on the device.
        """
        return None if self._finished else (self._at, self._block_bytes_needed)

    def feed(self, memory: memoryview) -> list[RecoveredRecord]:
        """Take the memory at the wanted offset, in whole pages; return records in offset order.

        Their bodies are views on `memory`.

        Raises:
            WalCorruptError: something that was acknowledged cannot be read, and that is not accepted.
        """
        require(len(memory) >= self._block_bytes_needed)
        require(len(memory) % PAGE_BYTES == 0)
        records: list[RecoveredRecord] = []
        start = self._at
        while not self._finished and (at := self._at - start) < len(memory):
            header = read_block_header(memory, at)
            page = classify(header, self._at, self._superblock)
            if header is None and self._absorb_superblock(memory[at : at + PAGE_BYTES]):
                page = Page.NEWER_SUPERBLOCK
            if not self._apply(page, header):
                self._pass_over(memory[self._at - start :])
                continue
            assert header is not None
            size = align_up(header.length)
            if at + size > len(memory):
                self._block_bytes_needed = size
                break
            self._block_bytes_needed = PAGE_BYTES
            if header.previous_end != self._expected:
                self._note_gap(self._expected, header.previous_end)
            found = self._read_block(memory[at : at + size], header)
            if self._first_gap is None or self.accepts_loss:
                records += found
            else:
                self._held += found
        if self._finished:
            records += self._held
            self._held = []
        self._settle_gaps()
        self.summary.records += len(records)
        return records

    def _apply(self, page: Page, header: BlockHeader | None) -> bool:
        """Decide about the page at `_at`; return whether it is a block to be read."""
        summary = self.summary
        in_window = True
        lost_from = self._first_gap
        is_newer = page is Page.NEWER_SUPERBLOCK and self.accepts_loss
        if is_newer:
            self._note_lost_superblock()
        if header is not None and (page is Page.BLOCK or is_newer):
            summary.confirmed_offset = max(summary.confirmed_offset, header.confirmed_offset)
            if header.previous_end != self._expected:
                lost_from = self._gap_start()
            if lost_from is not None:
                end = header.offset + header.length
                in_window = end <= lost_from + self._superblock.window_bytes
        in_scan = self._at < self._scan_end()
        if not in_scan and summary.confirmed_offset > self._expected:
            lost_from = self._gap_start()
        case = decide(
            page,
            loses_confirmed=lost_from is not None and lost_from < summary.confirmed_offset,
            in_window=in_window,
            in_scan=in_scan,
            loss_accepted=self.accepts_loss,
        )
        match case.verdict:
            case ScanAction.REPLAY:
                return True
            case ScanAction.PROBE:
                if page is Page.LATER_LAP and header is not None:
                    self._note_later_lap(header)
                summary.earlier_lap_pages += page is Page.EARLIER_LAP
                summary.other_generation_pages += page is Page.OTHER_GENERATION
                self._at += PAGE_BYTES
            case ScanAction.STOP:
                self._finish()
            case ScanAction.REFUSE:
                raise self._corrupt(case, self._at if lost_from is None else lost_from)
        return False

    def _pass_over(self, memory: memoryview) -> None:
        """Skip from `_at`, where `memory` begins, to the next page for which the table may say more than "search"."""
        if self._finished:
            return
        end = align_up(max(0, self._scan_end() - self._at))
        summary, generation, at = self.summary, self._superblock.generation_id, self._at
        for magic, generation_id, offset in page_beginnings(memory[:end]):
            if magic == BLOCK_MAGIC:
                if generation_id != generation:
                    summary.other_generation_pages += 1
                elif offset < at:
                    summary.earlier_lap_pages += 1
                else:
                    break
            elif magic == _SUPERBLOCK_MAGIC:
                break
            at += PAGE_BYTES
        self._at = at

    def _read_block(self, memory: memoryview, header: BlockHeader) -> list[RecoveredRecord]:
        """Return the intact records of a block and move behind it."""
        records = []
        at = BLOCK_HEADER_BYTES
        block_offset, length = header.offset, header.length
        seed, trim_offset = self._seed, self._superblock.trim_offset
        gaps = self.summary.gaps
        while at < length:
            offset = block_offset + at
            record = read_record_header(memory, at, offset, seed)
            body_at = at + RECORD_HEADER_BYTES
            if record is None or body_at + record.length > length:
                # Without its length, the rest of the block is lost too.
                self._note_gap(offset, block_offset + length)
                break
            at = body_at + record.length
            body = memory[body_at:at]
            if not body_is_intact(body, record.body_crc, seed):
                self._note_gap(offset, block_offset + at)
            elif offset > trim_offset:
                records.append(RecoveredRecord(offset, block_offset + at, body))
        if self.summary.gaps > gaps:
            self._absorb_misdirected(memory)
        self.summary.blocks += 1
        self._at = self._expected = header.offset + align_up(header.length)
        self.summary.end_offset = self._expected
        return records

    def _absorb_misdirected(self, memory: memoryview) -> None:
        """Use a block or superblock that the device has written into a damaged block by mistake."""
        summary = self.summary
        for at in range(PAGE_BYTES, len(memory), PAGE_BYTES):
            header = read_block_header(memory, at)
            if header is None:
                self._absorb_superblock(memory[at : at + PAGE_BYTES])
            elif header.generation_id == self._superblock.generation_id:
                summary.confirmed_offset = max(summary.confirmed_offset, header.confirmed_offset)

    def _absorb_superblock(self, memory: memoryview) -> bool:
        """Use a superblock that the device has written to this page instead of its own position.

        Returns:
            Whether the scan must be refused, because it is the newest superblock, which is lost.
        """
        if memory[: len(MAGIC)] != MAGIC:
            return False
        try:
            stray = decode_superblock(memory[:_SECTOR_BYTES])
        except WalVersionError:
            return False  # a record that looks like one
        newest, summary = self._superblock, self.summary
        if (
            stray is None
            or stray.generation_id != newest.generation_id
            or stray.sequence <= newest.sequence
        ):
            return False
        summary.confirmed_offset = max(summary.confirmed_offset, stray.confirmed_offset)
        if self.accepts_loss:
            self._note_lost_superblock()
        return not self.accepts_loss

    def _gap_start(self) -> int:
        return self._expected if self._first_gap is None else self._first_gap

    def _note_gap(self, offset: int, end: int) -> None:
        self.summary.gaps += 1
        if self._first_gap is None:
            self._first_gap = offset
        if self.accepts_loss:
            self._gaps.append((offset, end))

    def _note_lost_superblock(self) -> None:
        """Scan one lap further: no superblock frees more than what the one before it knew of."""
        self.summary.superblock_lost = True
        self._ring_end = self._superblock.head_offset + 2 * self.ring.size_bytes

    def _note_later_lap(self, header: BlockHeader) -> None:
        """Record that what a block of the next lap has overwritten had been released before.

        A block that is at neither position was misdirected; its confirmed offset is true nevertheless.
        """
        summary = self.summary
        summary.confirmed_offset = max(summary.confirmed_offset, header.confirmed_offset)
        if header.offset == self._at + self.ring.size_bytes:
            self._note_lost_superblock()
            length = min(align_up(header.length), self.ring.distance_to_end(self._at))
            self._released = max(self._released, self._at + length)

    def _finish(self) -> None:
        self._finished = True
        if self.accepts_loss and self.summary.confirmed_offset > self._expected:
            self._note_gap(self._expected, self.summary.confirmed_offset)

    def _settle_gaps(self) -> None:
        """Count gaps below the confirmed offset, which may still grow, as lost."""
        confirmed_offset = self.summary.confirmed_offset
        gaps = self._gaps
        while gaps and (
            self._finished or gaps[0][1] <= confirmed_offset or len(gaps) > MAX_LOST_RANGES
        ):
            start, end = gaps.popleft()
            if self._finished:
                end = min(end, confirmed_offset)
            self.summary.add_loss(max(start, self._released), end)

    def _scan_end(self) -> int:
        if self.accepts_loss:
            return self._ring_end
        window_bytes = self._superblock.window_bytes
        proof_bytes = min(window_bytes, MAX_PROOF_BYTES)
        return min(self._gap_start() + window_bytes + proof_bytes, self._ring_end)

    def _corrupt(self, case: Case, offset: int) -> WalCorruptError:
        what = (
            f"{case.name}; everything below offset {self.summary.confirmed_offset} was acknowledged, "
            f"the superblock has sequence number {self._superblock.sequence}"
        )
        return WalCorruptError(
            self._path,
            what,
            offset=offset,
            position=self.ring.position(offset),
            generation_id=self._superblock.generation_id,
        )
