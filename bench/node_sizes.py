"""Sizes of the one node that most benchmarks measure."""

from collections.abc import Mapping
from typing import Final

MIB: Final = 1024 * 1024
WAL_BYTES: Final = 512 * MIB
UPLOAD_THRESHOLD_BYTES: Final = 96 * MIB
LOG_CACHE_BYTES: Final = 640 * MIB
BLOCK_CACHE_BYTES: Final = 128 * MIB
SETTINGS: Final[Mapping[str, str]] = {
    "s3.wal.cache.size": str(LOG_CACHE_BYTES),
    "s3.wal.upload.threshold": str(UPLOAD_THRESHOLD_BYTES),
    "s3.block.cache.size": str(BLOCK_CACHE_BYTES),
}


def wal_path(file: object) -> str:
    """Return `s3.wal.path` of a WAL in a file or on a device."""
    return f"0@file://{file}?capacity={WAL_BYTES}"
