"""How many requests to the bucket, and how many bytes of them, may be inflight at once.

Cold reads, reads ahead, uploads and compaction have a budget each: inflight requests of one class,
and requests that wait for its budget, take nothing from the budgets of the others.

| class | requests | bytes |
|---|---|---|
| cold reads | `max_read_requests` | `max_read_bytes`, at most a quarter of the BlockCache |
| reads ahead | half of those | as many |
| uploads | `upload_concurrency` | `max_upload_bytes` |
| compaction | `max_compaction_requests` | `max_compaction_request_bytes` |

`statistics` and `waiting` show the requests that wait for a budget, rather than for the bucket.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from headrace.invariants import require


class BudgetStatistics(msgspec.Struct):
    """Counted since the start."""

    waited: int = 0  # requests that found no room and have left the queue, with room or without
    waited_seconds: float = 0.0  # of these requests together
    put_off: int = 0  # requests that do not wait (`try_acquire`) and found no room


class RequestBudget:
    """A FIFO gate. What is larger than the whole budget is let through alone."""

    def __init__(self, max_requests: int, max_bytes: int) -> None:
        require(max_requests > 0)
        require(max_bytes > 0)
        self._max_requests = max_requests
        self._max_bytes = max_bytes
        self.requests = 0
        self.bytes = 0
        self.statistics = BudgetStatistics()
        self._waiters: deque[tuple[asyncio.Future[None], int]] = deque()

    @property
    def waiting(self) -> int:
        """Requests that wait for room now."""
        return len(self._waiters)

    @asynccontextmanager
    async def reserved(self, size_bytes: int) -> AsyncIterator[None]:
        """Hold room for one request, waiting for it behind earlier ones."""
        charge = min(size_bytes, self._max_bytes)
        await self._acquire(charge)
        try:
            yield
        finally:
            self.release(charge)

    def try_acquire(self, size_bytes: int) -> bool:
        """Take room if there is any now and nothing waits; `release` the same size afterwards."""
        charge = min(size_bytes, self._max_bytes)
        if self._waiters or not self._fits(charge):
            self.statistics.put_off += 1
            return False
        self._take(charge)
        return True

    def release(self, size_bytes: int) -> None:
        """Give room back."""
        self.requests -= 1
        self.bytes -= min(size_bytes, self._max_bytes)
        self._wake()

    async def _acquire(self, charge: int) -> None:
        if not self._waiters and self._fits(charge):
            self._take(charge)
            return
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()
        self._waiters.append((waiter, charge))
        begun_s = loop.time()
        try:
            await waiter
        except asyncio.CancelledError:
            if not waiter.cancelled():
                self.release(charge)  # granted in the same moment
            elif (waiter, charge) in self._waiters:
                self._waiters.remove((waiter, charge))
                self._wake()
            raise
        finally:
            self.statistics.waited += 1
            self.statistics.waited_seconds += loop.time() - begun_s

    def _wake(self) -> None:
        while self._waiters:
            waiter, charge = self._waiters[0]
            if waiter.cancelled():  # and its task has not run since
                self._waiters.popleft()
                continue
            if not self._fits(charge):
                return
            self._waiters.popleft()
            self._take(charge)
            waiter.set_result(None)

    def _fits(self, charge: int) -> bool:
        return self.requests < self._max_requests and self.bytes + charge <= self._max_bytes

    def _take(self, charge: int) -> None:
        self.requests += 1
        self.bytes += charge
