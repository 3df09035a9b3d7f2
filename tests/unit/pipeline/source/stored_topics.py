"""A bucket in memory with one topic, laid out in objects as a test wants it, and its metadata snapshot."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from uuid import UUID

from headrace.metadata.log.snapshot_format import encode_snapshot
from headrace.metadata.published import parse_published_key, published_key
from headrace.metadata.records.cluster import ClusterIdRecord, NextIdsRecord
from headrace.metadata.records.entry import SnapshotId
from headrace.metadata.records.objects import (
    ObjectsPreparedRecord,
    RecordedRange,
    StreamObjectRecord,
    StreamSetObjectRecord,
)
from headrace.metadata.records.streams import StreamRecord
from headrace.metadata.records.topics import PartitionRecord, TopicRecord
from headrace.metadata.snapshot import records_to_image
from headrace.pipeline.source.errors import ObjectGoneError
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from headrace.storage.objects.keys import object_key
from headrace.storage.record_batch import StreamRecordBatch
from tests.unit.storage.samples import joined, write

CLUSTER = "unit"
TOPIC = "orders"
TOPIC_ID = UUID(int=1)
START_MS = 1_700_000_000_000
RECORDS_PER_BATCH = 5

# (stream id, first offset, end offset); partition n of the topic has the streams 2n and 2n + 1, from its first one on
Range = tuple[int, int, int]


def stored_batches(stream_id: int, start: int, end: int) -> list[StreamRecordBatch]:
    """Batches of five records; the record at offset n has the value n and the time START_MS + 1,000 n."""
    found = []
    for base in range(start, end, RECORDS_PER_BATCH):
        offsets = range(base, min(base + RECORDS_PER_BATCH, end))
        records = [Record(it, START_MS + 1_000 * it, None, str(it).encode(), ()) for it in offsets]
        payload = memoryview(encode_batch(records, BatchOptions()))
        found.append(StreamRecordBatch(stream_id, 1, base, len(offsets), payload))
    return found


class StoredTopics:
    """See `headrace.pipeline.source.bucket.Bucket`; `batches_of` are the batches of a range of a stream."""

    def __init__(
        self,
        batches_of: Callable[[int, int, int], list[StreamRecordBatch]] = stored_batches,
        cluster: str = CLUSTER,
    ) -> None:
        self._batches_of = batches_of
        self._cluster = cluster
        self.objects: dict[str, bytes] = {}
        self.reads: list[tuple[str, int, int]] = []
        self._index = 0

    def publish(
        self,
        layout: Mapping[int, Sequence[Range]],
        starts: Sequence[int] = (0,),
        *,
        topic_id: UUID = TOPIC_ID,
        first_stream: int = 0,
    ) -> None:
        """Put these objects and a newer snapshot that names them and no other.

        Args:
            layout: ranges by object id, in order of streams.
            starts: of the partitions' data streams.
            topic_id: of the topic.
            first_stream: of the topic: another one has other streams.
        """
        self._index += 1
        ends = {first_stream + 2 * it: start for it, start in enumerate(starts)}
        for ranges in layout.values():
            for stream_id, _, end in ranges:
                ends[stream_id] = max(ends.get(stream_id, 0), end)
        records = [ClusterIdRecord(self._cluster), TopicRecord(topic_id, TOPIC)]
        records.extend(
            PartitionRecord(topic_id, it, 1, 1, first_stream + 2 * it, first_stream + 2 * it + 1)
            for it in range(len(starts))
        )
        records.extend(ObjectsPreparedRecord(it, 1, 1, 0, 1 << 50) for it in layout)
        for number, start in enumerate(starts):
            data = first_stream + 2 * number
            records.append(StreamRecord(data, topic_id, number, 1, start, ends[data]))
            records.append(StreamRecord(data + 1, topic_id, number, 1, 0, ends.get(data + 1, 0)))
        for object_id, ranges in layout.items():
            written = write([self._batches_of(*it) for it in ranges], max_block_bytes=400)
            self.objects[object_key(self._cluster, object_id)] = joined(written)
            held = tuple(RecordedRange(it[0], 1, it[1], it[2]) for it in ranges)
            size_bytes = written.size_bytes
            if len(held) == 1:
                records.append(StreamObjectRecord(object_id, 1, size_bytes, 0, held[0]))
            else:
                records.append(StreamSetObjectRecord(object_id, 1, object_id, size_bytes, 0, held))
        records.append(NextIdsRecord(first_stream + 2 * len(starts), max(layout) + 1))
        image = records_to_image(records, index=self._index, term=1)
        key = published_key(self._cluster, SnapshotId(self._index, 1))
        self.objects[key] = b"".join(encode_snapshot(image))

    def newest_snapshot(self) -> bytes:
        return self.objects[published_key(self._cluster, SnapshotId(self._index, 1))]

    def write_to(self, directory: Path) -> str:
        """Write a bucket of files; returns its URI."""
        for key, data in self.objects.items():
            path = directory / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return f"file://{directory}"

    def delete(self, object_id: int) -> None:
        del self.objects[object_key(self._cluster, object_id)]

    def keys(self, folder: str) -> list[str]:
        return [it for it in self.objects if it.startswith(f"{folder}/")]

    def read(self, key: str, start: int, end: int) -> memoryview:
        self.reads.append((key, start, end))
        return memoryview(self.whole(key))[start:end]

    def whole(self, key: str) -> bytes:
        if key not in self.objects:
            raise ObjectGoneError(key)
        return self.objects[key]

    def time_ms(self, key: str) -> int:
        return parsed[1].index * 1_000 if (parsed := parse_published_key(key)) else 0
