"""Finds the destroyed objects that this node may delete from the bucket now.

Rules: `headrace.broker.adapters.destroyed_objects`. The bucket itself is asked for its newest snapshot, so a change of
the leader, a restart, a controller that publishes nothing, and one of another version need no rule of their own. One
listing serves all that is destroyed until then, so with a retention of minutes it is made once in that time.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from headrace.broker.adapters.destroyed_objects import DestroyedObjects
from headrace.metadata.follower.client import MetadataClient
from headrace.metadata.images.brokers import adopter

MIN_LISTING_MS: Final = 2_000  # between two listings, while objects wait
_NEVER_MS: Final = -(1 << 62)

# Returns the entry that the newest snapshot in the bucket ends with, or NO_SNAPSHOT.
NewestSnapshot = Callable[[], Awaitable[int]]


class DeletableObjects:
    """One per broker."""

    def __init__(
        self,
        client: MetadataClient,
        *,
        retention_ms: int,
        boot_clock_ms: Callable[[], int],
        newest_snapshot: NewestSnapshot | None,
    ) -> None:
        """Begin to look.

        Args:
            client: the metadata.
            retention_ms: how long an object stays after its destruction, by the wall clock and by the boot clock.
            boot_clock_ms: a clock that cannot be set.
            newest_snapshot: asks the bucket; None: nothing can be rebuilt from this bucket.
        """
        self._client = client
        self._retention_ms = retention_ms
        self._boot_clock_ms = boot_clock_ms
        self._newest_snapshot = newest_snapshot
        self._listed_ms = _NEVER_MS
        self._destroyed = DestroyedObjects(retention_ms)
        self.awaiting_snapshot = 0  # objects whose retention has passed, in the last look

    async def find(self, now_ms: int) -> Sequence[int]:
        """Return the objects that may go at this time of the wall clock; none without a valid lease.

        Raises:
            StorageError: the snapshots in the bucket cannot be listed.
        """
        elapsed_ms = self._boot_clock_ms()
        image = self._client.image
        self._destroyed.note(image.objects.destroyed.keys(), image.index, elapsed_ms)
        over = self._over(now_ms, elapsed_ms)
        waiting: set[int] = set()
        if self._newest_snapshot is not None:
            await self._list_snapshots(self._newest_snapshot, over, elapsed_ms)
            waiting = {it for it in over if self._destroyed.awaits_snapshot(it, elapsed_ms)}
        self.awaiting_snapshot = len(waiting)
        self._client.await_snapshot(self._destroyed.awaited_index(waiting))
        if not self._client.is_lease_valid():  # asked last: the bucket may have taken its time
            return []
        return [it for it in over if it not in waiting]

    def _over(self, now_ms: int, elapsed_ms: int) -> Sequence[int]:
        """Objects that this node maintains and whose retention has passed."""
        image = self._client.image
        by_id = image.objects.by_id
        mine = {
            node_id: adopter(image.brokers, node_id) == self._client.node_id
            for node_id in {by_id[object_id].node_id for object_id in image.objects.destroyed}
        }
        return sorted(
            object_id
            for object_id, destroyed_ms in image.objects.destroyed.items()
            if destroyed_ms + self._retention_ms <= now_ms
            and not self._destroyed.is_retained(object_id, elapsed_ms)
            and mine[by_id[object_id].node_id]
        )

    async def _list_snapshots(
        self, newest_snapshot: NewestSnapshot, over: Sequence[int], elapsed_ms: int
    ) -> None:
        """Ask the bucket, unless the answer is known, or as good as new."""
        is_due = elapsed_ms - self._listed_ms >= MIN_LISTING_MS
        if is_due and not all(map(self._destroyed.is_published, over)):
            newest_index = await newest_snapshot()
            self._listed_ms = elapsed_ms
            self._destroyed.take_listing(newest_index, self._client.image.index)
