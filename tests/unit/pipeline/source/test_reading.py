"""Planning and reading: each wanted offset once, whatever the layout, and whatever changes meanwhile."""

import threading
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.pipeline.source import blocks, reading
from headrace.pipeline.source.catalog import TopicPartition
from headrace.pipeline.source.ends import PartitionEnds
from headrace.pipeline.source.errors import DataLossError, OptionError, SourceError
from headrace.pipeline.source.offsets import batch_ranges
from headrace.pipeline.source.options import read_options
from headrace.pipeline.source.planning import BucketTask, plan_tasks
from headrace.pipeline.source.reading import Reading, read_task
from headrace.pipeline.source.snapshots import newest_catalog
from headrace.pipeline.source.tail import fetching
from tests.unit.pipeline.source.stored_topics import CLUSTER, START_MS, TOPIC, StoredTopics

COLUMNS = ("partition", "offset", "value")


def planned(bucket: StoredTopics, most_bytes: int = 1 << 30, **options: str) -> list[BucketTask]:
    catalog = newest_catalog(bucket)
    wanted = {"bucket": "file:///b", "subscribe": TOPIC, **options}
    read = read_options({**wanted, "maxPartitionBytes": str(most_bytes)})
    ends = PartitionEnds(bucket, read)
    ranges = batch_ranges(catalog, read, ends.of(catalog))
    return plan_tasks(bucket, catalog, read, ranges, ends)


def rows_of(
    bucket: StoredTopics, tasks: list[BucketTask], *, fails: bool = True
) -> list[tuple[int, int]]:
    """(partition, offset) of all rows, in the order of the tasks; each value is its offset."""
    found = []
    for it in tasks:
        how = replace(it.reading, columns=COLUMNS, fails_on_loss=fails)
        for batch in read_task(bucket, it.task, how):
            for row in batch.to_pylist():
                assert row["value"] == str(row["offset"]).encode()
                found.append((row["partition"], row["offset"]))
    return found


@st.composite
def layouts(draw: st.DrawFn) -> tuple[dict[int, list[tuple[int, int, int]]], list[int]]:
    """Objects with one or both partitions, ranges without gaps, and starts within them."""
    partitions = draw(st.integers(1, 2))
    at = [0] * partitions
    layout = {}
    for object_id in range(draw(st.integers(1, 5))):
        members = draw(st.sets(st.integers(0, partitions - 1), min_size=1))
        ranges = []
        for partition in sorted(members):
            count = draw(st.integers(1, 60))
            ranges.append((2 * partition, at[partition], at[partition] + count))
            at[partition] += count
        layout[object_id] = ranges
    first = [
        min((r[2] for ranges in layout.values() for r in ranges if r[0] == 2 * p), default=0)
        for p in range(partitions)
    ]
    return layout, [draw(st.integers(0, max(0, it - 1))) for it in first]


@settings(max_examples=25, deadline=None)
@given(layouts(), st.integers(300, 20_000), st.integers(1, 5))
def test_each_offset_is_read_once(
    layout: tuple[dict[int, list[tuple[int, int, int]]], list[int]], most_bytes: int, tasks: int
) -> None:
    bucket = StoredTopics()
    bucket.publish(*layout)
    found = rows_of(bucket, planned(bucket, most_bytes, minPartitions=str(tasks)))
    ends = dict.fromkeys(range(len(layout[1])), 0)
    for ranges in layout[0].values():
        for stream_id, _, end in ranges:
            ends[stream_id // 2] = max(ends[stream_id // 2], end)
    expected = [(p, o) for p, start in enumerate(layout[1]) for o in range(start, ends[p])]
    assert sorted(found) == expected


def test_no_byte_of_data_is_read_twice() -> None:
    bucket = StoredTopics()
    bucket.publish({0: [(0, 0, 50), (2, 0, 50)], 1: [(0, 50, 300)]}, [0, 0])
    tasks = planned(bucket, most_bytes=2_000)
    assert len(tasks) > 3
    bucket.reads.clear()
    rows_of(bucket, tasks)
    data = sorted(it for it in bucket.reads if it[2] < len(bucket.objects[it[0]]))
    assert all(a[0] != b[0] or a[2] <= b[1] for a, b in pairwise(data))


def test_an_object_with_many_streams_is_one_task_that_reads_each_block_once() -> None:
    bucket = StoredTopics()
    bucket.publish({0: [(2 * it, 0, 30) for it in range(8)]}, [0] * 8)
    tasks = planned(bucket)
    assert bucket.reads == []  # a plan of small objects needs the metadata alone
    assert [len(it.task) for it in tasks] == [8]
    assert len(rows_of(bucket, tasks)) == 8 * 30
    size_bytes = len(bucket.objects[tasks[0].task[0].stored.key])
    data = sorted(it for it in bucket.reads if it[2] < size_bytes)
    assert len(bucket.reads) == len(data) + 1  # and the index, once
    assert data[0][1] == 0
    assert all(a[2] == b[1] for a, b in pairwise(data))


def test_one_read_is_ahead_of_what_a_task_works_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "RUN_BYTES", 1)
    bucket = StoredTopics()
    bucket.publish({0: [(0, 0, 60)]})
    (task,) = planned(bucket)
    read, is_ahead = bucket.read, threading.Event()

    def telling(key: str, start: int, end: int) -> memoryview:
        found = read(key, start, end)
        if len(bucket.reads) == 1 + 2:  # the index, and two runs
            is_ahead.set()
        return found

    monkeypatch.setattr(bucket, "read", telling)
    bucket.reads.clear()
    rows = read_task(bucket, task.task, replace(task.reading, columns=COLUMNS))
    found = next(rows).to_pylist()
    assert is_ahead.wait(10)
    assert len(bucket.reads) == 1 + 2
    found += [row for batch in rows for row in batch.to_pylist()]
    assert [it["offset"] for it in found] == list(range(60))
    data = bucket.reads[1:]
    assert len(data) > 4
    assert data[0][1] == 0
    assert all(a[2] == b[1] for a, b in pairwise(data))


def test_a_task_that_has_read_ahead_goes_on_in_other_objects(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks, "RUN_BYTES", 1)
    bucket = StoredTopics()
    bucket.publish({0: [(0, 0, 60)]})
    (task,) = planned(bucket)
    rows = read_task(bucket, task.task, replace(task.reading, columns=COLUMNS))
    found = next(rows).to_pylist()
    bucket.publish({1: [(0, 0, 60)]})
    bucket.delete(0)
    found += [row for batch in rows for row in batch.to_pylist()]
    assert [it["offset"] for it in found] == list(range(60))


def test_indexes_of_large_objects_alone_are_read_to_plan() -> None:
    bucket = StoredTopics()
    bucket.publish({0: [(0, 0, 20)], 1: [(0, 20, 300)], 2: [(0, 300, 310)], 3: [(0, 310, 600)]})
    objects = sorted(it for it in bucket.objects if not it.startswith("metadata"))
    sizes = {it: len(bucket.objects[it]) for it in objects}
    limit = 2_000
    large = {it for it in objects if sizes[it] > limit}
    assert 0 < len(large) < len(objects)
    tasks = planned(bucket, limit)
    assert {key for key, _, _ in bucket.reads} == large
    assert len(bucket.reads) == len(large)
    assert rows_of(bucket, tasks) == [(0, it) for it in range(600)]


def test_a_task_goes_on_in_the_objects_that_compaction_has_made() -> None:
    bucket = StoredTopics()
    bucket.publish({0: [(0, 0, 50)], 1: [(0, 50, 100)]})
    tasks = planned(bucket)
    bucket.publish({2: [(0, 0, 100)]})
    bucket.delete(0)
    bucket.delete(1)
    assert rows_of(bucket, tasks) == [(0, it) for it in range(100)]


def test_an_object_that_goes_in_the_middle() -> None:
    bucket = StoredTopics()
    bucket.publish({0: [(0, 0, 50)], 1: [(0, 50, 100)]})
    tasks = planned(bucket)
    reading = read_task(bucket, tasks[0].task, Reading(COLUMNS, True, CLUSTER))
    first = next(reading).to_pylist()
    bucket.publish({2: [(0, 0, 100)]})
    bucket.delete(1)
    rest = [row for batch in reading for row in batch.to_pylist()]
    assert [it["offset"] for it in first + rest] == list(range(100))


def test_data_that_is_deleted_under_a_task() -> None:
    bucket = StoredTopics()
    bucket.publish({0: [(0, 0, 50)], 1: [(0, 50, 100)]})
    tasks = planned(bucket)
    bucket.publish({1: [(0, 50, 100)]}, [60])
    bucket.delete(0)
    with pytest.raises(DataLossError, match="offsets 0 to 49 of orders-0 were deleted"):
        rows_of(bucket, tasks)
    # The second object is still there, and what was planned of it is read.
    assert rows_of(bucket, tasks, fails=False) == [(0, it) for it in range(50, 100)]


def test_a_topic_that_is_created_again_gives_the_job_of_the_old_one_no_row() -> None:
    bucket = StoredTopics()
    bucket.publish({0: [(0, 0, 50)], 1: [(0, 50, 80)]})
    tasks = planned(bucket, most_bytes=500)
    bucket.delete(0)
    bucket.publish({2: [(4, 0, 90)]}, topic_id=UUID(int=2), first_stream=4)
    with pytest.raises(DataLossError, match=r"offsets 0 to .* of orders-0 were deleted"):
        rows_of(bucket, tasks)
    # What the old topic's objects still hold are its rows.
    assert rows_of(bucket, tasks, fails=False) == [(0, it) for it in range(50, 80)]
    bucket.delete(1)
    assert rows_of(bucket, tasks, fails=False) == []
    assert rows_of(bucket, planned(bucket)) == [(0, it) for it in range(90)]


def test_nothing_that_reads_what_was_planned_looks_for_a_name() -> None:
    for module in (reading, fetching):
        source = Path(module.__file__).read_text(encoding="utf-8")
        for by_name in ("stored(", "stored_partition", "subscribed(", "has_topic", "topic_id("):
            assert by_name not in source, (module.__name__, by_name)


def test_an_object_that_is_missing_for_good() -> None:
    bucket = StoredTopics()
    bucket.publish({0: [(0, 0, 50)]})
    tasks = planned(bucket)
    bucket.delete(0)
    with pytest.raises(SourceError, match=r"orders-0 from offset 0 on: .*bucket fsck"):
        rows_of(bucket, tasks)


def test_a_damaged_block_names_its_object() -> None:
    bucket = StoredTopics()
    bucket.publish({0: [(0, 0, 50)]})
    tasks = planned(bucket)
    key = tasks[0].task[0].stored.key
    damaged = bytearray(bucket.objects[key])
    damaged[100] ^= 1
    bucket.objects[key] = bytes(damaged)
    with pytest.raises(SourceError, match=r"object .*unit/0 is damaged: .*checksum"):
        rows_of(bucket, tasks)


@pytest.mark.parametrize(
    ("options", "offsets"),
    [
        ({"startingTimestamp": str(START_MS + 42_000)}, range(42, 100)),
        ({"startingTimestamp": str(START_MS + 41_001)}, range(42, 100)),
        ({"endingTimestamp": str(START_MS + 10_000)}, range(7, 10)),
        ({"endingTimestamp": str(START_MS + 10**9)}, range(7, 100)),
        ({"startingOffsets": '{"orders": {"0": 90}}'}, range(90, 100)),
        ({"endingOffsets": '{"orders": {"0": 9}}'}, range(7, 9)),
        ({"startingOffsets": "earliest", "endingOffsets": "latest"}, range(7, 100)),
    ],
)
def test_bounds(options: dict[str, str], offsets: range) -> None:
    bucket = StoredTopics()
    bucket.publish({0: [(0, 0, 50)], 1: [(0, 50, 100)]}, [7])
    assert rows_of(bucket, planned(bucket, **options)) == [(0, it) for it in offsets]


def test_a_start_that_is_deleted() -> None:
    bucket = StoredTopics()
    bucket.publish({0: [(0, 0, 50)]}, [7])
    starting = {"startingOffsets": '{"orders": {"0": 3}}'}
    with pytest.raises(DataLossError, match="begins at offset 7; 3 to 6 are deleted"):
        planned(bucket, **starting)
    assert rows_of(bucket, planned(bucket, failOnDataLoss="false", **starting))[0] == (0, 7)


@pytest.mark.parametrize("option", ["startingOffsets", "endingOffsets"])
def test_offsets_that_are_not_in_the_bucket_yet(option: str) -> None:
    bucket = StoredTopics()
    bucket.publish({0: [(0, 0, 50)]})
    asked = {option: '{"orders": {"0": 51}}'}
    with pytest.raises(DataLossError, match=r"up to offset 50 only, .*; asked for is 51"):
        planned(bucket, **asked)
    found = rows_of(bucket, planned(bucket, failOnDataLoss="false", **asked))
    assert found == [(0, it) for it in range(50 if option == "endingOffsets" else 0)]


def test_a_time_that_nothing_is_as_new_as() -> None:
    bucket = StoredTopics()
    bucket.publish({0: [(0, 0, 50)]})
    late = {"startingTimestamp": str(START_MS + 10**9)}
    with pytest.raises(SourceError, match="no record as new as the time to begin at"):
        planned(bucket, **late)
    assert planned(bucket, startingOffsetsByTimestampStrategy="latest", **late) == []


def test_a_bucket_of_two_clusters() -> None:
    bucket = StoredTopics()
    bucket.publish({0: [(0, 0, 5)]})
    snapshot = bucket.objects[next(iter(bucket.keys("metadata")))]
    bucket.objects[f"metadata/other/{7:020d}-{1:020d}.checkpoint"] = snapshot
    with pytest.raises(OptionError, match="clusters other, unit: name one"):
        newest_catalog(bucket)
    assert newest_catalog(bucket, CLUSTER).index == 1


def test_a_bucket_without_metadata() -> None:
    with pytest.raises(SourceError, match="no metadata snapshot"):
        newest_catalog(StoredTopics())


def test_partitions_that_are_not_there() -> None:
    bucket = StoredTopics()
    bucket.publish({0: [(0, 0, 5)]})
    catalog = newest_catalog(bucket)
    with pytest.raises(OptionError, match="has no partition 1"):
        catalog.assigned([TopicPartition(TOPIC, 1)])
    with pytest.raises(OptionError, match="no regular expression"):
        catalog.matching("(")
    assert catalog.matching("ord.*") == [TopicPartition(TOPIC, 0)]
    with pytest.raises(
        OptionError, match="must name each partition that is read, and no other: other-0"
    ):
        planned(bucket, startingOffsets='{"orders": {"0": 1}, "other": {"0": 1}}')
