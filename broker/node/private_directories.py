"""The directories of a node hold what its clients have written: they are for their owner only."""

import logging
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from headrace.broker.node.snapshots_in_bucket import has_bucket
from headrace.config.node import NodeConfig
from headrace.config.quorum import is_controller
from headrace.daemon_threads import in_own_thread
from headrace.storage.object_store.uri import FileLocation, parse_bucket_uri
from headrace.wal.file_systems import is_in_memory

logger = logging.getLogger("headrace")

OWNER_ONLY: Final = 0o700


async def prepare_directories(config: NodeConfig) -> None:
    """As `make_private_directories`, in a thread: a disk may not answer."""
    await in_own_thread("directories", make_private_directories, config)


def make_private_directories(config: NodeConfig) -> None:
    """Make the node's directories, and what is missing above them, for their owner only.

    One that exists keeps its rights, and is warned about. So is one that is lost with the machine.
    What cannot be made is reported by the part that needs it.
    """
    for directory in _directories(config):
        with suppress(OSError):
            for path in (*reversed(directory.parents), directory):
                path.mkdir(mode=OWNER_ONLY, exist_ok=True)
            if is_in_memory(str(directory)):
                logger.warning(
                    "a directory with data is in memory: what is acknowledged is lost with the machine",
                    extra={"directory": str(directory)},
                )
            mode = stat.S_IMODE(directory.stat().st_mode)
            if mode & ~OWNER_ONLY & 0o777:
                logger.warning(
                    "a directory with data can be used by others than its owner (chmod 700)",
                    extra={"directory": str(directory), "mode": f"{mode:04o}"},
                )


def _directories(config: NodeConfig) -> list[Path]:
    """Of the metadata log and of a bucket in files; the WAL's file is for its owner only by itself."""
    found = [Path(config.metadata.log_dir)] if is_controller(config) else []
    bucket = parse_bucket_uri(config.storage.bucket_uri) if has_bucket(config) else None
    if isinstance(bucket, FileLocation):
        found.append(Path(bucket.path))
    return found
