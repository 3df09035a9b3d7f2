"""LogCache, against examples and against a list of everything ever put."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from headrace.storage.cache.log_cache import (
    GROUP_OVERHEAD_BYTES,
    MIN_EVICTED_ENTRIES,
    RECORD_OVERHEAD_BYTES,
    STREAM_OVERHEAD_BYTES,
    CacheBlock,
    ConfirmedGroup,
    LogCache,
    max_charge,
)
from headrace.storage.record_batch import HEADER_BYTES, StreamRecordBatch
from tests.unit.storage.fakes import payload_of, require_dense

MIB = 1 << 20


def make(capacity: int = MIB, block: int = MIB // 3, wal: int = 1 << 40) -> LogCache:
    return LogCache(capacity_bytes=capacity, max_block_bytes=block, max_block_wal_bytes=wal)


class Feeder:
    """Puts groups of consecutive records; each group lies in a buffer of its own."""

    def __init__(self, cache: LogCache) -> None:
        self.cache = cache
        self.wal_offset = 0
        self.next_offsets: dict[int, int] = {}
        self.buffers: list[bytearray] = []
        self.now_ms = 0

    def group(
        self, records: list[tuple[int, int]], *, buffer_bytes: int = 0, count: int = 1
    ) -> ConfirmedGroup:
        """Records as (stream id, payload bytes); the buffer is as long as they are, or longer."""
        size = sum(size for _, size in records)
        buffer = bytearray(max(buffer_bytes, size))
        self.buffers.append(buffer)
        view = memoryview(buffer)
        batches = []
        position = 0
        for stream_id, length in records:
            base = self.next_offsets.get(stream_id, 0)
            self.next_offsets[stream_id] = base + count
            payload = view[position : position + length]
            payload[:] = payload_of(stream_id, base, length)
            position += length
            batches.append(StreamRecordBatch(stream_id, 1, base, count, payload))
        begin = self.wal_offset
        self.wal_offset += size + 57 * len(records)
        return ConfirmedGroup(batches, begin, self.wal_offset, len(buffer))

    def put(self, *records: tuple[int, int], buffer_bytes: int = 0, count: int = 1) -> None:
        group = self.group(list(records), buffer_bytes=buffer_bytes, count=count)
        self.cache.put(group, self.now_ms)


def bases(batches: list[StreamRecordBatch] | None) -> list[int]:
    assert batches is not None
    return [batch.base_offset for batch in batches]


def committed(cache: LogCache) -> CacheBlock:
    block = cache.archive()
    assert block is not None
    cache.mark_committed(block)
    return block


class TestReads:
    def test_begins_with_the_batch_that_holds_the_offset(self):
        cache = make()
        feeder = Feeder(cache)
        for _ in range(4):
            feeder.put((1, 100), count=10)
        assert bases(cache.get(1, 0, 40, 10_000)) == [0, 10, 20, 30]
        assert bases(cache.get(1, 19, 40, 10_000)) == [10, 20, 30]
        assert bases(cache.get(1, 20, 40, 10_000)) == [20, 30]

    def test_takes_whole_batches_up_to_the_limit_and_always_one(self):
        cache = make()
        feeder = Feeder(cache)
        for _ in range(4):
            feeder.put((1, 100))
        assert bases(cache.get(1, 0, 4, 300)) == [0, 1, 2]
        assert bases(cache.get(1, 0, 4, 299)) == [0, 1]
        assert bases(cache.get(1, 1, 4, 200)) == [1, 2]
        assert bases(cache.get(1, 2, 4, 1)) == [2]
        assert bases(cache.get(1, 2, 4, 0)) == [2]

    def test_what_was_forgotten_is_not_held_and_the_rest_is(self):
        for forgotten, held_from in ((0, 0), (9, 0), (10, 10), (29, 20), (30, 30)):
            cache = make(capacity=1_000_000)
            feeder = Feeder(cache)
            for _ in range(5):
                feeder.put((1, 100), (2, 100), count=10)
                committed(cache)
            cache.forget(1, forgotten)
            assert cache.first_offset(1) == held_from
            assert cache.get(1, held_from - 1, 50, 10_000) is None
            require_dense(cache.get(1, held_from, 50, 10_000), held_from, 50)
            assert bases(cache.get(1, held_from, 50, 200)) == [held_from, held_from + 10]
            require_dense(cache.get(2, 0, 50, 10_000), 0, 50)
            cache.forget(1, 50)
            assert (cache.first_offset(1), cache.get(1, 49, 50, 100)) == (None, None)
            feeder.put((1, 100), count=10)
            require_dense(cache.get(1, 50, 60, 10_000), 50, 60)
            committed(cache)
            cache.capacity_bytes = 0
            cache._evict()
            assert (cache.size_bytes, cache.record_count, cache.first_offset(2)) == (0, 0, None)
        cache.forget(3, 1)

    def test_stops_below_the_end_offset(self):
        cache = make()
        feeder = Feeder(cache)
        for _ in range(4):
            feeder.put((1, 100))
        assert bases(cache.get(1, 1, 3, 10_000)) == [1, 2]

    def test_knows_what_it_does_not_hold(self):
        cache = make()
        feeder = Feeder(cache)
        feeder.next_offsets[1] = 50
        feeder.put((1, 100))
        assert cache.get(1, 49, 51, 100) is None
        assert cache.get(1, 51, 60, 100) is None
        assert cache.get(2, 50, 60, 100) is None
        assert cache.first_offset(1) == 50
        assert cache.first_offset(2) is None

    def test_goes_across_blocks(self):
        cache = make()
        feeder = Feeder(cache)
        feeder.put((1, 100), (2, 100))
        committed(cache)
        feeder.put((1, 100))
        cache.archive()
        feeder.put((1, 100))
        require_dense(cache.get(1, 0, 3, 1_000), 0, 3)

    def test_payloads_are_not_copied(self):
        cache = make()
        feeder = Feeder(cache)
        feeder.put((1, 1000))
        (first,) = cache.get(1, 0, 1, 1)
        (second,) = cache.get(1, 0, 1, 1)
        assert first is second
        assert first.payload.obj is feeder.buffers[0]

    def test_a_gap_hides_what_came_before_it(self):
        """The stream was elsewhere in between: the run must not look contiguous."""
        cache = make()
        feeder = Feeder(cache)
        feeder.put((1, 100))
        committed(cache)
        feeder.next_offsets[1] = 7
        feeder.put((1, 100))
        assert cache.get(1, 0, 8, 1_000) is None
        assert bases(cache.get(1, 7, 8, 1_000)) == [7]


class TestMemory:
    def test_dense_buffer_is_kept_and_charged_whole(self):
        cache = make()
        feeder = Feeder(cache)
        feeder.put((1, 2000), buffer_bytes=4000)
        (batch,) = cache.get(1, 0, 1, 1)
        assert batch.payload.obj is feeder.buffers[0]
        assert cache.size_bytes == (
            4000 + GROUP_OVERHEAD_BYTES + RECORD_OVERHEAD_BYTES + STREAM_OVERHEAD_BYTES
        )

    def test_sparse_buffer_is_let_go(self):
        cache = make()
        feeder = Feeder(cache)
        feeder.put((1, 1000), (2, 999), buffer_bytes=4000)
        feeder.buffers[0][:] = bytes(4000)  # as if it were used again
        require_dense(cache.get(1, 0, 1, 1), 0, 1)
        require_dense(cache.get(2, 0, 1, 1), 0, 1)
        assert cache.size_bytes == (
            1999 + GROUP_OVERHEAD_BYTES + 2 * RECORD_OVERHEAD_BYTES + 2 * STREAM_OVERHEAD_BYTES
        )
        (batch,) = cache.get(1, 0, 1, 1)
        assert len(batch.payload.obj) == 1999

    def test_low_rate_does_not_pin_a_buffer_for_each_record(self):
        cache = make(capacity=64 * MIB, block=64 * MIB)
        feeder = Feeder(cache)
        for _ in range(1_000):
            feeder.put((1, 100), buffer_bytes=256 * 1024)
        assert cache.size_bytes < 2 * MIB

    def test_charge_is_never_more_than_was_reserved(self):
        """Admission reserves `max_charge` before it knows how buffers will be used."""
        for size in (0, 1, 100, 1999, 2000, 2001, 4000):
            cache = make()
            Feeder(cache).put((1, size), buffer_bytes=4000)
            assert cache.unuploaded_bytes <= max_charge(size, 1)

    def test_tiny_records_are_charged_for_their_objects(self):
        cache = make()
        feeder = Feeder(cache)
        feeder.put(*[(1, 1)] * 100)
        assert cache.size_bytes >= 100 * RECORD_OVERHEAD_BYTES

    def test_uncommitted_records_are_never_evicted(self):
        cache = make(capacity=10_000)
        feeder = Feeder(cache)
        for _ in range(20):
            feeder.put((1, 1000))
            cache.archive()
        assert cache.size_bytes > 10_000
        require_dense(cache.get(1, 0, 20, MIB), 0, 20)

    def test_oldest_committed_go_first_and_only_as_needed(self):
        cache = make(capacity=10 * 2280)  # ten groups
        feeder = Feeder(cache)
        for _ in range(8):
            feeder.put((1, 1000))
            committed(cache)
        assert bases(cache.get(1, 0, 8, MIB)) == list(range(8))
        for _ in range(5):
            feeder.put((1, 1000))
        assert cache.first_offset(1) == 3
        assert cache.size_bytes <= cache.capacity_bytes
        require_dense(cache.get(1, 3, 13, MIB), 3, 13)

    def test_commit_evicts_at_once_what_was_over_the_capacity(self):
        cache = make(capacity=5 * 2280)
        feeder = Feeder(cache)
        for _ in range(8):
            feeder.put((1, 1000))
        block = cache.archive()
        cache.mark_committed(block)
        assert cache.size_bytes <= cache.capacity_bytes
        assert cache.unuploaded_bytes == 0

    def test_evicted_payloads_are_released(self):
        """Only the records that a read may still hold keep a buffer alive."""
        cache = make(capacity=4000)
        feeder = Feeder(cache)
        feeder.put((1, 1000))
        feeder.put((1, 1000))
        with pytest.raises(BufferError):
            feeder.buffers[0].clear()  # exported: still referenced
        committed(cache)
        feeder.put((1, 1000))
        feeder.buffers[0].clear()
        assert cache.get(1, 0, 3, 1) is None

    def test_index_of_a_busy_stream_does_not_grow_for_ever(self):
        cache = make(capacity=20 * 2280)
        feeder = Feeder(cache)
        for _ in range(50 * MIN_EVICTED_ENTRIES):
            feeder.put((1, 1000))
            committed(cache)
        index = cache._indexes[1]
        assert len(index.batches) <= 2 * MIN_EVICTED_ENTRIES
        assert len(index.batches) == len(index.bases) == len(index.byte_ends)

    def test_streams_without_records_are_forgotten(self):
        cache = make(capacity=3 * 2280)
        feeder = Feeder(cache)
        for stream_id in range(100):
            feeder.put((stream_id, 1000))
            committed(cache)
        assert len(cache._indexes) <= 3

    def test_committed_block_holds_nothing_back(self):
        cache = make()
        Feeder(cache).put((1, 100))
        block = committed(cache)
        assert not block.streams
        assert not block.groups


class TestBlocks:
    def test_archiving_an_empty_cache_gives_nothing(self):
        assert make().archive() is None

    def test_block_tells_its_stretch_of_the_wal_and_its_streams(self):
        cache = make()
        feeder = Feeder(cache)
        feeder.put((1, 10))
        committed(cache)
        begin = feeder.wal_offset
        feeder.put((2, 100), (1, 50))
        feeder.put((2, 10))
        block = cache.archive()
        assert (block.wal_offset, block.wal_end_offset) == (begin, feeder.wal_offset)
        assert block.record_count == 3
        assert {stream: bases(found) for stream, found in block.streams.items()} == {
            1: [1],
            2: [0, 1],
        }
        assert block.sizes_bytes == {1: HEADER_BYTES + 50, 2: 2 * HEADER_BYTES + 110}

    def test_full_by_memory(self):
        cache = make(block=10_000)
        feeder = Feeder(cache)
        assert not cache.active_is_full
        feeder.put((1, 5_000))
        assert not cache.active_is_full
        feeder.put((1, 5_000))
        assert cache.active_is_full
        cache.archive()
        assert not cache.active_is_full

    def test_full_by_its_stretch_of_the_wal(self):
        """Padding can fill the ring with little data."""
        cache = make(wal=8_192)
        feeder = Feeder(cache)
        feeder.put((1, 10))
        feeder.wal_offset = 8_150
        assert not cache.active_is_full
        feeder.put((1, 10))
        assert cache.active_is_full

    def test_age_is_that_of_the_oldest_uncommitted_record(self):
        cache = make()
        feeder = Feeder(cache)
        assert cache.oldest_unuploaded_ms is None
        assert cache.active_opened_ms is None
        feeder.now_ms = 5
        feeder.put((1, 10))
        feeder.now_ms = 6
        feeder.put((1, 10))
        block = cache.archive()
        assert cache.active_opened_ms is None
        feeder.now_ms = 9
        feeder.put((1, 10))
        assert cache.oldest_unuploaded_ms == 5
        assert cache.active_opened_ms == 9
        cache.mark_committed(block)
        assert cache.oldest_unuploaded_ms == 9

    def test_tells_how_far_the_wal_holds_a_stream(self):
        cache = make()
        feeder = Feeder(cache)
        feeder.put((1, 10))
        first_end = feeder.wal_offset
        block = cache.archive()
        feeder.put((2, 10))
        assert cache.unuploaded_wal_end(1) == first_end
        assert cache.unuploaded_wal_end(2) == feeder.wal_offset
        assert cache.unuploaded_wal_end(3) is None
        cache.mark_committed(block)
        assert cache.unuploaded_wal_end(1) is None

    def test_of_several_blocks_with_a_stream_the_newest_tells(self):
        """Who waits for the first of them only would open a stream whose end is not committed."""
        cache = make()
        feeder = Feeder(cache)
        ends = []
        blocks = []
        for _ in range(3):
            feeder.put((1, 10))
            ends.append(feeder.wal_offset)
            assert cache.unuploaded_wal_end(1) == ends[-1], "in the active block"
            feeder.put((2, 10))
            assert cache.unuploaded_wal_end(1) == feeder.wal_offset
            ends[-1] = feeder.wal_offset
            blocks.append(cache.archive())
        for block in blocks:
            assert cache.unuploaded_wal_end(1) == ends[-1]
            cache.mark_committed(block)
        assert cache.unuploaded_wal_end(1) is None

    def test_commits_out_of_order_are_refused(self):
        """By an assertion at run time."""
        cache = make()
        feeder = Feeder(cache)
        feeder.put((1, 10))
        cache.archive()
        feeder.put((1, 10))
        second = cache.archive()
        with pytest.raises(AssertionError, match="WAL order"):
            cache.mark_committed(second)

    def test_groups_out_of_wal_order_are_refused(self):
        """The end of a block must be the end of everything before it."""
        cache = make()
        feeder = Feeder(cache)
        first, second = feeder.group([(1, 10)]), feeder.group([(2, 10)])
        cache.put(second, 0)
        with pytest.raises(AssertionError, match="WAL order"):
            cache.put(first, 0)

    def test_offsets_that_go_back_are_refused(self):
        cache = make()
        feeder = Feeder(cache)
        feeder.put((1, 10), count=5)
        feeder.next_offsets[1] = 4
        with pytest.raises(AssertionError, match="went back"):
            feeder.put((1, 10))

    def test_what_was_committed_before_comes_first(self):
        cache = make()
        feeder = Feeder(cache)
        group = feeder.group([(1, 10)])
        feeder.put((1, 10))
        with pytest.raises(AssertionError, match="newer records"):
            cache.put_committed(group.batches, group.buffer_bytes)
        cache.archive()
        with pytest.raises(AssertionError, match="newer records"):
            cache.put_committed(group.batches, group.buffer_bytes)


CAPACITY = 40_000


class LogCacheMachine(RuleBasedStateMachine):
    """LogCache beside lists of everything ever put."""

    def __init__(self) -> None:
        super().__init__()
        self.cache = make(capacity=CAPACITY, block=CAPACITY // 3)
        self.feeder = Feeder(self.cache)
        self.put: dict[int, list[tuple[int, int, int]]] = {}  # stream: (base, end, size)
        self.committed_end: dict[int, int] = {}
        self.archived: list[CacheBlock] = []

    @rule(
        streams=st.lists(
            st.tuples(st.integers(1, 3), st.sampled_from([0, 1, 50, 700, 3_000])),
            min_size=1,
            max_size=8,
        ),
        buffer_bytes=st.sampled_from([0, 4_096, 16_384]),
        count=st.integers(1, 3),
    )
    def put_group(self, streams, buffer_bytes, count):
        group = self.feeder.group(streams, buffer_bytes=buffer_bytes, count=count)
        self.note(group)
        self.cache.put(group, 0)

    @precondition(lambda self: self.cache.oldest_unuploaded_ms is None)
    @rule(
        streams=st.lists(
            st.tuples(st.integers(1, 3), st.sampled_from([0, 1, 50, 3_000])), min_size=1, max_size=8
        ),
        buffer_bytes=st.sampled_from([0, 4_096, 16_384]),
    )
    def put_committed_group(self, streams, buffer_bytes):
        group = self.feeder.group(streams, buffer_bytes=buffer_bytes)
        self.note(group)
        for batch in group.batches:
            self.committed_end[batch.stream_id] = batch.end_offset
        self.cache.put_committed(group.batches, group.buffer_bytes)

    def note(self, group):
        for batch in group.batches:
            records = self.put.setdefault(batch.stream_id, [])
            if records and records[-1][1] != batch.base_offset:
                records.clear()  # the run ends at a gap
            records.append((batch.base_offset, batch.end_offset, len(batch.payload)))

    @rule()
    def archive(self):
        block = self.cache.archive()
        if block is not None:
            self.archived.append(block)

    @precondition(lambda self: self.archived)
    @rule()
    def commit(self):
        block = self.archived.pop(0)
        for stream_id, batches in block.streams.items():
            self.committed_end[stream_id] = batches[-1].end_offset
        self.cache.mark_committed(block)

    @precondition(lambda self: self.archived == [])
    @rule(stream_id=st.integers(1, 3), skipped=st.integers(1, 5))
    def stream_was_elsewhere(self, stream_id, skipped):
        """A stream moves only when all of it is committed."""
        if self.cache.unuploaded_wal_end(stream_id) is None:
            end = self.feeder.next_offsets.get(stream_id, 0)
            self.feeder.next_offsets[stream_id] = end + skipped
            self.committed_end[stream_id] = end + skipped

    @rule(
        stream_id=st.integers(1, 3),
        where=st.floats(0, 1),
        max_bytes=st.sampled_from([0, 1, 100, 1_500, 10_000, 10**6]),
        cut=st.integers(0, 3),
    )
    def read(self, stream_id, where, max_bytes, cut):
        records = self.put.get(stream_id) or []
        end = records[-1][1] if records else 0
        start = int(where * (end + 1))
        limit = max(start + 1, end - cut)
        found = self.cache.get(stream_id, start, limit, max_bytes)
        first = self.cache.first_offset(stream_id)
        expected = [each for each in records if each[1] > start and each[0] < limit]
        if found is None:
            assert first is None or start < first or start >= end
            return
        assert first is not None
        assert first <= start < end
        taken = expected[:1]
        size = taken[0][2]
        for each in expected[1:]:
            if size + each[2] > max_bytes:
                break
            size += each[2]
            taken.append(each)
        # Records of no bytes at the limit belong to the read.
        assert [(b.base_offset, b.end_offset, len(b.payload)) for b in found] == taken
        require_dense(found, taken[0][0], taken[-1][1])

    @invariant()
    def everything_uncommitted_is_there(self):
        for stream_id, records in self.put.items():
            done = self.committed_end.get(stream_id, 0)
            pending = [each for each in records if each[0] >= done]
            if pending:
                found = self.cache.get(stream_id, pending[0][0], pending[-1][1], 10**9)
                require_dense(found, pending[0][0], pending[-1][1])

    @invariant()
    def memory_is_bounded_and_accounted(self):
        cache = self.cache
        assert cache.size_bytes <= max(CAPACITY, cache.unuploaded_bytes)
        assert 0 <= cache.unuploaded_bytes <= cache.size_bytes
        pinned = sum(block.charge_bytes for block in self.archived)
        active = 0 if cache._active is None else cache._active.charge_bytes
        assert cache.unuploaded_bytes == pinned + active
        evictable = sum(group.charge_bytes for group in cache._evictable)
        assert cache.size_bytes == cache.unuploaded_bytes + evictable
        blocks = [*cache._archived, *([cache.active] if cache.active else [])]
        held = [*cache._evictable, *(group for block in blocks for group in block.groups)]
        assert cache.record_count == sum(len(it.batches) for it in held)


TestLogCacheAgainstLists = LogCacheMachine.TestCase
TestLogCacheAgainstLists.settings = settings(max_examples=30, stateful_step_count=40, deadline=None)
