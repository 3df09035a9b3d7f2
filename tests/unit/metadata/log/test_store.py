import asyncio
import os
import random

import pytest

from metadata.errors import MetadataIdentityError, MetadataLogFailedError
from metadata.log.store import LogStore
from metadata.raft.effects import FRESH, HardState, Persist
from metadata.records.entry import LogEntry, SnapshotId


def entry(index):
    return LogEntry(index, 1, b"x")


async def opened(directory, **options):
    store = LogStore(directory, random.Random(1), **options)
    found = await store.open(node_id=1, cluster_id="")
    if found.hard_state == FRESH:
        await store.persist(Persist(hard_state=HardState(1, 1)))
    return store, found.recovered


def test_entries_and_snapshots_survive(tmp_path):
    async def scenario():
        directory = tmp_path / "deep" / "metadata"
        store, _ = await opened(directory)
        await store.append([entry(1), entry(2)])
        await store.write_snapshot(SnapshotId(2, 1), iter([b"abc", b"def"]))
        await store.append([entry(3)])
        assert await store.read_snapshot(2, 3) == (2, 6, b"cde")
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
        await store.append([entry(1)])
        appended = []

        def pieces():
            for index in (2, 3, 4):
                appended.append(asyncio.ensure_future(store.append([entry(index)])))
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
        other = LogStore(tmp_path, random.Random(1))
        with pytest.raises(MetadataIdentityError):
            await other.open(node_id=1, cluster_id="")
        await other.close()
        await store.append([entry(1)])
        await store.close()

    asyncio.run(scenario())


def test_a_snapshot_that_fails_leaves_the_log_and_the_older_snapshot(tmp_path):
    async def scenario():
        fail = False

        def sync(descriptor):
            if fail:
                raise OSError(28, "No space left on device")
            os.fsync(descriptor)

        store, _ = await opened(tmp_path, sync=sync)
        await store.append([entry(1)])
        await store.write_snapshot(SnapshotId(1, 1), iter([b"good"]))
        await store.append([entry(2)])

        def pieces():
            nonlocal fail
            yield b"bad"
            fail = True

        with pytest.raises(OSError, match="No space"):
            await store.write_snapshot(SnapshotId(2, 1), pieces())
        fail = False
        await store.append([entry(3)])
        await store.close()
        store, recovered = await opened(tmp_path)
        assert recovered.snapshot == b"good"
        assert [it.index for it in recovered.entries] == [2, 3]
        await store.close()

    asyncio.run(scenario())


def test_a_cancelled_snapshot_is_not_adopted(tmp_path):
    async def scenario():
        store, _ = await opened(tmp_path)
        await store.append([entry(1)])
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
        await store.append([entry(2)])
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
            await store.append([entry(1)])
        fail = False
        with pytest.raises(MetadataLogFailedError):
            await store.append([entry(1)])
        await store.close()

    asyncio.run(scenario())
