"""Deletion by age and size: what goes, what stays, and what a crash in between leaves."""

import asyncio
from typing import Any

import pytest

from headrace.broker.partition import checkpoint
from headrace.broker.partition.append_rules import AppendOrigin
from headrace.broker.partition.opening import restore_state
from headrace.broker.partition.retention import Retention, start_by_retention
from headrace.broker.partition.state import PartitionState
from headrace.broker.partition.time_index import INTERVAL_BYTES, MAX_TIMESTAMP_MS
from headrace.config.node import LogConfig
from headrace.config.topic import EffectiveTopicConfig
from headrace.protocol import partition_checkpoint
from headrace.protocol.errors import ErrorCode
from headrace.protocol.records.batch import LENGTH_OVERHEAD_BYTES, parse_header, set_timestamp_type
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from headrace.storage.errors import BackPressureError, ObjectStoreError, OffsetOutOfRangeError
from tests.simulation.virtual_time import run
from tests.unit.broker.partition.fakes import OpenPartition
from tests.unit.storage.fakes import settle

NOW_MS = 1_700_000_000_000
DAY_MS = 24 * 3_600_000


def produce(opened: OpenPartition, at_ms: int, size: int = INTERVAL_BYTES, **options: int) -> None:
    """Append and confirm one batch of one record; each of a megabyte begins a segment."""
    batch = encode_batch([Record(0, at_ms, b"key", bytes(size))], BatchOptions(**options))
    result = opened.partition.writes.append(
        memoryview(batch), origin=AppendOrigin.CLIENT, now_ms=at_ms, on_done=lambda _error: None
    )
    assert not hasattr(result, "code"), result
    opened.data.confirm()


def of(**settings: str) -> OpenPartition:
    overrides = {"max.message.bytes": "2000000"} | {
        name.replace("_", "."): value for name, value in settings.items()
    }
    return OpenPartition(overrides=overrides)


class Registry:
    def __init__(self, *opened: OpenPartition) -> None:
        self._partitions = [it.partition for it in opened]

    def all(self) -> list[Any]:
        return self._partitions


def look(*opened: OpenPartition, at_ms: int = NOW_MS) -> Retention:
    """Look once, and let what that begins come to its end."""
    retention = Retention(
        Registry(*opened),  # type: ignore[arg-type]
        LogConfig(retention_check_interval_ms=1),
        lambda: at_ms,
    )

    async def main() -> None:
        task = asyncio.create_task(retention.run())
        await asyncio.sleep(0.0015)
        for _ in range(3):  # a checkpoint, the deletion, and what follows from it
            await settle()
            for each in opened:
                each.meta.confirm()
        task.cancel()
        await asyncio.wait([task])

    run(main())
    return retention


def test_by_age_up_to_the_first_record_that_is_young_enough() -> None:
    opened = of(retention_ms=str(DAY_MS))
    for days in (5, 4, 3, 0, 2, 0):
        produce(opened, NOW_MS - days * DAY_MS)
    statistics = look(opened).statistics
    assert opened.partition.reads.log_start_offset == 3  # the old one behind it waits for it
    assert (statistics.deletions_total, statistics.deleted_records_total) == (1, 3)
    assert statistics.deleted_bytes_total > 3 * INTERVAL_BYTES


def test_bytes_that_are_appended_during_a_deletion_do_not_count() -> None:
    opened = of(retention_bytes="1", retention_ms="-1")
    for _ in range(6):
        produce(opened, NOW_MS)
    retention = Retention(Registry(opened), LogConfig(), lambda: NOW_MS)  # type: ignore[arg-type]

    async def main() -> None:
        deletion = asyncio.create_task(retention._delete(opened.partition))
        await settle()
        produce(opened, NOW_MS)
        opened.meta.confirm()
        await deletion

    run(main())
    statistics = retention.statistics
    assert statistics.deleted_records_total == 5
    assert statistics.deleted_bytes_total > 5 * INTERVAL_BYTES


def test_a_log_in_which_everything_is_too_old_is_emptied() -> None:
    opened = of(retention_ms=str(DAY_MS))
    for _ in range(3):
        produce(opened, NOW_MS - 2 * DAY_MS, size=10)
    look(opened)
    partition = opened.partition
    assert (
        partition.reads.log_start_offset,
        partition.reads.high_watermark,
        partition.reads.size_bytes,
    ) == (3, 3, 0)
    produce(opened, NOW_MS)
    look(opened)
    assert (partition.reads.log_start_offset, partition.reads.high_watermark) == (3, 4)


@pytest.mark.parametrize(
    ("retention_bytes", "start"),
    [("-1", 0), ("0", 6), ("1", 5), ("2100000", 3), ("3000000", 3), ("100000000", 0)],
)
def test_by_size_as_long_as_enough_is_left(retention_bytes: str, start: int) -> None:
    opened = of(retention_bytes=retention_bytes, retention_ms="-1")
    for _ in range(6):
        produce(opened, NOW_MS)
    look(opened)
    assert opened.partition.reads.log_start_offset == start
    left = opened.partition.reads.size_bytes
    assert start in (0, 6) or left >= int(retention_bytes)


@pytest.mark.parametrize("policy", ["compact", ""])
def test_topics_that_do_not_delete_keep_everything(policy: str) -> None:
    opened = of(retention_ms="1", retention_bytes="1", cleanup_policy=policy)
    for _ in range(3):
        produce(opened, NOW_MS - DAY_MS)
    look(opened)
    assert opened.partition.reads.log_start_offset == 0


@pytest.mark.parametrize(("age_ms", "start"), [(DAY_MS, 0), (DAY_MS + 1, 1)])
def test_a_record_is_kept_to_the_last_millisecond(age_ms: int, start: int) -> None:
    opened = of(retention_ms=str(DAY_MS))
    produce(opened, NOW_MS - age_ms)
    look(opened)
    assert opened.partition.reads.log_start_offset == start


def test_a_record_that_is_gone_keeps_no_other_young() -> None:
    opened = of(retention_ms=str(DAY_MS))
    produce(opened, NOW_MS)
    delete(opened, 1)
    produce(opened, NOW_MS - 2 * DAY_MS)
    look(opened)
    assert opened.partition.reads.log_start_offset == 2


def test_for_ever_is_for_ever() -> None:
    opened = of(retention_ms="-1")
    produce(opened, 1)
    look(opened)
    assert opened.partition.reads.log_start_offset == 0


def test_a_slow_log_goes_in_steps_of_segment_ms() -> None:
    opened = of(retention_ms="600000", segment_ms="60000")
    for minutes in range(30, -1, -1):
        produce(opened, NOW_MS - minutes * 60_000, size=10)
    look(opened)
    assert opened.partition.reads.log_start_offset == 20  # exactly ten minutes old is young enough


def test_what_is_not_in_the_bucket_waits() -> None:
    opened = of(retention_ms="1")
    for _ in range(4):
        produce(opened, NOW_MS - DAY_MS)
    opened.data.uploaded_offset = 0
    look(opened)
    assert opened.partition.reads.log_start_offset == 0
    opened.data.uploaded_offset = 2
    look(opened)
    assert opened.partition.reads.log_start_offset == 2


def test_a_deletion_that_fails_is_tried_again_and_holds_up_no_other() -> None:
    failing, other = of(retention_ms="1"), of(retention_ms="1")
    for opened in (failing, other):
        produce(opened, NOW_MS - DAY_MS)
    failing.data.trim_fault = ObjectStoreError("no controller")
    statistics = look(failing, other).statistics
    assert (failing.partition.reads.log_start_offset, other.partition.reads.log_start_offset) == (
        0,
        1,
    )
    assert statistics.failures_total > 0
    failing.data.trim_fault = None
    look(failing, other)
    assert failing.partition.reads.log_start_offset == 1


def delete(opened: OpenPartition, offset: int) -> int:
    """Delete, with a WAL that confirms a checkpoint as soon as it is written."""

    async def scenario() -> int:
        deleting = asyncio.create_task(opened.partition.writes.delete_before(offset))
        await settle()
        opened.meta.confirm()
        return await deleting

    return run(scenario())


def test_what_is_due_goes_by_the_configuration_at_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A deletion may wait for others for long; meanwhile the topic was told to keep everything."""
    monkeypatch.setattr("headrace.broker.partition.retention.MAX_DELETIONS", 1)
    first, second = of(retention_ms="1"), of(retention_ms="1")
    for opened in (first, second):
        produce(opened, NOW_MS - DAY_MS)
    trim = first.data.trim

    async def slow_trim(new_start_offset: int) -> None:
        second.partition.writes.config = EffectiveTopicConfig.resolve({"retention.ms": "-1"})
        await trim(new_start_offset)

    first.data.trim = slow_trim  # type: ignore[method-assign]
    look(first, second)
    assert (first.partition.reads.log_start_offset, second.partition.reads.log_start_offset) == (
        1,
        0,
    )


def test_a_header_without_a_maximum_makes_no_record_old() -> None:
    opened = of(retention_ms=str(DAY_MS))
    batch = memoryview(encode_batch([Record(0, NOW_MS, b"key", b"value")], BatchOptions()))
    set_timestamp_type(batch, 0, is_log_append_time=False)
    opened.partition.writes.append(
        batch, origin=AppendOrigin.CLIENT, now_ms=NOW_MS, on_done=lambda _error: None
    )
    opened.data.confirm()
    look(opened)
    assert (opened.partition.reads.log_start_offset, opened.partition.reads.high_watermark) == (
        0,
        1,
    )


def test_topics_of_coordinators_are_theirs() -> None:
    opened = of(retention_ms="1", cleanup_policy="compact,delete")
    opened.partition.topic = "__consumer_offsets"
    produce(opened, NOW_MS - DAY_MS)
    look(opened)
    assert opened.partition.reads.log_start_offset == 0


def test_a_deletion_of_which_the_answer_was_lost_is_made_up_for() -> None:
    """The control plane may have done it: what it knows of as deleted cannot be read."""
    opened = of(retention_ms="-1")
    for _ in range(3):
        produce(opened, NOW_MS)
    opened.data.trim_fault = ObjectStoreError("no answer")
    with pytest.raises(ObjectStoreError):
        delete(opened, 2)
    opened.data.trim_fault = None
    look(opened)
    assert opened.partition.reads.log_start_offset == 2


class TestDeleteBefore:
    def test_each_deletion_is_covered_by_a_checkpoint_and_one_may_cover_several(self) -> None:
        opened = of()
        for _ in range(3):
            produce(opened, NOW_MS, 100)
        assert [delete(opened, offset) for offset in (1, 2)] == [1, 2]
        assert opened.meta.next_offset == 1, "the first was of the whole log"
        produce(opened, NOW_MS, 100)
        assert delete(opened, 4) == 4
        assert opened.meta.next_offset == 2

    def test_beyond_the_high_watermark_is_refused(self) -> None:
        opened = of()
        produce(opened, NOW_MS)
        with pytest.raises(OffsetOutOfRangeError):
            run(opened.partition.writes.delete_before(2))
        assert opened.partition.reads.log_start_offset == 0

    def test_what_is_gone_already_needs_nothing(self) -> None:
        opened = of()
        opened.data.start_offset = 1
        produce(opened, NOW_MS)
        opened.engine.has_room = False
        assert run(opened.partition.writes.delete_before(1)) == 1

    def test_nothing_goes_while_no_checkpoint_can_be_written(self) -> None:
        opened = of()
        produce(opened, NOW_MS)
        opened.engine.has_room = False
        with pytest.raises(BackPressureError):
            run(opened.partition.writes.delete_before(1))
        assert opened.partition.reads.log_start_offset == 0

    def test_producers_of_deleted_records_are_known_after_a_crash(self) -> None:
        opened = of()
        produce(opened, NOW_MS, size=10, producer_id=7, producer_epoch=0, base_sequence=0)

        async def scenario() -> ErrorCode | int:
            deleting = asyncio.create_task(opened.partition.writes.delete_before(1))
            await asyncio.sleep(0)
            assert opened.data.start_offset == 0, "the checkpoint is durable first"
            opened.meta.confirm()
            assert await deleting == 1
            restored = await restore_state(
                opened.data,  # type: ignore[arg-type]
                opened.meta,  # type: ignore[arg-type]
                producer_id_expiration_ms=DAY_MS,
                now_ms=NOW_MS,
            )
            again = OpenPartition(data=opened.data, meta=opened.meta, state=restored.state)
            assert again.partition.reads.size_bytes == 0
            options = BatchOptions(producer_id=7, producer_epoch=0, base_sequence=0)
            repeated = encode_batch([Record(0, NOW_MS, b"key", bytes(10))], options)
            result = again.partition.writes.append(
                memoryview(repeated),
                origin=AppendOrigin.CLIENT,
                now_ms=NOW_MS,
                on_done=lambda _error: None,
            )
            return result.base_offset if not hasattr(result, "code") else result.code

        assert run(scenario()) == 0, "it is a repeat, and not appended again"

    def test_epochs_and_sizes_begin_at_the_new_start(self) -> None:
        opened = of()
        for _ in range(4):
            produce(opened, NOW_MS)
        before = opened.partition.reads.size_bytes

        delete(opened, 2)
        assert opened.partition.reads.size_bytes == before // 2
        assert opened.partition.state.epochs.starts[0].start_offset == 2


@pytest.mark.parametrize("has_checkpoint", [False, True])
def test_a_batch_of_the_far_future_that_is_already_stored_does_not_stop_deletion_by_age(
    *, has_checkpoint: bool
) -> None:
    """Older versions took it: its header had no maximum."""
    config = EffectiveTopicConfig.resolve({"retention.ms": str(DAY_MS)})
    good = parse_header(bytes(encode_batch([Record(0, NOW_MS, None, b"v")], BatchOptions())))
    good = good._replace(batch_length=INTERVAL_BYTES - LENGTH_OVERHEAD_BYTES)
    bad = good._replace(base_timestamp=2**62, max_timestamp=-1)
    latest_ms = NOW_MS + config.timestamp_after_max_ms
    state = PartitionState(producer_id_expiration_ms=1)
    for offset in range(10):
        header = bad if offset == 3 else good
        bound_ms = MAX_TIMESTAMP_MS if has_checkpoint else latest_ms
        state.apply(header, None, offset, 0, NOW_MS, latest_ms=bound_ms)
    if has_checkpoint:
        stored = partition_checkpoint.decode(checkpoint.take(state, 10, 0))
        checkpoint.restore(stored, state, latest_ms)
    later_ms = latest_ms + DAY_MS + 1
    assert start_by_retention(state.times, config, log_end_offset=10, now_ms=later_ms) == 10
