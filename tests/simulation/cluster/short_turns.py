"""Turns of the event loop in which nearly nothing is done, and that take their time.

What goes on in steps is interrupted at each of them, and meanwhile others get on.
"""

import asyncio
from typing import Any, Final

from headrace.broker.api import fetch
from headrace.broker.fetch import reader, session, session_cache
from headrace.broker.partition import wakeups
from headrace.turns import Turns, Work

PARTITIONS: Final = 2  # of a step: who has more is served in several turns
READERS: Final = 1  # that are woken in a turn
TURN_S: Final = 0.001  # of virtual time


def begin() -> None:
    """Have this process, which is of no other use, do so from now on."""
    limits: tuple[tuple[Any, str, int], ...] = (
        (fetch, "SLICE_PARTITIONS", PARTITIONS),
        (reader, "SLICE_PARTITIONS", PARTITIONS),
        (session, "STEP_PARTITIONS", PARTITIONS),
        (session_cache, "STEP_PARTITIONS", PARTITIONS),
        (wakeups, "READERS_PER_LOOK", READERS),
    )
    for module, name, limit in limits:
        assert hasattr(module, name)
        setattr(module, name, limit)
    work: Any = Work
    work.share_s = 0.0  # each piece of work waits for a turn of its own
    turns: Any = Turns
    next_turn = Turns._next_turn

    def later(of: Turns) -> None:
        asyncio.get_running_loop().call_later(TURN_S, next_turn, of)

    turns._next_turn = later
