"""The output of the demonstration: numbered steps, results and timings."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class DemoError(Exception):
    """The demonstration failed, or found a difference; the message is for the user."""


class Progress:
    """Prints each step when it begins, and its results and time when it ends."""

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._step = 0
        self._started = time.perf_counter()

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """Number and time the block."""
        self._step += 1
        print(f"[{self._step}/{self._steps}] {title}", flush=True)
        started = time.perf_counter()
        yield
        print(f"      {time.perf_counter() - started:.1f} s", flush=True)

    def say(self, text: str) -> None:
        """Print a result of the current step."""
        print(f"      {text}", flush=True)

    def end(self) -> None:
        """Print how long everything took."""
        print(f"Done in {time.perf_counter() - self._started:.0f} s.", flush=True)
