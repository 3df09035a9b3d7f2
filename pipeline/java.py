"""Chooses a Java for Spark 4.0 and Apache Kafka.

Spark 4.0 runs on Java 17 and 21 and fails on newer ones ("getSubject is not supported"), while the
machine's default may be newer. So the version of each installed Java is checked.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

SUPPORTED_VERSIONS = (17, 21)  # best first
JVM_DIRECTORIES = (
    Path("/usr/lib/jvm"),
    Path("/opt/java"),
    Path("/Library/Java/JavaVirtualMachines"),
)


class NoJavaError(Exception):
    """No suitable Java is installed; the message says what was found and what to install."""


def find_java_home() -> Path:
    """Return the home directory of an installed Java 17 or 21, in this order.

    Raises:
        NoJavaError: neither is installed.
    """
    found = {home: _java_version(home) for home in _candidate_homes()}
    for wanted in SUPPORTED_VERSIONS:
        for home, version in found.items():
            if version == wanted:
                return home
    others = ", ".join(f"{version} in {home}" for home, version in found.items() if version)
    msg = (
        f"Spark needs Java 17 or 21 ({f'found only Java {others}' if others else 'found no Java'}); "
        "on Debian:  sudo apt-get install -y openjdk-17-jre-headless"
    )
    raise NoJavaError(msg)


def _candidate_homes() -> Iterator[Path]:
    seen = set()
    for home in _named_homes():
        resolved = home.resolve()
        if resolved not in seen and (resolved / "bin" / "java").exists():
            seen.add(resolved)
            yield resolved


def _named_homes() -> Iterator[Path]:
    if "JAVA_HOME" in os.environ:
        yield Path(os.environ["JAVA_HOME"])
    for directory in JVM_DIRECTORIES:
        if directory.is_dir():
            for entry in sorted(directory.iterdir()):
                yield entry
                yield entry / "Contents" / "Home"
    java = shutil.which("java")
    if java:
        yield Path(java).resolve().parents[1]


def _java_version(home: Path) -> int | None:
    """Return the feature version (17 for 17.0.15), or None when this Java does not run."""
    try:
        ran = subprocess.run(
            [home / "bin" / "java", "-version"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(\d+)', ran.stderr)
    return int(match[1]) if match else None
