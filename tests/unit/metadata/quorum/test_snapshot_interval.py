"""When a snapshot is due, after another one took the place of the log."""

import asyncio
from types import SimpleNamespace

import pytest

from headrace.metadata.quorum.snapshots import Snapshots

MIB = 1 << 20


class Growing:
    """A log of which only sizes are known, and the snapshots that are taken of it."""

    def __init__(self) -> None:
        self.store = SimpleNamespace(log_bytes=0, snapshot_bytes=0, is_snapshot_being_read=False)
        self.is_disk_full = False
        self.taken_mib: list[int] = []
        self._grown = asyncio.Event()
        entries = SimpleNamespace(end_index=0, wait_past=self._wait_past)
        self.snapshots = Snapshots.__new__(Snapshots)
        self.snapshots._store = self.store
        self.snapshots._applied = SimpleNamespace(entries=entries)
        self.snapshots.take = self._take

    async def _wait_past(self, _index: int) -> None:
        await self._grown.wait()
        self._grown.clear()

    async def _take(self) -> None:
        if self.is_disk_full:
            raise OSError("full")
        self.taken_mib.append(self.store.log_bytes // MIB)
        self.store.log_bytes = 0

    def install(self, snapshot_bytes: int) -> None:
        self.store.log_bytes, self.store.snapshot_bytes = 0, snapshot_bytes

    async def grow(self, mib: int) -> None:
        for _ in range(mib):
            self.store.log_bytes += MIB
            self._grown.set()
            await asyncio.sleep(0)
            await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("failed_mib", "snapshot_mib", "taken_mib"), [(0, 200, 20), (60, 0, 2)], ids=["large", "small"]
)
def test_an_installed_snapshot_says_when_the_next_one_is_due(
    failed_mib: int, snapshot_mib: int, taken_mib: int
) -> None:
    async def main() -> None:
        growing = Growing()
        growing.is_disk_full = True
        running = asyncio.create_task(growing.snapshots.run(20 * MIB))
        await asyncio.sleep(0)
        await growing.grow(failed_mib)
        growing.is_disk_full = False
        growing.install(snapshot_mib * MIB)
        await growing.grow(25)
        running.cancel()
        assert growing.taken_mib[0] in (taken_mib, taken_mib + 1)

    asyncio.run(main())
