"""Iceberg's runtime for Spark, which reads what pipelines write, and what it needs for S3."""

from pathlib import Path

from tests.environment.java import fetch_jars

ICEBERG_VERSION = "1.11.0"
_RUNTIME = "iceberg-spark-runtime-4.0_2.13"
ICEBERG = f"org.apache.iceberg:{_RUNTIME}:{ICEBERG_VERSION}"


def iceberg_jar() -> Path:
    """Return the jar."""
    directory = fetch_jars(f"iceberg-{ICEBERG_VERSION}", (ICEBERG,), transitive=False)
    return directory / f"{_RUNTIME}-{ICEBERG_VERSION}.jar"


def iceberg_aws_jar() -> Path:
    """Return the jar of `S3FileIO` with all that it needs (61 MB)."""
    name = "iceberg-aws-bundle"
    coordinate = f"org.apache.iceberg:{name}:{ICEBERG_VERSION}"
    directory = fetch_jars(f"iceberg-aws-{ICEBERG_VERSION}", (coordinate,), transitive=False)
    return directory / f"{name}-{ICEBERG_VERSION}.jar"
