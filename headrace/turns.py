"""Shares the turns of the event loop among all that a node does on it.

A turn is what the loop does between two looks at its sockets and devices. Meanwhile no record is acknowledged, no
lease is renewed and no other client is served, so none may be long. But a request may name 100,000 things, an answer
may be 100 MB, one change of the metadata may have 100,000 records, a coordinator's log is replayed for seconds, and a
thousand connections may each send something small or wait for the same record.

So work is done in pieces of less than a millisecond, and `Work` names its classes. All work of one class together has
a share of each turn, in time; the shares add up to `MAX_TURN_S`. Work that finds the share of its class used up waits
for another turn, first come, first served.

What is pure, and so cannot wait, is written as `headrace.steps.Steps`.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Sequence
from enum import Enum
from typing import Final, TypeVar

MAX_TURN_S: Final = 0.02
MAX_WAKES: Final = 256  # of those that wait, in one turn, however short the turns are
ITEMS_PER_LOOK: Final = 32  # at the clock: some microseconds each

T = TypeVar("T")


class Work(Enum):
    """A class of work: its number, which keeps classes of equal shares apart, and its share of a turn in seconds."""

    CONNECTIONS = 1, 0.005  # small requests, slices of Produce and Fetch, and writing answers
    READS = 2, 0.003  # what sockets have of large requests
    READERS = 3, 0.001  # telling fetch sessions that partitions have moved
    REQUESTS = 4, 0.003  # requests that are long, or wait for something
    COORDINATORS = 5, 0.002  # loads and rewrites of coordinators' logs
    METADATA = 6, 0.003  # changes of the metadata, and opening what they say
    UPKEEP = 7, 0.0015  # uploads, compaction, retention, drains, balancing, metrics
    COLD_READS = 8, 0.0015  # checking and decoding blocks from the bucket

    @property
    def share_s(self) -> float:
        """Its share of a turn."""
        return self.value[1]


class Turns:
    """What is left of this turn for work of one class, and who waits for the next ones."""

    def __init__(
        self, clock_s: Callable[[], float], share_s: float, *, works_later: bool = False
    ) -> None:
        """Make the turns of one class; `clock_s` is monotonic.

        `works_later`: what is woken does its work later in the turn, with that of others.
        """
        self._works_later = works_later
        self._woke_s = 0.0  # those that waited, at last
        self._clock_s = clock_s
        self._share_s = share_s
        self._unlooked = 0  # items since the last look at the clock
        self._ends_s: float | None = None  # of the share of this turn; None before its first use
        self._began_s = 0.0
        self._wakes = 0  # of those that waited, in the last turn
        self._is_next_due = False  # `_next_turn` is going to be called
        # One for each piece of work at most: a task that waits, or what to call.
        self._waiters: deque[asyncio.Future[None] | Callable[[], None]] = deque()
        self.on_turn: list[Callable[[], None]] = []  # called when the share of a turn begins

    def is_used_up(self) -> bool:
        """Whether the share of this turn is used up, or others wait for the next one; begins it otherwise."""
        ends_s = self._ends_s
        if ends_s is None:
            ends_s = self._begin_turn()
        return bool(self._waiters) or self._clock_s() >= ends_s

    def is_over(self) -> bool:
        """Whether the share of this turn is used up, not counting those that wait for the next; begins it otherwise."""
        return self._clock_s() >= self._turn_ends_s()

    def call_later(self, work: Callable[[], None]) -> None:
        """Call `work`, which never raises, in another turn. It does one small piece at once, and asks again after it.

        As many are called in a turn as its share allows.
        """
        self._waiters.append(work)
        if self._ends_s is None:
            self._begin_turn()

    def another(self) -> asyncio.Future[None]:
        """Give what is done in another turn, after all who have waited before; also cancelled by who gives up."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        if self._ends_s is None:
            self._begin_turn()
        return waiter

    async def pause(self) -> None:
        """Wait for another turn if the share of this one is used up. To be called after each small piece of work."""
        if self.is_used_up():
            await self.another()

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

    async def run(self, steps: Generator[object, None, T]) -> T:
        """Run steps in as many turns as they take; return their result."""
        while True:
            try:
                next(steps)
            except StopIteration as end:
                result: T = end.value
                return result
            await self.pause()

    def _turn_ends_s(self) -> float:
        ends_s = self._ends_s
        return self._begin_turn() if ends_s is None else ends_s

    def _begin_turn(self) -> float:
        self._began_s = now_s = self._clock_s()
        self._ends_s = ends_s = now_s + self._share_s
        if not self._is_next_due:
            self._is_next_due = True
            asyncio.get_running_loop().call_soon(self._next_turn)
        for call in self.on_turn:
            call()
        return ends_s

    def _next_turn(self) -> None:
        """Wake those that wait: twice as many as in the last turn if these took less than the share, else half.

        A task that is woken goes on after this, and after what other classes do until then: its share begins when it
        goes on, unless more of its class has come in between. What it takes is known when the next turn begins.
        """
        now_s = self._clock_s()
        since_s = self._woke_s if self._works_later and self._wakes else self._began_s
        is_short = now_s - since_s < self._share_s
        self._ends_s = None
        self._is_next_due = False
        waiters = self._waiters
        if not waiters:
            self._wakes = 0
            return
        self._wakes = max(1, min(2 * self._wakes, MAX_WAKES) if is_short else self._wakes // 2)
        left, self._woke_s = self._wakes, now_s
        loop = asyncio.get_running_loop()
        loop.call_soon(self._go_on)  # ahead of the tasks that are woken here
        self._is_next_due = True
        try:
            while waiters and left:
                waiter = waiters.popleft()
                if not isinstance(waiter, asyncio.Future):
                    ends_s = self._turn_ends_s()
                    waiter()  # which may wait again
                    if self._clock_s() >= ends_s:
                        break
                elif not waiter.done():  # else it was cancelled
                    left -= 1
                    waiter.set_result(None)
        finally:
            loop.call_soon(self._next_turn)  # behind the tasks that go on now

    def _go_on(self) -> None:
        """Begin the share of those that were woken."""
        if self._ends_s is None:
            self._begin_turn()


_TURNS: Final[dict[asyncio.AbstractEventLoop, dict[Work, Turns]]] = {}


def turns_of(work: Work) -> Turns:
    """Give the turns of a class of work on the running loop; all nodes on it share them."""
    loop = asyncio.get_running_loop()
    of_loop = _turns_of_loop(loop)
    found = of_loop.get(work)
    if found is None:
        found = of_loop[work] = Turns(loop.time, work.share_s, works_later=work is Work.READS)
    return found


def _turns_of_loop(loop: asyncio.AbstractEventLoop) -> dict[Work, Turns]:
    found = _TURNS.get(loop)
    if found is None:
        for ended in [it for it in _TURNS if it.is_closed()]:
            _TURNS.pop(ended, None)
        found = _TURNS[loop] = {}
    return found
