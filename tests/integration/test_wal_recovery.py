"""Damage to a real WAL: a node refuses to start, and with the loss accepted brings back the rest."""

import asyncio
import logging
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from headrace.config.load import load
from headrace.config.node import MIB, NodeConfig, WalConfig
from headrace.wal.errors import WalCorruptError
from headrace.wal.layout import PAGE_BYTES, RING_POSITION, decode_superblock
from headrace.wal.ring.log import DeltaWal
from tests.environment.paths import ROOT
from tests.integration.test_node import copy_of_a_crash, leaf, serving

TOPICS = ("kept", "damaged")


def settings(directory: Path, *overrides: str) -> NodeConfig:
    """As an operator gives them: keys and values."""
    directory.mkdir(parents=True, exist_ok=True)
    return load(
        environment={},
        overrides=[
            "listeners=PLAINTEXT://127.0.0.1:0",
            "headrace.admin.listener=none",
            f"log.dirs={directory}",
            f"s3.wal.path=0@file://{directory}/wal?capacity={16 << 20}",
            f"s3.data.buckets=0@file://{directory}/bucket",
            *overrides,
        ],
    ).config


async def crashed(directory: Path) -> Path:
    """Ten acknowledged records of each topic, in turn; return what the disk holds then."""
    after = directory / "after"
    async with serving(settings(directory / "before")) as (client, _):
        for number in range(10):
            for topic in TOPICS:
                assert await client.produce(b"%s %d" % (topic.encode(), number), topic=topic) == (
                    0,
                    number,
                )
        copy_of_a_crash(directory / "before", after)
    return after


def flip(path: Path, position: int) -> None:
    with path.open("r+b") as file:
        file.seek(position)
        byte = file.read(1)
        file.seek(position)
        file.write(bytes([byte[0] ^ 1]))


def position_of(path: Path, value: bytes) -> int:
    return path.read_bytes().index(value)


async def refusal(config: NodeConfig) -> WalCorruptError:
    with pytest.raises(BaseException) as refused:
        async with serving(config):
            pass
    error = leaf(refused.value)
    assert isinstance(error, WalCorruptError)
    return error


def test_damage_is_refused_until_its_loss_is_accepted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        directory = await crashed(tmp_path)
        wal = directory / "wal"
        position = position_of(wal, b"damaged 4")
        flip(wal, position)
        image = wal.read_bytes()
        error = await refusal(settings(directory))
        assert 0 <= position - error.position < 300, "the place is told"
        key = re.search(r"headrace\.wal\.accept\.loss=[0-9a-f]{16}", str(error))
        assert key is not None
        again = await refusal(settings(directory, "headrace.wal.accept.loss=0123456789abcdef"))
        assert str(again) == str(error)
        assert wal.read_bytes() == image, "a refusal changes nothing"

        accepting = settings(directory, key[0])
        caplog.clear()
        async with serving(accepting) as (client, _):
            assert await client.values(topic="kept") == [b"kept %d" % at for at in range(10)]
            # A stream has no holes: what was behind the loss is gone with it.
            expected = [b"damaged %d" % at for at in range(4)]
            assert await client.values(topic="damaged") == expected
            assert await client.produce(b"next", topic="damaged") == (0, 4)
        critical = [line for line in caplog.records if line.levelno == logging.CRITICAL]
        assert any("lost acknowledged bytes" in line.getMessage() for line in critical)
        assert any(
            list(vars(line).get("records_by_stream", {}).values()) == [5] for line in critical
        )

        caplog.clear()
        async with serving(accepting) as (client, _):  # the setting is still there
            assert await client.values(topic="damaged") == [*expected, b"next"]
        assert "no loss is accepted" in caplog.text

    asyncio.run(run())


def test_a_newest_superblock_that_is_lost_costs_nothing_if_that_is_accepted(tmp_path: Path) -> None:
    async def run() -> None:
        directory = await crashed(tmp_path)
        wal = directory / "wal"
        slots = [
            decode_superblock(wal.read_bytes()[at : at + PAGE_BYTES])
            for at in range(0, RING_POSITION, PAGE_BYTES)
        ]
        newest = max((slot for slot in slots if slot), key=lambda slot: slot.sequence)
        flip(wal, newest.slot_position + 30)
        config = settings(directory, f"headrace.wal.accept.loss={newest.generation_id:016x}")
        async with serving(config) as (client, _):
            for topic in TOPICS:
                assert await client.values(topic=topic) == [
                    b"%s %d" % (topic.encode(), at) for at in range(10)
                ]

    asyncio.run(run())


def test_without_any_superblock_nothing_can_be_accepted(tmp_path: Path) -> None:
    async def run() -> None:
        directory = await crashed(tmp_path)
        wal = directory / "wal"
        for slot in range(0, RING_POSITION, PAGE_BYTES):
            flip(wal, slot + 30)
        image = wal.read_bytes()
        error = await refusal(settings(directory, "headrace.wal.accept.loss=0123456789abcdef"))
        assert "no valid superblock" in str(error)
        assert "accept.loss" not in str(error)
        assert wal.read_bytes() == image

    asyncio.run(run())


def test_a_start_that_dies_after_the_loss_was_accepted_may_be_repeated(tmp_path: Path) -> None:
    """As often as it likes: the log is reset only once everything is in the bucket."""

    async def run() -> None:
        directory = await crashed(tmp_path)
        wal = directory / "wal"
        flip(wal, position_of(wal, b"damaged 4"))
        error = await refusal(settings(directory))
        config = settings(directory, f"headrace.wal.accept.loss={error.generation_id:016x}")
        damaged = wal.read_bytes()
        for _ in range(2):
            # Everything was uploaded and committed, and then the reset was lost.
            async with serving(config) as (client, _):
                pass
            wal.write_bytes(damaged)
        async with serving(config) as (client, _):
            assert await client.values(topic="kept") == [b"kept %d" % at for at in range(10)]
            expected = [b"damaged %d" % at for at in range(4)]
            assert await client.values(topic="damaged") == expected

    asyncio.run(run())


@pytest.mark.parametrize("io", ["aio", "threads", "auto"])
def test_a_file_is_zeroed_to_the_end_by_however_many_starts_it_takes(
    tmp_path: Path, io: str
) -> None:
    """The file system says what is left; where the appends begin they write it themselves."""
    config = WalConfig(path=str(tmp_path / "wal"), capacity_bytes=RING_POSITION + 40 * MIB, io=io)

    rng = random.Random(1)

    def log() -> DeltaWal:
        return DeltaWal(
            config,
            node_id=1,
            node_epoch=1,
            cluster_id="test",
            rng=rng,
            wall_clock_ms=lambda: 0,
            on_confirmed=lambda offset: None,
            on_failed=pytest.fail,
        )

    def left(wal: DeltaWal) -> int:
        ranges = wal.device.unwritten(RING_POSITION, config.capacity_bytes)
        return sum(end - begin for begin, end in ranges)

    async def run() -> None:
        found = []
        for _ in range(3):
            wal = log()
            await wal.start()
            found.append(left(wal))
            bodies = [bytes(record.body) async for record in wal.recover()]
            assert bodies == [b"x" * 100] * min(len(found) - 1, 1)
            await wal.reset()
            wal.append(b"", b"x" * 100)
            target = 0 if len(found) == 3 else found[-1] - 12 * MIB
            async with asyncio.timeout(30):
                while left(wal) > max(target, 9 * MIB):
                    await asyncio.sleep(0.005)
            await wal.shutdown()
        assert found[0] == 40 * MIB
        assert found[1] <= 28 * MIB
        assert found[2] <= 17 * MIB

    asyncio.run(run())


def test_a_window_behind_a_gap_is_recovered_in_200_mib_of_memory(tmp_path: Path) -> None:
    def told(what: str) -> list[int]:
        command = [sys.executable, "-m", "tests.integration.recovery_memory"]
        done = subprocess.run(
            [*command, str(tmp_path / "wal"), what],
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        )
        return [int(word) for word in done.stdout.split()]

    records, _ = told("make")
    assert records * 16_000 > 0.95 * WalConfig().max_window_bytes
    found, peak_bytes = told("recover")
    assert found == records
    assert peak_bytes <= 200 * MIB
