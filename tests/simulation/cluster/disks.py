"""Disks that outlive processes, and lose what was not synced: of each metadata log, and of each WAL.

The disks of WALs are found at their paths from every host, as on a volume that all of them have. One process has a
disk open to write; others read it meanwhile.
"""

import asyncio
import errno
import random

from headrace.wal.device.block_device import BlockDevice, WriteDone
from headrace.wal.errors import WalDeviceError
from tests.simulation.cluster.process import WORLD, Process
from tests.simulation.directory import SimulatedDirectoryDisk
from tests.simulation.disk import SimulatedDevice, SimulatedDisk


class Volume:
    """The disks of WALs by their paths, as every host finds them."""

    def __init__(self, rng: random.Random, failures: list[str]) -> None:
        """Begin without disks; who writes to a disk of another is added to `failures`."""
        self.disks: dict[str, SimulatedDisk] = {}
        self._failures = failures
        self.is_away = False  # for all but the owners of the disks
        self.writers: dict[str, Process] = {}  # who has, or had, a disk open to write
        self.rng = rng

    def open(self, process: Process, path: str, *, owns: bool, writable: bool) -> BlockDevice:
        """Open a disk for a process.

        Raises:
            WalDeviceError: there is none, or it cannot be reached now.
        """
        disk = self.disks.get(path)
        if disk is None or (self.is_away and not owns):
            raise WalDeviceError(f"{path} cannot be opened")
        if writable and not owns:
            self._failures.append(f"{process.host} opens {path} of another broker to write")
        opened = disk.open(path, writable=writable)
        if writable:
            self.writers[path] = process
        return ProcessDevice(process, opened, self, owns=owns)

    def free_lock(self, path: str) -> str:
        """Name the lock on a disk that nobody has open to write, as processes of one kernel see it; else empty."""
        disk = self.disks.get(path)
        return "" if disk is None or disk.has_writer or self.is_away else disk.lock_name


class HostDisks:
    """What a host's processes find when they start."""

    def __init__(
        self,
        host: str,
        rng: random.Random,
        volume: Volume,
        wal_path: str | None,
        *,
        wal_bytes: int,
        sync_s: float,
    ) -> None:
        """Make empty disks.

        Args:
            host: its name.
            rng: for what a power cut leaves.
            volume: where the WAL's disk is.
            wal_path: of the WAL's disk, which is made unless it is there; None: there is none.
            wal_bytes: its size.
            sync_s: how long a write takes at most.
        """
        self._host = host
        self._rng = rng
        self._volume = volume
        self._wal_path = wal_path
        self._wal_bytes = wal_bytes
        self._sync_s = sync_s
        self.replaced = 0  # so often
        self.metadata = SimulatedDirectoryDisk(self._new_rng(), latency_s=sync_s)
        if wal_path is not None and wal_path not in volume.disks:
            self._put_empty_wal(wal_path)

    @property
    def has_wal(self) -> bool:
        return self._wal_path is not None

    def end_process(self, process: Process, *, power_cut: bool) -> None:
        """Leave on the disks what a process that was killed has written; of a power cut, what was synced."""
        disks: list[SimulatedDirectoryDisk | SimulatedDisk] = [self.metadata]
        if self._wal_path is not None and self._volume.writers.get(self._wal_path) is process:
            del self._volume.writers[self._wal_path]
            wal = self._volume.disks[self._wal_path]
            wal.trace.clear()  # it may hold whole images
            disks.append(wal)
        for disk in disks:
            if power_cut:
                disk.cut_power()
            else:
                disk.end_process()

    def replace_metadata(self) -> None:
        """Put an empty disk into the place of the metadata log's."""
        self.replaced += 1
        self.metadata = SimulatedDirectoryDisk(self._new_rng(), latency_s=self._sync_s)

    def replace_wal(self) -> None:
        """Put an empty disk into the place of the WAL's."""
        self.replaced += 1
        if self._wal_path is not None:
            self._put_empty_wal(self._wal_path)

    def open_wal(self, process: Process, path: str, *, writable: bool) -> BlockDevice:
        """Open a WAL for a process: its own, or that of another broker."""
        owns = path == self._wal_path
        return self._volume.open(process, path, owns=owns, writable=writable)

    def _put_empty_wal(self, path: str) -> None:
        self._volume.disks[path] = SimulatedDisk(
            self._wal_bytes,
            rng=self._new_rng(),
            latency_s=self._sync_s,
            lock_name=f"{self._host}:{self.replaced}:{path}",
        )

    def _new_rng(self) -> random.Random:
        return random.Random(self._rng.random())


class ProcessDevice(SimulatedDevice):
    """A device as a process has it: writes that were submitted get on while it is stopped."""

    def __init__(
        self, process: Process, device: SimulatedDevice, volume: Volume, *, owns: bool
    ) -> None:
        super().__init__(device.disk, device.path, writable=device.writable)
        self._process = process
        self._volume = volume
        self._owns = owns

    def write(self, position: int, data: memoryview, done: WriteDone) -> None:
        def completed(error: OSError | None) -> None:
            loop = asyncio.get_running_loop()
            loop.call_soon(done, error, context=self._process.context)

        WORLD.run(super().write, position, data, completed)

    async def read(self, position: int, into: memoryview) -> None:
        volume = self._volume
        await asyncio.sleep(volume.rng.random() * self.disk.latency_s)
        if volume.is_away and not self._owns:
            raise OSError(errno.EIO, f"{self.path} cannot be read")
        await super().read(position, into)
