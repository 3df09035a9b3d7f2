"""ObjectDeleter: removes destroyed objects from the bucket, then from the metadata.

In this order: to delete an object twice does no harm, but an object that the metadata forgets first
would stay in the bucket forever.
"""

import asyncio
import logging
import random
from collections.abc import Callable, Sequence

import msgspec

from headrace.config.node import StorageConfig
from headrace.storage.errors import NotDeletedError, StorageError
from headrace.storage.objects.keys import object_key
from headrace.storage.ports import ObjectManager, ObjectStore

logger = logging.getLogger("headrace.storage.deletion")

MAX_BATCH_OBJECTS = 1_000  # what one DeleteObjects request of S3 takes
MAX_BATCHES_PER_ROUND = 20
ROUNDS_PER_RETENTION = 10
MIN_INTERVAL_MS = 1_000
MAX_INTERVAL_MS = 60_000


class DeletionStatistics(msgspec.Struct):
    """Counted since the start."""

    rounds: int = 0
    deleted_objects: int = 0
    failures: int = 0


class ObjectDeleter:
    """One per broker; `run` until cancelled."""

    def __init__(
        self,
        config: StorageConfig,
        store: ObjectStore,
        objects: ObjectManager,
        cluster_id: str,
        *,
        rng: random.Random,
        wall_clock_ms: Callable[[], int],
    ) -> None:
        interval_ms = config.object_delete_retention_ms // ROUNDS_PER_RETENTION
        self._interval_ms = min(MAX_INTERVAL_MS, max(MIN_INTERVAL_MS, interval_ms))
        self._store = store
        self._objects = objects
        self._cluster_id = cluster_id
        self._rng = rng
        self._wall_clock_ms = wall_clock_ms
        self.statistics = DeletionStatistics()

    async def run(self) -> None:
        """Delete, wait, repeat. Errors of bucket and control plane do not end it."""
        while True:
            await asyncio.sleep(self._interval_ms * (0.75 + self._rng.random() / 2) / 1000)
            await self.delete()

    async def delete(self) -> None:
        """Delete what may go now, up to a bound; the rest is for the next round."""
        self.statistics.rounds += 1
        try:
            left: set[int] = set()  # what this round could not delete does not block the rest
            for _ in range(MAX_BATCHES_PER_ROUND):
                found = await self._objects.get_objects_to_delete(self._wall_clock_ms())
                batch = [it for it in found if it not in left][:MAX_BATCH_OBJECTS]
                if not batch:
                    return
                left |= await self._delete(batch)
        except (StorageError, TimeoutError, ConnectionError) as error:
            self.statistics.failures += 1
            logger.warning(
                "deleting destroyed objects failed; trying again in the next round",
                extra={"reason": repr(error)},
            )

    async def _delete(self, object_ids: Sequence[int]) -> set[int]:
        """Delete objects, forget them, and return those that the bucket did not delete."""
        keys = {object_key(self._cluster_id, it): it for it in object_ids}
        left: set[int] = set()
        try:
            await self._store.delete(list(keys))
        except NotDeletedError as error:
            left = {keys[key] for key in error.keys}
            self.statistics.failures += 1
            logger.warning(
                "the bucket did not delete some objects; trying again in the next round",
                extra={"objects": len(left), "first": error.keys[0], "reason": str(error)},
            )
        gone = [it for it in object_ids if it not in left]
        if gone:
            await self._objects.forget_objects(gone)
        self.statistics.deleted_objects += len(gone)
        return left
