"""The control plane in memory: the real adapter over the controller's pure rules, without Raft, network or disk.

A change is decided, its records are encoded, decoded and replayed as the log does it, and the answer comes in a later
turn of the loop. What a network does to requests and answers is told by `Faults`.
`tests/contracts/test_control_plane_contract.py` holds this against a real controller.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from headrace.broker.adapters.storage_metadata import StorageMetadata
from headrace.metadata.errors import NodeFencedError, RefusedError
from headrace.metadata.follower.client import MetadataClient
from headrace.metadata.follower.session import FENCED
from headrace.metadata.image import MetadataImage, ObjectImage
from headrace.metadata.images.objects import ObjectState
from headrace.metadata.levels import level_of, require_written
from headrace.metadata.published import NO_SNAPSHOT
from headrace.metadata.records.topics import PartitionChangeRecord
from headrace.metadata.rpc.requests import (
    REQUEST_LEVELS,
    CommitStreamSetObject,
    CompactStreamObject,
    ForgetObjects,
    NodeMutation,
)
from headrace.storage.objects.keys import object_key
from headrace.storage.objects.writer import WrittenObject
from headrace.storage.ports import (
    NO_OBJECT_ID,
    ObjectStore,
    ObjectType,
    StreamObject,
    StreamRange,
    StreamSetCommit,
)
from tests.unit.metadata.pure_controller import CLUSTER_ID, PureController

FIRST_MS = 1_000_000
PARTITIONS_AT_ONCE = 16
PREPARE_TTL_MS = 3_600_000


def loop_ms() -> int:
    """The loop's time as a wall clock."""
    return FIRST_MS + int(asyncio.get_running_loop().time() * 1000)


@dataclass
class Faults:
    """What happens to the next changes of one kind; of each list, one item a change, None for nothing."""

    before: list[Exception | None] = field(default_factory=list)  # instead of the change
    after: list[Exception | None] = field(default_factory=list)  # the answer is lost
    gate: asyncio.Event | None = None  # the request is on its way until then
    answer_gate: asyncio.Event | None = None  # the answer


class MemoryClient(MetadataClient):
    """A broker's client whose changes take effect in memory; everything on top of `change` is the real one's."""

    def __init__(self, controller: PureController, node_id: int = 1, clock_ms=loop_ms) -> None:
        """Act for the newest registration of a node; the real client's parts are not there."""
        self.controller = controller
        self._node_id = node_id
        self._node_epoch = controller.epochs[node_id]
        self._clock_ms = clock_ms
        self._is_fenced = False
        self.lease_is_held = True
        self.is_lease_valid = lambda: self.lease_is_held and not self._is_fenced
        self.awaited_snapshot = NO_SNAPSHOT
        self.faults: defaultdict[type, Faults] = defaultdict(Faults)
        # Called with a request and the image before, when it has changed the metadata.
        self.observers: list[Callable[[NodeMutation, MetadataImage], None]] = []

    @property
    def image(self) -> MetadataImage:
        return self.controller.image

    @property
    def node_id(self) -> int:
        return self._node_id

    @property
    def node_epoch(self) -> int:
        return self._node_epoch

    @property
    def fenced(self) -> bool:
        return self._is_fenced

    def await_snapshot(self, index: int) -> None:
        self.awaited_snapshot = index

    async def serve(self) -> None:
        self.controller.unfence(self._node_id)

    async def _wait_until(self, satisfied: Callable[[MetadataImage], bool]) -> None:
        assert satisfied(self.image), "nothing else changes it"

    async def change(self, request, answered):
        faults = self.faults[type(request)]
        self._require_unfenced()
        require_written(type(request), REQUEST_LEVELS, level_of(self.image.features))
        await asyncio.sleep(0)
        if faults.gate is not None:
            await faults.gate.wait()
        raise_next(faults.before)
        before = self.image
        answer = self._decide(request)
        if self.image is not before:
            for observer in self.observers:
                observer(request, before)
        if faults.answer_gate is not None:
            await faults.answer_gate.wait()
        raise_next(faults.after)
        assert isinstance(answer, answered)
        return answer

    def _decide(self, request):
        self.controller.now_ms = self._clock_ms()
        self.controller.expire()
        try:
            return self.controller.do(request)
        except RefusedError as error:
            if isinstance(request, NodeMutation) and error.code in FENCED:
                self._is_fenced = True
                self._require_unfenced()
            raise

    def _require_unfenced(self) -> None:
        if self._is_fenced:
            raise NodeFencedError("a newer registration of this node exists")


class ControlPlane(StorageMetadata):
    """The adapter of one node, with a controller of its own.

    Streams are those of topics that `lead` creates: whichever are needed.
    """

    def __init__(
        self, *, controller: PureController | None = None, clock_ms=loop_ms, retention_ms: int = 0
    ) -> None:
        """Register node 1, unless a controller is given that knows it."""
        if controller is None:
            controller = PureController()
            controller.register()
        self.controller = controller
        self.client = MemoryClient(controller, clock_ms=clock_ms)
        self.faults = self.client.faults
        self.forgotten: list[int] = []
        self.compactions = 0
        self.client.observers.append(self._note)
        super().__init__(
            self.client,
            object_delete_retention_ms=retention_ms,
            boot_clock_ms=clock_ms,
            newest_snapshot=None,
        )

    @property
    def image(self) -> MetadataImage:
        return self.controller.image

    def lead(self, stream_id: int, epoch: int, node_id: int = 1) -> None:
        """Have a node lead the partition of a stream at an epoch, or at the newer one that it has."""
        while stream_id >= self.image.next_stream_id:
            self.controller.create(f"topic-{len(self.image.topics)}", PARTITIONS_AT_ONCE)
        stream = self.image.streams[stream_id]
        partition = self.image.topics[stream.topic_id].partitions[stream.partition]
        if partition.leader_epoch < epoch:
            change = PartitionChangeRecord(stream.topic_id, stream.partition, node_id, epoch)
            self.controller.apply(change)

    async def open_stream(self, stream_id: int, epoch: int):
        """Open a stream that this node leads at this epoch."""
        self.lead(stream_id, epoch)
        return await super().open_stream(stream_id, epoch)

    async def upload(
        self,
        store: ObjectStore,
        written: WrittenObject,
        kind: ObjectType = ObjectType.STREAM_SET,
        *,
        ranges: Sequence[StreamRange] | None = None,
    ) -> int:
        """Put an object and commit it, with other `ranges` than it has if they are given.

        Its streams are opened. Where one begins behind the end of its stream, everything before is trimmed.
        """
        ranges = written.ranges if ranges is None else ranges
        for covered in ranges:
            await self._begin_at(covered)
        object_id = await self.prepare_objects(1, PREPARE_TTL_MS)
        await store.put(object_key(CLUSTER_ID, object_id), written.parts)
        if kind is ObjectType.STREAM_SET:
            commit = StreamSetCommit(object_id, written.size_bytes, ranges, ())
        else:
            (covered,) = ranges
            alone = StreamObject(object_id, written.size_bytes, covered)
            commit = StreamSetCommit(NO_OBJECT_ID, 0, (), (alone,))
        await self.commit_stream_set_object(commit)
        return object_id

    async def _begin_at(self, covered: StreamRange) -> None:
        stream_id, epoch, start_offset, _ = covered
        stream = self.image.streams.get(stream_id)
        if stream is None or stream.epoch < epoch:
            await self.open_stream(stream_id, epoch)
        end_offset = self.end(stream_id)
        if start_offset > end_offset:
            object_id = await self.prepare_objects(1, PREPARE_TTL_MS)
            before = StreamObject(
                object_id, 1, StreamRange(stream_id, epoch, end_offset, start_offset)
            )
            await self.commit_stream_set_object(StreamSetCommit(NO_OBJECT_ID, 0, (), (before,)))
            await self.trim_stream(stream_id, epoch, start_offset)

    async def trim_all(self, *stream_ids: int) -> None:
        """Trim all that is committed of streams."""
        for stream_id in stream_ids:
            await self.trim_stream(
                stream_id, self.image.streams[stream_id].epoch, self.end(stream_id)
            )

    def _note(self, request: NodeMutation, before: MetadataImage) -> None:
        del before
        match request:
            case ForgetObjects():
                self.forgotten += request.object_ids
            case CompactStreamObject():
                self.compactions += 1
            case CommitStreamSetObject() if request.compacted_object_ids:
                self.compactions += 1

    def fence(self) -> None:
        """Register another process of this node."""
        self.controller.register()

    @property
    def committed(self) -> dict[int, ObjectImage]:
        """Objects in use, by id."""
        found = self.image.objects.by_id.items()
        return {it: found for it, found in found if found.state == ObjectState.COMMITTED}

    @property
    def destroyed(self) -> list[int]:
        """Ids of objects that are in use no more, and not forgotten."""
        return sorted(self.image.objects.destroyed)

    @property
    def prepared(self) -> list[int]:
        """Ids of objects that may still be committed."""
        return sorted(self.image.objects.prepared)

    def end(self, stream_id: int) -> int:
        """How far a stream is committed."""
        return self.image.streams[stream_id].end_offset


def raise_next(faults: Sequence[Exception | None]) -> None:
    """Raise the first of the faults, if there is one."""
    if faults and (fault := faults.pop(0)) is not None:
        raise fault
