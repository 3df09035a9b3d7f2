"""Joins Stream Objects of one stream without looking into their data.

The new object consists of the data blocks of the old ones, one after the other, copied within the
bucket, and an index of its own. Blocks include their checksums; an index entry moves with its block.
Blocks are not joined: objects with too small blocks are rewritten instead (`plan.is_worth_copying`).
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from headrace.checksums import crc32c
from headrace.storage.compaction.rewrite import RewriteError
from headrace.storage.compaction.source import DamagedSourceError, SourceObject
from headrace.storage.errors import CorruptObjectError
from headrace.storage.objects.footer import Footer, encode_footer
from headrace.storage.objects.index_block import IndexEntry, encode_entry
from headrace.storage.ports import Buffer, CopiedRange, StreamRange
from headrace.turns import Work, turns_of

ENTRIES_PER_STEP: Final = 256  # after so many, the event loop may run other tasks


class Composition(msgspec.Struct, frozen=True):
    """What an object is made of: ranges of others, then index and footer."""

    pieces: Sequence[CopiedRange | Buffer]
    size_bytes: int


async def compose_stream_object(
    found: Sequence[tuple[SourceObject, StreamRange]],
) -> Composition:
    """Lay the live blocks of Stream Objects out one after the other.

    Args:
        found: opened sources and what is live in them, in offset order, without gaps.

    Raises:
        DamagedSourceError: an index does not hold what the metadata say.
        RewriteError: the ranges do not follow each other.
    """
    pieces: list[CopiedRange | Buffer] = []
    index = bytearray()
    position = 0
    end_offset = found[0][1].start_offset
    for source, live in found:
        if live.start_offset != end_offset:
            raise RewriteError(f"{live} does not follow offset {end_offset}")
        end_offset = live.end_offset
        copied = await _shifted(source, live, position, index)
        pieces.append(copied)
        position += copied.size_bytes
    encoded = bytes(index)
    footer = encode_footer(Footer(position, len(encoded), crc32c(encoded)))
    pieces.append(encoded + footer)
    return Composition(pieces, position + len(encoded) + len(footer))


async def _shifted(
    source: SourceObject, live: StreamRange, position: int, index: bytearray
) -> CopiedRange:
    """Append a source's index entries, moved to the new positions; return the range of its blocks."""
    try:
        first, last = await _append_shifted(source, live, position, index)
    except CorruptObjectError as error:
        raise DamagedSourceError(source.object_id, error) from error
    return CopiedRange(source.key, first.position, last.position + last.size)


async def _append_shifted(
    source: SourceObject, live: StreamRange, position: int, index: bytearray
) -> tuple[IndexEntry, IndexEntry]:
    """Append the entries, and return the first and the last as they were."""
    first = last = None
    entries = source.index.find(live.stream_id, live.start_offset, live.end_offset)
    for number, entry in enumerate(entries, 1):
        if first is None:
            first = entry
        _require_follows(last, entry, live)
        last = entry
        index += encode_entry(entry._replace(position=entry.position - first.position + position))
        if number % ENTRIES_PER_STEP == 0:
            await turns_of(Work.UPKEEP).pause()
    if first is None or last is None or last.end_offset != live.end_offset:
        raise CorruptObjectError(f"the index does not hold {live}")
    return first, last


def _require_follows(last: IndexEntry | None, entry: IndexEntry, live: StreamRange) -> None:
    """Check that a block continues the one before, in offset and position.

    Raises:
        CorruptObjectError: it does not.
    """
    if last is None:
        follows = entry.start_offset <= live.start_offset  # trimmed streams begin inside of a block
    else:
        follows = (
            entry.start_offset == last.end_offset and entry.position == last.position + last.size
        )
    if not follows:
        raise CorruptObjectError(f"block {entry} does not continue {last or live}")
