"""Which partitions and offsets an object that is lost or damaged concerns, by the metadata. Pure."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from headrace.metadata.image import MetadataImage
from headrace.storage.audit.comparison import Finding, Run, Severity, runs_of

RECORDS = "records"
CHECKPOINTS = "checkpoints"


class Concerned(NamedTuple):
    """Offsets of a partition that cannot be read, or are at risk."""

    object_id: int
    topic: str
    partition: int
    holds: str  # RECORDS or CHECKPOINTS
    start_offset: int
    end_offset: int


def concerned_by(image: MetadataImage, findings: Iterable[Finding]) -> list[Concerned]:
    """Return what the errors among the findings concern, by topic, partition and offset."""
    wrong = [it for it in findings if it.problem.severity is Severity.ERROR]
    if not wrong:
        return []
    owners = {
        stream_id: (topic.name, partition.partition, holds)
        for topic in image.topics.values()
        for partition in topic.partitions
        for stream_id, holds in (
            (partition.data_stream_id, RECORDS),
            (partition.meta_stream_id, CHECKPOINTS),
        )
    }
    found = {
        Concerned(it.object_id, *owners[stream_id], start, end)
        for it in wrong
        for stream_id, start, end in _held(image, it)
        if stream_id in owners
    }
    return sorted(found, key=lambda it: (*it[1:], it.object_id))


def _held(image: MetadataImage, finding: Finding) -> Iterator[Run]:
    """Yield what the object still holds of streams, of the damaged blocks if these are known."""
    known = image.objects.by_id.get(finding.object_id)
    ranges = () if known is None else known.ranges
    whole = runs_of((it.stream_id, it.start_offset, it.end_offset) for it in ranges)
    for stream_id, start, end in finding.damaged or whole:
        stream = image.streams.get(stream_id)
        for piece in () if stream is None else stream.objects:
            if piece.object_id == finding.object_id:
                assert stream is not None
                first = max(start, piece.start_offset, stream.start_offset)
                last = min(end, piece.end_offset)
                if first < last:
                    yield stream_id, first, last
