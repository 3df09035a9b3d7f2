"""Bounded retries with jitter, a time-out per attempt, and counters, around any object store.

`Retries` is the only loop that sends a request again: the clients' own retries are off. Around a
store it repeats whole calls of the port; inside of a store it repeats the requests of a call that
takes several (parts of an upload, pages of a list), so that one of them does not fail all.

What is retried is `ObjectStoreError`, and anything else that a client may raise is made one
(`headrace.storage.object_store.unexpected`): every operation of the port is idempotent (a `put` repeats
the same content under the same key), except `put_stream`, whose chunks are gone. `RequestRefusedError` is
not retried: the store answered, and would answer the same again. An object that is not found, or that
ends before a range of it does, is looked for a few times more, with short pauses: a wrong answer, or an
answer that was cut short, must not be taken for a loss.
"""

import asyncio
import logging
import random
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final, TypeVar

import msgspec

from headrace.storage.errors import (
    CorruptObjectError,
    FailureKind,
    NotDeletedError,
    ObjectNotFoundError,
    ObjectStoreError,
    StorageError,
)
from headrace.storage.object_store.failures import is_passing, kind_of
from headrace.storage.object_store.statistics import Operation, StoreStatistics
from headrace.storage.object_store.unexpected import UnexpectedClientError, storage_errors_only
from headrace.storage.ports import Buffer, CopiedRange, ObjectStore, Progress, unnoticed

logger = logging.getLogger("headrace.storage.object_store")

LOOK_PAUSE_MS: Final = 10  # after the second look: a random part of it; then of twice that, ...

_T = TypeVar("_T")


class RequestRefusedError(ObjectStoreError):
    """The store understood and refused (credentials, permissions, no such bucket)."""


class _ChunksFailedError(StorageError):
    """What a stream was to be made of could not be had: nothing that the bucket has done."""


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How long one request may be tried.

    The k-th pause is a random part of `backoff_ms_initial << k`, at most of `max_backoff_ms`. An
    attempt is given up after `attempt_ms_base` and the time of its bytes, and none is begun later
    than `total_ms_base` and the time of its bytes after the first.

    `max_looks` are taken for an object that is not found, or is too short: the second at once, the others after pauses.
    """

    max_attempts: int = 5
    backoff_ms_initial: int = 200
    max_backoff_ms: int = 5_000
    attempt_ms_base: int = 30_000
    attempt_bytes_per_s: int = 1024 * 1024  # an attempt gets a second more for each of these
    total_ms_base: int = 60_000
    max_looks: int = 5


class Retries:
    """Tries again, by a policy."""

    def __init__(self, policy: RetryPolicy, rng: random.Random | None = None) -> None:
        """Prepare.

        Args:
            policy: how often, and for how long.
            rng: jitter; None: pauses are half of what they may be, for a caller that is alone.
        """
        self._policy = policy
        self._rng = rng

    def attempt_s(self, size_bytes: int) -> float:
        """How long one attempt at so many bytes may take."""
        policy = self._policy
        return policy.attempt_ms_base / 1000 + size_bytes / policy.attempt_bytes_per_s

    async def run(
        self,
        attempt: Callable[[], Awaitable[_T]],
        size_bytes: int = 0,
        *,
        is_worth: Callable[[ObjectStoreError], bool] = is_passing,
        repeated: Callable[[], None] = lambda: None,
    ) -> _T:
        """Await `attempt()` until it succeeds, fails for good, or the policy gives up.

        Args:
            attempt: begins one attempt.
            size_bytes: how much it sends or reads.
            is_worth: whether the next attempt may end in another way.
            repeated: called before each attempt but the first.

        Raises:
            ObjectStoreError: the last attempt's.
            Exception: anything else, at once.
        """
        policy = self._policy
        more_s = (policy.total_ms_base - policy.attempt_ms_base) / 1000
        give_up_s = _now_s() + self.attempt_s(size_bytes) + more_s
        tried = 0
        while True:
            try:
                return await attempt()
            except ObjectStoreError as error:
                if not is_worth(error):
                    raise
                pause_s = self.pause_s(tried, policy.backoff_ms_initial)
                tried += 1
                if tried == policy.max_attempts or _now_s() + pause_s > give_up_s:
                    raise
            repeated()
            await asyncio.sleep(pause_s)

    @property
    def max_looks(self) -> int:
        """For an object that is not found, or too short."""
        return self._policy.max_looks

    def pause_s(self, tried: int, initial_ms: int) -> float:
        """How long to wait after so many failures but the first."""
        ceiling_ms = min(initial_ms << tried, self._policy.max_backoff_ms)
        return (0.5 if self._rng is None else self._rng.random()) * ceiling_ms / 1000


class RetryingObjectStore:
    """Wraps a store that tries once."""

    def __init__(
        self, inner: ObjectStore, rng: random.Random, policy: RetryPolicy | None = None
    ) -> None:
        self._inner = inner
        self._retries = Retries(policy or RetryPolicy(), rng)
        self.statistics = StoreStatistics()
        # Failures that were logged, and were not followed by a success yet.
        self._told: set[tuple[Operation, type | None]] = set()

    async def put(self, key: str, parts: Sequence[Buffer]) -> None:
        """See `headrace.storage.ports.ObjectStore`."""
        size = sum(map(len, parts))
        started = _now_s()
        self.statistics.put_requests += 1
        await self._try(Operation.PUT, lambda: self._inner.put(key, parts), size)
        self.statistics.put_bytes += size
        self.statistics.put_seconds += _now_s() - started

    async def create(self, key: str, parts: Sequence[Buffer]) -> bool:
        """See `headrace.storage.ports.ObjectStore`. Tried once."""
        size = sum(map(len, parts))
        started = _now_s()
        self.statistics.put_requests += 1
        with self._counted_call(Operation.PUT):
            attempt = self._inner.create(key, parts)
            created = await self._attempt(Operation.PUT, attempt, self._retries.attempt_s(size))
        self.statistics.put_bytes += size
        self.statistics.put_seconds += _now_s() - started
        return created

    async def put_stream(self, key: str, chunks: AsyncIterable[Sequence[Buffer]]) -> None:
        """See `headrace.storage.ports.ObjectStore`. Tried once; how long it takes is up to `chunks`."""
        self.statistics.put_requests += 1
        sent = _Chunks(chunks, self.statistics)

        async def attempt() -> None:
            try:
                await self._inner.put_stream(key, sent.counted())
            except Exception as error:
                if sent.error is not None:
                    raise _ChunksFailedError from error
                raise

        with suppress(_ChunksFailedError), self._counted_call(Operation.PUT):
            await self._attempt(Operation.PUT, attempt(), None)
        if sent.error is not None:
            raise sent.error  # as it was: the store may have wrapped it

    @property
    def copies_remotely(self) -> bool:
        """See `headrace.storage.ports.ObjectStore`."""
        return self._inner.copies_remotely

    async def compose(
        self,
        key: str,
        pieces: Sequence[CopiedRange | Buffer],
        progress: Progress = unnoticed,
    ) -> None:
        """See `headrace.storage.ports.ObjectStore`."""
        copied = sum(it.size_bytes for it in pieces if isinstance(it, CopiedRange))
        given = sum(len(it) for it in pieces if not isinstance(it, CopiedRange))
        self.statistics.copy_requests += 1
        told = 0

        def attempted(size_bytes: int) -> None:
            nonlocal told
            told += size_bytes
            progress(size_bytes)

        def attempt() -> Awaitable[None]:
            attempted(-told)  # what the attempt before has done is done again
            return self._inner.compose(key, pieces, attempted)

        await self._try(Operation.COPY, attempt, copied + given)
        self.statistics.copied_bytes += copied
        self.statistics.put_bytes += given

    async def get_range(self, key: str, start: int, end: int) -> memoryview:
        """See `headrace.storage.ports.ObjectStore`."""
        started = _now_s()
        self.statistics.get_requests += 1
        content = await self._try(
            Operation.GET, lambda: self._inner.get_range(key, start, end), end - start
        )
        self.statistics.get_bytes += len(content)
        self.statistics.get_seconds += _now_s() - started
        return content

    async def delete(self, keys: Sequence[str]) -> None:
        """See `headrace.storage.ports.ObjectStore`."""
        left = keys

        async def attempt() -> None:
            nonlocal left
            try:
                await self._inner.delete(left)
            except NotDeletedError as error:
                left = error.keys
                raise
            left = ()

        self.statistics.delete_requests += 1
        try:
            await self._try(Operation.DELETE, attempt, 0)
        except ObjectStoreError as error:
            if len(left) == len(keys) or isinstance(error, NotDeletedError):
                raise
            raise NotDeletedError(str(error), left, error.kind) from error
        finally:
            self.statistics.deleted_objects += len(keys) - len(left)

    async def list(self, prefix: str) -> Sequence[tuple[str, int]]:
        """See `headrace.storage.ports.ObjectStore`."""
        self.statistics.list_requests += 1
        return await self._try(Operation.LIST, lambda: self._inner.list(prefix), 0)

    async def close(self) -> None:
        """See `headrace.storage.ports.ObjectStore`."""
        await self._inner.close()

    async def _try(
        self, operation: Operation, attempt: Callable[[], Awaitable[_T]], size_bytes: int
    ) -> _T:
        timeout_s = self._retries.attempt_s(size_bytes)
        looks, max_looks = 0, self._retries.max_looks

        async def look() -> _T:
            nonlocal looks
            while True:
                try:
                    return await self._attempt(operation, attempt(), timeout_s)
                except (ObjectNotFoundError, CorruptObjectError):
                    looks += 1
                    if looks == max_looks:
                        raise
                if looks > 1:
                    await asyncio.sleep(self._retries.pause_s(looks - 2, LOOK_PAUSE_MS))

        def count() -> None:
            self.statistics.retries += 1

        with self._counted_call(operation):
            return await self._retries.run(
                look,
                size_bytes,
                is_worth=lambda error: not isinstance(error, RequestRefusedError),
                repeated=count,
            )

    async def _attempt(
        self, operation: Operation, attempt: Awaitable[_T], timeout_s: float | None
    ) -> _T:
        statistics = self.statistics
        try:
            with storage_errors_only(operation.value):
                result = await _within(timeout_s, attempt)
        except ObjectStoreError as error:
            if isinstance(error, UnexpectedClientError):
                self._tell(operation, error)
            is_refusal = isinstance(error, RequestRefusedError)
            kind = FailureKind.REFUSED if is_refusal else kind_of(error)
            statistics.failed(operation, _now_s(), kind, str(error))
            raise
        except (ObjectNotFoundError, CorruptObjectError):
            statistics.answered(operation, _now_s())
            raise
        statistics.answered(operation, _now_s())
        if self._told:
            self._told = {it for it in self._told if it[0] is not operation}
        return result

    def _tell(self, operation: Operation, error: UnexpectedClientError) -> None:
        """Log with its traceback what may be a mistake of ours: once, until something works again."""
        told = (operation, type(error.__cause__))
        if told in self._told:
            return
        self._told.add(told)
        logger.error(
            "unexpected error in the client of the bucket; trying again",
            exc_info=error.__cause__,
            extra={"operation": operation.value, "reason": str(error)},
        )

    @contextmanager
    def _counted_call(self, operation: Operation) -> Iterator[None]:
        statistics = self.statistics
        statistics.begun(operation)
        try:
            yield
        except ObjectNotFoundError:
            statistics.not_found += 1
            raise
        except (ObjectStoreError, CorruptObjectError):
            statistics.errors += 1
            raise
        finally:
            statistics.ended(operation)


class _Chunks:
    """What a stream is made of, counted; keeps why there is no more of it."""

    def __init__(
        self, chunks: AsyncIterable[Sequence[Buffer]], statistics: StoreStatistics
    ) -> None:
        self._chunks = chunks
        self._statistics = statistics
        self.error: Exception | None = None

    async def counted(self) -> AsyncIterator[Sequence[Buffer]]:
        try:
            async for parts in self._chunks:
                yield parts
                self._statistics.put_bytes += sum(map(len, parts))
        except Exception as error:
            self.error = error
            raise


async def _within(timeout_s: float | None, attempt: Awaitable[_T]) -> _T:
    try:
        async with asyncio.timeout(timeout_s):
            return await attempt
    except TimeoutError as error:
        if timeout_s is None:
            raise  # not ours
        message = f"no answer within {timeout_s:g} s"
        raise ObjectStoreError(message, FailureKind.TIMEOUT) from error


def _now_s() -> float:
    return asyncio.get_running_loop().time()
