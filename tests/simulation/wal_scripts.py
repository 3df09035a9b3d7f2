"""The scripts of `tests.simulation.wal_catalogue`: what is appended, trimmed, ended and begun again."""

import asyncio
import errno
from collections.abc import Callable, Sequence
from contextlib import suppress

import pytest

from headrace.wal.errors import (
    WalCorruptError,
    WalError,
    WalFailedError,
    WalOverCapacityError,
    WalRecordTooLargeError,
)
from headrace.wal.layout import PAGE_BYTES, RING_POSITION
from headrace.wal.ring import zeroing
from tests.simulation.disk import SimulatedDisk
from tests.simulation.wal_workloads import FRAME_BYTES, Run

Sizes = Sequence[int] | range
# Called between bursts.
Trim = Callable[[Run], None]


# --- trimming


def at_need(run: Run) -> None:
    """Only when there is no room."""


def everything(run: Run) -> None:
    """Whatever is confirmed."""
    run.trim_to_confirmed()


def now_and_then(run: Run) -> None:
    """To anywhere in what is confirmed."""
    low = run.log.wal.trim_offset + 1
    if run.log.confirmed and run.rng.random() < 0.3 and low < run.log.confirmed[-1]:
        run.log.trim(run.rng.randrange(low, run.log.confirmed[-1]))


# --- appending


async def traffic(
    run: Run,
    sizes: Sizes,
    *,
    records: int = 40,
    burst: int = 3,
    pause_ms: float = 1.0,
    trim: Trim = now_and_then,
) -> None:
    """Bursts of up to so many records, with pauses of any length up to this."""
    left = records
    while left > 0:
        for _ in range(min(left, run.rng.randint(1, burst))):
            await run.append(run.body(run.rng.choice(sizes)))
            left -= 1
        await run.sleep(run.rng.uniform(0, pause_ms))
        trim(run)


async def appends(run: Run, sizes: Sizes, **how: object) -> None:
    await run.begin()
    await traffic(run, sizes, **how)
    await run.quiet()


async def same_size(run: Run, sizes: Sizes, *, laps: int = 3) -> None:
    """Every lap has its blocks where the last one had: a stale one lies wherever one is expected."""
    await run.begin()
    end = run.log.wal.next_offset + laps * run.log.wal.capacity_bytes
    while run.log.wal.next_offset < end:
        await run.append(run.body(sizes[0]))
        if run.rng.random() < 0.6:
            await run.sleep(0.5)
    await run.quiet()


async def up_to_the_end(run: Run, *, rest_bytes: int, last: int, laps: int = 3) -> None:
    """Leave `rest_bytes` of each lap, then append a body of `last` bytes, which fits there or not."""
    await run.begin()
    for _ in range(laps):
        while (left := run.rest_of_lap_bytes) > rest_bytes:
            pages = min((left - rest_bytes) // PAGE_BYTES, run.rng.randint(1, 3))
            await run.append(run.body(pages * PAGE_BYTES - FRAME_BYTES))
            await run.quiet()
        await run.append(run.body(last))
        for _ in range(run.rng.randrange(3)):
            await run.append(run.body(run.rng.randrange(1, 3000)))
        await run.quiet()
        run.trim_to_confirmed()


async def window_in_steps(run: Run, *, sizes: Sizes) -> None:
    """Each burst puts one more record in flight than the one before."""
    await run.begin()
    for count in range(1, 9):
        for _ in range(count):
            await run.append(run.body(run.rng.choice(sizes)))
        await run.quiet()
        run.trim_to_confirmed()


# --- trimming, more of it


async def trim_at_each_confirmation(run: Run, sizes: Sizes) -> None:
    await run.begin()
    run.log.after_confirm = lambda offset: run.log.trim(offset - 1)
    await traffic(run, sizes, trim=at_need)
    await run.quiet()


async def never_trimmed(run: Run, sizes: Sizes) -> None:
    """Until the ring is full."""
    await run.begin()
    while run.log.wal.room_for(size := run.rng.choice(sizes)):
        run.log.append(run.body(size))
        await run.sleep(run.rng.uniform(0, 1))
    await run.quiet()


async def trim_races_appends(run: Run, sizes: Sizes) -> None:
    """In the same turn, before and behind."""
    await run.begin()
    for _ in range(30):
        run.trim_to_confirmed()
        await run.append(run.body(run.rng.choice(sizes)))
        await run.append(run.body(run.rng.choice(sizes)))
        run.trim_to_confirmed()
        await run.sleep(run.rng.uniform(0, 0.6))
    await run.quiet()


async def trim_one_record(run: Run, sizes: Sizes) -> None:
    """A full ring from which the oldest record goes when the next one wants in."""
    await run.begin()
    offsets: list[int] = []
    for _ in range(40):
        body = run.body(run.rng.choice(sizes))
        while not run.log.wal.room_for(len(body)):
            confirmed = run.log.wal.confirmed_offset
            if offsets and offsets[0] < confirmed and run.rng.random() < 0.5:
                run.log.trim(offsets.pop(0))
            await run.sleep(0.2)
        offsets.append(run.log.append(body) - len(body) - 1)
    await run.quiet()


async def full_ring(run: Run, sizes: Sizes) -> None:
    """Appends that are refused change nothing, and go in after the trim."""
    await run.begin()
    for _ in range(3):
        refused = 0
        while not refused:
            body = run.body(run.rng.choice(sizes))
            before = run.log.wal.next_offset
            try:
                run.log.append(body)
            except WalOverCapacityError:
                refused += 1
                assert run.log.wal.next_offset == before
            await run.sleep(run.rng.uniform(0, 0.5))
        await run.quiet()
        run.trim_to_confirmed()
        await run.append(body)


async def too_large(run: Run) -> None:
    """The largest record goes in, one byte more never does."""
    await run.begin()
    largest = run.largest_body_bytes
    for _ in range(8):
        with pytest.raises(WalRecordTooLargeError):
            run.log.append(run.body(largest + 1))
        await run.append(run.body(largest))
        await run.sleep(run.rng.uniform(0, 1))
    await run.quiet()


# --- time


async def idle_in_between(run: Run, sizes: Sizes) -> None:
    """Long enough for the superblock to tell what was confirmed."""
    await run.begin()
    for _ in range(8):
        await traffic(run, sizes, records=3)
        await run.quiet()
        await run.sleep(1500)
        assert run.log.wal.superblock.confirmed_offset == run.log.wal.confirmed_offset


async def sparse(run: Run, sizes: Sizes) -> None:
    """One record at a time: many blocks share a buffer."""
    await run.begin()
    for _ in range(30):
        await run.append(run.body(run.rng.choice(sizes)))
        await run.quiet()
        now_and_then(run)


# --- ends and beginnings


async def shut_down(run: Run, sizes: Sizes, *, release: bool, wait: bool) -> None:
    """In good order, three times."""
    for _ in range(3):
        await run.begin()
        await traffic(run, sizes, records=12)
        if wait:
            await run.quiet()
        if release:
            run.trim_to_confirmed()
        await run.log.wal.shutdown()


async def end_of_process(run: Run, sizes: Sizes) -> None:
    """The process dies, the machine does not: everything in flight becomes durable."""
    for _ in range(3):
        await run.begin()
        await traffic(run, sizes, records=12)
        run.disk.end_process()


async def power_cuts(run: Run, sizes: Sizes, *, cuts: int = 6, records: int = 8) -> None:
    """Recover, go on, lose power at any moment, again and again."""
    for _ in range(cuts):
        await run.begin()
        await traffic(run, sizes, records=run.rng.randrange(records), pause_ms=2.0)
        await run.sleep(run.rng.uniform(0, 1.5))
        run.disk.cut_power()
    await run.begin()


async def power_cuts_while_beginning(run: Run, sizes: Sizes) -> None:
    """In the middle of start, recovery and reset, of a blank and of a used disk."""
    for _ in range(4):
        for _ in range(run.rng.randrange(4)):
            await run.cut_power_while_beginning()
        await run.begin()
        await traffic(run, sizes, records=8)
        run.disk.cut_power()
    await run.begin()


async def capacities(run: Run, sizes: Sizes, *, ring_pages: Sequence[int]) -> None:
    """Another capacity at each start, after a power cut, a shutdown or neither."""
    for at, pages in enumerate(ring_pages):
        await run.begin(capacity_bytes=RING_POSITION + pages * PAGE_BYTES)
        await traffic(run, sizes, records=15)
        if at % 3 == 0:
            await run.log.wal.shutdown()
        elif at % 3 == 1:
            run.disk.cut_power()
        else:
            await run.quiet()
            run.disk.cut_power()
    await run.begin()


async def resizes(
    run: Run, sizes: Sizes, *, ring_pages: Sequence[int], cut: bool = False, cancel: bool = False
) -> None:
    """Another capacity while producing: appends wait, the ring empties, the empty ring is switched."""
    await run.begin()
    for pages in ring_pages:
        await traffic(run, sizes, records=run.rng.randrange(4, 12))
        capacity_bytes = RING_POSITION + pages * PAGE_BYTES
        wal = run.log.wal
        await wal.prepare_resize(capacity_bytes)
        wal.begin_resize()
        assert not wal.room_for(1)
        switched = asyncio.create_task(run.empty_and_resize(capacity_bytes))
        await run.sleep(run.rng.uniform(0, 3))
        if cancel and run.rng.random() < 0.5:
            wal.cancel_resize()
        elif cut and run.rng.random() < 0.5:
            run.disk.cut_power()
        else:
            await switched
            continue
        switched.cancel()
        with suppress(asyncio.CancelledError, WalError):
            await switched
        if cut:
            await run.begin()
    await traffic(run, sizes, records=6)
    await run.quiet()


# --- faults


async def write_fails(run: Run, sizes: Sizes, *, superblock: bool, hangs: bool = False) -> None:
    """One write is refused; the process ends, and begins again."""
    error = SimulatedDisk.HANG if hangs else OSError(errno.EIO, "Input/output error")
    for _ in range(3):
        await run.begin()
        countdown = run.rng.randrange(2, 8)

        def fault(number: int, position: int) -> OSError | None:
            nonlocal countdown
            if superblock == (position < RING_POSITION):
                countdown -= 1
            assert countdown > -100, "tried again and again"
            return error if countdown < 0 else None

        run.disk.fault = fault
        with suppress(WalFailedError):
            for _ in range(20):
                await traffic(run, sizes, records=5)
                run.trim_to_confirmed()
                await run.sleep(run.rng.choice((0.5, 1100)))
        await run.failed()
    await run.begin()


async def loss_accepted(run: Run, sizes: Sizes) -> None:
    """A record is damaged; the log is refused until its loss is accepted, and goes on."""
    for _ in range(3):
        await run.begin()
        await traffic(run, sizes, records=12, trim=at_need)
        await run.quiet()
        await run.sleep(1500)  # the superblock tells what was confirmed
        generation = run.damage()
        with pytest.raises(WalCorruptError, match=generation):
            await run.begin()
        run.disk.cut_power()
        await run.begin(accept_loss_generation=generation)
        await traffic(run, sizes, records=4)
        run.disk.cut_power()
    await run.begin()


async def no_space(run: Run, sizes: Sizes) -> None:
    """The very first writes fail."""
    for ordinal in range(2):
        run.disk.fault = lambda number, position, at=run.disk.writes + ordinal: (
            OSError(errno.ENOSPC, "No space left on device") if number == at else None
        )
        with pytest.raises(OSError, match="No space"):
            await run.begin()
        run.disk.fault = lambda number, position: None
        run.disk.cut_power()
    await run.begin()
    await traffic(run, sizes, records=20)


# --- a new file


async def zeroed(run: Run, sizes: Sizes, *, cuts: int = 0) -> None:
    """Zeros are written from the end of the ring while the appends begin at its start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zeroing, "STEP_BYTES", 2 * PAGE_BYTES)
        patch.setattr(zeroing, "_MARGIN_BYTES", 2 * PAGE_BYTES)
        patch.setattr(zeroing, "_MIN_DELAY_S", 0.000_3)
        for _ in range(cuts):
            await run.begin()
            await traffic(run, sizes, records=3, trim=at_need)
            run.disk.cut_power()
        await run.begin()
        await traffic(run, sizes, records=20, pause_ms=2.0)
        await run.quiet()
