"""Long work that cannot wait, in pieces between which others may have their turn. Pure.

Rules are synchronous code without an event loop. One that takes long is a generator that stops after each piece of
less than a millisecond: `headrace.turns.Turns.run` runs it in as many turns of the loop as it takes, and `completed`
all at once.
"""

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
Steps: TypeAlias = Generator[None, None, T]


def completed(steps: Generator[object, None, T]) -> T:
    """Run few steps at once, and return their result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result


def freed(items: list[Any], at_once: int) -> Steps[None]:
    """Free the items of an unused list: very many of them take tens of milliseconds."""
    while items:
        del items[-at_once:]
        yield
