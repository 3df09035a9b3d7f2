"""The outermost layer: every request and response is preceded by its size. Pure.

| offset | bytes | type | field |
|---|---|---|---|
| 0 | 4 | int32, big-endian | size of what follows, at least 0 |
| 4 | size | | header and body |

A frame with a size outside of `[0, max_request_bytes]` cannot be skipped, so it ends the connection.

Source: NetworkReceive.java (`socket.request.max.bytes`).
"""

from struct import Struct
from typing import Final

from headrace.protocol.errors import ProtocolError

SIZE: Final = Struct(">i")
SIZE_BYTES: Final = SIZE.size


def parse_frame_size(data: memoryview, position: int, max_request_bytes: int) -> int:
    """Return the size at `position`, where at least four bytes must follow.

    Raises:
        ProtocolError: it is negative or above `max_request_bytes`.
    """
    size: int = SIZE.unpack_from(data, position)[0]
    if 0 <= size <= max_request_bytes:
        return size
    raise frame_size_error(size, max_request_bytes)


def frame_size_error(size_bytes: int, max_bytes: int) -> ProtocolError:
    """Give the error of a frame that is negative, or too large."""
    return ProtocolError(f"frame of {size_bytes} bytes, at most {max_bytes} are allowed")


def frame(payload: bytes) -> bytes:
    """Return the size followed by the payload."""
    return SIZE.pack(len(payload)) + payload
