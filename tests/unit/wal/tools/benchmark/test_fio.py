"""How fio is called and understood."""

import asyncio
import json
import sys

import pytest

from headrace.wal.tools.benchmark.figures import PeerFigures
from headrace.wal.tools.benchmark.fio import FioError, fio_command, parse_fio, run_fio

OUTPUT = json.dumps({"jobs": [{"write": {"bw_bytes": 12_000_000, "lat_ns": {"mean": 250_000.0}}}]})


def test_the_command_writes_durably_with_our_size_and_depth() -> None:
    command = fio_command(
        "fio", "/dev/x", capacity_bytes=1 << 30, request_bytes=45056, depth=3, seconds=2.5
    )
    for argument in (
        "--filename=/dev/x",
        "--rw=write",
        "--direct=1",
        "--sync=dsync",
        "--bs=45056",
        "--iodepth=3",
        "--offset=8192",  # the superblocks stay the benchmark's
        "--size=1073733632",
        "--runtime=2500ms",
        "--ioengine=libaio",
    ):
        assert argument in command


def test_output_is_understood_behind_warnings() -> None:
    assert parse_fio("note: something\n" + OUTPUT) == PeerFigures(12_000_000, 0.25)


@pytest.mark.parametrize(
    "output", ["", "no json", "{}", '{"jobs": []}', '{"jobs": [{"write": 1}]}']
)
def test_other_output_is_shown(output: str) -> None:
    with pytest.raises(FioError, match="unexpected output of fio"):
        parse_fio(output)


def test_a_run_is_read_from_its_output() -> None:
    command = [sys.executable, "-c", f"print({OUTPUT!r})"]
    assert asyncio.run(run_fio(command, seconds=1)) == PeerFigures(12_000_000, 0.25)


def test_a_failure_carries_what_fio_said() -> None:
    command = [sys.executable, "-c", "import sys; sys.exit('bad file')"]
    with pytest.raises(FioError, match="bad file"):
        asyncio.run(run_fio(command, seconds=1))
