"""Records about objects in the bucket. Fields are encoded in this order; only append."""

import msgspec

from headrace.metadata.records.numbers import Int64
from headrace.metadata.records.record import MetadataRecord


class RecordedRange(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Offsets `[start_offset, end_offset)` of a stream inside one object, and their epoch."""

    stream_id: Int64
    epoch: Int64
    start_offset: Int64
    end_offset: Int64


class ObjectsPreparedRecord(MetadataRecord, frozen=True, tag=40):
    """Reserves consecutive object ids for one node until they expire."""

    first_object_id: int
    count: int
    node_id: int
    prepared_ms: int
    expires_ms: int


class StreamSetObjectRecord(MetadataRecord, frozen=True, tag=41):
    """Commits a Stream Set Object: each range continues its stream, or replaces one of another object."""

    object_id: int
    node_id: int
    order_id: int  # age of the data: a compacted object gets the lowest of its sources
    size_bytes: int
    committed_ms: int
    ranges: tuple[RecordedRange, ...]  # sorted by (stream id, start offset)


class StreamObjectRecord(MetadataRecord, frozen=True, tag=42):
    """Commits a Stream Object."""

    object_id: int
    node_id: int
    size_bytes: int
    committed_ms: int
    range: RecordedRange


class ObjectsDestroyedRecord(MetadataRecord, frozen=True, tag=43):
    """Marks objects destroyed: unused, and deleted after the retention time."""

    object_ids: tuple[int, ...]
    destroyed_ms: int


class ObjectsRemovedRecord(MetadataRecord, frozen=True, tag=44):
    """Removes objects that were deleted from the bucket."""

    object_ids: tuple[int, ...]
