"""What a pass of cleaning asks of its partition."""

from typing import Any

import pytest

from headrace.broker.partition.registry import PartitionRegistry
from headrace.broker.partition.topic_cleaner import TopicCleaner
from headrace.broker.partition.write_side import FROZEN
from headrace.config.node import LogConfig
from headrace.config.topic import EffectiveTopicConfig
from headrace.protocol.records.batch import parse_header
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from headrace.storage.errors import CleaningAbandonedError
from tests.simulation.virtual_time import run
from tests.unit.broker.cluster_scene import (
    NODE_ID,
    NOW_MS,
    FakeClient,
    ServedPartition,
    broker_records,
)
from tests.unit.broker.partition.fakes import FakeStream

COMPACTED = {"cleanup.policy": "compact", "segment.ms": "1"}


def a_cleaner() -> tuple[TopicCleaner, PartitionRegistry]:
    client: Any = FakeClient(*broker_records())
    registry = PartitionRegistry(client=client, node_id=NODE_ID)
    cleaner = TopicCleaner(registry, client, LogConfig(), lambda: NOW_MS, memory_bytes=1 << 20)
    return cleaner, registry


def test_a_pass_ends_once_its_topic_is_not_compacted_any_more() -> None:
    async def main() -> None:
        cleaner, registry = a_cleaner()
        served = ServedPartition("a", 1, 0, overrides=COMPACTED)
        forgotten = []
        served.data.forget_cached = forgotten.append  # type: ignore[attr-defined]
        registry.add(served.partition)
        for number in range(4):
            served.append(Record(0, NOW_MS + 10 * number, b"k", b"v"))
        served.data.confirm()
        cleaning = cleaner.begin(served.data.stream_id, 0, 4)
        assert cleaning is not None
        assert forgotten[-1] == cleaning.end_offset == 3
        batch = served.data.batches[0]
        assert await cleaning.look_at(batch)
        assert await cleaning.clean(batch, must_stay=False) is batch.payload
        served.partition.writes.config = EffectiveTopicConfig.resolve({"cleanup.policy": "delete"})
        with pytest.raises(CleaningAbandonedError):
            await cleaning.clean(batch, must_stay=False)
        with pytest.raises(CleaningAbandonedError):
            await cleaning.finish()

    run(main())


def test_what_a_log_had_in_memory_before_it_was_opened_is_read_from_the_bucket() -> None:
    for overrides, cleaned_offset, expected in ((COMPACTED, 0, [4]), ({}, 3, [4]), ({}, 0, [])):
        _, registry = a_cleaner()
        forgotten: list[int] = []
        data = FakeStream(1)
        data.confirm_offset = data.next_offset = 4
        data.forget_cached = forgotten.append  # type: ignore[attr-defined]
        served = ServedPartition("a", 1, 0, overrides=overrides)
        served.partition._data = data  # type: ignore[assignment]
        served.partition.writes._data = data  # type: ignore[assignment]
        served.partition.state.cleaned_offset = cleaned_offset
        registry.add(served.partition)
        assert forgotten == expected


def test_times_of_the_far_future_count_as_when_they_were_read_at_the_opening() -> None:
    async def main() -> None:
        cleaner, registry = a_cleaner()
        served = ServedPartition("a", 1, 0, overrides=COMPACTED)
        registry.add(served.partition)
        latest_ms = NOW_MS + served.partition.writes.config.timestamp_after_max_ms
        for number, time_ms in enumerate((10 * latest_ms, NOW_MS, NOW_MS + 10)):
            made = encode_batch([Record(number, time_ms, b"k%d" % number, b"v")], BatchOptions())
            served.data.append(made, 1, lambda _error: None)
            served.partition.state.apply(parse_header(made), None, number, 0, NOW_MS, 1, latest_ms)
        served.data.confirm()
        times = served.partition.state.times
        times.end_at(3)
        assert times.max_timestamp_ms == latest_ms
        cleaning = cleaner.begin(served.data.stream_id, 0, 3)
        assert cleaning is not None
        served.partition.writes.refusal = FROZEN  # no checkpoint is written
        for batch in served.data.batches:
            await cleaning.look_at(batch)
        for batch in served.data.batches:
            assert await cleaning.clean(batch, must_stay=False) is batch.payload
            cleaning.kept(batch)
        await cleaning.finish()
        assert times.max_timestamp_ms == latest_ms

    run(main())
