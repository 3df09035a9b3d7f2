"""Sweeper: lists the whole bucket from time to time, and removes what the metadata has forgotten.

There are two ways for something to be left over. A PUT can arrive after its object has expired and
was deleted and forgotten. And a writer that is killed, or whose abort is lost, leaves a multipart
upload with parts that no list of objects shows. One node of the cluster looks for both;
`headrace.storage.sweep.rules` decides.
"""

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from typing import Final, Protocol, cast

import msgspec

from headrace.config.node import StorageConfig
from headrace.storage.audit.comparison import KnownBucket
from headrace.storage.audit.inventory import ListedObject, meaning_of
from headrace.storage.errors import NotDeletedError, StorageError
from headrace.storage.object_store.unexpected import UnexpectedClientError
from headrace.storage.ports import ObjectStore
from headrace.storage.sweep.rules import IncompleteUpload, is_abandoned, swept
from headrace.storage.sweep.swept_bucket import SweptBucket

logger = logging.getLogger("headrace.storage.sweep")

# Keys of objects begin with two hexadecimal digits: the bucket is listed in these pieces, so that a
# bucket that is too large for one round is continued in the next.
PREFIXES: Final = "0123456789abcdef"
MAX_PAGES_PER_ROUND: Final = 1_000  # of 1,000 objects; a piece that was begun is finished
MAX_UPLOAD_PAGES_PER_ROUND: Final = 100


class SweepMetadata(Protocol):
    """What the sweeper needs of the control plane."""

    def is_sweeper(self) -> bool:
        """Whether this node is the one of the cluster that sweeps."""
        ...

    def known_bucket(self, object_ids: Iterable[int]) -> KnownBucket:
        """What the newest image knows of these objects."""
        ...


class SweepStatistics(msgspec.Struct):
    """Counted since the start."""

    laps: int = 0  # times that the whole bucket was listed
    listed_objects: int = 0
    removed_objects: int = 0
    removed_bytes: int = 0
    aborted_uploads: int = 0
    failures: int = 0
    beyond_metadata: int = 0  # found in the newest lap


class Sweeper:
    """One per broker; `run` until cancelled."""

    def __init__(
        self,
        config: StorageConfig,
        store: ObjectStore,
        bucket: SweptBucket,
        metadata: SweepMetadata,
        *,
        rng: random.Random,
        wall_clock_ms: Callable[[], int],
    ) -> None:
        self._interval_ms = config.sweep_interval_ms
        # Twice as long as a prepared id may be relied on.
        self._safe_age_ms = 2 * config.object_prepare_ttl_ms
        self._store = store
        self._bucket = bucket
        self._metadata = metadata
        self._rng = rng
        self._wall_clock_ms = wall_clock_ms
        self._next_prefix = 0
        self._seen_pieces = 0  # of this lap, whole
        self._beyond_metadata = 0
        self.statistics = SweepStatistics()

    async def run(self) -> None:
        """Sweep, wait, repeat. Errors of bucket and control plane do not end it."""
        while True:
            await asyncio.sleep(self._interval_ms * (0.75 + self._rng.random() / 2) / 1000)
            await self.sweep()

    async def sweep(self) -> None:
        """List the bucket once, or as much of it as one round takes, and remove what is left over."""
        if not self._metadata.is_sweeper():
            return
        for step in (self._sweep_objects, self._sweep_uploads):
            try:
                await step()
            except (StorageError, TimeoutError, ConnectionError) as error:
                self._failed(error)

    def _failed(self, error: Exception) -> None:
        self.statistics.failures += 1
        logger.warning(
            "the sweep of the bucket failed; trying again in the next round",
            exc_info=error if isinstance(error, UnexpectedClientError) else None,
            extra={"reason": repr(error)},
        )

    async def _sweep_objects(self) -> None:
        pages = 0
        for _ in PREFIXES:
            prefix = PREFIXES[self._next_prefix]
            if self._next_prefix == 0:
                self._seen_pieces = self._beyond_metadata = 0
            # Now: a piece that fails is for the next lap, and does not block the others.
            self._next_prefix = (self._next_prefix + 1) % len(PREFIXES)
            # The protocol has no `aclose`, but every lister is a generator, and must be closed here.
            listing = self._bucket.lister.pages(prefix)
            async with aclosing(cast("AsyncGenerator[list[ListedObject], None]", listing)) as found:
                async for page in found:
                    pages += 1
                    await self._sweep_page(page)
            self._seen_pieces += 1
            if self._next_prefix == 0 and self._seen_pieces == len(PREFIXES):
                self._end_lap()
            if pages >= MAX_PAGES_PER_ROUND:
                break

    async def _sweep_page(self, page: Sequence[ListedObject]) -> None:
        self.statistics.listed_objects += len(page)
        known = self._metadata.known_bucket(meaning_of(it.key).object_id for it in page)
        found = swept(known, page, now_ms=self._wall_clock_ms(), safe_age_ms=self._safe_age_ms)
        self._beyond_metadata += found.beyond_metadata
        if not found.removable:
            return
        left = await self._delete([it.key for it in found.removable])
        removed = [it for it in found.removable if it.key not in left]
        if not removed:
            return
        size_bytes = sum(it.size_bytes for it in removed)
        self.statistics.removed_objects += len(removed)
        self.statistics.removed_bytes += size_bytes
        logger.info(
            "removed objects that the metadata has forgotten",
            extra={"objects": len(removed), "size_bytes": size_bytes, "first": removed[0].key},
        )

    async def _delete(self, keys: Sequence[str]) -> set[str]:
        """Delete, and return what the bucket did not delete: the next lap tries it again."""
        try:
            await self._store.delete(keys)
        except NotDeletedError as error:
            self.statistics.failures += 1
            logger.warning(
                "the bucket did not delete some objects that the metadata has forgotten; "
                "trying again the next time",
                extra={"objects": len(error.keys), "first": error.keys[0], "reason": str(error)},
            )
            return set(error.keys)
        return set()

    def _end_lap(self) -> None:
        self.statistics.laps += 1
        self.statistics.beyond_metadata = self._beyond_metadata
        if self.statistics.beyond_metadata:
            logger.error(
                "the bucket has objects of this cluster with ids that its metadata has never given out; "
                "they are kept. Check whether the metadata is older than the bucket, or whether another "
                "cluster with the same cluster id uses this bucket",
                extra={"objects": self.statistics.beyond_metadata},
            )

    async def _sweep_uploads(self) -> None:
        pages = 0
        listing = self._bucket.uploads.pages()
        async with aclosing(cast("AsyncGenerator[list[IncompleteUpload], None]", listing)) as found:
            async for page in found:
                pages += 1
                await self._end_uploads(page)
                if pages == MAX_UPLOAD_PAGES_PER_ROUND:
                    break

    async def _end_uploads(self, page: Sequence[IncompleteUpload]) -> None:
        known = self._metadata.known_bucket(meaning_of(it.key).object_id for it in page)
        now_ms = self._wall_clock_ms()
        abandoned = [
            it
            for it in page
            if is_abandoned(known, it, now_ms=now_ms, safe_age_ms=self._safe_age_ms)
        ]
        if not abandoned:
            return
        try:
            await self._bucket.uploads.abort(abandoned)
        except StorageError as error:
            self._failed(error)  # those that stay are for the next round, and block no other page
        else:
            self.statistics.aborted_uploads += len(abandoned)
            logger.info(
                "aborted multipart uploads whose objects can no longer be committed",
                extra={"uploads": len(abandoned)},
            )
