"""Bytes of one client connection in, requests out: where the socket reads to, where frames lie. Pure.

No socket here: a `BufferedProtocol` asks `get_buffer` where to read to, and tells `buffer_updated`
how much has come. Bytes are not copied on the way, apart from these:

* Frames lie one behind the other in a *receive buffer*. When it is nearly full, what has come of
  the last frame moves to the front. The buffer grows with what the client sends at once.
* A frame that is larger than the receive buffer may become moves, with what has come of it, into a
  buffer of its own, and the socket is then read directly into that.

**Who may write where.** A frame's body is a writable view into one of these buffers. It belongs to
the consumer for as long as any view of it lives, also a part of it, such as a record set on its way
to the WAL: until then the buffer under it is neither reused nor changed, another one takes its
place, and the memory is freed with the last view. So there is nothing to release, but a small body
that is kept for long keeps a whole receive buffer: copy what is to stay.

How that is noticed: Python refuses to resize a bytearray while any memoryview shows a part of it,
so a resize that succeeds proves that nobody looks.

**What a claimed size may cost.** A connection that claims a large frame and sends little of it
holds `AHEAD_BYTES` for it; beyond that the buffer doubles as it fills. So the 1 MiB requests of
Kafka's defaults are not copied again, and one of 100 MiB is copied about once more.

Source: NetworkReceive.java of Apache Kafka 4.3 for the limits of a frame.
"""

from typing import Final, NamedTuple

from headrace.protocol.errors import ProtocolError
from headrace.protocol.frames import SIZE_BYTES, parse_frame_size
from headrace.protocol.headers import RequestHeader, parse_request_header

Buffer = bytes | bytearray | memoryview  # what goes to a socket

AHEAD_BYTES: Final = 2 << 20  # allocated ahead of what has come of one frame
FIRST_BUFFER_BYTES: Final = 16 << 10  # enough for a consumer, which only ever sends small requests
GROWTH_FACTOR: Final = 4
# With less room than this part of the buffer left, reading goes on at its front.
ROOM_DIVISOR: Final = 4


class Frame(NamedTuple):
    """One request as it came.

    `body` is what follows the header; see the module for how long that view stays valid.
    `size_bytes` is the size of the frame, without the four bytes that tell it.
    """

    header: RequestHeader
    body: memoryview
    size_bytes: int


class ServerConnection:
    """The receiving half of one connection.

    Args:
        receive_buffer_bytes: what the receive buffer may grow to.
        max_request_bytes: the largest frame that is accepted.
    """

    __slots__ = (
        "_buffer",
        "_end",
        "_large",
        "_max_request_bytes",
        "_needed",
        "_receive_buffer_bytes",
        "_start",
        "_view",
        "error",
    )

    def __init__(self, receive_buffer_bytes: int, max_request_bytes: int) -> None:
        assert receive_buffer_bytes >= 256
        self.error: ProtocolError | None = None  # set: nothing more will come of this connection
        self._receive_buffer_bytes = receive_buffer_bytes
        self._max_request_bytes = max_request_bytes
        self._buffer = bytearray()
        self._view = memoryview(self._buffer)
        self._start = 0  # of the frame that is not whole yet
        self._end = 0  # of what has come
        self._needed = SIZE_BYTES  # bytes of that frame, as far as it is known
        self._large: _LargeFrame | None = None

    def get_buffer(self, _sizehint: int = -1) -> memoryview:
        """Return where to read to next, never empty.

        Raises:
            ProtocolError: what came before cannot be followed by anything.
        """
        if self.error is not None:
            raise self.error
        if self._large is not None:
            return self._large.room()
        is_idle = 0 < self._start == self._end
        if is_idle or self._is_short_of_room():
            self._recycle()
        return self._view[self._end :]

    def buffer_updated(self, nbytes: int) -> list[Frame]:
        """Take note that the first `nbytes` of the last `get_buffer` are filled.

        Returns:
            The frames that are whole now, in order.

        Raises:
            ProtocolError: the next frame is malformed. When whole frames stand before it in the
                same bytes, they are returned first, `error` is set, and any later call raises.
        """
        if self.error is not None:
            raise self.error
        frames: list[Frame] = []
        try:
            if self._large is not None:
                self._large_updated(self._large, nbytes, frames)
            else:
                self._end += nbytes
                self._parse(frames)
        except ProtocolError as error:
            self.error = error
            if not frames:
                raise
        return frames

    def _parse(self, frames: list[Frame]) -> None:
        view, start, end = self._view, self._start, self._end
        needed = SIZE_BYTES
        while end - start >= SIZE_BYTES:
            size_bytes = parse_frame_size(view, start, self._max_request_bytes)
            frame_end = start + SIZE_BYTES + size_bytes
            if frame_end > end:
                needed = frame_end - start
                break
            frames.append(_frame(view[start + SIZE_BYTES : frame_end]))
            start = frame_end
        self._start, self._needed = start, needed
        if needed > self._receive_buffer_bytes:
            self._large = _LargeFrame(needed - SIZE_BYTES, view[start + SIZE_BYTES : end])
            self._start, self._needed = end, SIZE_BYTES

    def _large_updated(self, large: "_LargeFrame", nbytes: int, frames: list[Frame]) -> None:
        payload = large.filled(nbytes)
        if payload is not None:
            self._large = None
            frames.append(_frame(payload))

    def _is_short_of_room(self) -> bool:
        capacity = len(self._buffer)
        return self._start + max(self._needed, capacity // ROOM_DIVISOR) > capacity

    def _recycle(self) -> None:
        """Go on at the front of a buffer: of this one if nobody looks at it, else of another."""
        begun = self._view[self._start : self._end]
        capacity = self._next_capacity()
        begun_bytes = len(begun)
        if capacity == len(self._buffer):
            begun.release()
            if self._is_unused():
                self._view[:begun_bytes] = self._view[self._start : self._end]
                self._start, self._end = 0, begun_bytes
                return
            if not self._is_short_of_room():
                return
            begun = self._view[self._start : self._end]
        self._buffer = bytearray(capacity)
        self._view = memoryview(self._buffer)
        self._view[:begun_bytes] = begun
        self._start, self._end = 0, begun_bytes

    def _next_capacity(self) -> int:
        capacity = len(self._buffer)
        if self._end == capacity:  # the client had at least as much to send as there was room
            capacity = max(capacity * GROWTH_FACTOR, FIRST_BUFFER_BYTES)
        while capacity < self._needed:
            capacity *= GROWTH_FACTOR
        return min(capacity, self._receive_buffer_bytes)

    def _is_unused(self) -> bool:
        """Whether no view but our own shows any part of the receive buffer."""
        self._view.release()
        try:
            # One byte less, and the same byte again: neither step moves the memory.
            self._buffer.append(self._buffer.pop())
            is_unused = True
        except BufferError:
            is_unused = False
        self._view = memoryview(self._buffer)
        return is_unused


class _LargeFrame:
    """A frame that has a buffer of its own, as far as it has come."""

    __slots__ = ("_end", "_size_bytes", "_view")

    def __init__(self, size_bytes: int, begun: memoryview) -> None:
        self._size_bytes = size_bytes
        self._end = len(begun)
        self._view = memoryview(bytearray(min(size_bytes, self._end + AHEAD_BYTES)))
        self._view[: self._end] = begun

    def room(self) -> memoryview:
        """Return where to read to next; doubles the buffer when it is full."""
        if self._end == len(self._view):
            grown = memoryview(bytearray(min(self._size_bytes, 2 * self._end)))
            grown[: self._end] = self._view
            self._view = grown
        return self._view[self._end :]

    def filled(self, nbytes: int) -> memoryview | None:
        """Take note of what was read; return the whole payload once it has come."""
        self._end += nbytes
        return self._view if self._end == self._size_bytes else None


def _frame(payload: memoryview) -> Frame:
    header, body_offset = parse_request_header(payload)
    return Frame(header, payload[body_offset:], len(payload))
