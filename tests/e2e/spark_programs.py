"""Jobs of Spark in processes of their own, which a test may kill."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tests.environment.java import java_home
from tests.environment.paths import ROOT
from tests.environment.processes import command_line, processes_with

JOBS = ROOT / "pipeline" / "jobs"
# For JVMs that end soon.
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def environment_of(mark: str, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Variables of a program that runs Spark; the mark tells its processes."""
    return {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "JAVA_HOME": str(java_home()),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "HEADRACE_TEST": mark,
        **(more or {}),
    }


def quick_options(*, ui: bool = False) -> list[str]:
    """Options of spark-submit for short programs."""
    settings = (
        f"spark.ui.enabled={str(ui).lower()}",
        f"spark.driver.extraJavaOptions={QUICK}",
        f"spark.executor.extraJavaOptions={QUICK}",
    )
    return [it for setting in settings for it in ("--conf", setting)]


def processes_of(mark: str) -> dict[int, str]:
    """Command lines of the processes that have a mark, by process id."""
    return {it: command_line(it) for it in processes_with(f"HEADRACE_TEST={mark}")}


def kill_all(mark: str) -> None:
    """Kill the processes that have a mark, all at once, and wait until they are gone."""
    deadline = time.monotonic() + 20
    while found := processes_of(mark):
        assert time.monotonic() < deadline, found
        for process in found:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.02)


def run_until(
    command: Sequence[str | Path],
    mark: str,
    is_due: Callable[[], bool],
    *,
    more: Mapping[str, str] | None = None,
    within_s: float = 90,
    delay_s: float = 0.0,
) -> bool:
    """Start a program and kill all of it once `is_due`, and some seconds later; returns whether it was killed."""
    with subprocess.Popen(
        [str(it) for it in command],
        env=environment_of(mark, more),
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        deadline = time.monotonic() + within_s
        while process.poll() is None and not is_due():
            assert time.monotonic() < deadline, "it does not begin"
            time.sleep(0.02)
        with suppress(subprocess.TimeoutExpired):
            process.wait(delay_s)
        was_running = process.poll() is None
        kill_all(mark)
    return was_running


def some_delay_s(rng: random.Random) -> float:
    """When a program is killed, behind its first sign of work."""
    return rng.choice([0.0, rng.uniform(0, 0.4), rng.uniform(0, 2.5)])
