"""A bucket in a MinIO that is started for a benchmark."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import boto3

from tests.environment.minio import ACCESS_KEY, SECRET_KEY, MinioServer

BUCKET = "bench"
REGION = "us-east-1"


@contextmanager
def bucket_server(directory: Path) -> Iterator[MinioServer]:
    """Start MinIO and make a bucket."""
    with MinioServer(directory) as server:
        keys = {"aws_access_key_id": ACCESS_KEY, "aws_secret_access_key": SECRET_KEY}
        client = boto3.client("s3", endpoint_url=server.endpoint, region_name=REGION, **keys)
        client.create_bucket(Bucket=BUCKET)
        client.close()
        yield server


def bucket_uri(endpoint: str) -> str:
    """Return the URI of the bucket, credentials included."""
    return (
        f"0@s3://{BUCKET}?endpoint={endpoint}&region={REGION}&pathStyle=true"
        f"&accessKey={ACCESS_KEY}&secretKey={SECRET_KEY}"
    )
