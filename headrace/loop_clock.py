"""The event loop's clock. This module stands below all packages."""

import asyncio


def loop_ms() -> int:
    """Monotonic milliseconds; a simulation's loop has a clock of its own."""
    return int(asyncio.get_running_loop().time() * 1000)
