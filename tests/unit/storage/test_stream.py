"""A stream's reads over both caches, its trim and its close."""

import asyncio

import pytest

from headrace.metadata.rpc.requests import CloseStreamBatch, TrimStream
from headrace.storage.errors import (
    CorruptObjectError,
    EngineFailedError,
    ObjectNotFoundError,
    ObjectStoreError,
    OffsetOutOfRangeError,
    StreamClosedError,
)
from tests.simulation.virtual_time import run
from tests.unit.storage.fakes import Node, PassingError, batch_of, require_dense, settle

SIZE = 4_000
SMALL_CACHE = {"log_cache_bytes": 60_000, "upload_threshold_bytes": 20_000}


async def with_cold_past(records: int = 40) -> tuple:
    """A stream whose first records have been evicted from LogCache."""
    node = await Node(**SMALL_CACHE).start()
    stream = await node.open(1)
    for _ in range(records):
        node.append(stream, SIZE)
        await settle()
    first = node.engine._cache.first_offset(1)
    assert 0 < first < records
    return node, stream, first


class TestFetchCached:
    def test_nothing_new_is_an_empty_list(self):
        async def scenario():
            node = await Node().start()
            stream = await node.open(1)
            assert stream.fetch_cached(0, 100) == []
            await node.append_all(stream, [10, 10])
            assert stream.fetch_cached(2, 100) == []

        run(scenario())

    def test_unacknowledged_records_are_not_served(self):
        async def scenario():
            node = await Node(auto_confirm=False).start()
            stream = await node.open(1)
            node.append(stream)
            node.append(stream)
            assert stream.fetch_cached(0, 1000) == []
            assert stream.fetch_cached(1, 1000) is None
            node.wal.confirm_records(1)
            require_dense(stream.fetch_cached(0, 1000), 0, 1)

        run(scenario())

    def test_outside_of_the_log_it_leaves_the_answer_to_fetch(self):
        async def scenario():
            node = await Node().start()
            stream = await node.open(1)
            await node.append_all(stream, [10] * 5)
            await stream.trim(2)
            assert stream.fetch_cached(1, 100) is None
            assert stream.fetch_cached(6, 100) is None
            require_dense(stream.fetch_cached(2, 1000), 2, 5)

        run(scenario())

    def test_hits_and_misses_are_counted(self):
        async def scenario():
            node, stream, _ = await with_cold_past()
            before = node.engine.stats()
            stream.fetch_cached(stream.confirm_offset - 1, 100)
            await stream.fetch(0, 100)
            after = node.engine.stats()
            assert after.log_cache_hits_total - before.log_cache_hits_total == 1
            assert after.log_cache_misses_total - before.log_cache_misses_total == 1

        run(scenario())


class TestFetch:
    def test_every_start_and_limit_reads_the_same_across_both_caches(self):
        """Whatever is where, the reader sees one log."""

        async def scenario():
            _, stream, _ = await with_cold_past()
            end = stream.confirm_offset
            for start in range(end):
                for max_bytes in (1, SIZE, 3 * SIZE - 1, 3 * SIZE, 1 << 20):
                    batches = await stream.fetch(start, max_bytes)
                    expected = min(end, start + max(1, max_bytes // SIZE))
                    require_dense(batches, start, expected)

        run(scenario())

    def test_left_part_comes_from_objects_and_right_part_from_memory(self):
        async def scenario():
            node, stream, first = await with_cold_past()
            node.blocks.reads.clear()
            batches = await stream.fetch(first - 1, 3 * SIZE)
            require_dense(batches, first - 1, first + 2)
            assert node.blocks.reads == [(1, first - 1, first, 3 * SIZE)]

        run(scenario())

    def test_what_is_in_memory_is_not_read_from_objects(self):
        async def scenario():
            node, stream, first = await with_cold_past()
            node.blocks.reads.clear()
            await stream.fetch(first, 1 << 20)
            assert node.blocks.reads == []

        run(scenario())

    def test_a_stream_that_came_from_elsewhere_is_read_from_objects(self):
        async def scenario():
            old = await Node().start()
            await old.append_all(await old.open(1), [SIZE] * 5)
            await old.engine.shutdown()
            node = await old.next_life(surviving=()).start()
            stream = await node.open(1, epoch=2)
            assert stream.fetch_cached(0, 100) is None
            require_dense(await stream.fetch(0, 1 << 20), 0, 5)
            await node.append_all(stream, [SIZE])
            require_dense(await stream.fetch(0, 1 << 20), 0, 6)
            assert await stream.fetch(6, 100) == []

        run(scenario())

    @pytest.mark.parametrize("start", [-1, 1, 9])
    def test_offsets_outside_are_refused(self, start):
        async def scenario():
            node = await Node().start()
            stream = await node.open(1)
            await node.append_all(stream, [10] * 8)
            await stream.trim(2)
            with pytest.raises(OffsetOutOfRangeError, match=f"offset {start} "):
                await stream.fetch(start, 100)

        run(scenario())

    def test_an_object_that_is_lost_is_told_at_once(self):
        """The block cache has looked for it again by then, and at newer metadata."""

        async def scenario():
            node, stream, _ = await with_cold_past()
            node.blocks.faults = [ObjectNotFoundError("lost")]
            with pytest.raises(ObjectNotFoundError):
                await stream.fetch(0, SIZE)
            assert len(node.blocks.reads) == 1
            require_dense(await stream.fetch(0, SIZE), 0, 1)

        run(scenario())

    def test_a_bucket_that_does_not_answer_is_the_callers_to_retry(self):
        async def scenario():
            node, stream, _ = await with_cold_past()
            node.blocks.faults = [ObjectStoreError("503")]
            with pytest.raises(ObjectStoreError):
                await stream.fetch(0, SIZE)
            require_dense(await stream.fetch(0, SIZE), 0, 1)

        run(scenario())

    def test_trimmed_while_reading_is_out_of_range(self):
        """Nothing below the start is served after the trim was answered."""

        async def scenario():
            node, stream, _ = await with_cold_past()
            reading = asyncio.create_task(stream.fetch(0, SIZE))
            await asyncio.sleep(0)
            stream.start_offset = 5
            with pytest.raises(OffsetOutOfRangeError):
                await reading
            assert node.blocks.reads

        run(scenario())

    def test_objects_that_go_with_a_trim_are_not_lost(self):
        """The control plane gives them up before its answer is here."""

        async def scenario():
            node, stream, _ = await with_cold_past()
            node.blocks.faults = [ObjectNotFoundError("no object holds offset 4")] * 3
            node.control.faults[TrimStream].before = [
                PassingError()
            ]  # the answer is lost, or the request
            with pytest.raises(PassingError):
                await stream.trim(5)
            with pytest.raises(OffsetOutOfRangeError):
                await stream.fetch(4, SIZE)
            with pytest.raises(ObjectNotFoundError):
                await stream.fetch(5, SIZE)
            reading = asyncio.create_task(stream.fetch(6, SIZE))
            await asyncio.sleep(0)
            await stream.trim(7)
            with pytest.raises(OffsetOutOfRangeError):
                await reading

        run(scenario())

    def test_evicted_while_reading_is_left_out(self):
        async def scenario():
            node, stream, first = await with_cold_past()

            reading = asyncio.create_task(stream.fetch(first - 1, 1 << 20))
            await asyncio.sleep(0)
            node.engine._cache._indexes.clear()
            require_dense(await reading, first - 1, first)

        run(scenario())

    @pytest.mark.parametrize(
        "found",
        [
            [],
            [batch_of(1, 3)],
            [batch_of(1, 0), batch_of(1, 2)],
            [batch_of(1, 0), batch_of(1, 0)],
            [batch_of(2, 2)],
        ],
        ids=["nothing", "begins later", "gap", "repeated", "other stream"],
    )
    def test_what_does_not_fit_together_is_never_served(self, found):
        async def scenario():
            node, stream, _ = await with_cold_past()

            async def read(*_args):
                return found

            node.blocks.read = read
            with pytest.raises(CorruptObjectError):
                await stream.fetch(2 if found and found[0].base_offset == 3 else 0, SIZE)

        run(scenario())


class TestTrim:
    def test_moves_the_start_for_good(self):
        async def scenario():
            node = await Node().start()
            stream = await node.open(1)
            await node.append_all(stream, [10] * 5)
            await stream.trim(3)
            assert stream.start_offset == node.control.image.streams[1].start_offset == 3
            await stream.trim(2)
            assert stream.start_offset == 3

        run(scenario())

    def test_up_to_what_is_acknowledged_uploads_it_first(self):
        """The control plane knows only what is committed."""

        async def scenario():
            node = await Node().start()
            stream = await node.open(1)
            await node.append_all(stream, [10] * 5)
            await stream.trim(5)
            assert stream.start_offset == stream.committed_offset == 5
            assert await stream.fetch(5, 10) == []
            with pytest.raises(OffsetOutOfRangeError):
                await stream.fetch(4, 10)

        run(scenario())

    def test_what_is_committed_needs_no_upload(self):
        async def scenario():
            node = await Node().start()
            stream = await node.open(1)
            await node.append_all(stream, [10] * 5)
            await node.engine.force_upload()
            await node.append_all(stream, [10] * 5)
            await stream.trim(5)
            assert node.engine.stats().uploaded_blocks_total == 1

        run(scenario())

    def test_beyond_the_end_is_refused(self):
        async def scenario():
            node = await Node().start()
            stream = await node.open(1)
            await node.append_all(stream, [10])
            with pytest.raises(OffsetOutOfRangeError):
                await stream.trim(2)

        run(scenario())

    def test_a_failure_leaves_the_start_and_may_be_repeated(self):
        async def scenario():
            node = await Node().start()
            stream = await node.open(1)
            await node.append_all(stream, [10] * 5)
            node.control.faults[TrimStream].before = [PassingError()]
            with pytest.raises(PassingError):
                await stream.trim(3)
            assert stream.start_offset == 0
            await stream.trim(3)
            assert stream.start_offset == 3

        run(scenario())

    def test_overlapping_trims_never_go_back(self):
        async def scenario():
            node = await Node().start()
            stream = await node.open(1)
            await node.append_all(stream, [10] * 5)
            await asyncio.gather(stream.trim(4), stream.trim(2), stream.trim(3))
            assert stream.start_offset == 4

        run(scenario())


class TestClose:
    def test_uploads_what_there_is_and_tells_the_end(self):
        async def scenario():
            node = await Node().start()
            stream, other = await node.open(1), await node.open(2)
            node.append(stream, 10)
            node.append(other, 10)
            node.append(stream, 10)
            await stream.close()
            assert node.journal.of("close") == [("close", 1, 2)]
            require_dense(node.objects_of(1), 0, 2)
            assert node.acks.acked == [(1, 0), (2, 0), (1, 1)]
            assert node.engine.open_streams() == [(2, 1)]
            await stream.close()
            assert len(node.journal.of("close")) == 1

        run(scenario())

    def test_waits_for_confirmation_and_refuses_appends_meanwhile(self):
        async def scenario():
            node = await Node(auto_confirm=False).start()
            stream = await node.open(1)
            node.append(stream, 10)
            closing = asyncio.create_task(stream.close())
            await settle()
            assert stream.is_closed
            with pytest.raises(StreamClosedError):
                stream.append(b"late", 1, node.acks.callback("late"))
            assert not closing.done()
            node.wal.confirm()
            require_dense(stream.fetch_cached(0, 100), 0, 1)
            await closing
            assert stream.fetch_cached(0, 100) is None
            with pytest.raises(StreamClosedError):
                await stream.fetch(0, 100)

        run(scenario())

    def test_an_idle_stream_closes_without_an_upload(self):
        async def scenario():
            node = await Node().start()
            stream, other = await node.open(1), await node.open(2)
            await node.append_all(other, [10])
            await stream.close()
            assert node.journal.of("put") == []

        run(scenario())

    def test_a_failure_may_be_repeated(self):
        async def scenario():
            node = await Node().start()
            stream = await node.open(1)
            await node.append_all(stream, [10])
            node.control.faults[CloseStreamBatch].before = [PassingError()]
            with pytest.raises(PassingError):
                await stream.close()
            with pytest.raises(StreamClosedError):
                stream.append(b"late", 1, node.acks.callback("late"))
            await stream.close()
            assert node.journal.of("close") == [("close", 1, 1)]

        run(scenario())

    def test_does_not_close_what_it_could_not_upload(self):
        async def scenario():
            node = await Node(auto_confirm=False).start()
            stream = await node.open(1)
            node.append(stream, 10)
            closing = asyncio.create_task(stream.close())
            await settle()
            node.wal.fail(OSError("EIO"))
            with pytest.raises(EngineFailedError):
                await closing
            assert node.journal.of("close") == []

        run(scenario())

    def test_a_deleted_stream_is_forgotten_without_a_word(self):
        async def scenario():
            node = await Node().start()
            stream = await node.open(1)
            await node.append_all(stream, [10])
            stream.abandon()
            assert node.engine.open_streams() == []
            with pytest.raises(StreamClosedError):
                await stream.fetch(0, 1)
            await stream.close()
            stream.abandon()
            assert node.journal.of("close", "put") == []

        run(scenario())
