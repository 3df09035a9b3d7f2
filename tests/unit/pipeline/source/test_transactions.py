"""Rows of transactions, against a model of Kafka's consumer: whatever the layout, the start and the tasks."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.pipeline.columns.decoder import decode
from headrace.pipeline.columns.selection import WantedRows
from headrace.pipeline.source import transactions
from headrace.pipeline.source.catalog import Catalog, TopicPartition
from headrace.pipeline.source.ends import PartitionEnds
from headrace.pipeline.source.errors import DataLossError, SourceError
from headrace.pipeline.source.offsets import batch_ranges, starting_offsets
from headrace.pipeline.source.options import SourceOptions, read_options
from headrace.pipeline.source.planning import BucketTask, plan_tasks
from headrace.pipeline.source.reading import read_task
from headrace.pipeline.source.snapshots import newest_catalog
from headrace.pipeline.source.stream import (
    StreamOffset,
    first_offset,
    from_json,
    next_offset,
    stream_ranges,
)
from headrace.pipeline.source.transactions import TransactionScan, visible_batches
from headrace.protocol.records.batch import parse_header
from headrace.protocol.records.compression import Compression
from headrace.protocol.records.control import Marker
from tests.unit.pipeline.source.stored_topics import TOPIC, StoredTopics
from tests.unit.pipeline.source.transactional_log import (
    LOGS,
    Step,
    TransactionalLog,
    log_of,
)

FIRST = TopicPartition(TOPIC, 0)
COMMITTED = {"kafka.isolation.level": "read_committed"}


def read(is_stream: bool = False, **options: str) -> SourceOptions:
    given_ = {"bucket": "file:///b", "subscribe": TOPIC, "columns": "offset,value", **options}
    return read_options(given_, is_stream=is_stream)


def publish(bucket: StoredTopics, log: TransactionalLog, cuts: list[int]) -> None:
    """Publish a log in objects that end at some of its bounds."""
    bounds = log.bounds()
    ends = sorted({bounds[it % len(bounds)] for it in cuts} | {0, bounds[-1]})
    layout = {n: [(0, a, b)] for n, (a, b) in enumerate(pairwise(ends))}
    bucket.publish(layout)


def rows_of(bucket: StoredTopics, tasks: list[BucketTask]) -> list[int]:
    found = []
    for it in tasks:
        for batch in read_task(bucket, it.task, it.reading):
            for row in batch.to_pylist():
                assert row["value"] == str(row["offset"]).encode()
                found.append(row["offset"])
    return found


def batch_of(bucket: StoredTopics, options: SourceOptions) -> list[int]:
    catalog = newest_catalog(bucket)
    ends = PartitionEnds(bucket, options)
    wanted = batch_ranges(catalog, options, ends.of(catalog))
    return rows_of(bucket, plan_tasks(bucket, catalog, options, wanted, ends))


@settings(max_examples=50, deadline=None)
@given(
    LOGS,
    st.lists(st.integers(0, 60), max_size=4),
    st.integers(0, 40),
    st.integers(1, 6),
    st.booleans(),
)
def test_a_batch_shows_what_a_consumer_shows(
    log: TransactionalLog, cuts: list[int], start: int, tasks: int, is_committed: bool
) -> None:
    bucket = StoredTopics(log.stored)
    publish(bucket, log, cuts)
    start = min(start, log.end_offset)
    level = "read_committed" if is_committed else "read_uncommitted"
    options = read(
        startingOffsets=f'{{"{TOPIC}": {{"0": {start}}}}}',
        minPartitions=str(tasks),
        failOnDataLoss="false",
        **{"kafka.isolation.level": level},
    )
    end = log.last_stable_offset(start) if is_committed else log.end_offset
    assert batch_of(bucket, options) == log.shown(start, end, committed=is_committed)


@settings(max_examples=40, deadline=None)
@given(
    LOGS,
    st.lists(st.integers(0, 60), max_size=4),
    st.lists(st.integers(0, 60), max_size=3),
    st.integers(1, 12),
    st.booleans(),
)
def test_a_stream_shows_each_row_once_when_it_is_decided(
    log: TransactionalLog, cuts: list[int], steps: list[int], limit: int, restarts: bool
) -> None:
    """The log grows meanwhile, and the query may begin again at its checkpoint after each micro-batch."""
    options = read(is_stream=True, maxOffsetsPerTrigger=str(limit), **COMMITTED)
    bucket = StoredTopics(log.stored)
    ends = PartitionEnds(bucket, options)
    position, found = first_offset_of(log), []
    for count in sorted({1 + it % len(log.batches) for it in steps} | {len(log.batches)}):
        part = TransactionalLog(log.batches[:count], end_offset=log.bounds()[count])
        publish(bucket, part, cuts)
        catalog = newest_catalog(bucket)
        while True:
            lookup = ends.of(catalog)
            following = next_offset(catalog, options, position, lookup)
            if following is position:
                break
            if restarts:
                ends = PartitionEnds(bucket, options)
                lookup = ends.of(catalog)
            wanted = stream_ranges(catalog, options, position, following, lookup)
            found += rows_of(bucket, plan_tasks(bucket, catalog, options, wanted, ends))
            position = following
    assert found == log.shown(0, log.last_stable_offset(), committed=True)
    assert position.offsets[FIRST] == log.last_stable_offset()


def first_offset_of(log: TransactionalLog) -> StreamOffset:
    bucket = StoredTopics(log.stored)
    publish(bucket, log, [])
    return first_offset(newest_catalog(bucket), {FIRST: 0})


@given(LOGS, st.integers(0, 60), st.integers(1, 60))
def test_a_fetch_shows_what_a_consumer_shows(log: TransactionalLog, start: int, size: int) -> None:
    end = min(start + size, log.last_stable_offset())
    records, aborted = log.fetched(start, end)
    payloads = [batch for _, batch in visible_batches(memoryview(records), aborted)]
    wanted = WantedRows(topic=TOPIC, partition=0, start_offset=start, end_offset=end)
    offsets = [row["offset"] for it in decode(payloads, wanted) for row in it.to_pylist()]
    assert offsets == log.shown(start, end, committed=True)


def test_what_is_open_at_the_start_of_a_read() -> None:
    """A transaction that has nothing in the range does not hold it up; one that has, does."""
    none = Compression.NONE
    log = log_of(
        [
            Step(1, None, 2, 0, 0, none),
            Step(-1, None, 2, 0, 0, none),
            Step(2, None, 1, 0, 0, none),
            Step(-1, None, 1, 0, 0, none),
            Step(2, Marker.ABORT, 1, 0, 0, none),
        ]
    )
    bucket = StoredTopics(log.stored)
    publish(bucket, log, [])
    assert batch_of(bucket, read(**COMMITTED)) == []
    start = read(startingOffsets=f'{{"{TOPIC}": {{"0": 2}}}}', **COMMITTED)
    assert batch_of(bucket, start) == [2, 3, 5]
    ending = f'{{"{TOPIC}": {{"0": 4}}}}'
    with pytest.raises(
        DataLossError, match=r"transactions are decided, up to offset 0 only.* is 4"
    ):
        batch_of(bucket, read(endingOffsets=ending, **COMMITTED))


def test_the_latest_offset_of_a_stream_is_the_last_stable_one() -> None:
    log = log_of([Step(1, None, 2, 0, 0, Compression.NONE)] * 3)
    bucket = StoredTopics(log.stored)
    publish(bucket, log, [])
    catalog = newest_catalog(bucket)
    options = read(is_stream=True, **COMMITTED)
    lookup = PartitionEnds(bucket, options).of(catalog)
    assert starting_offsets(catalog, options, [FIRST], lookup) == {FIRST: 0}


def test_a_planned_batch_that_is_not_decided_is_told() -> None:
    """The checkpoint of a query under read_uncommitted, gone on with under read_committed."""
    log = log_of([Step(1, None, 2, 0, 0, Compression.NONE)])
    bucket = StoredTopics(log.stored)
    publish(bucket, log, [])
    catalog: Catalog = newest_catalog(bucket)
    options = read(is_stream=True, **COMMITTED)
    start, end = from_json({TOPIC: {"0": 0}}), from_json({TOPIC: {"0": 2}})
    lookup = PartitionEnds(bucket, options).of(catalog)
    with pytest.raises(DataLossError, match=r"decided, up to offset 0 only.*checkpoint says 2"):
        stream_ranges(catalog, options, start, end, lookup)


def test_each_byte_is_scanned_once_and_no_more_than_decides() -> None:
    steps = [Step(1 + n % 3, None, 5, 0, 0, Compression.NONE) for n in range(40)]
    steps += [Step(it, Marker.COMMIT, 1, 0, 0, Compression.NONE) for it in (1, 2, 3)]
    steps += [Step(-1, None, 5, 0, 0, Compression.NONE) for _ in range(1_000)]
    log = log_of(steps)
    bucket = StoredTopics(log.stored)
    publish(bucket, log, list(range(0, len(log.batches), 50)))
    catalog = newest_catalog(bucket)
    lookup = PartitionEnds(bucket, read(is_stream=True, **COMMITTED)).of(catalog)
    bucket.reads.clear()
    assert lookup.decided({FIRST: 0}, {FIRST: 11}) == {FIRST: 11}
    keys = {key for key, _, _ in bucket.reads}
    assert len(keys) == 1  # the object that has the markers
    reads = len(bucket.reads)
    assert lookup.decided({FIRST: 7}, {FIRST: 150}) == {FIRST: 150}
    assert len(bucket.reads) == reads
    assert lookup.decided({FIRST: 7}, {FIRST: log.end_offset}) == {FIRST: log.end_offset}
    assert len({key for key, _, _ in bucket.reads}) > 10


def test_what_was_read_is_forgotten() -> None:
    none = Compression.NONE
    log = log_of([Step(1, it, 1, 0, 0, none) for it in (None, Marker.ABORT) * 3])
    scan = TransactionScan(0)
    for it in log.batches:
        scan.add(parse_header(it), memoryview(it))
    assert [it.first_offset for it in scan.aborted(0, 6)] == [0, 2, 4]
    scan.forget(2)
    assert [it.first_offset for it in scan.aborted(0, 6)] == [2, 4]
    assert [it.first_offset for it in scan.aborted(4, 5)] == [4]


def test_there_is_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transactions, "MAX_TRANSACTIONS", 2)
    log = log_of([Step(it, None, 1, 0, 0, Compression.NONE) for it in (1, 2, 3)])
    scan = TransactionScan(0)
    for it in log.batches[:2]:
        scan.add(parse_header(it), memoryview(it))
    with pytest.raises(SourceError, match="more than 2 transactions"):
        scan.add(parse_header(log.batches[2]), memoryview(log.batches[2]))
