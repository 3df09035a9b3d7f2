"""A run of the benchmark on a machine that has something else to do."""

import asyncio
from pathlib import Path

import pytest

from headrace.config.node import WalConfig
from headrace.wal.tools.benchmark import session as benchmark
from headrace.wal.tools.benchmark.figures import Load
from headrace.wal.tools.benchmark.load import LoadDriver
from headrace.wal.tools.benchmark.session import Plan, Session

MIB = 1024 * 1024


def test_a_run_goes_on_until_something_was_confirmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The load begins when the run is long over."""
    began = LoadDriver.begin

    def late(driver: LoadDriver) -> None:
        asyncio.get_running_loop().call_later(0.3, began, driver)

    monkeypatch.setattr(LoadDriver, "begin", late)
    monkeypatch.setattr(benchmark, "_WARM_UP_S", 0.0)
    monkeypatch.setattr(benchmark, "_LOOK_AGAIN_S", 0.001)
    config = WalConfig(path=str(tmp_path / "wal"), capacity_bytes=16 * MIB)
    session = Session(config, Plan((), seconds=0.01, runs=1, fio=None))
    figures, _ = asyncio.run(session.run(Load(4096, 0)))
    assert figures.iops > 0
