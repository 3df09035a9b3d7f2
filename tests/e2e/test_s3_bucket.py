"""The whole path with a real S3 server as the bucket: upload, kill, restart, read back."""

from collections.abc import Callable, Iterator
from pathlib import Path

import boto3
import pytest

from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.client_programs import CONFLUENT, KCAT
from tests.e2e.records import Record
from tests.environment.kcat import kcat_program
from tests.environment.minio import ACCESS_KEY, SECRET_KEY, MinioServer, minio_program

BUCKET = "headrace"
MIB = 1 << 20
REGION = "us-east-1"

pytestmark = pytest.mark.s3


@pytest.fixture
def minio(
    component: Callable[[Callable[[], object]], None], tmp_path: Path
) -> Iterator[MinioServer]:
    """A server with an empty bucket."""
    component(minio_program)
    component(kcat_program)
    with MinioServer(tmp_path / "minio") as server:
        keys = {"aws_access_key_id": ACCESS_KEY, "aws_secret_access_key": SECRET_KEY}
        client = boto3.client("s3", endpoint_url=server.endpoint, region_name=REGION, **keys)
        client.create_bucket(Bucket=BUCKET)
        yield server


@pytest.fixture
def broker(minio: MinioServer, tmp_path: Path) -> Iterator[HeadraceProcess]:
    """A broker whose bucket is there, and which uploads early."""
    options = f"region={REGION}&endpoint={minio.endpoint}&pathStyle=true"
    settings = {
        "s3.data.buckets": f"0@s3://{BUCKET}?{options}",
        "s3.wal.upload.threshold": str(4 * MIB),
        "s3.object.part.size": str(5 * MIB),
    }
    credentials = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
    with HeadraceProcess(tmp_path / "node", overrides=settings, environment=credentials) as node:
        yield node


def wait_for_more(broker: HeadraceProcess, name: str, than: float) -> None:
    """Uploads go on in the background, and a page of metrics may be a second old."""
    broker.process.wait_until(
        lambda: broker.metrics()[name] > than, f"{name} above {than}", timeout_s=20
    )


def test_records_go_to_s3_and_come_back(broker: HeadraceProcess, minio: MinioServer) -> None:
    records = [Record(bytes([number % 256]) * 100_000) for number in range(300)]
    acks = CONFLUENT.produce(broker.bootstrap, "stored", records)
    assert [ack.error for ack in acks] == [0] * len(records)
    wait_for_more(broker, "headrace_uploaded_objects_total", 0)
    broker.kill()
    broker.start()
    more = [Record(b"after the crash")]
    assert CONFLUENT.produce(broker.bootstrap, "stored", more)[0].offset == len(records)
    broker.restart()
    stored = CONFLUENT.consume(broker.bootstrap, "stored", len(records) + 1)
    assert [item.value for item in stored] == [record.value for record in records + more]
    wait_for_more(broker, "headrace_object_store_get_bytes_total", 20 * MIB)


def test_an_unreachable_bucket_does_not_stop_the_broker(
    broker: HeadraceProcess, minio: MinioServer
) -> None:
    text = [Record(str(number).encode()) for number in range(100)]
    CONFLUENT.produce(broker.bootstrap, "outage", text)
    minio.stop()
    CONFLUENT.produce(broker.bootstrap, "outage", text)
    stored = KCAT.consume(broker.bootstrap, "outage", 200)
    assert [item.value for item in stored] == [record.value for record in text + text]
    minio.start()
    broker.restart()
    stored = KCAT.consume(broker.bootstrap, "outage", 200)
    assert [item.value for item in stored] == [record.value for record in text + text]
