"""Back-pressure: delays appends while the WAL or LogCache is full, and refuses them after a time-out.

An append that is refused here has changed nothing, so the refusal is definite and the append may be
retried. The bound and the time-out follow BookKeeper's write cache.
"""

import asyncio
from collections.abc import Callable

from headrace.storage.admission_queue import AdmissionQueue, Waiter
from headrace.storage.errors import BackPressureError, StorageError

# A broker parks at most one append for each connection.
MAX_WAITING = 10_000
# A waiting append keeps its payload in memory, beside LogCache; of all connections together.
MAX_WAITING_BYTES = 256 * 1024 * 1024
# Room also appears without a call of `poll` (a WAL frees space when a trim is durable, and need not
# report it): check again this often, but only while an append waits.
POLL_INTERVAL_MS = 10


class AdmissionGate:
    """Admits appends in order of arrival."""

    def __init__(
        self,
        *,
        has_room: Callable[[int], bool],
        relieve: Callable[[], None],
        timeout_ms: int,
        max_waiting: int = MAX_WAITING,
        max_waiting_bytes: int = MAX_WAITING_BYTES,
    ) -> None:
        """Make an open gate.

        Args:
            has_room: whether a body of so many bytes can be appended now.
            relieve: called while an append waits, to make room earlier than planned.
            timeout_ms: how long an append may wait.
            max_waiting: how many may wait.
            max_waiting_bytes: how large they may be together.
        """
        self._has_room = has_room
        self._relieve = relieve
        self._timeout_ms = timeout_ms
        self._queue = AdmissionQueue(max_waiting, max_waiting_bytes)
        self._called: dict[Waiter, asyncio.Future[None]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._stopped: StorageError | None = None
        self.refused_total = 0

    @property
    def waiting(self) -> int:
        """Appends that wait for room."""
        return len(self._queue)

    def admits(self, body_bytes: int) -> bool:
        """Whether an append of this size may be made now, before anything is awaited."""
        return not self._called and self._stopped is None and self._has_room(body_bytes)

    async def wait(self, body_bytes: int) -> None:
        """Return when an append of this size may be made, which must be done without awaiting.

        Raises:
            BackPressureError: too many wait, or it took too long.
            EngineFailedError, FencedError: appends are over.
        """
        self._require_running()
        if self.admits(body_bytes):
            return
        waiter = self._queue.join(body_bytes)
        if waiter is None:
            self.refused_total += 1
            raise BackPressureError(
                f"{len(self._queue)} appends already wait for room in the WAL or LogCache"
            )
        try:
            async with asyncio.timeout(self._timeout_ms / 1000):
                await self._turn_of(waiter)
        except TimeoutError:
            self.refused_total += 1
            raise BackPressureError(
                f"no room in the WAL or LogCache within {self._timeout_ms} ms"
            ) from None
        finally:
            self._called.pop(waiter, None)
            self._queue.leave(waiter)
            # Only after the caller has appended, so that the next one sees what room is left.
            asyncio.get_running_loop().call_soon(self.poll)

    async def _turn_of(self, waiter: Waiter) -> None:
        while True:
            waiter.is_called = False
            self._called[waiter] = asyncio.get_running_loop().create_future()
            self.poll()
            await self._called[waiter]
            self._require_running()
            # An append that did not wait may have taken the room in between.
            if self._has_room(waiter.body_bytes):
                return

    def poll(self) -> None:
        """Call the head of the queue if there is room; called whenever there may be more."""
        waiter = self._queue.call_next(self._has_room)
        if waiter is not None:
            called = self._called[waiter]
            if not called.done():
                called.set_result(None)
        elif self._called and self._stopped is None:
            self._relieve()
            if self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(
                    POLL_INTERVAL_MS / 1000, self._look_again
                )

    def _look_again(self) -> None:
        self._timer = None
        self.poll()

    def stop(self, error: StorageError) -> None:
        """Admit no further append; those that wait fail with `error`."""
        if self._stopped is not None:
            return
        self._stopped = error
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for called in self._called.values():
            if not called.done():
                called.set_result(None)

    def _require_running(self) -> None:
        if self._stopped is not None:
            raise type(self._stopped)(*self._stopped.args)
