"""A cluster's objects according to the metadata, as `headrace.storage.audit` compares them with a bucket. Pure."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from headrace.metadata.image import MetadataImage, ObjectImage
from headrace.metadata.images.objects import ObjectState
from headrace.storage.audit.comparison import KnownBucket, KnownObject, KnownObjectState
from headrace.storage.ports import StreamRange

if TYPE_CHECKING:
    from headrace.metadata.records.objects import RecordedRange

_STATES: Final = {
    ObjectState.PREPARED: KnownObjectState.PREPARED,
    ObjectState.COMMITTED: KnownObjectState.COMMITTED,
    ObjectState.MARK_DESTROYED: KnownObjectState.DESTROYED,
}


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
