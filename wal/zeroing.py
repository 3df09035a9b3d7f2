"""Zeroes a newly allocated file in the background.

The first write to a page that is only allocated costs about twice as much as a later one. So the
ring is zeroed while it is in use: from its end towards the appends, which begin at its start. Each
step sets a barrier that no block may cross while it is under way, and it ends where the appends
come near.
"""

import asyncio
from collections.abc import Callable

from wal.buffers import BufferPool
from wal.group_commit import GroupCommit
from wal.layout import Ring
from wal.submissions import Submissions

STEP_BYTES = 1024 * 1024
# Appends closer than this are not worth a race: they write the rest of the first lap themselves.
_MARGIN_BYTES = 8 * 1024 * 1024
_BUDGET_DELAY_S = 0.01
_DELAY_S_MIN = 0.001


class Zeroing:
    """One pass over a ring whose appends begin at `start_offset`, at the start of a lap."""

    def __init__(
        self,
        commit: GroupCommit,
        submissions: Submissions,
        *,
        ring: Ring,
        start_offset: int,
        monotonic_ns: Callable[[], int],
        on_step: Callable[[OSError | None], None],
    ) -> None:
        assert start_offset % ring.size_bytes == 0
        self._commit = commit
        self._submissions = submissions
        self._ring = ring
        self._low = start_offset + ring.size_bytes  # zeroed from here to the end of the lap
        self._monotonic_ns = monotonic_ns
        self._on_step = on_step
        self._zeros = BufferPool(idle_bytes_per_class=0).take(STEP_BYTES)
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._started_ns = 0
        self._stopped = False

    def start(self) -> None:
        """Begin."""
        self._timer = self._loop.call_later(_DELAY_S_MIN, self._step)

    def stop(self) -> None:
        """Begin no further step; one that is under way still completes."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _step(self) -> None:
        self._timer = None
        low = self._low - STEP_BYTES
        if low < self._commit.next_offset + _MARGIN_BYTES:
            return
        self._started_ns = self._monotonic_ns()
        if not self._commit.try_spend(STEP_BYTES, self._started_ns):
            self._timer = self._loop.call_later(_BUDGET_DELAY_S, self._step)
            return
        self._commit.barrier_offset = low
        self._submissions.write(self._ring.position(low), self._zeros[:STEP_BYTES], self._finish)

    def _finish(self, error: OSError | None) -> None:
        self._commit.barrier_offset = None
        self._low -= STEP_BYTES
        if error is None and not self._stopped:
            # As long a rest as the step took leaves the appends half of the device at least.
            delay_s = max((self._monotonic_ns() - self._started_ns) / 1e9, _DELAY_S_MIN)
            self._timer = self._loop.call_later(delay_s, self._step)
        self._on_step(error)
