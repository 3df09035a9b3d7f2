"""Calls those who listen to partitions that have moved, in as many turns of the event loop as it takes.

One confirmation may move thousands of partitions, and thousands of fetch sessions may listen to each of them. Were all
of them called at once, producers and everybody else would wait meanwhile.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from functools import cached_property, partial
from typing import Final

from headrace.turns import Turns, Work, turns_of

READERS_PER_LOOK: Final = 64  # at the clock: some dozens of microseconds

Reader = Callable[[], None]


class Wakeups:
    """The readers that are due, in the order in which their partitions have moved.

    A reader that is due listens to no partition, so there are never more of them than listened.
    """

    def __init__(self) -> None:
        self._due: deque[dict[Reader, None]] = deque()  # none of them empty
        self._waits = False  # for another turn
        self._unlooked = 0  # readers since the last look

    @cached_property
    def _turns(self) -> Turns:
        return turns_of(Work.READERS)

    @property
    def is_behind(self) -> bool:
        """Whether a partition has moved, and not all who listened to it know."""
        return bool(self._due)

    def wake(self, readers: dict[Reader, None]) -> None:
        """Call readers, of which there is at least one: at once as long as this turn has room, else in other turns."""
        self._due.append(readers)
        if not self._waits:
            self._call()

    async def caught_up(self) -> None:
        """Wait until all know who listened to what has moved by now."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.wake({partial(_end, done): None})
        await done

    def _go_on(self) -> None:
        self._waits, self._unlooked = False, 0
        self._call()

    def _call(self) -> None:
        due = self._due
        try:
            while due:
                if self._unlooked >= READERS_PER_LOOK:
                    if self._turns.is_over():
                        break
                    self._unlooked = 0
                self._unlooked += 1
                readers = due[0]
                reader, _ = readers.popitem()
                if not readers:
                    due.popleft()
                reader()
        finally:
            if due:
                self._waits = True
                self._turns.call_later(self._go_on)


def _end(wait: asyncio.Future[None]) -> None:
    if not wait.done():
        wait.set_result(None)
