"""Machines that are paused with their clocks, as virtual machines are, and devices of WALs that can be reserved.

A paused machine wakes up in the belief that its lease is valid. What clients have sent to it meanwhile it takes, and
acknowledges, unless its device refuses the write.
"""

import asyncio
import errno
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from headrace.broker.node.environment import NodeEnvironment
from headrace.config.node import WalConfig
from headrace.wal.device.block_device import BlockDevice, WriteDone, explained
from headrace.wal.fence.port import DeviceFence, NoFence
from headrace.wal.fence.reservation import ReservationFence
from tests.simulation.cluster.cluster import Cluster, Host
from tests.simulation.cluster.faults import Story
from tests.simulation.cluster.nature import Nature
from tests.simulation.cluster.process import Process
from tests.simulation.cluster.settings import SESSION_MS
from tests.simulation.shared_device import Machine, SharedDevice

PAUSED = "machine paused"
REFUSED = "write refused by a reservation"
# What was sent to it meanwhile is sent again after this time; clients may be the first.
_SENT_AGAIN_S = 1.0
# Behind the session, in which others have drained its log, and before its clients give up.
_PAUSE_S = (SESSION_MS / 1000 + 0.3, SESSION_MS / 1000 + 0.95)


class PausableCluster(Cluster):
    """A cluster whose WALs are on devices that all machines reach, with or without fences."""

    def __init__(self, nature: Nature, seed: int, *, is_fenced: bool) -> None:
        self._is_fenced = is_fenced
        self._devices: dict[str, SharedDevice] = {}  # by path
        self.paused_s: dict[str, float] = {}  # by host: what its clocks have missed
        super().__init__(nature, seed)

    def _environment(self, host: Host, process: Process) -> NodeEnvironment:
        whole = super()._environment(host, process)

        def boot_clock_ms() -> int:
            return whole.boot_clock_ms() - round(self.paused_s.get(host.name, 0) * 1000)

        def open_device(config: WalConfig, writable: bool) -> BlockDevice:
            device = whole.open_device(config, writable)
            machine = self._device(config.path).machine(host.name)
            device.write = partial(_write, self, machine, device.write)  # type: ignore[method-assign]
            return device

        return replace(
            whole,
            boot_clock_ms=boot_clock_ms,
            open_device=open_device,
            make_fence=lambda _, node_id: self._fence(host, node_id),
        )

    def _device(self, path: str) -> SharedDevice:
        return self._devices.setdefault(path, SharedDevice())

    def _fence(self, host: Host, node_id: int) -> DeviceFence:
        if not self._is_fenced:
            return NoFence()
        opened: list[str] = []

        def open_device(place: str, _flags: int) -> int:
            opened.append(place)  # of one machine, one after the other: nothing runs between
            return os.open(os.devnull, os.O_RDWR)

        def ioctl(fd: int, request: int, argument: bytearray) -> int:
            return self._device(opened[-1]).machine(host.name).ioctl(fd, request, argument)

        return ReservationFence(node_id, ioctl=ioctl, open_device=open_device)


def _write(
    cluster: PausableCluster,
    machine: Machine,
    write: "partial[None]",
    position: int,
    data: memoryview,
    done: WriteDone,
) -> None:
    try:
        machine.write()
    except OSError as error:
        cluster.tell(REFUSED)
        asyncio.get_running_loop().call_soon(done, explained(OSError(errno.EBADE, error.strerror)))
        return
    write(position, data, done)


class PausingStory(Story):
    """The faults of other stories, and machines that are paused."""

    def __init__(self, cluster: PausableCluster, *arguments: object) -> None:
        super().__init__(cluster, *arguments)  # type: ignore[arg-type]
        self._pausable = cluster
        self._kinds[PAUSED] = self._pause

    async def _pause(self) -> None:
        host = self.rng.choice(self.cluster.brokers)
        process, pause_s = host.process, self.rng.uniform(*_PAUSE_S)
        if process is None or not process.is_alive:
            return
        process.stop()
        self._controllers(host, self.cluster.network.cut)
        await asyncio.sleep(pause_s)
        paused_s = self._pausable.paused_s
        paused_s[host.name] = paused_s.get(host.name, 0) + pause_s
        if process.is_alive and process.is_stopped:
            process.resume(self.cluster.loop)
        await asyncio.sleep(self.rng.uniform(0, _SENT_AGAIN_S))
        self._controllers(host, self.cluster.network.heal)

    def _controllers(self, host: Host, change: Callable[[str, str], None]) -> None:
        for controller in self.cluster.controllers:
            change(controller.name, host.name)
