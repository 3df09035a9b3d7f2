"""A broker without a disk: its WAL is in the bucket, and a killed one is followed by one that finds everything."""

from collections.abc import Callable, Iterator
from pathlib import Path

import boto3
import pytest
from confluent_kafka import KafkaError, Message, Producer

from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.client_programs import CONFLUENT
from tests.e2e.records import Record
from tests.environment.minio import ACCESS_KEY, SECRET_KEY, MinioServer, minio_program

BUCKET = "headrace"
MIB = 1 << 20
REGION = "us-east-1"

pytestmark = pytest.mark.s3


@pytest.fixture
def minio(
    component: Callable[[Callable[[], object]], None], tmp_path: Path
) -> Iterator[MinioServer]:
    """An S3 server without any bucket: the broker makes its own."""
    component(minio_program)
    with MinioServer(tmp_path / "minio") as server:
        yield server


@pytest.fixture
def broker(minio: MinioServer, tmp_path: Path) -> Iterator[HeadraceProcess]:
    """A broker whose data and WAL are in one bucket, and which uploads nothing by itself for long."""
    options = f"region={REGION}&endpoint={minio.endpoint}&pathStyle=true"
    wal = f"capacity={256 * MIB}&batchInterval=50&maxBytesInBatch={MIB}"
    settings = {
        "s3.data.buckets": f"0@s3://{BUCKET}?{options}",
        "s3.wal.path": f"0@s3://{BUCKET}?{options}&{wal}",
        "group.initial.rebalance.delay.ms": "0",
    }
    credentials = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
    with HeadraceProcess(tmp_path / "node", overrides=settings, environment=credentials) as node:
        yield node


def wal_objects(minio: MinioServer) -> int:
    """Count the objects of the log."""
    keys = {"aws_access_key_id": ACCESS_KEY, "aws_secret_access_key": SECRET_KEY}
    client = boto3.client("s3", endpoint_url=minio.endpoint, region_name=REGION, **keys)
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix="wal/")
    return sum(page["KeyCount"] for page in pages)


def test_what_was_acknowledged_survives_a_kill(broker: HeadraceProcess, minio: MinioServer) -> None:
    records = [Record(b"%06d" % number + bytes(20_000)) for number in range(500)]
    acks = CONFLUENT.produce(broker.bootstrap, "stored", records)
    assert [ack.error for ack in acks] == [0] * len(records)
    assert broker.metrics()["headrace_uploaded_objects_total"] == 0
    broker.kill()
    assert wal_objects(minio) > 5
    broker.start()
    recovered = [it for it in broker.log_events() if it["msg"] == "WAL recovered"][-1]
    assert recovered["take"] > 0
    more = [Record(b"after the crash")]
    assert CONFLUENT.produce(broker.bootstrap, "stored", more)[0].offset == len(records)
    broker.restart()
    recovered = [it for it in broker.log_events() if it["msg"] == "WAL recovered"][-1]
    assert recovered["take"] == 0, "a graceful shutdown left something in the WAL"
    stored = CONFLUENT.consume(broker.bootstrap, "stored", len(records) + 1)
    assert [item.value for item in stored] == [record.value for record in records + more]


def test_an_outage_is_waited_out(broker: HeadraceProcess, minio: MinioServer) -> None:
    """Nothing is acknowledged meanwhile, and the broker lives."""
    before = [Record(b"before %d" % number) for number in range(20)]
    CONFLUENT.produce(broker.bootstrap, "outage", before)
    minio.stop()
    acknowledged: list[bytes] = []

    def told(error: KafkaError | None, message: Message) -> None:
        assert error is None, error
        acknowledged.append(message.value())

    producer = Producer({"bootstrap.servers": broker.bootstrap, "enable.idempotence": True})
    meanwhile = [b"meanwhile %d" % number for number in range(20)]
    for value in meanwhile:
        producer.produce("outage", value, on_delivery=told)
    assert producer.flush(3) == len(meanwhile)
    assert "does not answer" in broker.process.log.read_text()
    minio.start()
    assert producer.flush(60) == 0
    assert acknowledged == meanwhile
    stored = CONFLUENT.consume(broker.bootstrap, "outage", 40)
    assert [item.value for item in stored] == [record.value for record in before] + meanwhile
