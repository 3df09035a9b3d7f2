"""Where a node's log lies, and what keeps others from writing to it."""

import asyncio
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headrace.broker.adapters.write_ahead_log import LogListener, LogLocation, LogOwner
from headrace.broker.node.registration import Registration
from headrace.config.node import NodeConfig, WalConfig
from headrace.invariants import InvariantError
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.object_store.retrying import RetryingObjectStore
from headrace.wal.device.lock_names import free_lock
from headrace.wal.device.open_device import DeviceOpener, open_device
from headrace.wal.fence.port import NoFence
from tests.simulation.disk import SimulatedDisk
from tests.simulation.wal_run import SMALL, FakeClock, SimulatedTimer


class Client:
    """As much of a `MetadataClient` as a registry needs until it is asked."""

    def subscribe(self, listener: object) -> None:
        pass


async def open_bucket(uri: str, **_: Any) -> RetryingObjectStore:
    return RetryingObjectStore(MemoryObjectStore(), random.Random(7))


def location(config: WalConfig, opener: DeviceOpener) -> LogLocation:
    return LogLocation(
        config,
        rng=random.Random(7),
        wall_clock_ms=lambda: 0,
        open_device=opener,
        fence=NoFence(),
        open_bucket=open_bucket,
        monotonic_ns=FakeClock(),
        wake_timer=SimulatedTimer,
    )


def opener_of(disk: SimulatedDisk) -> DeviceOpener:
    return lambda config, writable: disk.open(config.path, writable=writable)


def test_a_log_that_was_not_taken_is_not_started_and_nothing_is_written() -> None:
    async def main() -> None:
        disk = SimulatedDisk(SMALL.capacity_bytes)
        place = location(SMALL, opener_of(disk))
        await place.open({})
        await place.hold()
        place.registry(Client())  # type: ignore[arg-type]  # all that it asks
        ignore = LogListener(
            on_confirmed=lambda _: None, on_failed=lambda _: None, on_room=lambda: None
        )
        log = place.log(LogOwner(cluster_id="c", node_id=1, node_epoch=3), ignore)
        with pytest.raises(InvariantError):
            await log.start()
        assert disk.writes == 0
        await place.close()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("path", "fenced_by"),
    [("/dev/shared", NoFence.description), ("s3://bucket/wal", "objects in the bucket")],
)
def test_what_fences_a_log_is_told(path: str, fenced_by: str) -> None:
    async def main() -> None:
        disk = SimulatedDisk(SMALL.capacity_bytes)
        place = location(replace(SMALL, path=path), opener_of(disk))
        await place.open({})
        assert place.fenced_by == fenced_by
        await place.close()

    asyncio.run(main())


def test_a_node_registers_with_the_lock_that_it_holds_whatever_lies_at_the_path_by_then(
    tmp_path: Path,
) -> None:
    """Another broker would find the lock of the new file free, and report this one as ended."""

    async def main() -> None:
        path = tmp_path / "wal"
        config = NodeConfig(wal=replace(NodeConfig().wal, path=str(path)))
        place = location(config.wal, open_device)
        await place.open({})
        await place.hold()
        path.rename(tmp_path / "away")
        path.touch()
        registered = Registration(config, place, controller_lock="of the metadata log").locks()
        assert free_lock(path) not in registered
        await place.close()
        assert registered == (free_lock(tmp_path / "away"), "of the metadata log")

    asyncio.run(main())
