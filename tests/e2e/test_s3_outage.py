"""A broker whose bucket goes away for a while, or is away when it starts: it stays, says so, and goes on."""

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from headrace.metadata.offline.directory import read_offline
from tests.e2e.broker_process import HeadraceProcess
from tests.integration.independent_bucket import committed_in, contents_of, differences
from tests.integration.s3_fault_server import ACCESS_DENIED, SLOW_DOWN, Answer, FaultServer

MIB = 1 << 20
TOPIC = "outage"
VALUE_BYTES = 10_000


@pytest.fixture
def server() -> Iterator[FaultServer]:
    """The bucket."""
    with FaultServer() as server:
        yield server


@pytest.fixture
def broker(server: FaultServer, tmp_path: Path) -> HeadraceProcess:
    """A broker with little room, not started."""
    data = tmp_path / "node" / "data"
    return HeadraceProcess(
        tmp_path / "node",
        overrides={
            "s3.data.buckets": f"0@s3://bucket?endpoint={server.endpoint}",
            "s3.wal.path": f"0@file://{data / 'wal'}?capacity={16 * MIB}",
            "s3.wal.cache.size": str(16 * MIB),
            "s3.wal.upload.threshold": str(2 * MIB),
            "s3.wal.upload.interval.ms": "500",
            "s3.block.cache.size": str(16 * MIB),
            "headrace.admission.timeout.ms": "1000",
        },
        environment={"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"},
    )


def value_of(number: int) -> bytes:
    return b"%d;" % number * (VALUE_BYTES // len(b"%d;" % number))


class Clients:
    """An idempotent producer of numbered values, and a consumer that expects each of them once, in order."""

    def __init__(self, bootstrap: str) -> None:
        self.acked = self.sent = self.consumed = 0
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "delivery.timeout.ms": 100_000,
                "retry.backoff.max.ms": 500,
                "log_level": 2,
            }
        )
        self._bootstrap = bootstrap
        self._consumer = self._new_consumer()

    def produce(self, count: int) -> None:
        """Hand over more values; whether they are acknowledged is seen later."""
        for _ in range(count):
            self._producer.produce(TOPIC, value_of(self.sent), on_delivery=self._delivered)
            self.sent += 1

    def poll(self) -> None:
        """Let time pass for both of them."""
        self._producer.poll(0.05)
        for message in self._consumer.consume(500, timeout=0.05):
            error = message.error()
            if error is not None:
                assert error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART
                continue
            assert message.offset() == self.consumed, "a gap, or again"
            assert message.value() == value_of(self.consumed)
            self.consumed += 1

    def read_from_the_start(self) -> None:
        """Begin again with a new consumer."""
        self._consumer.close()
        self._consumer = self._new_consumer()
        self.consumed = 0

    def close(self) -> None:
        """End the consumer."""
        self._consumer.close()

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        assert error is None, f"{message.value()[:10]!r}: {error}"
        self.acked += 1

    def _new_consumer(self) -> Consumer:
        consumer = Consumer(
            {
                "bootstrap.servers": self._bootstrap,
                "group.id": "unused",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "log_level": 2,
            }
        )
        consumer.assign([TopicPartition(TOPIC, 0, 0)])
        return consumer


def readiness(broker: HeadraceProcess) -> dict[str, tuple[bool, str]]:
    """What /readyz says of each condition; nothing while nobody answers."""
    try:
        with urllib.request.urlopen(broker.admin_url("/readyz"), timeout=10) as answer:
            text = answer.read()
    except urllib.error.HTTPError as refused:
        text = refused.read()
    except OSError:
        return {}
    return {it["name"]: (it["ok"], it["reason"]) for it in json.loads(text)["checks"]}


def start_aside(broker: HeadraceProcess) -> threading.Thread:
    """Start the broker in a thread that ends when it is ready, or has ended."""

    def start() -> None:
        with suppress(Exception):  # it is to be stopped before it is ready
            broker.start()

    starting = threading.Thread(target=start)
    starting.start()
    return starting


def until(
    broker: HeadraceProcess,
    clients: Clients,
    what: str,
    happened: Callable[[], bool],
    *,
    timeout_s: float = 60,
) -> None:
    def look() -> bool:
        clients.poll()
        return happened()

    broker.process.wait_until(look, what, timeout_s=timeout_s)


def test_an_outage_under_load(broker: HeadraceProcess, server: FaultServer) -> None:
    """Nothing is lost or doubled, producers are refused in time, hot reads go on, the WAL drains afterwards."""
    with broker:
        clients = Clients(broker.bootstrap)
        clients.produce(200)
        until(broker, clients, "the first values", lambda: clients.consumed == 200)
        with server.bucket.always(ACCESS_DENIED):
            clients.produce(3_000)
            until(
                broker,
                clients,
                "producers refused",
                lambda: broker.metrics()["headrace_admission_refused_total"] > 0,
            )
            acked = clients.acked
            assert 200 < acked < 3_200
            until(broker, clients, "hot reads", lambda: clients.consumed >= acked)
            until(broker, clients, "not ready", lambda: not readiness(broker)["bucket"][0])
            assert "put has failed" in readiness(broker)["bucket"][1]
            assert "refused" in readiness(broker)["bucket"][1]
            server.stop()
        with server.bucket.always(SLOW_DOWN):
            server.start()
            before = broker.metrics()["headrace_object_store_failures_total"]
            until(
                broker,
                clients,
                "more failures",
                lambda: broker.metrics()["headrace_object_store_failures_total"] > before,
            )
        until(broker, clients, "every value", lambda: clients.consumed == clients.acked == 3_200)
        until(broker, clients, "ready", lambda: all(ok for ok, _ in readiness(broker).values()))
        until(
            broker,
            clients,
            "everything uploaded",
            lambda: broker.metrics()["headrace_log_cache_unuploaded_bytes"] == 0,
        )
        assert broker.metrics()["headrace_wal_used_bytes"] < MIB
        broker.restart()
        clients.read_from_the_start()
        until(broker, clients, "every value from the bucket", lambda: clients.consumed == 3_200)
        assert broker.metrics()["headrace_object_store_get_bytes_total"] > 3_200 * VALUE_BYTES / 2
        clients.close()
    server.bucket.check_truth()
    # Nothing that is committed is missing, or has another size; deletions wait for their time.
    contents = contents_of(f"s3://bucket?endpoint={server.endpoint}&accessKey=a&secretKey=b")
    known = read_offline(broker.directory / "data" / "metadata")
    assert committed_in(known.image)
    told = differences(contents, known.image, known.cluster_id)
    assert [it for it in told if "is left" not in it] == []


def test_a_start_without_a_bucket(broker: HeadraceProcess, server: FaultServer) -> None:
    """Killed in an outage and started in it: it waits, tells why, and then has everything."""
    broker.start()
    clients = Clients(broker.bootstrap)
    clients.produce(100)
    until(broker, clients, "the first values", lambda: clients.consumed == 100)
    server.stop()
    clients.produce(100)
    until(broker, clients, "acknowledged in the outage", lambda: clients.acked == 200)
    broker.kill()
    starting = start_aside(broker)
    until(broker, clients, "what it waits for", lambda: "bucket" in readiness(broker))
    assert readiness(broker)["state"] == (False, "waiting for the bucket")
    ok, reason = readiness(broker)["bucket"]
    assert (ok, reason.split(":")[0]) == (False, "has not answered")
    server.start()
    starting.join()
    assert all(ok for ok, _ in readiness(broker).values())
    clients.read_from_the_start()
    until(broker, clients, "every value", lambda: clients.consumed == 200)
    clients.close()
    broker.stop()


def test_a_stop_while_the_bucket_is_waited_for(
    broker: HeadraceProcess, server: FaultServer
) -> None:
    server.stop()
    broker.begin()
    broker.process.wait_until(
        lambda: "bucket" in readiness(broker), "word of the bucket", timeout_s=60
    )
    broker.stop()


def test_a_bucket_that_lies(broker: HeadraceProcess, server: FaultServer) -> None:
    """Values that no client can parse, in lists of the sweep and answers to uploads: told, and outlived."""
    broker.set("headrace.bucket.sweep.interval.minutes", "1")
    broker.set(
        "s3.wal.upload.threshold", str(6 * MIB)
    )  # large enough for the client that parses most
    broker.set("s3.wal.upload.interval.ms", "2000")
    lies = (
        ("GET", Answer(rewritten=(rb"<LastModified>[^<]*<", b"<LastModified>n/a<"))),
        ("PUT", Answer(header=("x-amz-object-size", "zz"))),
    )

    def told() -> list[str]:
        lines = broker.process.log.read_text().splitlines()
        return [line for line in lines if "unexpected error" in line]

    with broker:
        clients = Clients(broker.bootstrap)
        clients.produce(100)
        until(broker, clients, "the first values", lambda: clients.consumed == 100)
        until(
            broker,
            clients,
            "an object to list",
            lambda: broker.metrics()["headrace_object_store_put_bytes_total"] > MIB / 2,
        )
        with ExitStack() as standing:
            for method, answer in lies:
                standing.enter_context(server.bucket.always(answer, method))
            clients.produce(600)
            until(broker, clients, "told", lambda: bool(told()))
            until(
                broker,
                clients,
                "a sweep that fails",
                lambda: broker.metrics()["headrace_sweep_failures_total"] > 0,
                timeout_s=120,
            )
            # An upload whose answer cannot be read is asked for again, and found to be there.
            until(broker, clients, "every value", lambda: clients.consumed == clients.acked == 700)
        until(broker, clients, "ready", lambda: all(ok for ok, _ in readiness(broker).values()))
        clients.close()
    assert 1 <= len(told()) <= 3
    server.bucket.check_truth()
