"""Runs work that stops where it can, and counts how often it did."""

from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")


def counted(steps: Generator[None, None, T]) -> tuple[T, int]:
    """Run all steps; return their result, and how often they stopped."""
    stops = 0
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value, stops
        stops += 1
