"""Every object store that the tests can run against, each opened on an empty place of its own."""

import itertools
import logging
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from headrace.storage.object_store.factory import open_object_store
from headrace.storage.object_store.retrying import RetryingObjectStore, RetryPolicy
from tests.environment.minio import ACCESS_KEY, SECRET_KEY

BUCKET = "contract"
PART_BYTES = 5 * 1024 * 1024  # the smallest that S3 takes
_places = itertools.count()

OpenStore = Callable[[], RetryingObjectStore]


def opener(
    uri: str, environment: dict[str, str] | None = None, max_looks: int = RetryPolicy().max_looks
) -> OpenStore:
    """Return what opens `uri`; call it inside of the loop."""

    def open_store() -> RetryingObjectStore:
        return open_object_store(
            uri,
            rng=random.Random(0),
            environment=environment,
            part_bytes=PART_BYTES,
            policy=RetryPolicy(max_attempts=2, backoff_ms_initial=1, max_looks=max_looks),
        )

    return open_store


def memory_store() -> OpenStore:
    """One bucket in memory, the same for every call."""
    return opener("mem://")


def file_store(directory: Path) -> OpenStore:
    """A bucket in a directory."""
    return opener(f"file://{directory}/bucket")


def s3_uri(
    endpoint: str, *, bucket: str = BUCKET, secret: str = SECRET_KEY, options: str = ""
) -> str:
    """Return the URI of an empty place in a bucket of an S3 server."""
    return (
        f"0@s3://{bucket}/place-{next(_places)}?endpoint={endpoint}&region=us-east-1"
        f"&accessKey={ACCESS_KEY}&secretKey={secret}{options}"
    )


@contextmanager
def moto_endpoint() -> Iterator[str]:
    """Run moto's S3 in this process."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()
