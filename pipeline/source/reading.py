"""Reads one task's parts of objects as Arrow record batches, also while they are compacted or deleted."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from headrace.pipeline.columns.decoder import decode
from headrace.pipeline.columns.selection import WantedRows
from headrace.pipeline.source.blocks import batch_runs, index_of
from headrace.pipeline.source.bucket import Bucket
from headrace.pipeline.source.catalog import PlannedStreams, StoredRange, TopicPartition
from headrace.pipeline.source.errors import DataLossError, ObjectGoneError, SourceError
from headrace.pipeline.source.plan import Part, Task
from headrace.pipeline.source.snapshots import newest_catalog
from headrace.pipeline.source.transactions import AbortedRange, hidden_by
from headrace.storage.objects.index_block import ObjectIndex

MAX_SEARCHES: Final = 10  # in newer metadata, for one part, without a step forward in between


@dataclass(frozen=True, slots=True)
class Reading:
    """What holds for all parts of a task."""

    columns: tuple[str, ...]
    fails_on_loss: bool
    cluster_id: str
    # Transactions that have offsets in the parts: their rows are left out.
    aborted: Mapping[TopicPartition, Sequence[AbortedRange]] = field(default_factory=dict)


def read_task(bucket: Bucket, task: Task, reading: Reading) -> Iterator[Any]:
    """Yield `pyarrow.RecordBatch`es with the rows of a task.

    Raises:
        DataLossError: offsets are gone, and failOnDataLoss is true.
        SourceError: the bucket cannot be read, or an object in it is damaged.
    """
    return _TaskReader(bucket, reading).read(task)


class _TaskReader:
    def __init__(self, bucket: Bucket, reading: Reading) -> None:
        self._bucket = bucket
        self._reading = reading
        self._index: tuple[int, ObjectIndex] | None = None  # of the object that was read last

    def read(self, task: Task) -> Iterator[Any]:
        for part in task:
            yield from self._part(part)

    def _part(self, part: Part) -> Iterator[Any]:
        """Read a part; when its object is gone, go on at the same offset in those that replaced it."""
        position, end = part.stored.start_offset, part.stored.end_offset
        ranges: list[StoredRange] = [part.stored]
        searches = 0
        while position < end:
            if not ranges:
                searches += 1
                if searches > MAX_SEARCHES:
                    raise SourceError(
                        f"{_named(part.name)} from offset {position} on: the objects that the newest metadata names "
                        f"are not in the bucket; `headrace bucket fsck` says more"
                    )
                position, ranges = self._newer(part, position, end)
                continue
            found = ranges.pop(0)
            try:
                for block_end, rows in self._range(part.name, found):
                    yield from rows
                    position, searches = block_end, 0
            except ObjectGoneError:
                ranges = []

    def _newer(self, part: Part, position: int, end: int) -> tuple[int, list[StoredRange]]:
        """Look for the rest of a part in the newest metadata: the offset to go on at, and the objects.

        By the stream that was planned, which a topic that was created again under its name does not have.
        """
        newest: PlannedStreams = newest_catalog(self._bucket, self._reading.cluster_id)
        stream_id = part.stored.stream_id
        bounds = newest.stream_bounds(stream_id)
        start = end if bounds is None else min(bounds[0], end)
        if start > position:
            self._lost(part.name, position, start, newest.index)
            position = start
        if bounds is None or position >= end:
            return position, []
        return position, list(newest.ranges(stream_id, position, end))

    def _lost(self, name: TopicPartition, start: int, end: int, index: int) -> None:
        if self._reading.fails_on_loss:
            raise DataLossError(
                f"offsets {start} to {end - 1} of {_named(name)} were deleted while the job ran (retention, "
                f"DeleteRecords or the topic itself; metadata up to entry {index}). The option "
                f"failOnDataLoss=false goes on without them"
            )

    def _range(
        self, name: TopicPartition, found: StoredRange
    ) -> Iterator[tuple[int, Iterator[Any]]]:
        """Yield the end offset and the rows of each run of data blocks."""
        rows = WantedRows(
            topic=name.topic,
            partition=name.partition,
            start_offset=found.start_offset,
            end_offset=found.end_offset,
            columns=self._reading.columns,
            is_hidden=hidden_by(self._reading.aborted.get(name, ())),
        )
        for end, batches in batch_runs(self._bucket, found, self._index_of(found)):
            yield end, decode((it.payload for it in batches), rows)

    def _index_of(self, found: StoredRange) -> ObjectIndex:
        if self._index is None or self._index[0] != found.object_id:
            self._index = found.object_id, index_of(self._bucket, found)
        return self._index[1]


def _named(name: TopicPartition) -> str:
    return f"{name.topic}-{name.partition}"
