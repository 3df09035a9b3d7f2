"""Records about streams. Fields are encoded in this order; only append."""

from enum import IntEnum
from uuid import UUID

from headrace.metadata.records.record import MetadataRecord


class StreamState(IntEnum):
    """Whether some node may append to a stream."""

    CLOSED = 0
    OPENED = 1


class StreamRecord(MetadataRecord, frozen=True, tag=30):
    """Creates a stream. A new one starts at 0 with epoch -1; a snapshot restores what it had."""

    stream_id: int
    topic_id: UUID
    partition: int
    epoch: int
    start_offset: int
    end_offset: int


class RangeRecord(MetadataRecord, frozen=True, tag=31):
    """Starts a range: from `start_offset` on, this node writes the stream at this epoch."""

    stream_id: int
    range_index: int
    epoch: int
    node_id: int
    start_offset: int


class StreamStateRecord(MetadataRecord, frozen=True, tag=32):
    """Opens a stream at an epoch for one node, or closes it."""

    stream_id: int
    epoch: int
    state: StreamState
    node_id: int


class StreamTrimmedRecord(MetadataRecord, frozen=True, tag=33):
    """Raises the start offset of a stream; objects wholly below it no longer belong to it."""

    stream_id: int
    start_offset: int


class RemoveStreamRecord(MetadataRecord, frozen=True, tag=34):
    """Removes a stream for good."""

    stream_id: int
