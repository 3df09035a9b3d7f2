"""Spark's Kafka connector, for the Spark release that the tests pin, and the newest Spark."""

import os
import subprocess
import sys
from pathlib import Path

from tests.environment.downloads import run_download
from tests.environment.iceberg import ICEBERG, iceberg_jar
from tests.environment.java import fetch_jars, project
from tests.environment.paths import build_once

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
    name = f"pyspark-{NEWEST_SPARK_VERSION}"

    def build(directory: Path) -> None:
        command = ["pip", "install", "--quiet", "--no-deps", "--target", str(directory)]
        command += [f"pyspark=={NEWEST_SPARK_VERSION}"]
        # uv takes two thirds of the time; pip has a configuration that uv does not read.
        environment = {**os.environ, "UV_SYSTEM_CERTS": "1"}
        by_uv = [sys.executable, "-m", "uv", *command]
        if subprocess.run(by_uv, env=environment, capture_output=True, check=False).returncode != 0:
            run_download([sys.executable, "-m", *command], environment=os.environ)

    return build_once(name, build)


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
