"""Someone who has Spark and one of our wheels, and works in a directory with modules that have our folders' names."""

import subprocess
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tests.environment.java import java_home
from tests.environment.processes import command_line, processes_with

MASTER = "local-cluster[2,1,1024]"
_QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # for JVMs that end soon
SETTINGS = (  # of spark-submit
    "--conf",
    "spark.ui.enabled=false",
    "--conf",
    f"spark.driver.extraJavaOptions={_QUICK}",
    "--conf",
    f"spark.executor.extraJavaOptions={_QUICK}",
)
_TIMEOUT_S = 120
_END_S = 15.0  # after which no process of a command may be left


class Stranger:
    """Runs commands with a Python in which the wheel is installed."""

    def __init__(
        self, python: Path, directory: Path, variables: Mapping[str, str] | None = None
    ) -> None:
        self.python = python
        self.directory = directory
        self.spark_home = directory / "spark"
        self._variables = variables or {}
        self.spark_home.mkdir(parents=True)
        (spark,) = python.parents[1].glob("lib/python*/site-packages/pyspark")
        for path in spark.iterdir():  # workers write into it
            (self.spark_home / path.name).symlink_to(path)
        for name in ("config", "storage", "pipeline"):
            (directory / f"{name}.py").write_text("raise SystemExit('a stranger was imported')\n")

    def run(self, command: Sequence[str | Path]) -> subprocess.CompletedProcess[str]:
        """Run a command; no process of it is left."""
        mark = uuid.uuid4().hex
        environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.directory),
            "JAVA_HOME": str(java_home()),
            "PYSPARK_PYTHON": str(self.python),
            "PYTHONPATH": str(self.directory),
            "SPARK_LOCAL_IP": "127.0.0.1",  # as all servers of the tests
            "SPARK_HOME": str(self.spark_home),
            "HEADRACE_TEST": mark,
            **self._variables,
        }
        done = subprocess.run(
            command,
            cwd=self.directory,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=_TIMEOUT_S,
        )
        deadline = time.monotonic() + _END_S
        while left := processes_with(f"HEADRACE_TEST={mark}"):
            assert time.monotonic() < deadline, f"left behind: {[*map(command_line, left)]}"
            time.sleep(0.05)
        return done

    def executors(self) -> list[Path]:
        """Directories of executors that a cluster has had."""
        with suppress(FileNotFoundError):
            return list((self.spark_home / "work").glob("app-*/*"))
        return []
