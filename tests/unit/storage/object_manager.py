"""The control plane's part in objects, with the rules that its commits are checked by."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from headrace.storage.errors import CommitRefusedError
from headrace.storage.objects.keys import object_key
from headrace.storage.objects.writer import WrittenObject
from headrace.storage.ports import (
    NO_OBJECT_ID,
    ObjectRange,
    ObjectStore,
    ObjectType,
    StreamObject,
    StreamRange,
    StreamSetCommit,
)

CLUSTER = "cluster"


@dataclass
class _Object:
    kind: ObjectType
    size_bytes: int
    ranges: list[StreamRange]


@dataclass
class FakeObjectManager:
    """Objects in memory. Each commit is checked to keep exactly the live offsets."""

    starts: dict[int, int] = field(default_factory=dict)  # live offsets begin here
    committed: dict[int, _Object] = field(default_factory=dict)
    prepared: set[int] = field(default_factory=set)
    destroyed: list[int] = field(default_factory=list)
    forgotten: list[int] = field(default_factory=list)
    commits: int = 0
    # What the next commits raise: before they happen, and after.
    failures: list[Exception] = field(default_factory=list)
    lost_replies: list[Exception] = field(default_factory=list)
    _next_id: int = 0

    async def upload(
        self, store: ObjectStore, written: WrittenObject, kind: ObjectType = ObjectType.STREAM_SET
    ) -> int:
        """Put an object and commit it without checks."""
        object_id = await self.prepare_objects(1, 1000)
        await store.put(object_key(CLUSTER, object_id), written.parts)
        self.prepared.discard(object_id)
        self.committed[object_id] = _Object(kind, written.size_bytes, list(written.ranges))
        return object_id

    async def prepare_objects(self, count: int, ttl_ms: int) -> int:
        first = self._next_id
        self._next_id += count
        self.prepared.update(range(first, self._next_id))
        return first

    async def commit_stream_set_object(self, commit: StreamSetCommit) -> None:
        added: dict[int, _Object] = {}
        if commit.object_id != NO_OBJECT_ID:
            added[commit.object_id] = _Object(
                ObjectType.STREAM_SET, commit.size_bytes, list(commit.ranges)
            )
        elif commit.ranges:
            raise CommitRefusedError("ranges without an object")
        in_set = {it.stream_id for it in commit.ranges}
        for found in commit.stream_objects:
            if found.range.stream_id in in_set:
                raise CommitRefusedError(f"stream {found.range.stream_id} is in both")
            added[found.object_id] = _Object(ObjectType.STREAM, found.size_bytes, [found.range])
        self._swap(added, commit.compacted_object_ids, ObjectType.STREAM_SET)

    async def compact_stream_object(
        self, stream_object: StreamObject, source_object_ids: Sequence[int]
    ) -> None:
        added = {
            stream_object.object_id: _Object(
                ObjectType.STREAM, stream_object.size_bytes, [stream_object.range]
            )
        }
        self._swap(added, source_object_ids, ObjectType.STREAM)

    def get_objects(
        self, stream_id: int, start_offset: int, end_offset: int, limit: int
    ) -> Sequence[ObjectRange]:
        found = [it for it in self._of_stream(stream_id) if it.end_offset > start_offset]
        result: list[ObjectRange] = []
        expected = start_offset
        for item in found:
            if item.start_offset > expected or item.start_offset >= end_offset:
                break
            result.append(item)
            expected = item.end_offset
        return result[:limit]

    def get_stream_set_objects(self) -> Sequence[tuple[int, int, Sequence[StreamRange]]]:
        return [
            (object_id, found.size_bytes, self._live(found))
            for object_id, found in sorted(self.committed.items())
            if found.kind is ObjectType.STREAM_SET
        ]

    def get_stream_objects(self, stream_id: int) -> Sequence[ObjectRange]:
        return [it for it in self._of_stream(stream_id) if it.object_type is ObjectType.STREAM]

    def is_committed(self, object_id: int) -> bool:
        return object_id in self.committed

    async def get_objects_to_delete(self, now_ms: int) -> Sequence[int]:
        return list(self.destroyed)

    async def forget_objects(self, object_ids: Sequence[int]) -> None:
        for object_id in object_ids:
            self.destroyed.remove(object_id)
            self.forgotten.append(object_id)

    def _of_stream(self, stream_id: int) -> list[ObjectRange]:
        return sorted(
            (
                ObjectRange(object_id, found.kind, found.size_bytes, it.start_offset, it.end_offset)
                for object_id, found in self.committed.items()
                for it in self._live(found)
                if it.stream_id == stream_id
            ),
            key=lambda it: it.start_offset,
        )

    def _live(self, found: _Object) -> list[StreamRange]:
        live = []
        for it in found.ranges:
            start = max(it.start_offset, self.starts.get(it.stream_id, 0))
            if start < it.end_offset:
                live.append(StreamRange(it.stream_id, it.epoch, start, it.end_offset))
        return live

    def _swap(self, added: dict[int, _Object], source_ids: Sequence[int], kind: ObjectType) -> None:
        if self.failures:
            raise self.failures.pop(0)
        if added and all(self.committed.get(it) == found for it, found in added.items()):
            return  # a repetition
        for object_id in added:
            if object_id not in self.prepared:
                raise CommitRefusedError(f"object {object_id} is not prepared")
        for object_id in source_ids:
            if object_id not in self.committed or self.committed[object_id].kind is not kind:
                raise CommitRefusedError(f"source {object_id} is not there")
        before = self._offsets(self.committed[it] for it in source_ids)
        if before != self._offsets(added.values()):
            raise CommitRefusedError("not the same offsets")
        for object_id in source_ids:
            del self.committed[object_id]
            self.destroyed.append(object_id)
        self.committed.update(added)
        self.prepared.difference_update(added)
        self.commits += 1
        if self.lost_replies:
            raise self.lost_replies.pop(0)

    def _offsets(self, objects) -> list[tuple[int, int, int]]:
        pieces = sorted(
            (it.stream_id, it.start_offset, it.end_offset)
            for found in objects
            for it in self._live(found)
        )
        joined: list[tuple[int, int, int]] = []
        for stream_id, start, end in pieces:
            if joined and joined[-1][0] == stream_id and start <= joined[-1][2]:
                assert start == joined[-1][2], "offsets in two objects"
                joined[-1] = (stream_id, joined[-1][1], end)
            else:
                joined.append((stream_id, start, end))
        return joined
