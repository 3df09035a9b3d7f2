"""Slices of the loop: others run in between, and the result comes at the end."""

import asyncio
from collections.abc import Generator

import pytest

from headrace.loop_slices import LoopSlices


@pytest.mark.parametrize(("slice_s", "turns"), [(0, 5), (1_000, 0)])
def test_others_run_between_slices_only(
    slice_s: float, turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headrace.loop_slices.LOOP_SLICE_S", slice_s)

    def steps() -> Generator[None, None, str]:
        for _ in range(5):
            yield
        return "done"

    async def test() -> int:
        seen = -1

        async def other() -> None:
            nonlocal seen
            while True:
                seen += 1
                await asyncio.sleep(0)

        others = asyncio.create_task(other())
        await asyncio.sleep(0)
        assert await LoopSlices().run(steps()) == "done"
        others.cancel()
        return seen

    assert asyncio.run(test()) == turns
