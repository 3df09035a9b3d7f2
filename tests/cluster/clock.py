"""The one clock of histories: it goes on in suspend, nobody sets it, and all processes of the machine share it."""

import time


def now_ns() -> int:
    """Return the time since boot."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)
