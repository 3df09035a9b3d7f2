"""Keeps compaction below a number of bytes per second, so that it does not slow appends down."""

import asyncio
from typing import Final

BURST_S: Final = 0.1  # of unused time that may be used later


class Throttle:
    """The caller pays afterwards: a large piece passes at once and delays the next one."""

    def __init__(self, bytes_per_s: int) -> None:
        """Allow so much.

        Raises:
            ValueError: the limit is below one byte per second.
        """
        if bytes_per_s < 1:
            raise ValueError(f"the limit must be at least 1 byte per second, not {bytes_per_s}")
        self._bytes_per_s = bytes_per_s
        self._paid_at_s = float("-inf")  # when all pieces so far are paid for
        self.waited_s = 0.0  # in all

    async def spend(self, size_bytes: int) -> None:
        """Wait until earlier pieces are paid for, then let this one pass. Always yields to the loop once."""
        now_s = asyncio.get_running_loop().time()
        self._paid_at_s = max(self._paid_at_s, now_s - BURST_S)
        delay_s = max(0.0, self._paid_at_s - now_s)
        self._paid_at_s += size_bytes / self._bytes_per_s
        self.waited_s += delay_s
        await asyncio.sleep(delay_s)
