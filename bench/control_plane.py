"""Streams and objects in memory: a control plane without cost, for benchmarks of the storage."""

from collections.abc import Sequence
from itertools import chain

from headrace.storage.errors import CommitRefusedError
from headrace.storage.ports import (
    NO_OBJECT_ID,
    ObjectRange,
    ObjectType,
    StreamMetadata,
    StreamObject,
    StreamRange,
    StreamSetCommit,
)


class ControlPlane:
    """StreamManager and ObjectManager of one node. It refuses gaps only."""

    def __init__(self) -> None:
        self.ends: dict[int, int] = {}
        self.epochs: dict[int, int] = {}
        self.stream_sets: dict[int, tuple[int, list[StreamRange]]] = {}
        self.stream_objects: dict[int, tuple[int, StreamRange]] = {}
        self.destroyed: list[int] = []
        self._of_stream: dict[int, dict[int, ObjectRange]] = {}
        self._next_id = 1

    async def open_stream(self, stream_id: int, epoch: int) -> StreamMetadata:
        self.epochs[stream_id] = epoch
        return StreamMetadata(stream_id, epoch, 0, self.ends.setdefault(stream_id, 0))

    async def close_stream(self, stream_id: int, epoch: int, end_offset: int) -> None:
        del self.epochs[stream_id]

    async def trim_stream(self, stream_id: int, epoch: int, new_start_offset: int) -> None:
        raise NotImplementedError

    async def get_opening_streams(self) -> Sequence[StreamMetadata]:
        return [StreamMetadata(it, epoch, 0, self.ends[it]) for it, epoch in self.epochs.items()]

    async def prepare_objects(self, count: int, ttl_ms: int) -> int:
        self._next_id += count
        return self._next_id - count

    async def commit_stream_set_object(self, commit: StreamSetCommit) -> None:
        for object_id in commit.compacted_object_ids:
            self._drop(object_id)
        is_new = not commit.compacted_object_ids
        added = chain(commit.ranges, (it.range for it in commit.stream_objects))
        for covered in added if is_new else ():
            if covered.start_offset != self.ends[covered.stream_id]:
                raise CommitRefusedError(f"{covered} leaves a gap")
            self.ends[covered.stream_id] = covered.end_offset
        if commit.object_id != NO_OBJECT_ID:
            self.stream_sets[commit.object_id] = commit.size_bytes, list(commit.ranges)
            for covered in commit.ranges:
                self._add(commit.object_id, ObjectType.STREAM_SET, commit.size_bytes, covered)
        for found in commit.stream_objects:
            self._add_stream_object(found)

    async def compact_stream_object(
        self, stream_object: StreamObject, source_object_ids: Sequence[int]
    ) -> None:
        for object_id in source_object_ids:
            self._drop(object_id)
        self._add_stream_object(stream_object)

    def get_objects(
        self, stream_id: int, start_offset: int, end_offset: int, limit: int
    ) -> Sequence[ObjectRange]:
        found = [
            it
            for it in self._sorted(stream_id)
            if it.end_offset > start_offset and it.start_offset < end_offset
        ]
        return found[:limit]

    def get_stream_set_objects(self) -> Sequence[tuple[int, int, Sequence[StreamRange]]]:
        return [(it, size, ranges) for it, (size, ranges) in sorted(self.stream_sets.items())]

    def get_stream_objects(self, stream_id: int) -> Sequence[ObjectRange]:
        return [it for it in self._sorted(stream_id) if it.object_type is ObjectType.STREAM]

    def is_committed(self, object_id: int) -> bool:
        return object_id in self.stream_sets or object_id in self.stream_objects

    def get_objects_to_delete(self, now_ms: int) -> Sequence[int]:
        return self.destroyed

    async def forget_objects(self, object_ids: Sequence[int]) -> None:
        self.destroyed = [it for it in self.destroyed if it not in set(object_ids)]

    def _sorted(self, stream_id: int) -> list[ObjectRange]:
        return sorted(self._of_stream.get(stream_id, {}).values(), key=lambda it: it.start_offset)

    def _add(self, object_id: int, kind: ObjectType, size_bytes: int, covered: StreamRange) -> None:
        found = ObjectRange(object_id, kind, size_bytes, covered.start_offset, covered.end_offset)
        self._of_stream.setdefault(covered.stream_id, {})[object_id] = found

    def _add_stream_object(self, found: StreamObject) -> None:
        self.stream_objects[found.object_id] = found.size_bytes, found.range
        self._add(found.object_id, ObjectType.STREAM, found.size_bytes, found.range)

    def _drop(self, object_id: int) -> None:
        self.destroyed.append(object_id)
        if object_id in self.stream_sets:
            covered = self.stream_sets.pop(object_id)[1]
        else:
            covered = [self.stream_objects.pop(object_id)[1]]
        for it in covered:
            del self._of_stream[it.stream_id][object_id]


class Lease:
    """A lease that is always valid."""

    def is_lease_valid(self) -> bool:
        return True
