"""Clients that watch one partition while it moves: when each record was acknowledged, and when it came.

`python -m bench.move_clients BOOTSTRAP TOPIC PARTITIONS FILE` is a consumer at the end; it writes a line for each batch
of records: time in ns, number of records. The producer is a thread of the benchmark.
"""

import json
import sys
import threading
import time
from array import array
from bisect import bisect_left, bisect_right
from pathlib import Path
from typing import Any, Final

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    Message,
    Producer,
    TopicPartition,
)

from bench.values import values
from tests.environment.paths import ROOT
from tests.environment.processes import ServerProcess

RECORD_BYTES: Final = 10_000
QUEUE_BYTES: Final = 64 << 20
POLL_S: Final = 0.005
FLUSH_S: Final = 60
BATCH_RECORDS: Final = 500


class Times:
    """Moments in nanoseconds, in their order."""

    def __init__(self) -> None:
        self._ns = array("q")

    def add(self, now_ns: int) -> None:
        """Add the newest."""
        self._ns.append(now_ns)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._ns)

    def longest_gap_ms(self, start_ns: int, end_ns: int) -> float:
        """Return the longest time without a moment that has a part in start..end.

        Raises:
            ValueError: there is no moment before it, or none after it.
        """
        first, last = bisect_left(self._ns, start_ns) - 1, bisect_right(self._ns, end_ns)
        if first < 0 or last >= len(self._ns):
            raise ValueError("the moments do not enclose the time that was asked for")
        around = self._ns[first : last + 1]
        return max(after - it for it, after in zip(around, around[1:], strict=False)) / 1e6


class SteadyProducer:
    """An idempotent producer of so many MB/s to all partitions of a topic in turn."""

    def __init__(self, bootstrap: str, topic: str, partitions: int, mb_per_s: float) -> None:
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "linger.ms": 5,
                "batch.size": 262_144,
                "queue.buffering.max.kbytes": QUEUE_BYTES >> 10,
                "error_cb": self._on_error,
                "log_level": 0,
            }
        )
        self._topic = topic
        self.record_bytes = RECORD_BYTES
        self._rate = mb_per_s * 1e6 / RECORD_BYTES
        self.acknowledged = [Times() for _ in range(partitions)]
        self.failed: list[str] = []  # records that were refused for good
        self.errors: list[str] = []  # that the client told, and went on after
        self.sent = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name="producer", daemon=True)

    def __enter__(self) -> "SteadyProducer":
        """Begin."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Send what is left, and end."""
        self._done.set()
        self._thread.join()
        left = self._producer.flush(FLUSH_S)
        if left:
            self.failed.append(f"{left} records without an answer")

    def _run(self) -> None:
        made = values(RECORD_BYTES)
        value = next(made)
        begin_s = time.monotonic()
        while not self._done.is_set():
            due = int((time.monotonic() - begin_s) * self._rate)
            while self.sent < due:
                try:
                    self._producer.produce(
                        self._topic,
                        value,
                        partition=self.sent % len(self.acknowledged),
                        on_delivery=self._on_delivery,
                    )
                except BufferError:
                    break
                self.sent += 1
                value = next(made)
            self._producer.poll(POLL_S)

    def _on_delivery(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.failed.append(str(error))
            return
        partition: Any = message.partition()
        self.acknowledged[partition].add(time.monotonic_ns())

    def _on_error(self, error: KafkaError) -> None:
        self.errors.append(str(error))


class EndConsumer:
    """A process that consumes a topic from its end."""

    def __init__(self, bootstrap: str, topic: str, partitions: int, directory: Path) -> None:
        self._lines = directory / "consumed.txt"
        self._lines.touch()
        program = [sys.executable, "-m", "bench.move_clients"]
        command = [*program, bootstrap, topic, str(partitions), self._lines]
        self._process = ServerProcess(command, log=directory / "consumer.log", directory=ROOT)

    def __enter__(self) -> "EndConsumer":
        """Start it."""
        self._process.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it, if it runs."""
        if self._process.is_running:
            self._process.kill()

    def wait_for_records(self, *, within_s: float = 60) -> None:
        """Wait for its first records."""
        self._process.wait_until(
            lambda: self._lines.stat().st_size > 0, "records", timeout_s=within_s
        )

    def stop(self) -> tuple[Times, int, list[str]]:
        """Stop it; return when records came, how many, and the errors that it was told."""
        self._process.terminate()
        times, count, errors = Times(), 0, []
        for line in self._lines.read_text().splitlines():
            found = json.loads(line)
            if isinstance(found, str):
                errors.append(found)
                continue
            times.add(found[0])
            count += found[1]
        return times, count, errors


def consume(bootstrap: str, topic: str, partitions: int, path: Path) -> None:
    """Run until SIGTERM."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": topic,
            "enable.auto.commit": False,
            "fetch.queue.backoff.ms": 1,
            "log_level": 0,
        }
    )
    consumer.assign(
        [TopicPartition(topic, number, OFFSET_BEGINNING) for number in range(partitions)]
    )
    with path.open("a", buffering=1) as lines:
        while True:
            messages = consumer.consume(BATCH_RECORDS, POLL_S)
            for it in messages:
                if it.error():
                    lines.write(json.dumps(str(it.error())) + "\n")
            count = sum(not it.error() for it in messages)
            if count:
                lines.write(json.dumps([time.monotonic_ns(), count]) + "\n")


if __name__ == "__main__":
    consume(sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))
