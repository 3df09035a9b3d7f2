"""`headrace.testing`: brokers in the process of a test, as another project's tests would use them."""

import asyncio
import logging
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from kafka import KafkaConsumer, KafkaProducer
from kafka.errors import KafkaTimeoutError

from headrace.config.problems import ConfigError
from headrace.testing import Broker, BrokerFailedError, Cluster


def produce(bootstrap: str, *values: bytes) -> None:
    producer = KafkaProducer(bootstrap_servers=bootstrap)
    sent = [producer.send("events", value) for value in values]
    for it in sent:
        it.get(timeout=30)
    producer.close()


def consume(bootstrap: str, count: int) -> list[bytes]:
    consumer = KafkaConsumer(
        "events",
        bootstrap_servers=bootstrap,
        auto_offset_reset="earliest",
        consumer_timeout_ms=30_000,
    )
    values = [record.value for _, record in zip(range(count), consumer, strict=False)]
    consumer.close()
    return values


def end_by_itself(cluster: Cluster, node_id: int) -> None:
    async def end() -> None:
        task = cluster._nodes[node_id]._task
        task.cancel()
        await asyncio.wait((task,))

    cluster._thread.run(end(), 10)


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """No thread, no directory and no message outlive a test."""
    monkeypatch.setattr("headrace.testing.cluster.MEMORY", tmp_path)
    threads = {*threading.enumerate()}
    yield
    left = [
        it.name
        for it in threading.enumerate()
        if it not in threads and it.name == "headrace.testing"
    ]
    assert (left, [*tmp_path.iterdir()]) == ([], [])


def test_a_broker_serves_clients() -> None:
    with Broker() as broker:
        produce(broker.bootstrap, b"one", b"two")
        assert consume(broker.bootstrap, 2) == [b"one", b"two"]


@pytest.mark.parametrize("free", [0, 95 << 20])
def test_a_memory_without_room_is_left_alone(
    free: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a container /dev/shm has 64 MiB, and a WAL is allocated whole."""
    temporary = tmp_path.parent / f"{tmp_path.name}-temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: SimpleNamespace(free=free))
    with Broker() as broker:
        produce(broker.bootstrap, b"one")
        assert [*tmp_path.iterdir()] == []
    assert [*temporary.iterdir()] == []


def test_brokers_of_a_cluster_stop_and_start_and_keep_what_they_were_given() -> None:
    with Cluster(2) as cluster:
        both = cluster.bootstrap
        produce(both, b"0")
        for number, node_id in enumerate(cluster.node_ids, 1):
            cluster.stop(node_id)
            cluster.stop(node_id)
            produce(cluster.bootstrap, f"{number}".encode())
            cluster.start(node_id)
            cluster.start(node_id)
        assert sorted(cluster.bootstrap.split(",")) == sorted(both.split(","))
        for node_id in cluster.node_ids:
            cluster.stop(node_id)
        assert cluster.bootstrap == ""
        for node_id in cluster.node_ids:
            cluster.start(node_id)
        assert consume(cluster.bootstrap, 3) == [b"0", b"1", b"2"]


def test_settings_are_those_of_a_broker() -> None:
    with Broker(settings={"auto.create.topics.enable": "false"}) as broker:
        producer = KafkaProducer(bootstrap_servers=broker.bootstrap, max_block_ms=300)
        with pytest.raises(KafkaTimeoutError):
            producer.send("events", b"x").get(timeout=5)
        producer.close()
    with pytest.raises(ConfigError, match=r"message\.max\.bytes"):
        Broker(settings={"message.max.bytes": "many"})


def test_a_broker_that_does_not_start_says_why() -> None:
    missing = "0@file:///proc/no-such-directory/wal?capacity=67108864"
    with pytest.raises(BrokerFailedError, match=r"node 1 has failed: .*no-such-directory"):
        Broker(settings={"s3.wal.path": missing})


@pytest.mark.parametrize("brokers", [0, 101])
def test_a_number_of_brokers_that_makes_no_sense_is_refused(brokers: int) -> None:
    with pytest.raises(ValueError, match="between 1 and 100"):
        Cluster(brokers)


def test_a_broker_that_ended_by_itself_fails_the_test() -> None:
    cluster = Cluster(2)
    end_by_itself(cluster, 1)
    with pytest.raises(BrokerFailedError, match="node 1 has ended"):
        cluster.close()
    cluster.close()


def test_the_error_of_the_test_is_the_one_that_is_raised() -> None:
    def fail(broker: Broker) -> None:
        with broker:
            end_by_itself(broker, 1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail(Broker())


def test_a_process_ends_that_has_closed_nothing() -> None:
    program = "from headrace.testing import Broker; print(Broker()._directory)"
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    directory = Path(ended.stdout.strip())
    assert (directory.name[:9], ended.stderr) == ("headrace-", "")
    assert not directory.exists()


def test_warnings_do_not_go_to_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    propagates = logging.getLogger("headrace").propagate
    with Broker():
        pass
    assert capfd.readouterr().err == ""
    assert logging.getLogger("headrace").propagate == propagates
