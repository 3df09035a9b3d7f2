"""Another capacity for the WAL of a node that runs: whether it fits the configuration, and how to keep it. Pure.

The next start goes by the configuration again, so what it would refuse is refused here.
"""

from dataclasses import replace
from urllib.parse import quote

from headrace.config.node import NodeConfig
from headrace.config.uris import MIN_WAL_CAPACITY_BYTES, with_wal_capacity

PLACE_KEY = "s3.wal.path"
_THRESHOLD_KEY = "s3.wal.upload.threshold"
# Of the WAL, for the upload threshold that is not set; as at the start (`headrace.config.assemble`).
_THRESHOLD_SHARE = 4


def check_wal_capacity(config: NodeConfig, capacity_bytes: int) -> None:
    """Refuse a capacity with which this node would not start.

    Raises:
        RelationError: another setting does not go with it.
        ValueError: it is too small for any.
    """
    if capacity_bytes < MIN_WAL_CAPACITY_BYTES:
        raise ValueError(
            f"a WAL of {capacity_bytes} bytes is too small: at least {MIN_WAL_CAPACITY_BYTES} (16 MiB) are needed"
        )
    storage = config.storage
    if _THRESHOLD_KEY not in config.static:
        threshold = min(storage.upload_threshold_bytes, capacity_bytes // _THRESHOLD_SHARE)
        storage = replace(storage, upload_threshold_bytes=threshold)
    # Its constructor refuses what is wrong with it.
    replace(config, storage=storage, wal=replace(config.wal, capacity_bytes=capacity_bytes))


def wal_location_text(config: NodeConfig, capacity_bytes: int) -> str:
    """Return the value of `s3.wal.path` that says what `config` says, but for the capacity."""
    text = config.static.get(PLACE_KEY) or f"0@file://{quote(config.wal.path)}"
    return with_wal_capacity(text, capacity_bytes)
