import asyncio
import random
from pathlib import Path

import pytest

from headrace.metadata.errors import MetadataIdentityError, MetadataLogCorruptError, RefusedError
from headrace.metadata.leader import log_reads
from headrace.metadata.leader.startup import opening_records
from headrace.metadata.levels import READ_HERE
from headrace.metadata.log.os_directory import OsDirectory
from headrace.metadata.log.snapshot_format import decode_snapshot
from headrace.metadata.log.store import LogStore
from headrace.metadata.quorum import snapshots
from headrace.metadata.quorum.snapshots import Snapshots
from headrace.metadata.raft.effects import NOBODY, HardState, Persist
from headrace.metadata.records.codec import encode_members, encode_records
from headrace.metadata.records.entry import LogEntry
from headrace.metadata.records.members import Member
from headrace.metadata.rpc.requests import (
    CreateTopics,
    FetchEntries,
    FetchSnapshot,
    PrepareObjects,
)
from headrace.protocol.errors import ErrorCode
from tests.simulation.directory import SimulatedDirectoryDisk
from tests.unit.metadata.pure_controller import topic_creation
from tests.unit.metadata.running_cluster import (
    Cluster,
    ask,
    ask_well,
    eventually,
    heartbeat,
    register,
    running,
    scenario,
)


async def fetched(node, from_index=1, max_bytes=1 << 20, max_wait_ms=0):
    return (await ask_well(node, FetchEntries(from_index, max_bytes, max_wait_ms, READ_HERE))).body


@scenario
async def test_nothing_is_served_before_the_term_is_open(cluster):
    node = cluster.new_node()

    for request in (
        heartbeat(1),
        FetchEntries(1, 1, 1, READ_HERE),
        FetchSnapshot(1, 1, 1, READ_HERE),
    ):
        assert (await ask(node, request)).error == ErrorCode.NOT_CONTROLLER
    with pytest.raises(RefusedError):
        _ = node.image
    await node.shutdown()


@scenario
async def test_the_first_start_bootstraps_and_each_opens_a_term(cluster):
    async with cluster.controller() as node:
        assert (node.image.term, node.image.index) == (1, 2), "the no-op, and who the members are"
        cluster_id = node.image.cluster_id
        assert len(cluster_id) == 22
        assert [it.node_id for it in node.image.members] == [1]
    for term in (2, 3):
        async with cluster.controller() as node:
            assert (node.image.term, node.image.index) == (term, term + 1)
            assert node.image.cluster_id == cluster_id
            assert node.image.leader_id == 1


@scenario
async def test_a_first_start_that_was_cut_short_is_made_up_for(cluster):
    """The members are on the disk, what names the cluster is not."""
    store = LogStore(OsDirectory(Path(cluster.config.log_dir)), random.Random(1))
    opened = await store.open(node_id=1, cluster_id="")
    members = encode_members((Member(1, opened.directory_id, "", 0, True),))
    await store.persist(Persist(HardState(1, 1), entries=(LogEntry(1, 1, members),)))
    await store.close()

    async with cluster.controller() as node:
        cluster_id = node.image.cluster_id
        assert len(cluster_id) == 22
        assert node.image.features
    async with cluster.controller() as node:
        assert node.image.cluster_id == cluster_id


@scenario
async def test_a_log_from_before_there_were_quorums_goes_on_as_a_quorum_of_one(cluster):
    store = LogStore(OsDirectory(Path(cluster.config.log_dir)), random.Random(1))
    await store.open(node_id=1, cluster_id="old")
    opening = encode_records(opening_records(1, leader_id=1, cluster_id="old", now_ms=9))
    await store.persist(Persist(HardState(1, NOBODY), entries=(LogEntry(1, 1, opening),)))
    await store.close()

    async with cluster.controller() as node:
        assert node.image.cluster_id == "old"
        assert [it.node_id for it in node.image.members] == [1]
        assert (node.image.term, node.image.index) == (2, 3)


@scenario
async def test_a_configured_cluster_id_is_kept(cluster):
    async with cluster.controller(cluster_id="mine") as node:
        assert node.image.cluster_id == "mine"
    with pytest.raises(MetadataIdentityError):
        async with cluster.controller(cluster_id="other"):
            pass
    with pytest.raises(MetadataIdentityError):
        async with cluster.controller(node_id=2):
            pass


@scenario
async def test_two_controllers_do_not_share_a_directory(cluster):
    async with cluster.controller():
        other = cluster.new_node()
        with pytest.raises(MetadataIdentityError):
            await other.start()
        await other.shutdown()


@scenario
async def test_what_was_answered_survives_a_crash(cluster):
    node = cluster.new_node()
    await node.start()
    run = asyncio.ensure_future(node.run())
    await register(node)
    await ask_well(node, CreateTopics((topic_creation("a", 2),), False))
    before = node.image
    run.cancel()
    await asyncio.wait([run])
    await node.shutdown()  # releases the lock, as the end of a process does

    async with cluster.controller() as node:
        assert node.image.topic("a") == before.topic("a")
        assert node.image.streams == before.streams
        assert node.image.brokers == before.brokers


@scenario
async def test_what_a_controller_has_answered_outlives_a_power_cut(cluster):
    disk = SimulatedDirectoryDisk(random.Random(7))
    for node_id in range(1, 10):
        cluster.open_directory = disk.open
        async with cluster.controller() as node:
            assert set(node.image.brokers) == set(range(1, node_id))
            await register(node, node_id)
            disk = disk.killed()
        disk.cut_power()
    assert not Path(cluster.config.log_dir).exists()


@scenario
async def test_a_damaged_log_is_not_started_from(cluster):
    async with cluster.controller() as node:
        await register(node)
    path = next(Path(cluster.config.log_dir).glob("*.log"))
    data = bytearray(path.read_bytes())
    data[60] ^= 1
    path.write_bytes(data)

    with pytest.raises(MetadataLogCorruptError):
        async with cluster.controller():
            pass
    assert path.read_bytes() == data


@scenario
async def test_leases_go_on_while_the_disk_of_the_only_controller_stalls(cluster):
    async with cluster.controller() as node:
        epoch = await register(node)
        goes_on = asyncio.Event()
        persist = node._store.persist

        async def stalling(step):
            await goes_on.wait()
            await persist(step)

        node._store.persist = stalling
        change = asyncio.ensure_future(ask(node, PrepareObjects(1, epoch, 1, 1_000)))
        await asyncio.sleep(0)
        for _ in range(3):
            await ask_well(node, heartbeat(epoch))
        assert not change.done()
        goes_on.set()
        assert (await change).error == ErrorCode.NONE


@scenario
async def test_what_was_being_decided_when_a_controller_stopped_makes_it_lead_no_more(cluster):
    """Nobody would perform what it then promises."""
    node = cluster.new_node()
    await node.start()
    run = asyncio.ensure_future(node.run())
    epoch = await register(node)
    quorum, image = node._member.quorum, node.image
    run.cancel()
    await asyncio.wait([run])

    for change in (
        quorum.replicate([LogEntry(image.index + 1, image.term, b"")], {}),
        quorum.confirm_leadership(),
    ):
        with pytest.raises(RefusedError) as refused:
            await asyncio.wait_for(change, 1)
        assert refused.value.code == ErrorCode.NOT_CONTROLLER
    assert not node.status().serving
    assert (await ask(node, heartbeat(epoch))).error == ErrorCode.NOT_CONTROLLER
    await node.shutdown()


@scenario
async def test_requests_while_stopping_are_refused(cluster):
    async with cluster.controller() as node:
        epoch = await register(node)
    answer = await ask(node, PrepareObjects(1, epoch, 1, 1_000))

    assert answer.error == ErrorCode.NOT_CONTROLLER


# Following the log


@scenario
async def test_entries_are_read_from_an_index(cluster):
    async with cluster.controller() as node:
        await register(node)
        entries = await fetched(node)
        assert [it.index for it in entries.entries] == [1, 2, 3, 4]
        assert entries.end_index == 4
        assert [it.index for it in (await fetched(node, 2, 0)).entries] == [2]
        assert (await fetched(node, 5)).entries == ()


@scenario
async def test_a_follower_waits_for_the_next_entry(cluster):
    async with cluster.controller() as node:
        waiting = asyncio.ensure_future(fetched(node, 3, max_wait_ms=30_000))
        await asyncio.sleep(0)
        assert not waiting.done()

        await register(node, serve=False)

        assert [it.index for it in (await waiting).entries] == [3]


@scenario
async def test_who_has_more_than_the_controller_is_told(cluster):
    async with cluster.controller() as node:
        answer = await ask(node, FetchEntries(4, 1, 0, READ_HERE))

        assert answer.error == ErrorCode.POSITION_OUT_OF_RANGE


@scenario
async def test_followers_that_wait_are_bounded(cluster, monkeypatch):
    monkeypatch.setattr(log_reads, "MAX_FOLLOWERS", 1)
    async with cluster.controller() as node, running(fetched(node, 3, max_wait_ms=30_000)):
        await eventually(lambda: node._member.reads._waiting == 1)

        answer = await ask(node, FetchEntries(3, 1, 30_000, READ_HERE))

        assert answer.error == ErrorCode.THROTTLING_QUOTA_EXCEEDED


@scenario
async def test_who_waits_is_let_go_when_the_controller_stops(cluster):
    async with cluster.controller() as node:
        waiting = asyncio.ensure_future(ask(node, FetchEntries(3, 1, 30_000, READ_HERE)))
        await eventually(lambda: node._member.reads._waiting == 1)

    assert (await waiting).error == ErrorCode.NOT_CONTROLLER


# Snapshots


@scenario
async def test_a_snapshot_takes_the_place_of_the_log(cluster):
    async with cluster.controller() as node:
        await register(node)
        await ask_well(node, CreateTopics((topic_creation("a", 3),), False))
        await node.take_snapshot()
        await ask_well(node, CreateTopics((topic_creation("b", 1),), False))
        before = node.image
    async with cluster.controller() as node:
        assert node.image.topics == before.topics
        assert node.image.index == before.index + 1
        stale = await fetched(node, 1)
        assert (stale.entries, stale.snapshot_index) == ((), before.index - 1)

        data = b""
        while True:
            request = FetchSnapshot(stale.snapshot_index, len(data), 50, READ_HERE)
            chunk = (await ask_well(node, request)).body
            data += chunk.data
            if len(data) == chunk.size_bytes:
                break
        image = decode_snapshot(data)
        assert image.topic("a") == before.topic("a")
        assert image.topic("b") is None
        answer = await ask(node, FetchSnapshot(1, 0, 50, READ_HERE))
        assert answer.error == ErrorCode.SNAPSHOT_NOT_FOUND


@scenario
async def test_a_snapshot_that_the_disk_does_not_give_is_an_answer_too(cluster, monkeypatch):
    """What `handle` raises ends the connection, on which heartbeats wait as well."""
    async with cluster.controller() as node:
        await register(node)

        async def fail(index, position, max_size):
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(node._store, "read_snapshot", fail)
        answer = await ask(node, FetchSnapshot(1, 0, 50, READ_HERE))
        assert answer.error == ErrorCode.KAFKA_STORAGE_ERROR
        assert "Input/output" in answer.message


@scenario
async def test_snapshots_are_taken_as_the_log_grows(tmp_path, cluster):
    cluster.config = type(cluster.config)(
        log_dir=str(tmp_path / "metadata"), snapshot_log_bytes=2_000
    )
    async with cluster.controller() as node:
        await register(node)
        for number in range(20):
            await ask_well(node, CreateTopics((topic_creation(f"t{number}", 3),), False))
        await eventually(lambda: node._member.applied.entries.snapshot_index > 0)
        image = node.image
        log_bytes = sum(it.stat().st_size for it in (tmp_path / "metadata").glob("*.log"))
        assert log_bytes < 6_000
    async with cluster.controller() as node:
        assert node.image.topics == image.topics


@scenario
async def test_a_log_grows_no_larger_than_the_snapshot_before_it(tmp_path, cluster, monkeypatch):
    """So that many starts, each of which adds to the log, make none of them slow."""
    monkeypatch.setattr(snapshots, "MIN_INTERVAL_BYTES", 1_000)
    cluster.config = type(cluster.config)(log_dir=str(tmp_path / "metadata"))  # 20 MiB
    sizes = []
    for start in range(3):
        async with cluster.controller() as node:
            if not start:
                await register(node)
            for number in range(40):
                name = f"t{start}-{number}"
                await ask_well(node, CreateTopics((topic_creation(name, 3),), False))
                store = node._store
                sizes.append((store.log_bytes, store.snapshot_bytes))
    assert max(log for log, _ in sizes) > 2_000  # it grows with the snapshot
    # Besides, there is what comes while a snapshot is written.
    assert all(log < 5_000 + snapshot for log, snapshot in sizes)


@scenario
async def test_a_reader_that_is_slower_than_the_log_grows_catches_up(tmp_path, cluster):
    """The snapshot that it reads stays, and so do the entries after it."""
    cluster.config = type(cluster.config)(
        log_dir=str(tmp_path / "metadata"), snapshot_log_bytes=1_000
    )
    async with cluster.controller() as node:
        await register(node)
        await node.take_snapshot()
        entries, store = node._member.applied.entries, node._store
        index, position = entries.snapshot_index, 0
        while store.log_bytes < 2_000:
            await ask_well(node, FetchSnapshot(index, position, 5, READ_HERE))
            position += 5
            await ask_well(node, CreateTopics((topic_creation(f"t{position}", 3),), False))
            await asyncio.sleep(0.01)  # so that a snapshot would be taken if it were due
            assert store.log_bytes < 3_000
            assert entries.snapshot_index == index
        after = await fetched(node, index + 1)
        assert after.entries[0].index == index + 1


@scenario
async def test_readers_hold_no_snapshot_up_for_ever(tmp_path, cluster):
    cluster.config = type(cluster.config)(
        log_dir=str(tmp_path / "metadata"), snapshot_log_bytes=1_000
    )
    async with cluster.controller() as node:
        await register(node)
        await node.take_snapshot()
        index = first = node._member.applied.entries.snapshot_index
        for number in range(60):
            await ask_well(node, FetchSnapshot(index, 0, 10, READ_HERE))
            await ask_well(node, CreateTopics((topic_creation(f"t{number}", 3),), False))
            await asyncio.sleep(0)
            index = node._member.applied.entries.snapshot_index
        await eventually(lambda: node._store.log_bytes < 5_000)
        assert node._member.applied.entries.snapshot_index > first


@scenario
async def test_a_snapshot_that_fails_is_tried_again_later(tmp_path, cluster, monkeypatch):
    cluster.config = type(cluster.config)(
        log_dir=str(tmp_path / "metadata"), snapshot_log_bytes=500
    )
    attempts = []

    async def failing(self):
        attempts.append(self)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Snapshots, "take", failing)
    async with cluster.controller() as node:
        await register(node)
        for number in range(20):
            await ask_well(node, CreateTopics((topic_creation(f"t{number}", 3),), False))

    assert 2 <= len(attempts) < 15


@scenario
async def test_the_same_seed_makes_the_same_log(tmp_path):
    logs = []
    for name in ("one", "two"):
        cluster = Cluster(tmp_path / name)
        async with cluster.controller(rng=random.Random(42)) as node:
            await register(node)
            await ask_well(node, CreateTopics((topic_creation("a", 2),), False))
            logs.append([it.payload for it in (await fetched(node)).entries])

    assert logs[0] == logs[1]
