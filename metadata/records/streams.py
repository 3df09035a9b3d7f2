"""Records about streams. Fields are encoded in this order; only append."""

from enum import IntEnum
from uuid import UUID

import msgspec


class StreamState(IntEnum):
    """Whether some node may append to a stream."""

    CLOSED = 0
    OPENED = 1


class StreamRecord(msgspec.Struct, frozen=True, array_like=True, tag=30, gc=False):
    """Creates a stream. A new one starts at 0 with epoch -1; a snapshot restores what it had."""

    stream_id: int
    topic_id: UUID
    partition: int
    epoch: int
    start_offset: int
    end_offset: int


class RangeRecord(msgspec.Struct, frozen=True, array_like=True, tag=31, gc=False):
    """Starts a range: from `start_offset` on, this node writes the stream at this epoch."""

    stream_id: int
    range_index: int
    epoch: int
    node_id: int
    start_offset: int


class StreamStateRecord(msgspec.Struct, frozen=True, array_like=True, tag=32, gc=False):
    """Opens a stream at an epoch for one node, or closes it."""

    stream_id: int
    epoch: int
    state: StreamState
    node_id: int


class StreamTrimmedRecord(msgspec.Struct, frozen=True, array_like=True, tag=33, gc=False):
    """Raises the start offset of a stream; objects wholly below it no longer belong to it."""

    stream_id: int
    start_offset: int


class RemoveStreamRecord(msgspec.Struct, frozen=True, array_like=True, tag=34, gc=False):
    """Removes a stream for good."""

    stream_id: int
