"""What tests that read a bucket by Spark have in common."""

from headrace.pipeline.source.bucket import open_bucket
from headrace.pipeline.source.errors import SourceError
from headrace.pipeline.source.snapshots import newest_catalog

# Of a broker: what is produced is in the bucket soon, and so is the snapshot that says so.
EARLY = {
    "s3.wal.upload.interval.ms": "500",
    "headrace.metadata.snapshot.publish.interval.ms": "1000",
}


def published(bucket: str) -> dict[tuple[str, int], int]:
    """Ends of partitions, by the newest metadata in the bucket."""
    try:
        catalog = newest_catalog(open_bucket(bucket))
    except SourceError:
        return {}  # there is none yet
    names = catalog.matching(".*")
    return {it: stored.end_offset for it in names if (stored := catalog.stored(it)) is not None}
