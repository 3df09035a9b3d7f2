"""Inflight writes at the device: since when, and whether one takes too long.

A write that fails, is short or takes longer than the time-out is reported once and nothing is tried
again: the state of the device is unknown from then on. So is what an exception behind a write has left.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from headrace.wal.device.block_device import BlockDevice, WriteDone
from headrace.wal.device.latencies import EMPTY_QUEUE, LatencyHistogram, WriteQueue

_NS_PER_MS = 1_000_000


@dataclass(slots=True)
class WriteStatistics:
    """Counters of a log since its start; its writes go to the device or to the bucket."""

    writes_total: int = 0
    written_bytes_total: int = 0
    superblock_writes_total: int = 0  # of the writes; 0 for a log of objects
    io_errors_total: int = 0  # failed or short writes, and those that took too long
    writes: LatencyHistogram = field(default_factory=LatencyHistogram)
    appends: LatencyHistogram = field(default_factory=LatencyHistogram)  # until they were confirmed
    queue: Callable[[], WriteQueue] = lambda: EMPTY_QUEUE  # to be called on the loop
    # The kind of IO, as of `BlockDevice`; empty for a log of objects.
    io: Callable[[], str] = str

    def written(self, size_bytes: int, latency_ns: int) -> None:
        """Count a write that is durable."""
        self.writes_total += 1
        self.written_bytes_total += size_bytes
        self.writes.observe(latency_ns)


class Submissions:
    """Passes writes to the device and checks the time-out of the oldest."""

    def __init__(
        self,
        device: BlockDevice,
        *,
        timeout_ms: int,
        monotonic_ns: Callable[[], int],
        on_failed: Callable[[Exception], None],
    ) -> None:
        self._device = device
        self._timeout_ns = timeout_ms * _NS_PER_MS
        self._monotonic_ns = monotonic_ns
        self._on_failed = on_failed
        self._loop = asyncio.get_running_loop()
        self._started_ns: dict[int, int] = {}  # insertion order is age
        self._next_id = 0
        self._timer: asyncio.TimerHandle | None = None
        self.statistics = WriteStatistics(io=lambda: device.io)

    def write(self, position: int, data: memoryview, done: WriteDone) -> None:
        """Start a write; as `BlockDevice.write`."""
        number = self._next_id
        self._next_id += 1
        self._started_ns[number] = self._monotonic_ns()
        if self._timer is None:
            self._timer = self._loop.call_later(self._timeout_ns / 1e9, self._check)
        self._device.write(position, data, partial(self._finish, number, len(data), done))

    def stop(self) -> None:
        """Check no time-outs any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _finish(self, number: int, size_bytes: int, done: WriteDone, error: OSError | None) -> None:
        try:
            latency_ns = self._monotonic_ns() - self._started_ns.pop(number)
            if error is None:
                self.statistics.written(size_bytes, latency_ns)
            else:
                self.statistics.io_errors_total += 1
            done(error)
        except Exception as unexpected:
            # This write may not be reported otherwise: what waits for it would wait for ever.
            self._on_failed(unexpected)
            raise

    def _check(self) -> None:
        """Report a time-out, or check again when the oldest write's time is up."""
        self._timer = None
        oldest_ns = next(iter(self._started_ns.values()), None)
        if oldest_ns is None:
            return
        remaining_ns = oldest_ns + self._timeout_ns - self._monotonic_ns()
        if remaining_ns > 0:
            self._timer = self._loop.call_later(remaining_ns / 1e9, self._check)
            return
        self.statistics.io_errors_total += 1
        seconds = self._timeout_ns / 1e9
        self._on_failed(
            TimeoutError(f"a write to {self._device.path} took more than {seconds:g} s")
        )
