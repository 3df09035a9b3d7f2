"""An event loop whose time jumps to the next timer instead of waiting for it."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any


class _JumpingSelector(selectors.SelectSelector):
    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0

    def select(self, timeout: float | None = None) -> list:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            msg = "deadlock: every task waits for something that nobody will do"
            raise AssertionError(msg)
        self.now_s += max(timeout, 0.000_1)
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Seconds begin at 0 and pass only when there is nothing else to do."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now_s

    def pass_time(self, seconds: float) -> None:
        """Let time pass while something is done."""
        self._jumping.now_s += seconds


def run(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run an asynchronous test in virtual time; one that hangs fails."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        runner.run(test())


async def settle() -> None:
    """Let every task go on until it waits for something that does not come by itself."""
    for _ in range(20):
        await asyncio.sleep(0)
