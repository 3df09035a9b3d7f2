"""The receive path of one client connection: buffers for the socket, and the frames in them. Pure.

There is no socket here: a `BufferedProtocol` gets the next buffer from `get_buffer`, and calls
`buffer_updated` with the number of received bytes, or `received`, and `next_frames` when it has time for them.
Bytes are not copied, except in two cases:

* Frames follow each other in a *receive buffer*. When it is nearly full, the received part of the
  last frame moves to the front. The buffer grows with what the client sends at once.
* A frame that exceeds the maximum size of the receive buffer gets a separate buffer. Its received
  part is copied there, and the socket is then read directly into that buffer.

**Ownership.** A frame's body is a writable view into one of these buffers. The consumer owns it as
long as any view of it exists, also of a part, such as a record set on its way to the WAL: until then
the buffer is neither reused nor changed, another buffer replaces it, and the memory is freed with the
last view. So nothing must be released, but a small body that is kept for long keeps a whole receive
buffer: copy what is to be kept.

Detection: Python refuses to resize a bytearray while a memoryview of it exists, so a successful
resize proves that there is no view.

**Memory for a claimed size.** All connections together have `MAX_CLAIMED_BYTES` for what they claim and
have not sent. A frame of `CLAIMED_AT_ONCE_BYTES` at most that fits into what is left of it gets all its
memory at once, such as a request of Kafka's defaults, 1 MiB. Another one gets memory for what has come:
`CLAIM_BYTES` at first, then up to `GROWTH_FACTOR` times that, and is copied as it grows. A frame beyond
`MAPPED_BYTES` of which a part has come is mapped in full: its pages take memory when they are written,
and are the system's again with the last view.

Only a Produce and a Fetch may be that large. Any other request beyond `MAX_REQUEST_BYTES` ends the
connection as soon as its key has come.

Source: NetworkReceive.java of Apache Kafka 4.4 for the limits of a frame.
"""

import mmap
from struct import Struct
from typing import Final, NamedTuple

from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ProtocolError
from headrace.protocol.frames import SIZE, SIZE_BYTES, frame_size_error
from headrace.protocol.headers import RequestHeader, parse_request_header

Buffer = bytes | bytearray | memoryview  # what is written to a socket

MAX_CLAIMED_BYTES: Final = 64 << 20
# By one connection; to clear them takes half a millisecond or more.
CLAIMED_AT_ONCE_BYTES: Final = 2 << 20
CLAIM_BYTES: Final = 4 << 10  # for the first bytes of a large frame
PROVEN_BYTES: Final = 256 << 10  # a client that has sent so much of a frame means it
MAPPED_BYTES: Final = 32 << 20  # below it a mapping costs more than the memory of the last frame
FIRST_BUFFER_BYTES: Final = 16 << 10  # enough for a consumer, which sends small requests only
GROWTH_FACTOR: Final = 4
# If less than this part of the buffer is free, reading continues at its front.
ROOM_DIVISOR: Final = 4
READ_BYTES: Final = 1 << 20  # of a large frame at once: half a millisecond
# Of a request whose codec decodes all of it; a Produce and a Fetch may be as large as the configuration allows.
MAX_REQUEST_BYTES: Final = 16 << 20
FRAMES_AT_ONCE: Final = 256  # less than a millisecond; a full buffer may hold 18,000 small ones

_API_KEY: Final = Struct(">h")
_BOUNDED_BY_CONFIGURATION: Final = (ApiKey.PRODUCE, ApiKey.FETCH)


class Frame(NamedTuple):
    """One received request.

    `body` follows the header; see the module for how long that view stays valid. `size_bytes` is
    the size of the frame, without the four bytes of the size itself.
    """

    header: RequestHeader
    body: memoryview
    size_bytes: int


class ClaimedMemory:
    """Memory that connections have for bytes that have not come."""

    __slots__ = ("left_bytes",)

    def __init__(self, max_bytes: int = MAX_CLAIMED_BYTES) -> None:
        self.left_bytes = max_bytes

    def take(self, size_bytes: int) -> None:
        """Take so much, which is left."""
        self.left_bytes -= size_bytes

    def give_back(self, size_bytes: int) -> None:
        """The bytes have come, or will never come."""
        self.left_bytes += size_bytes


class ServerConnection:
    """The receiving half of one connection; `close` it in the end.

    Args:
        receive_buffer_bytes: maximum size of the receive buffer.
        max_request_bytes: the largest accepted frame.
        claims: of all connections.
    """

    __slots__ = (
        "_buffer",
        "_claims",
        "_end",
        "_large",
        "_max_request_bytes",
        "_needed",
        "_receive_buffer_bytes",
        "_start",
        "_view",
        "error",
        "has_more",
    )

    def __init__(
        self, receive_buffer_bytes: int, max_request_bytes: int, claims: ClaimedMemory
    ) -> None:
        assert receive_buffer_bytes >= 256
        self.error: ProtocolError | None = None  # set: the connection yields no more requests
        # More frames may have been received than were given: `next_frames` before the next `get_buffer`.
        self.has_more = False
        self._receive_buffer_bytes = receive_buffer_bytes
        self._max_request_bytes = max_request_bytes
        self._claims = claims
        self._buffer = bytearray()
        self._view = memoryview(self._buffer)
        self._start = 0  # of the incomplete frame
        self._end = 0  # of the received bytes
        self._needed = SIZE_BYTES  # size of that frame, as far as it is known
        self._large: _LargeFrame | None = None

    def close(self) -> None:
        """No more bytes come."""
        if self._large is not None:
            self._large.settle()

    def get_buffer(self, _sizehint: int = -1) -> memoryview:
        """Return the buffer for the next read, never empty.

        Raises:
            ProtocolError: an earlier frame was malformed.
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
        """Process the first `nbytes` of the last `get_buffer`, which have been filled; `received` and `next_frames`."""
        self.received(nbytes)
        return self.next_frames()

    def received(self, nbytes: int) -> None:
        """Take the first `nbytes` of the last `get_buffer`, which are filled; `has_more` if a frame may be whole."""
        if self._large is not None:
            self.has_more = self._large.filled(nbytes)
        else:
            self._end += nbytes
            self.has_more = self._end - self._start >= self._needed

    def next_frames(self) -> list[Frame]:
        """Decode what has been received.

        Returns:
            The frames that are complete now, in order, at most `FRAMES_AT_ONCE`; see `has_more`.

        Raises:
            ProtocolError: the next frame is malformed. If complete frames precede it in the same
                bytes, they are returned first, `error` is set, and any later call raises.
        """
        if self.error is not None:
            raise self.error
        frames: list[Frame] = []
        if not self.has_more:
            return frames
        try:
            if self._large is not None:
                self._large.settle()
                payload, self._large, self.has_more = self._large.payload, None, False
                frames.append(_frame(payload))
            else:
                self._parse(frames)
        except ProtocolError as error:
            self.error = error
            if not frames:
                raise
        return frames

    def _parse(self, frames: list[Frame]) -> None:
        self.has_more = False
        view, start, end, max_bytes = self._view, self._start, self._end, self._max_request_bytes
        needed = SIZE_BYTES
        while end - start >= SIZE_BYTES:
            if len(frames) == FRAMES_AT_ONCE:
                self.has_more = True
                break
            (size_bytes,) = SIZE.unpack_from(view, start)
            if not 0 <= size_bytes <= max_bytes:
                raise frame_size_error(size_bytes, max_bytes)
            frame_end = start + SIZE_BYTES + size_bytes
            if frame_end > end:
                needed = frame_end - start
                break
            frames.append(_frame(view[start + SIZE_BYTES : frame_end]))
            start = frame_end
        self._start, self._needed = start, needed
        if needed > SIZE_BYTES:
            self._begin(needed, view[start:end])

    def _begin(self, needed: int, begun: memoryview) -> None:
        """Make room for a frame that is incomplete as it comes, in a buffer of its own if it is large."""
        if needed > self._receive_buffer_bytes:
            if len(begun) < SIZE_BYTES + _API_KEY.size:
                self._needed = SIZE_BYTES + _API_KEY.size
                return
            _check_size(_API_KEY.unpack_from(begun, SIZE_BYTES)[0], needed - SIZE_BYTES)
            self._large = _LargeFrame(needed - SIZE_BYTES, begun[SIZE_BYTES:], self._claims)
            self._start, self._needed = self._end, SIZE_BYTES
        else:
            self._needed = min(needed, max(FIRST_BUFFER_BYTES, len(begun) + 1))

    def _is_short_of_room(self) -> bool:
        capacity = len(self._buffer)
        return self._start + max(self._needed, capacity // ROOM_DIVISOR) > capacity

    def _recycle(self) -> None:
        """Continue at the front of a buffer: of this one if it has no views, otherwise of a new one."""
        if self._start == self._end < len(self._buffer) >= self._needed and self._is_unused():
            self._start = self._end = 0  # as a rule
            return
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
        if self._end == capacity:  # the client filled all the room
            capacity = max(capacity * GROWTH_FACTOR, FIRST_BUFFER_BYTES)
        while capacity < self._needed:
            capacity *= GROWTH_FACTOR
        return min(capacity, self._receive_buffer_bytes)

    def _is_unused(self) -> bool:
        """Whether the receive buffer has no views except our own."""
        self._view.release()
        try:
            # Shrink by one byte, and add it again: neither step moves the memory.
            self._buffer.append(self._buffer.pop())
            is_unused = True
        except BufferError:
            is_unused = False
        self._view = memoryview(self._buffer)
        return is_unused


class _LargeFrame:
    """A frame with a separate buffer, and its received part."""

    __slots__ = ("_claimed_bytes", "_claims", "_end", "_size_bytes", "_view")

    def __init__(self, size_bytes: int, begun: memoryview, claims: ClaimedMemory) -> None:
        self._size_bytes = size_bytes
        self._end = len(begun)
        self._claims = claims
        claimed_bytes = size_bytes - self._end
        if size_bytes <= CLAIMED_AT_ONCE_BYTES and claimed_bytes <= claims.left_bytes:
            self._view = memoryview(bytearray(size_bytes))
            self._claimed_bytes = claimed_bytes
            claims.take(claimed_bytes)
        else:
            self._view = self._memory()
            self._claimed_bytes = 0
        self._view[: self._end] = begun

    def settle(self) -> None:
        """Give back what was taken for bytes that had not come."""
        self._claims.give_back(self._claimed_bytes)
        self._claimed_bytes = 0

    def room(self) -> memoryview:
        """Return the buffer for the next read; a larger one when it is full."""
        if self._end == len(self._view):
            grown = self._memory()
            grown[: self._end] = self._view
            self._view = grown
        return self._view[self._end : self._end + READ_BYTES]

    def filled(self, nbytes: int) -> bool:
        """Add the received bytes; return whether the frame is complete."""
        self._end += nbytes
        return self._end == self._size_bytes

    @property
    def payload(self) -> memoryview:
        """The whole frame, once it is complete."""
        return self._view

    def _memory(self) -> memoryview:
        """Return a buffer for what has come and some more."""
        if self._size_bytes > MAPPED_BYTES and self._end >= PROVEN_BYTES:
            return memoryview(mmap.mmap(-1, self._size_bytes))
        capacity = max(CLAIM_BYTES, GROWTH_FACTOR * self._end)
        return memoryview(bytearray(min(self._size_bytes, capacity)))


def _check_size(api_key: int, size_bytes: int) -> None:
    if size_bytes > MAX_REQUEST_BYTES and api_key not in _BOUNDED_BY_CONFIGURATION:
        raise ProtocolError(
            f"request with key {api_key} of {size_bytes} bytes, at most {MAX_REQUEST_BYTES} are allowed"
        )


def _frame(payload: memoryview) -> Frame:
    header, body_offset = parse_request_header(payload)
    # What its constructor does, without a call of Python code.
    return tuple.__new__(Frame, (header, payload[body_offset:], len(payload)))
