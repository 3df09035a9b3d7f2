"""Keeps compaction below a number of bytes per second, so that it takes nothing from appends."""

import asyncio
from typing import Final

BURST_S: Final = 0.1  # of idle time that may be made up for


class Throttle:
    """Whoever spends pays afterwards: a large piece passes at once and holds up the next one."""

    def __init__(self, bytes_per_s: int) -> None:
        """Allow so much.

        Raises:
            ValueError: that is nothing.
        """
        if bytes_per_s < 1:
            raise ValueError(f"a limit of {bytes_per_s} bytes per second")
        self._bytes_per_s = bytes_per_s
        self._paid_at_s = float("-inf")  # when all that has passed is paid for
        self.waited_s = 0.0  # in all

    async def spend(self, size_bytes: int) -> None:
        """Wait until earlier pieces are paid for, then let this one pass. Always gives way once."""
        now_s = asyncio.get_running_loop().time()
        self._paid_at_s = max(self._paid_at_s, now_s - BURST_S)
        delay_s = max(0.0, self._paid_at_s - now_s)
        self._paid_at_s += size_bytes / self._bytes_per_s
        self.waited_s += delay_s
        await asyncio.sleep(delay_s)
