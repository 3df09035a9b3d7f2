"""Calls those who listen to partitions that have moved, in as many turns of the event loop as it takes.

One confirmation may move thousands of partitions, and thousands of fetch sessions may listen to each of them. Were all
of them called at once, producers and everybody else would wait meanwhile.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final

READERS_PER_TURN: Final = 1_000  # less than a millisecond

Reader = Callable[[], None]


class Wakeups:
    """The readers that are due, in the order in which their partitions have moved.

    A reader that is due listens to no partition, so there are never more of them than listened.
    """

    def __init__(self) -> None:
        self._due: deque[dict[Reader, None]] = deque()  # none of them empty
        self._room = READERS_PER_TURN  # of this turn
        self._counts = False  # this turn: another one gives room again

    @property
    def is_behind(self) -> bool:
        """Whether a partition has moved, and not all who listened to it know."""
        return bool(self._due)

    def wake(self, readers: dict[Reader, None]) -> None:
        """Call readers, of which there is at least one: at once as long as this turn has room, else in other turns."""
        self._due.append(readers)
        self._call()

    async def caught_up(self) -> None:
        """Wait until all know who listened to what has moved by now."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.wake({partial(_end, done): None})
        await done

    def _call(self) -> None:
        if not self._counts:
            self._counts = True
            asyncio.get_running_loop().call_soon(self._next_turn)
        due = self._due
        while due and self._room:
            self._room -= 1
            readers = due[0]
            reader, _ = readers.popitem()
            if not readers:
                due.popleft()
            reader()

    def _next_turn(self) -> None:
        self._room, self._counts = READERS_PER_TURN, False
        if self._due:
            self._call()


def _end(wait: asyncio.Future[None]) -> None:
    if not wait.done():
        wait.set_result(None)
