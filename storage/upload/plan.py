"""Decides which objects a set of records becomes. Pure.

A stream with much data gets a Stream Object of its own, which no compaction needs to split again; the
small rest shares one Stream Set Object. A stream that is alone always gets a Stream Object: a Stream
Set Object would hold nothing else.

Source: S3Stream's upload of LogCache blocks.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from headrace.storage.ports import NO_WAL_OFFSET, StreamRange
from headrace.storage.record_batch import StreamRecordBatch


class StreamSlice(NamedTuple):
    """Consecutive records of one stream."""

    range: StreamRange
    batches: Sequence[StreamRecordBatch]
    size_bytes: int  # encoded


class UploadPlan(msgspec.Struct, frozen=True):
    """Which slice goes into which object; slices in stream order."""

    stream_set: tuple[StreamSlice, ...]  # together in one Stream Set Object; may be empty
    stream_objects: tuple[StreamSlice, ...]  # one Stream Object each
    wal_end_offset: int = (
        NO_WAL_OFFSET  # once it is committed, everything below it in the WAL is uploaded
    )

    @property
    def object_count(self) -> int:
        """Objects that the plan writes."""
        return len(self.stream_objects) + bool(self.stream_set)


def plan_upload(
    streams: Mapping[int, Sequence[StreamRecordBatch]],
    sizes_bytes: Mapping[int, int],
    stream_split_bytes: int,
    epochs: Mapping[int, int] | None = None,
    wal_end_offset: int = NO_WAL_OFFSET,
) -> UploadPlan:
    """Assign each stream's records to an object.

    Args:
        streams: records by stream, each in offset order and without gaps, none empty.
        sizes_bytes: encoded size of each stream's records.
        stream_split_bytes: from this size on a stream gets its own object.
        epochs: epoch under which each stream is open; without it, that of its last record.
        wal_end_offset: see `UploadPlan`.
    """
    alone = len(streams) == 1
    shared: list[StreamSlice] = []
    own: list[StreamSlice] = []
    for stream_id in sorted(streams):
        batches = streams[stream_id]
        last = batches[-1]
        epoch = last.epoch if epochs is None else epochs[stream_id]
        covered = StreamRange(stream_id, epoch, batches[0].base_offset, last.end_offset)
        is_large = alone or sizes_bytes[stream_id] >= stream_split_bytes
        found = StreamSlice(covered, batches, sizes_bytes[stream_id])
        (own if is_large else shared).append(found)
    return UploadPlan(tuple(shared), tuple(own), wal_end_offset)
