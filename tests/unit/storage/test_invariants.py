"""The safety invariants of the stream engine, explored at random, and proof that breaking one shows.

An `Explorer` drives an engine through a seeded history of appends, confirmations, uploads that
finish in any order, lost replies, outages, the passing of hours, and a crash; an `Auditor`
checks the invariants at each event that could break them. Each seeded mistake of `MISTAKES` is
put into the engine's code and must be caught.
"""

import asyncio
import random
from collections.abc import Callable

import pytest

from headrace.config.node import StorageConfig
from headrace.metadata.rpc.requests import CommitStreamSetObject
from headrace.storage.append_path import AppendPath, _Acknowledgement
from headrace.storage.cache.log_cache import LogCache
from headrace.storage.engine import StorageEngine
from headrace.storage.errors import ObjectStoreError, StorageError
from headrace.storage.open_appends import OpenAppends, group_by_buffer
from headrace.storage.record_batch import decode_batch
from headrace.storage.stream import Stream
from headrace.storage.upload.commit import UploadCommitter
from headrace.storage.upload.object_upload import ObjectUpload
from headrace.storage.upload.pipeline import UploadPipeline
from tests.simulation.virtual_time import run
from tests.unit.storage.fakes import Node, PassingError, payload_of, require_dense, settle

CONFIG = StorageConfig(
    log_cache_bytes=30_000,
    upload_threshold_bytes=8_000,
    stream_split_bytes=4_000,
    object_block_bytes=2_000,
    object_prepare_ttl_ms=600_000,
)
STREAMS = (1, 2, 3)
SEEDS = 40
STEPS = 80


class Auditor:
    """Watches one node."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.acked: dict[int, int] = dict.fromkeys(STREAMS, 0)  # acknowledged end by stream
        self.last_committed_wal_offset = -1
        self.wal_offsets: dict[tuple[int, int], int] = {}
        self._trim = node.wal.trim
        node.wal.trim = self.on_trim
        node.control.client.observers.append(self.on_change)

    def append(self, stream: Stream, size: int) -> None:
        base = stream.next_offset
        payload = payload_of(stream.stream_id, base, size)
        stream.append(payload, 1, lambda error: self.on_ack(stream, base, payload, error))
        self.wal_offsets[stream.stream_id, base] = self.node.wal.records[-1].offset

    def on_ack(self, stream: Stream, base: int, payload: bytes, error: Exception | None) -> None:
        if error is not None:
            return
        assert self.node.lease.is_held, "acknowledged without the lease"
        durable = self.node.wal.confirmed_offset
        assert self.wal_offsets[stream.stream_id, base] < durable, "acknowledged too early"
        assert stream.confirm_offset == base + 1, "acknowledged out of order"
        found = stream.fetch_cached(base, 1)
        assert found, "acknowledged but not readable"
        assert bytes(found[0].payload) == payload, "other bytes are read"
        self.acked[stream.stream_id] = base + 1

    def on_trim(self, offset: int) -> None:
        for record in self.node.wal.records:
            if record.offset <= offset:
                batch, _ = decode_batch(record.body, 0)
                committed = self.node.control.end(batch.stream_id)
                assert batch.end_offset <= committed, "trimmed what is in no object"
        self._trim(offset)

    def on_change(self, commit, before) -> None:
        if not isinstance(commit, CommitStreamSetObject):
            return
        ranges = [*commit.ranges, *(each.range for each in commit.stream_objects)]
        offsets = [
            self.wal_offsets[each.stream_id, offset]
            for each in ranges
            for offset in range(each.start_offset, each.end_offset)
            if (each.stream_id, offset) in self.wal_offsets
        ]
        if offsets:
            assert min(offsets) > self.last_committed_wal_offset, "commits out of order"
        if offsets:
            self.last_committed_wal_offset = max(offsets)

    def check_memory(self) -> None:
        stats = self.node.engine.stats()
        assert stats.unuploaded_bytes <= stats.log_cache_capacity_bytes, "over the bound"
        assert stats.log_cache_bytes <= stats.log_cache_capacity_bytes, "over the bound"

    async def check_reads(self, streams: dict[int, Stream]) -> None:
        for stream_id, stream in streams.items():
            assert stream.confirm_offset == self.acked[stream_id]
            offset = 0
            while offset < stream.confirm_offset:
                batches = await stream.fetch(offset, 3_000)
                require_dense(batches, offset, batches[-1].end_offset)
                offset = batches[-1].end_offset

    def check_bucket(self, node: Node) -> None:
        for stream_id in STREAMS:
            end = node.control.end(stream_id)
            # Exactly the committed range, once, byte for byte.
            require_dense(node.objects_of(stream_id), 0, end)
            assert end >= self.acked[stream_id], "lost what was acknowledged"


class Explorer:
    """One history."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    async def run(self) -> None:
        node = self.node = await Node(CONFIG, auto_confirm=False).start()
        self.audit = Auditor(node)
        self.streams = {stream_id: await node.open(stream_id) for stream_id in STREAMS}
        node.store.hold()
        actions: list[tuple[Callable, int]] = [
            (self.append, 30),
            (self.confirm, 14),
            (self.finish_put, 10),
            (self.fail_put, 2),
            (self.lose_reply, 3),
            (self.archive, 5),
            (self.pass_time, 2),
            (self.read, 3),
        ]
        for _ in range(STEPS):
            action = self.rng.choices(*zip(*actions, strict=True))[0]
            await action()
            for _ in range(10):
                await asyncio.sleep(0)
            self.audit.check_memory()
        await self.crash()

    async def append(self) -> None:
        size = self.rng.choice([10, 200, 1_000, 3_000])
        if self.node.engine.admits(size):
            self.audit.append(self.streams[self.rng.choice(STREAMS)], size)

    async def confirm(self) -> None:
        pending = self.node.engine.stats().open_appends
        if pending:
            self.node.wal.confirm_records(self.rng.randint(1, pending))

    async def finish_put(self) -> None:
        held = [key for key, event in (self.node.store.held or {}).items() if not event.is_set()]
        if held:
            self.node.store.release(self.rng.choice(held))

    async def fail_put(self) -> None:
        faults = [self.node.store.put_faults, self.node.store.put_reply_faults]
        self.rng.choice(faults).append(ObjectStoreError("503"))

    async def lose_reply(self) -> None:
        faults = self.node.control.faults[CommitStreamSetObject]
        self.rng.choice([faults.after, faults.before]).append(PassingError())

    async def archive(self) -> None:
        self.node.engine._pipeline.archive_aged()

    async def pass_time(self) -> None:
        await asyncio.sleep(self.rng.choice([1, 40, 400, 4_000]))

    async def read(self) -> None:
        await self.audit.check_reads(self.streams)

    async def crash(self) -> None:
        """Die with some unconfirmed records on the device, some not; then recover."""
        node, audit = self.node, self.audit
        if self.rng.random() < 0.5:
            node.store.release_all()
            await asyncio.sleep(100)
            await audit.check_reads(self.streams)
            audit.check_memory()
        surviving = node.wal.after_crash(lost=lambda _: self.rng.random() < 0.5)
        await node.engine._pipeline.shutdown()
        assert node.engine._failure is None, node.engine._failure
        node.store.held = None
        node.store.put_faults = []
        node.store.put_reply_faults = []
        second = await node.next_life(surviving=surviving).start()
        audit.check_bucket(second)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_invariants_hold_in_every_history(seed):
    """Those that `Auditor` checks, and that what was acknowledged survives a crash."""
    run(Explorer(seed).run())


# Named invariants, each in the shortest history that tells right from wrong.


def test_s1_acknowledged_means_readable_at_once():
    async def scenario():
        node = await Node(auto_confirm=False).start()
        stream = await node.open(1)
        seen = []

        def on_ack(error):
            seen.append([bytes(batch.payload) for batch in stream.fetch_cached(0, 1 << 20)])

        stream.append(b"first", 1, on_ack)
        stream.append(b"second", 1, on_ack)
        node.wal.confirm()
        assert seen == [[b"first"], [b"first", b"second"]]

    run(scenario())


def test_s2_a_committed_object_holds_exactly_the_records_of_its_range():
    async def scenario():
        node = await Node().start()
        streams = [await node.open(stream_id) for stream_id in (3, 1, 2)]
        for number in range(30):
            for stream in streams:
                node.append(stream, (number * 997) % 5_000)
        await settle()
        await node.engine.force_upload()
        for stream in streams:
            require_dense(node.objects_of(stream.stream_id), 0, 30)

    run(scenario())


def test_s3_no_trim_before_the_commit_is_known():
    async def scenario():
        node = await Node().start()
        stream = await node.open(1)
        node.control.faults[CommitStreamSetObject].after = [PassingError()] * 5
        await node.append_all(stream, [100])
        upload = asyncio.create_task(node.engine.force_upload())
        await settle()
        assert node.journal.of("commit")
        assert not node.journal.of("trim"), "its reply was lost: it may as well not have happened"
        await upload
        assert node.journal.of("trim") == [("trim", node.wal.records[0].end_offset - 1)]

    run(scenario())


def test_s4_commits_follow_the_wal():
    async def scenario():
        node = await Node().start()
        stream = await node.open(1)
        node.store.hold()
        for _ in range(3):
            await node.append_all(stream, [100])
            node.engine._pipeline.archive_aged()
            await settle()
        for key in reversed(list(node.store.held)):
            node.store.release(key)
            await settle()
        assert node.journal.of("commit") == [
            ("commit", ((1, 0, 1),)),
            ("commit", ((1, 1, 2),)),
            ("commit", ((1, 2, 3),)),
        ]

    run(scenario())


def test_s5_a_commit_whose_reply_is_lost_takes_effect_once():
    async def scenario():
        node = await Node().start()
        stream = await node.open(1)
        node.control.faults[CommitStreamSetObject].after = [
            PassingError(),
            TimeoutError(),
            ConnectionResetError(),
        ]
        await node.append_all(stream, [100] * 3)
        await node.engine.force_upload()
        assert len(node.journal.of("commit")) == 1
        assert len(node.control.committed) == 1

    run(scenario())


def test_s7_uploads_that_fail_for_ever_trim_nothing_drop_nothing_and_stay_bounded():
    async def scenario():
        node = await Node(CONFIG).start()
        audit = Auditor(node)
        stream = await node.open(1)
        node.store.is_down = True
        for _ in range(500):
            if node.engine.admits(1_000):
                audit.append(stream, 1_000)
            await asyncio.sleep(10)
            audit.check_memory()
        assert node.journal.of("trim") == []
        assert len(node.wal.after_crash()) == stream.next_offset > 10
        require_dense(stream.fetch_cached(0, 1 << 30), 0, stream.next_offset)
        assert node.engine.stats().upload_retries_total > 100
        node.store.is_down = False
        await asyncio.sleep(100)
        await node.engine.force_upload()
        require_dense(node.objects_of(1), 0, stream.next_offset)

    run(scenario())


def test_s9_back_pressure_bounds_memory_and_everybody_gets_through():
    async def scenario():
        node = await Node(CONFIG).start()
        audit = Auditor(node)
        streams = [await node.open(stream_id) for stream_id in STREAMS]
        rng = random.Random(1)
        order: list[int] = []

        async def producer(number: int) -> None:
            size = rng.choice([10, 1_000, 5_000])
            await node.engine.admission(size)
            audit.append(streams[number % 3], size)
            audit.check_memory()
            order.append(number)

        async with asyncio.TaskGroup() as group:
            for number in range(300):
                group.create_task(producer(number))
        assert order == list(range(300)), "first come, first served"
        await settle()
        assert sum(audit.acked.values()) == 300

    run(scenario())


# Seeded mistakes.


def trim_at_archive(patch):
    """Trims when a block is archived instead of when it is committed."""
    original = UploadPipeline._start

    def start(self, *, was_awaited):
        original(self, was_awaited=was_awaited)
        if self._inflight:
            self._on_committed([], self._inflight[-1].block.wal_end_offset)

    patch.setattr(UploadPipeline, "_start", start)


def trim_before_commit(patch):
    original = UploadPipeline._commit_in_order

    async def commit_in_order(self):
        self._on_committed([], self._inflight[0].block.wal_end_offset)
        await original(self)

    patch.setattr(UploadPipeline, "_commit_in_order", commit_in_order)


def trim_to_what_is_confirmed(patch):
    """619138b92b: trims by another view than that of the block."""

    def on_committed(self, ranges, wal_end_offset):
        self._wal.trim(self._path.confirmed_wal_end - 1)

    patch.setattr(StorageEngine, "_on_committed", on_committed)


def commit_in_order_of_completion(patch):
    async def commit_in_order(self):
        while self._inflight:
            await asyncio.wait(
                [upload.task for upload in self._inflight], return_when="FIRST_COMPLETED"
            )
            upload = next(upload for upload in self._inflight if upload.task.done())
            commit = await self._committer.commit(upload.plan, upload.task.result())
            self._inflight.remove(upload)
            self._finish(upload.block, commit)

    patch.setattr(UploadPipeline, "_commit_in_order", commit_in_order)


def acknowledge_before_the_cache(patch):
    def on_confirmed(self, wal_end_offset):
        acknowledgement = _Acknowledgement()
        confirmed = acknowledgement.confirmed = self._open.confirm(wal_end_offset)
        if self._lease.is_lease_valid():
            self._acknowledge(acknowledgement)
        for group in group_by_buffer(confirmed):
            self._cache.put(group, 0)
        if confirmed:
            self._confirmed_wal_end = confirmed[-1].wal_end_offset
        self.on_progress()

    patch.setattr(AppendPath, "on_confirmed", on_confirmed)


def commit_retry_is_a_new_commit(patch):
    """A lost reply is taken for a failure."""

    async def commit(self, plan, uploaded):
        while True:
            try:
                await self._objects.commit_stream_set_object(uploaded.commit)
            except PassingError:
                uploaded = await self._uploads.upload(plan)
            else:
                return uploaded.commit

    patch.setattr(UploadCommitter, "commit", commit)


def object_id_is_used_after_it_expired(patch):
    """And what the control plane says to it is not heard."""

    def never(self, prepared_ms):
        return False

    patch.setattr(ObjectUpload, "may_have_expired", never)
    patch.setattr("headrace.storage.upload.commit.ObjectNotPreparedError", KeyError)


def forget_what_is_on_its_way(patch):
    """#3513: appends between admission and confirmation are not counted."""
    patch.setattr(OpenAppends, "reserved_bytes", 0)


def confirm_beyond_what_is_durable(patch):
    original = AppendPath.on_confirmed

    def on_confirmed(self, wal_end_offset):
        original(self, wal_end_offset + 500)

    patch.setattr(AppendPath, "on_confirmed", on_confirmed)


def upload_skips_a_record(patch):
    original = LogCache.archive

    def archive(self):
        block = original(self)
        if block is not None:
            for batches in block.streams.values():
                del batches[5:6]
        return block

    patch.setattr(LogCache, "archive", archive)


MISTAKES = [
    trim_at_archive,
    trim_before_commit,
    trim_to_what_is_confirmed,
    commit_in_order_of_completion,
    acknowledge_before_the_cache,
    commit_retry_is_a_new_commit,
    object_id_is_used_after_it_expired,
    forget_what_is_on_its_way,
    confirm_beyond_what_is_durable,
    upload_skips_a_record,
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
def test_a_mistake_is_caught(mistake, monkeypatch, caplog):
    """The tests of this test: with the mistake in the code, some history fails."""
    caplog.set_level("CRITICAL")
    mistake(monkeypatch)
    for seed in range(SEEDS):
        try:
            run(Explorer(seed).run())
        except (AssertionError, KeyError, StorageError):
            return
    pytest.fail(f"{mistake.__name__} went unnoticed in {SEEDS} histories")
