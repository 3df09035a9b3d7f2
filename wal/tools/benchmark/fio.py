"""fio for comparison with the log: the same device, the same size of writes, as many inflight.

Source: fio(1); Debian's package.
"""

import asyncio
import json
import shutil
import subprocess
from collections.abc import Sequence

from headrace.wal.errors import WalError
from headrace.wal.layout import RING_POSITION
from headrace.wal.tools.benchmark.figures import PeerFigures

_GRACE_S = 60.0
_NS_PER_MS = 1e6


class FioError(WalError):
    """fio failed; the message has its output."""


def find_fio() -> str | None:
    """Return the path of fio, if it is installed."""
    return shutil.which("fio")


def fio_command(
    program: str, path: str, *, capacity_bytes: int, request_bytes: int, depth: int, seconds: float
) -> list[str]:
    """Return the command that writes the ring of a log of `capacity_bytes` on `path`, again and again."""
    return [
        program,
        "--name=wal",
        f"--filename={path}",
        "--rw=write",
        f"--offset={RING_POSITION}",  # keeps the superblocks, by which the device is known as the benchmark's
        f"--size={capacity_bytes - RING_POSITION}",
        f"--bs={request_bytes}",
        f"--iodepth={depth}",
        "--ioengine=libaio",
        "--direct=1",
        "--sync=dsync",
        "--time_based",
        f"--runtime={round(seconds * 1000)}ms",
        "--allow_file_create=0",
        "--output-format=json",
    ]


def parse_fio(output: str) -> PeerFigures:
    """Read fio's JSON, which warnings may precede.

    Raises:
        FioError: it is something else.
    """
    try:
        written = json.loads(output[output.index("{") :])["jobs"][0]["write"]
        return PeerFigures(
            bytes_per_second=float(written["bw_bytes"]),
            average_ms=float(written["lat_ns"]["mean"]) / _NS_PER_MS,
        )
    except (ValueError, LookupError, TypeError) as error:
        msg = f"unexpected output of fio: {output[:500]!r}"
        raise FioError(msg) from error


async def run_fio(command: Sequence[str], *, seconds: float) -> PeerFigures:
    """Run fio once.

    Raises:
        FioError: it failed, or did not end in time.
    """
    process = await asyncio.create_subprocess_exec(
        *command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        async with asyncio.timeout(seconds + _GRACE_S):
            output, errors = await process.communicate()
    except TimeoutError as error:
        raise FioError(
            f"fio was to run for {seconds:g} s, and has not ended {_GRACE_S:g} s later"
        ) from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        raise FioError(f"fio failed: {(errors or output).decode(errors='replace').strip()[:500]}")
    return parse_fio(output.decode())
