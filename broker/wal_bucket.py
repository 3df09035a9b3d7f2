"""The bucket as the object WAL wants it: the stream engine's stores, with the WAL's own errors."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from storage.errors import CorruptObjectError, ObjectNotFoundError, ObjectStoreError
from storage.object_store.retrying import RefusedError
from storage.ports import ObjectStore
from wal.objects.port import BucketError, BucketRefusedError, Part


class WalBucket:
    """A `wal.objects.port.Bucket`."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    async def create(self, key: str, parts: Sequence[Part]) -> bool:
        """See `wal.objects.port.Bucket`."""
        with _translated():
            return await self._store.create(key, parts)

    async def read(self, key: str, start: int, end: int) -> memoryview | None:
        """See `wal.objects.port.Bucket`."""
        with _translated():
            try:
                return await self._store.get_range(key, start, end)
            except ObjectNotFoundError:
                return None
            except CorruptObjectError:
                return memoryview(b"")

    async def list(self, folder: str) -> Sequence[tuple[str, int]]:
        """See `wal.objects.port.Bucket`."""
        with _translated():
            return await self._store.list(folder)

    async def delete(self, keys: Sequence[str]) -> None:
        """See `wal.objects.port.Bucket`."""
        with _translated():
            await self._store.delete(keys)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except RefusedError as error:
        raise BucketRefusedError(str(error)) from error
    except ObjectStoreError as error:
        raise BucketError(str(error)) from error
