"""Request and response headers. Pure.

Request (everything is big-endian):

| offset | bytes | type | field |
|---|---|---|---|
| 0 | 2 | int16 | api_key |
| 2 | 2 | int16 | api_version |
| 4 | 4 | int32 | correlation_id |
| 8 | 2 | int16 | length of client_id, negative: null |
| 10 | n | UTF-8 | client_id; not compact even where the rest of the message is |
| .. | 1.. | tagged fields | header version 2 only: from the key's first flexible version on |

Response: int32 correlation_id, then tagged fields when the message is flexible. The exception is
ApiVersions, whose response header never has any: a client sends it before it can know the versions
that the broker supports (KIP-511).

Source: RequestHeader.json and ResponseHeader.json of Apache Kafka 4.4.
"""

from collections.abc import Callable
from struct import Struct, error
from typing import Final, NamedTuple

from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import FLEXIBLE_SINCE, NEVER, is_flexible
from headrace.protocol.errors import ProtocolError
from headrace.protocol.primitives import STRING_AS_JAVA, skip_tagged_fields

_FIXED: Final = Struct(">hhih")
_CORRELATION_ID: Final = Struct(">i")
_CORRELATION_ID_AND_NO_TAGS: Final = Struct(">ix")


class RequestHeader(NamedTuple):
    """The header of a request. `api_key` and `api_version` are as sent: they may be unknown."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None


def parse_request_header(frame: memoryview) -> tuple[RequestHeader, int]:
    """Return the header of `frame` (without its size), and the position of the body.

    The header of an unknown key is read as version 1, so that the key can be reported.

    Raises:
        ProtocolError: the frame has no complete header.
    """
    try:
        api_key, api_version, correlation_id, length = _FIXED.unpack_from(frame)
        position = _FIXED.size
        client_id = None
        if length >= 0:
            end = position + length
            if end > len(frame):
                raise ProtocolError("client id exceeds the frame")
            client_id = str(frame[position:end], "utf-8", STRING_AS_JAVA)
            position = end
        if api_version >= FLEXIBLE_SINCE.get(api_key, NEVER):
            # In practice one zero byte: no client sends tags in its request header.
            position = position + 1 if frame[position] == 0 else skip_tagged_fields(frame, position)
    except (error, IndexError, UnicodeDecodeError) as cause:
        raise ProtocolError("malformed request header") from cause
    # What its constructor does, without a call of Python code.
    fields = (api_key, api_version, correlation_id, client_id)
    return tuple.__new__(RequestHeader, fields), position


def encode_request_header(header: RequestHeader) -> bytes:
    """Encode a header in the header version of its key and API version."""
    client_id = b"" if header.client_id is None else header.client_id.encode()
    length = -1 if header.client_id is None else len(client_id)
    fixed = _FIXED.pack(header.api_key, header.api_version, header.correlation_id, length)
    tags = b"\0" if is_flexible(header.api_key, header.api_version) else b""
    return fixed + client_id + tags


def encode_response_header(api_key: int, api_version: int, correlation_id: int) -> bytes:
    """Encode the header of the response to a request of this key and version."""
    return response_header(api_key, api_version)(correlation_id)


def response_header(api_key: int, api_version: int) -> Callable[[int], bytes]:
    """Give what encodes the header of a response of this key and version, from the correlation id."""
    return _response_layout(api_key, api_version).pack


def parse_response_header(api_key: int, api_version: int, payload: memoryview) -> tuple[int, int]:
    """Return the correlation id, and the position of the body.

    Raises:
        ProtocolError: the payload has no complete header.
    """
    try:
        (correlation_id,) = _CORRELATION_ID.unpack_from(payload)
    except error as cause:
        raise ProtocolError("malformed response header") from cause
    position = _CORRELATION_ID.size
    if _response_layout(api_key, api_version) is _CORRELATION_ID_AND_NO_TAGS:
        position = skip_tagged_fields(payload, position)
    return correlation_id, position


def _response_layout(api_key: int, api_version: int) -> Struct:
    if api_key != ApiKey.API_VERSIONS and is_flexible(api_key, api_version):
        return _CORRELATION_ID_AND_NO_TAGS
    return _CORRELATION_ID
