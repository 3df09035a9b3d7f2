"""The stream engine resizes a real WAL: a file, a raw device, a file on a disk that is full."""

import asyncio
import os
import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from headrace.storage.errors import ResizeRefusedError, RetriableStorageError
from tests.integration.test_storage_engine import MIB, Cluster

CAPACITY = 32 * MIB
MAX_PAUSE_MS = 1000


@contextmanager
def command(begin: list[str], end: list[str]) -> Iterator[str]:
    """Run `begin`, yield what it prints, and run `end` with `{}` replaced by that."""
    try:
        done = subprocess.run(begin, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        if "TEST_REQUIRE_ALL" in os.environ:
            raise
        pytest.skip(f"{begin[0]} does not work here: {error}")
    printed = done.stdout.strip()
    try:
        yield printed
    finally:
        subprocess.run([part.format(printed) for part in end], check=True)


def on(cluster: Cluster, path: str, capacity_bytes: int = CAPACITY) -> Cluster:
    cluster.wal_config = replace(cluster.wal_config, path=path, capacity_bytes=capacity_bytes)
    return cluster


def test_a_file_is_resized_again_and_again_while_it_is_written(tmp_path: Path) -> None:
    async def scenario() -> None:
        cluster = Cluster(tmp_path)
        process = await cluster.start()
        producing = asyncio.create_task(process.produce(100_000, random.Random(3)))
        for capacity_bytes in (64 * MIB, 16 * MIB, 40 * MIB, 17 * MIB + 4096, CAPACITY):
            acked = sum(cluster.acked.values())
            async with asyncio.timeout(20):
                while sum(cluster.acked.values()) < acked + 300:
                    await asyncio.sleep(0.01)
            report = await process.engine.resize_wal(capacity_bytes)
            assert report.new_bytes == capacity_bytes
            assert (tmp_path / "wal").stat().st_size == capacity_bytes
            assert report.pause_ms < MAX_PAUSE_MS
        assert not producing.done()
        producing.cancel()
        await asyncio.wait([producing])
        await process.check_reads()
        assert process.engine.stats().admission_refused_total == 0
        await process.stop()
        again = await cluster.start()
        assert again.report.records == 0
        await again.check_reads()
        await again.stop()

    asyncio.run(scenario())


@pytest.mark.parametrize("capacity_bytes", [64 * MIB, 16 * MIB])
def test_a_death_after_a_resize_loses_nothing(tmp_path: Path, capacity_bytes: int) -> None:
    """Also when the configuration still has the old capacity."""

    async def scenario() -> None:
        cluster = Cluster(tmp_path)
        rng = random.Random(4)
        for _ in range(3):
            process = await cluster.start()
            await process.check_reads()
            await process.produce(300, rng)
            await process.engine.resize_wal(capacity_bytes)
            await process.produce(300, rng)
            await process.die()
        last = await cluster.start()
        await last.check_reads()
        assert last.report.records > 0
        await last.stop()
        assert (tmp_path / "wal").stat().st_size == CAPACITY

    asyncio.run(scenario())


def test_a_device_is_resized_up_to_its_size(tmp_path: Path) -> None:
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(CAPACITY)
    attach = ["losetup", "--find", "--show", str(image)]
    with command(attach, ["losetup", "--detach", "{}"]) as device:

        async def scenario() -> None:
            cluster = on(Cluster(tmp_path), device, 20 * MIB)
            process = await cluster.start()
            rng = random.Random(5)
            await process.produce(300, rng)
            refused = f"{device} has {CAPACITY} bytes, less than the requested capacity of {CAPACITY + 4096}"
            with pytest.raises(ResizeRefusedError, match=refused):
                await process.engine.resize_wal(CAPACITY + 4096)
            for capacity_bytes in (CAPACITY, 16 * MIB):
                await process.engine.resize_wal(capacity_bytes)
                await process.produce(300, rng)
            await process.die()
            again = await cluster.start()
            await again.check_reads()
            assert again.report.records > 0
            assert again.wal.device_bytes == 20 * MIB
            await again.stop()

        asyncio.run(scenario())
        assert image.stat().st_size == CAPACITY


def test_a_disk_that_is_full_refuses_and_the_node_goes_on(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={CAPACITY + 4 * MIB}", "wal-test", str(disk)]
    with command(mount, ["umount", str(disk)]):

        async def scenario() -> None:
            cluster = on(Cluster(tmp_path), str(disk / "wal"))
            process = await cluster.start()
            rng = random.Random(6)
            await process.produce(300, rng)
            with pytest.raises(ResizeRefusedError, match=f"cannot allocate {64 * MIB} bytes"):
                await process.engine.resize_wal(64 * MIB)
            assert (disk / "wal").stat().st_size == CAPACITY
            await process.produce(300, rng)
            await process.die()
            larger = on(cluster, str(disk / "wal"), 64 * MIB)
            again = await larger.start()
            assert again.wal.device_bytes == CAPACITY, "it goes on with what it had"
            await again.check_reads()
            await again.engine.resize_wal(16 * MIB)
            await again.produce(300, rng)
            await again.check_reads()
            await again.stop()

        asyncio.run(scenario())


def test_a_bucket_that_is_away_leaves_the_wal_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headrace.storage.wal_resize.UPLOAD_TIMEOUT_MS", 300)

    async def scenario() -> None:
        cluster = Cluster(tmp_path)
        process = await cluster.start()
        rng = random.Random(8)
        await process.produce(100, rng)
        bucket, away = tmp_path / "bucket", tmp_path / "away"
        bucket.rename(away)
        with pytest.raises(RetriableStorageError, match="is the bucket reachable"):
            await process.engine.resize_wal(64 * MIB)
        await process.produce(100, rng)
        away.rename(bucket)
        monkeypatch.undo()
        await process.engine.resize_wal(64 * MIB)
        assert (tmp_path / "wal").stat().st_size == 64 * MIB
        await process.check_reads()
        await process.stop()

    asyncio.run(scenario())
