"""Keys of the metadata snapshots in the bucket. Pure.

`metadata/<cluster id>/<index>-<term>.checkpoint`, both numbers with twenty digits: the order of the
keys is the order of the log. The bytes are those of a snapshot file, `headrace.metadata.log.snapshot_format`.
"""

import re
from typing import Final

from headrace.metadata.records.entry import SnapshotId

FOLDER: Final = "metadata"
NO_SNAPSHOT: Final = -1  # instead of the entry that a snapshot ends with

_KEY: Final = re.compile(r"metadata/([A-Za-z0-9_-]+)/(\d{20})-(\d{20})\.checkpoint")


def published_folder(cluster_id: str) -> str:
    """The folder of one cluster's snapshots."""
    return f"{FOLDER}/{cluster_id}"


def published_key(cluster_id: str, snapshot_id: SnapshotId) -> str:
    """The key of a snapshot."""
    return f"{published_folder(cluster_id)}/{snapshot_id.index:020d}-{snapshot_id.term:020d}.checkpoint"


def parse_published_key(key: str) -> tuple[str, SnapshotId] | None:
    """(cluster id, snapshot), or None for a key that `published_key` cannot have made."""
    match = _KEY.fullmatch(key)
    if match is None:
        return None
    return match[1], SnapshotId(int(match[2]), int(match[3]))
