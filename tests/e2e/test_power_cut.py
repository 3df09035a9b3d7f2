"""The disk of a broker's log loses power, or fails: what was acknowledged is there once, in order, unchanged."""

import random
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.e2e.admin_calls import end_offsets
from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.ledger import highest_by_partition
from tests.e2e.test_crash import SETTINGS, TOPIC, CrashTest, start_client
from tests.e2e.wire import WireConnection, batch, produce_request
from tests.environment.fault_disk import EIO, FaultDisk, fault_disk_support

MIB = 1 << 20
DISK_BYTES = 64 * MIB
PARTITIONS = 4
LOAD_BYTES_PER_S = 20 * MIB
WITHIN_S = 30.0
EVER = 0  # for `times`


@pytest.fixture
def disk(component: Callable[[Callable[[], object]], None], tmp_path: Path) -> Iterator[FaultDisk]:
    component(fault_disk_support)
    with FaultDisk(tmp_path / "disk", DISK_BYTES) as faulty:
        yield faulty


@contextmanager
def broker_on(disk: FaultDisk, directory: Path, **overrides: str) -> Iterator[HeadraceProcess]:
    """Run a broker with its log on the fault disk, as a raw device."""
    wal = {"s3.wal.path": f"0@file://{disk.device}?capacity={DISK_BYTES}"}
    broker = HeadraceProcess(directory / "broker", overrides={**SETTINGS, **wal, **overrides})
    broker.start()
    try:
        yield broker
        broker.stop()
    finally:
        disk.heal()
        disk.release()  # the kernel lets no process end before its IO has
        if broker.process.is_running:
            broker.kill()


@contextmanager
def producing(crash: CrashTest) -> Iterator[subprocess.Popen[bytes]]:
    """Run an idempotent producer, which must find everything in order."""
    arguments = (str(PARTITIONS), str(crash.seed), str(crash.acknowledged), str(LOAD_BYTES_PER_S))
    producer = start_client("ledger_producer", crash.broker.bootstrap, TOPIC, *arguments)
    try:
        yield producer
        producer.terminate()
        assert producer.wait(WITHIN_S) == 0, "the producer found a fault, see its output"
    finally:
        if producer.poll() is None:
            producer.kill()
            producer.wait()


def wait_for_growth(ledger: Path, records: int) -> None:
    """Wait until so many more records were acknowledged."""
    wanted = sum(highest_by_partition(ledger).values()) + records
    deadline = time.monotonic() + WITHIN_S
    while sum(highest_by_partition(ledger).values()) < wanted:
        assert time.monotonic() < deadline, "the producer does not get on"
        time.sleep(0.05)


def test_power_cuts_under_a_broker_lose_nothing(
    disk: FaultDisk, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """An idempotent producer goes on through two power cuts."""
    seed = request.config.getoption("--power-cut-seed") or random.SystemRandom().randrange(2**32)
    print(f"--power-cut-seed {seed}")
    with broker_on(disk, tmp_path, **{"s3.wal.upload.interval.ms": "60000"}) as broker:
        crash = CrashTest(tmp_path, seed)
        crash.broker = broker
        admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
        admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])[TOPIC].result(30)
        end_offsets(broker.bootstrap, TOPIC, PARTITIONS)
        with producing(crash) as producer:
            for _ in range(2):
                wait_for_growth(crash.acknowledged, crash.rng.randrange(100, 600))
                disk.cut(survive=crash.rng.random(), seed=crash.rng.getrandbits(32))
                broker.kill()
                disk.heal()
                assert producer.poll() is None, "the producer found a fault, see its output"
                broker.start()
                crash.check_ends()
            wait_for_growth(crash.acknowledged, 100)
        records = crash.check_everything()
    taken = [event["take"] for event in broker.log_events() if event["msg"] == "WAL recovered"]
    print(f"{records:,} records, recovered after the starts: {taken}")
    assert any(taken)


@pytest.mark.parametrize("mode", ["aio", "threads", "auto"])
@pytest.mark.parametrize("action", ["error", "hang"])
def test_a_failing_disk_ends_the_broker_with_its_reason(
    mode: str, action: str, disk: FaultDisk, tmp_path: Path
) -> None:
    """The request whose write was under way gets no answer; what was acknowledged is there after the restart."""
    timeout_ms = "1000" if action == "hang" else "30000"
    settings = {"headrace.wal.io.mode": mode, "headrace.wal.io.timeout.ms": timeout_ms}
    with broker_on(disk, tmp_path, **settings) as broker:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
        admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(30)
        end_offsets(broker.bootstrap, TOPIC, 1)
        with WireConnection(broker.bootstrap) as connection:
            assert connection.produce(TOPIC, batch([b"acknowledged"])).error_code == 0
            disk.arm("write", action, times=EVER, errno=EIO)
            connection.send(produce_request(TOPIC, batch([b"unknown"])), 9)
            assert connection.is_closed_by_peer(), "answered, though nobody knows the outcome"
        disk.heal()
        disk.release()
        assert broker.process.wait_for_end(timeout_s=WITHIN_S) == 1
        reason = "Input/output error" if action == "error" else "took more than 1 s"
        (end,) = [e for e in broker.log_events() if "the node has stopped" in str(e["msg"])]
        assert reason in str(end)
        broker.start()
        with WireConnection(broker.bootstrap) as connection:
            assert b"acknowledged" in bytes(connection.fetch(TOPIC, 0).records)
