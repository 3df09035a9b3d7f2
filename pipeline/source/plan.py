"""Divides offsets of partitions into tasks: by metadata, and by the indexes of large objects. Pure.

A task reads parts of objects, in order of topic, partition and offset where an object holds one stream, and all that
is wanted of an object where it holds several: each data block is read once, by one task.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from headrace.pipeline.source.catalog import Catalog, StoredRange, TopicPartition
from headrace.storage.objects.index_block import ObjectIndex

MAX_PARTITION_BYTES = (
    128 * 1024 * 1024
)  # the default of Spark's files, spark.sql.files.maxPartitionBytes


@dataclass(frozen=True, slots=True)
class WantedRange:
    """Offsets `[start_offset, end_offset)` of a partition."""

    name: TopicPartition
    start_offset: int
    end_offset: int


@dataclass(frozen=True, slots=True)
class Part:
    """What a task reads of one object for one partition."""

    name: TopicPartition
    stored: StoredRange

    @property
    def size_bytes(self) -> int:
        """About what is read."""
        return self.stored.share_bytes


Task = tuple[Part, ...]


def parts_of(catalog: Catalog, wanted: Iterable[WantedRange]) -> list[Part]:
    """Find the objects that hold the wanted offsets."""
    parts: list[Part] = []
    for it in wanted:
        stored = catalog.stored(it.name)
        if stored is None:
            continue
        start = max(it.start_offset, stored.start_offset)
        end = min(it.end_offset, stored.end_offset)
        if start < end:
            found = catalog.ranges(stored.data_stream_id, start, end)
            parts.extend(Part(it.name, each) for each in found)
    return parts


def task_bytes(parts: Sequence[Part], *, max_partition_bytes: int, min_partitions: int) -> int:
    """How much one task reads at most, so that there are about as many tasks as are wanted."""
    total = sum(it.size_bytes for it in parts)
    return max(1, min(max_partition_bytes, -(-total // max(1, min_partitions))))


def large_objects(parts: Sequence[Part], most_bytes: int) -> set[int]:
    """Ids of objects of which more is wanted than a task reads: their indexes say where they can be divided."""
    return {
        object_id
        for object_id, members in _by_object(parts)
        if sum(it.size_bytes for it in members) > most_bytes
    }


def divide(
    parts: Sequence[Part], indexes: Mapping[int, ObjectIndex], most_bytes: int
) -> list[Task]:
    """Return the tasks.

    Args:
        parts: what is to be read.
        indexes: of the objects that `large_objects` named.
        most_bytes: of one task, unless a single data block is larger.
    """
    tasks: list[Task] = []
    current: list[Part] = []
    size_bytes = 0
    for group in _groups(parts, indexes, most_bytes):
        group_bytes = sum(it.size_bytes for it in group)
        if current and size_bytes + group_bytes > most_bytes:
            tasks.append(tuple(current))
            current, size_bytes = [], 0
        current.extend(group)
        size_bytes += group_bytes
    if current:
        tasks.append(tuple(current))
    return tasks


def _groups(
    parts: Sequence[Part], indexes: Mapping[int, ObjectIndex], most_bytes: int
) -> Iterator[Sequence[Part]]:
    """What stays together: an object's parts, or pieces of one part of a large object."""
    for object_id, members in _by_object(parts):
        index = indexes.get(object_id)
        if index is None:
            yield members
        else:
            for part in members:
                for piece in _pieces(part, index, most_bytes):
                    yield [piece]


def _pieces(part: Part, index: ObjectIndex, most_bytes: int) -> Iterator[Part]:
    stored = part.stored
    start, size_bytes, end = stored.start_offset, 0, stored.start_offset
    for block in index.find(stored.stream_id, stored.start_offset, stored.end_offset):
        if size_bytes and size_bytes + block.size > most_bytes:
            yield _piece(part, start, end, size_bytes)
            start, size_bytes = end, 0
        size_bytes += block.size
        end = min(block.end_offset, stored.end_offset)
    if size_bytes:
        yield _piece(part, start, stored.end_offset, size_bytes)


def _piece(part: Part, start: int, end: int, size_bytes: int) -> Part:
    stored = part.stored._replace(start_offset=start, end_offset=end, share_bytes=size_bytes)
    return replace(part, stored=stored)


def _by_object(parts: Sequence[Part]) -> Iterator[tuple[int, list[Part]]]:
    """Bring the parts of an object together where the first of them is."""
    place: dict[int, int] = {}
    for it in parts:
        place.setdefault(it.stored.object_id, len(place))
    ordered = sorted(parts, key=lambda it: place[it.stored.object_id])
    for object_id, members in groupby(ordered, key=lambda it: it.stored.object_id):
        yield object_id, list(members)
