"""Gives work of one kind a bounded part of each turn of the event loop.

A request may name some 100,000 things, and an answer may be 100 MB: decoding, looking up, building and encoding them
takes seconds, and so does replaying a coordinator's log. A thousand connections may each send something small, or
wait for the same record. All other clients, the lease and the WAL live on the same loop. So all work of one kind
together gets `SHARE_S` of one turn, and stops where it can. The kinds are:

* what connections do at once: they decode and start requests, and write answers; also the slices of Produce and Fetch;
* what connections read of large requests;
* the requests of all other APIs;
* the loads and rewrites of coordinators.

Work that finds the share used up waits, first come, first served; between two turns the loop polls its sockets and
devices.
"""

import asyncio
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Sequence
from typing import Final, TypeVar

from headrace.loop_steps import in_steps

SHARE_S: Final = 0.005
ITEMS_PER_LOOK: Final = 32  # some microseconds each

T = TypeVar("T")


class TurnShare:
    """What is left of this turn for work of one kind, and who waits for the next ones."""

    def __init__(
        self,
        clock_s: Callable[[], float],
        *,
        share_s: float = SHARE_S,
        waiters_per_turn: int = sys.maxsize,
    ) -> None:
        """Make a share; `waiters_per_turn`: for work that is done later in the turn in which it is called."""
        self._clock_s = clock_s
        self._share_s = share_s
        self._waiters_per_turn = waiters_per_turn
        self._unlooked = 0  # items since somebody looked whether the share is used up
        self._ends_s: float | None = None  # of the share of this turn; None before anybody used it
        self.on_turn: Callable[[], None] = lambda: None  # called when the share of a turn begins
        # One for each piece of work at most: a task that waits, or what to call.
        self._waiters: deque[asyncio.Future[None] | Callable[[], None]] = deque()

    def is_used_up(self) -> bool:
        """Whether the share of this turn is used up, or others wait for the next one; begins it otherwise."""
        return self.is_over() or bool(self._waiters)

    def is_over(self) -> bool:
        """Whether the share of this turn is used up, not counting those that wait for the next; begins it otherwise."""
        ends_s = self._begin_turn() if self._ends_s is None else self._ends_s
        return self._clock_s() >= ends_s

    def call_later(self, work: Callable[[], None]) -> None:
        """Call `work`, which never raises, in another turn. It does one small piece, and asks again after it."""
        self._waiters.append(work)
        if self._ends_s is None:
            self._begin_turn()

    async def pause(self) -> None:
        """Wait for another turn if the share of this one is used up. To be called after each small piece of work."""
        if self.is_used_up():
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter

    async def each(self, items: Iterable[T], per_look: int = ITEMS_PER_LOOK) -> AsyncIterator[T]:
        """Go through items, and let others run when the share of a turn is used up, which is looked at now and then.

        Items of all calls count together, and each call counts as one: many short lists are as much work as a long one.
        """
        for item in items:
            yield item
            self._unlooked += 1
            if self._unlooked >= per_look:
                self._unlooked = 0
                await self.pause()
        self._unlooked += 1
        if self._unlooked >= per_look:
            self._unlooked = 0
            await self.pause()

    async def batches(self, items: Sequence[T], size: int) -> AsyncIterator[Sequence[T]]:
        """Go through items in batches, and let others run after each when the share of a turn is used up."""
        for start in range(0, len(items), size):
            yield items[start : start + size]
            await self.pause()

    async def run(self, steps: Generator[None, None, T]) -> T:
        """Run steps, each of them small, in as many turns as they take; return their result."""
        return await in_steps(steps, self.pause)

    def _begin_turn(self) -> float:
        self._ends_s = ends_s = self._clock_s() + self._share_s
        asyncio.get_running_loop().call_soon(self._next_turn)
        self.on_turn()
        return ends_s

    def _next_turn(self) -> None:
        """Call those that wait until the share is used up; a task goes on after this, and gets the rest of it."""
        self._ends_s = None
        if not self._waiters:
            return
        ends_s = self._begin_turn()
        left = self._waiters_per_turn
        while self._waiters and left:  # what is called may wait again
            left -= 1
            waiter = self._waiters.popleft()
            if not isinstance(waiter, asyncio.Future):
                waiter()
            elif not waiter.done():  # else it was cancelled
                waiter.set_result(None)
                return
            if self._clock_s() >= ends_s:
                return
