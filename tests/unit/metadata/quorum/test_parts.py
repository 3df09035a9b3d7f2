"""The parts of a member of the quorum, each alone."""

import asyncio
from uuid import UUID

import pytest

from headrace.metadata.errors import LeadershipLostError, MetadataFormatError, RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.quorum import inputs as inputs_module
from headrace.metadata.quorum import snapshots as snapshots_module
from headrace.metadata.quorum.applied import AppliedLog
from headrace.metadata.quorum.inputs import CoreInputs
from headrace.metadata.quorum.read_rounds import ReadRounds
from headrace.metadata.quorum.snapshots import FetchedSnapshot, Snapshots
from headrace.metadata.quorum.status import QuorumCounters
from headrace.metadata.quorum.waiters import EntryWaiters
from headrace.metadata.raft.effects import ReadReady, SnapshotWanted
from headrace.metadata.raft.errors import NotLeaderError
from headrace.metadata.raft.messages import TimeoutNow
from headrace.metadata.records.cluster import FeatureRecord
from headrace.metadata.records.codec import encode_records
from headrace.metadata.records.entry import LogEntry, SnapshotId
from headrace.metadata.replay import replay
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.running_cluster import eventually, running, scenario


def entry(index, term=1, key=None):
    return LogEntry(index, term, encode_records((FeatureRecord(key or f"k{index}", 1),)))


async def apply(log):
    batch = log.next_batch
    return log.publish(batch, await log.compute(batch))


# Applying


@scenario
async def test_batches_are_applied_in_order_and_shown_whole():
    seen = []
    log = AppliedLog(MetadataImage(), lambda old, new: seen.append((old.index, new.index)))
    log.committed((entry(1), entry(2)))
    log.committed((entry(3),))
    image = await log.compute(log.next_batch)
    assert (log.image.index, log.entries.end_index) == (0, 0), "nothing shows yet"

    assert log.publish(log.next_batch, image)
    assert await apply(log)

    assert seen == [(0, 2), (2, 3)]
    assert set(log.image.features) == {"k1", "k2", "k3"}
    assert log.entries.end_index == 3
    assert log.next_batch is None


@scenario
async def test_what_was_precomputed_is_not_replayed_again_but_for_entries_of_another_leader():
    log = AppliedLog(MetadataImage(), lambda old, new: None)
    precomputed = replay(MetadataImage(), (FeatureRecord("k1", 1),), index=1, term=1)
    log.keep_precomputed({1: precomputed})
    log.committed((entry(1),))
    await apply(log)
    assert log.image is precomputed

    wrong = replay(precomputed, (FeatureRecord("ours", 1),), index=2, term=1)
    log.keep_precomputed({2: wrong})
    log.committed((entry(2, term=2, key="theirs"),))
    await apply(log)
    assert set(log.image.features) == {"k1", "theirs"}


@scenario
async def test_a_snapshot_overtakes_what_is_being_replayed(monkeypatch):
    monkeypatch.setattr("headrace.turns.Work.share_s", 0.0)
    log = AppliedLog(MetadataImage(), lambda old, new: None)
    log.committed(tuple(entry(it) for it in range(1, 5)))
    replaying = asyncio.ensure_future(apply(log))
    await asyncio.sleep(0)
    assert not replaying.done()
    log.install(MetadataImage(index=20, term=3))

    assert not await replaying
    assert log.image.index == log.entries.end_index == 20
    log.committed((entry(21, term=3),))
    assert await apply(log)
    assert log.image.index == 21


@scenario
async def test_an_entry_that_cannot_be_read_is_named():
    log = AppliedLog(MetadataImage(), lambda old, new: None)
    log.committed((entry(1), LogEntry(2, 1, b"\x07")))

    with pytest.raises(MetadataFormatError, match="entry 2"):
        await log.compute(log.next_batch)


# Rounds


class Core:
    """Notes which rounds are asked for."""

    next_tick_ms = 1 << 40
    leader_id = 2

    def __init__(self):
        self.tokens = []
        self.leads = True
        self.stepped = []

    def request_read(self, token, now_ms):
        if not self.leads:
            raise NotLeaderError(2)
        self.tokens.append(token)

    def step(self, message, now_ms):
        self.stepped.append(message.term)

    def tick(self, now_ms):
        raise AssertionError("no tick is due")


def rounds(core, index=5):
    log = AppliedLog(MetadataImage(index=index, term=1), lambda old, new: None)
    return ReadRounds(core, log, clock_ms=lambda: 0, on_input=lambda: None), log


@scenario
async def test_readers_share_a_round_that_begins_after_they_came():
    core = Core()
    reads, _ = rounds(core)
    first = asyncio.ensure_future(reads.join())
    await asyncio.sleep(0)
    later = [asyncio.ensure_future(reads.join()) for _ in range(3)]
    await asyncio.sleep(0)
    assert core.tokens == [1]

    reads.confirmed(ReadReady(1, 5))
    await first
    await asyncio.sleep(0)
    assert not any(it.done() for it in later), "their round has only begun"
    assert core.tokens == [1, 2]
    reads.confirmed(ReadReady(1, 5))
    await asyncio.sleep(0)
    assert not any(it.done() for it in later), "an answer to the round before"
    reads.confirmed(ReadReady(2, 5))
    await asyncio.gather(*later)


@scenario
async def test_a_reader_waits_until_what_was_committed_is_applied():
    core = Core()
    reads, log = rounds(core, index=5)
    reading = asyncio.ensure_future(reads.join())
    await asyncio.sleep(0)
    reads.confirmed(ReadReady(1, 6))
    await asyncio.sleep(0)
    assert not reading.done()
    log.committed((entry(6),))
    await apply(log)
    reads.look()
    await reading


@scenario
async def test_rounds_that_fail_refuse_their_readers_and_no_others():
    core = Core()
    reads, _ = rounds(core)
    reading = asyncio.ensure_future(reads.join())
    await asyncio.sleep(0)
    reads.lost((7,), "another round")
    await asyncio.sleep(0)
    assert not reading.done()
    reads.lost((1,), "deposed")
    with pytest.raises(RefusedError) as error:
        await reading
    assert error.value.code == ErrorCode.NOT_CONTROLLER

    core.leads = False
    with pytest.raises(RefusedError):
        await reads.join()
    core.leads = True
    again = asyncio.ensure_future(reads.join())
    await asyncio.sleep(0)
    reads.confirmed(ReadReady(core.tokens[-1], 5))
    await again


@scenario
async def test_a_reader_that_goes_takes_nobody_with_it():
    core = Core()
    reads, _ = rounds(core)
    gone, stays = (asyncio.ensure_future(reads.join()) for _ in range(2))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.sleep(0)
    reads.confirmed(ReadReady(1, 5))
    reads.confirmed(ReadReady(2, 5))
    await stays


# Waiting for entries


@scenario
async def test_who_waits_for_an_entry_is_told_whose_came():
    waiters = EntryWaiters()
    ours, replaced, any_, later = (
        asyncio.ensure_future(waiters.wait(index, term))
        for index, term in ((3, 1), (4, 1), (4, None), (9, 1))
    )
    await asyncio.sleep(0)
    waiters.applied((entry(3, term=1), entry(4, term=2)))

    await ours
    await any_
    with pytest.raises(LeadershipLostError):
        await replaced
    assert not later.done()
    waiters.fail("deposed", after_index=9)
    await asyncio.sleep(0)
    assert not later.done(), "it is committed, and will be applied"
    waiters.fail("deposed", after_index=8)
    with pytest.raises(LeadershipLostError):
        await later


# Inputs


@scenario
async def test_messages_that_wait_are_bounded_and_the_oldest_are_lost(monkeypatch):
    monkeypatch.setattr(inputs_module, "MAX_INBOX", 3)
    core, counters = Core(), QuorumCounters()
    inputs = CoreInputs(core, counters, clock_ms=lambda: 50, on_input=lambda: None)
    assert inputs.leader_silent_ms is None
    for term in range(5):
        message = TimeoutNow(source=2, target=1, term=term, source_directory=UUID(int=2))
        inputs.receive(message)
    async with running(inputs.run()):
        await eventually(lambda: len(core.stepped) == 3)

    assert core.stepped == [2, 3, 4]
    assert counters.messages_dropped == 2
    assert inputs.leader_silent_ms == 0


# Snapshots


class Store:
    """Notes the snapshots that it is given."""

    def __init__(self, installed):
        self._installed = installed
        self.snapshots = []

    async def write_snapshot(self, snapshot_id, pieces):
        self.snapshots.append(snapshot_id.index)

    async def install_snapshot(self, snapshot_id, chunks):
        self.snapshots.append(snapshot_id.index)
        return self._installed


class InstallingCore(Core):
    def snapshot_installed(self, snapshot_id, configuration, now_ms):
        assert snapshot_id == SnapshotId(20, 3)

    def compacted(self, snapshot_id):
        """Forget entries."""


@scenario
async def test_no_older_snapshot_is_written_over_one_that_is_being_installed(monkeypatch):
    """Its image is not the current one yet, but the file is there."""
    wanted = SnapshotWanted(2, SnapshotId(20, 3))

    async def fetch_snapshot(network, what):
        return FetchedSnapshot(what.snapshot, b"")

    monkeypatch.setattr(snapshots_module, "fetch_snapshot", fetch_snapshot)
    store = Store(MetadataImage(index=20, term=3))
    log = AppliedLog(MetadataImage(index=5, term=1), lambda old, new: None)
    fetched, accepted = asyncio.Event(), asyncio.Event()
    snapshots = Snapshots(
        InstallingCore(),
        store,
        None,
        log,
        QuorumCounters(),
        clock_ms=lambda: 0,
        on_input=fetched.set,
    )

    async def accept(image):
        await accepted.wait()  # the directory is given the cluster's name

    async with running(snapshots.run_fetches()):
        snapshots.fetch(wanted)
        await fetched.wait()
        installing = asyncio.ensure_future(snapshots.install_fetched(accept))
        await asyncio.sleep(0)
        taking = asyncio.ensure_future(snapshots.take())
        await asyncio.sleep(0)
        accepted.set()
        await asyncio.gather(installing, taking)

    assert store.snapshots == [20, 20]
    assert log.image.index == 20
