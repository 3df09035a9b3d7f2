"""One node under steady work for long, and whether anything in it grows: `python -m tests.cluster.soak --minutes 60`.

Everything that comes and goes does so all the time: records that retention deletes, objects that are merged and
deleted, topics made and deleted, groups that commit, are deleted or expire, connections with a client id of their own,
some cut off in the middle of a request. Intervals are short, so that every bound is reached within minutes. A sample
is taken every few seconds; `soak_table` judges them. Exit code 1 when something grows.
"""

import argparse
import contextlib
import json
import os
import shutil
import socket
import struct
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.cluster.soak_table import Sample, judge, table
from tests.e2e.broker_process import HeadraceProcess

STEADY = "steady"
PARTITIONS = 4
COMMITTED_PARTITIONS = 50
RECORD_BYTES = 2_000
RECORDS_PER_S = 200
PAUSE_S = 1.0
SETTINGS = {
    "s3.wal.path": "0@file://{data}/wal?capacity=67108864",
    "s3.wal.cache.size": "33554432",
    "s3.wal.upload.threshold": "8388608",
    "s3.wal.upload.interval.ms": "5000",
    "s3.block.cache.size": "16777216",
    "s3.stream.set.object.compaction.interval.minutes": "1",
    "s3.object.delete.retention.minutes": "1",
    "log.retention.check.interval.ms": "5000",
    "headrace.checkpoint.interval.bytes": "1048576",
    "headrace.bucket.sweep.interval.minutes": "2",
    "metadata.log.max.record.bytes.between.snapshots": "262144",
    "headrace.metadata.snapshot.publish.interval.ms": "10000",
    "offsets.retention.minutes": "1",
    "offsets.retention.check.interval.ms": "5000",
    "offsets.topic.num.partitions": "4",
    "producer.id.expiration.ms": "60000",
    "max.incremental.fetch.session.cache.slots": "100",
    "group.initial.rebalance.delay.ms": "100",
    "headrace.log.format": "json",
}
QUIET = {"log_level": 0, "socket.timeout.ms": 20_000}


class Work:
    """Threads that each do one kind of work again and again."""

    def __init__(self, bootstrap: str) -> None:
        self.done: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self._client = {**QUIET, "bootstrap.servers": bootstrap}
        self._bootstrap = bootstrap
        self._stopping = threading.Event()
        self._admin = AdminClient(self._client)
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Create the topics and begin."""
        short = {"retention.ms": "30000", "segment.ms": "10000"}
        topics = [
            NewTopic(STEADY, PARTITIONS, config=short),
            NewTopic("committed", COMMITTED_PARTITIONS),
        ]
        for outcome in self._admin.create_topics(topics).values():
            outcome.result(30)
        works: list[tuple[Callable[[], None], int]] = [
            (self._produce, 1),
            (self._consume, 2),
            (self._commit, 1),
            (self._passing_group, 1),
            (self._passing_topic, 1),
            (self._passing_connection, 1),
            (self._read_from_the_beginning, 1),
        ]
        for work, count in works:
            for _ in range(count):
                thread = threading.Thread(target=self._again, args=(work,), daemon=True)
                thread.start()
                self._threads.append(thread)

    def stop(self) -> None:
        """End all of it."""
        self._stopping.set()
        for thread in self._threads:
            thread.join(60)

    def _again(self, work: Callable[[], None]) -> None:
        name = work.__name__.strip("_")
        while not self._stopping.is_set():
            try:
                work()
                self.done[name] += 1
            except (KafkaException, OSError) as error:
                self.failed[f"{name}: {error!r:.100}"] += 1
                self._stopping.wait(PAUSE_S)

    def _produce(self) -> None:
        """One idempotent producer for a minute: each has an id of its own."""
        producer = Producer({**self._client, "enable.idempotence": True, "linger.ms": 20})
        until = time.monotonic() + 60
        while time.monotonic() < until and not self._stopping.wait(0.1):
            for number in range(RECORDS_PER_S // 10):
                producer.produce(STEADY, os.urandom(RECORD_BYTES), partition=number % PARTITIONS)
            self.done["records"] += RECORDS_PER_S // 10
            producer.poll(0)
        producer.flush(30)

    def _consume(self) -> None:
        """One member of a group for half a minute."""
        consumer = Consumer(
            {**self._client, "group.id": "steady", "auto.offset.reset": "earliest"}
            | {"auto.commit.interval.ms": 500, "client.id": f"member-{time.time_ns()}"}
        )
        consumer.subscribe([STEADY])
        until = time.monotonic() + 30
        while time.monotonic() < until and not self._stopping.is_set():
            messages = consumer.consume(500, 0.2)
            self.done["consumed"] += len(messages)
        consumer.close()

    def _commit(self) -> None:
        """One client that commits for ever: what `__consumer_offsets` has to give up."""
        consumer = Consumer({**self._client, "group.id": "commits", "enable.auto.commit": False})
        offset = 0
        while not self._stopping.wait(0.02):
            offset += 1
            where = [TopicPartition("committed", it, offset) for it in range(COMMITTED_PARTITIONS)]
            consumer.commit(offsets=where, asynchronous=False)
            self.done["commits"] += COMMITTED_PARTITIONS
        consumer.close()

    def _passing_group(self) -> None:
        """A group of its own name, which is deleted, or forgotten and expires."""
        name = f"passing-{time.time_ns()}"
        consumer = Consumer(
            {**self._client, "group.id": name, "enable.auto.commit": False, "client.id": name}
        )
        where = [TopicPartition("committed", it, 1, metadata="x" * 50) for it in range(10)]
        consumer.commit(offsets=where, asynchronous=False)
        consumer.close()
        if self.done["passing_group"] % 2:
            for outcome in self._admin.delete_consumer_groups([name]).values():
                outcome.result(30)
        self._stopping.wait(PAUSE_S)

    def _passing_topic(self) -> None:
        """A topic of its own name with some records and committed offsets, then deleted."""
        name = f"passing-{time.time_ns()}"
        for outcome in self._admin.create_topics([NewTopic(name, 4)]).values():
            outcome.result(30)
        producer = Producer({**self._client, "client.id": name})
        for number in range(40):
            producer.produce(name, os.urandom(500), partition=number % 4)
        producer.flush(30)
        for outcome in self._admin.delete_topics([name]).values():
            outcome.result(30)
        self._stopping.wait(2 * PAUSE_S)

    def _passing_connection(self) -> None:
        """Connections that say little: some cut off in the middle, some with a client id of their own."""
        host, port = self._bootstrap.rsplit(":", 1)
        for number in range(10):
            with socket.create_connection((host, int(port)), 10) as connection:
                client = f"passing-{time.time_ns()}".encode()
                request = struct.pack(">hhih", 18, 0, 1, len(client)) + client
                frame = struct.pack(">i", len(request)) + request
                if number % 3 == 0:
                    connection.sendall(frame[: len(frame) // 2])
                else:
                    connection.sendall(frame)
                    connection.recv(65_536)
        self._stopping.wait(PAUSE_S / 2)

    def _read_from_the_beginning(self) -> None:
        """A reader of what is not in memory any more."""
        consumer = Consumer(
            {**self._client, "group.id": f"cold-{time.time_ns()}", "enable.auto.commit": False}
            | {"auto.offset.reset": "earliest"}
        )
        consumer.assign([TopicPartition(STEADY, it, 0) for it in range(PARTITIONS)])
        until = time.monotonic() + 5
        while time.monotonic() < until and not self._stopping.is_set():
            messages = consumer.consume(500, 0.2)
            self.done["cold_records"] += len(messages)
        consumer.close()
        self._stopping.wait(10 * PAUSE_S)


def take_sample(node: HeadraceProcess, data: Path) -> Sample:
    """Measure the process, its disk and its bucket."""
    process = Path("/proc") / str(node.process.process_id)
    series = node.metrics()
    bucket = _sizes(data / "bucket")
    metadata = _sizes(data / "metadata")
    status = (process / "statm").read_text().split()
    return {
        "memory_mib": int(status[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20,
        "descriptors": sum(1 for _ in (process / "fd").iterdir()),
        "threads": sum(1 for _ in (process / "task").iterdir()),
        "bucket_objects": len(bucket),
        "bucket_mib": sum(bucket.values()) / 2**20,
        "metadata_log_kib": sum(metadata.values()) / 2**10,
        "metadata_files": len(metadata),
        "published_snapshots": sum("meta" in str(path) for path in bucket),
        "wal_mib": series["headrace_wal_used_bytes"] / 2**20,
        "offsets_log_kib": series["headrace_coordinator_log_bytes"] / 2**10,
        "offsets_live_records": series["headrace_coordinator_live_records"],
        "partitions": series["headrace_partitions_open"],
        "connections": series["headrace_connections"],
        "metric_series": len(node.get("/metrics").splitlines()),
        "rewrites": series["headrace_coordinator_rewrites_total"],
        "given_up_mib": series["headrace_coordinator_given_up_bytes_total"] / 2**20,
    }


def _sizes(directory: Path) -> dict[Path, int]:
    found = {}
    for path in directory.rglob("*"):
        with contextlib.suppress(OSError):  # deleted meanwhile
            if path.is_file():
                found[path.relative_to(directory)] = path.stat().st_size
    return found


def main() -> int:
    """Run; return 1 when something grows."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.soak")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--sample-seconds", type=float, default=15)
    options = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="headrace-soak-"))
    data = directory / "data"
    settings = {key: value.format(data=data) for key, value in SETTINGS.items()}
    samples = []
    with HeadraceProcess(directory, overrides=settings) as node:
        work = Work(node.bootstrap)
        work.start()
        begun = time.monotonic()
        while time.monotonic() - begun < 60 * options.minutes:
            time.sleep(options.sample_seconds)
            samples.append(take_sample(node, data))
            rounded = {name: round(value, 1) for name, value in samples[-1].items()}
            print(json.dumps({"s": round(time.monotonic() - begun), **rounded}), flush=True)
        work.stop()
        levels = Counter(
            str(event.get("msg")) for event in node.log_events() if event.get("level") == "ERROR"
        )
    verdicts = judge(samples)
    print(f"{options.minutes:g} minutes, {len(samples)} samples; done: {dict(work.done)}")
    print(f"clients saw: {dict(work.failed)}; errors in the log: {dict(levels)}")
    print(table(verdicts))
    shutil.rmtree(directory)
    return 1 if any(verdict.has_slope for verdict in verdicts) or levels else 0


if __name__ == "__main__":
    sys.exit(main())
