"""Health of the bucket: the start waits for it, and `/readyz` reports it from then on.

No failure of the bucket ends the node. Until it has answered once the node cannot serve, so the start
keeps trying. Later the parts that need the bucket retry on their own, and this class only reports.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from headrace.broker.telemetry.readiness import CheckResult
from headrace.storage.errors import ObjectStoreError
from headrace.storage.object_store.statistics import Operation, StoreStatistics, Trouble

logger = logging.getLogger("headrace.storage")

MIN_RETRY_MS: Final = 250
MAX_RETRY_MS: Final = 5_000
# A node whose reads or writes have failed for this long is not ready; shorter failures are only reported.
MAX_TROUBLE_MS: Final = 10_000
MOMENT_MS: Final = 1_500  # likewise: it gets no partitions of others
MAX_REASON_LENGTH: Final = 200
# Without these, producers or consumers have to wait. Deletions and listings may fail for longer.
_NEEDED: Final = (Operation.PUT, Operation.GET)

_T = TypeVar("_T")


class BucketHealth:
    """A condition of readiness."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._missing = "no request sent yet"  # why it has not answered; empty once it has
        self._statistics: StoreStatistics | None = None

    async def answer(self, ask: Callable[[], Awaitable[_T]]) -> _T:
        """Call `ask` until the bucket answers; refusals are retried as well, since an operator can correct them.

        Cancellation: the inflight request may still take effect.
        """
        retry_ms = MIN_RETRY_MS
        while True:
            try:
                return await ask()
            except ObjectStoreError as error:
                self._missing = str(error)[:MAX_REASON_LENGTH]
                delay_ms = retry_ms * (1 + self._rng.random()) / 2
                logger.warning(
                    "the bucket does not answer or refuses; the start waits for it and tries again",
                    extra={"reason": str(error), "delay_ms": round(delay_ms)},
                )
            await asyncio.sleep(delay_ms / 1000)
            retry_ms = min(2 * retry_ms, MAX_RETRY_MS)

    def watch(self, statistics: StoreStatistics) -> None:
        """Report these counters from now on."""
        self._missing = ""
        self._statistics = statistics

    def check(self) -> CheckResult:
        """Readiness: reads and writes have not failed for long."""
        if self._statistics is None:
            return CheckResult("bucket", ok=False, reason=f"has not answered: {self._missing}")
        now_s = asyncio.get_running_loop().time()
        troubles = self._statistics.troubles(now_s)
        if troubles:
            is_ok = not _lasts(troubles, MAX_TROUBLE_MS)
            return CheckResult("bucket", is_ok, "; ".join(map(_describe, troubles)))
        answered_s = self._statistics.answered_ago_s(now_s)
        reason = "no request sent yet" if answered_s is None else f"answered {answered_s:.0f} s ago"
        return CheckResult("bucket", ok=True, reason=reason)

    def is_answering(self) -> bool:
        """Whether reads and writes succeed, or have failed for a moment only: else nothing can be opened."""
        if self._statistics is None:
            return False
        now_s = asyncio.get_running_loop().time()
        return not _lasts(self._statistics.troubles(now_s), MOMENT_MS)


def _lasts(troubles: Sequence[Trouble], longest_ms: int) -> bool:
    return any(it.operation in _NEEDED and it.since_s * 1000 >= longest_ms for it in troubles)


def _describe(trouble: Trouble) -> str:
    return (
        f"{trouble.operation.value} has failed for {trouble.since_s:.0f} s, {trouble.failures} times, "
        f"{trouble.kind.value}: {trouble.reason[:MAX_REASON_LENGTH]}"
    )
