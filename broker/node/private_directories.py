"""The directories of a node hold what its clients have written: they are for their owner only."""

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from headrace.broker.node.snapshots_in_bucket import has_bucket
from headrace.config.node import NodeConfig
from headrace.config.quorum import is_controller
from headrace.metadata.log.directory import Directory
from headrace.metadata.log.os_directory import OWNER_ONLY, OsDirectory
from headrace.storage.object_store.uri import FileLocation, parse_bucket_uri

logger = logging.getLogger("headrace")


async def prepare_directories(
    config: NodeConfig, open_metadata_directory: Callable[[Path], Directory]
) -> None:
    """Make the node's directories, off the loop: a disk may not answer."""
    for directory in directories(config, open_metadata_directory):
        try:
            await directory.run(partial(make_private, directory))
        finally:
            directory.close()


def make_private(directory: Directory) -> None:
    """Make a directory, and what is missing above it, for its owner only. Blocking.

    One that exists keeps its rights, and is warned about. So is one that is lost with the machine.
    What cannot be made is reported by the part that needs it.
    """
    with suppress(OSError):
        directory.make()
        if directory.is_in_memory():
            logger.warning(
                "a directory with data is in memory: what is acknowledged is lost with the machine",
                extra={"directory": str(directory.path)},
            )
        mode = directory.mode()
        if mode & ~OWNER_ONLY & 0o777:
            logger.warning(
                "a directory with data can be used by others than its owner (chmod 700)",
                extra={"directory": str(directory.path), "mode": f"{mode:04o}"},
            )


def directories(
    config: NodeConfig, open_metadata_directory: Callable[[Path], Directory]
) -> list[Directory]:
    """Of the metadata log and of a bucket in files; the WAL's file is for its owner only by itself."""
    found: list[Directory] = []
    if is_controller(config):
        found.append(open_metadata_directory(Path(config.metadata.log_dir)))
    bucket = parse_bucket_uri(config.storage.bucket_uri) if has_bucket(config) else None
    if isinstance(bucket, FileLocation):
        found.append(OsDirectory(Path(bucket.path)))
    return found
