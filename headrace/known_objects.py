"""A cluster's objects according to the metadata, as `headrace.storage.audit` compares them with a bucket. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from headrace.metadata.image import MetadataImage, ObjectImage
from headrace.metadata.images.objects import ObjectState
from headrace.storage.audit.comparison import (
    Comparer,
    Finding,
    KnownBucket,
    KnownObject,
    KnownObjectState,
    Run,
    Severity,
    runs_of,
)
from headrace.storage.audit.fsck_report import CHECKPOINTS, RECORDS, Concerned
from headrace.storage.ports import StreamRange

if TYPE_CHECKING:
    from headrace.metadata.records.objects import RecordedRange

_STATES: Final = {
    ObjectState.PREPARED: KnownObjectState.PREPARED,
    ObjectState.COMMITTED: KnownObjectState.COMMITTED,
    ObjectState.MARK_DESTROYED: KnownObjectState.DESTROYED,
}


# From the time of a snapshot to its end in the bucket: `headrace.metadata.leader.publishing` gives it up after that.
MAX_PUBLISH_MS: Final = 300_000


def known_bucket(
    image: MetadataImage, cluster_id: str, object_ids: Iterable[int] | None = None
) -> KnownBucket:
    """Return the objects that an image knows.

    Args:
        image: of the metadata.
        cluster_id: part of every object's key.
        object_ids: return these only; None: all.
    """
    by_id = image.objects.by_id
    asked = by_id if object_ids is None else (it for it in object_ids if it in by_id)
    return KnownBucket(
        cluster_id,
        {object_id: _known(by_id[object_id]) for object_id in asked},
        image.objects.next_object_id,
    )


def comparer_of(
    image: MetadataImage, cluster_id: str, time_ms: int | None, *, now_ms: int, overdue_ms: int
) -> Comparer:
    """Return what compares a listing with an image.

    Args:
        image: of the metadata.
        cluster_id: part of every object's key.
        time_ms: when the image was put into the bucket, if it is a snapshot: what has happened since is not judged.
        now_ms: by the clock of this machine.
        overdue_ms: see `Comparer`.
    """
    newer_from_ms = None if time_ms is None else time_ms - MAX_PUBLISH_MS
    known_ms = now_ms if time_ms is None else min(now_ms, time_ms)
    known = known_bucket(image, cluster_id)
    return Comparer(known, now_ms=known_ms, overdue_ms=overdue_ms, newer_from_ms=newer_from_ms)


def _known(found: ObjectImage) -> KnownObject:
    prepared = found.state == ObjectState.PREPARED
    return KnownObject(
        found.object_id,
        _STATES[found.state],
        found.size_bytes,
        found.expires_ms if prepared else found.destroyed_ms,
        _ranges(found.ranges),
    )


def _ranges(ranges: "Sequence[RecordedRange]") -> list[StreamRange]:
    """Translate committed ranges."""
    return [StreamRange(it.stream_id, it.epoch, it.start_offset, it.end_offset) for it in ranges]


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
