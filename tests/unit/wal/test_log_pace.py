"""When the log gives to the device what has gathered while it was busy; in virtual time."""

import asyncio
from collections.abc import Callable

import pytest

from headrace.wal.ring.group_commit import PACE_NS
from tests.simulation import wal_run
from tests.simulation.disk import SimulatedDisk
from tests.simulation.virtual_time import run
from tests.simulation.wal_run import SMALL, SimulatedTimer, WalOnDisk

PACE_S = PACE_NS / 1e9


async def log_that_writes() -> WalOnDisk:
    """A log whose first record is under way; writes complete when the disk is told to."""
    disk = SimulatedDisk(SMALL.capacity_bytes)
    loop = asyncio.get_running_loop()
    log = WalOnDisk(disk, clock=lambda: round(loop.time() * 1e9))
    await log.begin()
    disk.automatic = False
    log.append(b"under way")
    await asyncio.sleep(0)
    assert len(disk.pending) == 1
    return log


def test_what_answers_a_confirmation_goes_along_with_what_has_gathered() -> None:
    """A producer that sends its next batch on an answer must not wait for one write more."""

    async def main() -> None:
        log = await log_that_writes()
        log.append(b"gathered")

        def answer(_: int) -> None:
            log.append(b"an answer")

        log.after_confirm = answer
        before = log.disk.writes
        log.disk.complete()
        await asyncio.sleep(0)
        assert log.disk.writes == before + 1
        log.after_confirm = lambda _: None
        log.disk.complete()
        assert log.wal.confirmed_offset == log.wal.next_offset, "all three are durable"

    run(main())


def test_the_pace_moves_on_with_each_write_and_its_timer_is_rarely_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Setting a kernel timer costs as much as two appends."""
    settings_s: list[float] = []

    class CountingTimer(SimulatedTimer):
        def __init__(self, wake: Callable[[], None]) -> None:
            super().__init__(wake)

        def set(self, delay_ns: int) -> None:
            settings_s.append(delay_ns / 1e9)
            super().set(delay_ns)

    monkeypatch.setattr(wal_run, "SimulatedTimer", CountingTimer)

    async def main() -> None:
        log = await log_that_writes()
        for _ in range(10):  # each completes early, and the next goes at once
            log.append(b"next")
            await asyncio.sleep(PACE_S / 20)
            log.disk.complete()
            await asyncio.sleep(0)
        assert settings_s == pytest.approx([PACE_S])
        log.append(b"last")
        writes = log.disk.writes
        await asyncio.sleep(PACE_S * 0.99)
        assert log.disk.writes == writes, "the timer that was set first is early"
        await asyncio.sleep(PACE_S * 0.02)
        assert log.disk.writes == writes + 1
        assert len(settings_s) == 2

    run(main())
