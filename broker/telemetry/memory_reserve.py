"""Memory that is held back, so that a node that has none left can still say why it ends.

It is address space that is mapped and never touched: it costs nothing but what a limit of address space, or of
committed memory, counts. Given back, it is there for the heap again.
"""

import mmap
from typing import Final

RESERVE_BYTES: Final = 64 * 1024 * 1024  # the heap grows by up to 16 MiB at once


class MemoryReserve:
    """Held until it is released."""

    def __init__(self, size_bytes: int = RESERVE_BYTES) -> None:
        """Map it.

        Raises:
            OSError: there is not so much.
        """
        self._memory = mmap.mmap(-1, size_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)

    def release(self) -> None:
        """Give it back; may be repeated."""
        self._memory.close()
