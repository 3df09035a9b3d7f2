"""A coordinator partition that is rewritten again and again: wherever it is cut off, its log gives the same state.

After each append and each deletion the log is read as a broker would read it that starts then. What was ever written
must give the same as what is left, an acknowledged commit must be there, and at the end memory must be what the log
says. Commits, deletions of groups and offsets, members, expiry, failing appends and deletions, lack of room and
elections come in any order.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.broker.coordinator.group.records import (
    CoordinatorRecord,
    OffsetRecord,
    decode_record,
    estimated_group_bytes,
    estimated_offset_bytes,
)
from headrace.broker.coordinator.group.shard import GroupShard
from headrace.broker.coordinator.runtime import rewriting
from headrace.broker.coordinator.runtime.statistics import CoordinatorStatistics
from headrace.config.node import GroupConfig
from headrace.protocol.errors import KafkaError
from headrace.protocol.records.batch import split_batches
from headrace.protocol.records.record import decode_records
from tests.unit.broker.coordinator.fake_log import FakeLog, commit_request, replay
from tests.unit.broker.coordinator.runtime.test_driver import Bench, new_driver
from tests.unit.broker.coordinator.virtual_time import run, settle

KEPT = "kept"  # nobody deletes from this group
CONFIG = GroupConfig(
    initial_rebalance_delay_ms=0, offsets_retention_ms=60_000, offsets_retention_check_ms=20_000
)
PARTITIONS = 6
Image = tuple[dict, dict]


class CheckedLog(FakeLog):
    """Calls `check` after each change."""

    def __init__(self) -> None:
        super().__init__()
        self.check: Callable[[], None] = lambda: None

    async def append(self, batch: bytearray) -> int:
        try:
            return await super().append(batch)
        finally:
            self.check()

    async def delete_before(self, offset: int) -> None:
        try:
            await super().delete_before(offset)
        finally:
            self.check()


def records_of(batches: list[bytes]) -> list[CoordinatorRecord]:
    return [
        decoded
        for batch in batches
        for _, view in split_batches(memoryview(batch))
        for record in decode_records(view, 1 << 30)
        if (decoded := decode_record(record.key, record.value)) is not None
    ]


def image_of(shard: GroupShard) -> Image:
    """What has a record: not a simple group without offsets."""
    groups, offsets = shard.image()
    with_offsets = {key.group for key in offsets}
    return {it: image for it, image in groups.items() if image or it in with_offsets}, offsets


def size_of(record: CoordinatorRecord) -> int:
    if isinstance(record, OffsetRecord):
        assert record.value is not None
        strings = estimated_offset_bytes(record.key.group, record.key.topic)
        return strings + len(record.value.metadata)
    return estimated_group_bytes(record.group, record.value)


def replayed(records: list[CoordinatorRecord]) -> GroupShard:
    shard = GroupShard(CONFIG)
    for record in records:
        replay(shard, record)
    return shard


class World:
    """One log, the driver that leads it now, and what clients were told."""

    def __init__(self) -> None:
        self.log = CheckedLog()
        self.log.check = self.check
        self.statistics = CoordinatorStatistics()
        self.acknowledged: dict[int, int] = {}
        self.number = 0
        self.bench: Bench
        self.violations: list[AssertionError] = []
        self.waiting: list[asyncio.Task[None]] = []

    def check(self) -> None:
        """Note what is wrong; raised in the driver, it could be taken for something else."""
        try:
            self.check_now()
        except AssertionError as error:
            self.violations.append(error)

    def check_now(self) -> None:
        """A broker that starts now reads the same as if nothing had ever been given up."""
        every = self.log.batches
        left = image_of(replayed(records_of(every[self.log.start_offset :])))
        assert left == image_of(replayed(records_of(every)))
        committed = {key.partition: it.offset for key, it in left[1].items() if key.group == KEPT}
        for partition, offset in self.acknowledged.items():
            assert committed.get(partition, offset) >= offset  # it may have expired

    async def elect(self) -> None:
        driver = new_driver(0, self.log, CONFIG, self.statistics)
        self.bench = Bench(self.log, driver)
        self.bench.task = asyncio.create_task(driver.run())
        await settle()

    async def resign(self) -> None:
        assert self.bench.task is not None
        self.bench.task.cancel()
        await asyncio.gather(self.bench.task, return_exceptions=True)

    def begin(self, work: Awaitable[object]) -> None:
        async def guarded() -> None:
            with contextlib.suppress(KafkaError):
                await work

        self.waiting.append(asyncio.create_task(guarded()))

    async def commit(self, group_id: str, partition: int, metadata: str) -> None:
        self.number += 1
        number, bench = self.number, self.bench
        request = commit_request(number, group_id, partition, metadata)
        submitted = bench.driver.submit_write(lambda shard, now: shard.commit_offsets(request, now))
        (error,) = await submitted.wait()
        if group_id == KEPT and error == 0:
            self.acknowledged[partition] = max(number, self.acknowledged.get(partition, 0))

    async def delete(self, group_id: str, partition: int | None) -> None:
        if partition is None:
            await self.bench.driver.submit(lambda it, now: it.delete_group(group_id, now)).wait()
        else:
            where = [("t", partition)]
            await self.bench.driver.submit(
                lambda it, now: it.delete_offsets(group_id, where, now)
            ).wait()

    async def member(self) -> None:
        self.number += 1
        member_id = f"member-{self.number}"
        joined = await self.bench.join(member_id)
        await self.bench.sync(member_id, joined.generation, **{member_id: b"assigned"})

    async def step(self, step: tuple) -> None:
        match step:
            case ("commit", group_id, partition, metadata):
                self.begin(self.commit(group_id, partition, metadata))
            case ("many", group_id, count):
                for number in range(count):
                    self.begin(self.commit(group_id, number % PARTITIONS, ""))
            case ("delete", group_id, partition):
                self.begin(self.delete(group_id, partition))
            case ("member",):
                self.begin(self.member())
            case ("wait", seconds):
                await asyncio.sleep(seconds)
            case ("turns", count):
                for _ in range(count):
                    await asyncio.sleep(0)
            case ("fail append", outcome):
                self.log.fail_append = outcome
            case ("fail deletions", count):
                self.log.fail_deletions = count
            case ("hold", what):
                getattr(self.log, f"hold_{what}")()
            case ("release", what):
                getattr(self.log, f"release_{what}")()
            case ("uploads", uploads):
                self.log.uploads = uploads
            case ("room", has_room):
                self.log.has_room = has_room
            case ("election",):
                await self.resign()
                await self.elect()

    async def finish(self) -> None:
        for what in ("appends", "deletions"):
            await self.step(("release", what))
        self.log.fail_append, self.log.fail_deletions = None, 0
        self.log.has_room = self.log.uploads = True
        await asyncio.sleep(10)
        await settle()
        self.check()
        if self.violations:
            raise self.violations[0]
        assert self.bench.task is not None
        assert not self.bench.task.done()
        shard = self.bench.driver._shard
        assert image_of(shard) == image_of(replayed(self.log.records()))
        live = list(shard.live.read())
        assert (shard.live.count, shard.live.size_bytes) == (
            len(live),
            sum(map(size_of, live)),
        )
        assert image_of(replayed(live)) == image_of(shard)
        offsets = [record for record in live if isinstance(record, OffsetRecord)]
        assert len({record.key for record in offsets}) == len(offsets)
        await self.resign()
        await asyncio.gather(*self.waiting)


GROUPS = st.sampled_from([KEPT, "other", "g"])
STEPS = st.one_of(
    st.tuples(
        st.just("commit"), GROUPS, st.integers(0, PARTITIONS - 1), st.sampled_from(["", "m" * 90])
    ),
    st.tuples(st.just("many"), GROUPS, st.integers(10, 60)),
    st.tuples(
        st.just("delete"), st.sampled_from(["other", "g"]), st.none() | st.integers(0, PARTITIONS)
    ),
    st.tuples(st.just("member")),
    st.tuples(st.just("wait"), st.sampled_from([0.1, 5, 30, 700])),
    st.tuples(st.just("turns"), st.integers(1, 12)),
    st.tuples(st.just("fail append"), st.sampled_from(["lost", "unknown"])),
    st.tuples(st.just("fail deletions"), st.integers(1, 3)),
    st.tuples(st.just("hold"), st.sampled_from(["appends", "deletions"])),
    st.tuples(st.just("release"), st.sampled_from(["appends", "deletions"])),
    st.tuples(st.just("room"), st.booleans()),
    st.tuples(st.just("uploads"), st.booleans()),
    st.tuples(st.just("election")),
)


@given(st.lists(STEPS, max_size=40), st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_a_log_gives_the_same_state_wherever_its_rewriting_ends(
    steps: list[tuple], slice_records: int
) -> None:
    async def test() -> None:
        world = World()
        await world.elect()
        for step in steps:
            await world.step(step)
        await world.finish()

    with (
        mock.patch.object(rewriting, "MIN_LOG_BYTES", 600),
        mock.patch.object(rewriting, "MAX_LOG_PER_LIVE", 2),
        mock.patch.object(rewriting, "SLICE_RECORDS", slice_records),
    ):
        run(test)
