"""Which objects to rewrite, and what becomes of each stream in them. Pure.

Stream Set Objects are merged in tiers: a group is a run of objects, by the age of their data, of
which none is larger than all newer ones of the group together. So each byte is rewritten a number
of times that grows with the logarithm of what is stored, and without new writes it comes to an end,
since every rewriting leaves fewer objects. The same rule merges the Stream Objects of one stream,
which are copied within the bucket where that is possible and saves something.

In a group, the ranges of a stream that continue each other become a *run*. A stream with a run of
`split_bytes` or more gets Stream Objects of its own, one per run, and so does one whose batches are to be
cleaned; the rest is merged into one new Stream Set Object.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple, TypeVar

from headrace.storage.errors import CorruptObjectError
from headrace.storage.objects.index_block import ObjectIndex
from headrace.storage.ports import ObjectRange, StreamRange

MIN_GROUP_WIDTH = 4  # fewer objects of a size are left alone
MIN_COPIED_GROUP_WIDTH = 8  # of Stream Objects where a copy costs requests and nothing else
MAX_REWRITTEN_BYTES = 256 * 1024 * 1024  # a Stream Object that is rewritten here is no larger
MAX_COPIED_BYTES = 10 * 1024 * 1024 * 1024
# Below this, reading and writing takes fewer requests than copying.
MIN_COPIED_BYTES = 32 * 1024 * 1024
MAX_INDEX_ENTRIES = 65_536  # of a Stream Object: 2.25 MiB, which a reader of it has to fetch
SMALL_OBJECT_BYTES = 1024 * 1024  # up to here an object may join newer ones that are smaller still

_T = TypeVar("_T")


class LackingSourceError(CorruptObjectError):
    """One object of a group lacks what the metadata say that it holds."""

    def __init__(self, source: int, reason: Exception) -> None:
        super().__init__(str(reason))
        self.source = source  # ordinal in the group


class StreamSetObject(NamedTuple):
    """One of this node's Stream Set Objects."""

    object_id: int
    size_bytes: int
    ranges: Sequence[StreamRange]  # live ones; others in the object are dropped


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLimits:
    """How much is rewritten at a time."""

    max_objects: int
    max_bytes: int
    min_width: int = MIN_GROUP_WIDTH


class Piece(NamedTuple):
    """A part of a run: offsets of a stream in one source."""

    source: int  # ordinal in the group
    range: StreamRange


@dataclass(frozen=True, slots=True)
class Run:
    """Contiguous offsets of a stream, from one or more sources."""

    range: StreamRange  # its epoch is the highest of the pieces
    size_bytes: int  # of the blocks
    pieces: Sequence[Piece]
    to_stream_object: bool


def choose_stream_set_objects(
    objects: Sequence[StreamSetObject], limits: GroupLimits
) -> Sequence[StreamSetObject]:
    """Choose what to merge next, or nothing.

    Args:
        objects: oldest data first.
        limits: bounds of a group.
    """
    return _choose(objects, lambda found: found.size_bytes, limits)


def choose_stream_objects(
    objects: Sequence[ObjectRange], limits: GroupLimits
) -> Sequence[ObjectRange]:
    """Choose adjacent Stream Objects of one stream to merge next, or nothing.

    Args:
        objects: in offset order.
        limits: bounds of a group; a merged object is no larger than `max_bytes`.
    """
    for adjacent in _contiguous(objects):
        chosen = _choose(adjacent, lambda found: found.size_bytes, limits)
        if chosen:
            return chosen
    return ()


def contiguous_prefix(objects: Sequence[ObjectRange]) -> Sequence[ObjectRange]:
    """Return the Stream Objects of a stream, in offset order, up to the first gap."""
    return next(_contiguous(objects), ())


def groups_to_clean(
    objects: Sequence[ObjectRange], end_offset: int, limits: GroupLimits
) -> Iterator[Sequence[ObjectRange]]:
    """Yield which Stream Objects become one as they are cleaned, in offset order; one that is too large alone.

    Args:
        objects: adjacent ones, in offset order.
        end_offset: those that begin below it are cleaned.
        limits: bounds of a group.
    """
    group: list[ObjectRange] = []
    size_bytes = 0
    for found in objects:
        if found.start_offset >= end_offset:
            break
        if group and (
            len(group) == limits.max_objects or size_bytes + found.size_bytes > limits.max_bytes
        ):
            yield group
            group, size_bytes = [], 0
        group.append(found)
        size_bytes += found.size_bytes
    if group:
        yield group


def stream_object_limits(*, max_objects: int, max_block_bytes: int, copies: bool) -> GroupLimits:
    """Bound the groups of Stream Objects.

    Args:
        max_objects: how many are merged at a time.
        max_block_bytes: size of a data block; on average they are at least half as large.
        copies: whether merging leaves the data where they are.
    """
    if not copies:
        return GroupLimits(max_objects=max_objects, max_bytes=MAX_REWRITTEN_BYTES)
    return GroupLimits(
        max_objects=max_objects,
        max_bytes=min(MAX_COPIED_BYTES, MAX_INDEX_ENTRIES // 2 * max_block_bytes),
        min_width=MIN_COPIED_GROUP_WIDTH,
    )


def is_worth_copying(indexes: Iterable[ObjectIndex], max_block_bytes: int) -> bool:
    """Whether Stream Objects are joined by copying, rather than read and rewritten.

    A copy keeps small blocks small, each with its index entry: such objects are rewritten while
    that is cheap, and in any case before an index grows beyond its bound.
    """
    blocks = data_bytes = 0
    for index in indexes:
        blocks += len(index)
        data_bytes += index.data_bytes
    if data_bytes < MIN_COPIED_BYTES or blocks > MAX_INDEX_ENTRIES:
        return False
    is_fine = 4 * data_bytes < blocks * max_block_bytes
    return not is_fine or data_bytes > MAX_REWRITTEN_BYTES


def live_bytes(ranges: Iterable[StreamRange], index: ObjectIndex) -> int:
    """Return the size of the blocks of an object that hold these ranges.

    Raises:
        CorruptObjectError: the index lacks one of them.
    """
    return sum(
        index.extent_bytes(found.stream_id, found.start_offset, found.end_offset)
        for found in ranges
    )


def plan_runs(
    sources: Sequence[tuple[Sequence[StreamRange], ObjectIndex]],
    split_bytes: int,
    leaves: Callable[[int], bool] = lambda _stream_id: False,
) -> Iterator[Run]:
    """Yield what is to be written, in (stream id, offset) order.

    Args:
        sources: of each object of the group, the live ranges by (stream id, offset), and the index.
        split_bytes: from here on a run makes its stream leave the Stream Set Object.
        leaves: whether a stream leaves it whatever its size.

    Raises:
        LackingSourceError: an index lacks a range that its object should hold.
        ValueError: two sources hold the same offsets, or ranges are out of order.
    """
    merged = heapq.merge(
        *(_pieces(ordinal, ranges) for ordinal, (ranges, _) in enumerate(sources)), key=_order
    )
    for stream_id, of_stream in groupby(merged, key=lambda piece: piece.range.stream_id):
        pieces = list(of_stream)
        runs = [(run, _size(run, sources)) for run in _runs(pieces)]
        split = any(size >= split_bytes for _, size in runs) or leaves(stream_id)
        for run, size in runs:
            yield Run(_spanned(run), size, run, split)


def _choose(items: Sequence[_T], size_of: Callable[[_T], int], limits: GroupLimits) -> Sequence[_T]:
    for end in range(len(items), limits.min_width - 1, -1):
        start, total = end, 0
        while start > 0 and end - start < limits.max_objects:
            size = size_of(items[start - 1])
            too_large = start < end and size > max(total, SMALL_OBJECT_BYTES)
            if too_large or total + size > limits.max_bytes:
                break
            total += size
            start -= 1
        if end - start >= limits.min_width:
            return items[start:end]
    return ()


def _pieces(source: int, ranges: Sequence[StreamRange]) -> Iterator[Piece]:
    # Nothing is sorted or collected here: an object can hold tens of thousands of streams.
    last = (-1, 0)
    for found in ranges:
        piece = Piece(source, found)
        if _order(piece) < last:
            raise ValueError(f"ranges of one object are out of order at {found}")
        last = _order(piece)
        yield piece


def _order(piece: Piece) -> tuple[int, int]:
    return piece.range.stream_id, piece.range.start_offset


def _contiguous(objects: Sequence[ObjectRange]) -> Iterator[Sequence[ObjectRange]]:
    begin = 0
    for ordinal in range(1, len(objects) + 1):
        if (
            ordinal == len(objects)
            or objects[ordinal].start_offset != objects[ordinal - 1].end_offset
        ):
            yield objects[begin:ordinal]
            begin = ordinal


def _runs(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    run = [pieces[0]]
    for piece in pieces[1:]:
        end = run[-1].range.end_offset
        if piece.range.start_offset < end:
            raise ValueError(f"offsets below {end} are in two objects: {run[-1]}, {piece}")
        if piece.range.start_offset > end:
            yield run
            run = []
        run.append(piece)
    yield run


def _size(
    run: Sequence[Piece], sources: Sequence[tuple[Sequence[StreamRange], ObjectIndex]]
) -> int:
    size_bytes = 0
    for piece in run:
        try:
            size_bytes += live_bytes((piece.range,), sources[piece.source][1])
        except CorruptObjectError as error:
            raise LackingSourceError(piece.source, error) from error
    return size_bytes


def _spanned(run: Sequence[Piece]) -> StreamRange:
    first, last = run[0].range, run[-1].range
    epoch = max(piece.range.epoch for piece in run)
    return StreamRange(first.stream_id, epoch, first.start_offset, last.end_offset)
