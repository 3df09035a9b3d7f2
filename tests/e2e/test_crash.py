"""SIGKILL under load, again and again: what was acknowledged is there once, in order, unchanged.

An idempotent producer and a committing consumer run in processes of their own for the whole test and
write down what the broker acknowledged (`tests.e2e.ledger`). The WAL's ring and the upload threshold
are so small that the ring wraps, uploads and trims go on all the time, and a kill can meet any of them.
"""

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.e2e.admin_calls import committed_offsets, end_offsets
from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.ledger import Values, highest_by_partition
from tests.environment.paths import ROOT

MIB = 1 << 20
RING_BYTES = 64 * MIB
SETTINGS = {
    "s3.wal.upload.threshold": str(8 * MIB),
    "s3.wal.upload.interval.ms": "1000",
    "s3.wal.cache.size": str(64 * MIB),
    "s3.block.cache.size": str(32 * MIB),
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "3",
}
TOPIC = "crash"
GROUP = "crash"
PARTITIONS = 4
LOAD_BYTES_PER_S = 40 * MIB
LOAD_WITHIN_S = 30  # for one round's share of the load
# In one of so many rounds the broker is killed while it starts, too.
STARTS_KILLED_ONE_IN = 5


class CrashTest:
    """One broker that is killed, and what is known about it from outside."""

    def __init__(self, directory: Path, seed: int) -> None:
        self.seed = seed
        self.rng = random.Random(seed)
        self.seen: Counter[str] = Counter()
        self.acknowledged = directory / "acknowledged"
        self.tried = directory / "tried"
        self.committed = directory / "committed"
        wal = f"0@file://{directory}/broker/data/wal?capacity={RING_BYTES}"
        self.broker = HeadraceProcess(
            directory / "broker", overrides={**SETTINGS, "s3.wal.path": wal}
        )

    @contextmanager
    def load(
        self, bytes_per_s: int = LOAD_BYTES_PER_S
    ) -> Iterator[tuple[subprocess.Popen[bytes], subprocess.Popen[bytes]]]:
        """Run producer and consumer for the length of the block."""
        bootstrap, seed = self.broker.bootstrap, str(self.seed)
        produced = (str(PARTITIONS), seed, str(self.acknowledged), str(bytes_per_s))
        consumed = (GROUP, seed, str(self.tried), str(self.committed))
        producer = start_client("ledger_producer", bootstrap, TOPIC, *produced)
        consumer = start_client("ledger_consumer", bootstrap, TOPIC, *consumed)
        try:
            yield producer, consumer
        finally:
            for process in (producer, consumer):
                if process.poll() is None:
                    process.kill()
                process.wait()

    def start(self) -> None:
        """Start the broker, now and then killing it while it starts."""
        while self.rng.randrange(STARTS_KILLED_ONE_IN) == 0:
            self.broker.process.start()
            time.sleep(self.rng.uniform(0.05, 0.8))
            self.broker.kill()
            self.seen["kills while starting"] += 1
        events_before = len(self.broker.log_events())
        started = time.monotonic()
        self.broker.start()
        self.seen["start ms"] += int(1000 * (time.monotonic() - started))
        for event in self.broker.log_events()[events_before:]:
            if event["msg"] == "WAL recovered" and event["take"]:
                self.seen["recoveries with records"] += 1

    def work_and_kill(self) -> None:
        """Let the load go on for a random amount of bytes, and kill the broker."""
        first = last = self.broker.metrics()
        share = self.rng.randrange(2 * MIB, RING_BYTES + RING_BYTES // 2)
        wanted = first["headrace_wal_next_offset"] + share
        deadline = time.monotonic() + LOAD_WITHIN_S
        while last["headrace_wal_next_offset"] < wanted and time.monotonic() < deadline:
            time.sleep(0.1)
            last = self.broker.metrics()
        time.sleep(self.rng.uniform(0, 0.1))
        self.broker.kill()
        self.count(first, last)

    def count(self, first: dict[str, float], last: dict[str, float]) -> None:
        """Take down what this life of the broker saw."""

        def laps(sample: dict[str, float]) -> int:
            return int(sample["headrace_wal_next_offset"] // sample["headrace_wal_capacity_bytes"])

        self.seen["wraps"] += laps(last) - laps(first)
        self.seen["trims"] += last["headrace_wal_trim_offset"] > first["headrace_wal_trim_offset"]
        self.seen["objects uploaded"] += int(last["headrace_uploaded_objects_total"])
        self.seen["MiB appended"] += int(last["headrace_appends_confirmed_bytes_total"] / MIB)

    def check_ends(self) -> None:
        """The log of each partition reaches what was acknowledged."""
        acknowledged = highest_by_partition(self.acknowledged)
        ends = end_offsets(self.broker.bootstrap, TOPIC, PARTITIONS)
        for partition, last in acknowledged.items():
            end = ends[partition]
            assert end > last, f"{partition} ends at {end}, {last} was acknowledged"

    def check_commits(self) -> None:
        """What is committed is what was acknowledged last, or what was tried after it.

        The consumer is stopped meanwhile: it would commit anew, and hide a loss.
        """
        acknowledged = highest_by_partition(self.committed)
        tried = highest_by_partition(self.tried)
        stored = committed_offsets(self.broker.bootstrap, GROUP)
        for partition, offset in acknowledged.items():
            found = stored.get(partition, -1)
            assert offset <= found <= tried[partition], (
                f"{partition}: {found} is committed, {offset} was acknowledged"
            )

    def check_everything(self) -> int:
        """Read all partitions from their beginning to their end, and return the records."""
        values = Values(self.seed)
        settings = {"bootstrap.servers": self.broker.bootstrap, "group.id": "check"}
        consumer = Consumer({**settings, "enable.auto.commit": False, "log_level": 0})
        partitions = [TopicPartition(TOPIC, number, 0) for number in range(PARTITIONS)]
        ends = {p.partition: consumer.get_watermark_offsets(p)[1] for p in partitions}
        acknowledged = highest_by_partition(self.acknowledged)
        assert ends == {partition: last + 1 for partition, last in acknowledged.items()}
        consumer.assign(partitions)
        due = dict.fromkeys(ends, 0)
        while due != ends:
            left = sum(ends.values()) - sum(
                due.values()
            )  # waiting for more takes the whole time-out
            messages = consumer.consume(num_messages=min(500, left), timeout=30)
            assert messages, f"nothing came for 30 s at {due} of {ends}"
            for message in messages:
                assert message.error() is None, message.error()
                partition = message.partition()
                assert message.offset() == due[partition]
                values.check(partition, message.offset(), message.value())
                due[partition] += 1
        consumer.close()
        return sum(ends.values())


def start_client(module: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Start one of the clients."""
    command = [sys.executable, "-m", f"tests.e2e.clients.{module}", *arguments]
    return subprocess.Popen(command, cwd=ROOT, start_new_session=True)


def wait_for_commits(crash: CrashTest) -> None:
    """Wait until the load is under way."""
    deadline = time.monotonic() + LOAD_WITHIN_S
    while len(highest_by_partition(crash.committed)) < PARTITIONS:
        assert time.monotonic() < deadline, "the clients did not get going"
        time.sleep(0.1)


@pytest.mark.timeout(1800)
def test_kills_lose_nothing(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    rounds = request.config.getoption("--crash-rounds")
    seed = request.config.getoption("--crash-seed")
    if seed is None:
        seed = random.SystemRandom().randrange(2**32)
    print(f"--crash-seed {seed}")
    crash = CrashTest(tmp_path, seed)
    crash.broker.start()
    admin = AdminClient({"bootstrap.servers": crash.broker.bootstrap, "log_level": 0})
    admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])[TOPIC].result(30)
    with crash.load() as (producer, consumer):
        wait_for_commits(crash)
        for number in range(rounds):
            crash.work_and_kill()
            assert producer.poll() is None, "the producer found a fault, see its output"
            assert consumer.poll() is None, "the consumer found a fault, see its output"
            consumer.send_signal(signal.SIGSTOP)
            crash.start()
            crash.check_ends()
            crash.check_commits()
            consumer.send_signal(signal.SIGCONT)
            print(f"round {number + 1} of {rounds}: {dict(crash.seen)}", flush=True)
        producer.terminate()
        assert producer.wait(120) == 0, "the producer found a fault, see its output"
        consumer.terminate()
        assert consumer.wait(60) == 0, "the consumer found a fault, see its output"
    crash.broker.restart()  # so that all of it comes from the bucket
    records = crash.check_everything()
    crash.check_commits()
    crash.broker.stop()
    print(f"{records:,} records, {dict(crash.seen)}")
    if rounds >= 10:
        assert crash.seen["wraps"] >= rounds // 4
        assert crash.seen["trims"] >= rounds // 2
        assert crash.seen["objects uploaded"] >= rounds
        assert crash.seen["recoveries with records"] >= rounds // 2
