"""The engine as a whole: starting, running, failing, stopping."""

import asyncio

import pytest

from headrace.metadata.rpc.requests import CommitStreamSetObject
from headrace.storage.errors import EngineFailedError, FencedError
from tests.simulation.virtual_time import run
from tests.unit.storage.fakes import SMALL, Node, PassingError, require_dense, settle


def test_a_life_from_start_to_start():
    async def scenario():
        first = await Node().start()
        stream = await first.open(1)
        await first.append_all(stream, [100] * 5)
        await first.engine.shutdown()
        assert first.wal.after_crash() == []
        second = await first.next_life().start()
        assert second.report.records == 0
        stream = await second.open(1, epoch=2)
        require_dense(await stream.fetch(0, 1 << 20), 0, 5)

    run(scenario())


def test_a_threshold_that_the_cache_does_not_allow_is_said_at_the_start(caplog):
    async def scenario():
        allowed = SMALL.log_cache_bytes // 3
        await Node(upload_threshold_bytes=allowed).start()
        assert caplog.records == []
        await Node(upload_threshold_bytes=allowed + 1).start()
        (line,) = caplog.records
        assert "s3.wal.upload.threshold" in line.message
        assert (line.threshold_bytes, line.uploaded_at_bytes) == (allowed + 1, allowed)

    run(scenario())


class Job:
    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.state = "new"

    async def run(self) -> None:
        self.state = "running"
        try:
            await asyncio.sleep(10)
            if self.error is not None:
                raise self.error
            await asyncio.sleep(10_000_000)
        except asyncio.CancelledError:
            self.state = "cancelled"
            raise


class TestRun:
    def test_runs_the_background_jobs_until_cancelled(self):
        async def scenario():
            node = await Node().start()
            jobs = [Job(), Job()]
            node.engine._background = jobs
            running = asyncio.create_task(node.engine.run())
            await asyncio.sleep(100)
            assert [job.state for job in jobs] == ["running"] * 2
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert [job.state for job in jobs] == ["cancelled"] * 2

        run(scenario())

    def test_ends_with_a_job_that_fails(self):
        async def scenario():
            node = await Node().start()
            node.engine._background = [Job(), Job(FencedError("replaced"))]
            with pytest.raises(ExceptionGroup) as failed:
                await node.engine.run()
            assert failed.group_contains(FencedError)

        run(scenario())

    @pytest.mark.parametrize("kind", ["wal", "fenced"])
    def test_ends_when_nothing_can_be_acknowledged_any_more(self, kind):
        async def scenario():
            node = await Node(auto_confirm=False).start()
            stream = await node.open(1)
            running = asyncio.create_task(node.engine.run())
            await settle()
            node.append(stream)
            if kind == "wal":
                node.wal.fail(OSError("EIO"))
            else:
                node.engine.fence("replaced")
            with pytest.raises(ExceptionGroup) as failed:
                await running
            expected = EngineFailedError if kind == "wal" else FencedError
            assert failed.group_contains(expected)

        run(scenario())

    def test_a_failure_before_it_ran_is_not_forgotten(self):
        async def scenario():
            node = await Node().start()
            node.wal.fail(OSError("EIO"))
            with pytest.raises(ExceptionGroup):
                await node.engine.run()

        run(scenario())


class TestShutdown:
    def test_uploads_everything_then_closes_an_empty_wal(self):
        async def scenario():
            node = await Node().start()
            one, two = await node.open(1), await node.open(2)
            for _ in range(10):
                node.append(one, 1000)
                node.append(two, 1000)
            await node.engine.shutdown()
            assert len(node.acks.acked) == 20
            require_dense(node.objects_of(1), 0, 10)
            require_dense(node.objects_of(2), 0, 10)
            assert node.journal.events[-1] == ("wal shutdown",)
            assert node.wal.after_crash() == []
            assert not node.engine.stats().failed

        run(scenario())

    def test_takes_no_more_appends(self):
        async def scenario():
            node = await Node(auto_confirm=False).start()
            stream = await node.open(1)
            node.append(stream)
            stopping = asyncio.create_task(node.engine.shutdown())
            await settle()
            with pytest.raises(EngineFailedError):
                stream.append(b"late", 1, node.acks.callback("late"))
            with pytest.raises(EngineFailedError):
                await node.engine.admission(10)
            assert not node.engine.admits(10)
            node.wal.confirm()
            await stopping
            assert node.acks.acked == [(1, 0)]

        run(scenario())

    def test_is_bounded_and_leaves_the_rest_in_the_wal(self):
        async def scenario():
            node = await Node(shutdown_timeout_ms=30_000).start()
            stream = await node.open(1)
            await node.append_all(stream, [100] * 5)
            node.store.is_down = True
            loop = asyncio.get_running_loop()
            begin = loop.time()
            await node.engine.shutdown()
            assert loop.time() - begin == pytest.approx(30, abs=0.1)
            assert node.wal.is_shut_down
            assert node.journal.of("trim") == []
            node.store.is_down = False
            second = await node.next_life().start()
            require_dense(second.objects_of(1), 0, 5)

        run(scenario())

    def test_appends_that_are_never_confirmed_are_failed(self):
        """Every accepted append is acknowledged or failed."""

        async def scenario():
            node = await Node(auto_confirm=False, shutdown_timeout_ms=1000).start()
            stream = await node.open(1)
            node.append(stream)
            node.append(stream)
            node.wal.confirm_records(1)
            await node.engine.shutdown()
            assert node.acks.acked == [(1, 0)]
            assert set(node.acks.failed) == {(1, 1)}
            node.wal.confirm()
            assert len(node.acks.results) == 2

        run(scenario())

    def test_after_a_wal_failure_it_still_uploads_what_was_acknowledged(self):
        """LogCache may be the only place where it can still be read."""

        async def scenario():
            node = await Node(auto_confirm=False).start()
            stream = await node.open(1)
            for _ in range(3):
                node.append(stream)
            node.wal.confirm_records(2)
            node.wal.fail(OSError("EIO"))
            await node.engine.shutdown()
            require_dense(node.objects_of(1), 0, 2)
            assert node.journal.of("trim") == [], "the WAL is not touched any more"
            # Whatever the WAL gives back later, it fits behind what was uploaded.
            second = await node.next_life().start()
            require_dense(second.objects_of(1), 0, 3)
            assert second.report.dropped == 2

        run(scenario())

    def test_a_fenced_node_uploads_nothing(self):
        async def scenario():
            node = await Node(auto_confirm=False).start()
            stream = await node.open(1)
            node.append(stream)
            node.wal.confirm()
            node.append(stream)
            node.engine.fence("replaced")
            node.wal.confirm()
            loop = asyncio.get_running_loop()
            begin = loop.time()
            await node.engine.shutdown()
            assert loop.time() == begin
            assert node.journal.of("put", "commit", "trim") == []
            assert node.wal.is_shut_down

        run(scenario())

    def test_it_waits_for_the_bucket_until_told_not_to(self, caplog):
        async def scenario():
            node = await Node().start()
            stream = await node.open(1)
            node.store.hold()
            node.append(stream)
            ending = asyncio.create_task(node.engine.shutdown())
            await settle()
            assert not ending.done()
            node.engine.give_up_uploads("no controller answers")
            await settle()
            assert ending.done()
            assert node.journal.of("commit", "trim") == []
            assert node.wal.is_shut_down
            assert "not in the bucket" in caplog.text

        run(scenario())

    def test_a_wal_that_cannot_be_closed_is_like_a_crash(self, caplog):
        async def scenario():
            from headrace.wal.errors import WalFailedError

            node = await Node().start()

            async def broken() -> None:
                raise WalFailedError("EIO")

            node.wal.shutdown = broken
            await node.engine.shutdown()
            assert "not shut down cleanly" in caplog.text

        run(scenario())

    def test_of_an_engine_that_never_started(self):
        async def scenario():
            node = Node()
            await node.engine.shutdown()
            assert node.wal.is_shut_down

        run(scenario())

    def test_retries_under_way_end_with_it(self):
        async def scenario():
            node = await Node(shutdown_timeout_ms=100).start()
            stream = await node.open(1)
            node.control.faults[CommitStreamSetObject].before = [PassingError()] * 1000
            await node.append_all(stream, [100])
            await node.engine.shutdown()
            assert asyncio.all_tasks() == {asyncio.current_task()}

        run(scenario())


def test_a_block_takes_at_most_a_third_of_log_cache_and_wal():
    async def scenario():
        node = await Node(
            wal_capacity_bytes=300_000, log_cache_bytes=3 << 20, upload_threshold_bytes=3 << 20
        ).start()
        assert node.engine._cache._max_block_bytes == 1 << 20
        assert node.engine._cache.max_block_wal_bytes == 100_000

    run(scenario())
