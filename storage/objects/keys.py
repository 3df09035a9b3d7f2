"""Keys of objects in the bucket.

`<spread>/<cluster id>/<object id>`: two hexadecimal digits hashed from the object id, so that
consecutive objects fall under different prefixes (object stores throttle per prefix), then the
cluster, so that several clusters can share a bucket, then the id in decimal.
"""

import re

from headrace.storage.errors import InvalidRequestError

_CLUSTER_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*|_[A-Za-z0-9_-]+")
_KEY = re.compile(r"(?:[A-Za-z0-9_-][A-Za-z0-9._-]*/)*[A-Za-z0-9_-][A-Za-z0-9._-]*")
_OBJECT_KEY = re.compile(r"([0-9a-f]{2})/([A-Za-z0-9_-]+)/([0-9]+)")
_MAX_KEY_LENGTH = 1024  # S3's limit
_FIBONACCI = 0x9E3779B1  # 2**32 / golden ratio: consecutive ids land far apart


def object_key(cluster_id: str, object_id: int) -> str:
    """Name the object `object_id` of a cluster.

    Raises:
        ValueError: the cluster id has characters outside `[A-Za-z0-9_-]`, or the object id is
            negative.
    """
    if not _CLUSTER_ID.fullmatch(cluster_id):
        raise ValueError(f"cluster id {cluster_id!r} cannot be part of a key")
    if object_id < 0:
        raise ValueError(f"object id {object_id} is negative")
    return f"{_spread(object_id)}/{cluster_id}/{object_id}"


def parse_object_key(key: str) -> tuple[str, int] | None:
    """Return (cluster id, object id), or None for a key that `object_key` cannot have made."""
    match = _OBJECT_KEY.fullmatch(key)
    if match is None:
        return None
    spread, cluster_id, digits = match.groups()
    object_id = int(digits)
    if str(object_id) != digits or spread != _spread(object_id):
        return None
    return cluster_id, object_id


def require_valid_key(key: str) -> None:
    """Check that a key means the same in every store: no escapes, no hidden or relative segments.

    Raises:
        InvalidRequestError: it does not.
    """
    if len(key) > _MAX_KEY_LENGTH or not _KEY.fullmatch(key):
        raise InvalidRequestError(f"invalid object key {key[:_MAX_KEY_LENGTH]!r}")


def _spread(object_id: int) -> str:
    return f"{((object_id * _FIBONACCI) & 0xFFFFFFFF) >> 24:02x}"
