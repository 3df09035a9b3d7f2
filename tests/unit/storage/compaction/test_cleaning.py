"""Streams whose batches are cleaned: what is read afterwards, and wherever a pass ends."""

import random

from headrace.config.node import StorageConfig
from headrace.metadata.rpc.requests import CompactStreamObject
from headrace.storage.cache.block_cache import BlockCache
from headrace.storage.compaction import cleaning
from headrace.storage.compaction.executor import Compactor
from headrace.storage.compaction.plan import GroupLimits, groups_to_clean
from headrace.storage.errors import CleaningAbandonedError, RetriableStorageError
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.ports import ObjectRange, ObjectType
from tests.simulation.control_plane import CLUSTER_ID, ControlPlane
from tests.simulation.faulty_store import FaultyStore
from tests.simulation.virtual_time import run
from tests.unit.storage.samples import batches, write

STREAM = 1


class Pass:
    """Cleans every batch whose payload is in `gone`; what must stay becomes `b"stub"`."""

    def __init__(self, owner, start_offset, end_offset):
        self.owner = owner
        self.start_offset, self.end_offset = start_offset, end_offset
        self.seen, self.indexed = [], []
        self.room = owner.room

    async def look_at(self, batch):
        if self.room == 0:
            self.end_offset = batch.base_offset
            return False
        self.room -= 1
        self.seen.append(batch.base_offset)
        return True

    async def clean(self, batch, *, must_stay):
        assert batch.end_offset <= self.end_offset
        if self.owner.abandons == batch.base_offset:
            raise CleaningAbandonedError("gone")
        if bytes(batch.payload) not in self.owner.gone:
            return batch.payload
        return b"stub" if must_stay else None

    def kept(self, batch):
        self.indexed.append(batch)

    async def finish(self):
        self.owner.finished.append(self)
        self.owner.ends = [it for it in self.owner.ends if it > self.end_offset]


class Cleaner:
    """Cleans one stream up to each of `ends`, once."""

    def __init__(self, *ends):
        self.ends = list(ends)
        self.gone = set()
        self.room = -1
        self.abandons = None
        self.finished = []
        self.begun = []

    def leaves(self, stream_id):
        return stream_id == STREAM

    def begin(self, stream_id, start_offset, end_offset):
        self.begun.append((stream_id, start_offset, end_offset))
        if stream_id != STREAM or not self.ends or end_offset < self.ends[0]:
            return None
        return Pass(self, start_offset, self.ends[0])


class Setup:
    def __init__(self, cleaner, **config):
        self.config = StorageConfig(
            **({"stream_split_bytes": 10_000, "object_block_bytes": 600} | config)
        )
        self.store = FaultyStore(MemoryObjectStore())
        self.objects = ControlPlane()
        self.cleaner = cleaner
        self.compactor = Compactor(
            self.config,
            self.store,
            self.objects,
            CLUSTER_ID,
            rng=random.Random(0),
            streams=lambda: [(STREAM, 1), (2, 1)],
            cleaner=cleaner,
        )

    async def upload(self, *streams, kind=ObjectType.STREAM):
        await self.objects.upload(self.store, write(streams, 600), kind)

    async def read(self, start, stream_id=STREAM):
        """Read from an offset to the end, by a reader with nothing cached."""
        cache = BlockCache(self.config, self.store.inner, self.objects, CLUSTER_ID)
        end = self.objects.image.streams[stream_id].end_offset
        found = []
        while start < end:
            found += await cache.read(stream_id, start, end, 10**9)
            start = found[-1].end_offset
        await cache.shutdown()
        return found


def without(made, *offsets):
    return {bytes(it.payload) for it in made if it.base_offset in offsets}


async def cleaned(made, gone, *, end=None, room=-1, object_batches=10, **config):
    cleaner = Cleaner(end or made[-1].end_offset)
    cleaner.gone, cleaner.room = gone, room
    setup = Setup(cleaner, **config)
    for start in range(0, len(made), object_batches):
        await setup.upload(made[start : start + object_batches])
    await setup.compactor.compact()
    return setup


def test_what_stays_covers_the_gap_before_it():
    async def main():
        made = batches(STREAM, 0, 10, count=3)
        setup = await cleaned(made, without(made, 0, 3, 9, 12, 21))
        found = await setup.read(0)
        assert [(it.base_offset, it.end_offset) for it in found] == [
            (0, 9), (9, 18), (18, 21), (21, 27), (27, 30)
        ]  # fmt: skip
        assert [it.payload for it in found] == [made[it].payload for it in (2, 5, 6, 8, 9)]
        assert {it.epoch for it in found} == {1}
        (passed,) = setup.cleaner.finished
        assert passed.indexed == found
        assert passed.seen == [it.base_offset for it in made]
        for offset in range(30):
            (first, *_) = await setup.read(offset)
            assert first.base_offset <= offset < first.end_offset

    run(main())


def test_the_last_batch_of_an_object_stays():
    async def main():
        made = batches(STREAM, 0, 10, count=3)
        setup = await cleaned(made, {bytes(it.payload) for it in made})
        assert [
            (it.base_offset, it.end_offset, bytes(it.payload)) for it in await setup.read(0)
        ] == [(0, 30, b"stub")]
        assert (
            setup.compactor.statistics.cleaned_bytes_out
            < setup.compactor.statistics.cleaned_bytes_in
        )

    run(main())


def test_what_lies_behind_the_end_is_not_cleaned():
    async def main():
        made = batches(STREAM, 0, 20)
        setup = await cleaned(made, {bytes(it.payload) for it in made}, end=5, object_batches=4)
        found = await setup.read(0)
        first, *behind = found
        assert (first.base_offset, first.end_offset, bytes(first.payload)) == (0, 5, b"stub")
        assert behind == made[5:]
        assert setup.cleaner.finished[0].indexed == [first]

    run(main())


def test_a_pass_ends_before_what_there_is_no_room_for():
    async def main():
        made = batches(STREAM, 0, 20)
        setup = await cleaned(made, {bytes(it.payload) for it in made}, room=7)
        (first, *_) = setup.cleaner.finished
        assert first.end_offset == 7
        assert first.seen == list(range(7))

    run(main())


def test_batches_before_a_gap_that_is_too_wide_stay(monkeypatch):
    async def main():
        monkeypatch.setattr(cleaning, "MAX_COUNT", 10)
        made = batches(STREAM, 0, 30)
        setup = await cleaned(made, {bytes(it.payload) for it in made}, object_batches=30)
        assert [it.count for it in await setup.read(0)] == [10, 10, 10]

    run(main())


def test_a_stream_that_is_cleaned_leaves_stream_set_objects_however_small():
    async def main():
        cleaner = Cleaner(4)
        setup = Setup(cleaner)
        made = batches(STREAM, 0, 4)
        cleaner.gone = without(made, 0, 1)
        await setup.upload(made, batches(2, 0, 4), kind=ObjectType.STREAM_SET)
        await setup.compactor.compact()
        assert [it.base_offset for it in await setup.read(0)] == [0, 3]
        assert len(await setup.read(0, 2)) == 4
        assert [it.object_type for it in setup.objects.get_objects(STREAM, 0, 4, 9)] == [
            ObjectType.STREAM
        ]
        written = setup.store.requests["put_stream"]
        await setup.compactor.compact(to_the_end=True)
        assert setup.store.requests["put_stream"] == written

    run(main())


def test_of_a_trimmed_stream_live_offsets_are_cleaned():
    async def main():
        made = batches(STREAM, 0, 10, count=3)
        cleaner = Cleaner(30)
        cleaner.gone = without(made, 9, 12)
        setup = Setup(cleaner)
        await setup.upload(made)
        await setup.objects.trim_stream(STREAM, 1, 7)
        await setup.compactor.compact()
        assert cleaner.begun[0] == (STREAM, 7, 30)
        found = await setup.read(7)
        assert [(it.base_offset, it.end_offset) for it in found][:3] == [(7, 9), (9, 18), (18, 21)]
        assert found[0].payload == made[2].payload

    run(main())


def test_what_a_pass_has_committed_is_right_wherever_it_ends():
    async def main():
        made = batches(STREAM, 0, 40)
        for ends_at in range(40):
            cleaner = Cleaner(40)
            cleaner.gone = without(made, *(it for it in range(40) if it % 4))
            cleaner.abandons = ends_at
            setup = Setup(cleaner)
            setup.compactor._set_limits = GroupLimits(max_objects=2, max_bytes=10**9)
            for start in range(0, 40, 5):
                await setup.upload(made[start : start + 5])
            await setup.compactor.compact()
            assert not cleaner.finished
            assert setup.compactor.statistics.failures == 0
            kept = {bytes(it.payload) for it in await setup.read(0)}
            assert kept >= {bytes(it.payload) for it in made} - cleaner.gone
            cleaner.abandons = None
            await setup.compactor.compact()
            (passed,) = cleaner.finished
            assert [it.payload for it in passed.indexed if bytes(it.payload) != b"stub"] == [
                it.payload for it in made if bytes(it.payload) not in cleaner.gone
            ]

    run(main())


def test_stream_set_objects_are_merged_while_a_long_log_is_cleaned():
    async def main():
        made = batches(STREAM, 0, 40)
        cleaner = Cleaner(40)
        setup = Setup(cleaner)
        setup.compactor._set_limits = GroupLimits(max_objects=4, max_bytes=10**9)
        for start in range(0, 40, 5):
            await setup.upload(made[start : start + 5])
        counted = []
        uploaded = 0

        class Slow(Pass):
            async def clean(self, batch, *, must_stay):
                nonlocal uploaded
                if batch.base_offset % 5 == 0:  # about as often as in the hours of a large one
                    counted.append(len(setup.objects.get_stream_set_objects()))
                    await setup.upload(batches(2, uploaded, 1), kind=ObjectType.STREAM_SET)
                    uploaded += 1
                return await super().clean(batch, must_stay=must_stay)

        cleaner.begin = lambda _stream, start, _end: (
            Slow(cleaner, start, 40) if not cleaner.finished and _stream == STREAM else None
        )
        await setup.compactor.compact()
        assert len(cleaner.finished) == 1
        assert max(counted) < 5
        assert [it.base_offset for it in await setup.read(0, 2)] == list(range(uploaded))

    run(main())


def test_an_unknown_outcome_of_a_commit_does_no_harm():
    async def main():
        made = batches(STREAM, 0, 20)
        cleaner = Cleaner(20)
        cleaner.gone = without(made, *range(18))
        setup = Setup(cleaner)
        await setup.upload(made)
        setup.objects.faults[CompactStreamObject].after += [RetriableStorageError("lost")] * 2
        await setup.compactor.compact()
        assert len(cleaner.finished) == 1
        assert [it.base_offset for it in await setup.read(0)] == [0, 19]

    run(main())


def test_groups_of_objects_to_clean():
    def found(start, end, size):
        return ObjectRange(start, ObjectType.STREAM, size, start, end)

    objects = [found(it, it + 10, 100) for it in range(0, 60, 10)]
    limits = GroupLimits(max_objects=2, max_bytes=1000)
    assert [[it.object_id for it in group] for group in groups_to_clean(objects, 45, limits)] == [
        [0, 10], [20, 30], [40]
    ]  # fmt: skip
    limits = GroupLimits(max_objects=9, max_bytes=99)
    assert [len(group) for group in groups_to_clean(objects, 60, limits)] == [1] * 6
    assert not [*groups_to_clean(objects, 0, limits)]
