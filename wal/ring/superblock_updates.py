"""The next state of the superblock, and the durable one. Pure.

Sans-IO. One write is inflight at a time; changes that are requested meanwhile go into the next one
together.
"""

from dataclasses import replace

from headrace.invariants import require
from headrace.wal.layout import Superblock


class SuperblockUpdates:
    """Collects changes of the superblock of one generation of the log."""

    __slots__ = (
        "_head_offset",
        "_inflight",
        "_trim_offset",
        "_window_bytes",
        "durable",
        "wanted",
    )

    def __init__(self, durable: Superblock) -> None:
        self.durable = durable
        self._inflight: Superblock | None = None
        self._trim_offset = durable.trim_offset
        self._head_offset = durable.head_offset
        self._window_bytes = durable.window_bytes
        self.wanted = False  # whether there is a change that is not being written

    @property
    def inflight(self) -> bool:
        """Whether a write is inflight."""
        return self._inflight is not None

    def want_trim(self, *, trim_offset: int, head_offset: int) -> None:
        """Request that this be released durably. Neither offset ever decreases."""
        require(trim_offset >= self._trim_offset)
        require(head_offset >= self._head_offset)
        if trim_offset > self._trim_offset or head_offset > self._head_offset:
            self.wanted = True
        self._trim_offset = trim_offset
        self._head_offset = head_offset

    def want_window(self, window_bytes: int) -> None:
        """Request a window of at least this."""
        if window_bytes > self._window_bytes:
            self._window_bytes = window_bytes
            self.wanted = True

    def want_refresh(self) -> None:
        """Request a write of the confirmed offset, even if nothing else has changed."""
        self.wanted = True

    def next_write(self, *, confirmed_offset: int, now_ms: int) -> Superblock | None:
        """Return the superblock to write now; None while one is inflight or nothing has changed."""
        if self._inflight is not None or not self.wanted:
            return None
        self.wanted = False
        self._inflight = replace(
            self.durable,
            sequence=self.durable.sequence + 1,
            trim_offset=self._trim_offset,
            head_offset=self._head_offset,
            confirmed_offset=confirmed_offset,
            window_bytes=self._window_bytes,
            last_write_ms=now_ms,
        )
        return self._inflight

    def written(self) -> Superblock:
        """Record that the inflight write is durable; return its superblock."""
        assert self._inflight is not None
        self.durable, self._inflight = self._inflight, None
        return self.durable
