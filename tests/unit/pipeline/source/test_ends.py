"""A read whose last part brokers give: the bucket's part and the tail have each row once, under both levels."""

from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headrace.pipeline.source.ends import PartitionEnds
from headrace.pipeline.source.offsets import batch_ranges
from headrace.pipeline.source.options import SourceOptions, read_options
from headrace.pipeline.source.planning import BucketTask, plan_tasks
from headrace.pipeline.source.reading import read_task
from headrace.pipeline.source.snapshots import newest_catalog
from headrace.pipeline.source.stream import (
    StreamOffset,
    first_offset,
    next_offset,
    stream_ranges,
    to_json,
)
from headrace.pipeline.source.tail.brokers import Clock
from headrace.pipeline.source.tail.fetching import TailReader
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.records.compression import Compression
from headrace.protocol.records.control import Marker
from tests.unit.pipeline.source.stored_topics import START_MS, TOPIC, StoredTopics
from tests.unit.pipeline.source.tail.scripted_broker import FakeTime, ScriptedBroker
from tests.unit.pipeline.source.test_transactions import FIRST
from tests.unit.pipeline.source.transactional_log import LOGS, Step, TransactionalLog, log_of


@pytest.fixture(scope="module")
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as server:
        yield server


def options(broker: ScriptedBroker, *, is_stream: bool = False, **given_: str) -> SourceOptions:
    common = {"bucket": "file:///b", "subscribe": TOPIC, "columns": "offset,value"}
    tail = {"tail": "broker", "kafka.bootstrap.servers": broker.address}
    return read_options({**common, **tail, **given_}, is_stream=is_stream)


def stored_until(log: TransactionalLog, count: int) -> StoredTopics:
    """A bucket that has the first batches of a log, in objects of three each."""
    bucket = StoredTopics(log.stored)
    bounds = sorted({*log.bounds()[: count + 1 : 3], log.bounds()[count]})
    layout = {n: [(0, a, b)] for n, (a, b) in enumerate(pairwise(bounds))}
    bucket.publish(layout or {0: [(2, 0, 5)]}, (0, 0))
    return bucket


def rows_of(bucket: StoredTopics, tasks: list) -> list[int]:
    found = []
    for it in tasks:
        if isinstance(it, BucketTask):
            batches = read_task(bucket, it.task, it.reading)
        else:
            with closing(TailReader(it.access, fails_on_loss=True)) as reader:
                batches = list(reader.rows(it.part, it.reading.columns))
        found += [row["offset"] for batch in batches for row in batch.to_pylist()]
    return found


def assigned(**given_: str) -> dict[str, str]:
    """Of partition 0 alone."""
    return {"subscribe": "", "assign": f'{{"{TOPIC}": [0]}}', **given_}


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(log=LOGS, count=st.integers(0, 25), tasks=st.integers(1, 4), is_committed=st.booleans())
def test_the_bucket_and_the_tail_have_each_row_once(
    broker: ScriptedBroker, log: TransactionalLog, count: int, tasks: int, is_committed: bool
) -> None:
    """A transaction may begin in the bucket and end in the tail."""
    broker.log = log
    bucket = stored_until(log, min(count, len(log.batches)))
    level = "read_committed" if is_committed else "read_uncommitted"
    given_ = {"kafka.isolation.level": level, "minPartitions": str(tasks)}
    read = options(broker, **assigned(**given_))
    catalog = newest_catalog(bucket)
    with closing(PartitionEnds(bucket, read)) as ends:
        wanted = batch_ranges(catalog, read, ends.of(catalog))
        planned = plan_tasks(bucket, catalog, read, wanted, ends)
    end = log.last_stable_offset() if is_committed else log.end_offset
    assert rows_of(bucket, planned) == log.shown(0, end, committed=is_committed)


def plain(count: int) -> TransactionalLog:
    return log_of([Step(-1, None, 1, 0, 0, Compression.NONE)] * count)


def test_micro_batches_end_where_the_leaders_say(broker: ScriptedBroker) -> None:
    broker.log = plain(30)
    bucket = stored_until(broker.log, 10)
    catalog = newest_catalog(bucket)
    read = options(broker, is_stream=True, **assigned(maxOffsetsPerTrigger="12"))
    position, found = first_offset(catalog, {FIRST: 0}), []
    with closing(PartitionEnds(bucket, read)) as ends:
        lookup = ends.of(catalog)
        while (following := next_offset(catalog, read, position, lookup)) is not position:
            wanted = stream_ranges(catalog, read, position, following, lookup)
            found.append(rows_of(bucket, plan_tasks(bucket, catalog, read, wanted, ends)))
            position = following
    assert found == [list(range(12)), list(range(12, 24)), list(range(24, 30))]
    shown = to_json(position, catalog, read, 0)
    assert shown[TOPIC] == {"0": 30}
    assert shown["#metadata"]["bucketOffsets"] == {TOPIC: {"0": 10}}


def test_without_the_tail_the_bucket_is_waited_for(broker: ScriptedBroker) -> None:
    """The checkpoint of a query with a tail, gone on with without."""
    broker.log = plain(30)
    read = read_options({"bucket": "file:///b", **assigned()}, is_stream=True)
    position = StreamOffset({FIRST: 20})
    for count, end in ((10, 20), (20, 20), (25, 25)):
        bucket = stored_until(broker.log, count)
        catalog = newest_catalog(bucket)
        lookup = PartitionEnds(bucket, read).of(catalog)
        assert next_offset(catalog, read, position, lookup).offsets == {FIRST: end}


def test_leaders_are_asked_ten_times_a_second_at_most(broker: ScriptedBroker) -> None:
    broker.log = plain(3)
    catalog = newest_catalog(bucket := stored_until(broker.log, 1))
    broker.asked.clear()
    with closing(PartitionEnds(bucket, options(broker))) as ends:
        for _ in range(50):
            assert ends.ends(catalog, [FIRST]) == {FIRST: 3}
    assert len([it for it in broker.asked if it[0] is ApiKey.LIST_OFFSETS]) <= 5


def test_the_end_of_the_bucket_where_brokers_have_another_topic(broker: ScriptedBroker) -> None:
    broker.log = plain(3)
    catalog = newest_catalog(bucket := stored_until(broker.log, 2))
    passing = FakeTime()
    clock = Clock(passing.monotonic_s, passing.sleep)
    broker.topic_id = UUID(int=9)
    try:
        for level in ("read_uncommitted", "read_committed"):
            read = options(broker, **{"kafka.isolation.level": level})
            with closing(PartitionEnds(bucket, read, clock)) as ends:
                assert ends.ends(catalog, [FIRST]) == {FIRST: 2}
    finally:
        broker.topic_id = UUID(int=1)


def test_a_time_that_only_the_tail_has(broker: ScriptedBroker) -> None:
    broker.log = plain(30)
    catalog = newest_catalog(bucket := stored_until(broker.log, 10))
    with closing(PartitionEnds(bucket, options(broker))) as ends:
        assert ends.by_timestamp(catalog, FIRST, START_MS + 7) == 7
        broker.asked.clear()
        assert ends.by_timestamp(catalog, FIRST, START_MS + 20) is not None
        assert (ApiKey.LIST_OFFSETS, START_MS + 20) in broker.asked


def test_no_more_of_the_tail_is_read_ahead_than_decides(broker: ScriptedBroker) -> None:
    none = Compression.NONE
    steps = [Step(1, None, 1, 0, 0, none), Step(-1, None, 1, 0, 0, none)]
    steps += [Step(1, Marker.ABORT, 1, 0, 0, none), *([Step(-1, None, 1, 0, 0, none)] * 20)]
    broker.log = log_of(steps)
    catalog = newest_catalog(bucket := stored_until(broker.log, 2))
    read = options(broker, **assigned(**{"kafka.isolation.level": "read_committed"}))
    broker.asked.clear()
    with closing(PartitionEnds(bucket, read)) as ends:
        wanted = batch_ranges(catalog, read, ends.of(catalog))
        planned = plan_tasks(bucket, catalog, read, wanted, ends)
    assert [it for it in broker.asked if it[0] is ApiKey.FETCH] == [(ApiKey.FETCH, 2)]
    assert rows_of(bucket, planned) == [1, *range(3, 23)]
