"""Reading many partitions: limits, at least one batch, cold and hot ones, errors."""

import asyncio
from itertools import product
from typing import Any
from uuid import UUID

import pytest

from headrace.broker.fetch.reader import MAX_COLD_READS, FetchReader, ReadResult, withheld
from headrace.broker.fetch.session import SessionPartition
from headrace.broker.fetch.waiting import CountedBytes
from headrace.broker.partition.read_side import Isolation
from headrace.broker.partition.traffic import Traffic
from headrace.broker.telemetry.request_metrics import RequestMetrics
from headrace.protocol.errors import ErrorCode
from headrace.protocol.fetch.request import FetchPartition
from headrace.steps import completed
from headrace.storage.errors import (
    CorruptObjectError,
    EngineFailedError,
    FencedError,
    ObjectStoreError,
    OffsetOutOfRangeError,
    StorageError,
)
from headrace.turns import Turns
from tests.unit.broker.cluster_scene import (
    FakeClient,
    FakeRegistry,
    run,
    topic_id,
    topic_records,
)
from tests.unit.broker.fetch.session_scene import session_of
from tests.unit.broker.partition.transactional import write

PLENTY = 1 << 20


class Log:
    """Partitions "a", "b" and "c" with four batches of one size each."""

    def __init__(self, *, cold: str = "") -> None:
        self.registry = FakeRegistry(FakeClient(*topic_records("elsewhere", 9, leader=2)))
        self.batch_bytes = 0
        for number, topic in enumerate("abc", 1):
            served = self.registry.serve(topic, number, leader_epoch=3)
            self.batch_bytes = served.fill(4)
            served.data.cold_below = 4 if topic in cold else 0
        self.metrics = RequestMetrics(lambda: 0.0)
        self.reader = FetchReader(self.registry, self.metrics, Turns(lambda: 0.0, 1.0))  # type: ignore[arg-type]

    def __getitem__(self, topic: str) -> Any:
        return self.registry.served[topic, 0].data

    def targets(
        self, topics: str, *, max_bytes: int, offset: int, epoch: int
    ) -> list[SessionPartition]:
        asked = FetchPartition(0, epoch, offset, -1, -1, max_bytes)
        by_topic: dict[str | UUID, list[FetchPartition]] = {topic: [asked] for topic in topics}
        return session_of(by_topic, by_id=False).look()

    def counted(
        self, target: SessionPartition, before: CountedBytes | None
    ) -> tuple[int, int] | None:
        found = self.reader.count(target, before, by_id=False, isolation=0)
        return None if found is None else found[:2]

    def both(
        self,
        topics: str,
        *,
        answer: int = PLENTY,
        partition: int = PLENTY,
        offset: int = 0,
        epoch: int = -1,
    ) -> tuple[ReadResult, ReadResult]:
        """From memory alone, and from wherever the data is."""
        targets = self.targets(topics, max_bytes=partition, offset=offset, epoch=epoch)
        cached = self.reader.read_cached(targets, answer, by_id=False, isolation=0)
        return cached, run(self.reader.read(targets, answer, by_id=False, isolation=0))

    def counts(self, topics: str, **options: int) -> list[int]:
        """Batches of each partition; the same from memory, when all of it is there."""
        cached, whole = self.both(topics, **options)
        counted = [len(read.batches) for read in whole.reads]
        if not cached.has_cold:
            assert [len(read.batches) for read in cached.reads] == counted
            assert cached.size_bytes == whole.size_bytes
        assert whole.size_bytes == sum(counted) * self.batch_bytes
        assert [read.size_bytes for read in whole.reads] == [n * self.batch_bytes for n in counted]
        return counted


ANYWHERE = pytest.mark.parametrize("cold", ["", "a", "b", "c", "ab", "bc", "ac", "abc"])


@ANYWHERE
def test_with_room_for_all_everything_is_read_in_the_order_of_the_request(cold: str) -> None:
    log = Log(cold=cold)
    assert log.counts("abc") == [4, 4, 4]
    _, whole = log.both("cab")
    assert [read.target.topic for read in whole.reads] == ["c", "a", "b"]


def test_what_is_read_counts_as_traffic_of_a_partition_that_counts() -> None:
    log = Log()
    counting = log.registry.served["a", 0].partition
    counting.traffic = Traffic()
    targets = log.targets("ab", max_bytes=PLENTY, offset=0, epoch=-1)
    log.reader.read_cached(targets, PLENTY, by_id=False, isolation=0)
    assert (counting.traffic.bytes_out, counting.traffic.requests) == (4 * log.batch_bytes, 1)
    assert log.registry.served["b", 0].partition.traffic is None


@ANYWHERE
def test_the_first_partition_with_data_gives_one_batch_whatever_the_limits(cold: str) -> None:
    """KIP-74: a consumer always makes progress; from then on the limits are strict."""
    log = Log(cold=cold)
    assert log.counts("abc", answer=1) == [1, 0, 0]
    assert log.counts("abc", answer=0) == [1, 0, 0]
    assert log.counts("abc", partition=1) == [1, 0, 0]
    assert log.counts("abc", partition=0) == [1, 0, 0]


@ANYWHERE
def test_partitions_at_their_end_leave_the_first_batch_to_the_next(cold: str) -> None:
    log = Log(cold=cold)
    log["a"].batches.clear()
    log["a"].confirm_offset = log["a"].next_offset = 0
    assert log.counts("abc", answer=1) == [0, 1, 0]


@ANYWHERE
def test_the_limit_of_the_answer_holds_over_all_partitions(cold: str) -> None:
    log = Log(cold=cold)
    size = log.batch_bytes
    assert log.counts("abc", answer=5 * size) == [4, 1, 0]
    assert log.counts("abc", answer=6 * size - 1) == [4, 1, 0]
    assert log.counts("abc", answer=11 * size) == [4, 4, 3]


@ANYWHERE
def test_the_limit_of_a_partition_holds_for_each(cold: str) -> None:
    log = Log(cold=cold)
    size = log.batch_bytes
    assert log.counts("abc", partition=2 * size) == [2, 2, 2]
    assert log.counts("abc", partition=3 * size - 1) == [2, 2, 2]
    assert log.counts("abc", partition=2 * size, answer=3 * size) == [2, 1, 0]


def test_a_later_partition_whose_first_batch_is_too_large_does_not_stop_those_behind_it() -> None:
    """2.7: strict after the first, for each partition by itself."""
    log = Log()
    log.registry.serve("d", 4).fill(1, value_bytes=5_000)
    room = 4 * log.batch_bytes + 4_000
    assert [len(read.batches) for read in log.both("adb", answer=room)[1].reads] == [4, 0, 4]


def test_the_batch_that_holds_the_offset_is_returned_whole() -> None:
    log = Log()
    served = log.registry.serve("d", 4)
    served.fill(1)
    served.data.batches[0] = served.data.batches[0]._replace(count=5)
    served.data.next_offset = served.data.confirm_offset = 5
    (read,) = log.both("d", offset=3)[1].reads
    assert [batch.base_offset for batch in read.batches] == [0]


def test_nothing_beyond_the_high_watermark_is_read_and_being_there_is_no_error() -> None:
    """2.7: HW < offset <= LEO is empty, without an error."""
    log = Log()
    served = log.registry.served["a", 0]
    served.data.append(b"unconfirmed", 2, lambda _error: None)
    for offset in (4, 5, 6):
        for result in log.both("a", offset=offset):
            (read,) = result.reads
            assert (read.error, list(read.batches)) == (ErrorCode.NONE, [])
            assert (read.high_watermark, result.has_error) == (4, False)


@pytest.mark.parametrize("offset", [-1, 1, 5, 1 << 40])
def test_offsets_outside_of_the_log_are_out_of_range(offset: int) -> None:
    log = Log()
    log["a"].start_offset = 2
    for result in log.both("a", offset=offset):
        assert result.has_error
        assert result.reads[0].error == ErrorCode.OFFSET_OUT_OF_RANGE
        assert list(result.reads[0].batches) == []


@pytest.mark.parametrize(
    ("epoch", "error"),
    [
        (3, ErrorCode.NONE),
        (-1, ErrorCode.NONE),
        (2, ErrorCode.FENCED_LEADER_EPOCH),
        (4, ErrorCode.UNKNOWN_LEADER_EPOCH),
    ],
)
def test_the_leader_epoch_that_a_client_believes_in_is_checked(
    epoch: int, error: ErrorCode
) -> None:
    """2.10."""
    for result in Log().both("a", epoch=epoch):
        assert result.reads[0].error == error
        assert result.has_error == (error != ErrorCode.NONE)
        assert bool(result.reads[0].batches) == (error == ErrorCode.NONE)


def test_an_error_of_one_partition_does_not_spoil_the_others() -> None:
    log = Log()
    _, whole = log.both("axb")
    assert [read.error for read in whole.reads] == [0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, 0]
    assert [len(read.batches) for read in whole.reads] == [4, 0, 4]
    assert whole.has_error


def test_partitions_that_are_not_here_say_why() -> None:
    reader = Log().reader
    asked = FetchPartition(0, -1, 0, -1, -1, PLENTY)
    by_name = session_of({"elsewhere": [asked], "no": [asked]}, by_id=False).look()
    errors = [
        read.error for read in reader.read_cached(by_name, PLENTY, by_id=False, isolation=0).reads
    ]
    assert errors == [ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    by_id = session_of({topic_id(1): [asked], topic_id(99): [asked]}, by_id=True).look()
    errors = [
        read.error for read in reader.read_cached(by_id, PLENTY, by_id=True, isolation=0).reads
    ]
    assert errors == [ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_ID]


def test_memory_alone_marks_what_is_cold_and_goes_on() -> None:
    cached, _ = Log(cold="b").both("abc")
    assert cached.has_cold
    assert [read.is_cold for read in cached.reads] == [False, True, False]
    assert [len(read.batches) for read in cached.reads] == [4, 0, 4]


def test_the_bucket_is_not_asked_for_what_does_not_fit_any_more() -> None:
    log = Log(cold="abc")
    assert log.counts("abc", answer=1) == [1, 0, 0]
    assert [log[topic].bucket_reads for topic in "abc"] == [1, 0, 0]


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (OffsetOutOfRangeError("trimmed"), ErrorCode.OFFSET_OUT_OF_RANGE),
        (FencedError("moved"), ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (EngineFailedError("device"), ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (CorruptObjectError("checksum"), ErrorCode.CORRUPT_MESSAGE),
        (ObjectStoreError("503"), ErrorCode.KAFKA_STORAGE_ERROR),
    ],
)
def test_what_storage_says_becomes_an_error_of_the_partition(
    failure: StorageError, error: ErrorCode
) -> None:
    log = Log(cold="a")
    log["a"].bucket_error = failure
    _, whole = log.both("ab")
    assert [(read.error, len(read.batches)) for read in whole.reads] == [(error, 0), (0, 4)]
    assert whole.has_error


def test_where_more_than_was_read_is_there_the_limit_counts_as_reached() -> None:
    """2.7: min_bytes counts what is there, capped by the partition's limit, not what whole batches fill of it."""
    log = Log()
    size = log.batch_bytes
    cases = [
        ("a", {"answer": 2 * size + 9}, 2 * size + 9),
        ("a", {"partition": 2 * size + 9}, 2 * size + 9),
        ("ab", {"partition": 2 * size + 9}, 4 * size + 18),
        ("ab", {"answer": 5 * size + 9}, 5 * size + 9),
        ("ab", {"answer": 4 * size}, 4 * size),
        ("a", {"answer": 1}, size),
        ("ab", {}, 8 * size),
    ]
    for topics, limits, available in cases:
        for result in log.both(topics, **limits):
            assert result.available_bytes == available, (topics, limits)


def test_what_may_wait_for_the_bucket_is_listened_to_before_it_is_read() -> None:
    async def main() -> None:
        log = Log(cold="a")
        log["a"].bucket = asyncio.Event()
        targets = log.targets("axc", max_bytes=PLENTY, offset=0, epoch=-1)
        reading = asyncio.create_task(log.reader.read(targets, PLENTY, by_id=False, isolation=0))
        await asyncio.sleep(0.001)
        for topic in "ac":
            assert len(log.registry.served[topic, 0].partition.reads.readers) == 1
        log["a"].bucket.set()
        await reading

    run(main())


class TestCount:
    """What a waiting Fetch counts of a partition that has moved."""

    def test_it_goes_on_where_it_ended(self) -> None:
        log = Log()
        (target,) = log.targets("a", max_bytes=PLENTY, offset=1, epoch=-1)
        found = log.reader.count(target, None, by_id=False, isolation=0)
        assert found is not None
        assert found[:2] == (4, 3 * log.batch_bytes)
        assert log.reader.count(target, found, by_id=False, isolation=0) == found
        log.registry.served["a", 0].fill(2)
        assert log.counted(target, found) == (6, 5 * log.batch_bytes)

    def test_it_listens(self) -> None:
        log = Log()
        (target,) = log.targets("a", max_bytes=PLENTY, offset=4, epoch=-1)
        partition = log.registry.served["a", 0].partition
        for _ in range(2):
            assert log.counted(target, None) == (4, 0)
            assert len(partition.reads.readers) == 1
        log.registry.served["a", 0].fill(1)
        assert not partition.reads.readers

    def test_the_limit_of_the_partition_counts_where_more_is_there(self) -> None:
        log = Log()
        limit = 2 * log.batch_bytes + 9
        (target,) = log.targets("a", max_bytes=limit, offset=0, epoch=-1)
        found = log.reader.count(target, None, by_id=False, isolation=0)
        assert found is not None
        assert found[:2] == (2, limit)
        assert log.reader.count(target, found, by_id=False, isolation=0) == found

    def test_what_moves_counts_as_in_a_count_of_everything(self) -> None:
        log = Log()
        limit = 2 * log.batch_bytes + 9
        (target,) = log.targets("a", max_bytes=limit, offset=2, epoch=-1)
        found = log.reader.count(target, None, by_id=False, isolation=0)
        assert found is not None
        assert found[:2] == (4, 2 * log.batch_bytes)
        log.registry.served["a", 0].fill(1)
        assert log.counted(target, found) == log.counted(target, None) == (4, limit)

    def test_a_limit_of_nothing_lets_one_batch_through(self) -> None:
        log = Log()
        (target,) = log.targets("a", max_bytes=0, offset=3, epoch=-1)
        assert log.counted(target, None) == (4, log.batch_bytes)

    @pytest.mark.parametrize("why", ["cold", "offset", "epoch", "gone"])
    def test_what_must_be_read_to_know_is_not_counted(self, why: str) -> None:
        log = Log(cold="a" if why == "cold" else "")
        offset, epoch = 9 if why == "offset" else 0, 2 if why == "epoch" else -1
        topic = "x" if why == "gone" else "a"
        (target,) = log.targets(topic, max_bytes=PLENTY, offset=offset, epoch=epoch)
        assert log.reader.count(target, None, by_id=False, isolation=0) is None

    def test_another_log_in_the_place_of_the_one_that_was_counted_must_be_read(self) -> None:
        log = Log()
        (target,) = log.targets("a", max_bytes=PLENTY, offset=0, epoch=-1)
        found = log.reader.count(target, None, by_id=False, isolation=0)
        log.registry.served["a", 0].partition.retire()
        log.registry.serve("a", 1, leader_epoch=4).fill(9)
        assert log.reader.count(target, found, by_id=False, isolation=0) is None


def test_what_is_not_decided_is_neither_counted_nor_read_to_know() -> None:
    log = Log()
    partition = log.registry.serve("z", 1).partition
    written = log.registry.served["z", 0]
    written.fill(1)
    write(partition, 7)
    written.data.confirm()
    (target,) = log.targets("z", max_bytes=PLENTY, offset=1, epoch=-1)
    for isolation, end in ((Isolation.READ_COMMITTED, 1), (Isolation.READ_UNCOMMITTED, 2)):
        found = log.reader.count(target, None, by_id=False, isolation=isolation)
        assert found is not None
        assert (found.end_offset, found.size_bytes > 0) == (end, end == 2)


class TestSideBySide:
    """Cold partitions of one Fetch wait for the bucket together, and give what they gave one after the other."""

    def test_all_are_asked_before_the_first_has_answered(self) -> None:
        async def main() -> None:
            log = Log(cold="ac")
            for topic in "abc":
                log[topic].bucket = asyncio.Event()
            targets = log.targets("abc", max_bytes=PLENTY // 4, offset=0, epoch=-1)
            reading = asyncio.create_task(
                log.reader.read(targets, PLENTY, by_id=False, isolation=0)
            )
            await asyncio.sleep(0.001)
            assert [log[topic].bucket_reads for topic in "abc"] == [1, 0, 1]
            log["c"].bucket.set()
            await asyncio.sleep(0.001)
            assert not reading.done()
            log["a"].bucket.set()
            result = await reading
            assert [len(read.batches) for read in result.reads] == [4, 4, 4]

        run(main())

    def test_so_many_at_a_time(self) -> None:
        async def main() -> None:
            log = Log()
            streams = []
            for index in range(1, MAX_COLD_READS + 4):
                served = log.registry.serve("a", 1, index)
                served.fill(1)
                served.data.cold_below = 1
                served.data.bucket = asyncio.Event()
                streams.append(served.data)
            asked = FetchPartition(0, -1, 0, -1, -1, 1000)
            wanted = [
                asked._replace(partition_index=index) for index in range(1, MAX_COLD_READS + 4)
            ]
            targets = session_of({"a": wanted}, by_id=False).look()
            reading = asyncio.create_task(
                log.reader.read(targets, PLENTY, by_id=False, isolation=0)
            )
            for _ in range(5):
                await asyncio.sleep(0)
            assert sum(stream.bucket_reads for stream in streams) == MAX_COLD_READS
            for stream in streams:
                stream.bucket.set()
            result = await reading
            assert [len(read.batches) for read in result.reads] == [1] * len(streams)

        run(main())

    @pytest.mark.parametrize("short", [0, 1, 3])
    def test_the_same_as_if_all_were_in_memory(self, short: int) -> None:
        hot, size = Log(), Log().batch_bytes
        limits = [0, 1, size, size + 1, 2 * size, 3 * size, 5 * size, 9 * size, PLENTY]
        hot["a"].confirm_offset = 4 - short  # gives less than it is planned for
        answers = {
            (answer, partition): hot.both("abc", answer=answer, partition=partition)[1]
            for answer, partition in product(limits, limits)
        }
        for cold in ("a", "b", "c", "ab", "bc", "ac", "abc"):
            log = Log(cold=cold)
            log["a"].confirm_offset = 4 - short
            for (answer, partition), expected in answers.items():
                found = log.both("abc", answer=answer, partition=partition)[1]
                assert [len(it.batches) for it in found.reads] == [
                    len(it.batches) for it in expected.reads
                ], (cold, answer, partition)
                assert found.size_bytes == expected.size_bytes
                assert found.available_bytes == expected.available_bytes

    def test_a_first_batch_larger_than_planned_leaves_no_room_for_the_others(self) -> None:
        log = Log(cold="abc")
        size = log.batch_bytes
        # "a" may give half a batch and gives one; "b", asked for the other half at the same time, gave one as well.
        assert log.counts("abc", answer=size, partition=size // 2) == [1, 0, 0]
        assert log["b"].bucket_reads == 1

    def test_who_fails_leaves_the_first_batch_to_the_next(self) -> None:
        log = Log(cold="abc")
        log["a"].bucket_error = ObjectStoreError("503")
        _, whole = log.both("abc", answer=1)
        assert [len(read.batches) for read in whole.reads] == [0, 1, 0]
        assert [read.error for read in whole.reads] == [
            ErrorCode.KAFKA_STORAGE_ERROR,
            ErrorCode.NONE,
            ErrorCode.NONE,
        ]

    def test_one_who_gives_up_gives_all_up(self) -> None:
        async def main() -> None:
            log = Log(cold="ab")
            for topic in "ab":
                log[topic].bucket = asyncio.Event()
            targets = log.targets("ab", max_bytes=1000, offset=0, epoch=-1)
            reading = asyncio.create_task(
                log.reader.read(targets, PLENTY, by_id=False, isolation=0)
            )
            await asyncio.sleep(0.001)
            assert [log[topic].bucket_reads for topic in "ab"] == [1, 1]
            reading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reading
            await asyncio.sleep(0)
            assert asyncio.all_tasks() == {asyncio.current_task()}

        run(main())


class TestWithoutAValidLease:
    def test_nothing_is_given_that_was_read(self) -> None:
        log = Log(cold="b")
        log.registry.client.has_lease = False
        for result in log.both("abc"):
            assert (result.reads, result.has_lease) == ([], False)
            assert (result.size_bytes, result.has_error, result.has_cold) == (0, True, False)
        targets = log.targets("abc", max_bytes=PLENTY, offset=0, epoch=-1)
        reads = completed(withheld(targets))
        assert [read.target for read in reads] == targets
        assert [read.error for read in reads] == [ErrorCode.NOT_LEADER_OR_FOLLOWER] * 3
        assert [list(read.batches) for read in reads] == [[]] * 3
        assert {read.high_watermark for read in reads} == {-1}

    def test_it_is_asked_once_for_each_look_and_after_reading(self) -> None:
        async def main() -> None:
            log = Log(cold="a")
            log["a"].bucket = asyncio.Event()
            targets = log.targets("ab", max_bytes=PLENTY, offset=0, epoch=-1)
            asked: list[bool] = []

            def holds() -> bool:
                asked.append(log.registry.client.has_lease)
                return asked[-1]

            log.registry.is_lease_valid = holds
            reading = asyncio.create_task(
                log.reader.read(targets, PLENTY, by_id=False, isolation=0)
            )
            await asyncio.sleep(0.001)
            log.registry.client.has_lease = False  # while the bucket is read
            log["a"].bucket.set()
            result = await reading
            assert asked == [False]
            assert (result.reads, result.has_lease) == ([], False)

        run(main())
