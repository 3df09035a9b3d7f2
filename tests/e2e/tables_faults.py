"""How jobs die: at a point of the driver by an exception that nobody catches, or any process of a job by a signal.

`python -m tests.e2e.tables_faults FILE` runs a pipeline in a driver, and says so when its queries start.
"""

import os
import shlex
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from pyiceberg.catalog.sql import SqlCatalog

from headrace.pipeline.session import LOOPBACK, create_session
from headrace.pipeline.tables import micro_batch, queries
from headrace.pipeline.tables.dead_letters import DeadLetterTopic
from headrace.pipeline.tables.reading_configuration import read_configuration
from tests.environment.java import java_home
from tests.environment.paths import ROOT
from tests.environment.processes import command_line, processes_with
from tests.environment.spark import connector_jars

# What is called, and whether it is done before the driver dies.
POINTS: dict[str, tuple[Any, str, bool]] = {
    "before tasks write": (micro_batch, "run_tasks", False),
    "after tasks have written": (micro_batch, "run_tasks", True),
    "after dead letters": (DeadLetterTopic, "write", True),
    "before the catalog knows": (SqlCatalog, "_write_metadata", True),
    "after the commit": (micro_batch, "commit_batch", True),
}
RUNNING = "running\n"
Patch = Callable[[Any, str, Any], None]


class DiedError(Exception):
    """The driver has died; no code of it tidies up."""


def arm(point: str, patch: Patch, die: Callable[[], None]) -> None:
    """Die at a point, each time."""
    owner, name, is_done = POINTS[point]
    call = getattr(owner, name)

    def dying(*arguments: Any, **named: Any) -> Any:
        if is_done:
            call(*arguments, **named)
        die()

    patch(owner, name, staticmethod(dying) if name == "_write_metadata" else dying)


class Job:
    """A pipeline in processes of its own: the driver, its JVM, and Python workers whose tasks are tried four times.

    Temporary files of all of them are in a directory that is given.
    """

    def __init__(self, file: Path, temporary: Path) -> None:
        self._mark = f"HEADRACE_TEST={uuid.uuid4().hex}"
        self.temporary = temporary
        temporary.mkdir()
        quick = f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Djava.io.tmpdir={temporary}"
        settings = {
            "spark.driver.host": LOOPBACK,
            "spark.driver.bindAddress": LOOPBACK,
            "spark.local.dir": str(temporary),
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
        }
        submit = ["--master", "local[1,4]", "--driver-java-options", quick]
        submit += ["--jars", ",".join(str(it) for it in sorted(connector_jars().glob("*.jar")))]
        submit += [it for name, value in settings.items() for it in ("--conf", f"{name}={value}")]
        name, _, value = self._mark.partition("=")
        environment = {
            **os.environ,
            name: value,
            "JAVA_HOME": str(java_home()),
            "PYSPARK_PYTHON": sys.executable,
            "PYSPARK_SUBMIT_ARGS": shlex.join([*submit, "pyspark-shell"]),
            "SPARK_LOCAL_IP": LOOPBACK,
            "TMPDIR": str(temporary),
        }
        self._driver = subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.tables_faults", str(file)],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )

    def wait_until_it_runs(self) -> None:
        """Wait for the start of its queries."""
        assert self._driver.stdout is not None
        assert self._driver.stdout.readline() == RUNNING

    @property
    def is_running(self) -> bool:
        """Whether the driver is there."""
        return self._driver.poll() is None

    def kill(self, what: str) -> bool:
        """Kill the driver, its JVM or a Python worker by a signal; return whether there was one."""
        if what == "driver":
            found = [self._driver.pid] if self.is_running else []
        else:
            words = {"jvm": "org.apache.spark.deploy.SparkSubmit", "worker": "pyspark.daemon"}
            found = [it for it in self._processes() if words[what] in command_line(it)]
        if not found:
            return False
        with suppress(ProcessLookupError):
            os.kill(max(found), signal.SIGKILL)  # of workers the newest, not the one that forks
            return True
        return False

    def end(self, timeout_s: float) -> int:
        """Wait until none of its processes is left; return the driver's exit code."""
        code = self._driver.wait(timeout_s)
        deadline = time.monotonic() + timeout_s
        while left := self._processes():
            assert time.monotonic() < deadline, [command_line(it)[:200] for it in left]
            time.sleep(0.02)
        return code

    def _processes(self) -> list[int]:
        """Ids of its processes, by a variable in their environment."""
        return processes_with(self._mark)


def main() -> int:
    """Run the pipeline of a file."""
    path = Path(sys.argv[1])
    config = read_configuration(path.read_text(), source=path.name, stem=path.stem)
    session = create_session("tables")
    print(RUNNING, end="", flush=True)
    stopped = queries.run_pipeline(session, config, lambda: time.time_ns() // 1_000_000)
    print(stopped)
    session.stop()
    return 1 if stopped else 0


if __name__ == "__main__":
    sys.exit(main())
