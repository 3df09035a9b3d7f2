"""The metadata that a job reads by: snapshots in the bucket, and when the newest is asked for."""

from collections.abc import Callable
from typing import Final, Protocol, TypeVar

from headrace.metadata.log.snapshot_format import decode_snapshot
from headrace.metadata.published import FOLDER, parse_published_key
from headrace.metadata.records.entry import SnapshotId
from headrace.pipeline.source.bucket import MAX_ATTEMPTS, Bucket
from headrace.pipeline.source.catalog import Catalog
from headrace.pipeline.source.errors import ObjectGoneError, OptionError, SourceError

ASKED_INTERVAL_S: Final = 1.0  # Spark asks a stream for its end every 10 ms while there is none

T = TypeVar("T")


def newest_catalog(bucket: Bucket, cluster_id: str = "") -> Catalog:
    """Read the newest metadata snapshot.

    Args:
        bucket: where it is.
        cluster_id: whose; may be empty where the bucket is of one cluster.

    Raises:
        OptionError: the cluster must be named, or there is none of this name.
        SourceError: there is no snapshot yet, or it cannot be read.
    """
    for _ in range(MAX_ATTEMPTS):
        _, key = _newest(bucket, cluster_id)
        try:
            return Catalog(decode_snapshot(bucket.whole(key)), bucket.time_ms(key))
        except ObjectGoneError:
            continue  # newer ones have been published meanwhile, and this one was deleted
    raise SourceError("each metadata snapshot was deleted before it could be read")


def with_metadata(bucket: Bucket, catalog: Catalog, act: Callable[[Catalog], T]) -> T:
    """Call `act` with the catalog, and again with the newest one whenever an object was gone, MAX_ATTEMPTS in all.

    Raises:
        SourceError: objects are missing that the newest metadata name.
    """
    for _ in range(MAX_ATTEMPTS):
        try:
            return act(catalog)
        except ObjectGoneError:
            catalog = newest_catalog(bucket, catalog.cluster_id)
    raise SourceError(
        "objects that the newest metadata name are not in the bucket; `headrace bucket fsck` says which"
    )


class Metadata(Protocol):
    """Where the newest metadata come from."""

    def newest(self, known: Catalog | None) -> Catalog:
        """Return them, or `known` if there are no newer ones; errors as of `newest_catalog`."""
        ...


class BucketMetadata:
    """The snapshots in the bucket."""

    def __init__(self, bucket: Bucket, cluster_id: str) -> None:
        self._bucket = bucket
        self._cluster_id = cluster_id

    def newest(self, known: Catalog | None) -> Catalog:
        """See `Metadata.newest`."""
        if known is not None:
            snapshot_id, _ = _newest(self._bucket, known.cluster_id)
            if snapshot_id <= known.snapshot_id:
                return known
        return newest_catalog(self._bucket, self._cluster_id)


class FreshCatalog:
    """The newest metadata, for one query: never older than before, and asked for once in ASKED_INTERVAL_S."""

    def __init__(self, metadata: Metadata, monotonic_s: Callable[[], float]) -> None:
        self._metadata = metadata
        self._monotonic_s = monotonic_s
        self._catalog: Catalog | None = None
        self._asked_s = 0.0

    def newest(self) -> Catalog:
        """Return it; errors as of `newest_catalog`."""
        catalog, now_s = self._catalog, self._monotonic_s()
        if catalog is None or now_s - self._asked_s >= ASKED_INTERVAL_S:
            found = self._metadata.newest(catalog)
            if catalog is None or found.snapshot_id > catalog.snapshot_id:
                catalog = found
            self._catalog, self._asked_s = catalog, now_s
        return catalog


def _newest(bucket: Bucket, cluster_id: str) -> tuple[SnapshotId, str]:
    found = {
        parsed: key
        for key in bucket.keys(f"{FOLDER}/{cluster_id}" if cluster_id else FOLDER)
        if (parsed := parse_published_key(key)) is not None
    }
    clusters = sorted({name for name, _ in found})
    if len(clusters) > 1:
        raise OptionError(
            f"the bucket has the clusters {', '.join(clusters)}: name one by the option cluster"
        )
    if not found:
        raise SourceError(
            f"the bucket has no metadata snapshot{f' of cluster {cluster_id}' if cluster_id else ''}: the "
            f"controller puts one there every headrace.metadata.snapshot.publish.interval.ms"
        )
    newest = max(found)
    return newest[1], found[newest]
