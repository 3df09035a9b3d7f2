"""Offers records to a log, at a fixed rate or flat out, and measures each until it is confirmed.

At a fixed rate records are due by a schedule that waits for nothing: latency counts from the time
a record was due, so a stall is charged to every record that came meanwhile (no coordinated omission). Flat
out, as much is kept appended and unconfirmed as fills the device twice over.
"""

import random
import time
from array import array
from collections import deque
from collections.abc import Callable

from headrace.config.node import WalConfig
from headrace.wal.device.open_device import DeviceOpener, open_device
from headrace.wal.errors import WalError
from headrace.wal.ring.log import DeltaWal
from headrace.wal.ring.wake_timer import WakeTimer, WakeTimerFactory, precise_timer
from headrace.wal.tools.benchmark.figures import Load

CLUSTER_ID = "benchmark"  # of the logs that a benchmark leaves behind
_HEADER = bytes(33)  # the stream engine puts as much before each batch
_NS_PER_SECOND = 1_000_000_000
# An idle driver looks for arrivals so often; as in a broker, where requests share a turn of the loop.
_TICK_NS = 100_000
_TRIMS_PER_CAPACITY = 4


class LoadDriver:
    """The user of one log during one run."""

    def __init__(
        self,
        load: Load,
        config: WalConfig,
        *,
        opener: DeviceOpener = open_device,
        clock_ns: Callable[[], int] = time.perf_counter_ns,
        wake_timer: WakeTimerFactory = precise_timer,
    ) -> None:
        """Nothing is opened before `wal.start`; the log uses the same clock and timer."""
        self._clock_ns = clock_ns
        self._wake_timer = wake_timer
        self._payload = random.Random(1).randbytes(load.record_bytes)  # noqa: S311 - filling
        self._body_bytes = len(_HEADER) + load.record_bytes
        self._interval_ns = (
            load.record_bytes * _NS_PER_SECOND / load.bytes_per_second
            if load.bytes_per_second
            else 0.0
        )
        request_bytes = max(config.block_bytes, load.record_bytes)
        full = max(1, 2 * config.io_depth * request_bytes // load.record_bytes)
        self._max_open = load.max_open or full
        self._open: deque[tuple[int, int]] = deque()  # end offset, when the record was due
        self._trimmed_offset = 0
        self._began_ns = 0
        self._arrivals = 0
        self._continue: Callable[[], None] = self._arrive if self._interval_ns else self._fill
        self._is_running = False
        self._is_awaited = False  # the timer is set, which costs as much as two appends
        self._timer: WakeTimer | None = None
        self.latencies_ns: array[int] = array("q")
        self.failure: WalError | None = None
        self.wal = DeltaWal(
            config,
            node_id=1,
            node_epoch=1,
            cluster_id=CLUSTER_ID,
            rng=random.SystemRandom(),
            wall_clock_ms=lambda: 0,
            on_confirmed=self._on_confirmed,
            on_failed=self._on_failed,
            on_room=self._on_room,
            opener=opener,
            monotonic_ns=clock_ns,
            wake_timer=wake_timer,
        )

    def begin(self) -> None:
        """Start to append."""
        self._is_running = True
        self._timer = self._wake_timer(self._tick)
        self._trimmed_offset = self.wal.next_offset
        self._began_ns = self._clock_ns()
        self._continue()

    def end(self) -> None:
        """Append no more."""
        self._is_running = False
        if self._timer is not None:
            self._timer.close()

    def take_latencies(self) -> "array[int]":
        """Return what was measured since the last call."""
        taken, self.latencies_ns = self.latencies_ns, array("q")
        return taken

    def _on_failed(self, error: WalError) -> None:
        self.failure = error
        self.end()

    def _on_confirmed(self, offset: int) -> None:
        now_ns = self._clock_ns()
        opened, note = self._open, self.latencies_ns.append
        while opened and opened[0][0] <= offset:
            note(now_ns - opened.popleft()[1])
        if not self._is_running:
            return
        if offset - self._trimmed_offset > self.wal.capacity_bytes // _TRIMS_PER_CAPACITY:
            self._trimmed_offset = offset
            self.wal.trim(offset - 1)
        self._continue()

    def _on_room(self) -> None:
        if self._is_running:
            self._continue()

    def _fill(self) -> None:
        """Append until enough is open."""
        opened, append, payload = self._open, self.wal.append, self._payload
        missing = self._max_open - len(opened)
        while missing > 0 and self.wal.room_for(self._body_bytes):
            now_ns = self._clock_ns()
            opened.append((append(_HEADER, payload).end_offset, now_ns))
            missing -= 1

    def _arrive(self) -> None:
        """Append what is due by now; without room it is appended later, and the wait counts as latency."""
        opened, append, payload = self._open, self.wal.append, self._payload
        arrived = self._arrivals
        due = int((self._clock_ns() - self._began_ns) / self._interval_ns) + 1
        while arrived < due and self.wal.room_for(self._body_bytes):
            due_ns = self._began_ns + int(arrived * self._interval_ns)
            opened.append((append(_HEADER, payload).end_offset, due_ns))
            arrived += 1
        self._arrivals = arrived
        if arrived == due and not self._is_awaited:
            assert self._timer is not None
            self._is_awaited = True
            next_due_ns = self._began_ns + int(arrived * self._interval_ns)
            self._timer.set(max(next_due_ns - self._clock_ns(), _TICK_NS))

    def _tick(self) -> None:
        self._is_awaited = False
        self._arrive()
