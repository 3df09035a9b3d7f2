"""Rewriter: outputs that hold what was planned, in bounded pieces."""

import pytest

from headrace.storage.compaction import rewrite
from headrace.storage.compaction.plan import Piece, Run, plan_runs
from headrace.storage.compaction.rewrite import RewriteError, Rewriter
from headrace.storage.compaction.source import SourceObject
from headrace.storage.errors import ObjectStoreError
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.objects.keys import object_key
from headrace.storage.ports import NO_OBJECT_ID, StreamRange
from tests.simulation.control_plane import CLUSTER_ID, ControlPlane
from tests.simulation.faulty_store import Fault, FaultyStore
from tests.simulation.virtual_time import run
from tests.unit.storage.samples import batches, joined, write


class Setup:
    """Sources in a bucket."""

    async def open(self, *objects, split_bytes=10_000, window_bytes=1000):
        self.store = FaultyStore(MemoryObjectStore())
        self.objects = ControlPlane()
        self.sources, planned = [], []
        for streams in objects:
            written = write(streams)
            object_id = await self.objects.upload(self.store, written)
            source = SourceObject(self.store, CLUSTER_ID, object_id, window_bytes)
            await source.open(written.size_bytes)
            self.sources.append(source)
            planned.append((written.ranges, source.index))
        self.runs = plan_runs(planned, split_bytes)
        return self

    async def rewrite(self, runs=None, max_block_bytes=1024 * 1024):
        rewriter = Rewriter(
            self.store,
            self.objects,
            CLUSTER_ID,
            self.sources,
            max_block_bytes=max_block_bytes,
            prepare_ttl_ms=1000,
        )
        await rewriter.write(self.runs if runs is None else runs)
        return rewriter

    def content(self, object_id):
        return self.store.inner.objects[object_key(CLUSTER_ID, object_id)]


def test_small_streams_become_one_object_as_if_written_at_once():
    async def main():
        setup = await Setup().open(
            [batches(1, 0, 5), batches(2, 0, 5)], [batches(1, 5, 5), batches(3, 7, 1)]
        )
        rewriter = await setup.rewrite()
        expected = write([batches(1, 0, 10), batches(2, 0, 5), batches(3, 7, 1)])
        assert setup.content(rewriter.object_id) == joined(expected)
        assert rewriter.ranges == expected.ranges
        assert rewriter.size_bytes == expected.size_bytes
        assert rewriter.stream_objects == []

    run(main())


def test_large_streams_get_objects_of_their_own():
    async def main():
        setup = await Setup().open(
            [batches(1, 0, 50), batches(2, 0, 5), batches(3, 0, 50)],
            [batches(1, 50, 50), batches(3, 60, 90)],
        )
        rewriter = await setup.rewrite()
        expected = [[batches(1, 0, 100)], [batches(3, 0, 50)], [batches(3, 60, 90)]]
        found = [setup.content(it.object_id) for it in rewriter.stream_objects]
        assert found == [joined(write(it)) for it in expected]
        assert [it.range for it in rewriter.stream_objects] == [
            write(it).ranges[0] for it in expected
        ]
        assert [it.size_bytes for it in rewriter.stream_objects] == [len(it) for it in found]
        assert setup.content(rewriter.object_id) == joined(write([batches(2, 0, 5)]))

    run(main())


def test_without_small_streams_there_is_no_stream_set_object():
    async def main():
        setup = await Setup().open([batches(1, 0, 100)])
        rewriter = await setup.rewrite()
        assert (rewriter.object_id, rewriter.ranges, rewriter.size_bytes) == (NO_OBJECT_ID, [], 0)
        assert len(rewriter.stream_objects) == 1

    run(main())


def test_without_anything_live_nothing_is_written():
    async def main():
        setup = await Setup().open([batches(1, 0, 5)])
        rewriter = await setup.rewrite(runs=iter(()))
        assert (rewriter.object_id, rewriter.stream_objects) == (NO_OBJECT_ID, [])
        assert setup.objects.prepared == []

    run(main())


def test_output_is_handed_over_in_pieces(monkeypatch):
    monkeypatch.setattr(rewrite, "CHUNK_BYTES", 2000)
    sizes = []

    class Recording(MemoryObjectStore):
        async def put_stream(self, key, chunks):
            async def recorded():
                async for parts in chunks:
                    sizes.append(sum(map(len, parts)))
                    yield parts

            await super().put_stream(key, recorded())

    async def main():
        setup = await Setup().open([batches(1, 0, 40)], [batches(1, 40, 40)])
        setup.store.inner.__class__ = Recording
        rewriter = await setup.rewrite(max_block_bytes=500)
        assert len(sizes) > 2
        assert sum(sizes) == rewriter.stream_objects[0].size_bytes

    run(main())


def test_a_block_that_is_partly_dead_is_kept_whole():
    async def main():
        setup = await Setup().open([batches(1, 0, 5)])
        live = StreamRange(1, 1, 3, 5)
        rewriter = await setup.rewrite(
            iter([Run(live, 1, [Piece(0, live)], to_stream_object=False)])
        )
        assert rewriter.ranges == [live]
        assert setup.content(rewriter.object_id) == joined(write([batches(1, 0, 5)]))

    run(main())


@pytest.mark.parametrize(
    "claimed", [StreamRange(1, 1, 0, 6), StreamRange(1, 1, 0, 4), StreamRange(1, 1, 0, 3)]
)
def test_an_output_that_is_not_what_was_planned_is_refused(claimed):
    async def main():
        setup = await Setup().open([batches(1, 0, 5)])
        whole = StreamRange(1, 1, 0, 5)
        with pytest.raises(RewriteError, match="planned"):
            await setup.rewrite(iter([Run(claimed, 1, [Piece(0, whole)], to_stream_object=True)]))
        assert setup.objects.committed.keys() == {0}

    run(main())


@pytest.mark.parametrize(
    ("claimed_start", "is_refused"), [(0, True), (2, True), (3, False), (4, False)]
)
def test_an_output_that_begins_later_than_planned_is_refused(claimed_start, is_refused):
    """Earlier is right: the first block of a trimmed stream may begin before what is live."""

    async def main():
        setup = await Setup().open([batches(1, 3, 5)])
        claimed = StreamRange(1, 1, claimed_start, 8)
        held = Piece(0, StreamRange(1, 1, 3, 8))
        runs = iter([Run(claimed, 1, [held], to_stream_object=True)])
        if is_refused:
            with pytest.raises(RewriteError, match="planned"):
                await setup.rewrite(runs)
        else:
            rewriter = await setup.rewrite(runs)
            assert rewriter.stream_objects[0].range == claimed

    run(main())


@pytest.mark.parametrize("fault", [Fault.REFUSED, Fault.LOST_REPLY])
def test_a_failing_bucket_is_reported(fault):
    async def main():
        setup = await Setup().open([batches(1, 0, 5)])
        setup.store.then("put_stream", fault)
        with pytest.raises(ObjectStoreError):
            await setup.rewrite()

    run(main())


class Window(bytearray):
    """Bytes that are counted while somebody holds them."""

    live = 0

    def __init__(self, content):
        super().__init__(content)
        Window.live += 1

    def __del__(self):
        Window.live -= 1


def test_each_source_has_one_window_at_a_time_even_if_all_change_theirs_together():
    async def main():
        streams = range(1, 40)
        setup = await Setup().open(
            *([batches(it, n, 1) for it in streams] for n in range(6)), window_bytes=600
        )
        get_range, most = setup.store.get_range, 0

        async def counted(key, start, end):
            nonlocal most
            window = memoryview(Window(await get_range(key, start, end)))
            most = max(most, Window.live)
            return window

        setup.store.get_range = counted
        await setup.rewrite()
        assert most <= len(setup.sources) + 1  # a block may still be in somebody's hands

    run(main())
