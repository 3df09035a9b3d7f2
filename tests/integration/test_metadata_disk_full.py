"""The metadata log on a file system that has no room left."""

import asyncio
import random
import subprocess

import pytest

from headrace.metadata.errors import MetadataLogFailedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.log.os_directory import OsDirectory
from headrace.metadata.log.snapshot_format import encode_snapshot
from headrace.metadata.log.store import LogStore
from headrace.metadata.raft.effects import HardState, Persist
from headrace.metadata.records.entry import LogEntry, SnapshotId
from tests.environment.fault_disk import fault_disk_support

SIZE_BYTES = 1 << 20
BALLAST = "ballast"


@pytest.fixture
def disk(component, tmp_path):
    """A file system of 1 MiB."""
    component(fault_disk_support)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE_BYTES}", "metadata-test", str(tmp_path)]
    subprocess.run(mount, check=True)
    yield tmp_path
    subprocess.run(["umount", str(tmp_path)], check=True)


def entry(index, size_bytes=10_000):
    return LogEntry(index, 1, random.Random(index).randbytes(size_bytes))


async def opened(disk):
    store = LogStore(OsDirectory(disk / "metadata"), random.Random(1))
    found = await store.open(node_id=1, cluster_id="")
    if found.hard_state.term == 0:
        await store.persist(Persist(HardState(1, -1)))
    return store, found.recovered


def leave(disk, size_bytes):
    """Fill the disk but for so much."""
    path = disk / BALLAST
    with path.open("wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            file.truncate(max(0, file.tell() - size_bytes))


def test_a_full_disk_ends_all_writing_and_loses_nothing(disk):
    async def scenario():
        store, _ = await opened(disk)
        index = 0

        async def fill():
            nonlocal index
            while index < 1_000:
                index += 1
                await store.persist(Persist(entries=(entry(index),)))

        with pytest.raises(
            MetadataLogFailedError, match=r"No space left on device.*free space on it, and restart"
        ):
            await fill()
        assert 50 < index < 110
        with pytest.raises(MetadataLogFailedError):
            await store.persist(Persist(HardState(2, 1)))
        await store.close()

        subprocess.run(["mount", "-o", f"remount,size={2 * SIZE_BYTES}", str(disk)], check=True)
        store, recovered = await opened(disk)
        assert recovered.entries == [entry(it) for it in range(1, index)]
        await store.persist(Persist(entries=(entry(index),)))
        await store.close()

    asyncio.run(scenario())


def test_a_vote_needs_no_room(disk):
    async def scenario():
        store, _ = await opened(disk)
        leave(disk, 0)
        await store.persist(Persist(HardState(2, 1)))
        await store.close()
        (disk / BALLAST).unlink()
        store = LogStore(OsDirectory(disk / "metadata"), random.Random(1))
        assert (await store.open(node_id=1, cluster_id="")).hard_state == HardState(2, 1)
        await store.close()

    asyncio.run(scenario())


def test_a_snapshot_that_does_not_fit_leaves_the_log_going_and_the_room_free(disk):
    async def scenario():
        store, _ = await opened(disk)
        await store.persist(Persist(entries=(entry(1),)))
        leave(disk, 100_000)
        pieces = (bytes(10_000) for _ in range(50))
        with pytest.raises(OSError, match="No space left"):
            await store.write_snapshot(SnapshotId(1, 1), pieces)
        await store.persist(Persist(entries=(entry(2, 60_000),)))
        await store.close()
        store, recovered = await opened(disk)
        assert recovered.entries == [entry(1), entry(2, 60_000)]
        assert recovered.snapshot is None
        await store.close()

    asyncio.run(scenario())


def test_a_snapshot_of_the_leader_that_does_not_fit_leaves_the_log_going(disk):
    async def scenario():
        store, _ = await opened(disk)
        await store.persist(Persist(entries=(entry(1),)))
        leave(disk, 100_000)

        async def chunks():
            for _ in range(50):
                yield bytes(10_000)

        with pytest.raises(OSError, match="No space left"):
            await store.install_snapshot(SnapshotId(9, 1), chunks())
        await store.persist(Persist(entries=(entry(2, 60_000),)))
        (disk / BALLAST).unlink()
        data = b"".join(encode_snapshot(MetadataImage(index=9, term=1)))

        async def whole():
            yield data

        await store.install_snapshot(SnapshotId(9, 1), whole())
        await store.close()
        store, recovered = await opened(disk)
        assert recovered == (data, [], 0)
        await store.close()

    asyncio.run(scenario())
