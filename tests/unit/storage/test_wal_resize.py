"""Another capacity for the WAL of a running engine: nobody is refused, nothing is lost, and it may be given up."""

import asyncio

import pytest

from headrace.storage.errors import (
    BackPressureError,
    EngineFailedError,
    ResizeRefusedError,
    RetriableStorageError,
)
from headrace.storage.wal_resize import MAX_PAUSE_MS, UPLOAD_TIMEOUT_MS, ResizeReport
from headrace.wal.errors import WalDeviceError, WalFailedError
from tests.simulation.virtual_time import run
from tests.unit.storage.fakes import Node, require_dense, settle

OLD = 8 << 20
NEW = 24 << 20


async def started(**options) -> Node:
    options.setdefault("wal_capacity_bytes", OLD)
    return await Node(**options).start()


async def produce(node: Node, stream, count: int, size: int = 1000) -> None:
    """Append as a request does, one after the other."""
    for _ in range(count):
        if not node.engine.admits(size):
            await node.engine.admission(size)
        node.append(stream, size)
        await asyncio.sleep(0)


class TestResize:
    @pytest.mark.parametrize("new_bytes", [NEW, OLD // 2])
    def test_while_producing(self, new_bytes):
        async def scenario():
            node = await started()
            stream = await node.open(1)
            producing = asyncio.create_task(produce(node, stream, 2000))
            await settle()
            report = await node.engine.resize_wal(new_bytes)
            assert node.wal.capacity_bytes == new_bytes
            assert not producing.done(), "it was resized in the middle of it"
            await producing
            await settle()
            assert node.acks.acked == [(1, offset) for offset in range(2000)]
            require_dense(await stream.fetch(0, 1 << 30), 0, 2000)
            await node.engine.force_upload()
            require_dense(node.objects_of(1), 0, 2000)
            assert (report.old_bytes, report.new_bytes) == (OLD, new_bytes)
            assert report.uploaded_bytes > 0
            assert 0 <= report.pause_ms <= report.duration_ms

        run(scenario())

    def test_uploads_first_and_parks_only_for_the_rest(self):
        async def scenario():
            node = await started()
            stream = await node.open(1)
            await node.append_all(stream, [1000] * 5)
            node.store.hold()
            resizing = asyncio.create_task(node.engine.resize_wal(NEW))
            await settle()
            assert node.engine.admits(1000), "a slow bucket parks nobody"
            await node.append_all(stream, [1000])
            node.store.release_all()
            await resizing
            kinds = [event[0] for event in node.journal.of("commit", "park", "trim", "switch")]
            assert kinds == ["commit", "trim", "park", "commit", "trim", "switch"]

        run(scenario())

    def test_under_a_steady_load_it_uploads_a_few_times_only(self):
        """Each round leaves what arrived meanwhile: waiting for less would be for ever."""

        async def scenario():
            node = await started(log_cache_bytes=32 << 20, upload_threshold_bytes=8 << 20)
            stream = await node.open(1)
            node.append(stream, 1_500_000)
            await settle()
            put = node.store.put

            async def slow_put(key, parts):
                await asyncio.sleep(0.1)
                if node.engine.admits(1_500_000):
                    node.append(stream, 1_500_000)
                await put(key, parts)

            node.store.put = slow_put
            await node.engine.resize_wal(NEW)
            assert len(node.journal.of("commit")) == 2, "one round and the rest"

        run(scenario())

    def test_who_waits_goes_on_in_order_and_nobody_is_refused(self):
        async def scenario():
            node = await started()
            node.wal.switch_gate = asyncio.Event()
            streams = [await node.open(number) for number in range(1, 6)]
            resizing = asyncio.create_task(node.engine.resize_wal(NEW))
            await settle()
            assert not node.engine.admits(1)
            parked = [asyncio.create_task(produce(node, stream, 1)) for stream in streams]
            await asyncio.sleep(2)
            assert not any(task.done() for task in parked)
            assert node.engine.stats().admission_waiting == 5
            node.wal.switch_gate.set()
            await resizing
            await settle()  # in no time: nobody has to look again
            assert all(task.done() for task in parked)
            assert node.acks.acked == [(number, 0) for number in range(1, 6)]
            assert node.engine.stats().admission_refused_total == 0

        run(scenario())

    def test_an_append_that_did_not_ask_is_refused_as_not_appended(self):
        async def scenario():
            node = await started()
            node.wal.switch_gate = asyncio.Event()
            stream = await node.open(1)
            resizing = asyncio.create_task(node.engine.resize_wal(NEW))
            await settle()
            with pytest.raises(BackPressureError):
                stream.append(b"x", 1, node.acks.callback("x"))
            assert stream.next_offset == 0
            node.wal.switch_gate.set()
            await resizing
            node.append(stream)
            await settle()
            assert node.acks.acked == [(1, 0)]

        run(scenario())

    def test_blocks_are_a_part_of_the_ring_that_there_is(self):
        """Else one block could fill a WAL that has shrunk."""

        async def scenario():
            node = await started()
            stream = await node.open(1)
            await node.engine.resize_wal(300_000)
            await produce(node, stream, 1000, 2000)
            await node.engine.force_upload()
            assert len(node.journal.of("commit")) >= 2_000_000 // 100_000
            assert node.engine.stats().admission_refused_total == 0

        run(scenario())

    def test_is_counted(self):
        async def scenario():
            node = await started()
            node.wal.switch_gate = asyncio.Event()
            asyncio.get_running_loop().call_later(0.25, node.wal.switch_gate.set)
            report = await node.engine.resize_wal(NEW)
            assert report.pause_ms == pytest.approx(250)
            stats = node.engine.stats()
            assert stats.wal_capacity_bytes == NEW
            assert stats.wal_resizes_total == 1
            assert stats.wal_resize_last_pause_ms == report.pause_ms

        run(scenario())

    def test_to_what_it_is_does_nothing(self):
        async def scenario():
            node = await started()
            report = await node.engine.resize_wal(OLD)
            assert report == ResizeReport(
                old_bytes=OLD, new_bytes=OLD, pause_ms=0, uploaded_bytes=0, duration_ms=0
            )
            assert not node.journal.of("park")
            assert node.engine.stats().wal_resizes_total == 0

        run(scenario())

    def test_one_at_a_time(self):
        async def scenario():
            node = await started()
            node.wal.switch_gate = asyncio.Event()
            first = asyncio.create_task(node.engine.resize_wal(NEW))
            await settle()
            with pytest.raises(RetriableStorageError, match="already"):
                await node.engine.resize_wal(OLD // 2)
            node.wal.switch_gate.set()
            await first
            await node.engine.resize_wal(OLD // 2)
            assert node.wal.capacity_bytes == OLD // 2

        run(scenario())


async def require_unharmed(node: Node, stream) -> None:
    """Appends go on, on the old WAL."""
    assert node.wal.capacity_bytes == OLD
    assert node.engine.admits(1000)
    before = len(node.acks.acked)
    node.append(stream)
    await settle()
    assert len(node.acks.acked) == before + 1
    assert not node.acks.failed
    assert not node.engine.stats().failed


class TestGivenUp:
    def test_when_the_bucket_is_away(self):
        async def scenario():
            node = await started()
            stream = await node.open(1)
            await node.append_all(stream, [1000] * 5)
            node.store.is_down = True
            begin = asyncio.get_running_loop().time()
            with pytest.raises(RetriableStorageError, match=r"within 120 s, \d+ bytes are left"):
                await node.engine.resize_wal(NEW)
            assert asyncio.get_running_loop().time() - begin == pytest.approx(
                UPLOAD_TIMEOUT_MS / 1000
            )
            assert not node.journal.of("park")
            await require_unharmed(node, stream)
            node.store.is_down = False
            await node.engine.resize_wal(NEW)
            assert node.wal.capacity_bytes == NEW

        run(scenario())

    def test_before_it_parks_anybody_when_nothing_was_confirmed_yet(self):
        """What is open at the beginning is waited for like everything else that the WAL holds."""

        async def scenario():
            node = await started()
            stream = await node.open(1)
            node.store.is_down = True
            node.wal.auto_confirm = False
            node.append(stream)
            resizing = asyncio.create_task(node.engine.resize_wal(NEW))
            await settle()
            node.wal.auto_confirm = True
            node.wal.confirm()
            with pytest.raises(RetriableStorageError, match="is the bucket reachable"):
                await resizing
            assert not node.journal.of("park")
            await require_unharmed(node, stream)

        run(scenario())

    @pytest.mark.parametrize(
        ("admission_timeout_ms", "pause_s"), [(10_000, MAX_PAUSE_MS / 1000), (2_000, 1)]
    )
    def test_when_the_rest_takes_too_long(self, admission_timeout_ms, pause_s):
        """Those who are parked wait for no longer than half of what they would for room."""

        async def scenario():
            node = await started(admission_timeout_ms=admission_timeout_ms)
            stream = await node.open(1)
            begin_resize = node.wal.begin_resize

            def last_append_then_begin():
                node.wal.auto_confirm = False
                node.append(stream)  # never confirmed while appends are parked
                begin_resize()

            node.wal.begin_resize = last_append_then_begin
            resizing = asyncio.create_task(node.engine.resize_wal(NEW))
            await settle()
            parked = asyncio.create_task(produce(node, stream, 1))
            begin = asyncio.get_running_loop().time()
            with pytest.raises(
                RetriableStorageError, match="while appends were parked; appends continue"
            ):
                await resizing
            assert asyncio.get_running_loop().time() - begin == pytest.approx(pause_s)
            await parked
            node.wal.begin_resize = begin_resize
            node.wal.auto_confirm = True
            node.wal.confirm()
            await require_unharmed(node, stream)
            await node.engine.resize_wal(NEW)
            assert node.wal.capacity_bytes == NEW

        run(scenario())

    def test_a_switch_that_is_done_when_the_time_is_up_counts(self):
        async def scenario():
            node = await started()
            resize = node.wal.resize

            async def slow_resize(capacity_bytes):
                await resize(capacity_bytes)
                await asyncio.sleep(100)  # as a switch that may not be left does

            node.wal.resize = slow_resize
            report = await node.engine.resize_wal(NEW)
            assert report.new_bytes == NEW
            assert report.pause_ms == MAX_PAUSE_MS

        run(scenario())

    def test_when_the_wal_refuses(self):
        async def scenario():
            node = await started()
            stream = await node.open(1)
            node.wal.resize_fault = WalDeviceError("has 5 bytes, less than 6")
            with pytest.raises(ResizeRefusedError, match="has 5 bytes, less than 6"):
                await node.engine.resize_wal(NEW)
            assert not node.journal.of("park")
            await require_unharmed(node, stream)

        run(scenario())

    def test_when_the_wal_has_no_device(self):
        class ObjectWal:
            capacity_bytes = OLD

        async def scenario():
            node = await started()
            node.engine._resize._wal = ObjectWal()
            with pytest.raises(ResizeRefusedError, match="not on a device"):
                await node.engine.resize_wal(NEW)

        run(scenario())

    def test_when_the_wal_fails(self):
        async def scenario():
            node = await started()
            node.wal.switch_gate = asyncio.Event()
            resizing = asyncio.create_task(node.engine.resize_wal(NEW))
            await settle()
            node.wal.resize_fault = WalFailedError("EIO")
            node.wal.fail(WalFailedError("EIO"))
            node.wal.switch_gate.set()
            await asyncio.wait([resizing])
            again = node.engine.resize_wal(OLD // 2)
            with pytest.raises(EngineFailedError, match="EIO"):
                await again
            assert node.engine.stats().failed

        run(scenario())

    @pytest.mark.parametrize("turns", range(40))
    @pytest.mark.parametrize("how", ["cancelled", "shut down"])
    def test_at_any_moment(self, turns, how):
        async def scenario():
            node = await started()
            stream = await node.open(1)
            await node.append_all(stream, [1000] * 3)
            resizing = asyncio.create_task(node.engine.resize_wal(NEW))
            producing = asyncio.create_task(produce(node, stream, 3))
            for _ in range(turns):
                await asyncio.sleep(0)
            if how == "cancelled":
                resizing.cancel()
                await asyncio.wait([resizing])
                assert node.engine.admits(1000)
                await producing
                await settle()
                assert node.acks.acked == [(1, offset) for offset in range(6)]
                node.append(stream)
                await settle()
                await node.engine.resize_wal(OLD // 2)
            await node.engine.shutdown()
            await asyncio.wait([resizing, producing])
            if how == "shut down":
                assert not resizing.cancelled()
                error = resizing.exception()
                assert error is None or isinstance(error, EngineFailedError)
                with pytest.raises(EngineFailedError):
                    await node.engine.resize_wal(OLD // 2)
            assert node.wal.after_crash() == []
            acked = len(node.acks.acked)
            require_dense(node.objects_of(1), 0, acked)
            assert not node.acks.failed

        run(scenario())
