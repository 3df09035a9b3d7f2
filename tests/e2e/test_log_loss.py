"""A broker is gone for good with what only its WAL holds: an operator accepts the loss of its log, others go on."""

import json
import subprocess
import sys
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from tests.e2e.test_fencing import BROKER_ID, TOPIC, TwoNodes, two_nodes, until

NEVER_MS = "600000"


def headrace(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "headrace.broker", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def produce(bootstrap: str, value: bytes) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "message.timeout.ms": 30_000})
    failures: list[KafkaError | None] = []
    producer.produce(TOPIC, value, partition=0, on_delivery=lambda error, _: failures.append(error))
    producer.flush(40)
    assert failures == [None]


def read(bootstrap: str) -> list[bytes | None]:
    """Every record of the topic."""
    settings = {"bootstrap.servers": bootstrap, "group.id": "g", "enable.auto.commit": False}
    consumer = Consumer(settings)
    try:
        low, end = consumer.get_watermark_offsets(TopicPartition(TOPIC, 0), 30)
        consumer.assign([TopicPartition(TOPIC, 0, low)])
        messages = consumer.consume(end - low, 30)
        assert [it.error() for it in messages] == [None] * (end - low)
        return [it.value() for it in messages]
    finally:
        consumer.close()


def partition_error(nodes: TwoNodes) -> int | None:
    """The error code of the topic's partition in an answer to Metadata."""
    admin = AdminClient({"bootstrap.servers": nodes.first.bootstrap})
    error = admin.list_topics(TOPIC, timeout=30).topics[TOPIC].partitions[0].error
    return None if error is None else error.code()


def test_the_partitions_of_a_lost_log_are_led_elsewhere_once_that_is_accepted(
    tmp_path: Path,
) -> None:
    with two_nodes(tmp_path) as nodes:
        nodes.broker.set("s3.wal.upload.interval.ms", NEVER_MS)
        nodes.broker.kill()  # an orderly stop would have its partitions move
        nodes.broker.start()
        produce(nodes.first.bootstrap, b"only in the log")
        nodes.broker.kill()
        first = nodes.first
        until(
            "the end of its session",
            lambda: first.metrics().get("headrace_offline_partitions") == 1,
        )
        until(
            "the error of its partition in Metadata",
            lambda: partition_error(nodes) == KafkaError.LEADER_NOT_AVAILABLE,
        )
        kafka = ("-b", first.bootstrap)
        admin = ("--admin", f"127.0.0.1:{first.admin_port}")
        unregister = ("cluster", "unregister", str(BROKER_ID), "--yes", *kafka)

        described = headrace("cluster", "describe", *kafka, *admin, "--json")
        logs = {it["log_id"]: it for it in json.loads(described.stdout)["logs"]}
        log = logs[BROKER_ID]
        assert (log["owner_state"], log["state"]) == ("expired", "active")
        assert log["owner_ended"] is not None
        assert log["partitions"] == {TOPIC: [0]}
        assert f"generation {log['generation']}, waits for" in first.get("/readyz")
        refused = headrace(*unregister)
        assert refused.returncode == 1
        assert f"accept-loss {BROKER_ID} --generation {log['generation']}" in refused.stderr

        accept = ("cluster", "accept-loss", str(BROKER_ID), *admin, "--yes", "--generation")
        other = headrace(*accept, "another")
        assert other.returncode == 1
        assert f"is in generation {log['generation']}, not another" in other.stderr
        accepted = headrace(*accept, log["generation"])
        assert accepted.returncode == 0, accepted.stderr
        assert f"{TOPIC}: 0" in accepted.stderr

        assert headrace(*unregister).returncode == 0
        produce(first.bootstrap, b"after")
        assert read(first.bootstrap) == [b"after"]
        until("no count of them", lambda: "headrace_offline_partitions" not in first.metrics())

        nodes.broker.start()  # it is back all the same, with its WAL
        assert read(first.bootstrap) == [b"after"]
        checks = {it["name"]: it for it in json.loads(nodes.broker.get("/readyz"))["checks"]}
        assert checks["logs"]["reason"] == "none waits"
        nodes.broker.stop()
