"""What is chosen for compaction, and what becomes of each stream."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.storage.compaction.plan import (
    SMALL_OBJECT_BYTES,
    GroupLimits,
    StreamSetObject,
    choose_stream_objects,
    choose_stream_set_objects,
    live_bytes,
    plan_runs,
)
from headrace.storage.errors import CorruptObjectError
from headrace.storage.objects.index_block import IndexEntry, ObjectIndex, encode_entry
from headrace.storage.ports import ObjectRange, ObjectType, StreamRange

MIB = 1024 * 1024
LIMITS = GroupLimits(max_objects=10, max_bytes=10_000 * MIB)


def chosen(sizes, limits=LIMITS):
    objects = [StreamSetObject(ordinal, size * MIB, ()) for ordinal, size in enumerate(sizes)]
    return [it.object_id for it in choose_stream_set_objects(objects, limits)]


class TestChoice:
    """Tiers of objects of about the same size."""

    def test_nothing_to_choose_from(self):
        assert chosen([]) == []
        assert chosen([5]) == []

    def test_few_objects_are_left_alone(self):
        assert chosen([100, 100, 100]) == []
        assert chosen([100, 100, 100, 100]) == [0, 1, 2, 3]

    def test_an_object_larger_than_all_newer_ones_is_left_alone(self):
        assert chosen([1000, 100, 100, 100, 100]) == [1, 2, 3, 4]
        assert chosen([400, 100, 100, 100, 100]) == [0, 1, 2, 3, 4]

    def test_an_older_tier_is_merged_when_the_newest_has_too_few(self):
        assert chosen([500, 500, 500, 500, 1]) == [0, 1, 2, 3]
        assert chosen([5000, 500, 500, 500, 500, 300, 1, 1]) == [1, 2, 3, 4]

    def test_tiny_objects_always_join(self):
        objects = [StreamSetObject(n, size, ()) for n, size in enumerate([900_000, 9_000, 90, 9])]
        assert SMALL_OBJECT_BYTES > 900_000
        assert len(choose_stream_set_objects(objects, LIMITS)) == 4

    def test_groups_are_bounded(self):
        limits = GroupLimits(max_objects=5, max_bytes=10_000 * MIB)
        assert chosen([10] * 20, limits) == [15, 16, 17, 18, 19]
        limits = GroupLimits(max_objects=50, max_bytes=65 * MIB)
        assert chosen([10] * 20, limits) == [14, 15, 16, 17, 18, 19]

    def test_objects_at_the_bound_are_left_alone(self):
        limits = GroupLimits(max_objects=50, max_bytes=100 * MIB)
        assert chosen([90, 90, 90, 90, 90], limits) == []

    @given(st.lists(st.integers(1, 2000), max_size=60), st.randoms(use_true_random=False))
    def test_without_new_objects_it_comes_to_an_end(self, sizes, rng):
        """Merged objects shrink by what leaves for Stream Objects."""
        groups = 0
        while group := chosen(sizes):
            first = group[0]
            assert group == list(range(first, first + len(group)))
            total = sum(sizes[it] for it in group)
            merged = [] if rng.random() < 0.2 else [max(1, int(total * rng.choice([1, 0.5])))]
            sizes = sizes[:first] + merged + sizes[first + len(group) :]
            groups += 1
        assert groups <= 20
        assert len(sizes) <= 60

    def test_bytes_are_rewritten_few_times(self):
        """A thousand uploads of the same size: objects stay few, and so do the rewritings."""
        sizes, written = [], 0
        for _ in range(1000):
            sizes.append(10)
            while group := chosen(sizes):
                total = sum(sizes[it] for it in group)
                written += total
                sizes[group[0] : group[-1] + 1] = [total]
        assert len(sizes) < 20
        assert written < 7 * 10_000


class TestStreamObjects:
    """Adjacent Stream Objects of one stream."""

    def chosen(self, *shape):
        """Shape: (start, end, size in MiB)."""
        objects = [
            ObjectRange(ordinal, ObjectType.STREAM, size * MIB, start, end)
            for ordinal, (start, end, size) in enumerate(shape)
        ]
        return [it.object_id for it in choose_stream_objects(objects, LIMITS)]

    def test_neighbours_are_merged(self):
        assert self.chosen((0, 1, 16), (1, 2, 16), (2, 3, 16), (3, 4, 16)) == [0, 1, 2, 3]

    def test_a_gap_separates(self):
        assert self.chosen((0, 1, 16), (1, 2, 16), (3, 4, 16), (4, 5, 16)) == []
        shape = [(0, 1, 16), *[(n, n + 1, 16) for n in range(5, 10)]]
        assert self.chosen(*shape) == [1, 2, 3, 4, 5]

    def test_none(self):
        assert self.chosen() == []


def index_of(*blocks):
    encoded, position = b"", 0
    for stream_id, start, end, size in blocks:
        encoded += encode_entry(IndexEntry(stream_id, start, end, 1, position, size))
        position += size
    return ObjectIndex(memoryview(encoded), position)


def source(*blocks, epoch=1):
    """Make a source whose live ranges are its blocks, one range per block."""
    ranges = [StreamRange(stream_id, epoch, start, end) for stream_id, start, end, _ in blocks]
    return ranges, index_of(*blocks)


def planned(sources, split_bytes=1000):
    return [
        (
            run.range.stream_id,
            run.range.start_offset,
            run.range.end_offset,
            run.size_bytes,
            [piece.source for piece in run.pieces],
            run.to_stream_object,
        )
        for run in plan_runs(sources, split_bytes)
    ]


class TestRuns:
    """Ranges that continue each other, over all sources."""

    def test_streams_in_order_and_their_ranges_joined(self):
        sources = [
            source((1, 0, 5, 100), (7, 0, 3, 50)),
            source((0, 9, 10, 30), (1, 5, 9, 100)),
            source((1, 9, 20, 100), (7, 3, 4, 50)),
        ]
        assert planned(sources) == [
            (0, 9, 10, 30, [1], False),
            (1, 0, 20, 300, [0, 1, 2], False),
            (7, 0, 4, 100, [0, 2], False),
        ]

    def test_a_gap_makes_two_runs(self):
        sources = [source((1, 0, 5, 100)), source((1, 8, 9, 100))]
        assert planned(sources) == [(1, 0, 5, 100, [0], False), (1, 8, 9, 100, [1], False)]

    def test_the_order_of_sources_does_not_matter(self):
        sources = [source((1, 5, 9, 100)), source((1, 0, 5, 100))]
        assert planned(sources) == [(1, 0, 9, 200, [1, 0], False)]

    def test_large_runs_leave_for_a_stream_object(self):
        sources = [source((1, 0, 5, 600), (2, 0, 1, 600)), source((1, 5, 6, 400))]
        assert planned(sources) == [(1, 0, 6, 1000, [0, 1], True), (2, 0, 1, 600, [0], False)]

    def test_a_stream_leaves_with_all_its_runs(self):
        """The control plane refuses a stream in both kinds of a commit's objects."""
        sources = [source((1, 0, 5, 1000)), source((1, 8, 9, 20))]
        assert [run[-1] for run in planned(sources)] == [True, True]

    def test_the_epoch_is_the_highest(self):
        sources = [source((1, 0, 5, 20), epoch=4), source((1, 5, 6, 20), epoch=6)]
        (run,) = plan_runs(sources, 1000)
        assert run.range == StreamRange(1, 6, 0, 6)

    def test_only_live_ranges_count(self):
        ranges = [StreamRange(1, 1, 3, 5)]
        sources = [(ranges, index_of((1, 0, 5, 700), (2, 0, 9, 900)))]
        assert planned(sources) == [(1, 3, 5, 700, [0], False)]

    def test_a_range_of_many_blocks(self):
        index = index_of((1, 0, 5, 20), (1, 5, 6, 20), (1, 6, 9, 30), (2, 0, 1, 40))
        assert planned([([StreamRange(1, 1, 0, 9)], index)]) == [(1, 0, 9, 70, [0], False)]

    def test_offsets_in_two_sources_are_refused(self):
        with pytest.raises(ValueError, match="in two objects"):
            planned([source((1, 0, 5, 20)), source((1, 4, 6, 20))])

    def test_ranges_out_of_order_are_refused(self):
        index = index_of((1, 0, 5, 20), (2, 0, 5, 20))
        ranges = [StreamRange(2, 1, 0, 5), StreamRange(1, 1, 0, 5)]
        with pytest.raises(ValueError, match="out of order"):
            planned([(ranges, index)])

    def test_a_range_that_the_index_lacks_is_refused(self):
        for missing in (StreamRange(1, 1, 0, 6), StreamRange(3, 1, 0, 5)):
            with pytest.raises(CorruptObjectError, match="lacks offsets"):
                planned([([missing], index_of((1, 0, 5, 20)))])

    def test_nothing(self):
        assert planned([]) == []
        assert planned([((), index_of((1, 0, 5, 20)))]) == []

    def test_it_is_lazy(self):
        """A plan of tens of thousands of streams must not stop the loop."""
        blocks = [(stream_id, 0, 1, 20) for stream_id in range(1000)]
        ranges = iter([StreamRange(stream_id, 1, 0, 1) for stream_id, *_ in blocks])
        runs = plan_runs([(ranges, index_of(*blocks))], 1000)
        next(runs)
        assert len(list(ranges)) > 990


def test_live_bytes():
    index = index_of((1, 0, 5, 20), (1, 5, 6, 20), (2, 0, 1, 40))
    ranges = [StreamRange(1, 1, 5, 6), StreamRange(2, 1, 0, 1)]
    assert live_bytes(ranges, index) == 60
    assert live_bytes([], index) == 0


def test_a_plan_covers_exactly_the_live_offsets():
    """Over random objects."""
    for seed in range(200):
        rng = random.Random(seed)
        sources, expected, ends = [], {}, {}
        for _ in range(rng.randint(1, 6)):
            blocks = []
            for stream_id in range(5):
                for _ in range(rng.choice([0, 1, 1, 2])):
                    start = ends.get(stream_id, 0) + rng.choice([0, 0, 3])
                    ends[stream_id] = start + rng.randint(1, 9)
                    blocks.append((stream_id, start, ends[stream_id], rng.randint(20, 600)))
                    expected.setdefault(stream_id, set()).update(range(start, ends[stream_id]))
            sources.append(source(*blocks))
        found = {}
        kinds = {}
        for run in plan_runs(sources, 1000):
            offsets = set(range(run.range.start_offset, run.range.end_offset))
            assert not offsets & found.setdefault(run.range.stream_id, set())
            found[run.range.stream_id] |= offsets
            kinds.setdefault(run.range.stream_id, set()).add(run.to_stream_object)
        assert found == expected
        assert all(len(it) == 1 for it in kinds.values())
