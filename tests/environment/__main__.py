"""Brings here what the tests need beside Python packages: `python -m tests.environment`."""

import subprocess
import sys
import time
from collections.abc import Callable

from headrace.pipeline.java import NoJavaError
from tests.environment.fio import fio_program
from tests.environment.java import java_home
from tests.environment.kafka import kafka_jars
from tests.environment.kcat import kcat_program
from tests.environment.minio import minio_program
from tests.environment.paths import CACHE, MissingComponentError
from tests.environment.spark import connector_jars

COMPONENTS: tuple[tuple[str, Callable[[], object]], ...] = (
    ("Java 17", java_home),
    ("kcat", kcat_program),
    ("fio", fio_program),
    ("Apache Kafka's jars", kafka_jars),
    ("Spark's Kafka connector", connector_jars),
    ("MinIO (built from source, about three minutes the first time)", minio_program),
)


def main() -> int:
    """Install what is missing; return 1 and print instructions when something cannot be."""
    CACHE.mkdir(exist_ok=True)
    failures = []
    for name, provide in COMPONENTS:
        print(f"setup: {name} ...", file=sys.stderr, flush=True)
        started = time.monotonic()
        try:
            place = provide()
        except (MissingComponentError, NoJavaError, subprocess.CalledProcessError) as error:
            failures.append(f"{name}: {error}")
            continue
        print(f"setup: {place} ({time.monotonic() - started:.1f} s)", file=sys.stderr)
    for failure in failures:
        print(f"setup: missing {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
