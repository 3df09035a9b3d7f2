"""Opens the bucket that a URI names: `open_bucket` for a node, `open_object_store` for tools."""

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from headrace.storage.object_store.filesystem import FileObjectStore
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.object_store.retrying import Retries, RetryingObjectStore, RetryPolicy
from headrace.storage.object_store.uri import (
    FileLocation,
    MemoryLocation,
    S3Location,
    parse_bucket_uri,
)
from headrace.storage.ports import ObjectStore
from headrace.wal.device.file_systems import is_in_memory

PART_BYTES_DEFAULT = 16 * 1024 * 1024


class BucketOpener(Protocol):
    """Opens buckets for a node: `open_bucket`, or a simulation's."""

    async def __call__(
        self,
        uri: str,
        *,
        rng: random.Random,
        environment: Mapping[str, str],
        part_bytes: int = PART_BYTES_DEFAULT,
        policy: RetryPolicy | None = None,
    ) -> RetryingObjectStore:
        """See `open_bucket`."""
        ...


async def open_bucket(
    uri: str,
    *,
    rng: random.Random,
    environment: Mapping[str, str],
    part_bytes: int = PART_BYTES_DEFAULT,
    policy: RetryPolicy | None = None,
) -> RetryingObjectStore:
    """Open a bucket to write to, and create it unless it exists; the arguments are those of `open_object_store`.

    Raises:
        ValueError: the URI is none, or no credentials are to be found.
        ObjectStoreError: the service refuses or does not answer, or the directory cannot be written to.
    """
    await ensure_bucket(uri, environment=environment)
    await _ensure_writable(uri)
    return open_object_store(
        uri, rng=rng, environment=environment, part_bytes=part_bytes, policy=policy
    )


def open_object_store(
    uri: str,
    *,
    rng: random.Random,
    environment: Mapping[str, str] | None = None,
    part_bytes: int = PART_BYTES_DEFAULT,
    policy: RetryPolicy | None = None,
) -> RetryingObjectStore:
    """Open a bucket; `ensure_bucket` says whether it is there.

    Args:
        uri: see `headrace.storage.object_store.uri`.
        rng: jitter of retries.
        environment: where `AWS_*` variables are looked up for `s3://`.
        part_bytes: size of the parts of multipart uploads.
        policy: how requests are retried.

    Raises:
        ValueError: the URI is none, or no credentials are to be found.
        ObjectStoreError: the directory of `file://` cannot be created.
    """
    inner: ObjectStore
    policy = policy or RetryPolicy()
    match parse_bucket_uri(uri):
        case MemoryLocation():
            inner = MemoryObjectStore()
        case FileLocation() as location:
            inner = _directory(location)
        case S3Location() as location:
            # Loaded only where it is used: the client starts threads of its own.
            from headrace.storage.object_store.s3 import S3ObjectStore  # noqa: PLC0415

            inner = S3ObjectStore(
                location,
                environment=environment or {},
                part_bytes=part_bytes,
                retries=Retries(policy, rng),
            )
    return RetryingObjectStore(inner, rng, policy)


async def ensure_bucket(uri: str, *, environment: Mapping[str, str] | None = None) -> bool:
    """Create the bucket of an `s3://` URI unless it exists; the other kinds need nothing.

    Returns:
        Whether it was created.

    Raises:
        ValueError: the URI is none.
        ObjectStoreError: the service refuses or does not answer.
    """
    location = parse_bucket_uri(uri)
    if not isinstance(location, S3Location):
        return False
    from headrace.storage.object_store.s3_access import resolve_access  # noqa: PLC0415
    from headrace.storage.object_store.s3_administration import ensure_s3_bucket  # noqa: PLC0415

    return await ensure_s3_bucket(resolve_access(location, environment or {}))


async def _ensure_writable(uri: str) -> None:
    """Make and remove a file in the directory of a `file://` URI; the other kinds need nothing.

    For who is going to write: a directory on a disk that is mounted to be read, or another user's,
    is noticed at the first object otherwise.

    Raises:
        ValueError: the URI is none.
        ObjectStoreError: it cannot be done.
    """
    location = parse_bucket_uri(uri)
    if isinstance(location, FileLocation):
        store = _directory(location)
        try:
            await store.ensure_writable()
        finally:
            await store.close()


def is_bucket_in_memory(uri: str) -> bool:
    """Say whether a bucket is lost with the machine: `mem://`, or a directory of a tmpfs.

    Raises:
        ValueError: the URI is none.
    """
    match parse_bucket_uri(uri):
        case MemoryLocation():
            return True
        case FileLocation() as location:
            return is_in_memory(location.path)
        case _:
            return False


def _directory(location: FileLocation) -> FileObjectStore:
    return FileObjectStore(Path(location.path).absolute())
