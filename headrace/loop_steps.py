"""Work on the event loop that stops where it can, so that others have their turn in between.

This module stands below all packages: several of them use it.
"""

from collections.abc import Awaitable, Callable, Generator
from typing import Any, TypeVar

_T = TypeVar("_T")


def completed(steps: Generator[object, None, _T]) -> _T:
    """Run few steps at once, ignore what they yield, and return their result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: _T = end.value
            return result


def freed(items: list[Any], at_once: int) -> Generator[None, None, None]:
    """Free the items of an unused list: very many of them take tens of milliseconds."""
    while items:
        del items[-at_once:]
        yield


async def in_steps(steps: Generator[None, None, _T], pause: Callable[[], Awaitable[None]]) -> _T:
    """Run steps, each of them small, and `pause` after each; return their result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: _T = end.value
            return result
        await pause()
