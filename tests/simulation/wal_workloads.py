"""What the production WAL is put through before every crash is tried: a table of named workloads.

A workload is a script over a `Run`, in virtual time, with every choice drawn from one seed: the same
seed gives the same trace. Rings are small, so that a few dozen records go around them several times.
The scripts are in `tests.simulation.wal_scripts`.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from headrace.config.node import WalConfig
from headrace.wal.errors import WalFailedError
from headrace.wal.framing import BLOCK_HEADER_BYTES, RECORD_HEADER_BYTES
from headrace.wal.layout import align_down
from tests.simulation import virtual_time
from tests.simulation.disk import Policy, SimulatedDisk, any_order
from tests.simulation.wal_run import SMALL, Expectation, FakeClock, WalOnDisk, recover_image

FRAME_BYTES = BLOCK_HEADER_BYTES + RECORD_HEADER_BYTES  # what the first record of a block costs
_MAX_POLLS = 20_000
_POLL_MS = 0.1


class Run:
    """One workload under way on one disk."""

    def __init__(self, disk: SimulatedDisk, config: WalConfig, now_s: Callable[[], float]) -> None:
        self.disk = disk
        self.rng = disk.rng
        self.config = config
        self._now_s = now_s
        self.log = self._open()

    def _open(self) -> WalOnDisk:
        return WalOnDisk(self.disk, self.config, clock=FakeClock(self._now_s))

    async def begin(self, **changes: object) -> None:
        """Start (with other settings, perhaps), recover, judge what was recovered, reset."""
        self.config = replace(self.config, **changes)
        self.log = log = self._open()
        expected = Expectation.after(self.disk.trace)
        await log.start()
        superblock = log.wal.superblock
        if self.config.accept_loss_generation:
            _, _, summary = recover_image(self.disk.image, accept_loss=True)
            expected = expected.without(summary.lost)
        expected.judge(superblock, await log.recover())
        await log.reset()

    async def cut_power_while_beginning(self) -> None:
        """Begin, and lose power before that is done."""
        task = asyncio.create_task(self.begin())
        await self.sleep(self.rng.uniform(0, 3))
        self.disk.cut_power()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    def damage(self) -> str:
        """Lose power, and a bit of a record that was acknowledged; return the generation that is lost by that."""
        superblock = self.log.wal.superblock
        offset = self.rng.choice(sorted(Expectation.after(self.disk.trace).required))
        self.disk.note("damaged", None)
        self.disk.image[superblock.ring.position(offset) + self.rng.randrange(24)] ^= 1
        self.disk.cut_power()
        return f"{superblock.generation_id:016x}"

    async def sleep(self, ms: float) -> None:
        """Let virtual time pass; at least the loop turns once."""
        await asyncio.sleep(ms / 1000)

    async def until(self, reached: Callable[[], bool]) -> None:
        """Wait, for two virtual seconds at most."""
        for _ in range(_MAX_POLLS):
            if reached():
                return
            await self.sleep(_POLL_MS)
        msg = "stuck"
        raise AssertionError(msg)

    async def quiet(self) -> None:
        """Wait until every append is confirmed and nothing is in flight."""
        wal = self.log.wal
        await self.until(lambda: wal.confirmed_offset == wal.next_offset and not self.disk.pending)

    async def failed(self) -> None:
        """Wait until the log has failed, and let the process end."""
        await self.until(lambda: bool(self.log.failures))
        with suppress(WalFailedError):
            await self.log.wal.shutdown()
        self.disk.fault = lambda number, position: None
        self.disk.cut_power()

    def body(self, size_bytes: int) -> bytes:
        return self.rng.randbytes(size_bytes)

    @property
    def rest_of_lap_bytes(self) -> int:
        """Bytes to the end of the lap from where the next block would begin, when the log is quiet."""
        return self.log.wal.superblock.ring.distance_to_end(self.log.wal.next_offset)

    @property
    def largest_body_bytes(self) -> int:
        """By the rule of `GroupCommit`: two of them fit into what may be unconfirmed."""
        unconfirmed = min(self.config.max_window_bytes, self.log.wal.capacity_bytes)
        return min(self.config.max_record_bytes, align_down(unconfirmed // 2) - FRAME_BYTES)

    async def empty_and_resize(self, capacity_bytes: int) -> None:
        """What the owner of a log does once appends are parked."""
        wal = self.log.wal
        await self.until(lambda: wal.confirmed_offset == wal.next_offset)
        self.trim_to_confirmed()
        await self.until(lambda: not wal.used_bytes)
        await self.log.resize(capacity_bytes)

    def trim_to_confirmed(self) -> None:
        confirmed = self.log.confirmed
        if confirmed and confirmed[-1] - 1 > self.log.wal.trim_offset:
            self.log.trim(confirmed[-1] - 1)

    async def append(self, body: bytes) -> int:
        """Append, releasing what is confirmed when there is no room; return the end offset."""
        wal = self.log.wal

        def is_possible() -> bool:
            if self.log.failures:
                raise self.log.failures[0]
            if not wal.room_for(len(body)):
                self.trim_to_confirmed()
            return wal.room_for(len(body))

        await self.until(is_possible)
        return self.log.append(body)


@dataclass(frozen=True, slots=True)
class Workload:
    """A row of the table."""

    name: str
    script: Callable[[Run], Awaitable[None]]
    config: WalConfig = SMALL
    policy: Policy = any_order
    latency_s: float = 0.001  # of a device write, at most
    is_file: bool = False
    disk_bytes: int = 0  # more than the log uses

    def record(self, seed: int) -> SimulatedDisk:
        """Run it; return the disk with its trace.

        Raises:
            AssertionError: an invariant was violated on the way.
        """
        disk = SimulatedDisk(
            self.disk_bytes or self.config.capacity_bytes,
            rng=random.Random(f"{self.name}:{seed}"),
            policy=self.policy,
            latency_s=self.latency_s,
            is_file=self.is_file,
        )

        async def main() -> None:
            run = Run(disk, self.config, asyncio.get_running_loop().time)
            await self.script(run)

        virtual_time.run(main())
        return disk
