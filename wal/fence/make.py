"""Chooses the fence that the configuration names."""

from collections.abc import Callable

from headrace.config.node import WalConfig
from headrace.wal.fence.command import CommandFence
from headrace.wal.fence.port import DeviceFence, NoFence
from headrace.wal.fence.reservation import ReservationFence

COMMAND = "command:"

FenceMaker = Callable[[WalConfig, int], DeviceFence]  # (settings, node id)


def make_fence(config: WalConfig, node_id: int) -> DeviceFence:
    """Return the fence of a node."""
    if config.fence == "reservation":
        return ReservationFence(node_id)
    if config.fence.startswith(COMMAND):
        return CommandFence(config.fence.removeprefix(COMMAND), node_id)
    return NoFence()
