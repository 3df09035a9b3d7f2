"""How long to wait before the next attempt: exponential, capped, with jitter. Pure."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

DELAY_MS_FIRST = 100
MAX_DELAY_MS = 10_000  # producers may be waiting for so long after the bucket has come back
_MAX_DOUBLINGS = 30  # far beyond the cap; keeps the power small


class Backoff:
    """Delays of one sequence of attempts, until one succeeds."""

    __slots__ = ("_attempt", "_rng")

    def __init__(self, rng: "Random") -> None:
        self._rng = rng
        self._attempt = 0

    def next_delay_ms(self) -> float:
        """Delay before the next attempt: between half of the current step and the whole of it."""
        step = min(MAX_DELAY_MS, DELAY_MS_FIRST << min(self._attempt, _MAX_DOUBLINGS))
        self._attempt += 1
        return step / 2 + self._rng.random() * step / 2
