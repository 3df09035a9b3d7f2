"""Puts metadata snapshots into the bucket, where they survive the loss of every controller's disk.

Only the leader does it, in the background: an error of the bucket is logged and counted, and the
next interval tries again.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol

import msgspec

from headrace.daemon_threads import in_own_thread
from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.log.snapshot_format import encode_snapshot
from headrace.metadata.published import (
    NO_SNAPSHOT,
    parse_published_key,
    published_folder,
    published_key,
)
from headrace.metadata.records.entry import SnapshotId

logger = logging.getLogger("headrace.metadata_publishing")

KEPT: Final = 3  # newest snapshots; older ones are deleted
MAX_PUBLISH_S: Final = 300.0  # for one snapshot, deletion of the older ones included
# Between two snapshots, while destroyed objects wait for one that has their destruction.
SHORTEST_INTERVAL_MS: Final = 5_000


class SnapshotBucket(Protocol):
    """The part of an object store that is needed here; it may raise any error."""

    async def put(self, key: str, parts: Sequence[bytes]) -> None:
        """Write an object: the concatenation of `parts`."""
        ...

    async def list(self, prefix: str) -> Sequence[tuple[str, int]]:
        """(key, size) of all objects below `prefix`."""
        ...

    async def delete(self, keys: Sequence[str]) -> None:
        """Delete; a key that does not exist is no error."""
        ...


async def newest_published(bucket: SnapshotBucket, cluster_id: str) -> int:
    """Return the entry that the newest snapshot of a cluster ends with, or NO_SNAPSHOT.

    It is the one that a rebuild takes. Raises any error of the bucket.
    """
    return max((it.index for it in await _published(bucket, cluster_id)), default=NO_SNAPSHOT)


async def _published(bucket: SnapshotBucket, cluster_id: str) -> list[SnapshotId]:
    listed = await bucket.list(published_folder(cluster_id))
    return [found[1] for key, _ in listed if (found := parse_published_key(key)) is not None]


class PublishingStatistics(msgspec.Struct):
    """Counted since the start."""

    published: int = 0
    failures: int = 0
    index: int = 0  # of the newest that was published by this process
    size_bytes: int = 0  # of that one
    published_ms: int = 0  # when; 0: never


class SnapshotPublisher:
    """One per controller; `run` until cancelled.

    Holds one encoded snapshot while it is put, which is smaller than the image in memory.
    """

    def __init__(
        self,
        bucket: SnapshotBucket,
        current_image: Callable[[], MetadataImage | None],
        *,
        bucket_errors: tuple[type[Exception], ...],
        interval_ms: int,
        wall_clock_ms: Callable[[], int],
        awaited_index: Callable[[], int],
        on_unknown: Callable[[str], Awaitable[None]],
    ) -> None:
        """Create the publisher; nothing is sent yet.

        Args:
            bucket: the destination.
            current_image: the committed image while this controller leads, else None.
            bucket_errors: what it raises when it does not answer, or not correctly.
            interval_ms: the time between two snapshots, unless one is awaited.
            wall_clock_ms: for the statistics.
            awaited_index: the entry that brokers wait for with the deletion of objects.
            on_unknown: called with the reason when the bucket has a snapshot that a sole voter's log would have
                led to, and does not: the log is an old copy. What it raises ends `run`.
        """
        self._bucket = bucket
        self._current_image = current_image
        self._expected: tuple[type[Exception], ...] = (*bucket_errors, TimeoutError, RefusedError)
        self._interval_ms = interval_ms
        self._wall_clock_ms = wall_clock_ms
        self._awaited_index = awaited_index
        self._on_unknown = on_unknown
        self._term = 0  # the newest in which this process has published
        self.statistics = PublishingStatistics()

    async def run(self) -> None:
        """Publish whenever the log has grown, at most once per interval, until cancelled.

        While brokers wait for it: at most once per SHORTEST_INTERVAL_MS.
        """
        while True:
            await self.publish()
            left_ms = self._interval_ms
            while left_ms > 0:
                step_ms = min(left_ms, SHORTEST_INTERVAL_MS)
                await asyncio.sleep(step_ms / 1000)
                awaited = self._awaited_index() > self.statistics.index
                left_ms = 0 if awaited else left_ms - step_ms

    async def publish(self) -> None:
        """Publish, if this controller leads and the log has grown; errors of the bucket are logged."""
        image = self._current_image()
        if image is None or not image.cluster_id or image.index <= self.statistics.index:
            return
        try:
            async with asyncio.timeout(MAX_PUBLISH_S):
                if image.term > self._term:
                    await self._look_for_unknown(image)
                await self._put(image)
                await self._delete_older(image.cluster_id)
        except self._expected as error:
            self.statistics.failures += 1
            logger.warning(
                "cannot put the metadata snapshot into the bucket, or delete older ones; trying again "
                "at the next interval",
                extra={"index": image.index, "reason": repr(error)},
            )

    async def _look_for_unknown(self, image: MetadataImage) -> None:
        """Compare the log with what was published before: a term has one leader, and this process begins it."""
        for found in await _published(self._bucket, image.cluster_id):
            if found.term >= image.term or found.index > image.index:
                await self._on_unknown(
                    f"the bucket has a snapshot up to entry {found.index} of term {found.term}, which this log has "
                    f"not led to: it is at entry {image.index} of term {image.term}"
                )
        self._term = image.term

    async def _put(self, image: MetadataImage) -> None:
        # In a thread: sorting 100,000 streams alone takes 50 ms.
        parts = await in_own_thread("metadata-snapshot", lambda: list(encode_snapshot(image)))
        key = published_key(image.cluster_id, SnapshotId(image.index, image.term))
        await self._bucket.put(key, parts)
        statistics = self.statistics
        statistics.published += 1
        statistics.index = image.index
        statistics.size_bytes = sum(map(len, parts))
        statistics.published_ms = self._wall_clock_ms()

    async def _delete_older(self, cluster_id: str) -> None:
        listed = await self._bucket.list(published_folder(cluster_id))
        ours = sorted(key for key, _ in listed if parse_published_key(key) is not None)
        if ours[:-KEPT]:
            await self._bucket.delete(ours[:-KEPT])
