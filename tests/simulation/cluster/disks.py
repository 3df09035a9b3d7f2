"""The disks of one host: of the WAL, and of the metadata log. They outlive processes, and lose what was not synced."""

import asyncio
import random

from headrace.wal.device import BlockDevice, WriteDone
from tests.simulation.cluster.process import WORLD, Process
from tests.simulation.directory import SimulatedDirectoryDisk
from tests.simulation.disk import SimulatedDevice, SimulatedDisk

_MAX_TRACE = 2_000


class HostDisks:
    """What a host's processes find when they start."""

    def __init__(self, rng: random.Random, *, wal_bytes: int, sync_s: float) -> None:
        self._rng = rng
        self._wal_bytes = wal_bytes
        self._sync_s = sync_s
        self.replaced = -1  # so often
        self.replace()

    def end_process(self, *, power_cut: bool) -> None:
        """Leave on the disks what a process that was killed has written; of a power cut, what was synced."""
        if power_cut:
            self.wal.cut_power()
            self.metadata.cut_power()
        else:
            self.wal.end_process()
            self.metadata.end_process()
        del self.wal.trace[:-_MAX_TRACE]

    def replace(self) -> None:
        """Put empty disks into their place."""
        self.replaced += 1
        rng = random.Random(self._rng.random())
        self.wal = SimulatedDisk(self._wal_bytes, rng=rng, latency_s=self._sync_s)
        self.metadata = SimulatedDirectoryDisk(rng, latency_s=self._sync_s)

    def open_wal(self, process: Process, path: str, *, writable: bool) -> BlockDevice:
        """Open the WAL for a process."""
        if len(self.wal.trace) > 10 * _MAX_TRACE:
            del self.wal.trace[:-_MAX_TRACE]
        return ProcessDevice(process, self.wal.open(path, writable=writable))


class ProcessDevice(SimulatedDevice):
    """A device as a process has it: writes that were submitted get on while it is stopped."""

    def __init__(self, process: Process, device: SimulatedDevice) -> None:
        super().__init__(device.disk, device.path, writable=device.writable)
        self._process = process

    def write(self, position: int, data: memoryview, done: WriteDone) -> None:
        def completed(error: OSError | None) -> None:
            loop = asyncio.get_running_loop()
            loop.call_soon(done, error, context=self._process.context)

        WORLD.run(super().write, position, data, completed)
