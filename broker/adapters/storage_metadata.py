"""The control plane of the stream engine, on top of the metadata client.

Implements `headrace.storage.ports.StreamManager`, `ObjectManager` and `Lease`. It decides nothing: it translates
types, and maps errors to what the engine should do about them.

| controller                                      | engine                 | because                  |
|-------------------------------------------------|------------------------|--------------------------|
| node fenced; epoch of node or stream is over    | FencedError            | a newer owner exists     |
| stream removed                                  | FencedError            | it has no owner any more |
| open elsewhere; not yet at that epoch; no       | RetriableStorageError  | the state is temporary   |
| answer                                          |                        |                          |
| object not prepared (any more)                  | ObjectNotPreparedError | upload it under a new id |
| any other refusal                               | CommitRefusedError     | a retry cannot succeed   |
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from headrace.broker.adapters.deletable_objects import DeletableObjects, NewestSnapshot
from headrace.broker.adapters.storage_requests import (
    commit_request,
    committed_object,
    open_streams_of,
    prepare_objects,
    require_done,
    send,
)
from headrace.broker.adapters.stream_batches import StreamBatches
from headrace.known_objects import known_bucket
from headrace.metadata.follower.client import MetadataClient
from headrace.metadata.image import ObjectImage
from headrace.metadata.images.brokers import active_brokers, adopter
from headrace.metadata.images.objects import ObjectState
from headrace.metadata.images.objects import ObjectType as MetadataObjectType
from headrace.metadata.images.streams import StreamImage, holds_object
from headrace.metadata.records import objects as records
from headrace.metadata.rpc.requests import (
    CloseStreamBatch,
    CompactStreamObject,
    ForgetObjects,
    OpenStreamBatch,
    StreamToClose,
    StreamToOpen,
    TrimStream,
)
from headrace.metadata.rpc.responses import (
    Done,
    StreamOutcome,
    StreamsClosed,
    StreamsOpened,
)
from headrace.storage.audit.comparison import KnownBucket
from headrace.storage.ports import (
    ObjectRange,
    ObjectType,
    StreamMetadata,
    StreamObject,
    StreamRange,
    StreamSetCommit,
)

_OBJECT_TYPES: Final = {
    MetadataObjectType.STREAM_SET: ObjectType.STREAM_SET,
    MetadataObjectType.STREAM: ObjectType.STREAM,
}


class StorageMetadata:
    """The control plane of one node's stream engine."""

    def __init__(
        self,
        client: MetadataClient,
        *,
        object_delete_retention_ms: int,
        boot_clock_ms: Callable[[], int],
        newest_snapshot: NewestSnapshot | None,
    ) -> None:
        """Adapt a client; see `DeletableObjects` for the rest."""
        self._client = client
        self.deletable = DeletableObjects(
            client,
            retention_ms=object_delete_retention_ms,
            boot_clock_ms=boot_clock_ms,
            newest_snapshot=newest_snapshot,
        )
        self._opening = StreamBatches(self._open_streams)
        self._closing = StreamBatches(self._close_streams)
        self.is_lease_valid = client.is_lease_valid  # called for every batch that is acknowledged

    async def open_stream(self, stream_id: int, epoch: int) -> StreamMetadata:
        """Open a stream at an epoch.

        What is asked for while a request is under way shares the next one.

        Raises:
            FencedError: the partition has another owner or a newer epoch, or was removed.
            RetriableStorageError: another node still has it open, or no controller answers.
        """
        opened = await self._opening.ask(StreamToOpen(stream_id, epoch))
        require_done(opened)
        return StreamMetadata(stream_id, epoch, opened.start_offset, opened.end_offset)

    async def _open_streams(self, streams: Sequence[StreamToOpen]) -> Sequence[StreamOutcome]:
        request = OpenStreamBatch(*self._sender(), tuple(streams))
        return (await send(self._client, request, StreamsOpened)).outcomes

    async def close_stream(self, stream_id: int, epoch: int, end_offset: int) -> None:
        """Close a stream whose records are all committed; no effect if it is closed or removed.

        What is asked for while a request is under way shares the next one.

        Raises:
            FencedError: it has a newer owner.
            CommitRefusedError: it is not committed up to `end_offset`.
            RetriableStorageError: no controller answers.
        """
        require_done(await self._closing.ask(StreamToClose(stream_id, epoch, end_offset)))

    async def _close_streams(self, streams: Sequence[StreamToClose]) -> Sequence[StreamOutcome]:
        sender = self._sender()
        request = CloseStreamBatch(*sender, tuple(streams), *sender)
        return (await send(self._client, request, StreamsClosed)).outcomes

    async def trim_stream(self, stream_id: int, epoch: int, new_start_offset: int) -> None:
        """Move a stream's start up.

        Raises:
            FencedError: it has a newer owner, or was removed.
            RetriableStorageError: no controller answers.
        """
        await send(
            self._client, TrimStream(*self._sender(), stream_id, epoch, new_start_offset), Done
        )

    async def get_opening_streams(self) -> Sequence[StreamMetadata]:
        """Streams that this node has open, including those that its previous process opened.

        The local image includes this process's registration, so an older process cannot change them any more.
        """
        return open_streams_of(self._client.image, self._client.node_id)

    async def prepare_objects(self, count: int, ttl_ms: int) -> int:
        """Reserve consecutive object ids; return the first.

        Raises:
            FencedError: this process must stop.
            RetriableStorageError: no controller answers.
        """
        return await prepare_objects(self._client, count, ttl_ms)

    async def commit_stream_set_object(self, commit: StreamSetCommit) -> None:
        """Commit an upload or a compaction; a repetition succeeds.

        Raises:
            ObjectNotPreparedError: an object has expired; this commit has not taken effect.
            CommitRefusedError: it does not fit what is committed.
            FencedError: one of the streams has a newer owner, or this process must stop.
            RetriableStorageError: no controller answers; the commit may have taken effect.
        """
        request = commit_request(self._client, commit, *self._sender())
        await send(self._client, request, Done)

    async def compact_stream_object(
        self, stream_object: StreamObject, source_object_ids: Sequence[int]
    ) -> None:
        """Replace Stream Objects by one; a repetition succeeds.

        Raises:
            ObjectNotPreparedError: the object has expired.
            CommitRefusedError: it does not hold the same offsets.
            FencedError: the stream has a newer owner, or this process must stop.
            RetriableStorageError: no controller answers; the swap may have taken effect.
        """
        request = CompactStreamObject(
            *self._sender(), committed_object(stream_object), tuple(source_object_ids)
        )
        await send(self._client, request, Done)

    def get_objects(
        self, stream_id: int, start_offset: int, end_offset: int, limit: int
    ) -> Sequence[ObjectRange]:
        """From the newest image, in offset order; empty when `start_offset` is not committed."""
        image = self._client.image
        by_id = image.objects.by_id
        return [
            _object_range(by_id[piece.object_id], piece.start_offset, piece.end_offset)
            for piece in image.object_ranges(stream_id, start_offset, end_offset, limit)
        ]

    def get_stream_set_objects(self) -> Sequence[tuple[int, int, Sequence[StreamRange]]]:
        """Stream Set Objects that this node maintains, oldest data first, with their live ranges.

        They are its own and those that it adopts: see `headrace.metadata.images.brokers.adopter`.
        """
        image = self._client.image
        me = self._client.node_id
        ordered: list[tuple[int, int]] = []
        for node_id, of_node in image.objects.stream_sets.items():
            if node_id == me or adopter(image.brokers, node_id) == me:
                ordered += of_node
        found = []
        for _, object_id in sorted(ordered):
            stream_set = image.objects.by_id[object_id]
            ranges = [_live_range(image.streams, object_id, it) for it in stream_set.ranges]
            live = [it for it in ranges if it is not None]
            found.append((object_id, stream_set.size_bytes, live))
        return found

    def is_committed(self, object_id: int) -> bool:
        """Whether an object is in use, by the newest image."""
        found = self._client.image.objects.by_id.get(object_id)
        return found is not None and found.state == ObjectState.COMMITTED

    def get_stream_objects(self, stream_id: int) -> Sequence[ObjectRange]:
        """The Stream Objects of a stream, in offset order, from the start of the stream on."""
        image = self._client.image
        stream = image.streams.get(stream_id)
        if stream is None:
            return []
        by_id = image.objects.by_id
        start_offset = stream.start_offset
        return [
            _object_range(
                by_id[piece.object_id], max(piece.start_offset, start_offset), piece.end_offset
            )
            for piece in stream.objects
            if by_id[piece.object_id].kind == MetadataObjectType.STREAM
        ]

    def get_adopted_streams(self) -> Sequence[tuple[int, int]]:
        """(stream id, epoch) of streams whose last writer has left the cluster, and which this node adopts."""
        image = self._client.image
        me = self._client.node_id
        left = {
            node_id
            for node_id, broker in image.brokers.items()
            if broker.epoch_ended and adopter(image.brokers, node_id) == me
        }
        if not left:
            return []
        return [(it.stream_id, it.epoch) for it in image.streams.values() if it.node_id in left]

    async def get_objects_to_delete(self, now_ms: int) -> Sequence[int]:
        """Destroyed objects whose retention has passed, among those that this node maintains.

        Objects that were prepared and have expired are among the destroyed: the controller marks them first,
        so that they cannot be committed any more. None of them is in use in metadata that could be rebuilt from the
        bucket. Without a valid lease the list is empty: the metadata may have been rebuilt from an older snapshot,
        in which objects that are destroyed here are live.
        The wall clock alone does not count, since it can be set forward: this process must have seen an object
        destroyed for that long as well. So a start begins the retention again.

        Raises:
            StorageError: the snapshots in the bucket cannot be listed.
        """
        return await self.deletable.find(now_ms)

    def is_sweeper(self) -> bool:
        """Whether this node sweeps the bucket for leftovers: the active node with the lowest id does."""
        first = active_brokers(self._client.image.brokers)[:1]
        return self.is_lease_valid() and first == [self._client.node_id]

    def known_bucket(self, object_ids: Iterable[int]) -> KnownBucket:
        """Return these objects as the newest image knows them; `object_ids` may hold unknown ids."""
        return known_bucket(self._client.image, self._client.image.cluster_id, object_ids)

    async def forget_objects(self, object_ids: Sequence[int]) -> None:
        """Record that these are deleted from the bucket.

        Raises:
            FencedError: this process must stop.
            RetriableStorageError: no controller answers.
        """
        await send(self._client, ForgetObjects(*self._sender(), tuple(object_ids)), Done)

    def _sender(self) -> tuple[int, int]:
        return self._client.node_id, self._client.node_epoch


def _live_range(
    streams: Mapping[int, StreamImage], object_id: int, piece: records.RecordedRange
) -> StreamRange | None:
    """What is not trimmed of a range; None when nothing is left."""
    stream = streams.get(piece.stream_id)
    if stream is None or not holds_object(stream, object_id, piece.start_offset, piece.end_offset):
        return None
    start_offset = max(piece.start_offset, stream.start_offset)
    return StreamRange(piece.stream_id, piece.epoch, start_offset, piece.end_offset)


def _object_range(found: ObjectImage, start_offset: int, end_offset: int) -> ObjectRange:
    return ObjectRange(
        found.object_id, _OBJECT_TYPES[found.kind], found.size_bytes, start_offset, end_offset
    )
