"""How the bucket fares: waited for at the start, told by `/readyz` ever after.

Nothing that a bucket does ends the node. Until it has answered once there is nothing to serve from,
so the start goes on asking. Later the parts that need it repeat what fails, and this only tells.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from headrace.broker.telemetry.readiness import CheckResult
from headrace.storage.errors import ObjectStoreError
from headrace.storage.object_store.statistics import Operation, StoreStatistics, Trouble

logger = logging.getLogger("headrace.storage")

MIN_RETRY_MS: Final = 250
MAX_RETRY_MS: Final = 5_000
# A node whose reads or writes have failed for so long is not ready; shorter trouble is only told.
MAX_TROUBLE_MS: Final = 10_000
MAX_REASON_LENGTH: Final = 200
# Without these, producers or consumers will have to wait; deletions and listings can.
_NEEDED: Final = (Operation.PUT, Operation.GET)

_T = TypeVar("_T")


class BucketHealth:
    """A condition of readiness."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._missing = "not asked yet"  # why it has not answered; empty once it has
        self._statistics: StoreStatistics | None = None

    async def answer(self, ask: Callable[[], Awaitable[_T]]) -> _T:
        """Ask until the bucket answers; refusals are repeated as well, since they can be put right.

        Cancellation: the request under way may still take effect.
        """
        retry_ms = MIN_RETRY_MS
        while True:
            try:
                return await ask()
            except ObjectStoreError as error:
                self._missing = str(error)[:MAX_REASON_LENGTH]
                delay_ms = retry_ms * (1 + self._rng.random()) / 2
                logger.warning(
                    "the bucket does not answer as it should, the start waits for it",
                    extra={"reason": str(error), "delay_ms": round(delay_ms)},
                )
            await asyncio.sleep(delay_ms / 1000)
            retry_ms = min(2 * retry_ms, MAX_RETRY_MS)

    def watch(self, statistics: StoreStatistics) -> None:
        """Tell from now on what these counters say."""
        self._missing = ""
        self._statistics = statistics

    def check(self) -> CheckResult:
        """Readiness: reads and writes have not failed for long."""
        if self._statistics is None:
            return CheckResult("bucket", ok=False, reason=f"has not answered: {self._missing}")
        now_s = asyncio.get_running_loop().time()
        troubles = self._statistics.troubles(now_s)
        if troubles:
            lasting = any(
                it.operation in _NEEDED and it.since_s * 1000 >= MAX_TROUBLE_MS for it in troubles
            )
            return CheckResult("bucket", not lasting, "; ".join(map(_told, troubles)))
        answered_s = self._statistics.answered_ago_s(now_s)
        told = "nothing asked yet" if answered_s is None else f"answered {answered_s:.0f} s ago"
        return CheckResult("bucket", ok=True, reason=told)


def _told(trouble: Trouble) -> str:
    return (
        f"{trouble.operation.value} fails for {trouble.since_s:.0f} s, {trouble.failures} times, "
        f"{trouble.kind.value}: {trouble.reason[:MAX_REASON_LENGTH]}"
    )
