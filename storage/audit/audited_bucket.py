"""A bucket as the tools open it: to list and to read, which changes nothing in it."""

import asyncio
import os
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headrace.daemon_threads import DaemonThreads
from headrace.storage.audit.lister import BucketLister, DirectoryLister, S3Lister
from headrace.storage.audit.object_check import RangeReader
from headrace.storage.errors import ObjectNotFoundError, ObjectStoreError
from headrace.storage.object_store.factory import open_object_store
from headrace.storage.object_store.ranges import exactly, require_valid_range
from headrace.storage.object_store.retrying import RetryPolicy
from headrace.storage.object_store.s3_access import resolve_access
from headrace.storage.object_store.uri import (
    FileLocation,
    Location,
    MemoryLocation,
    S3Location,
    parse_bucket_uri,
)
from headrace.storage.objects.keys import require_valid_key

READ_THREADS: Final = 4


@dataclass(frozen=True, slots=True)
class AuditedBucket:
    """A bucket to look into."""

    reader: RangeReader
    lister: BucketLister
    close: Callable[[], Awaitable[None]]


class DirectoryReader:
    """Reads a `file://` bucket; unlike `FileObjectStore` it creates and tidies up nothing."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._threads = DaemonThreads(READ_THREADS, "bucket-read")

    async def get_range(self, key: str, start: int, end: int) -> memoryview:
        """See `headrace.storage.ports.ObjectStore`."""
        require_valid_key(key)
        require_valid_range(start, end)
        loop = asyncio.get_running_loop()
        content = await loop.run_in_executor(self._threads, self._read, key, start, end)
        return exactly(content, key, start, end)

    async def close(self) -> None:
        """Accept nothing more."""
        self._threads.shutdown(wait=False)

    def _read(self, key: str, start: int, end: int) -> memoryview:
        try:
            with (self._root / key).open("rb", buffering=0) as file:
                file.seek(start)
                pieces = []
                missing = end - start
                while missing and (piece := file.read(missing)):
                    pieces.append(piece)
                    missing -= len(piece)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise ObjectNotFoundError(key) from error
        except OSError as error:
            raise ObjectStoreError(f"bucket directory: {error}") from error
        return memoryview(pieces[0] if len(pieces) == 1 else b"".join(pieces))


def require_reachable(location: Location) -> None:
    """Refuse what a tool cannot look into, before a client would create it.

    Raises:
        ValueError: the bucket is in another process's memory.
        ObjectStoreError: there is no such directory.
    """
    if isinstance(location, MemoryLocation):
        raise ValueError("a mem:// bucket exists only inside its broker")  # noqa: TRY004
    if isinstance(location, FileLocation):
        root = Path(location.path).absolute()
        if not root.is_dir() or not os.access(root, os.R_OK | os.X_OK):
            raise ObjectStoreError(f"{root} is not a directory that can be read")


def open_audited_bucket(
    uri: str,
    *,
    rng: random.Random,
    environment: Mapping[str, str],
    policy: RetryPolicy | None = None,
) -> AuditedBucket:
    """Open the bucket that a URI names.

    Args:
        uri: see `headrace.storage.object_store.uri`.
        rng: jitter of retries.
        environment: where `AWS_*` variables are looked up for `s3://`.
        policy: how reads are retried.

    Raises:
        ValueError: the URI is none, names a bucket in memory, or no credentials are to be found.
        ObjectStoreError: there is no such directory.
    """
    location = parse_bucket_uri(uri)
    require_reachable(location)
    match location:
        case MemoryLocation():
            raise AssertionError("refused above")
        case FileLocation(path):
            root = Path(path).absolute()
            reader = DirectoryReader(root)
            return AuditedBucket(reader, DirectoryLister(root), reader.close)
        case S3Location():
            store = open_object_store(uri, rng=rng, environment=environment, policy=policy)
            access = resolve_access(location, environment)
            return AuditedBucket(store, S3Lister(access, location.prefix), store.close)
