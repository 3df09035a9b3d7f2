"""`headrace wal bench` on real files and devices."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from headrace.config.node import WalConfig
from headrace.wal.tools.benchmark.figures import Load, Row
from headrace.wal.tools.benchmark.session import Plan, Session
from tests.environment.fio import fio_program
from tests.environment.loop_device import LoopDevice
from tests.environment.paths import ROOT

Component = Callable[[Callable[[], object]], None]

ATTEMPTS = 8
QUICK = ("--seconds", "0.1", "--runs", "1", "--capacity", "64MiB", "--offered", "16MiB")


def bench(
    *arguments: Path | str, cwd: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "headrace.broker", "wal", "bench", *QUICK, *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
        env=environment or None,
    )


def test_what_is_not_blank_is_overwritten_only_by_force(tmp_path: Path) -> None:
    path = tmp_path / "precious"
    path.write_bytes(b"precious" * (64 << 17))
    refused = bench(path)
    assert refused.returncode == 1
    assert "not blank" in refused.stderr
    assert path.read_bytes() == b"precious" * (64 << 17)
    forced = bench(path, "--force", "--no-fio", "--json")
    assert forced.returncode == 0, forced.stderr
    assert path.exists(), "it was there before"
    assert bench(path, "--no-fio").returncode == 0, "what a benchmark leaves may be overwritten"
    rows = json.loads(forced.stdout)
    sizes = [size * 1024 for size in (1, 4, 64, 128, 256, 1024)]
    assert [row["record_bytes"] for row in rows] == sizes * 2
    assert [row["bytes_per_second"] for row in rows] == [16 << 20] * 6 + [0] * 6
    for row in rows:
        ours = row["wal"]
        assert 0 < ours["average_ms"] <= ours["max_ms"]
        assert ours["request_bytes"] >= 4096
        assert ours["depth"] > 0
        assert row["fio"] is None


def test_a_new_file_is_measured_without_fio_and_removed(tmp_path: Path) -> None:
    done = bench(tmp_path / "wal", "--io", "threads", PATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "wal").exists()
    assert "fio is not installed" in done.stderr
    title, *lines = done.stdout.splitlines()
    assert title.split()[:2] == ["record", "offered"]
    assert len(lines) == 12
    assert all(line.split()[-1] == "-" for line in lines)


def test_the_place_is_named_as_for_the_other_commands(tmp_path: Path) -> None:
    path = tmp_path / "wal"
    path.write_bytes(bytes(64 << 20))
    properties = tmp_path / "server.properties"
    properties.write_text(
        f"node.id=1\nprocess.roles=broker\nlisteners=PLAINTEXT://127.0.0.1:0\n"
        f"controller.quorum.voters=2@127.0.0.1:9093\ns3.data.buckets=0@file://{tmp_path}/bucket\n"
        f"s3.wal.path=0@file://{path}?capacity={64 << 20}\n"
    )
    for place in (f"0@file://{path}", "--config"):
        done = bench(*([place, str(properties)] if place == "--config" else [place]), "--no-fio")
        assert done.returncode == 0, done.stderr
        assert len(done.stdout.splitlines()) == 13
    assert {each.name for each in tmp_path.iterdir()} == {"wal", "server.properties"}


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (("0@s3://bucket?region=us-east-1",), 2, "is a WAL in a bucket: there is no device"),
        (("new", "--capacity", "1MiB"), 1, "at least 16777216 (16 MiB) are needed"),
        ((), 2, "Name the WAL"),
    ],
)
def test_what_cannot_be_measured_is_refused_and_leaves_nothing(
    arguments: tuple[str, ...], code: int, reason: str, tmp_path: Path
) -> None:
    done = bench(*arguments, cwd=tmp_path)
    assert done.returncode == code
    assert reason in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_fio_is_asked_for_what_our_run_showed(tmp_path: Path, component: Component) -> None:
    component(fio_program)
    path = tmp_path / "wal"
    config = WalConfig(path=str(path), capacity_bytes=64 << 20)
    plan = Plan((Load(65536, 0), Load(4096, 8 << 20)), seconds=0.2, runs=2, fio=fio_program())

    async def main() -> list[Row]:
        return [row async for row in Session(config, plan).rows()]

    for row in asyncio.run(main()):
        assert row.fio is not None
        assert row.fio.bytes_per_second > 0
        assert row.fio.average_ms > 0
        assert row.throughput_ratio == row.ours.bytes_per_second / row.fio.bytes_per_second


@pytest.mark.alone
@pytest.mark.parametrize(
    ("record_bytes", "max_iops", "max_bandwidth"),
    [(4096, 300, 8 << 20), (262_144, 300, 8 << 20), (4096, 300, 0)],
)
def test_the_devices_own_counters_show_the_budgets(
    record_bytes: int, max_iops: int, max_bandwidth: int, tmp_path: Path, component: Component
) -> None:
    """Flat out, so the superblocks of trims compete with blocks for what is allowed."""
    with ExitStack() as stack:
        devices: list[LoopDevice] = []
        image = LoopDevice(tmp_path / "image", 32 << 20)
        component(lambda: devices.append(stack.enter_context(image)))
        (device,) = devices
        config = WalConfig(
            path=device.path,
            capacity_bytes=32 << 20,
            block_bytes=256 << 10,  # a larger write is charged as several operations
            max_iops=max_iops,
            max_bandwidth_bytes=max_bandwidth,
        )
        # Nothing may exceed a budget, ever. Whether it is used up is for the machine to say as well, which may have
        # something else to do; a budget that holds back too much would never be.
        for _ in range(ATTEMPTS):
            session = Session(config, Plan((), seconds=2.0, runs=1, fio=None))
            _, counted = asyncio.run(session.run(Load(record_bytes, 0), counted=True))
            assert counted is not None
            assert counted.max_writes_per_second <= max_iops
            if not max_bandwidth:
                used = counted.max_writes_per_second / max_iops
            else:
                # What was under way when a second begins is counted in it.
                inflight = config.io_depth * (config.block_bytes + 4096)
                assert counted.max_bytes_per_second <= max_bandwidth + inflight
                used = counted.bytes_per_second / max_bandwidth
            if used >= 0.9:
                return
        pytest.fail(f"only {used:.0%} of the budget in the last of {ATTEMPTS} runs")
