"""Gives cold reads a bounded part of each turn of the event loop.

Checking and decoding a block of 1 MiB takes the loop a part of a millisecond. A Fetch of fifty partitions that
have been read ahead would do fifty of them in one turn, and a thousand readers that wait for one
request would all continue in the turn in which it arrives; meanwhile nothing is appended or
acknowledged. So all readers together get a bounded number of bytes in one turn. The others wait for
the next turn, first come, first served; between two turns the loop polls its sockets and devices.
"""

import asyncio
from collections import deque

TURN_BYTES = 1024 * 1024


class LoopPace:
    """A FIFO gate with a new share in each turn. A piece larger than a turn's share gets a turn alone."""

    def __init__(self, turn_bytes: int = TURN_BYTES) -> None:
        self._turn_bytes = turn_bytes
        self._taken_bytes = 0  # in this turn
        self._promised_bytes = 0  # of the next one: a waiter that is woken runs one turn later
        self._is_counting = False
        self._waiters: deque[tuple[asyncio.Future[None], int]] = deque()

    async def share(self, size_bytes: int) -> None:
        """Wait until so much work may be done."""
        if not self._is_counting:
            self._is_counting = True
            asyncio.get_running_loop().call_soon(self._next_turn)
        if not self._waiters:
            if self._fits(self._taken_bytes, size_bytes) and not self._promised_bytes:
                self._taken_bytes += size_bytes
                return
            if self._fits(self._promised_bytes, size_bytes):
                self._promised_bytes += size_bytes
                await asyncio.sleep(0)
                return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append((waiter, size_bytes))
        await waiter  # a cancelled one is skipped

    def _fits(self, given_bytes: int, size_bytes: int) -> bool:
        return given_bytes == 0 or given_bytes + size_bytes <= self._turn_bytes

    def _next_turn(self) -> None:
        self._taken_bytes, self._promised_bytes = self._promised_bytes, 0
        while self._waiters and self._fits(self._promised_bytes, self._waiters[0][1]):
            waiter, size_bytes = self._waiters.popleft()
            if not waiter.done():
                self._promised_bytes += size_bytes
                waiter.set_result(None)
        self._is_counting = bool(self._taken_bytes or self._promised_bytes)
        if self._is_counting:
            asyncio.get_running_loop().call_soon(self._next_turn)
