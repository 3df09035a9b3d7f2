"""Offsets by time from the bucket are those of the broker's own look-up, whatever checkpoint there is."""

import random
from itertools import pairwise

import pytest

from headrace.broker.partition.checkpoint import take
from headrace.broker.partition.offset_search import find_by_timestamp as find_in_broker
from headrace.broker.partition.time_index import TimeIndex
from headrace.pipeline.source.catalog import TopicPartition
from headrace.pipeline.source.snapshots import newest_catalog
from headrace.pipeline.source.times import find_by_timestamp
from headrace.protocol.records.compression import Compression
from headrace.protocol.records.record import Record
from headrace.storage.record_batch import StreamRecordBatch
from tests.unit.broker.cluster_scene import NOW_MS, ServedPartition, run
from tests.unit.pipeline.source.stored_topics import TOPIC, StoredTopics

SPAN_MS = 40


class Filled:
    """A partition of a broker with random times, and a bucket that has all of it."""

    def __init__(self, rng: random.Random) -> None:
        kinds = ["CreateTime", "CreateTime", "LogAppendTime"]
        overrides = {"message.timestamp.type": rng.choice(kinds)}
        self.served = ServedPartition("t", 1, 0, overrides=overrides)
        index = TimeIndex(interval_bytes=rng.choice([1, 200, 500, 1 << 20]))
        self.served.partition.state.times = index
        checkpoints: list[bytes] = []
        for _ in range(rng.randrange(1, 30)):
            times = [NOW_MS + rng.randrange(SPAN_MS) for _ in range(rng.randrange(1, 6))]
            records = [Record(0, it, None, bytes(rng.randrange(50))) for it in times]
            self.served.append(*records, compression=rng.choice(list(Compression)))
            if rng.random() < 0.2:
                end = self.served.data.next_offset
                checkpoints.append(take(self.served.partition.state, end, 0))
        if checkpoints and rng.random() < 0.2:
            checkpoints[-1] = checkpoints[-1][:-1]  # damaged: the one before it is taken
        self.served.data.confirm()
        data = self.served.data
        data.start_offset = rng.choice([0, rng.randrange(data.next_offset)])
        self.bucket = StoredTopics(self._batches)
        self._checkpoints = checkpoints
        bounds = [0, *(it.end_offset for it in data.batches)]
        cuts = sorted({*rng.choices(bounds, k=3), 0, bounds[-1]})
        ranges = [it for it in pairwise(cuts) if it[1] > data.start_offset]
        layout = {n: [(0, *it)] for n, it in enumerate(ranges)}
        if checkpoints:
            layout[len(layout)] = [(1, 0, len(checkpoints))]
        self.bucket.publish(layout, [data.start_offset])

    def _batches(self, stream_id: int, start: int, end: int) -> list[StreamRecordBatch]:
        if stream_id == 1:
            return [
                StreamRecordBatch(1, 1, it, 1, memoryview(self._checkpoints[it]))
                for it in range(start, end)
            ]
        return [
            it._replace(stream_id=0)
            for it in self.served.data.batches
            if start <= it.base_offset < end
        ]


@pytest.mark.parametrize("seed", range(20))
def test_the_answer_is_that_of_list_offsets(seed: int) -> None:
    filled = Filled(random.Random(seed))
    catalog = newest_catalog(filled.bucket)
    stored = catalog.stored(TopicPartition(TOPIC, 0))
    assert stored is not None
    for timestamp_ms in range(NOW_MS - 1, NOW_MS + SPAN_MS + 2):
        found = run(find_in_broker(filled.served.partition, timestamp_ms))
        expected = None if found is None else found[0]
        assert find_by_timestamp(filled.bucket, catalog, stored, timestamp_ms) == expected
