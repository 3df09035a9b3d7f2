"""Objects in the metadata image, and the effect of their records. Pure.

States: prepared -> committed -> marked destroyed -> removed, or prepared -> marked destroyed ->
removed. Ids are never reused. Invariant: a committed object has at least one range that a live
stream uses (at the end of a batch).
"""

from bisect import insort
from collections.abc import Iterable
from enum import IntEnum

import msgspec

from headrace.invariants import InvariantError, require
from headrace.metadata.images.streams import ObjectRangeImage, StreamsDelta
from headrace.metadata.records.objects import (
    ObjectsDestroyedRecord,
    ObjectsPreparedRecord,
    ObjectsRemovedRecord,
    RecordedRange,
    StreamObjectRecord,
    StreamSetObjectRecord,
)
from headrace.persistent_map import PersistentMap


class ObjectState(IntEnum):
    """The state of an object; a removed object is in no image."""

    PREPARED = 1
    COMMITTED = 2
    MARK_DESTROYED = 3


class ObjectType(IntEnum):
    """The type of an object; numbered as in the object format."""

    UNKNOWN = 0  # prepared, not committed
    STREAM_SET = 1
    STREAM = 2


class ObjectImage(msgspec.Struct, frozen=True, gc=False):
    """One object."""

    object_id: int
    state: ObjectState
    kind: ObjectType
    node_id: int  # who prepared it; once committed: its owner
    size_bytes: int
    order_id: int  # Stream Set Objects: by age of their data
    ranges: tuple[RecordedRange, ...]  # as committed, dead ones included
    live_ranges: int  # how many of them streams use
    prepared_ms: int  # while prepared, else 0
    expires_ms: int  # while prepared, else 0
    committed_ms: int  # 0: never committed
    destroyed_ms: int  # 0: not marked


Objects = PersistentMap[int, ObjectImage]
# Object id -> when it expires (prepared), or when it was marked (destroyed).
Deadlines = PersistentMap[int, int]
# Node id -> its committed Stream Set Objects as (order id, object id), oldest data first.
StreamSetObjects = PersistentMap[int, tuple[tuple[int, int], ...]]


class ObjectsImage(msgspec.Struct, frozen=True, gc=False):
    """All objects, and the indexes by which they are found."""

    by_id: Objects
    prepared: Deadlines
    destroyed: Deadlines
    stream_sets: StreamSetObjects
    next_object_id: int


NO_OBJECTS = ObjectsImage(PersistentMap(), PersistentMap(), PersistentMap(), PersistentMap(), 0)


class ObjectsDelta:
    """Replays the records about objects on top of an image, together with the delta of the streams."""

    def __init__(self, image: ObjectsImage, streams: StreamsDelta) -> None:
        self._old = image
        self._streams = streams
        self._by_id = image.by_id.mutate()
        self._prepared = image.prepared.mutate()
        self._destroyed = image.destroyed.mutate()
        self._stream_sets = image.stream_sets
        self._next_object_id = image.next_object_id
        self._changed = False
        self._check_live: set[int] = set()

    def prepare(self, record: ObjectsPreparedRecord) -> None:
        """Reserve ids."""
        require(record.first_object_id >= self._next_object_id, "object ids are never reused")
        require(record.count > 0)
        self._next_object_id = record.first_object_id + record.count
        for object_id in range(record.first_object_id, self._next_object_id):
            self._prepared[object_id] = record.expires_ms
            self._set(
                ObjectImage(
                    object_id,
                    ObjectState.PREPARED,
                    ObjectType.UNKNOWN,
                    record.node_id,
                    0,
                    0,
                    (),
                    0,
                    record.prepared_ms,
                    record.expires_ms,
                    0,
                    0,
                )
            )

    def commit_stream_set(self, record: StreamSetObjectRecord) -> None:
        """Commit a Stream Set Object."""
        self._commit(ObjectType.STREAM_SET, record, record.order_id, record.ranges)
        node_id = record.node_id
        ordered = list(self._stream_sets.get(node_id, ()))
        insort(ordered, (record.order_id, record.object_id))
        self._stream_sets = self._stream_sets.set(node_id, tuple(ordered))

    def commit_stream(self, record: StreamObjectRecord) -> None:
        """Commit a Stream Object."""
        self._commit(ObjectType.STREAM, record, record.object_id, (record.range,))

    def mark_destroyed(self, record: ObjectsDestroyedRecord) -> None:
        """Mark objects destroyed, and remove their ranges from the streams that still use them."""
        for object_id in record.object_ids:
            old = self._existing(object_id)
            require(old.state != ObjectState.MARK_DESTROYED, "an object is destroyed once")
            if old.live_ranges:
                for stream_id in {it.stream_id for it in old.ranges}:
                    self._streams.detach(object_id, stream_id)
            if old.state == ObjectState.PREPARED:
                del self._prepared[object_id]
            elif old.kind == ObjectType.STREAM_SET:
                self._forget_stream_set(old)
            self._destroyed[object_id] = record.destroyed_ms
            self._set(
                msgspec.structs.replace(
                    old,
                    state=ObjectState.MARK_DESTROYED,
                    live_ranges=0,
                    prepared_ms=0,
                    expires_ms=0,
                    destroyed_ms=record.destroyed_ms,
                )
            )

    def remove(self, record: ObjectsRemovedRecord) -> None:
        """Remove objects that were deleted from the bucket."""
        for object_id in record.object_ids:
            old = self._existing(object_id)
            require(old.state == ObjectState.MARK_DESTROYED, "only destroyed objects are removed")
            self._changed = True
            del self._by_id[object_id]
            del self._destroyed[object_id]

    def release(self, dropped: Iterable[ObjectRangeImage]) -> None:
        """Record that a stream no longer uses these ranges."""
        for piece in dropped:
            old = self._existing(piece.object_id)
            require(old.live_ranges > 0)
            self._set(msgspec.structs.replace(old, live_ranges=old.live_ranges - 1))
            self._check_live.add(piece.object_id)

    def raise_next_id(self, next_object_id: int) -> None:
        """Never assign ids below this one."""
        require(next_object_id >= self._next_object_id, "object ids are never reused")
        self._changed = self._changed or next_object_id > self._next_object_id
        self._next_object_id = next_object_id

    def finish(self) -> ObjectsImage:
        """Return the new image; the old one when nothing has changed."""
        if not self._changed:
            return self._old
        for object_id in sorted(self._check_live):
            found = self._by_id.get(object_id)
            require(
                found is None or found.state != ObjectState.COMMITTED or found.live_ranges,
                f"some stream uses the committed object {object_id}",
            )
        return ObjectsImage(
            self._by_id.finish(),
            self._prepared.finish(),
            self._destroyed.finish(),
            self._stream_sets,
            self._next_object_id,
        )

    def _commit(
        self,
        kind: ObjectType,
        record: StreamSetObjectRecord | StreamObjectRecord,
        order_id: int,
        ranges: tuple[RecordedRange, ...],
    ) -> None:
        object_id = record.object_id
        old = self._existing(object_id)
        require(old.state == ObjectState.PREPARED, "only prepared objects are committed")
        live = 0
        for piece in ranges:
            live += self._streams.attach(object_id, piece)
        del self._prepared[object_id]
        self._check_live.add(object_id)
        self._set(
            ObjectImage(
                object_id,
                ObjectState.COMMITTED,
                kind,
                record.node_id,
                record.size_bytes,
                order_id,
                ranges,
                live,
                0,
                0,
                record.committed_ms,
                0,
            )
        )

    def _forget_stream_set(self, old: ObjectImage) -> None:
        ordered = tuple(it for it in self._stream_sets[old.node_id] if it[1] != old.object_id)
        if ordered:
            self._stream_sets = self._stream_sets.set(old.node_id, ordered)
        else:
            self._stream_sets = self._stream_sets.delete(old.node_id)

    def _existing(self, object_id: int) -> ObjectImage:
        found = self._by_id.get(object_id)
        if found is None:
            raise InvariantError(f"object {object_id} exists")
        return found

    def _set(self, image: ObjectImage) -> None:
        self._changed = True
        self._by_id[image.object_id] = image
