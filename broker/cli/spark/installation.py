"""Finds an installation of Spark, and what versions of Spark and Scala it has; nothing of it is started or imported."""

import importlib.util
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from headrace.broker.cli.failures import CommandFailedError

_CORE = re.compile(r"spark-core_(?P<scala>\d+\.\d+)-(?P<version>\d+\.\d+\.\d+.*)\.jar")


class SparkInstallation(NamedTuple):
    """A directory with `bin/spark-submit` and `jars/`."""

    home: Path
    version: str  # of Spark, such as 4.0.0
    scala: str  # the version that its jars are built for, such as 2.13

    @property
    def submit(self) -> Path:
        """The program spark-submit."""
        return self.home / "bin" / "spark-submit"


def find_spark(environment: Mapping[str, str] = os.environ) -> SparkInstallation:
    """Return the Spark of SPARK_HOME, or without it that of the package pyspark beside this program.

    Raises:
        CommandFailedError: there is none, or SPARK_HOME has none.
    """
    given = environment.get("SPARK_HOME")
    if given:
        installation = _installation(Path(given))
        if installation is None:
            raise CommandFailedError(
                f"SPARK_HOME is {given}, and jars/ in it has no spark-core",
                hint="Set it to the directory that has bin/spark-submit and jars/.",
            )
        return installation
    spec = importlib.util.find_spec("pyspark")
    installation = _installation(Path(spec.origin).parent) if spec and spec.origin else None
    if installation is None:
        raise CommandFailedError(
            "there is no Spark: SPARK_HOME is not set, and pyspark is not installed beside headrace",
            hint="Set SPARK_HOME, or install it: pip install 'pyspark>=4.0,<5'.",
        )
    return installation


def _installation(home: Path) -> SparkInstallation | None:
    for jar in sorted((home / "jars").glob("spark-core_*.jar")):
        if found := _CORE.fullmatch(jar.name):
            return SparkInstallation(home, found["version"], found["scala"])
    return None
