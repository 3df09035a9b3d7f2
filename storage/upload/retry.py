"""Repeats an operation as long as it fails with an error that may go away."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from headrace.loop_clock import loop_ms
from headrace.storage.errors import RetriableStorageError
from headrace.storage.stats import UploadCounters
from headrace.storage.upload.backoff import Backoff

logger = logging.getLogger("headrace.storage.upload")

# Errors of calls to the bucket or to the control plane that may succeed later.
RETRIABLE = (RetriableStorageError, TimeoutError, ConnectionError)

T = TypeVar("T")


class Retrying:
    """Repeats without end: the records that wait are safe in the WAL, and back-pressure bounds them.

    With `give_up_ms`, an operation that has failed for so long fails: another node may be able to carry it out.
    """

    def __init__(
        self, rng: random.Random, counters: UploadCounters, give_up_ms: int | None = None
    ) -> None:
        self._rng = rng
        self._counters = counters
        self._give_up_ms = give_up_ms

    async def call(self, what: str, operation: Callable[[], Awaitable[T]]) -> T:
        """Await `operation()` until it succeeds or fails with an error that is not retriable.

        Raises:
            Exception: any error of `operation` that is not retriable.

        Cancellation: the inflight attempt may still take effect.
        """
        backoff = Backoff(self._rng)
        failing_since_ms: int | None = None
        while True:
            try:
                return await operation()
            except RETRIABLE as error:
                now_ms = loop_ms()
                failing_since_ms = now_ms if failing_since_ms is None else failing_since_ms
                if self._give_up_ms is not None and now_ms - failing_since_ms > self._give_up_ms:
                    raise
                delay_ms = backoff.next_delay_ms()
                self._counters.retries_total += 1
                logger.warning(
                    "%s failed; trying again in %.1f s",
                    what,
                    delay_ms / 1000,
                    extra={"what": what, "reason": repr(error), "delay_ms": round(delay_ms)},
                )
                await asyncio.sleep(delay_ms / 1000)
