"""What ends the partitions of a drained log follows the settings of all brokers."""

import asyncio

from headrace.broker.node.drained_partitions import checkpoints_of
from headrace.broker.partition import checkpoint
from headrace.broker.partition.state import PartitionState
from headrace.config.node import LogConfig
from headrace.metadata.image import MetadataImage
from headrace.metadata.records.topics import ConfigRecord
from headrace.protocol.partition_checkpoint import decode
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from headrace.storage.ports import StreamMetadata
from headrace.storage.record_batch import StreamRecordBatch
from tests.unit.broker.cluster_scene import applied, broker_records, topic_records

DAY_MS = 86_400_000
NOW_MS = 3 * DAY_MS


def test_an_idle_producer_is_known_as_long_as_brokers_are_told_to() -> None:
    image = applied(
        MetadataImage(),
        *broker_records(1),
        *topic_records("a", 1, 1),
        ConfigRecord(4, "", "producer.id.expiration.ms", str(7 * DAY_MS)),
    )
    (topic,) = image.topics.values()
    data_id, meta_id = topic.partitions[0].data_stream_id, topic.partitions[0].meta_stream_id
    state = PartitionState(producer_id_expiration_ms=7 * DAY_MS)
    state.producers.update(5, 0, None, DAY_MS)
    payload = memoryview(checkpoint.take(state, 0, 0))
    batch = memoryview(encode_batch([Record(0, 0, b"k", b"v")], BatchOptions()))
    streams = [StreamMetadata(data_id, 0, 0, 0), StreamMetadata(meta_id, 0, 0, 0)]

    async def main() -> list[int]:
        found = await checkpoints_of(image, streams, LogConfig(), lambda: NOW_MS)
        found.found(StreamRecordBatch(meta_id, 0, 0, 1, payload))
        found.found(StreamRecordBatch(data_id, 0, 0, 1, batch))
        written = [it for it in found.closing({data_id: 1, meta_id: 1}, {}) if it is not None]
        return [it.producer_id for each in written for it in decode(each.payload).producers]

    assert asyncio.run(main()) == [5]
