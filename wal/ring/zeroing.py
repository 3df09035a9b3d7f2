"""Zeroes the pages of a file that are only allocated, in the background.

The first write to a page that is only allocated costs about twice as much as a later one. So the pages
of a ring that were never written are zeroed while it is in use: from its end towards the appends, which
begin at its start. Each step sets a barrier that no block may cross while the step is inflight, and
zeroing ends where the appends come near. Pages that are left then, or when the process ends, and were not
overwritten by appends, are zeroed in the next generation.
"""

import asyncio
from collections.abc import Callable, Sequence

from headrace.invariants import require
from headrace.wal.device.buffers import BufferPool
from headrace.wal.device.submissions import Submissions
from headrace.wal.layout import RING_POSITION, Ring
from headrace.wal.ring.group_commit import GroupCommit

STEP_BYTES = 1024 * 1024
# If appends are closer than this, zeroing stops: they write the rest of the first lap themselves.
_MARGIN_BYTES = 8 * 1024 * 1024
_BUDGET_DELAY_S = 0.01
_MIN_DELAY_S = 0.001


class Zeroing:
    """One pass over a ring whose appends begin at `start_offset`, at the start of a lap."""

    def __init__(
        self,
        commit: GroupCommit,
        submissions: Submissions,
        *,
        ring: Ring,
        start_offset: int,
        unwritten: Sequence[tuple[int, int]],
        monotonic_ns: Callable[[], int],
        on_step: Callable[[OSError | None], None],
    ) -> None:
        """Nothing is written before `start`; `unwritten` are [begin, end) positions, in order."""
        require(start_offset % ring.size_bytes == 0)
        self._commit = commit
        self._submissions = submissions
        self._ring = ring
        # Offsets of this lap that are still to be zeroed.
        self._ranges = [
            (start_offset + begin - RING_POSITION, start_offset + end - RING_POSITION)
            for begin, end in unwritten
        ]
        self._monotonic_ns = monotonic_ns
        self._on_step = on_step
        self._zeros = BufferPool(idle_bytes_per_class=0).take(STEP_BYTES)
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._started_ns = 0
        self._stopped = False

    def start(self) -> None:
        """Begin, if there is anything to do."""
        if self._ranges:
            self._timer = self._loop.call_later(_MIN_DELAY_S, self._step)

    def stop(self) -> None:
        """Begin no further step; one that is inflight still completes."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _step(self) -> None:
        self._timer = None
        if not self._ranges:
            return
        begin, end = self._ranges[-1]
        low = max(begin, end - STEP_BYTES)
        if low < self._commit.next_offset + _MARGIN_BYTES:
            return
        self._started_ns = self._monotonic_ns()
        if not self._commit.try_spend(end - low, self._started_ns):
            self._timer = self._loop.call_later(_BUDGET_DELAY_S, self._step)
            return
        self._ranges[-1:] = [(begin, low)] if begin < low else []
        self._commit.barrier_offset = low
        self._submissions.write(self._ring.position(low), self._zeros[: end - low], self._finish)

    def _finish(self, error: OSError | None) -> None:
        self._commit.barrier_offset = None
        if error is None and not self._stopped:
            # A rest as long as the step leaves at least half of the device to the appends.
            delay_s = max((self._monotonic_ns() - self._started_ns) / 1e9, _MIN_DELAY_S)
            self._timer = self._loop.call_later(delay_s, self._step)
        self._on_step(error)
