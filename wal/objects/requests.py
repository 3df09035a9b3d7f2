"""Requests to the bucket: each attempt has a time-out, and is repeated until it is answered.

Repeating is safe: no object is ever replaced, and if one exists already, its header is read. An attempt
that timed out may still take effect; the next one then finds the object.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from headrace.wal.device.submissions import WriteStatistics
from headrace.wal.objects.layout import HEADER_BYTES
from headrace.wal.objects.port import BucketError, BucketRefusedError, LogBucket, Part

# The first attempt ends early: a request that hangs blocks everything behind it.
ATTEMPT_S_INITIAL = 5.0
MIN_BYTES_PER_S = 1024 * 1024  # an attempt gets a second more for each of these
BACKOFF_S_INITIAL = 0.1
MAX_BACKOFF_S = 5.0

_T = TypeVar("_T")
_logger = logging.getLogger("headrace.wal")


@dataclass(frozen=True, slots=True)
class ExistingObject:
    """An object that exists already where one was to be created: its header, None when it is gone again."""

    header: memoryview | None


class Requests:
    """Makes requests for one log."""

    def __init__(
        self,
        bucket: LogBucket,
        *,
        statistics: WriteStatistics,
        log_name: str,
        rng: random.Random,
        timeout_s: float,
    ) -> None:
        """Nothing is sent yet.

        Args:
            bucket: that holds the objects.
            statistics: where attempts that fail are counted.
            log_name: for messages.
            rng: jitter of the back-off.
            timeout_s: of an attempt, at most; and of all attempts, where a request may be abandoned.
        """
        self._bucket = bucket
        self._statistics = statistics
        self._log_name = log_name
        self._rng = rng
        self._timeout_s = timeout_s
        self._failing = 0  # requests whose last attempt failed

    async def create(
        self, key: str, content: Sequence[Part], *, may_give_up: bool
    ) -> ExistingObject | None:
        """Create an object; return None when this call did, else the object that exists already.

        Raises:
            BucketError: no answer in time, if it may give up.
        """
        size = sum(map(len, content))
        if await self._until_answered(
            lambda: self._bucket.create(key, content), size, may_give_up=may_give_up
        ):
            return None
        # Not created again from here on: the existing object must be read.
        return ExistingObject(await self.read(key, 0, HEADER_BYTES, may_give_up=may_give_up))

    async def read(
        self, key: str, start: int, end: int, *, may_give_up: bool = True
    ) -> memoryview | None:
        """Read a part of an object; as `LogBucket.read`."""
        return await self._until_answered(
            lambda: self._bucket.read(key, start, end), end - start, may_give_up=may_give_up
        )

    async def list(self, folder: str) -> Sequence[tuple[str, int]]:
        """List; as `LogBucket.list`."""
        return await self._until_answered(lambda: self._bucket.list(folder), 0, may_give_up=True)

    async def delete(self, keys: Sequence[str]) -> None:
        """Delete; as `LogBucket.delete`."""
        await self._until_answered(lambda: self._bucket.delete(keys), 0, may_give_up=True)

    async def _until_answered(
        self, attempt: Callable[[], Awaitable[_T]], size_bytes: int, *, may_give_up: bool
    ) -> _T:
        loop = asyncio.get_running_loop()
        give_up_s = loop.time() + self._timeout_s
        attempt_s, backoff_s = min(ATTEMPT_S_INITIAL, self._timeout_s), BACKOFF_S_INITIAL
        failed = False
        try:
            while True:
                try:
                    answer = await _within(attempt_s + size_bytes / MIN_BYTES_PER_S, attempt())
                except BucketError as error:
                    self._statistics.io_errors_total += 1
                    refused = isinstance(error, BucketRefusedError)
                    if may_give_up and (refused or loop.time() + backoff_s >= give_up_s):
                        raise
                    if not failed:
                        failed = True
                        self._begins_to_fail(error)
                else:
                    if failed and self._failing == 1:
                        _logger.info("the bucket of the WAL %s answers again", self._log_name)
                    return answer
                await asyncio.sleep(backoff_s * (0.5 + self._rng.random() / 2))
                backoff_s = min(2 * backoff_s, MAX_BACKOFF_S)
                attempt_s = min(2 * attempt_s, self._timeout_s)
        finally:
            self._failing -= failed

    def _begins_to_fail(self, error: BucketError) -> None:
        self._failing += 1
        if self._failing == 1:
            _logger.warning(
                "the bucket of the WAL %s does not answer; trying again, nothing is acknowledged until it does",
                self._log_name,
                extra={"reason": str(error)},
            )


async def _within(timeout_s: float, attempt: Awaitable[_T]) -> _T:
    try:
        async with asyncio.timeout(timeout_s):
            return await attempt
    except TimeoutError as error:
        raise BucketError(f"no answer within {timeout_s:.0f} s") from error
