"""Reads an object from its end to its beginning and reports whether it is intact. Pure.

Footer, index, then every block, against their checksums and against each other. Reads are ranges of
at most `CHUNK_BYTES`, regardless of the lengths in the object, and an index that is too long for the
first of them is read again rather than kept: memory is a few chunks for an object of any size.
"""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

from headrace.checksums import crc32c
from headrace.storage.audit.block_scan import BatchHead, BlockScan, Damage
from headrace.storage.audit.comparison import Run
from headrace.storage.errors import CorruptObjectError
from headrace.storage.objects.footer import FOOTER_BYTES, Footer, decode_footer
from headrace.storage.objects.index_block import INDEX_ENTRY_BYTES, IndexEntry, ObjectIndex
from headrace.storage.objects.reader import tail_start
from headrace.storage.ports import StreamRange

CHUNK_BYTES: Final = 4 * 1024 * 1024
INDEX_CHUNK_BYTES: Final = INDEX_ENTRY_BYTES * 29_127  # the entries of about 1 MiB
MAX_DAMAGE_KEPT: Final = 100  # of one object; more is counted
MAX_RUNS_KEPT: Final = 1_000_000  # ten times the streams that an upload puts into one object


class RangeReader(Protocol):
    """What is needed of a bucket."""

    async def get_range(self, key: str, start: int, end: int) -> memoryview:
        """Read `[start, end)`, as `headrace.storage.ports.ObjectStore` does."""
        ...


@dataclass(slots=True)
class ObjectReport:
    """What was found in one object."""

    key: str
    size_bytes: int
    footer: Footer | None = None
    index_is_whole: bool = False
    blocks: int = 0
    batches: int = 0
    data_bytes: int = 0  # of all blocks
    unindexed_bytes: int = 0  # between blocks: unused, but not damage
    runs: list[Run] = field(default_factory=list)  # by the index, in its order, joined
    # By the batches, in their order, joined within an epoch; empty if the blocks were not read.
    ranges: list[StreamRange] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    damage_count: int = 0
    blocks_checked: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether nothing is wrong."""
        return not self.damage_count

    @property
    def streams(self) -> int:
        """How many streams it holds."""
        return len({run[0] for run in self.runs})

    def report(self, damage: Damage) -> None:
        """Take in one more damage."""
        self.damage_count += 1
        if len(self.damage) < MAX_DAMAGE_KEPT:
            self.damage.append(damage)


@dataclass(frozen=True, slots=True)
class Watch:
    """Callbacks for what is being read."""

    on_entry: Callable[[IndexEntry], None] = lambda _: None
    on_batch: Callable[[BatchHead], None] = lambda _: None
    on_bytes: Callable[[int], None] = lambda _: None  # bytes more that were read


async def check_object(
    reader: RangeReader,
    key: str,
    size_bytes: int,
    *,
    blocks: bool = True,
    watch: Watch | None = None,
) -> ObjectReport:
    """Check one object.

    Args:
        reader: of its bucket.
        key: of the object.
        size_bytes: as listed.
        blocks: whether the data are read; else footer and index alone.
        watch: callbacks meanwhile.

    Raises:
        ObjectNotFoundError: it does not exist (any more).
        ObjectStoreError: the bucket does not answer.
    """
    return await _Check(reader, key, size_bytes, watch or Watch()).run(blocks=blocks)


class _Check:
    def __init__(self, reader: RangeReader, key: str, size_bytes: int, watch: Watch) -> None:
        self._reader = reader
        self._key = key
        self._watch = watch
        self._report = ObjectReport(key, size_bytes)
        # The end of the object: it includes the index of all but the largest objects.
        self._tail = memoryview(b"")
        self._tail_start = size_bytes

    async def run(self, *, blocks: bool) -> ObjectReport:
        report = self._report
        try:
            footer = await self._read_footer()
            if footer is not None and await self._check_index(footer) and blocks:
                await self._check_blocks(footer)
                report.blocks_checked = True
        except CorruptObjectError as error:
            # A range ends early: the object is shorter than it was listed or indexed.
            report.report(Damage(report.size_bytes, str(error)))
        return report

    async def _read_footer(self) -> Footer | None:
        report = self._report
        size = report.size_bytes
        if size < FOOTER_BYTES:
            report.report(
                Damage(0, f"{size} bytes are too few for a footer of {FOOTER_BYTES} bytes")
            )
            return None
        start = max(tail_start(size), size - CHUNK_BYTES)
        self._tail, self._tail_start = await self._read(start, size), start
        try:
            report.footer = decode_footer(self._tail[-FOOTER_BYTES:], size)
        except CorruptObjectError as error:
            report.report(Damage(size - FOOTER_BYTES, str(error)))
        return report.footer

    async def _check_index(self, footer: Footer) -> bool:
        """Check the index against the footer and itself; return whether the blocks can be found."""
        report = self._report
        at = footer.index_position
        if footer.index_length % INDEX_ENTRY_BYTES or not footer.index_length:
            report.report(
                Damage(at, f"an index of {footer.index_length} bytes is not made of whole entries")
            )
            return False
        crc = 0
        end = at + footer.index_length
        for start in range(at, end, INDEX_CHUNK_BYTES):
            crc = crc32c(await self._read(start, min(end, start + INDEX_CHUNK_BYTES)), crc)
        if crc != footer.index_crc:
            report.report(
                Damage(
                    at, f"index checksum is {crc:#010x}, the footer says {footer.index_crc:#010x}"
                )
            )
            return False
        order = _IndexOrder(report)
        try:
            async for ordinal, entry in self._entries(footer):
                order.add(entry, at + ordinal * INDEX_ENTRY_BYTES)
                self._watch.on_entry(entry)
        except CorruptObjectError as error:
            report.report(Damage(at, str(error)))
            return False
        report.unindexed_bytes += footer.index_position - order.position
        report.index_is_whole = order.is_sound
        return order.is_sound

    async def _check_blocks(self, footer: Footer) -> None:
        """Read the data once, in order; chunks need not end where blocks do."""
        report, watch = self._report, self._watch
        chunk, chunk_start = memoryview(b""), 0
        ranges = _Ranges(report, watch.on_batch)
        async for _, entry in self._entries(footer):
            scan = BlockScan(entry, on_batch=ranges.add)
            while scan.remaining_bytes:
                position = entry.position + entry.size - scan.remaining_bytes
                if not chunk_start <= position < chunk_start + len(chunk):
                    end = min(footer.index_position, position + CHUNK_BYTES)
                    chunk, chunk_start = await self._read(position, end), position
                    watch.on_bytes(len(chunk))
                begin = position - chunk_start
                scan.feed(chunk[begin : begin + scan.remaining_bytes])
            report.batches += scan.batches
            for damage in scan.finish():
                report.report(damage)
        ranges.finish()

    async def _entries(self, footer: Footer) -> AsyncIterator[tuple[int, IndexEntry]]:
        """Yield (ordinal, entry) from an index whose checksum is right.

        Raises:
            CorruptObjectError: an entry is invalid.
        """
        end = footer.index_position + footer.index_length
        first = 0
        for start in range(footer.index_position, end, INDEX_CHUNK_BYTES):
            piece = await self._read(start, min(end, start + INDEX_CHUNK_BYTES))
            index = ObjectIndex(piece, footer.index_position)
            for ordinal, entry in enumerate(index):
                yield first + ordinal, entry
            first += len(index)

    async def _read(self, start: int, end: int) -> memoryview:
        if start >= self._tail_start:
            return self._tail[start - self._tail_start : end - self._tail_start]
        return await self._reader.get_range(self._key, start, end)


class _Ranges:
    """Joins batches that follow each other in a stream and were written at one epoch."""

    def __init__(self, report: ObjectReport, on_batch: Callable[[BatchHead], None]) -> None:
        self._report = report
        self._on_batch = on_batch
        self._first: BatchHead | None = None  # of the range that is being joined
        self._last: BatchHead | None = None

    def add(self, head: BatchHead) -> None:
        self._on_batch(head)
        last = self._last
        if (
            last is None
            or head.base_offset != last.end_offset
            or head.epoch != last.epoch
            or head.stream_id != last.stream_id
        ):
            self.finish()
            self._first = head
        self._last = head

    def finish(self) -> None:
        """Add the range that ends here to the report."""
        if self._first is None or self._last is None:
            return
        position, stream_id, epoch, start = self._first[:4]
        ranges = self._report.ranges
        if len(ranges) == MAX_RUNS_KEPT:
            what = f"there are more than {MAX_RUNS_KEPT} ranges of one epoch each"
            self._report.report(Damage(position, what))
        else:
            ranges.append(StreamRange(stream_id, epoch, start, self._last.end_offset))


class _IndexOrder:
    """Entries must be sorted by stream and offset, and by position, and none may overlap."""

    def __init__(self, report: ObjectReport) -> None:
        self._report = report
        self._last: IndexEntry | None = None
        self.position = 0  # where the blocks so far end
        self.is_sound = True

    def add(self, entry: IndexEntry, at: int) -> None:
        report, last = self._report, self._last
        report.blocks += 1
        report.data_bytes += entry.size
        if entry.position < self.position:
            self._add_damage(
                at, f"block at {entry.position} overlaps the one that ends at {self.position}"
            )
        else:
            report.unindexed_bytes += entry.position - self.position
        if last is not None and (entry.stream_id, entry.start_offset) < (
            last.stream_id,
            last.end_offset if entry.stream_id == last.stream_id else -1,
        ):
            self._add_damage(
                at,
                f"offset {entry.start_offset} of stream {entry.stream_id} comes after "
                f"offset {last.end_offset} of stream {last.stream_id}",
            )
        self.position = max(self.position, entry.position + entry.size)
        self._last = entry
        runs = report.runs
        if runs and runs[-1][0] == entry.stream_id and runs[-1][2] == entry.start_offset:
            runs[-1] = (entry.stream_id, runs[-1][1], entry.end_offset)
        elif len(runs) == MAX_RUNS_KEPT:
            self._add_damage(at, f"there are more than {MAX_RUNS_KEPT} ranges of streams")
        else:
            runs.append((entry.stream_id, entry.start_offset, entry.end_offset))

    def _add_damage(self, at: int, what: str) -> None:
        self.is_sound = False
        self._report.report(Damage(at, f"index entry: {what}"))
