"""Spark's Kafka connector for the release that the tests pin, the newest Spark, and the oldest packages beside it."""

import sys
import tomllib
import zlib
from functools import partial
from pathlib import Path

from tests.environment.iceberg import ICEBERG, iceberg_jar
from tests.environment.java import fetch_jars, project
from tests.environment.packages import install_packages
from tests.environment.paths import ROOT, build_once

SPARK_VERSION = "4.0.0"  # the oldest that we support
NEWEST_SPARK_VERSION = "4.3.0"

_CONNECTOR = (
    f"org.apache.spark:spark-sql-kafka-0-10_2.13:{SPARK_VERSION}",
    f"org.apache.spark:spark-token-provider-kafka-0-10_2.13:{SPARK_VERSION}",
    "org.apache.kafka:kafka-clients:3.9.0",
    "org.apache.commons:commons-pool2:2.12.0",
)


def connector_jars() -> Path:
    """Return the directory that holds the connector's jars."""
    return fetch_jars(f"spark-kafka-{SPARK_VERSION}", _CONNECTOR, transitive=False)


def newest_spark() -> Path:
    """Return a directory with pyspark of the newest release, and nothing that it requires."""
    wanted = ["--no-deps", f"pyspark=={NEWEST_SPARK_VERSION}"]
    return build_once(f"pyspark-{NEWEST_SPARK_VERSION}", partial(install_packages, wanted))


def lowest_packages() -> Path:
    """Return a directory with the lowest versions of what the wheel for Spark requires."""
    project = tomllib.loads((ROOT / "pyspark_headrace" / "pyproject.toml").read_text())["project"]
    required = sorted(project["dependencies"])
    chosen = zlib.crc32("\n".join([sys.version, *required]).encode())
    wanted = ["--resolution", "lowest-direct", "--only-binary", ":all:", *required]
    return build_once(f"lowest-{chosen:08x}", partial(install_packages, wanted))


def write_repository(directory: Path) -> None:
    """Write a local Maven repository with the connector and Iceberg: Spark resolves them there, without a network."""
    jars = {it: connector_jars() for it in _CONNECTOR} | {ICEBERG: iceberg_jar().parent}
    for own, place_of_jar in jars.items():
        group, artifact, version = own.split(":")
        place = directory / group.replace(".", "/") / artifact / version
        place.mkdir(parents=True)
        name = f"{artifact}-{version}"
        (place / f"{name}.jar").symlink_to(place_of_jar / f"{name}.jar")
        required = _CONNECTOR[1:] if own == _CONNECTOR[0] else ()
        (place / f"{name}.pom").write_text(project(own, required))
