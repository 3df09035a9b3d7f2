"""Bounded retries with jitter, a time-out per attempt, and counters, around any object store.

What is retried is `ObjectStoreError`: every operation of the port is idempotent (a `put` repeats
the same content under the same key), except `put_stream`, whose chunks are gone. `RefusedError` is
not retried: the store answered, and would answer the same again.
"""

import asyncio
import random
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from storage.errors import CorruptObjectError, ObjectNotFoundError, ObjectStoreError
from storage.object_store.statistics import StoreStatistics
from storage.ports import Buffer, ObjectStore

_T = TypeVar("_T")


class RefusedError(ObjectStoreError):
    """The store understood and refused (credentials, permissions, no such bucket)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How long one request may be tried."""

    attempts_max: int = 5
    backoff_ms_initial: int = (
        200  # doubled after each attempt, then multiplied by a random number below one
    )
    backoff_ms_max: int = 5_000
    attempt_ms_base: int = 30_000
    attempt_bytes_per_s: int = 1024 * 1024  # an attempt gets a second more for each of these


class RetryingObjectStore:
    """Wraps a store that tries once."""

    def __init__(
        self, inner: ObjectStore, rng: random.Random, policy: RetryPolicy | None = None
    ) -> None:
        self._inner = inner
        self._rng = rng
        self._policy = policy or RetryPolicy()
        self.statistics = StoreStatistics()

    async def put(self, key: str, parts: Sequence[Buffer]) -> None:
        """See `storage.ports.ObjectStore`."""
        size = sum(map(len, parts))
        started = asyncio.get_running_loop().time()
        self.statistics.put_requests += 1
        await self._try(lambda: self._inner.put(key, parts), size)
        self.statistics.put_bytes += size
        self.statistics.put_seconds += asyncio.get_running_loop().time() - started

    async def create(self, key: str, parts: Sequence[Buffer]) -> bool:
        """See `storage.ports.ObjectStore`. Tried once."""
        size = sum(map(len, parts))
        statistics = self.statistics
        started = asyncio.get_running_loop().time()
        statistics.put_requests += 1
        statistics.requests_in_flight += 1
        try:
            created = await _within(self._attempt_s(size), self._inner.create(key, parts))
        except ObjectStoreError:
            statistics.errors += 1
            raise
        finally:
            statistics.requests_in_flight -= 1
        statistics.put_bytes += size
        statistics.put_seconds += asyncio.get_running_loop().time() - started
        return created

    async def put_stream(self, key: str, chunks: AsyncIterable[Sequence[Buffer]]) -> None:
        """See `storage.ports.ObjectStore`. Tried once; how long it takes is up to `chunks`."""
        self.statistics.put_requests += 1
        self.statistics.requests_in_flight += 1
        try:
            await self._inner.put_stream(key, self._counted(chunks))
        except ObjectStoreError:
            self.statistics.errors += 1
            raise
        finally:
            self.statistics.requests_in_flight -= 1

    async def get_range(self, key: str, start: int, end: int) -> memoryview:
        """See `storage.ports.ObjectStore`."""
        started = asyncio.get_running_loop().time()
        self.statistics.get_requests += 1
        content = await self._try(lambda: self._inner.get_range(key, start, end), end - start)
        self.statistics.get_bytes += len(content)
        self.statistics.get_seconds += asyncio.get_running_loop().time() - started
        return content

    async def delete(self, keys: Sequence[str]) -> None:
        """See `storage.ports.ObjectStore`."""
        self.statistics.delete_requests += 1
        await self._try(lambda: self._inner.delete(keys), 0)
        self.statistics.deleted_objects += len(keys)

    async def list(self, prefix: str) -> Sequence[tuple[str, int]]:
        """See `storage.ports.ObjectStore`."""
        self.statistics.list_requests += 1
        return await self._try(lambda: self._inner.list(prefix), 0)

    async def close(self) -> None:
        """See `storage.ports.ObjectStore`."""
        await self._inner.close()

    def _attempt_s(self, size_bytes: int) -> float:
        policy = self._policy
        return policy.attempt_ms_base / 1000 + size_bytes / policy.attempt_bytes_per_s

    async def _try(self, attempt: Callable[[], Awaitable[_T]], size_bytes: int) -> _T:
        policy, statistics = self._policy, self.statistics
        timeout_s = self._attempt_s(size_bytes)
        statistics.requests_in_flight += 1
        try:
            for tried in range(1, policy.attempts_max + 1):
                try:
                    return await _within(timeout_s, attempt())
                except RefusedError:
                    raise
                except ObjectStoreError:
                    if tried == policy.attempts_max:
                        raise
                statistics.retries += 1
                ceiling_ms = min(policy.backoff_ms_initial << tried - 1, policy.backoff_ms_max)
                await asyncio.sleep(self._rng.random() * ceiling_ms / 1000)
        except ObjectNotFoundError:
            statistics.not_found += 1
            raise
        except (ObjectStoreError, CorruptObjectError):
            statistics.errors += 1
            raise
        finally:
            statistics.requests_in_flight -= 1
        raise AssertionError("the last attempt returns or raises")

    async def _counted(
        self, chunks: AsyncIterable[Sequence[Buffer]]
    ) -> AsyncIterator[Sequence[Buffer]]:
        async for parts in chunks:
            yield parts
            self.statistics.put_bytes += sum(map(len, parts))


async def _within(timeout_s: float, attempt: Awaitable[_T]) -> _T:
    try:
        async with asyncio.timeout(timeout_s):
            return await attempt
    except TimeoutError as error:
        raise ObjectStoreError(f"no answer within {timeout_s:.0f} s") from error
