"""Deadlines of a shard: those that are set, and those that have passed."""

import heapq
from collections.abc import Iterator
from enum import IntEnum
from typing import Final, NamedTuple

_SLACK: Final = (
    64  # superseded heap entries that are tolerated in addition to the number of deadlines
)


class DeadlineKind(IntEnum):
    """What happens at a deadline."""

    JOIN = 0  # a group's join phase ends, or its initial delay
    SYNC = 1  # members that have not synced are removed
    SESSION = 2  # a member (or a pending one) is removed
    RETENTION = 3  # expired offsets are searched and removed


class DeadlineKey(NamedTuple):
    """One deadline; scheduling it again replaces it."""

    kind: DeadlineKind
    group_id: str = ""
    member_id: str = ""


class Deadlines:
    """A set of deadlines in ms of the monotonic clock; moving one back is cheap (every heartbeat does).

    Moving a deadline back costs one dictionary write: its entry in the heap stays and is corrected
    when it reaches the top. The heap is rebuilt when it holds more superseded entries than live ones.
    """

    def __init__(self) -> None:
        self._at: dict[DeadlineKey, int] = {}
        self._queued: dict[DeadlineKey, int] = {}  # earliest heap entry of each live key
        self._heap: list[tuple[int, DeadlineKey]] = []

    def __len__(self) -> int:
        return len(self._at)

    def schedule(self, key: DeadlineKey, at_ms: int) -> None:
        """Set or replace a deadline."""
        self._at[key] = at_ms
        queued = self._queued.get(key)
        if queued is not None and queued <= at_ms:
            return
        self._queued[key] = at_ms
        heapq.heappush(self._heap, (at_ms, key))
        if len(self._heap) > 2 * len(self._at) + _SLACK:
            self._rebuild()

    def cancel(self, key: DeadlineKey) -> None:
        """Remove a deadline, if there is one."""
        self._at.pop(key, None)
        self._queued.pop(key, None)

    def get(self, key: DeadlineKey) -> int | None:
        """When this deadline is; None when it is not set."""
        return self._at.get(key)

    def next_ms(self) -> int | None:
        """Give the earliest deadline; None when there is none."""
        if not self._heap:
            return None
        at_ms, key = self._heap[0]
        if self._at.get(key) == at_ms == self._queued.get(key):
            return at_ms
        self._settle()
        return self._heap[0][0] if self._heap else None

    def pop_due(self, now_ms: int) -> Iterator[DeadlineKey]:
        """Remove and yield each deadline at or before now, including those set during the iteration."""
        while True:
            self._settle()
            if not self._heap or self._heap[0][0] > now_ms:
                return
            _, key = heapq.heappop(self._heap)
            del self._at[key], self._queued[key]
            yield key

    def _settle(self) -> None:
        """Correct the top of the heap until it holds a deadline's current time."""
        while self._heap:
            at_ms, key = self._heap[0]
            due_ms = self._at.get(key)
            if due_ms == at_ms and self._queued.get(key) == at_ms:
                return
            heapq.heappop(self._heap)
            if due_ms is not None and self._queued.get(key) == at_ms:
                self._queued[key] = due_ms
                heapq.heappush(self._heap, (due_ms, key))

    def _rebuild(self) -> None:
        self._heap = [(at_ms, key) for key, at_ms in self._at.items()]
        heapq.heapify(self._heap)
        self._queued = dict(self._at)
