"""Throttle: never more than allowed, however it is asked."""

import asyncio
import random

import pytest

from headrace.storage.compaction.throttle import BURST_S, Throttle
from tests.simulation.virtual_time import run

RATE = 1000


@pytest.mark.parametrize("size", [1, 100, 5_000])
def test_what_passes_in_a_time_is_bounded(size):
    async def main():
        throttle = Throttle(RATE)
        loop = asyncio.get_running_loop()
        begun = loop.time()
        for n in range(1, 200):
            await throttle.spend(size)
            assert (n - 1) * size <= RATE * (loop.time() - begun + BURST_S) + 1e-6
        assert throttle.waited_s == pytest.approx(loop.time() - begun)

    run(main())


def test_idle_time_is_hardly_made_up_for():
    async def main():
        throttle = Throttle(RATE)
        loop = asyncio.get_running_loop()
        rng = random.Random(1)
        for _ in range(50):
            await asyncio.sleep(rng.random() * 100)
            begun = loop.time()
            for _ in range(10):
                await throttle.spend(300)
            assert loop.time() - begun >= 9 * 0.3 - BURST_S - 1e-6

    run(main())


def test_nothing_cannot_be_allowed():
    with pytest.raises(ValueError, match="not 0"):
        Throttle(0)
