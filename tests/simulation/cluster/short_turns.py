"""Turns of the event loop in which nearly nothing is done, and that take their time.

What goes on in steps is interrupted at each of them, and meanwhile others get on.
"""

import asyncio
from typing import Any, Final

from headrace.broker.api import fetch
from headrace.broker.fetch import reader, session, session_cache
from headrace.broker.network.turn_share import TurnShare
from headrace.broker.partition import wakeups

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
        (wakeups, "READERS_PER_TURN", READERS),
    )
    for module, name, limit in limits:
        assert hasattr(module, name)
        setattr(module, name, limit)
    defaults: Any = TurnShare.__init__.__kwdefaults__
    defaults["share_s"] = 0.0  # each piece of work waits for a turn of its own
    shares: Any = TurnShare
    shares._begin_turn = _begin_turn


def _begin_turn(share: Any) -> float:
    """As the share's own, but that its next turn comes later."""
    share._ends_s = ends_s = share._clock_s()
    asyncio.get_running_loop().call_later(TURN_S, share._next_turn)
    share.on_turn()
    return float(ends_s)
