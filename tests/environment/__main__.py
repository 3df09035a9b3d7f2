"""Brings here what a stage needs beside Python packages: `python -m tests.environment demo|test`.

It needs no Python package itself, so that it can run while these are installed.
"""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from headrace.pipeline.java import NoJavaError
from tests.environment.fio import fio_program
from tests.environment.iceberg import iceberg_aws_jar, iceberg_jar
from tests.environment.java import java_home
from tests.environment.kafka import kafka_jars
from tests.environment.kcat import kcat_program
from tests.environment.message_jars import message_jars
from tests.environment.minio import minio_program
from tests.environment.paths import CACHE, MissingComponentError
from tests.environment.release import last_release
from tests.environment.spark import connector_jars, lowest_packages, newest_spark

Component = tuple[str, Callable[[], object]]

_JAVA: Final = ("Java 17", java_home)
_CONNECTOR: Final = ("Spark's Kafka connector", connector_jars)

# By stage of .ci/setup.sh. Each chain is one component after the other: Debian's packages have one lock, and the jars
# need Java.
CHAINS: Final[Mapping[str, tuple[tuple[Component, ...], ...]]] = {
    "demo": ((_JAVA, _CONNECTOR),),
    "test": (
        (("MinIO (built from source, some minutes the first time)", minio_program),),
        (
            ("the newest Spark", newest_spark),
            ("the oldest packages that the wheel for Spark takes", lowest_packages),
            ("the last release, with the packages that it requires", last_release),
        ),
        (
            _JAVA,
            ("kcat", kcat_program),
            ("fio", fio_program),
            ("Apache Kafka's jars", kafka_jars),
            ("the jars that describe Kafka's messages", message_jars),
            _CONNECTOR,
            ("Iceberg's runtime for Spark", iceberg_jar),
            ("Iceberg's bundle for S3", iceberg_aws_jar),
        ),
    ),
}


def main(stage: str) -> int:
    """Install what is missing; return 1 and print instructions when something cannot be."""
    needed = CHAINS[stage]
    CACHE.mkdir(exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    is_ending = threading.Event()
    with ThreadPoolExecutor(len(needed)) as pool:
        try:
            chains = [pool.submit(_install, chain, is_ending) for chain in needed]
            failures = [failure for chain in chains for failure in chain.result()]
        finally:
            is_ending.set()
    for failure in failures:
        print(f"setup: missing {failure}", file=sys.stderr)
    return 1 if failures else 0


def _install(chain: tuple[Component, ...], is_ending: threading.Event) -> list[str]:
    failures = []
    for name, provide in chain:
        if is_ending.is_set():
            break
        print(f"setup: {name} ...", file=sys.stderr, flush=True)
        started = time.monotonic()
        try:
            place = provide()
        except (MissingComponentError, NoJavaError, subprocess.CalledProcessError) as error:
            failures.append(f"{name}: {error}")
            continue
        print(f"setup: {place} ({time.monotonic() - started:.1f} s)", file=sys.stderr, flush=True)
    return failures


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
