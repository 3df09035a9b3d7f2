"""Lets the garbage collector pass over what pytest keeps of ten thousand tests, which took a quarter of their time.

All of it stays until the end of the run: it is frozen once the tests are collected. Tests that make much garbage are
few, and end; so the collector comes less often than in a process that runs for days.
"""

import gc
from collections.abc import Iterator

import pytest

# New objects before the youngest are looked at, which takes Python's own 700 and 10 of these before older ones are.
YOUNG_OBJECTS = 5_000
ROUNDS = 20


class GarbagePlugin:
    """A pytest plugin."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection(self) -> Iterator[None]:
        """Look for no garbage among what is only made."""
        gc.disable()
        try:
            return (yield)
        finally:
            gc.freeze()
            gc.enable()
            gc.set_threshold(YOUNG_OBJECTS, ROUNDS, ROUNDS)
