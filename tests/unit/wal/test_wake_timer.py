"""The timer that paces writes: it fires once per setting, the latest counts, and it is finer than a millisecond."""

import asyncio
import select
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import uvloop

from headrace.wal.ring.wake_timer import (
    KernelTimer,
    LoopTimer,
    WakeTimerFactory,
    WakeTimerUnavailableError,
    precise_timer,
)

RUNNERS = [asyncio.run, uvloop.run]
TIMERS = [KernelTimer, LoopTimer]
FAR_NS = 60_000_000_000


class Wakes:
    """Counts wakes and can be waited for."""

    def __init__(self, make: WakeTimerFactory) -> None:
        self.count = 0
        self.event = asyncio.Event()
        self.timer = make(self._wake)

    def _wake(self) -> None:
        self.count += 1
        self.event.set()

    async def next(self) -> None:
        async with asyncio.timeout(10):
            await self.event.wait()
        self.event.clear()


@pytest.mark.parametrize("run", RUNNERS)
@pytest.mark.parametrize("make", TIMERS)
def test_each_setting_wakes_once_and_never_early(run: Callable, make: WakeTimerFactory) -> None:
    async def main() -> None:
        wakes = Wakes(make)
        for delay_ns in (1, 100_000, 2_500_000):
            begin_ns = time.perf_counter_ns()
            wakes.timer.set(delay_ns)
            await wakes.next()
            # uvloop's clock is of milliseconds, and may be one behind when a timer is set
            tolerance_ns = 1_000_000 if make is LoopTimer else 0
            assert time.perf_counter_ns() - begin_ns >= delay_ns - tolerance_ns
        other = Wakes(make)
        other.timer.set(5_000_000)
        await other.next()
        assert wakes.count == 3
        wakes.timer.close()
        other.timer.close()

    run(main())


@pytest.mark.parametrize("run", RUNNERS)
@pytest.mark.parametrize("make", TIMERS)
def test_the_latest_setting_counts(run: Callable, make: WakeTimerFactory) -> None:
    async def main() -> None:
        wakes = Wakes(make)
        wakes.timer.set(FAR_NS)
        wakes.timer.set(1_000_000)
        await wakes.next()
        wakes.timer.set(1_000_000)
        wakes.timer.set(FAR_NS)
        other = Wakes(make)
        other.timer.set(5_000_000)
        await other.next()
        assert wakes.count == 1
        wakes.timer.close()
        other.timer.close()

    run(main())


@pytest.mark.parametrize("make", TIMERS)
def test_a_closed_timer_never_wakes(make: WakeTimerFactory) -> None:
    async def main() -> None:
        wakes = Wakes(make)
        wakes.timer.set(1_000_000)
        wakes.timer.close()
        wakes.timer.close()
        wakes.timer.set(1)
        other = Wakes(make)
        other.timer.set(5_000_000)
        await other.next()
        other.timer.close()
        assert wakes.count == 0

    asyncio.run(main())


@pytest.mark.parametrize("run", RUNNERS)
def test_a_setting_that_is_replaced_while_it_fires_does_not_wake_twice(run: Callable) -> None:
    async def main() -> None:
        wakes = Wakes(KernelTimer)
        wakes.timer.set(1)
        select.select(
            [wakes.timer._fd], [], [], 10
        )  # it has fired, and the loop has not looked yet
        wakes.timer.set(2_000_000)
        await wakes.next()
        assert wakes.count == 1
        wakes.timer.close()

    run(main())


def test_the_kernel_timer_is_finer_than_a_loop_timer() -> None:
    """Best of twenty, since the machine may be busy."""

    async def main() -> None:
        wakes = Wakes(KernelTimer)
        took_ns = []
        for _ in range(20):
            begin_ns = time.perf_counter_ns()
            wakes.timer.set(333_333)
            await wakes.next()
            took_ns.append(time.perf_counter_ns() - begin_ns)
        wakes.timer.close()
        assert 333_333 <= min(took_ns) < 900_000

    asyncio.run(main())


def test_closing_gives_the_descriptor_back() -> None:
    async def main() -> None:
        before = len(list(Path("/proc/self/fd").iterdir()))
        wakes = Wakes(KernelTimer)
        assert len(list(Path("/proc/self/fd").iterdir())) == before + 1
        wakes.timer.close()
        assert len(list(Path("/proc/self/fd").iterdir())) == before

    asyncio.run(main())


def test_without_a_kernel_timer_it_is_the_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        timer = precise_timer(print)
        assert isinstance(timer, KernelTimer)
        timer.close()
        monkeypatch.setattr(sys, "platform", "darwin")
        with pytest.raises(WakeTimerUnavailableError, match="darwin"):
            KernelTimer(print)
        assert isinstance(precise_timer(print), LoopTimer)

    asyncio.run(main())
