"""Runs the production WAL on a simulated disk and judges what recovery makes of every crash."""

from dataclasses import dataclass, field, replace

from config.node import WalConfig
from tests.simulation.disk import CrashPoint, Noted, SimulatedDisk
from wal.errors import WalError
from wal.layout import RING_POSITION, Ring, Superblock, newest_superblock
from wal.log import DeltaWal
from wal.port import RecoveredRecord
from wal.recovery import Scan, ScanSummary

KIB = 1024
RING_BYTES = 64 * KIB
SMALL = WalConfig(
    path="simulated",
    capacity_bytes=RING_POSITION + RING_BYTES,
    block_bytes=8 * KIB,
    io_depth=4,
    window_bytes_initial=8 * KIB,
    window_bytes_max=32 * KIB,
    record_bytes_max=64 * KIB,
)


class FakeClock:
    """Time that passes by being looked at: 100 microseconds each time."""

    def __init__(self) -> None:
        self.now_ns = 0

    def __call__(self) -> int:
        self.now_ns += 100_000
        return self.now_ns


class WalOnDisk:
    """A `DeltaWal` on a `SimulatedDisk` that writes what it is told and tells into the disk's trace."""

    def __init__(self, disk: SimulatedDisk, config: WalConfig = SMALL, *, epoch: int = 1) -> None:
        self.disk = disk
        self.confirmed: list[int] = []
        self.failures: list[WalError] = []
        self.rooms = 0
        self.wal = DeltaWal(
            config,
            node_id=7,
            node_epoch=epoch,
            cluster_id="simulation",
            rng=disk.rng,
            wall_clock_ms=lambda: 1_700_000_000_000,
            on_confirmed=self._on_confirmed,
            on_failed=self.failures.append,
            on_room=self._on_room,
            opener=lambda config, writable: disk.open(config.path, writable=writable),
            monotonic_ns=FakeClock(),
        )

    def _on_confirmed(self, offset: int) -> None:
        assert not self.confirmed or offset > self.confirmed[-1]
        self.confirmed.append(offset)
        self.disk.note("confirmed", offset)

    def _on_room(self) -> None:
        self.rooms += 1

    async def begin(self) -> list[RecoveredRecord]:
        """Start, recover, reset."""
        await self.wal.start()
        records = [record async for record in self.wal.recover()]
        self.disk.note(
            "resetting", None
        )  # as the storage engine does once all of it is in the bucket
        await self.wal.reset()
        self.disk.note("reset", self.wal.superblock.head_offset)
        return records

    def append(self, body: bytes) -> int:
        """Append and note it; return the end offset."""
        before = len(self.disk.trace)  # an append may submit a block at once
        appended = self.wal.append(body[:4], body[4:])
        note = Noted("append", (appended.offset, appended.end_offset, body))
        self.disk.trace.insert(before, note)
        return appended.end_offset

    def trim(self, offset: int) -> None:
        self.disk.note("trim", offset)
        self.wal.trim(offset)


@dataclass(slots=True)
class Expectation:
    """What must and may be found, as far as a run had come."""

    appended: dict[int, bytes] = field(default_factory=dict)
    ends: dict[int, int] = field(default_factory=dict)
    confirmed: int = 0
    trim: int = -1  # asked for; may or may not be durable
    life_start: int = 0

    @classmethod
    def at(cls, point: CrashPoint, before: "Expectation | None" = None) -> "Expectation":
        """What holds at a crash point of a run, which may follow an earlier one on the same disk."""
        found = cls() if before is None else before.copy()
        for note in point.notes:
            match note.what, note.value:
                case "append", (offset, end, body):
                    found.appended[offset] = body
                    found.ends[offset] = end
                case "confirmed", int(offset):
                    found.confirmed = offset
                case "trim", int(offset):
                    found.trim = max(found.trim, offset)
                case "resetting", _:
                    found.trim = max(found.appended, default=-1)
                case "reset", int(offset):
                    found.life_start = offset
        return found

    def copy(self) -> "Expectation":
        return replace(self, appended=dict(self.appended), ends=dict(self.ends))

    @property
    def required(self) -> set[int]:
        """Offsets that were acknowledged, are of this life and were not released."""
        return {
            offset
            for offset, end in self.ends.items()
            if end <= self.confirmed and offset > self.trim and offset >= self.life_start
        }

    def judge(self, superblock: Superblock, records: list[RecoveredRecord]) -> None:
        """Fail when something acknowledged is missing, or something is there that must not be."""
        offsets = [record.offset for record in records]
        assert offsets == sorted(set(offsets)), "not in order, or twice"
        for record in records:
            assert self.appended.get(record.offset) == bytes(record.body), "phantom"
            assert self.ends[record.offset] == record.end_offset
            assert record.offset > superblock.trim_offset, "resurrected from below the trim offset"
            assert record.offset >= self.life_start, "resurrected from an earlier life"
        missing = self.required - set(offsets)
        assert not missing, f"acknowledged and lost: {sorted(missing)}"


def recover_image(
    image: bytearray | memoryview,
) -> tuple[Superblock, list[RecoveredRecord], ScanSummary]:
    """Recover from the bytes of a disk, with the production cores and no loop: for millions of images."""
    view = memoryview(image)
    superblock = newest_superblock(view[:RING_POSITION])
    assert superblock is not None, "both superblocks lost"
    scan = Scan(superblock, path="image")
    ring: Ring = superblock.ring
    records = []
    while (wanted := scan.wants()) is not None:
        offset, _ = wanted
        position = ring.position(offset)
        records += scan.feed(view[position : position + ring.distance_to_end(offset)])
    return superblock, records, scan.summary
