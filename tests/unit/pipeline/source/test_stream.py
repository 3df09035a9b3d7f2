"""Micro-batches: each offset once, whatever the limits; what is gone is told; where a query goes on."""

import json
import pickle
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.pipeline.source import stream_reader
from headrace.pipeline.source.bucket import Bucket, open_bucket
from headrace.pipeline.source.catalog import Catalog, TopicPartition
from headrace.pipeline.source.errors import DataLossError, OptionError, SourceError
from headrace.pipeline.source.offsets import Offsets
from headrace.pipeline.source.options import SourceOptions, read_options
from headrace.pipeline.source.snapshots import BucketMetadata, FreshCatalog, newest_catalog
from headrace.pipeline.source.stream import (
    METADATA,
    StreamOffset,
    first_offset,
    from_json,
    next_offset,
    stream_ranges,
    to_json,
)
from headrace.pipeline.source.stream_reader import PLANNED_WAIT_S, BucketStreamReader
from headrace.pipeline.source.tail.brokers import Clock
from tests.unit.pipeline.source.stored_topics import TOPIC, TOPIC_ID, Range, StoredTopics

FIRST, SECOND = TopicPartition(TOPIC, 0), TopicPartition(TOPIC, 1)
AGAIN = UUID(int=2)  # of a topic that was created again


def options(**given: str) -> SourceOptions:
    return read_options({"bucket": "file:///b", "subscribe": TOPIC, **given}, is_stream=True)


class BucketEnds:
    """Partitions end where the bucket's part does."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def by_timestamp(self, name: TopicPartition, timestamp_ms: int) -> int | None:
        raise AssertionError("no test asks")

    def ends(self, names: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return {it: self._catalog.stored(it).end_offset for it in names}

    def decided(self, begins: Offsets, ends: Offsets) -> Offsets:
        return ends


def following(catalog: Catalog, read: SourceOptions, position: StreamOffset) -> StreamOffset:
    return next_offset(catalog, read, position, BucketEnds(catalog))


def stored(
    *ranges: Range, starts: tuple[int, ...] = (0,), topic_id: UUID = TOPIC_ID
) -> StoredTopics:
    bucket = StoredTopics()
    bucket.publish({1: list(ranges)}, starts, topic_id=topic_id)
    return bucket


def ranges(
    bucket: StoredTopics, start: StreamOffset, end: StreamOffset, **given: str
) -> list[tuple[int, int, int]]:
    catalog = newest_catalog(bucket)
    found = stream_ranges(catalog, options(**given), start, end, BucketEnds(catalog))
    return [(it.name.partition, it.start_offset, it.end_offset) for it in found]


@settings(deadline=None, max_examples=60)
@given(
    ends=st.tuples(st.integers(1, 60), st.integers(1, 60)),
    starts=st.tuples(st.integers(0, 60), st.integers(0, 60)),
    limit=st.integers(1, 40),
    by_bytes=st.booleans(),
)
def test_micro_batches_have_each_offset_once(
    ends: tuple[int, int], starts: tuple[int, int], limit: int, *, by_bytes: bool
) -> None:
    begins = tuple(min(start, end - 1) for start, end in zip(starts, ends, strict=True))
    bucket = stored((0, 0, ends[0]), (2, 0, ends[1]), starts=begins)
    catalog = newest_catalog(bucket)
    name = "maxBytesPerTrigger" if by_bytes else "maxOffsetsPerTrigger"
    read = options(**{name: str(limit * 10 if by_bytes else limit)})
    position = first_offset(catalog, dict(zip((FIRST, SECOND), begins, strict=True)))
    seen: dict[int, list[int]] = {0: [], 1: []}
    while (end := following(catalog, read, position)) is not position:
        count = 0
        for it in stream_ranges(catalog, read, position, end, BucketEnds(catalog)):
            seen[it.name.partition].extend(range(it.start_offset, it.end_offset))
            count += it.end_offset - it.start_offset
        assert count > 0
        assert by_bytes or count <= limit + 1  # at least one record of each of two partitions
        position = end
    assert seen == {n: list(range(begins[n], ends[n])) for n in (0, 1)}


def test_a_limit_in_bytes_is_about_that() -> None:
    bucket = stored((0, 0, 1_000))
    catalog = newest_catalog(bucket)
    size_bytes = next(catalog.ranges(0, 0, 1_000)).share_bytes
    limit = options(maxBytesPerTrigger=str(size_bytes // 4))
    end = following(catalog, limit, first_offset(catalog, {FIRST: 0}))
    assert 240 <= end.offsets[FIRST] <= 260


def test_a_limit_is_shared_by_what_there_is() -> None:
    catalog = newest_catalog(stored((0, 0, 300), (2, 0, 100), starts=(0, 0)))
    begin = first_offset(catalog, {FIRST: 0, SECOND: 0})
    found = following(catalog, options(maxOffsetsPerTrigger="100"), begin)
    assert found.offsets == {FIRST: 75, SECOND: 25}


def test_a_new_partition_is_read_from_its_first_record() -> None:
    bucket = stored((0, 0, 10), (2, 0, 7), starts=(0, 0))
    catalog = newest_catalog(bucket)
    before = first_offset(catalog, {FIRST: 10})
    found = following(catalog, options(), before)
    assert ranges(bucket, before, found) == [(1, 0, 7)]


def test_records_that_retention_took_are_told() -> None:
    bucket = stored((0, 0, 20), starts=(5,))
    catalog = newest_catalog(bucket)
    before = first_offset(catalog, {FIRST: 3})
    end = following(catalog, options(), before)
    with pytest.raises(DataLossError, match="begins at offset 5; 3 to 4 are deleted"):
        ranges(bucket, before, end)
    assert ranges(bucket, before, end, failOnDataLoss="false") == [(0, 5, 20)]


def test_all_records_that_retention_took_are_told() -> None:
    bucket = stored((2, 0, 5), starts=(20, 0))
    before = first_offset(newest_catalog(bucket), {FIRST: 3, SECOND: 5})
    end = following(newest_catalog(bucket), options(), before)
    assert end.offsets == {FIRST: 20, SECOND: 5}
    with pytest.raises(DataLossError, match="3 to 19 are deleted"):
        ranges(bucket, before, end)
    assert ranges(bucket, before, end, failOnDataLoss="false") == []


def test_a_topic_that_was_deleted_is_told() -> None:
    before = StreamOffset({TopicPartition("gone", 0): 3, FIRST: 0}, {"gone": "x"})
    bucket = stored((0, 0, 20))
    chosen = {"subscribe": f"{TOPIC},gone"}
    end = following(newest_catalog(bucket), options(**chosen), before)
    assert end.offsets == {FIRST: 20}
    with pytest.raises(DataLossError, match="no longer chosen, since the last micro-batch: gone-0"):
        ranges(bucket, before, end, **chosen)
    assert ranges(bucket, before, end, **chosen, failOnDataLoss="false") == [(0, 0, 20)]


@pytest.mark.parametrize("end_offset", [5, 10, 15])
def test_a_topic_that_was_created_again_is_told(end_offset: int) -> None:
    before = first_offset(newest_catalog(stored((0, 0, 10))), {FIRST: 10})
    bucket = stored((0, 0, end_offset), topic_id=AGAIN)
    end = following(newest_catalog(bucket), options(), before)
    with pytest.raises(DataLossError, match="deleted and created again"):
        ranges(bucket, before, end)
    assert ranges(bucket, before, end, failOnDataLoss="false") == [(0, 0, end_offset)]


def test_a_topic_that_goes_between_the_end_and_the_plan_is_told() -> None:
    catalog = newest_catalog(stored((0, 0, 10)))
    before = first_offset(catalog, {FIRST: 0})
    end = following(catalog, options(), before)
    bucket = stored((0, 0, 10), topic_id=AGAIN)
    with pytest.raises(DataLossError, match=f"since the last micro-batch: {TOPIC}-0"):
        ranges(bucket, before, end)
    assert ranges(bucket, before, end, failOnDataLoss="false") == []


def test_the_offsets_of_the_kafka_source_are_gone_on_with() -> None:
    """Its checkpoint may be ahead of the bucket: what is missing is waited for."""
    position = from_json({TOPIC: {"0": 15}})
    behind, caught_up = stored((0, 0, 10)), stored((0, 0, 25))
    assert following(newest_catalog(behind), options(), position) is position
    end = following(newest_catalog(caught_up), options(), position)
    assert ranges(caught_up, position, end) == [(0, 15, 25)]


def test_a_planned_batch_that_the_bucket_does_not_have_is_an_error() -> None:
    start, end = from_json({TOPIC: {"0": 5}}), from_json({TOPIC: {"0": 15}})
    bucket = stored((0, 0, 10))
    with pytest.raises(DataLossError, match=r"up to offset 10 only.*the checkpoint says 15"):
        ranges(bucket, start, end)
    assert ranges(bucket, start, end, failOnDataLoss="false") == [(0, 5, 10)]


def test_offsets_survive_the_checkpoint() -> None:
    catalog = newest_catalog(stored((0, 0, 10), (2, 0, 7), starts=(0, 0)))
    offset = first_offset(catalog, {FIRST: 3, SECOND: 4})
    shown = to_json(offset, catalog, options(), 5_000)
    assert from_json(shown) == offset
    assert shown[TOPIC] == {"0": 3, "1": 4}
    told = shown[METADATA]
    assert (told["cluster"], told["index"], told["term"], told["timeMs"]) == ("unit", 1, 1, 1_000)
    assert told["ageMs"] == 4_000
    assert "bucketOffsets" not in told


@pytest.mark.parametrize("found", [{"a": 3}, {"a": {"x": 1}}, {"a": {"0": None}}])
def test_offsets_of_another_source_are_refused(found: dict[str, Any]) -> None:
    with pytest.raises(SourceError, match="offsets of another source"):
        from_json(found)


def test_options_of_a_stream() -> None:
    found = options(maxOffsetsPerTrigger="7", maxBytesPerTrigger="2m")
    assert (found.max_offsets_per_trigger, found.max_bytes_per_trigger) == (7, 2 << 20)
    assert found.starting.offset == -1  # latest
    assert options(startingOffsets="latest").starting == found.starting
    for name in ("endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp"):
        with pytest.raises(OptionError, match=f"option {name} is for batches"):
            options(**{name: "1"})
    with pytest.raises(OptionError, match="at least 1, not 0"):
        options(maxOffsetsPerTrigger="0")


class Listed(StoredTopics):
    """Counts how often it is listed."""

    listings = 0

    def keys(self, folder: str) -> list[str]:
        self.listings += 1
        return super().keys(folder)


def test_the_bucket_is_listed_once_a_second() -> None:
    bucket, now_s = Listed(), [100.0]
    bucket.publish({1: [(0, 0, 10)]})
    fresh = FreshCatalog(BucketMetadata(bucket, ""), lambda: now_s[0])
    first = fresh.newest()
    bucket.publish({1: [(0, 0, 20)]})
    for _ in range(50):
        assert fresh.newest() is first
    assert bucket.listings == 1
    now_s[0] += 1
    assert (first.index, fresh.newest().index) == (1, 2)


def test_metadata_never_go_back() -> None:
    bucket, now_s = StoredTopics(), [100.0]
    bucket.publish({1: [(0, 0, 10)]})
    older = dict(bucket.objects)
    bucket.publish({1: [(0, 0, 20)]})
    fresh = FreshCatalog(BucketMetadata(bucket, ""), lambda: now_s[0])
    assert fresh.newest().index == 2
    bucket.objects = older
    now_s[0] += 60
    assert fresh.newest().index == 2


def test_the_first_batch_keeps_the_place_before_the_first_record(tmp_path: Path) -> None:
    """A query from the latest offset that stops before a record comes does not miss those that come meanwhile."""
    bucket = stored((0, 0, 10))
    read = options(bucket=bucket.write_to(tmp_path))
    reader = BucketStreamReader(read)
    latest = reader.latestOffset()
    initial = reader.initialOffset()
    assert initial == {TOPIC: {"0": 10}}
    assert latest != initial
    assert reader.partitions(initial, latest) == []
    assert reader.latestOffset() == latest

    bucket.publish({1: [(0, 0, 30)]})
    bucket.write_to(tmp_path)
    again = BucketStreamReader(read)
    assert again.partitions(latest, latest) == []
    newer = again.latestOffset()
    assert newer[TOPIC] == {"0": 30}
    (task,) = again.partitions(latest, newer)
    found = [it for batch in again.read(task) for it in batch.to_pylist()]
    assert [it["offset"] for it in found] == list(range(10, 30))


def test_a_limit_counts_from_the_checkpoint(tmp_path: Path) -> None:
    bucket = stored((0, 0, 100))
    uri = bucket.write_to(tmp_path)
    reader = BucketStreamReader(options(bucket=uri, maxOffsetsPerTrigger="10"))
    reader.partitions({TOPIC: {"0": 40}}, {TOPIC: {"0": 40}})
    assert reader.latestOffset()[TOPIC] == {"0": 50}
    assert reader.latestOffset()[TOPIC] == {"0": 50}  # not planned yet


def checked_ranges(reader: BucketStreamReader, start: Any, end: Any) -> list[tuple[str, int, int]]:
    return sorted(
        (
            f"{part.name.topic}-{part.name.partition}",
            part.stored.start_offset,
            part.stored.end_offset,
        )
        for task in reader.partitions(start, end)
        for part in task.task
    )


@pytest.mark.parametrize("starting", ["earliest", "latest"])
def test_a_query_that_died_in_its_first_micro_batch_begins_where_it_began(
    tmp_path: Path, starting: str
) -> None:
    bucket = stored((0, 0, 20))
    read = options(bucket=bucket.write_to(tmp_path), startingOffsets=starting)
    died = BucketStreamReader(read)
    died.initialOffset()
    bucket.publish({1: [(0, 0, 30)]})
    bucket.write_to(tmp_path)
    died._fresh = None  # a second has passed
    end = json.loads(json.dumps(died.latestOffset()))
    begin = 0 if starting == "earliest" else 20

    # Partitions and records come, and Spark asks for the initial offset again, as nothing was committed.
    bucket.publish({1: [(0, 0, 40), (2, 0, 7), (4, 0, 9)]}, (0, 0, 0))
    bucket.write_to(tmp_path)
    again = BucketStreamReader(read)
    assert again.partitions(end, end) == []
    assert checked_ranges(again, again.initialOffset(), end) == [(f"{TOPIC}-0", begin, 30)]
    after = again.latestOffset()
    assert METADATA in after
    assert "first" not in after[METADATA]
    assert checked_ranges(again, end, after) == [
        (f"{TOPIC}-0", 30, 40),
        (f"{TOPIC}-1", 0, 7),
        (f"{TOPIC}-2", 0, 9),
    ]


@pytest.mark.parametrize(
    ("starting", "begin"),
    [("earliest", 0), ("latest", 15), (json.dumps({TOPIC: {"0": 3}}), 3)],
)
def test_a_first_plan_of_another_source_lacks_what_is_newer_and_loses_nothing(
    tmp_path: Path, starting: str, begin: int
) -> None:
    """Of an earlier release, or of Spark's Kafka source: it was not committed, and has no beginning."""
    bucket = stored((0, 0, 20), (2, 0, 5), starts=(0, 0))
    reader = BucketStreamReader(options(bucket=bucket.write_to(tmp_path), startingOffsets=starting))
    planned = {TOPIC: {"0": 15}, METADATA: {"topicIds": {TOPIC: str(TOPIC_ID)}}}
    assert reader.partitions(planned, planned) == []
    initial = reader.initialOffset()
    assert initial == {TOPIC: {"0": begin}}
    expected = [(f"{TOPIC}-0", begin, 15)] if begin < 15 else []
    assert checked_ranges(reader, initial, planned) == expected
    after = reader.latestOffset()
    assert checked_ranges(reader, planned, after) == [(f"{TOPIC}-0", 15, 20), (f"{TOPIC}-1", 0, 5)]


@pytest.mark.parametrize(("starting", "begin"), [("earliest", 0), ("latest", 15)])
def test_so_does_one_of_a_spark_that_does_not_tell_the_place_first(
    tmp_path: Path, starting: str, begin: int
) -> None:
    """Spark 4.3 asks for the initial offset, and plans."""
    bucket = stored((0, 0, 20), (2, 0, 5), starts=(0, 0))
    reader = BucketStreamReader(options(bucket=bucket.write_to(tmp_path), startingOffsets=starting))
    planned = {TOPIC: {"0": 15}, METADATA: {"topicIds": {TOPIC: str(TOPIC_ID)}}}
    expected = [(f"{TOPIC}-0", begin, 15)] if begin < 15 else []
    assert checked_ranges(reader, reader.initialOffset(), planned) == expected


def test_offsets_to_begin_at_need_not_name_partitions_that_are_newer_than_the_first_plan(
    tmp_path: Path,
) -> None:
    bucket = stored((0, 0, 20))
    read = options(bucket=bucket.write_to(tmp_path), startingOffsets=json.dumps({TOPIC: {"0": 3}}))
    end = BucketStreamReader(read).latestOffset()
    bucket.publish({1: [(0, 0, 30), (2, 0, 5)]}, (0, 0))
    bucket.write_to(tmp_path)
    again = BucketStreamReader(read)
    again.partitions(end, end)
    assert checked_ranges(again, again.initialOffset(), end) == [(f"{TOPIC}-0", 3, 20)]


def test_a_micro_batch_that_goes_back_is_told() -> None:
    bucket = stored((0, 0, 20), (2, 0, 5), starts=(0, 0))
    start = first_offset(newest_catalog(bucket), {FIRST: 10, SECOND: 3})
    end = first_offset(newest_catalog(bucket), {FIRST: 7, SECOND: 5})
    with pytest.raises(DataLossError, match="goes back from offset 10 to 7"):
        ranges(bucket, start, end)
    assert ranges(bucket, start, end, failOnDataLoss="false") == [(1, 3, 5)]


class TestARunOfWhatIsAvailable:
    """Under the wrapper of Spark 4.0 for `availableNow`: asked for its end before the query's place is known."""

    def test_goes_on_to_the_end(self, tmp_path: Path) -> None:
        bucket = stored((0, 0, 20))
        reader = BucketStreamReader(options(bucket=bucket.write_to(tmp_path)))
        end = reader.latestOffset()
        place = {TOPIC: {"0": 5}, METADATA: {"topicIds": {TOPIC: str(TOPIC_ID)}}}
        assert reader.partitions(place, place) == []
        assert checked_ranges(reader, place, end) == [(f"{TOPIC}-0", 5, 20)]

    def test_does_not_go_back(self, tmp_path: Path) -> None:
        bucket = stored((0, 0, 20))
        reader = BucketStreamReader(options(bucket=bucket.write_to(tmp_path)))
        reader.latestOffset()
        place = {TOPIC: {"0": 25}}  # of a query with a tail, or of Spark's Kafka source
        with pytest.raises(SourceError, match="up to offset 20 only, and the query has read up to"):
            reader.partitions(place, place)

    @pytest.mark.parametrize("limit", ["maxOffsetsPerTrigger", "maxBytesPerTrigger"])
    def test_is_refused_with_a_limit(self, tmp_path: Path, limit: str) -> None:
        bucket = stored((0, 0, 20))
        reader = BucketStreamReader(options(bucket=bucket.write_to(tmp_path), **{limit: "10"}))
        reader.latestOffset()
        place = {TOPIC: {"0": 10}}
        with pytest.raises(SourceError, match="a limit has nothing to count from"):
            reader.partitions(place, place)


def test_a_topic_that_was_created_again_after_the_first_plan_is_told(tmp_path: Path) -> None:
    bucket = stored((0, 0, 20))
    read = options(bucket=bucket.write_to(tmp_path), startingOffsets="earliest")
    end = BucketStreamReader(read).latestOffset()
    bucket.publish({1: [(4, 0, 20)]}, topic_id=AGAIN, first_stream=4)
    bucket.write_to(tmp_path)
    again = BucketStreamReader(read)
    with pytest.raises(DataLossError, match=f"since the last micro-batch: {TOPIC}-0"):
        again.partitions(again.initialOffset(), end)


def test_nothing_is_behind_the_target() -> None:
    catalog = newest_catalog(stored((0, 0, 20), (2, 0, 5), starts=(0, 0)))
    target = StreamOffset({FIRST: 12})
    lookup = BucketEnds(catalog)
    begin = first_offset(catalog, {FIRST: 0})
    first = next_offset(catalog, options(maxOffsetsPerTrigger="10"), begin, lookup, target)
    assert first.offsets == {FIRST: 10, SECOND: 0}
    second = next_offset(catalog, options(), first, lookup, target)
    assert second.offsets == {FIRST: 12, SECOND: 0}
    assert next_offset(catalog, options(), second, lookup, target) is second


def test_a_stream_that_waits_opens_its_bucket_once_and_looks_at_what_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark asks every 10 ms."""
    uri = stored((0, 0, 20)).write_to(tmp_path)
    opened: list[str] = []
    looked: list[int] = []

    def opening(uri: str) -> Bucket:
        opened.append(uri)
        return open_bucket(uri)

    def looking(catalog: Catalog, *given: Any) -> StreamOffset:
        looked.append(catalog.index)
        return next_offset(catalog, *given)

    monkeypatch.setattr(stream_reader, "open_bucket", opening)
    monkeypatch.setattr(stream_reader, "next_offset", looking)
    reader = BucketStreamReader(options(bucket=uri, startingOffsets="earliest"))
    end = reader.latestOffset()
    reader.partitions(reader.initialOffset(), end)
    for _ in range(500):
        assert reader.latestOffset() is end
    assert opened == [uri]
    assert looked == [1, 1]


class Waiting:
    """Time that passes by waiting; something happens after some of it."""

    def __init__(self, after_s: float, act: Callable[[], None]) -> None:
        self.now_s, self._due_s, self._act = 0.0, after_s, act

    def monotonic_s(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds
        if self.now_s >= self._due_s:
            self._due_s = float("inf")
            self._act()


@pytest.mark.parametrize("after_s", [0.0, 90.0, 1e9])
def test_a_planned_batch_is_waited_for(tmp_path: Path, after_s: float) -> None:
    """The micro-batch of a query with a tail that did not end, planned again without the tail."""
    bucket = stored((0, 0, 10))
    uri = bucket.write_to(tmp_path)

    def upload() -> None:
        bucket.publish({1: [(0, 0, 30)]})
        bucket.write_to(tmp_path)

    passing = Waiting(after_s, upload)
    clock = Clock(passing.monotonic_s, passing.sleep, lambda: 0)
    reader = BucketStreamReader(options(bucket=uri), clock)
    start, end = {TOPIC: {"0": 5}}, {TOPIC: {"0": 20}}
    if after_s > PLANNED_WAIT_S:
        with pytest.raises(DataLossError, match="up to offset 10 only"):
            reader.partitions(start, end)
        assert passing.now_s <= PLANNED_WAIT_S + 1
        return
    (task,) = reader.partitions(start, end)
    found = [it for batch in reader.read(task) for it in batch.to_pylist()]
    assert [it["offset"] for it in found] == list(range(5, 20))
    assert after_s <= passing.now_s < after_s + 3


def test_a_reader_goes_to_workers_without_what_the_driver_keeps(tmp_path: Path) -> None:
    reader = BucketStreamReader(options(bucket=stored((0, 0, 10)).write_to(tmp_path)))
    end = reader.latestOffset()
    tasks = reader.partitions({TOPIC: {"0": 0}}, end)
    copy = pickle.loads(pickle.dumps(reader))
    assert copy._ends is copy._fresh is None
    assert reader._ends is not None
    assert [list(copy.read(it)) for it in tasks] == [list(reader.read(it)) for it in tasks]
