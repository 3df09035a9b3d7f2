"""Deletes objects that are released, in the background; its failures are not errors of the log.

Objects that a writer has released itself are deleted at once. Objects that it found at its start (fences,
void objects) must outlive every request of an older generation that could still be inflight: otherwise such
a request would create its object in the gap, and its sender would take it for confirmed. So they are
deleted by a *sweep*: every `FENCE_RETENTION_S` it deletes all objects below the head of the sweep before,
of any generation. S3 refuses a request that was signed more than 15 minutes ago; a process that was
suspended for longer, and signs again, has lost its lease, which is checked before anything is
acknowledged.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable

from headrace.task_failures import report_unexpected
from headrace.wal.objects.layout import LogKeys
from headrace.wal.objects.port import BucketError
from headrace.wal.objects.requests import Requests

FENCE_RETENTION_S = 30 * 60.0
KEYS_PER_REQUEST = 500
RETRY_S = 10.0
# Numbers beyond that are dropped, and found by a sweep.
MAX_WAITING = 100_000

_logger = logging.getLogger("headrace.wal")


class Deletion:
    """Deletes the objects of one log."""

    def __init__(self, requests: Requests, keys: LogKeys, *, head: Callable[[], int]) -> None:
        """Start nothing yet.

        `head` returns the number below which nothing is needed, durably.
        """
        self._requests = requests
        self._keys = keys
        self._head = head
        self._waiting: deque[int] = deque(maxlen=MAX_WAITING)
        self._has_work = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self.failures_total = 0

    def start(self) -> None:
        """Work from now on."""
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(self._run()), loop.create_task(self._sweep())]
        for task in self._tasks:
            task.add_done_callback(report_unexpected)

    def add(self, numbers: Iterable[int]) -> None:
        """Have these deleted."""
        self._waiting.extend(numbers)
        if self._waiting:
            self._has_work.set()

    async def finish(self, timeout_s: float) -> None:
        """Delete what waits, if that can be done in time, and stop."""
        await asyncio.gather(*self.stop(), return_exceptions=True)
        try:
            async with asyncio.timeout(timeout_s):
                await self._delete_waiting()
        except (BucketError, TimeoutError) as error:
            _logger.info(
                "released WAL objects were not deleted before the stop; the next start of this node deletes them",
                extra={"reason": repr(error)},
            )

    def stop(self) -> list[asyncio.Task[None]]:
        """Stop; return the tasks that are ending."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        return tasks

    async def _run(self) -> None:
        while True:
            await self._has_work.wait()
            try:
                await self._delete_waiting()
            except BucketError as error:
                self.failures_total += 1
                _logger.warning(
                    "released WAL objects were not deleted; trying again in %g s",
                    RETRY_S,
                    extra={"reason": str(error)},
                )
                await asyncio.sleep(RETRY_S)

    async def _delete_waiting(self) -> None:
        while self._waiting:
            numbers = list(self._waiting)[:KEYS_PER_REQUEST]
            await self._requests.delete([self._keys.key(number) for number in numbers])
            for number in numbers:
                if self._waiting and self._waiting[0] == number:
                    self._waiting.popleft()
        self._has_work.clear()

    async def _sweep(self) -> None:
        head = self._head()
        while True:
            await asyncio.sleep(FENCE_RETENTION_S)
            before, head = head, self._head()
            try:
                listed = await self._requests.list(self._keys.folder)
            except BucketError as error:
                _logger.warning(
                    "WAL objects were not listed, so old ones are not deleted; trying again in %g min",
                    FENCE_RETENTION_S / 60,
                    extra={"reason": str(error)},
                )
                head = before
                continue
            numbers = (self._keys.number(key) for key, _ in listed)
            self.add(number for number in numbers if number is not None and number < before)
