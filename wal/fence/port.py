"""What a broker needs of a fence of WAL devices, and the one that does nothing.

Leases keep brokers apart as long as the clocks of their machines go on. A virtual machine that was paused may wake up
between the look at its lease and the write that follows. A fence is at the device, so it holds in that case, too.

Epochs of registrations and of drains are on one number line: a later owner of a device has the higher one.
"""

from typing import Final, Protocol

TAKE_TIMEOUT_S: Final = 30.0  # then the device counts as not taken


class DeviceFence(Protocol):
    """Takes devices and files; logs in a bucket have fences of their own."""

    @property
    def description(self) -> str:
        """What it is, for display."""
        ...

    async def take(self, place: str, epoch: int, *, owner: int) -> None:
        """Take a device: from the return on, no other's writes reach it until a newer epoch takes it.

        It may be repeated. It may have taken the device although it failed.

        Args:
            place: path of the device or file.
            epoch: of the registration or drain that takes it.
            owner: node whose log is on it.

        Raises:
            WalFenceError: it was not taken, or a newer epoch has it.
        """
        ...


class NoFence:
    """Takes nothing: the lease alone excludes other writers, and `flock` those of one machine."""

    description = "none: two machines that reach one device are kept apart by leases only"

    async def take(self, place: str, epoch: int, *, owner: int) -> None:
        """Do nothing."""
