"""Composed Stream Objects: the same blocks behind each other, and an index that finds them."""

import pytest

from headrace.storage.compaction.copy import compose_stream_object
from headrace.storage.compaction.rewrite import RewriteError
from headrace.storage.compaction.source import DamagedSourceError, SourceObject
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.objects.index_block import ObjectIndex
from headrace.storage.objects.keys import object_key
from headrace.storage.ports import StreamRange
from tests.simulation.control_plane import CLUSTER_ID, ControlPlane
from tests.simulation.virtual_time import run
from tests.unit.storage.samples import batches, joined, write

BLOCK_BYTES = 500


class Setup:
    """Objects of stream 1, opened."""

    async def open(self, *of_objects, block_bytes=BLOCK_BYTES):
        self.store = MemoryObjectStore()
        self.objects = ControlPlane()
        self.found = []
        for made in of_objects:
            written = write([made], block_bytes)
            object_id = await self.objects.upload(self.store, written)
            source = SourceObject(self.store, CLUSTER_ID, object_id, 1000)
            await source.open(written.size_bytes)
            self.found.append((source, written.ranges[0]))
        return self

    async def compose(self, found=None):
        made = await compose_stream_object(self.found if found is None else found)
        await self.store.compose("made", made.pieces)
        content = self.store.objects.pop("made")
        assert len(content) == made.size_bytes
        return content


def live(start, end):
    return StreamRange(1, 1, start, end)


def test_it_is_what_a_writer_would_have_made_of_the_same_blocks():
    async def main():
        # Each object ends with a full block, so that a writer closes its blocks at the same places.
        sizes = [batches(1, start, 12, size=92) for start in (0, 12, 24)]
        setup = await Setup().open(*sizes)
        expected = joined(write([[it for made in sizes for it in made]], BLOCK_BYTES))
        assert await setup.compose() == expected

    run(main())


def test_an_object_of_objects_that_were_composed():
    async def main():
        setup = await Setup().open(*(batches(1, n * 7, 7) for n in range(4)))
        await setup.store.put(object_key(CLUSTER_ID, 90), [await setup.compose(setup.found[:2])])
        first = SourceObject(setup.store, CLUSTER_ID, 90, 1000)
        await first.open(len(setup.store.objects[object_key(CLUSTER_ID, 90)]))
        content = await setup.compose([(first, live(0, 14)), *setup.found[2:]])
        assert content == await setup.compose()

    run(main())


def test_blocks_that_are_dead_are_left_behind():
    async def main():
        setup = await Setup().open(batches(1, 0, 12), batches(1, 12, 12))
        whole = len(await setup.compose())
        setup.found[0] = (setup.found[0][0], live(10, 12))
        content = await setup.compose()
        # The block that holds the first live offset stays whole.
        kept = [it for it in setup.found[0][0].index if it.end_offset > 10]
        assert kept[0].start_offset < 10
        gone = setup.found[0][0].index.data_bytes - sum(it.size for it in kept)
        assert whole - len(content) > gone > 0

    run(main())


@pytest.mark.parametrize("lives", [(live(0, 13), live(13, 24)), (live(0, 11), live(11, 24))])
def test_an_index_that_does_not_hold_what_it_should_is_damage(lives):
    async def main():
        setup = await Setup().open(batches(1, 0, 12), batches(1, 12, 12))
        found = [(source, each) for (source, _), each in zip(setup.found, lives, strict=True)]
        with pytest.raises(DamagedSourceError):
            await setup.compose(found)

    run(main())


def test_blocks_that_do_not_follow_each_other_are_damage():
    async def main():
        setup = await Setup().open(batches(1, 0, 12))
        ((source, offsets),) = setup.found
        encoded = source.index._encoded
        # An entry is missing; an entry points to another block.
        for broken in (encoded[:36] + encoded[72:], encoded[:60] + bytes(8) + encoded[68:]):
            source.index = ObjectIndex(memoryview(broken), source.index.data_bytes)
            with pytest.raises(DamagedSourceError):
                await setup.compose([(source, offsets)])

    run(main())


def test_ranges_with_a_gap_are_refused():
    async def main():
        setup = await Setup().open(batches(1, 0, 12), batches(1, 13, 12))
        with pytest.raises(RewriteError, match="does not follow offset 12"):
            await setup.compose()

    run(main())
