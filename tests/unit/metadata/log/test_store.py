import asyncio
import os
import random
import shutil
import threading
from itertools import pairwise

import pytest

from headrace.metadata.errors import (
    MetadataIdentityError,
    MetadataLogCorruptError,
    MetadataLogFailedError,
)
from headrace.metadata.image import MetadataImage
from headrace.metadata.log import store as store_module
from headrace.metadata.log.entry_format import SEGMENT_HEADER_BYTES
from headrace.metadata.log.hard_state import HARD_STATE_FILE, read_quorum_state
from headrace.metadata.log.identity import IDENTITY_FILE
from headrace.metadata.log.os_directory import OsDirectory
from headrace.metadata.log.snapshot_format import encode_snapshot
from headrace.metadata.log.store import LogStore
from headrace.metadata.raft.effects import FRESH, NOBODY, HardState, Persist
from headrace.metadata.records.entry import LogEntry, SnapshotId
from headrace.metadata.records.members import NO_DIRECTORY


def entry(index):
    return LogEntry(index, 1, b"x")


async def append(store, entries):
    await store.persist(Persist(entries=tuple(entries)))


async def opened(directory, sync=os.fsync):
    store = LogStore(OsDirectory(directory, sync), random.Random(1))
    found = await store.open(node_id=1, cluster_id="")
    if found.hard_state == FRESH:
        await store.persist(Persist(hard_state=HardState(1, 1)))
    return store, found.recovered


def test_entries_and_snapshots_survive(tmp_path):
    async def scenario():
        directory = tmp_path / "deep" / "metadata"
        store, _ = await opened(directory)
        await append(store, [entry(1), entry(2)])
        await store.write_snapshot(SnapshotId(2, 1), iter([b"abc", b"def"]))
        await append(store, [entry(3)])
        assert await store.read_snapshot(2, 2, 3) == (6, b"cde")
        await store.close()
        await store.close()

        store, recovered = await opened(directory)
        assert recovered.snapshot == b"abcdef"
        assert [it.index for it in recovered.entries] == [3]
        await store.close()

    asyncio.run(scenario())


def test_appends_go_on_while_a_snapshot_is_written(tmp_path):
    async def scenario():
        store, _ = await opened(tmp_path)
        await append(store, [entry(1)])
        appended = []

        def pieces():
            for index in (2, 3, 4):
                appended.append(asyncio.ensure_future(append(store, [entry(index)])))
                yield b"."

        await store.write_snapshot(SnapshotId(1, 1), pieces())
        await asyncio.gather(*appended)
        await store.close()
        store, recovered = await opened(tmp_path)
        assert [it.index for it in recovered.entries] == [2, 3, 4]
        await store.close()

    asyncio.run(scenario())


def test_a_second_process_is_refused_and_leaves_the_first_alone(tmp_path):
    async def scenario():
        store, _ = await opened(tmp_path)
        other = LogStore(OsDirectory(tmp_path), random.Random(1))
        with pytest.raises(MetadataIdentityError):
            await other.open(node_id=1, cluster_id="")
        await other.close()
        await append(store, [entry(1)])
        await store.close()

    asyncio.run(scenario())


def test_a_large_snapshot_is_synced_in_steps(tmp_path, monkeypatch):
    """An append waits behind each sync: one of a whole snapshot would cost a leader its quorum."""
    monkeypatch.setattr(store_module, "SYNC_BYTES", 1_000)
    synced = []

    def sync(descriptor):
        synced.append(os.fstat(descriptor).st_size)
        os.fsync(descriptor)

    async def scenario():
        store, _ = await opened(tmp_path, sync=sync)
        await append(store, [entry(1)])
        synced.clear()
        await store.write_snapshot(SnapshotId(1, 1), (bytes(300) for _ in range(20)))
        await store.close()
        sizes = [0, *(it for it in synced if it % 300 == 0), 6_000]
        assert max(b - a for a, b in pairwise(sizes)) <= 1_300

    asyncio.run(scenario())


def test_a_snapshot_that_fails_leaves_the_log_and_the_older_snapshot(tmp_path):
    async def scenario():
        fail = False

        def sync(descriptor):
            if fail:
                raise OSError(28, "No space left on device")
            os.fsync(descriptor)

        store, _ = await opened(tmp_path, sync=sync)
        await append(store, [entry(1)])
        await store.write_snapshot(SnapshotId(1, 1), iter([b"good"]))
        await append(store, [entry(2)])

        def pieces():
            nonlocal fail
            yield b"bad"
            fail = True

        with pytest.raises(OSError, match="No space"):
            await store.write_snapshot(SnapshotId(2, 1), pieces())
        fail = False
        await append(store, [entry(3)])
        await store.close()
        store, recovered = await opened(tmp_path)
        assert recovered.snapshot == b"good"
        assert [it.index for it in recovered.entries] == [2, 3]
        await store.close()

    asyncio.run(scenario())


def test_a_cancelled_snapshot_is_not_adopted(tmp_path):
    async def scenario():
        store, _ = await opened(tmp_path)
        await append(store, [entry(1)])
        started = asyncio.Event()

        def pieces():
            yield b"half"
            started.set()
            while True:
                yield b"more"

        task = asyncio.ensure_future(store.write_snapshot(SnapshotId(1, 1), pieces()))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await append(store, [entry(2)])
        await store.close()
        store, recovered = await opened(tmp_path)
        assert recovered.snapshot is None
        assert [it.index for it in recovered.entries] == [1, 2]
        await store.close()

    asyncio.run(scenario())


def test_a_failed_append_fails_all_that_follow(tmp_path):
    async def scenario():
        fail = False

        def sync(descriptor):
            if fail:
                raise OSError(5, "Input/output error")

        store, _ = await opened(tmp_path, sync=sync)
        fail = True
        with pytest.raises(MetadataLogFailedError):
            await append(store, [entry(1)])
        fail = False
        with pytest.raises(MetadataLogFailedError):
            await append(store, [entry(1)])
        await store.close()

    asyncio.run(scenario())


# What consensus needs


async def begin(directory, *, node_id=1, cluster_id="", sync=os.fsync):
    store = LogStore(OsDirectory(directory, sync), random.Random())
    return store, await store.open(node_id=node_id, cluster_id=cluster_id)


def term_entry(index, term):
    return LogEntry(index, term, b"x")


def test_term_vote_cut_and_entries_survive_and_the_directory_keeps_its_id(tmp_path):
    async def scenario():
        store, first = await begin(tmp_path)
        assert first.hard_state == FRESH
        assert first.cluster_id == ""
        old = tuple(term_entry(it, 1) for it in (1, 2, 3))
        await store.persist(Persist(HardState(1, 3), entries=old))
        new = (term_entry(2, 2),)
        await store.persist(Persist(HardState(2, 1), truncate_from=2, entries=new))
        await store.close()

        store, second = await begin(tmp_path)
        assert second.directory_id == first.directory_id != NO_DIRECTORY
        assert second.hard_state == HardState(2, 1)
        assert second.recovered.entries == [term_entry(1, 1), term_entry(2, 2)]
        await store.close()
        store, other = await begin(tmp_path / "other")
        assert other.directory_id != first.directory_id
        await store.close()

    asyncio.run(scenario())


def test_a_cluster_is_named_once(tmp_path):
    async def scenario():
        store, _ = await begin(tmp_path)
        await store.name_cluster("ours")
        await store.name_cluster("ours")
        with pytest.raises(MetadataIdentityError, match="ours"):
            await store.name_cluster("theirs")
        await store.close()
        store, opened = await begin(tmp_path)
        assert opened.cluster_id == "ours"
        await store.close()
        with pytest.raises(MetadataIdentityError):
            await begin(tmp_path, cluster_id="theirs")

    asyncio.run(scenario())


def test_a_configured_cluster_id_is_noted_at_once(tmp_path):
    async def scenario():
        store, _ = await begin(tmp_path)
        await store.close()
        store, opened = await begin(tmp_path, cluster_id="ours")
        assert opened.cluster_id == "ours"
        await store.close()
        store, opened = await begin(tmp_path)
        assert opened.cluster_id == "ours"
        await store.close()

    asyncio.run(scenario())


def test_a_log_without_identity_is_refused(tmp_path):
    async def scenario():
        (tmp_path / f"{1:020d}.log").write_bytes(b"")
        with pytest.raises(MetadataIdentityError):
            await begin(tmp_path)
        assert not (tmp_path / IDENTITY_FILE).exists()

    asyncio.run(scenario())


def test_a_vote_that_is_lost_is_never_taken_for_none(tmp_path):
    """Neither a missing file, nor a damaged or an old one."""

    async def scenario():
        store, _ = await begin(tmp_path)
        path = tmp_path / HARD_STATE_FILE
        old = path.read_bytes()
        await store.persist(Persist(HardState(2, 1), entries=(term_entry(1, 2),)))
        await store.close()
        for content in (None, b"", bytes(len(old)), old):
            path.unlink()
            if content is not None:
                path.write_bytes(content)
            store = LogStore(OsDirectory(tmp_path), random.Random())
            with pytest.raises(MetadataLogCorruptError):
                await store.open(node_id=1, cluster_id="")
            await store.close()
            path.touch()

    asyncio.run(scenario())


def test_an_entry_never_comes_before_its_term(tmp_path):
    async def scenario():
        store, _ = await begin(tmp_path)
        with pytest.raises(AssertionError):
            await store.persist(Persist(entries=(term_entry(1, 1),)))
        await store.close()

    asyncio.run(scenario())


def test_a_vote_that_cannot_be_written_ends_all_writing(tmp_path):
    async def scenario():
        fail = False

        def sync(descriptor):
            if fail:
                raise OSError(5, "Input/output error")
            os.fsync(descriptor)

        store, _ = await begin(tmp_path, sync=sync)
        fail = True
        with pytest.raises(MetadataLogFailedError):
            await store.persist(Persist(HardState(1, 1)))
        fail = False
        with pytest.raises(MetadataLogFailedError):
            await store.persist(Persist(HardState(1, 1)))
        await store.close()

    asyncio.run(scenario())


def image_of(snapshot_id, cluster_id="ours"):
    return MetadataImage(index=snapshot_id.index, term=snapshot_id.term, cluster_id=cluster_id)


async def chunks_of(data):
    for start in range(0, len(data), 10):
        yield data[start : start + 10]


def test_a_snapshot_of_the_leader_is_installed(tmp_path):
    async def scenario():
        store, _ = await begin(tmp_path, cluster_id="ours")
        await store.persist(Persist(HardState(1, 1), entries=(term_entry(1, 1),)))
        snapshot_id = SnapshotId(7, 1)
        data = b"".join(encode_snapshot(image_of(snapshot_id)))
        assert await store.install_snapshot(snapshot_id, chunks_of(data)) == image_of(snapshot_id)
        assert await store.read_snapshot(7, 0, 1 << 20) == (len(data), data)
        await store.persist(Persist(entries=(term_entry(8, 1),)))
        await store.close()
        store, opened = await begin(tmp_path)
        assert opened.recovered == (data, [term_entry(8, 1)], 0)
        await store.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("spoil", ["cut off", "flipped", "other index", "other cluster", "endless"])
def test_a_snapshot_is_checked_before_it_counts(tmp_path, spoil, monkeypatch):
    async def scenario():
        store, _ = await begin(tmp_path, cluster_id="ours")
        await store.persist(Persist(HardState(1, 1), entries=(term_entry(1, 1),)))
        snapshot_id = SnapshotId(7, 1)
        told = SnapshotId(8, 1) if spoil == "other index" else snapshot_id
        cluster_id = "theirs" if spoil == "other cluster" else "ours"
        data = bytearray(b"".join(encode_snapshot(image_of(told, cluster_id))))
        if spoil == "cut off":
            del data[-1]
        elif spoil == "flipped":
            data[len(data) // 2] ^= 1
        elif spoil == "endless":
            monkeypatch.setattr(store_module, "MAX_SNAPSHOT_BYTES", 20)
        with pytest.raises((MetadataLogCorruptError, MetadataIdentityError)):
            await store.install_snapshot(snapshot_id, chunks_of(bytes(data)))
        await store.persist(Persist(entries=(term_entry(2, 1),)))
        await store.close()
        assert not list(tmp_path.glob("*.tmp"))
        store, opened = await begin(tmp_path)
        assert opened.recovered == (None, [term_entry(1, 1), term_entry(2, 1)], 0)
        await store.close()

    asyncio.run(scenario())


def test_a_snapshot_that_stops_coming_leaves_nothing(tmp_path):
    async def scenario():
        store, _ = await begin(tmp_path)
        await store.persist(Persist(HardState(1, 1)))

        async def chunks():
            yield b"HRMS"
            raise ConnectionResetError

        with pytest.raises(ConnectionResetError):
            await store.install_snapshot(SnapshotId(7, 1), chunks())
        await store.close()
        assert not list(tmp_path.glob("*.tmp"))

    asyncio.run(scenario())


def test_a_disk_that_does_not_answer_is_told_and_keeps_nobody_from_ending(
    tmp_path, monkeypatch, caplog
):
    monkeypatch.setattr(store_module, "SLOW_WRITE_S", 0.01)
    monkeypatch.setattr(store_module, "MAX_CLOSE_S", 0.01)
    answer = threading.Event()
    hang = False

    def sync(descriptor):
        if hang:
            answer.wait()

    async def scenario():
        nonlocal hang
        store, _ = await begin(tmp_path, sync=sync)
        await store.persist(Persist(HardState(1, 1)))
        assert not caplog.records
        hang = True
        write = asyncio.ensure_future(store.persist(Persist(HardState(2, 1))))
        while not caplog.records:
            await asyncio.sleep(0)
        await store.close()
        assert not write.done()
        write.cancel()

    asyncio.run(scenario())
    answer.set()
    assert [it.message for it in caplog.records].count(
        "a write of the metadata log has not completed yet, the disk is slow; waiting for it"
    ) == 2


# The end of the log, which no later entry proves


def spoilt_ends(log):
    """Every byte with a flipped bit, and every cut."""
    for position in range(len(log)):
        yield log[:position] + bytes([log[position] ^ 1 << position % 8]) + log[position + 1 :]
        yield log[:position]


def is_refused(directory):
    """Whether a start on this directory is refused, which changes nothing."""
    before = {it.name: it.read_bytes() for it in directory.iterdir()}

    async def scenario():
        store = LogStore(OsDirectory(directory, lambda _: None), random.Random(3))
        try:
            await store.open(node_id=1, cluster_id="")
        except MetadataLogCorruptError:
            return True
        finally:
            await store.close()
        return False

    refused = asyncio.run(scenario())
    return refused and before == {it.name: it.read_bytes() for it in directory.iterdir()}


async def live_to(directory, number, **options):
    store, _ = await begin(directory, **options)
    for index in range(1, number + 1):
        hard_state = HardState(1, 1) if index == 1 else None
        await store.persist(Persist(hard_state, entries=(term_entry(index, 1),)))
    return store


def test_after_an_orderly_stop_no_byte_of_the_log_is_cut_off(tmp_path):
    """Also of the last entry, which was acknowledged as any other."""

    async def scenario():
        await (await live_to(tmp_path, 3, sync=lambda _: None)).close()

    asyncio.run(scenario())
    (path,) = tmp_path.glob("*.log")
    whole = path.read_bytes()
    for spoilt in spoilt_ends(whole):
        path.write_bytes(spoilt)
        assert is_refused(tmp_path), "what was acknowledged is not there"
    path.write_bytes(whole)
    assert not is_refused(tmp_path)


def test_what_was_truncated_before_the_stop_is_not_asked_for(tmp_path):
    async def scenario():
        store = await live_to(tmp_path, 3)
        await store.close()
        store, _ = await begin(tmp_path)
        await store.persist(Persist(HardState(2, NOBODY), truncate_from=2))
        # Killed: the file with the vote still proves the segment before.
        killed = tmp_path.with_name("killed")
        shutil.copytree(tmp_path, killed)
        await store.close()
        for directory in (tmp_path, killed):
            store, opened = await begin(directory)
            assert opened.recovered.entries == [term_entry(1, 1)]
            await store.close()

    asyncio.run(scenario())


def test_after_an_idle_moment_and_a_kill_no_byte_is_cut_off(tmp_path, monkeypatch):
    monkeypatch.setattr(store_module, "IDLE_PROOF_S", 0.001)
    killed = tmp_path / "killed"

    async def scenario():
        proven = asyncio.Event()
        loop = asyncio.get_running_loop()

        def sync(descriptor):
            path = tmp_path / "log" / HARD_STATE_FILE
            if path.exists() and read_quorum_state(OsDirectory(path.parent)).proven.last_index == 3:
                loop.call_soon_threadsafe(proven.set)
            os.fsync(descriptor)

        store = await live_to(tmp_path / "log", 3, sync=sync)
        async with asyncio.timeout(20):
            await proven.wait()
        shutil.copytree(tmp_path / "log", killed)
        await store.close()

    asyncio.run(scenario())
    (path,) = killed.glob("*.log")
    whole = path.read_bytes()
    for spoilt in (whole[:-1], whole[:-4] + b"?" + whole[-3:], whole[:SEGMENT_HEADER_BYTES]):
        path.write_bytes(spoilt)
        assert is_refused(killed)


def test_what_was_not_finished_when_the_power_went_is_cut_off(tmp_path):
    """The proof is of what was acknowledged, and of nothing more."""
    killed = tmp_path / "killed"

    async def scenario():
        store = await live_to(tmp_path / "log", 2)
        await store.close()
        store, _ = await begin(tmp_path / "log")
        await append(store, [term_entry(3, 1)])
        shutil.copytree(tmp_path / "log", killed)
        await store.close()
        (path,) = killed.glob("*.log")
        path.write_bytes(path.read_bytes()[:-1])
        store, opened = await begin(killed)
        assert opened.recovered.entries == [term_entry(1, 1), term_entry(2, 1)]
        assert opened.recovered.cut_off_bytes > 0
        await store.close()

    asyncio.run(scenario())


def test_entries_in_a_row_cost_one_sync_each(tmp_path):
    """The proof waits until nothing was written for a moment."""

    async def scenario():
        store = await live_to(tmp_path, 1)
        await store.close()
        synced = []
        store, _ = await begin(tmp_path, sync=synced.append)
        synced.clear()
        for index in range(2, 30):
            await append(store, [term_entry(index, 1)])
        assert len(synced) == 28
        await store.close()
        assert len(synced) == 30, "both slots of the proof"

    asyncio.run(scenario())


def test_a_proof_that_cannot_be_written_harms_nothing_but_later_writes(tmp_path, monkeypatch):
    monkeypatch.setattr(store_module, "IDLE_PROOF_S", 0.001)

    async def scenario():
        failed = asyncio.Event()
        loop = asyncio.get_running_loop()
        broken = False

        def sync(descriptor):
            if broken:
                loop.call_soon_threadsafe(failed.set)
                raise OSError(5, "Input/output error")
            os.fsync(descriptor)

        store = await live_to(tmp_path, 2, sync=sync)
        broken = True
        async with asyncio.timeout(20):
            await failed.wait()
        with pytest.raises(MetadataLogFailedError):
            await append(store, [term_entry(3, 1)])
        broken = False
        await store.close()
        store, opened = await begin(tmp_path)
        assert [it.index for it in opened.recovered.entries] == [1, 2]
        await store.close()

    asyncio.run(scenario())
