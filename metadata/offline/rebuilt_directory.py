"""Writes a metadata directory that begins with a given image. Asynchronous: through the log's store."""

import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import UUID

from headrace.metadata.image import MetadataImage
from headrace.metadata.log.os_directory import OsDirectory
from headrace.metadata.log.snapshot_format import encode_snapshot
from headrace.metadata.log.store import LogStore
from headrace.metadata.raft.effects import NOBODY, HardState, Persist
from headrace.metadata.records.entry import SnapshotId

if TYPE_CHECKING:
    from random import Random

UNFINISHED_SUFFIX: Final = ".rebuilding"


async def write_rebuilt(
    directory: Path,
    make: Callable[[UUID], MetadataImage],
    publish: Callable[[MetadataImage], Awaitable[None]],
    *,
    node_id: int,
    cluster_id: str,
    rng: "Random",
) -> None:
    """Create a directory: after a crash it exists complete and published, or not at all.

    Args:
        directory: must not exist, or be empty, and not be a file system of its own.
        make: the image, for a controller whose directory has this id.
        publish: makes the image the newest snapshot in the bucket: rebuilding a second time from
            the previous one would assign the same numbers again.
        node_id: the owner of the directory.
        cluster_id: the cluster of the directory.
        rng: for the ids in it.

    Raises:
        OSError: it cannot be written.
    """
    unfinished = directory.with_name(directory.name + UNFINISHED_SUFFIX)
    if unfinished.exists():
        shutil.rmtree(unfinished)
    try:
        await publish(await _write(unfinished, make, node_id, cluster_id, rng))
        unfinished.rename(directory)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    OsDirectory(directory.parent).sync()


async def _write(
    directory: Path,
    make: Callable[[UUID], MetadataImage],
    node_id: int,
    cluster_id: str,
    rng: "Random",
) -> MetadataImage:
    store = LogStore(OsDirectory(directory), rng)
    try:
        opened = await store.open(node_id=node_id, cluster_id=cluster_id)
        image = make(opened.directory_id)
        await store.persist(Persist(HardState(image.term, NOBODY)))
        await store.install_snapshot(SnapshotId(image.index, image.term), _chunks(image))
    finally:
        await store.close()
    return image


async def _chunks(image: MetadataImage) -> AsyncIterator[bytes]:
    for piece in encode_snapshot(image):
        yield piece
