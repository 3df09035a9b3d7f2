"""Divides what is missing in an export into tasks, each of which writes files of a good size. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from headrace.pipeline.jobs.manifest import PartitionRange
from headrace.pipeline.source.catalog import TopicPartition
from headrace.pipeline.source.plan import Part, WantedRange

# A file of so many bytes takes how many bytes of objects: between these, even if a sample says otherwise.
MIN_RATIO: Final = 0.02
MAX_RATIO: Final = 4.0
BEFORE_ALL_DAYS: Final = -(1 << 62)


class ExportTask(NamedTuple):
    """What one task reads and writes."""

    bucket: str
    cluster_id: str
    target: str
    topic: str
    run: int
    number: int
    parts: tuple[Part, ...]
    dates: frozenset[str] | None  # None: all
    fails_on_loss: bool
    max_file_bytes: int
    compression: str

    @property
    def ranges(self) -> tuple[PartitionRange, ...]:
        """What it reads, in order."""
        return tuple(
            (it.name.partition, it.stored.start_offset, it.stored.end_offset) for it in self.parts
        )

    @property
    def size_bytes(self) -> int:
        """About what it reads."""
        return sum(it.size_bytes for it in self.parts)

    @property
    def exported(self) -> list[WantedRange]:
        """The offsets of which all records are in the export once it is done."""
        return [WantedRange(TopicPartition(self.topic, it[0]), it[1], it[2]) for it in self.ranges]


def by_day(
    wanted: Iterable[WantedRange], starts: Mapping[TopicPartition, Sequence[tuple[int, int]]]
) -> list[list[WantedRange]]:
    """Divide ranges where days begin, and bring together what is of one day, in order.

    Args:
        wanted: of one topic.
        starts: by partition, (offset, day) of the first record of each day, as far as that is known.
    """
    days: dict[int, list[WantedRange]] = {}
    for it in wanted:
        known = [(it.start_offset, BEFORE_ALL_DAYS), *starts.get(it.name, ()), (it.end_offset, 0)]
        for (start, day), (end, _) in pairwise(known):
            low, high = max(start, it.start_offset), min(end, it.end_offset)
            if low < high:
                days.setdefault(day, []).append(WantedRange(it.name, low, high))
    return [days[day] for day in sorted(days)]


def chunk_bytes(total_bytes: int, ratio: float, target_file_bytes: int) -> int:
    """Return how much one task reads at most, so that files are all about as large as is wanted.

    Args:
        total_bytes: of objects, that one day of a topic takes.
        ratio: bytes of a file for a byte of objects, as a sample has it.
        target_file_bytes: of a file.
    """
    bounded = min(max(ratio, MIN_RATIO), MAX_RATIO)
    files = max(1, round(total_bytes * bounded / target_file_bytes))
    return -(-total_bytes // files)
