"""Iceberg's runtime for Spark, which reads what pipelines write."""

from pathlib import Path

from tests.environment.java import fetch_jars

ICEBERG_VERSION = "1.11.0"


def iceberg_jar() -> Path:
    """Return the jar."""
    name = "iceberg-spark-runtime-4.0_2.13"
    coordinate = f"org.apache.iceberg:{name}:{ICEBERG_VERSION}"
    directory = fetch_jars(f"iceberg-{ICEBERG_VERSION}", (coordinate,), transitive=False)
    return directory / f"{name}-{ICEBERG_VERSION}.jar"
