"""The queue of appends that wait for room: which one is next, and whether it fits. Pure.

First come, first served: while one append waits, no other is admitted, however small; otherwise a
large append could wait without end. Only the head of the queue is called, and the next one only
after the head has left, so that each of them sees the room that is really free.
"""

from collections import deque
from collections.abc import Callable

from headrace.storage.cache.log_cache import max_charge


def log_cache_has_room(occupied_bytes: int, capacity_bytes: int, body_bytes: int) -> bool:
    """Whether records of `body_bytes` fit. An empty cache takes any size, which would never fit otherwise.

    Args:
        occupied_bytes: charged for what is not uploaded, and reserved for the open appends.
        capacity_bytes: of LogCache.
        body_bytes: size of the records.
    """
    return occupied_bytes == 0 or occupied_bytes + max_charge(body_bytes, 1) <= capacity_bytes


class Waiter:
    """One append that waits for room."""

    __slots__ = ("body_bytes", "is_called")

    def __init__(self, body_bytes: int) -> None:
        self.body_bytes = body_bytes
        self.is_called = False


class AdmissionQueue:
    """At most `max_waiting` waiters with `max_bytes` bytes in all, in order of arrival."""

    __slots__ = ("_max_bytes", "_max_waiting", "_waiting", "_waiting_bytes")

    def __init__(self, max_waiting: int, max_bytes: int) -> None:
        self._waiting: deque[Waiter] = deque()
        self._max_waiting = max_waiting
        self._max_bytes = max_bytes
        self._waiting_bytes = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def join(self, body_bytes: int) -> Waiter | None:
        """Join the queue; None when it is full. An empty queue takes an append of any size."""
        if len(self._waiting) >= self._max_waiting:
            return None
        if self._waiting and self._waiting_bytes + body_bytes > self._max_bytes:
            return None
        waiter = Waiter(body_bytes)
        self._waiting_bytes += body_bytes
        self._waiting.append(waiter)
        return waiter

    def leave(self, waiter: Waiter) -> None:
        """Leave the queue, admitted or not."""
        self._waiting.remove(waiter)
        self._waiting_bytes -= waiter.body_bytes

    def call_next(self, has_room: Callable[[int], bool]) -> Waiter | None:
        """Call the head if there is room for it; None when there is nothing to do."""
        if not self._waiting or self._waiting[0].is_called:
            return None
        head = self._waiting[0]
        if not has_room(head.body_bytes):
            return None
        head.is_called = True
        return head
