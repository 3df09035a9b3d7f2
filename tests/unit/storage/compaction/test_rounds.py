"""Rounds of compaction: how much each does, and what is in use no more by the time it is read."""

import asyncio
import logging
import random

import pytest

from headrace.storage.compaction import executor, rewrite
from headrace.storage.compaction.executor import RECLAIM_CHECKS_PER_ROUND
from headrace.storage.errors import CommitRefusedError, ObjectNotPreparedError
from headrace.storage.object_store.retrying import RetryingObjectStore
from headrace.storage.objects.keys import object_key
from headrace.storage.ports import ObjectType, StreamRange
from tests.simulation.control_plane import CLUSTER_ID
from tests.simulation.virtual_time import run
from tests.unit.storage.compaction.test_executor import Setup
from tests.unit.storage.samples import batches

# Of Stream Set Objects, an object that is mostly dead, and of each of two open streams.
BOUNDED_GROUPS = 1 + 1 + 2


class TestAsked:
    """Who asks for a round gets all that there is to do; one at the interval does so much of it."""

    @pytest.fixture(autouse=True)
    def small_rounds(self, monkeypatch):
        monkeypatch.setattr(executor, "MAX_GROUPS_PER_ROUND", 1)
        monkeypatch.setattr(executor, "RECLAIM_CHECKS_PER_ROUND", 1)
        monkeypatch.setattr(rewrite, "PACE_BYTES", 300)

    async def full_of_work(self, **config):
        """A bucket for which several small rounds are needed, of each kind of work."""
        setup = Setup(open_streams=[(1, 1), (9, 1)], stream_split_bytes=3000, **config)
        setup.compactor._set_limits = executor.replace(setup.compactor._set_limits, max_bytes=5_000)
        for start in range(0, 500, 10):
            await setup.upload(batches(9, start, 10), kind=ObjectType.STREAM)
        await setup.upload_small(30, streams=(1, 2, 3))
        dead = range(100, 108)  # large enough to be left alone, and dead but for a bit
        for stream_id in dead:
            await setup.upload(batches(stream_id, 0, 8, size=700), batches(stream_id + 50, 0, 1))
            setup.written.pop(stream_id)
        await setup.objects.trim_all(*dead)
        return setup

    def test_the_second_has_nothing_to_do(self):
        async def main():
            setup = await self.full_of_work()
            task = asyncio.create_task(setup.compactor.run())
            await asyncio.sleep(1)
            number = setup.compactor.ask()
            await asyncio.sleep(60)
            statistics = setup.compactor.statistics
            assert (number, statistics.rounds_finished) == (1, 1)
            assert statistics.groups > 2 * BOUNDED_GROUPS
            before = statistics.groups, statistics.objects_in
            setup.compactor.ask()
            await asyncio.sleep(60)
            assert statistics.rounds_finished == 2
            assert (statistics.groups, statistics.objects_in) == before
            await setup.check()
            task.cancel()
            await asyncio.wait((task,))

        run(main())

    def test_at_the_interval_a_bounded_part_is_done(self):
        async def main():
            setup = await self.full_of_work()
            await setup.compactor.compact()
            assert 0 < setup.compactor.statistics.groups <= BOUNDED_GROUPS
            await setup.check()

        run(main())

    def test_it_can_be_cancelled_and_goes_on_another_time(self):
        async def main():
            setup = await self.full_of_work(compaction_bytes_per_s=2_000)
            round_ = asyncio.create_task(setup.compactor.compact(to_the_end=True))
            await asyncio.sleep(5)
            statistics = setup.compactor.statistics
            assert statistics.is_running
            round_.cancel()
            await asyncio.wait((round_,))
            assert not statistics.is_running
            await setup.check()
            await setup.compactor.compact(to_the_end=True)
            groups = statistics.groups
            await setup.compactor.compact(to_the_end=True)
            assert statistics.groups == groups
            await setup.check()

        run(main())

    def test_a_bucket_that_is_away_ends_it(self):
        async def main():
            setup = await self.full_of_work()
            setup.commits.before = [CommitRefusedError("no")] * 1_000
            await setup.compactor.compact(to_the_end=True)
            assert setup.compactor.statistics.groups == 0
            assert setup.compactor.statistics.failures < 20

        run(main())


def test_every_object_gets_its_turn_to_be_reclaimed():
    """Also those behind more than a round looks at, none of which need it."""

    async def main():
        setup = Setup()
        # Nothing is merged: three objects are as much as a group may have.
        setup.compactor._set_limits = executor.replace(setup.compactor._set_limits, max_bytes=5_000)
        live, dead = range(RECLAIM_CHECKS_PER_ROUND + 4), range(100, 120)
        for stream_id in live:
            await setup.upload(batches(stream_id, 0, 4, size=400))
        for stream_id in dead:
            await setup.upload(batches(stream_id, 0, 4, size=400), batches(stream_id + 50, 0, 1))
            setup.written.pop(stream_id)
        await setup.objects.trim_all(*dead)
        for done in (
            12,
            20,
        ):  # a round looks at 16, of which the first four are alive in the second
            await setup.compactor.compact()
            if done == 12:
                assert setup.compactor.statistics.groups == 0
        for _ in range(2):
            await setup.compactor.compact()
        sources = set(range(len(live), len(live) + len(dead)))
        assert sources <= set(setup.objects.destroyed)
        await setup.check()

    run(main())


class TestAnIndexThatLacksARange:
    """Its object is sound by its checksums, and is not what the metadata say."""

    async def lacking(self, setup, number):
        for upload in range(6):
            claimed = [StreamRange(99, 1, 0, 5)] if upload == number else []
            await setup.upload_small(1, ranges=lambda ranges, claimed=claimed: [*ranges, *claimed])

    @pytest.mark.parametrize("number", [0, 3, 5])
    def test_it_alone_is_left_out(self, number, caplog):
        async def main():
            setup = Setup()
            await self.lacking(setup, number)
            await setup.compactor.compact()
            statistics = setup.compactor.statistics
            assert (statistics.failures, statistics.damaged_objects) == (0, 1)
            assert (statistics.groups, statistics.objects_in) == (1, 5)
            assert number in setup.objects.committed
            (line,) = [it for it in caplog.records if it.levelno == logging.ERROR]
            assert line.reason.startswith(f"object {number}: ")
            await setup.check()

        run(main())


class TestInUseNoMore:
    """Topics are deleted and trimmed at any time, and with a short retention their objects go soon."""

    async def merging(self, setup, happens, at_request):
        """Compact; `happens()` before a request to the bucket."""
        real = setup.store.inner.get_range
        requests = 0

        async def get_range(key, start, end):
            nonlocal requests
            requests += 1
            if requests == at_request:
                await happens()
            return await real(key, start, end)

        setup.store.inner.get_range = get_range
        await setup.compactor.compact(to_the_end=True)
        del setup.store.inner.get_range
        assert requests >= at_request

    async def with_a_topic_of_its_own(self):
        setup = Setup()
        await setup.upload_small(2)
        await setup.upload(batches(50, 0, 3))
        await setup.upload_small(3)
        return setup, 2

    @pytest.mark.parametrize("at_request", range(1, 13))
    @pytest.mark.parametrize("is_deleted", [True, False])
    def test_an_object_that_was_destroyed_is_no_damage(self, at_request, is_deleted, caplog):
        async def main():
            setup, number = await self.with_a_topic_of_its_own()

            async def happens():
                await setup.objects.trim_all(50)
                setup.written.pop(50)
                if is_deleted:
                    await setup.store.inner.delete([object_key(CLUSTER_ID, number)])

            await self.merging(setup, happens, at_request)
            statistics = setup.compactor.statistics
            assert (statistics.damaged_objects, statistics.failures) == (0, 0)
            assert [it for it in caplog.records if it.levelno >= logging.WARNING] == []
            assert setup.kinds() == ["STREAM_SET"]
            await setup.check()

        run(main())

    @pytest.mark.parametrize("is_deleted", [True, False])
    def test_the_metadata_may_say_so_a_moment_later(self, is_deleted):
        """The bucket or the controller knows it first."""

        async def main():
            setup, number = await self.with_a_topic_of_its_own()

            telling = []

            async def told():
                await asyncio.sleep(0.5)
                await setup.objects.trim_all(50)
                setup.written.pop(50)

            async def happens():
                if is_deleted:
                    await setup.store.inner.delete([object_key(CLUSTER_ID, number)])
                else:
                    setup.commits.before = [CommitRefusedError("destroyed")]
                telling.append(asyncio.create_task(told()))

            await self.merging(setup, happens, 2)
            statistics = setup.compactor.statistics
            assert (statistics.damaged_objects, statistics.failures) == (0, 0)
            assert setup.kinds() == ["STREAM_SET"]
            await setup.check()

        run(main())

    def test_a_commit_that_is_refused_for_another_reason_is_a_failure(self):
        async def main():
            setup = Setup()
            await setup.upload_small(5)
            setup.commits.before = [CommitRefusedError("not the same offsets")]
            await setup.compactor.compact()
            assert setup.compactor.statistics.failures == 1

        run(main())

    def test_ids_that_have_expired_are_a_failure_whatever_became_of_the_sources(self):
        async def main():
            setup, _ = await self.with_a_topic_of_its_own()

            async def happens():
                await setup.objects.trim_all(50)
                setup.written.pop(50)
                setup.commits.before = [ObjectNotPreparedError("expired")]

            await self.merging(setup, happens, 2)
            assert setup.compactor.statistics.failures == 1

        run(main())


def test_ranges_that_contradict_each_other_hold_up_nothing_else(caplog):
    """Seen only while the output is streamed into the bucket, whose failure it must not become."""

    async def main():
        setup = Setup()
        store = RetryingObjectStore(setup.store, random.Random(0))
        setup.compactor = setup.compactor_on(store)
        await setup.upload_small(3)
        await setup.upload_small(
            1,
            ranges=lambda them: [*them[:-1], them[-1]._replace(end_offset=them[-1].end_offset - 1)],
        )
        await setup.upload_small(2, ranges=lambda them: them[:-1])
        await setup.compactor.compact()
        await setup.upload_small(8, streams=(40, 41))
        for _ in range(3):
            await setup.compactor.compact()
        statistics = setup.compactor.statistics
        assert (statistics.damaged_objects, statistics.groups) == (1, 1)
        assert statistics.failures == 0
        assert len(setup.objects.committed) == 6 + 1
        assert store.statistics.failures.total() == 0
        # The cause, once, and no request for help with the bucket.
        assert ["compaction leaves it out" in it.message for it in caplog.records] == [True]

    run(main())
