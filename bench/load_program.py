"""Builds and runs `load.c`, the librdkafka client that is the load."""

import json
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SOURCE = Path(__file__).with_name("load.c")
BINARY = SOURCE.parent.parent / ".cache" / "bench" / "load"


class LoadUnavailableError(Exception):
    """The load program cannot be built here; the message says what to install."""


def build() -> Path:
    """Compile `load.c` unless the binary is newer.

    Raises:
        LoadUnavailableError: no compiler, or no librdkafka headers.
    """
    if BINARY.exists() and BINARY.stat().st_mtime > SOURCE.stat().st_mtime:
        return BINARY
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise LoadUnavailableError("no C compiler: apt-get install gcc librdkafka-dev")
    BINARY.parent.mkdir(parents=True, exist_ok=True)
    built = subprocess.run(
        [compiler, "-O2", "-o", str(BINARY), str(SOURCE), "-lrdkafka"],
        capture_output=True,
        text=True,
        check=False,
    )
    if built.returncode != 0:
        raise LoadUnavailableError(
            f"load.c does not build: apt-get install gcc librdkafka-dev\n{built.stderr}"
        )
    return BINARY


def produce(
    bootstrap: str,
    topic: str,
    *,
    records: int,
    record_bytes: int,
    batch_bytes: int,
    linger_ms: float,
    rate: float = 0,
    settings: tuple[str, ...] = (),
) -> dict[str, float]:
    """Run one producer; add `requests`, the number of Produce requests that it sent."""
    with tempfile.TemporaryDirectory() as directory:
        statistics = Path(directory) / "statistics.json"
        result = _run(
            "produce", bootstrap, topic, str(records), str(record_bytes), str(batch_bytes),
            str(linger_ms), str(rate), str(statistics), *settings,
        )  # fmt: skip
        brokers = json.loads(statistics.read_text())["brokers"].values()
    result["requests"] = sum(broker.get("req", {}).get("Produce", 0) for broker in brokers)
    return result


@contextmanager
def producing(
    bootstrap: str,
    topic: str,
    *,
    mb_per_s: float,
    record_bytes: int,
    batch_bytes: int,
    linger_ms: float,
    chunk_s: float,
) -> Iterator[None]:
    """Produce meanwhile, by one producer of `chunk_s` seconds after the other; the last one is waited for."""
    done = threading.Event()
    rate = mb_per_s * 1e6 / record_bytes

    def run_load() -> None:
        while not done.is_set():
            produce(
                bootstrap, topic, records=int(rate * chunk_s), record_bytes=record_bytes,
                batch_bytes=batch_bytes, linger_ms=linger_ms, rate=rate,
            )  # fmt: skip

    thread = threading.Thread(target=run_load, name="beside")
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def consume(
    bootstrap: str, topic: str, *, records: int, partitions: int, settings: tuple[str, ...] = ()
) -> dict[str, float]:
    """Run one consumer of every partition from its beginning."""
    return _run("consume", bootstrap, topic, str(records), str(partitions), *settings)


def _run(*arguments: str) -> dict[str, float]:
    ran = subprocess.run(
        [str(build()), *arguments], capture_output=True, text=True, check=False, timeout=600
    )
    if ran.returncode != 0:
        raise RuntimeError(f"load {' '.join(arguments)} failed: {ran.stderr}")
    found: dict[str, float] = json.loads(ran.stdout)
    return found
