"""Streams in the metadata image, and the effect of their records. Pure.

Invariants, checked as records are replayed (for objects that a compaction replaces: at the end of
its batch):
  * `start_offset <= end_offset`; both only grow;
  * `objects` are sorted, without gap or overlap, hold `start_offset` and end at `end_offset`;
  * epochs only grow; the epochs of ranges grow strictly.
"""

from uuid import UUID

import msgspec

from headrace.invariants import InvariantError, require
from headrace.metadata.records.objects import RecordedRange
from headrace.metadata.records.streams import (
    RangeRecord,
    RemoveStreamRecord,
    StreamRecord,
    StreamState,
    StreamStateRecord,
    StreamTrimmedRecord,
)
from headrace.persistent_map import MapChanges, PersistentMap

NO_NODE = -1
NO_EPOCH = -1


class ObjectRangeImage(msgspec.Struct, frozen=True, gc=False):
    """This object holds offsets `[start_offset, end_offset)` of the stream."""

    object_id: int
    start_offset: int
    end_offset: int


class RangeImage(msgspec.Struct, frozen=True, gc=False):
    """The offsets that one node wrote at one epoch: up to the next range's start, or the stream's end."""

    range_index: int
    epoch: int
    node_id: int
    start_offset: int


class StreamImage(msgspec.Struct, frozen=True, gc=False):
    """One stream; `[start_offset, end_offset)` is committed."""

    stream_id: int
    topic_id: UUID
    partition: int
    epoch: int  # of the last opening; NO_EPOCH before the first
    node_id: int  # who opened it last; NO_NODE before
    state: StreamState
    start_offset: int
    end_offset: int
    ranges: tuple[RangeImage, ...]
    objects: tuple[ObjectRangeImage, ...]

    @property
    def opened(self) -> bool:
        """Whether a node has it open."""
        return self.state == StreamState.OPENED


Streams = PersistentMap[int, StreamImage]


def object_index(stream: StreamImage, offset: int) -> int:
    """Index of the first object that ends above `offset`; the number of objects when none does."""
    low, high = 0, len(stream.objects)
    while low < high:
        middle = (low + high) // 2
        if stream.objects[middle].end_offset <= offset:
            low = middle + 1
        else:
            high = middle
    return low


def holds_object(stream: StreamImage, object_id: int, start_offset: int, end_offset: int) -> bool:
    """Whether exactly this range of the object is a part of the stream."""
    index = object_index(stream, start_offset)
    return index < len(stream.objects) and stream.objects[index] == ObjectRangeImage(
        object_id, start_offset, end_offset
    )


class StreamsDelta:
    """Replays the records about streams on top of an image."""

    def __init__(self, streams: Streams) -> None:
        self._old = streams
        self._streams: MapChanges[int, StreamImage] | None = None
        self._rearranged: set[int] = set()  # their coverage is checked by `finish`

    def get(self, stream_id: int) -> StreamImage | None:
        """The stream as replayed so far."""
        return (self._old if self._streams is None else self._streams).get(stream_id)

    def create(self, record: StreamRecord) -> None:
        """Add a stream."""
        require(self.get(record.stream_id) is None, "stream ids are never reused")
        require(0 <= record.start_offset <= record.end_offset)
        self._set(
            StreamImage(
                record.stream_id,
                record.topic_id,
                record.partition,
                record.epoch,
                NO_NODE,
                StreamState.CLOSED,
                record.start_offset,
                record.end_offset,
                (),
                (),
            )
        )
        if record.end_offset > record.start_offset:
            self._rearranged.add(record.stream_id)

    def start_range(self, record: RangeRecord) -> None:
        """Record who writes from here on; an empty last range is replaced."""
        stream = self._existing(record.stream_id)
        ranges = stream.ranges
        if ranges:
            last = ranges[-1]
            require(record.epoch > last.epoch, "a range's epoch is above those before it")
            require(record.range_index > last.range_index, "range indexes only grow")
            require(record.start_offset >= last.start_offset, "ranges are in order")
            if record.start_offset == last.start_offset:
                ranges = ranges[:-1]
        ranges = (
            *ranges,
            RangeImage(record.range_index, record.epoch, record.node_id, record.start_offset),
        )
        self._set(msgspec.structs.replace(stream, ranges=ranges))

    def change_state(self, record: StreamStateRecord) -> None:
        """Open or close a stream."""
        stream = self._existing(record.stream_id)
        require(record.epoch >= stream.epoch, "stream epochs only grow")
        self._set(
            msgspec.structs.replace(
                stream, epoch=record.epoch, state=record.state, node_id=record.node_id
            )
        )

    def trim(self, record: StreamTrimmedRecord) -> tuple[ObjectRangeImage, ...]:
        """Raise the start offset; return the object ranges that no longer belong to the stream."""
        stream = self._existing(record.stream_id)
        start = record.start_offset
        require(stream.start_offset <= start <= stream.end_offset, "a stream's start only grows")
        kept = object_index(stream, start)
        ranges = stream.ranges
        obsolete = 0
        while obsolete + 1 < len(ranges) and ranges[obsolete + 1].start_offset <= start:
            obsolete += 1
        self._set(
            msgspec.structs.replace(
                stream,
                start_offset=start,
                ranges=ranges[obsolete:],
                objects=stream.objects[kept:],
            )
        )
        return stream.objects[:kept]

    def remove(self, record: RemoveStreamRecord) -> tuple[ObjectRangeImage, ...]:
        """Remove a stream; return the object ranges that belonged to it."""
        stream = self._existing(record.stream_id)
        del self._mutation()[record.stream_id]
        self._rearranged.discard(record.stream_id)
        return stream.objects

    def attach(self, object_id: int, piece: RecordedRange) -> bool:
        """Add a range of an object to its stream; False when all of it is dead already."""
        stream = self.get(piece.stream_id)
        if stream is None or piece.end_offset <= stream.start_offset:
            return False
        added = ObjectRangeImage(object_id, piece.start_offset, piece.end_offset)
        end_offset = stream.end_offset
        if piece.end_offset > end_offset:
            require(
                piece.start_offset == end_offset,
                f"object {object_id} continues stream {piece.stream_id} at {end_offset}",
            )
            objects = (*stream.objects, added)
            end_offset = piece.end_offset
        else:
            index = object_index(stream, piece.start_offset)
            objects = (*stream.objects[:index], added, *stream.objects[index:])
            self._rearranged.add(piece.stream_id)
        self._set(
            StreamImage(
                stream.stream_id,
                stream.topic_id,
                stream.partition,
                stream.epoch,
                stream.node_id,
                stream.state,
                stream.start_offset,
                end_offset,
                stream.ranges,
                objects,
            )
        )
        return True

    def detach(self, object_id: int, stream_id: int) -> None:
        """Remove an object from a stream; another must cover its offsets at the end of the batch."""
        stream = self.get(stream_id)
        if stream is None:
            return
        objects = tuple(it for it in stream.objects if it.object_id != object_id)
        if len(objects) != len(stream.objects):
            self._set(msgspec.structs.replace(stream, objects=objects))
            self._rearranged.add(stream_id)

    def finish(self) -> Streams:
        """Return the new map; the old one when nothing has changed."""
        if self._streams is None:
            return self._old
        for stream_id in sorted(self._rearranged):
            check_coverage(self._existing(stream_id))
        return self._streams.finish()

    def _existing(self, stream_id: int) -> StreamImage:
        # Not by `get`, nor `_set` by `_mutation`: a start with very many streams calls these most.
        stream = (self._old if self._streams is None else self._streams).get(stream_id)
        if stream is None:
            raise InvariantError(f"stream {stream_id} exists")
        return stream

    def _mutation(self) -> MapChanges[int, StreamImage]:
        if self._streams is None:
            self._streams = self._old.mutate()
        return self._streams

    def _set(self, stream: StreamImage) -> None:
        if self._streams is None:
            self._streams = self._old.mutate()
        self._streams[stream.stream_id] = stream


def check_coverage(stream: StreamImage) -> None:
    """Assert that the objects cover `[start_offset, end_offset)` without gap or overlap."""
    require(stream.start_offset <= stream.end_offset)
    if not stream.objects:
        require(
            stream.start_offset == stream.end_offset,
            f"stream {stream.stream_id} has objects for "
            f"[{stream.start_offset}, {stream.end_offset})",
        )
        return
    position = stream.objects[0].start_offset
    require(
        position <= stream.start_offset < stream.objects[0].end_offset,
        f"the first object of stream {stream.stream_id} holds its start {stream.start_offset}",
    )
    for piece in stream.objects:
        require(
            piece.start_offset == position < piece.end_offset,
            f"object {piece.object_id} continues stream {stream.stream_id} at {position}",
        )
        position = piece.end_offset
    require(
        position == stream.end_offset,
        f"the objects of stream {stream.stream_id} end at {stream.end_offset}",
    )
