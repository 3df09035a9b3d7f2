"""The bucket of the object WAL: an object store of the stream engine that raises the WAL's own errors."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from headrace.storage.errors import CorruptObjectError, ObjectNotFoundError, ObjectStoreError
from headrace.storage.object_store.retrying import RequestRefusedError, RetryPolicy
from headrace.storage.ports import ObjectStore
from headrace.wal.objects.port import BucketError, BucketRefusedError, Part

# That an object is not there is what a walk along a log looks for: with pauses it would never reach the end of a log
# whose owner goes on.
WAL_POLICY: Final = RetryPolicy(max_looks=2)


class WalBucket:
    """A `headrace.wal.objects.port.Bucket`."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    async def create(self, key: str, parts: Sequence[Part]) -> bool:
        """See `headrace.wal.objects.port.Bucket`."""
        with _translated():
            return await self._store.create(key, parts)

    async def read(self, key: str, start: int, end: int) -> memoryview | None:
        """See `headrace.wal.objects.port.Bucket`."""
        with _translated():
            try:
                return await self._store.get_range(key, start, end)
            except ObjectNotFoundError:
                return None
            except CorruptObjectError:
                return memoryview(b"")

    async def list(self, folder: str) -> Sequence[tuple[str, int]]:
        """See `headrace.wal.objects.port.Bucket`."""
        with _translated():
            return await self._store.list(folder)

    async def delete(self, keys: Sequence[str]) -> None:
        """See `headrace.wal.objects.port.Bucket`."""
        with _translated():
            await self._store.delete(keys)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except RequestRefusedError as error:
        raise BucketRefusedError(str(error)) from error
    except ObjectStoreError as error:
        raise BucketError(str(error)) from error
