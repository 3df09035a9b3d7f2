"""Which destroyed objects may be deleted: after a time, and when no rebuild could want them. Pure.

Metadata that were rebuilt name every object that the newest snapshot in the bucket names. So an object may go once
that snapshot has its destruction. Until then metadata that were rebuilt would miss it, and its records.

The newest one counts, not the oldest that is kept: nothing is published while nothing changes, so in a quiet cluster
the older ones, and what was destroyed after them, would stay for ever.
"""

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from headrace.metadata.published import NO_SNAPSHOT

# Where the bucket has no snapshot nothing can be rebuilt, but the first one may be on its way, made before the
# destruction. It is given up long before this (`headrace.metadata.leader.publishing.MAX_PUBLISH_S`).
FIRST_SNAPSHOT_MS: Final = 600_000
NOT_AWAITED: Final = -1
_NOTHING_PROVEN: Final = 0  # as an entry: nothing was destroyed by then


class _Seen(NamedTuple):
    """When an object was first seen destroyed."""

    elapsed_ms: int  # by a clock that cannot be set
    metadata_index: int  # its destruction is not above this entry


class DestroyedObjects:
    """What this process has seen; holds as many times as there are destroyed objects in the metadata."""

    def __init__(self, retention_ms: int) -> None:
        self._retention_ms = retention_ms
        self._seen: dict[int, _Seen] = {}
        self._newest_index = _NOTHING_PROVEN

    def note(self, destroyed: Collection[int], index: int, elapsed_ms: int) -> None:
        """Take in which objects are destroyed in the metadata of this index; the others are forgotten."""
        seen, now = self._seen, _Seen(elapsed_ms, index)
        self._seen = {it: seen.get(it, now) for it in destroyed}

    def is_retained(self, object_id: int, elapsed_ms: int) -> bool:
        """Whether it has not been seen destroyed for the retention; it has been noted."""
        return elapsed_ms - self._seen[object_id].elapsed_ms < self._retention_ms

    def take_listing(self, newest_index: int, metadata_index: int) -> None:
        """Take in the newest snapshot of a listing.

        Args:
            newest_index: the entry that it ends with, or NO_SNAPSHOT.
            metadata_index: of our metadata. A snapshot above it is newer than what we know, or of a history that
                was lost: it proves nothing about what we know as destroyed.
        """
        is_known = newest_index <= metadata_index
        self._newest_index = newest_index if is_known else _NOTHING_PROVEN

    def is_published(self, object_id: int) -> bool:
        """Whether the newest snapshot has its destruction; it has been noted. Later ones have it as well."""
        return self._newest_index >= self._seen[object_id].metadata_index

    def awaits_snapshot(self, object_id: int, elapsed_ms: int) -> bool:
        """Whether metadata that are rebuilt might name it, by a listing of now; it has been noted."""
        if self._newest_index == NO_SNAPSHOT:
            return elapsed_ms - self._seen[object_id].elapsed_ms < FIRST_SNAPSHOT_MS
        return not self.is_published(object_id)

    def awaited_index(self, object_ids: Iterable[int]) -> int:
        """The entry that a snapshot must have for all of these to go; NOT_AWAITED for none."""
        return max((self._seen[it].metadata_index for it in object_ids), default=NOT_AWAITED)
