"""Long work on the event loop in slices: between two of them others have it.

One change of the metadata may have 100,000 records, and a broker that starts reads thousands of changes.
"""

import asyncio
from collections.abc import Generator
from typing import Final, TypeVar

from headrace.loop_steps import in_steps

LOOP_SLICE_S: Final = 0.005

T = TypeVar("T")


class LoopSlices:
    """One piece of work. The first slice begins when it is made."""

    def __init__(self) -> None:
        self._time = asyncio.get_running_loop().time
        self._pause_at_s = self._time() + LOOP_SLICE_S

    async def pause(self) -> None:
        """Let others run if this slice is over."""
        if self._time() > self._pause_at_s:
            await asyncio.sleep(0)
            self._pause_at_s = self._time() + LOOP_SLICE_S

    async def run(self, steps: Generator[None, None, T]) -> T:
        """Run steps, each shorter than a slice; return their result."""
        return await in_steps(steps, self.pause)
