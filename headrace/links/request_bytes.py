"""The bytes of all requests that a node is reading or serving, and who may go on at the limit. Pure.

A request is counted by what has come of it, never by the length that it declares. At the limit those
that have more to come wait. The one that began first still goes on until it is complete, so that
many incomplete ones cannot block each other for good.
"""

from collections.abc import Hashable


class RequestBytes:
    """Counts bytes of requests; a reader is a connection, which reads one request at a time."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._reading: dict[Hashable, int] = {}  # what has come, in the order in which they began
        self._reading_bytes = 0
        self._serving_bytes = 0

    @property
    def total(self) -> int:
        """Bytes of requests that are being read or served."""
        return self._reading_bytes + self._serving_bytes

    def may_go_on(self, reader: Hashable, came_bytes: int) -> bool:
        """Count what has come of a request; whether more of it may be read, or the whole be served."""
        self._reading_bytes += came_bytes - self._reading.get(reader, 0)
        self._reading[reader] = came_bytes
        if self.total <= self._max_bytes:
            return True
        is_first = next(iter(self._reading)) is reader
        return is_first and self._serving_bytes + came_bytes <= self._max_bytes

    def begin(self, reader: Hashable) -> int:
        """The request is complete and is served from now on; return its bytes, for `end`."""
        size_bytes = self.drop(reader)
        self._serving_bytes += size_bytes
        return size_bytes

    def end(self, size_bytes: int) -> None:
        """A request has been answered."""
        self._serving_bytes -= size_bytes

    def drop(self, reader: Hashable) -> int:
        """Forget what has come of a request, if there is one; return its bytes."""
        size_bytes = self._reading.pop(reader, 0)
        self._reading_bytes -= size_bytes
        return size_bytes
