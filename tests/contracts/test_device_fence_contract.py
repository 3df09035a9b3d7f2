"""What every fence of devices must do: by reservations, however the kernel tells of them, and by a command."""

import asyncio
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from headrace.wal.errors import WalFenceError
from headrace.wal.fence.command import CommandFence
from headrace.wal.fence.port import DeviceFence, NoFence
from headrace.wal.fence.reservation import ReservationFence
from tests.simulation.shared_device import NVME_CONFLICT, SharedDevice

PLACE = "/dev/shared"
# Keeps who may write, and the newest epoch: what a command of an operator has to do.
SCRIPT = """#!/bin/sh
taken=$(cat {folder}/epoch 2>/dev/null || echo 0)
if [ "$2" -lt "$taken" ]; then echo "epoch $taken has it"; exit 1; fi
echo "$2" > {folder}/epoch
echo "$3" > {folder}/node
"""


@dataclass
class Shared:
    """A device that the machines of two nodes reach."""

    fence: Callable[[int], DeviceFence]  # of a node
    may_write: Callable[[int], bool]


def reserved(device: SharedDevice) -> Shared:
    def fence(node_id: int) -> DeviceFence:
        return ReservationFence(
            node_id,
            ioctl=device.machine(f"machine {node_id}").ioctl,
            open_device=lambda place, flags: os.open("/dev/null", os.O_RDWR),
        )

    def may_write(node_id: int) -> bool:
        try:
            device.machine(f"machine {node_id}").write()
        except OSError:
            return False
        return True

    return Shared(fence, may_write)


def commanded(folder: Path) -> Shared:
    script = folder / "fence"
    script.write_text(SCRIPT.format(folder=folder))
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return Shared(
        lambda node_id: CommandFence(str(script), node_id),
        lambda node_id: int((folder / "node").read_text()) == node_id,
    )


@pytest.fixture(params=["block layer", "nvme", "nvme, short host ids", "command"])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Shared:
    if request.param == "command":
        return commanded(tmp_path)
    reads_by, *short = request.param.split(", ")
    conflict = SharedDevice.conflict if reads_by == "block layer" else NVME_CONFLICT
    return reserved(SharedDevice(reads_by=reads_by, has_long_host_ids=not short, conflict=conflict))


def take(shared: Shared, node_id: int, epoch: int, owner: int = 1) -> None:
    asyncio.run(shared.fence(node_id).take(PLACE, epoch, owner=owner))


def test_who_takes_a_device_writes_to_it_and_nobody_else_does(shared: Shared) -> None:
    take(shared, 1, 5)
    assert (shared.may_write(1), shared.may_write(2)) == (True, False)


def test_a_drainer_takes_it_from_its_owner_who_takes_it_back_with_a_newer_epoch(
    shared: Shared,
) -> None:
    take(shared, 1, 5)
    take(shared, 2, 7)
    assert (shared.may_write(1), shared.may_write(2)) == (False, True)
    take(shared, 1, 9)
    assert (shared.may_write(1), shared.may_write(2)) == (True, False)


def test_it_may_be_taken_again_at_the_same_epoch(shared: Shared) -> None:
    take(shared, 1, 5)
    take(shared, 1, 5)
    assert shared.may_write(1)


def test_an_owner_that_starts_again_takes_it_with_its_new_epoch(shared: Shared) -> None:
    take(shared, 1, 5)
    take(shared, 1, 6)
    assert (shared.may_write(1), shared.may_write(2)) == (True, False)
    with pytest.raises(WalFenceError):
        take(shared, 2, 5)


def test_an_older_epoch_does_not_get_it_back(shared: Shared) -> None:
    take(shared, 2, 7)
    with pytest.raises(WalFenceError, match=PLACE):
        take(shared, 1, 5)
    assert (shared.may_write(1), shared.may_write(2)) == (False, True)


def test_without_a_fence_nothing_is_taken() -> None:
    fence: DeviceFence = NoFence()
    asyncio.run(fence.take(PLACE, 5, owner=1))
    asyncio.run(fence.take(PLACE, 4, owner=1))
    assert "leases only" in fence.description
