"""Runs the production WAL on a simulated disk and judges what recovery makes of every crash."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache

from headrace.config.node import WalConfig
from headrace.wal.errors import WalError
from headrace.wal.layout import RING_POSITION, Ring, Superblock, newest_superblock
from headrace.wal.port import RecoveredRecord
from headrace.wal.ring.content import END_BYTES, Content, examine
from headrace.wal.ring.log import DeltaWal
from headrace.wal.ring.recovery import Scan, ScanSummary
from headrace.wal.ring.superblock_store import require_log
from tests.simulation.disk import Event, Noted, SimulatedDisk

KIB = 1024
RING_BYTES = 64 * KIB
SMALL = WalConfig(
    path="simulated",
    capacity_bytes=RING_POSITION + RING_BYTES,
    block_bytes=8 * KIB,
    io_depth=4,
    window_bytes_initial=8 * KIB,
    max_window_bytes=32 * KIB,
    max_record_bytes=64 * KIB,
)


class FakeClock:
    """Time that passes by being looked at, 100 microseconds each time, and as a loop's virtual time passes."""

    def __init__(self, loop_time_s: Callable[[], float] = lambda: 0.0) -> None:
        self._loop_time_s = loop_time_s
        self._now_ns = 0

    def __call__(self) -> int:
        self._now_ns = max(self._now_ns + 100_000, int(self._loop_time_s() * 1e9))
        return self._now_ns


class SimulatedTimer:
    """A `WakeTimer` on the loop's own timers, which are exact in virtual time."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._handle: asyncio.TimerHandle | None = None
        self._closed = False

    def set(self, delay_ns: int) -> None:
        if not self._closed:
            self._cancel()
            loop = asyncio.get_running_loop()
            self._handle = loop.call_later(delay_ns / 1e9, self._wake)

    def close(self) -> None:
        self._closed = True
        self._cancel()

    def _cancel(self) -> None:
        if self._handle is not None:
            self._handle.cancel()


class WalOnDisk:
    """A `DeltaWal` on a `SimulatedDisk` that writes what it is told and tells into the disk's trace."""

    def __init__(
        self,
        disk: SimulatedDisk,
        config: WalConfig = SMALL,
        *,
        epoch: int = 1,
        clock: Callable[[], int] | None = None,
    ) -> None:
        self.disk = disk
        self.confirmed: list[int] = []
        self.failures: list[WalError] = []
        self.rooms = 0
        self.after_confirm: Callable[[int], None] = lambda offset: None
        self._generation = disk.generation
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
            monotonic_ns=clock or FakeClock(),
            wake_timer=SimulatedTimer,
        )

    def _on_confirmed(self, offset: int) -> None:
        assert self._generation == self.disk.generation, "confirmed after the end"
        assert not self.failures, "confirmed after the failure"
        assert not self.confirmed or offset > self.confirmed[-1]
        self.confirmed.append(offset)
        self.disk.note("confirmed", offset)
        self.after_confirm(offset)

    def _on_room(self) -> None:
        self.rooms += 1

    async def begin(self) -> list[RecoveredRecord]:
        """Start, recover, reset."""
        await self.start()
        records = await self.recover()
        await self.reset()
        return records

    async def start(self) -> None:
        await self.wal.start()
        self.disk.note("started", None)

    async def recover(self) -> list[RecoveredRecord]:
        return [record async for record in self.wal.recover()]

    async def reset(self) -> None:
        """As the storage engine does once all that was recovered is in the bucket."""
        self.disk.note("resetting", None)
        await self.wal.reset()
        self.disk.note("reset", self.wal.superblock.head_offset)

    async def resize(self, capacity_bytes: int) -> None:
        """Likewise, while the log runs; appends are parked, and what is in the ring is released."""
        await self.wal.resize(capacity_bytes)
        self.disk.note("reset", self.wal.superblock.head_offset)

    def append(self, body: bytes) -> int:
        """Append and note it; return the end offset."""
        before = len(self.disk.trace)  # an append may submit a block at once
        half = min(4, len(body))
        appended = self.wal.append(body[:half], body[half:])
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
    required: set[int] = field(
        default_factory=set
    )  # acknowledged, of this generation, not released
    confirmed: int = 0
    trim: int = -1  # asked for; may or may not be durable
    generation_start: int = 0
    formatted: bool = False
    damaged: bool = False  # until the next reset; what is lost by that is accepted
    size_bytes: int | None = None  # of the file, if that has changed
    _unconfirmed: list[int] = field(default_factory=list)

    @classmethod
    def after(cls, events: Iterable[Event]) -> "Expectation":
        found = cls()
        for event in events:
            if isinstance(event, Noted):
                found.note(event)
        return found

    def note(self, note: Noted) -> bool:
        """Take in what has happened; return whether more is expected than before."""
        match note.what, note.value:
            case "append", (offset, end, body):
                assert offset > max(self.ends, default=-1), "an offset was handed out again"
                self.appended[offset] = body
                self.ends[offset] = end
                self._unconfirmed.append(offset)
            case "confirmed", int(offset):
                self.confirmed = offset
                while self._unconfirmed and self.ends[self._unconfirmed[0]] <= offset:
                    self.required.add(self._unconfirmed.pop(0))
                self._release()
                return True
            case "trim", int(offset):
                self.trim = max(self.trim, offset)
                self._release()
            case "size", int(size_bytes):
                self.size_bytes = size_bytes
                return True
            case "damaged", _:
                self.damaged = True
            case "started", _:
                self.formatted = True
                return True
            case "resetting", _:
                self.trim = max(self.ends, default=-1)
                self._unconfirmed.clear()
                self._release()
            case "reset", int(offset):
                self.generation_start = offset
                self.damaged = False
                return True
        return False

    def without(self, lost: list[tuple[int, int]]) -> "Expectation":
        """Return what is still expected when the bytes from `start` up to `end` of each range are lost."""
        rest = self.copy()
        rest.required = {
            offset
            for offset in self.required
            if not any(start < self.ends[offset] and offset < end for start, end in lost)
        }
        return rest

    def _release(self) -> None:
        self.required = {offset for offset in self.required if offset > self.trim}

    def copy(self) -> "Expectation":
        return replace(
            self,
            appended=dict(self.appended),
            ends=dict(self.ends),
            required=set(self.required),
            _unconfirmed=list(self._unconfirmed),
        )

    def judge(self, superblock: Superblock, records: list[RecoveredRecord]) -> None:
        """Fail when something acknowledged is missing, or something is there that must not be."""
        size_bytes = self.size_bytes
        assert size_bytes is None or superblock.capacity_bytes <= size_bytes, "the file was cut off"
        offsets = [record.offset for record in records]
        assert offsets == sorted(set(offsets)), "not in order, or twice"
        for record in records:
            assert self.appended.get(record.offset) == bytes(record.body), (
                f"phantom at {record.offset}"
            )
            assert self.ends[record.offset] == record.end_offset, "an end that was not told"
            assert record.offset > superblock.trim_offset, "resurrected from below the trim offset"
        self.judge_offsets(offsets)

    def judge_offsets(self, offsets: list[int]) -> None:
        """Judge what was recovered, whose content is known to be right."""
        first = offsets[0] if offsets else self.generation_start
        assert first >= self.generation_start, f"{first} resurrected from an earlier generation"
        missing = self.required.difference(offsets)
        assert not missing, f"acknowledged and lost: {sorted(missing)}"


def examine_image(view: memoryview) -> Content:
    """Say what a start would find: no more than the superblocks is looked at while one is valid."""
    content = _examine_slots(bytes(view[:RING_POSITION]), len(view))
    return content or examine(view[:END_BYTES], view[-END_BYTES:], len(view))


@lru_cache(maxsize=64)  # the ring changes more often
def _examine_slots(slots: bytes, size_bytes: int) -> Content | None:
    if newest_superblock(slots) is None:
        return None
    return examine(memoryview(slots), memoryview(b""), size_bytes)


def recover_image(
    image: bytearray | memoryview, *, accept_loss: bool = False
) -> tuple[Superblock, list[RecoveredRecord], ScanSummary]:
    """Recover from the bytes of a disk, with the production cores and no loop: for millions of images.

    The records are views of the image.

    Raises:
        WalError: as a start of the log.
    """
    view = memoryview(image)
    superblock = require_log(examine_image(view), "image")
    scan = Scan(superblock, path="image", accept_loss=accept_loss)
    ring: Ring = superblock.ring
    records = []
    while (wanted := scan.wants()) is not None:
        offset, _ = wanted
        position = ring.position(offset)
        records += scan.feed(view[position : position + ring.distance_to_end(offset)])
    return superblock, records, scan.summary
