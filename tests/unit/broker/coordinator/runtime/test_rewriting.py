"""Rewriting a coordinator partition: when, in which slices, and what may be given up at which moment."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from headrace.broker.coordinator.group.records import (
    GroupMetadataValue,
    GroupRecord,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
    OffsetRecord,
    encode_record,
)
from headrace.broker.coordinator.group.requests import LeavingMember
from headrace.broker.coordinator.group.shard import GroupShard
from headrace.broker.coordinator.runtime import rewriting
from headrace.broker.coordinator.runtime.driver import ShardState
from headrace.config.node import GroupConfig
from headrace.protocol.errors import ErrorCode
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from tests.unit.broker.coordinator.fake_log import FakeLog, replay
from tests.unit.broker.coordinator.runtime.test_driver import Bench, batch_of, bench
from tests.unit.broker.coordinator.virtual_time import run, settle

KEYS = 10
COMMITS = 100


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewriting, "MIN_LOG_BYTES", 2_000)
    monkeypatch.setattr(rewriting, "SLICE_RECORDS", 4)


@asynccontextmanager
async def without_rewrites(log: FakeLog) -> AsyncIterator[Bench]:
    """A bench that leaves its log long."""
    log.has_room = False
    async with bench(log) as b:
        yield b
    log.has_room = True


async def long_log() -> FakeLog:
    log = FakeLog()
    async with without_rewrites(log) as b:
        for number in range(COMMITS):
            await b.commit(number, partition=number % KEYS)
    return log


def loaded_image(log: FakeLog) -> tuple[dict, dict]:
    shard = GroupShard(GroupConfig())
    for record in log.records():
        replay(shard, record)
    return shard.image()


def test_a_log_stays_a_few_times_as_long_as_what_is_live_in_it() -> None:
    async def test() -> None:
        async with bench() as b:
            for number in range(2_000):
                await b.commit(number, partition=number % KEYS)
            await settle()
            b.check_live_is_log()
            assert [await b.committed(it) for it in range(KEYS)] == list(range(1_990, 2_000))
            found = b.driver._statistics
            assert len(b.log.records()) < 100
            assert found.rewrites_total > 10
            assert found.given_up_records_total == 2_000 + found.rewritten_records_total - len(
                b.log.records()
            )
            assert b.driver.log_bytes == sum(map(len, b.log.batches[b.log.start_offset :]))

    run(test)


def test_a_long_log_that_was_loaded_is_rewritten_without_a_commit() -> None:
    async def test() -> None:
        log = await long_log()
        before = loaded_image(log)
        async with bench(log) as b:
            await settle()
            assert len(log.records()) == KEYS
            assert loaded_image(log) == before
            b.check_live_is_log()
            assert b.driver._statistics.loaded_records_total == COMMITS
        async with bench(log) as b:
            assert b.driver._statistics.loaded_records_total == KEYS
            await settle()
            assert b.driver._statistics.rewrites_total == 0  # as short as it can be

    run(test)


def test_a_log_whose_records_are_all_live_is_left_alone() -> None:
    async def test() -> None:
        async with bench() as b:
            for number in range(COMMITS):
                await b.commit(number, partition=number)
            await settle()
            assert b.log.deletions == []
            assert len(b.log.records()) == COMMITS

    run(test)


def test_nothing_is_given_up_before_the_last_rewritten_record_is_durable() -> None:
    async def test() -> None:
        log = await long_log()
        log.hold_appends()
        async with bench(log) as b:
            for _ in range(KEYS // rewriting.SLICE_RECORDS + 1):
                await settle()
                assert log.deletions == []
                assert b.log.start_offset == 0
                log.release_appends()
                log.hold_appends()
                await asyncio.sleep(0)
            log.release_appends()
            await settle()
            assert log.deletions == [COMMITS]

    run(test)


def test_a_commit_during_a_rewrite_is_not_overwritten_by_it() -> None:
    async def test() -> None:
        log = await long_log()
        log.hold_appends()
        async with bench(log) as b:
            await settle()
            commits = [asyncio.create_task(b.commit(777, partition=it)) for it in range(KEYS)]
            await settle()
            log.release_appends()
            for commit in commits:
                assert await commit == [ErrorCode.NONE]
            await settle()
            assert log.start_offset == COMMITS
            b.check_live_is_log()
            assert {it.offset for it in loaded_image(log)[1].values()} == {777}

    run(test)


def test_what_is_removed_during_a_rewrite_does_not_come_back() -> None:
    async def test() -> None:
        log = await long_log()
        log.hold_appends()
        async with bench(log) as b:
            await settle()
            deletion = b.driver.submit(lambda shard, now: shard.delete_group("g", now))
            log.release_appends()
            assert await deletion.wait() is ErrorCode.NONE
            await settle()
            assert log.start_offset == COMMITS
            assert loaded_image(log) == ({}, {})

    run(test)


def test_a_log_without_anything_live_is_emptied() -> None:
    async def test() -> None:
        log = FakeLog()
        async with without_rewrites(log) as b:
            for number in range(COMMITS):
                await b.commit(number)
            deletion = b.driver.submit(lambda shard, now: shard.delete_group("g", now))
            await deletion.wait()
        async with bench(log):
            await settle()
            assert log.start_offset == log.end_offset == COMMITS + 1

    run(test)


@pytest.mark.parametrize("outcome", ["lost", "unknown"])
def test_a_failed_append_ends_a_rewrite_and_gives_nothing_up(outcome: str) -> None:
    async def test() -> None:
        log = await long_log()
        before = loaded_image(log)
        log.fail_append = outcome
        async with bench(log) as b:
            await settle()
            assert b.driver.state is ShardState.ACTIVE
            assert log.deletions == []
            assert loaded_image(log) == before
            appends = log.appends
            await b.commit(1, partition=0)
            assert log.appends == appends + 1  # the next rewrite waits
            await asyncio.sleep(rewriting.PAUSE_MS / 1_000)
            await b.commit(2, partition=0)
            await settle()
            assert len(log.deletions) == 1
            b.check_live_is_log()

    run(test)


def test_a_deletion_that_fails_is_done_again_and_no_rewrite_before() -> None:
    async def test() -> None:
        log = await long_log()
        log.fail_deletions = 3
        async with bench(log) as b:
            await settle()
            appends = log.appends
            assert log.deletions == [COMMITS]
            await asyncio.sleep(30)
            assert log.deletions == [COMMITS] * 4
            assert log.appends == appends
            assert log.start_offset == COMMITS
            b.check_live_is_log()

    run(test)


def test_a_log_that_has_grown_again_by_the_end_of_a_deletion_is_rewritten_then() -> None:
    async def test() -> None:
        log = await long_log()
        log.hold_deletions()
        async with bench(log) as b:
            await settle()
            for number in range(COMMITS):
                await b.commit(number, partition=number % KEYS)
            appends = log.appends
            log.release_deletions()
            await settle()
            assert log.appends > appends
            assert len(log.records()) == KEYS
            b.check_live_is_log()

    run(test)


def test_a_deletion_waits_until_its_records_are_in_the_bucket() -> None:
    """Nothing is uploaded early, only to be deleted."""

    async def test() -> None:
        log = await long_log()
        log.uploads = False
        async with bench(log):
            await asyncio.sleep(600)
            assert log.deletions == []
            log.uploads = True
            await asyncio.sleep(rewriting.UPLOAD_POLL_MS / 1_000)
            assert log.start_offset == COMMITS

    run(test)


def test_a_deletion_asks_for_an_upload_when_the_log_grows_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rewriting, "MAX_GROWTH_BYTES", 3_000)

    async def test() -> None:
        log = await long_log()
        log.uploads = False
        async with bench(log) as b:
            await settle()
            size_bytes, now_s = b.driver.log_bytes, asyncio.get_running_loop().time()
            while log.deletions == []:
                assert b.driver.log_bytes < size_bytes + 3_000
                await b.commit(1, partition=1)
                await settle()
            assert b.driver.log_bytes < size_bytes
            assert log.start_offset == COMMITS
            # At once: very many commits may come until the next look whether it is uploaded.
            assert asyncio.get_running_loop().time() - now_s < rewriting.UPLOAD_POLL_MS / 1_000
            b.check_live_is_log()

    run(test)


def test_leadership_that_ends_during_the_deletion_ends_it() -> None:
    async def test() -> None:
        log = await long_log()
        before = loaded_image(log)
        log.hold_deletions()
        async with bench(log):
            await settle()
        assert log.deletions == [COMMITS]
        log.release_deletions()
        await settle()
        assert log.start_offset == 0
        assert loaded_image(log) == before

    run(test)


def test_without_room_nothing_is_rewritten() -> None:
    async def test() -> None:
        log = await long_log()
        log.has_room = False
        async with bench(log) as b:
            appends = log.appends
            await settle()
            assert log.appends == appends
            log.has_room = True
            await b.commit(1)
            await settle()
            assert log.start_offset == COMMITS

    run(test)


def test_after_a_fault_of_the_core_its_memory_is_not_written() -> None:
    async def test() -> None:
        log = await long_log()
        before = loaded_image(log)
        log.hold_reads()
        async with bench(log) as b:
            log.release_reads()
            while b.driver.state is not ShardState.ACTIVE:  # its first slice is next
                await asyncio.sleep(0)
            assert log.end_offset == COMMITS

            def fail(shard: GroupShard, now: object) -> None:
                key = OffsetCommitKey("g", "t", 0)
                replay(shard, OffsetRecord(key, OffsetCommitValue(666, -1, "", 0)))
                raise ZeroDivisionError

            with pytest.raises(ZeroDivisionError):
                b.driver.submit(fail)  # type: ignore[arg-type]
            await settle()
            assert log.end_offset > COMMITS
            assert loaded_image(log) == before

    run(test)


def test_after_a_load_past_damage_a_short_log_is_rewritten_and_the_damage_given_up(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def test() -> None:
        log = FakeLog()
        async with without_rewrites(log) as b:
            for value in (1, 2, 3, 4):
                await b.commit(value, partition=value % 2)
        log.damaged = {2, 3}
        async with bench(log) as b:
            assert [await b.committed(it) for it in (0, 1)] == [2, 1]
            await b.commit(5, partition=0)
            await settle()
            assert log.deletions == [4]
            assert [await b.committed(it) for it in (0, 1)] == [5, 1]
            b.check_live_is_log()
            assert b.driver._statistics.loads_past_damage_total == 1
        (told,) = [it for it in caplog.records if it.levelname == "ERROR"]
        assert told.message.startswith("coordinator partition loaded past damage")
        fields = {it: told.__dict__[it] for it in ("offsets", "ranges", "first_start", "first_end")}
        assert fields == {"offsets": 2, "ranges": 1, "first_start": 2, "first_end": 4}
        async with bench(log) as b:
            assert [await b.committed(it) for it in (0, 1)] == [5, 1]
            await settle()
            assert b.driver._statistics.loads_past_damage_total == 0
            assert log.deletions == [4]

    run(test)


def test_a_log_of_which_nothing_can_be_read_is_emptied_and_served() -> None:
    async def test() -> None:
        log = await long_log()
        log.damaged = set(range(COMMITS))
        async with bench(log) as b:
            await settle()
            assert log.deletions == [COMMITS]
            assert await b.committed() is None
            assert await b.commit(7) == [ErrorCode.NONE]

    run(test)


def test_damage_is_given_up_after_the_next_load_when_the_rewrite_fails() -> None:
    async def test() -> None:
        log = await long_log()
        log.damaged = {COMMITS - 1}
        log.fail_append = "unknown"
        async with bench(log) as b:
            await settle()
            assert b.driver.state is ShardState.ACTIVE
            assert log.deletions == []
        async with bench(log) as b:
            await settle()
            assert len(log.deletions) == 1
            assert log.start_offset >= COMMITS
            assert await b.committed((COMMITS - 1) % KEYS) == COMMITS - 1 - KEYS

    run(test)


def test_what_is_left_of_a_log_can_be_loaded_whatever_is_missing() -> None:
    """No record needs an earlier one; what a lost record removed is there again."""

    async def test() -> None:
        log = FakeLog()
        async with without_rewrites(log) as b:
            await b.commit(1, group_id="simple")
            await b.commit(2, group_id="simple", partition=1)
            remove = [("t", 1)]
            await b.driver.submit_write(
                lambda shard, now: shard.delete_offsets("simple", remove, now)
            ).wait()
            await b.driver.submit_write(lambda shard, now: shard.delete_group("simple", now)).wait()
            joined = await b.join("a")
            await b.sync("a", joined.generation, a=b"assigned")
            await b.driver.submit(
                lambda shard, now: shard.leave("g", [LeavingMember("a")], now)
            ).wait()
            await b.driver.submit_write(lambda shard, now: shard.delete_group("g", now)).wait()
        count = len(log.batches)
        assert count >= 7
        for first in range(count):
            for end in range(first + 1, count + 1):
                log.damaged = set(range(first, end))
                log.has_room = False
                async with bench(log) as b:
                    assert b.driver.state is ShardState.ACTIVE
                    b.check_live_is_log()
        log.damaged = {count - 1}
        async with bench(log) as b:
            await settle()
            b.check_live_is_log()
            assert "g" in b.driver._shard.image()[0], "its removal was lost"

    run(test)


def test_records_of_a_newer_version_are_kept() -> None:
    async def test() -> None:
        log = await long_log()
        log.batches.insert(0, batch_of((b"\0\3\0\1g", b"of a newer broker")))
        async with bench(log):
            await settle()
            assert log.deletions == []
            assert len(log.batches) == COMMITS + 1

    run(test)


def test_a_record_that_cannot_be_written_again_is_kept() -> None:
    """Only another broker can have written it."""

    async def test() -> None:
        log = await long_log()
        large = b"\0\1" + b"\0" * 7 + b"\5" + (32_767).to_bytes(2) + b"x" * 32_767 + b"\0" * 16
        key = bytes.fromhex("0001 000167 000174 00000063")
        members = tuple(
            MemberMetadata(f"m{it}", None, "c", "h", 1, 1, b"s" * 300_000, b"") for it in range(4)
        )
        group = GroupRecord("huge", GroupMetadataValue("consumer", 1, "p", "m0", 1, members))
        log.batches.append(batch_of((key, large), encode_record(group)))
        before = loaded_image(log)
        async with bench(log) as b:
            await settle()
            assert b.driver.state is ShardState.ACTIVE
            assert log.deletions == []
            assert loaded_image(log) == before

    run(test)


def test_a_slice_is_limited_by_bytes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewriting, "SLICE_RECORDS", 1_000)
    monkeypatch.setattr(rewriting, "SLICE_BYTES", 1_000)

    async def test() -> None:
        log = FakeLog()
        async with without_rewrites(log) as b:
            for number in range(COMMITS):
                await b.commit(number, partition=number % KEYS, metadata="x" * 400)
        async with bench(log):
            await settle()
            assert log.start_offset == COMMITS
            assert max(len(batch) for batch in log.batches[COMMITS:]) < 2_000

    run(test)


def test_a_rewrite_lets_other_tasks_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewriting, "SLICE_RECORDS", 256)

    async def test() -> None:
        log = FakeLog()
        records = [
            Record(it, 0, bytes.fromhex("000100016700017400") + it.to_bytes(3), VALUE)
            for it in range(5_000)
        ]
        for _ in range(10):
            log.batches.append(bytes(encode_batch(records, BatchOptions())))
        async with bench(log) as b:
            turns = 0
            while not log.deletions:
                await asyncio.sleep(0)
                turns += 1
            assert turns > 2 * 5_000 // 256
            assert max(len(batch) for batch in log.batches[10:]) < rewriting.SLICE_BYTES
            assert b.driver.live_count == 5_000

    run(test)


VALUE = bytes.fromhex("0003 0000000000000005 00000002 00016d 0000000000000064")
