"""Recovery on a WAL, a bucket and a control plane: what comes back, and that dying is safe."""

import asyncio
from collections.abc import Callable

import pytest

from headrace.metadata.rpc.requests import CommitStreamSetObject, PrepareObjects
from headrace.storage.errors import CorruptObjectError, FencedError, RecoveryError
from headrace.storage.ports import NO_WAL_OFFSET
from headrace.storage.record_batch import decode_batch
from headrace.wal.port import RecoveredRecord
from tests.simulation.virtual_time import run
from tests.unit.storage.fakes import Crash, Node, PassingError, require_dense, settle


async def crashed(*, appends: int = 12, **options) -> Node:
    """Two streams with acknowledged records, the first third of them committed."""
    node = await Node(**options).start()
    one, two = await node.open(1), await node.open(2)
    for number in range(appends):
        if number == appends // 3:
            await node.engine.force_upload()
        node.append(one, 1000)
        node.append(two, 300)
        await settle()
    return node


def require_everything(node: Node, appends: int = 12) -> None:
    require_dense(node.objects_of(1), 0, appends)
    require_dense(node.objects_of(2), 0, appends)


def test_everything_acknowledged_is_in_the_bucket_afterwards():
    async def scenario():
        old = await crashed()
        node = await old.next_life().start()
        require_everything(node)
        assert node.report.records == 16
        assert node.report.bytes == 8 * 1300
        assert node.report.streams == 2
        assert node.report.dropped == 0
        assert node.wal.is_reset
        stream = await node.open(1, epoch=2)
        assert stream.next_offset == stream.confirm_offset == stream.committed_offset == 12
        node.append(stream, 100)
        await settle()
        await node.engine.force_upload()
        require_dense(node.objects_of(1), 0, 13)

    run(scenario())


def test_what_the_wal_held_is_read_from_memory_afterwards():
    """Opening a partition reads it, and so do consumers that were near the end."""

    async def scenario():
        old = await crashed()
        node = await old.next_life().start()
        one, two = await node.open(1, epoch=2), await node.open(2, epoch=2)
        for stream in (one, two):
            assert stream.fetch_cached(3, 1_000_000) is None, "in the bucket before the crash"
            require_dense(stream.fetch_cached(4, 1_000_000), 4, 12)
            require_dense(await stream.fetch(0, 1_000_000), 0, 12)
        node.append(one, 100)
        await settle()
        require_dense(one.fetch_cached(4, 1_000_000), 4, 13)

    run(scenario())


def test_the_wal_is_reset_only_after_the_last_commit():
    async def scenario():
        old = await crashed()
        before = len(old.journal.events)
        await old.next_life().start()
        kinds = [event[0] for event in old.journal.events[before:]]
        assert kinds[-1] == "reset"
        assert "commit" in kinds

    run(scenario())


def test_the_commits_of_a_recovery_tell_no_wal_offset():
    """The WAL is still another registration's, and a part of it may be uploaded when the process dies."""

    async def scenario():
        old = await crashed()
        before = len(old.control.commits)
        node = await old.next_life().start()
        added = node.control.commits[before:]
        assert {commit.wal_end_offset for commit in added} == {NO_WAL_OFFSET}

    run(scenario())


def test_records_that_are_committed_already_are_dropped():
    """The commit took effect, but the trim was not durable."""

    async def scenario():
        old = await crashed()
        old.wal.trim_offset = -1
        node = await old.next_life().start()
        require_everything(node)
        assert node.report.dropped == 8
        assert node.report.discontinuous == 0

    run(scenario())


def test_streams_that_are_not_open_here_are_left_alone():
    async def scenario():
        old = await crashed()
        await old.control.close_stream(2, 1, 4)
        node = await old.next_life().start()
        require_dense(node.objects_of(1), 0, 12)
        require_dense(node.objects_of(2), 0, 4)
        assert node.report.dropped == 8

    run(scenario())


def test_what_follows_a_lost_unacknowledged_record_is_dropped_and_counted(caplog):
    async def scenario():
        old = await Node(auto_confirm=False).start()
        one, two = await old.open(1), await old.open(2)
        for _ in range(3):
            old.append(one, 100)
            old.append(two, 100)
        old.wal.confirm_records(2)
        lost = old.wal.records[2].offset  # the second of stream 1
        surviving = old.wal.after_crash(lost=lambda record: record.offset == lost)
        node = await old.next_life(surviving=surviving).start()
        require_dense(node.objects_of(1), 0, 1)
        require_dense(node.objects_of(2), 0, 3)
        assert node.report.discontinuous == node.report.dropped == 1
        assert node.report.discontinuous_by_stream == {1: 1}
        assert node.report.lost_bytes == 0
        assert "unacknowledged" in caplog.text

    run(scenario())


def test_an_accepted_loss_ends_the_stream_that_it_is_in_and_no_other(caplog):
    """What follows in the stream was acknowledged, and cannot be kept: it is counted and told of."""

    async def scenario():
        old = await crashed()
        surviving = old.wal.after_crash()
        lost = next(record for record in surviving if stream_of(record) == (1, 6))
        surviving.remove(lost)
        node = old.next_life(surviving=surviving)
        node.wal.lost_bytes = lost.end_offset - lost.offset
        await node.start()
        require_dense(node.objects_of(1), 0, 6)
        require_dense(node.objects_of(2), 0, 12)
        assert node.report.discontinuous_by_stream == {1: 5}
        assert node.report.lost_bytes == lost.end_offset - lost.offset
        assert node.wal.is_reset
        told = next(line for line in caplog.records if line.levelname == "CRITICAL")
        assert told.lost_bytes == node.report.lost_bytes
        assert told.records_by_stream == {1: 5}
        stream = await node.open(1, epoch=2)
        assert stream.next_offset == 6, "the stream goes on where it ends now"

    run(scenario())


def stream_of(record: RecoveredRecord) -> tuple[int, int]:
    """(stream id, base offset)"""
    batch, _ = decode_batch(record.body, 0)
    return batch.stream_id, batch.base_offset


def test_segments_are_bounded():
    async def scenario():
        old = await crashed(appends=12)
        config = {"upload_threshold_bytes": 6_000, "log_cache_bytes": 100_000}
        old.config = old.config.__class__(**config)
        before = len(old.journal.of("commit"))
        node = await old.next_life().start()
        require_everything(node)
        assert len(old.journal.of("commit")) - before >= 3

    run(scenario())


def test_an_empty_wal_needs_nothing():
    async def scenario():
        node = await Node().start()
        assert node.report.records == node.report.dropped == node.report.streams == 0
        assert node.journal.of("put", "commit") == []
        assert node.wal.is_reset

    run(scenario())


def test_waits_for_bucket_and_control_plane():
    async def scenario():
        old = await crashed()
        old.store.is_down = True
        old.control.faults[PrepareObjects].before = [PassingError()] * 3
        old.control.faults[CommitStreamSetObject].after = [PassingError()] * 3
        node = old.next_life()
        starting = asyncio.create_task(node.start())
        await asyncio.sleep(300)
        assert not starting.done()
        assert node.engine.stats().upload_retries_total > 5
        old.store.is_down = False
        await starting
        require_everything(node)
        assert node.report.duration_ms >= 300_000

    run(scenario())


def test_ranges_are_committed_under_the_epoch_of_the_opening():
    """The control plane may have raised it when this node registered again."""

    async def scenario():
        old = await crashed()
        await old.control.open_stream(1, 3)
        node = await old.next_life().start()
        require_everything(node)

    run(scenario())


@pytest.mark.parametrize("change", ["epoch", "end"])
def test_refuses_to_lose_what_the_control_plane_does_not_know(change):
    async def scenario():
        old = await crashed()
        number = -1 if change == "epoch" else 0
        record = old.wal.records[number]
        body = bytearray(record.body)
        if change == "epoch":
            body[9:17] = (2).to_bytes(8, "big")  # newer than the stream's
        else:
            # A batch of five offsets, of which four are committed.
            body[25:29] = (5).to_bytes(4, "big")
            old.wal.trim_offset = -1
        old.wal.records[number] = record._replace(body=memoryview(body))
        node = old.next_life()
        with pytest.raises(RecoveryError):
            await node.start()
        assert not node.wal.is_reset

    run(scenario())


@pytest.mark.parametrize("body", [b"nonsense" * 10, b""])
def test_refuses_a_body_that_is_no_batch(body):
    async def scenario():
        node = Node(surviving=[RecoveredRecord(0, 100, memoryview(body))])
        with pytest.raises(CorruptObjectError):
            await node.start()
        assert not node.wal.is_reset

    run(scenario())


def test_refuses_bytes_behind_the_batch():
    async def scenario():
        old = await crashed()
        record = old.wal.records[-1]
        body = memoryview(bytes(record.body) + b"more")
        old.wal.records[-1] = record._replace(body=body)
        with pytest.raises(CorruptObjectError, match="after its batch"):
            await old.next_life().start()

    run(scenario())


def test_a_fenced_node_does_not_start():
    async def scenario():
        old = await crashed()
        old.control.fence()
        node = old.next_life()
        with pytest.raises(FencedError):
            await node.start()
        assert not node.wal.is_reset

    run(scenario())


class Killer:
    """Kills the process at the n-th call of anything outside of it, before or after its effect."""

    CALLS = (
        "start",
        "reset",
        "put",
        "get_opening_streams",
        "prepare_objects",
        "commit_stream_set_object",
    )

    def __init__(self, node: Node, at: int, *, after_effect: bool) -> None:
        self.left = at
        self._after_effect = after_effect
        for target in (node.wal, node.store, node.control):
            for name in Killer.CALLS:
                if hasattr(target, name):
                    setattr(target, name, self._lethal(getattr(target, name)))

    def _lethal(self, call: Callable) -> Callable:
        async def wrapped(*args):
            self.left -= 1
            is_last = self.left == 0  # others may be under way
            if is_last and not self._after_effect:
                raise Crash
            result = await call(*args)
            if is_last:
                raise Crash
            return result

        return wrapped

    @staticmethod
    def disarm(node: Node) -> None:
        for target in (node.wal, node.store, node.control):
            for name in vars(target).keys() & set(Killer.CALLS):
                delattr(target, name)


@pytest.mark.parametrize("after_effect", [False, True])
def test_dying_anywhere_in_recovery_and_starting_again_loses_and_repeats_nothing(after_effect):
    """Every call that leaves the process, before and after it took effect."""

    async def scenario():
        at = 0
        while True:
            at += 1
            old = await crashed()
            old.config = old.config.__class__(upload_threshold_bytes=4_000, log_cache_bytes=100_000)
            surviving = old.wal.after_crash()
            died = 0
            for _ in range(2):  # dies at the same place twice
                node = old.next_life(surviving=surviving)
                Killer(node, at, after_effect=after_effect)
                try:
                    await node.start()
                except* Crash:
                    died += 1
                    await settle()
                finally:
                    Killer.disarm(node)
                surviving = node.wal.surviving
            if surviving:
                node = await old.next_life(surviving=surviving).start()
            require_everything(node)
            assert not node.wal.surviving
            if not died:
                return at

    assert run(scenario()) > 10


def test_dying_while_the_wal_is_read():
    async def scenario():
        old = await crashed()
        old.config = old.config.__class__(upload_threshold_bytes=4_000, log_cache_bytes=100_000)
        surviving = old.wal.after_crash()
        for number in range(len(surviving)):
            node = old.next_life(surviving=surviving)
            node.wal.fail_recovery_after = number
            with pytest.raises(Crash):
                await node.start()
        node = await old.next_life(surviving=surviving).start()
        require_everything(node)

    run(scenario())
