"""A broker in another process, with a topic that is in its bucket but not in its memory."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import boto3
from confluent_kafka.admin import AdminClient, NewTopic

from bench import load_program
from bench.distant_link import Distance, DistantLink
from tests.e2e.broker_process import HeadraceProcess
from tests.environment.minio import ACCESS_KEY, SECRET_KEY, MinioServer

MIB = 1024 * 1024
RECORD_BYTES = 1024
BUCKET = "bench"
REGION = "us-east-1"
STORES = ("file", "minio")
CREDENTIALS = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}


@contextmanager
def broker_on(
    store: str,
    directory: Path,
    settings: Mapping[str, str],
    distance: Distance | None = None,
    bucket_directory: Path | None = None,
) -> Iterator[HeadraceProcess]:
    """Start a broker whose bucket is a directory, or in a MinIO that is started for it, optionally distant.

    Args:
        store: one of `STORES`.
        directory: of the broker.
        settings: of the broker.
        distance: of the bucket.
        bucket_directory: of the bucket; the broker's if it may be on the same disk as the WAL.
    """
    kept_in = bucket_directory or directory
    with ExitStack() as stack:
        overrides = {"s3.data.buckets": f"0@file://{kept_in / 'bucket'}"} | dict(settings)
        if store == "minio":
            server = stack.enter_context(MinioServer(kept_in / "minio"))
            keys = {"aws_access_key_id": ACCESS_KEY, "aws_secret_access_key": SECRET_KEY}
            client = boto3.client("s3", endpoint_url=server.endpoint, region_name=REGION, **keys)
            client.create_bucket(Bucket=BUCKET)
            endpoint = server.endpoint
            if distance is not None:
                port = int(endpoint.rpartition(":")[2])
                endpoint = stack.enter_context(DistantLink(port, distance)).endpoint
            options = f"region={REGION}&endpoint={endpoint}&pathStyle=true"
            overrides["s3.data.buckets"] = f"0@s3://{BUCKET}?{options}"
        broker = HeadraceProcess(directory / "node", overrides=overrides, environment=CREDENTIALS)
        yield stack.enter_context(broker)


def bucket_uri_of(broker: HeadraceProcess) -> str:
    """The URI of a broker's bucket, for `open_object_store`."""
    for line in (broker.directory / "server.properties").read_text().splitlines():
        key, _, value = line.partition("=")
        if key == "s3.data.buckets":
            return value.removeprefix("0@")
    raise AssertionError("every broker here has a bucket")


def create_topic(bootstrap: str, name: str, partitions: int = 1) -> None:
    """Create a topic and wait until it exists."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for created in admin.create_topics([NewTopic(name, partitions)]).values():
        created.result(timeout=30)


def produce_topic(
    bootstrap: str, topic: str, size_bytes: int, *, batch_bytes: int, partitions: int = 1
) -> int:
    """Create a topic and produce `size_bytes` to it; return the number of records."""
    create_topic(bootstrap, topic, partitions)
    records = size_bytes // RECORD_BYTES
    load_program.produce(
        bootstrap,
        topic,
        records=records,
        record_bytes=RECORD_BYTES,
        batch_bytes=batch_bytes,
        linger_ms=5,
    )
    return records


def fill(broker: HeadraceProcess, topic: str, size_bytes: int, *, batch_bytes: int) -> int:
    """Produce a topic, and restart the broker, so that all is in the bucket. Return the number of records."""
    records = produce_topic(broker.bootstrap, topic, size_bytes, batch_bytes=batch_bytes)
    broker.restart()
    return records
