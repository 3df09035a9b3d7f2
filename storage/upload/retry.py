"""Repeats an operation for as long as its failure says that it may work later."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from headrace.storage.errors import RetriableStorageError
from headrace.storage.stats import UploadCounters
from headrace.storage.upload.backoff import Backoff

logger = logging.getLogger("headrace.storage.upload")

# What a call to the bucket or to the control plane may fail with and still work later.
RETRIABLE = (RetriableStorageError, TimeoutError, ConnectionError)

T = TypeVar("T")


class Retrying:
    """Repeats for ever: what waits behind is safe in the WAL, and back-pressure bounds it."""

    def __init__(self, rng: random.Random, counters: UploadCounters) -> None:
        self._rng = rng
        self._counters = counters

    async def call(self, what: str, operation: Callable[[], Awaitable[T]]) -> T:
        """Await `operation()` until it succeeds or fails for good.

        Raises:
            Exception: whatever `operation` raises that is not retriable.

        Cancellation: the attempt under way may still take effect.
        """
        backoff = Backoff(self._rng)
        while True:
            try:
                return await operation()
            except RETRIABLE as error:
                delay_ms = backoff.next_delay_ms()
                self._counters.retries_total += 1
                logger.warning(
                    "will try again",
                    extra={"what": what, "reason": repr(error), "delay_ms": round(delay_ms)},
                )
                await asyncio.sleep(delay_ms / 1000)
