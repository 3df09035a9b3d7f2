"""Metadata of a directory, as the tools compare it with a bucket."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from broker.cli.failures import CommandFailedError
from metadata.errors import MetadataError, MetadataIdentityError
from metadata.image import MetadataImage, ObjectImage
from metadata.images.objects import ObjectState
from metadata.offline import OfflineMetadata, find_directory, read_offline
from storage.audit.comparison import KnownBucket, KnownObject, KnownState
from storage.ports import StreamRange

if TYPE_CHECKING:
    from metadata.records.objects import StreamRange as RecordedRange

_STATES = {
    ObjectState.PREPARED: KnownState.PREPARED,
    ObjectState.COMMITTED: KnownState.COMMITTED,
    ObjectState.MARK_DESTROYED: KnownState.DESTROYED,
}


def load_metadata(path: str) -> OfflineMetadata:
    """Read a metadata directory, beside its node if that runs.

    Raises:
        CommandFailedError: it is none, or it cannot be read.
    """
    try:
        return read_offline(find_directory(Path(path)))
    except MetadataIdentityError as error:
        raise CommandFailedError(
            str(error),
            hint="It lies below log.dirs of the node, and is called metadata.",
            exit_code=2,
        ) from error
    except (MetadataError, AssertionError) as error:
        raise CommandFailedError(
            f"the metadata in {path} cannot be read: {error}",
            hint="Take a copy of the directory before anything else is tried.",
        ) from error
    except OSError as error:
        raise CommandFailedError(f"the metadata in {path} cannot be read: {error}") from error


def known_bucket(image: MetadataImage, cluster_id: str) -> KnownBucket:
    """Say what an image knows of its cluster's objects."""
    return KnownBucket(
        cluster_id,
        {object_id: _known(found) for object_id, found in image.objects.by_id.items()},
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
    """Translate ranges as they were committed."""
    return [StreamRange(it.stream_id, it.epoch, it.start_offset, it.end_offset) for it in ranges]
