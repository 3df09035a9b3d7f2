"""Encodes and decodes messages, with their headers.

Payloads here do not include the four bytes of the frame size.
"""

from collections.abc import Generator, Mapping
from typing import Any, Final, TypeAlias

from headrace.loop_steps import completed
from headrace.protocol import headers
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import VERSIONS, accepts
from headrace.protocol.errors import ErrorCode, ProtocolError
from headrace.protocol.headers import RequestHeader
from headrace.protocol.messages import encoding
from headrace.protocol.messages.decoding import decoder
from headrace.protocol.messages.encoding import MAX_ANSWER_BYTES
from headrace.protocol.messages.registry import REQUESTS, RESPONSES
from headrace.protocol.primitives import MAX_ARRAY_ELEMENTS, Reader

# An instance of a class of `headrace.protocol.messages`: only the schemas define their fields.
Message: TypeAlias = Any

_API_VERSIONS_FALLBACK: Final = 0

# Of a request in which no client ever has many: protocols, members of a group, filters, listeners, groups. A group of
# more members would not fit its record.
MAX_ELEMENTS: Final[Mapping[int, int]] = {
    ApiKey.FIND_COORDINATOR: 65_536,
    ApiKey.DESCRIBE_GROUPS: 65_536,
    ApiKey.DELETE_GROUPS: 65_536,
    ApiKey.JOIN_GROUP: 1_000,
    ApiKey.SYNC_GROUP: 16_384,
    ApiKey.LEAVE_GROUP: 16_384,
    ApiKey.LIST_GROUPS: 1_000,
    ApiKey.ADD_RAFT_VOTER: 1_000,
}
_LARGE_BYTES: Final = (
    256 << 10
)  # 65,536 elements take as many at least, but for such as no client sends


def decode_request(api_key: int, version: int, body: memoryview) -> Message:
    """Decode the body of a request at once; see `decode_request_steps`."""
    return completed(decode_request_steps(api_key, version, body))


def decode_request_steps(
    api_key: int, version: int, body: memoryview
) -> Generator[None, None, Message]:
    """Decode the body of a request, in steps of about a millisecond. The result keeps no view of `body`.

    Bytes after the body are ignored, as in Apache Kafka: librdkafka 2.16 sends three of them with a
    Metadata request (version 13) for all topics. A body that ends early is refused.

    Raises:
        ProtocolError: key and version are not supported, or the bytes are not a complete body.
    """
    if not accepts(api_key, version):
        raise ProtocolError(f"version {version} of the request with key {api_key} is not supported")
    reader = Reader(body, MAX_ELEMENTS.get(api_key, MAX_ARRAY_ELEMENTS))
    return (yield from _decode(REQUESTS[api_key], version, reader))


def is_large(api_key: int, body: memoryview) -> bool:
    """Whether a request may have so many elements that only some such are decoded and served at once."""
    return len(body) > _LARGE_BYTES and api_key not in MAX_ELEMENTS


def decode_response(api_key: int, version: int, payload: memoryview) -> tuple[int, Message]:
    """Decode a response; return its correlation id too.

    Raises:
        ProtocolError: key and version are not supported, or the bytes are not one response.
    """
    if not accepts(api_key, version):
        raise ProtocolError(
            f"version {version} of the response with key {api_key} is not supported"
        )
    correlation_id, position = headers.parse_response_header(api_key, version, payload)
    body = payload[position:]
    if api_key == ApiKey.API_VERSIONS and body[:2] == _UNSUPPORTED_VERSION:
        version = _API_VERSIONS_FALLBACK
    # A response is trusted: only its length bounds the arrays.
    reader = Reader(body, elements_left=len(body))
    message = completed(_decode(RESPONSES[api_key], version, reader))
    if reader.position != len(body):
        raise ProtocolError(f"{message.name}: {len(body) - reader.position} bytes left over")
    return correlation_id, message


_UNSUPPORTED_VERSION: Final = ErrorCode.UNSUPPORTED_VERSION.to_bytes(2, "big")


def encode_request(request: Message, header: RequestHeader) -> bytes:
    """Encode a request with its header."""
    encoded = headers.encode_request_header(header)
    return b"".join(completed(encoding.steps(request, header.api_version, encoded)))


def encode_response(response: Message, version: int, correlation_id: int) -> bytes:
    """Encode a response with the header of its key and version, at once; see `encode_response_steps`."""
    return b"".join(completed(encode_response_steps(response, version, correlation_id)))


def encode_response_steps(
    response: Message, version: int, correlation_id: int, max_bytes: int = MAX_ANSWER_BYTES
) -> Generator[None, None, list[bytes]]:
    """Encode a response with the header of its key and version, in steps of about a millisecond.

    A wrong type inside the message raises any error of the encoder: it is a bug of the caller.

    Returns:
        The pieces of the payload, in their order.

    Raises:
        AnswerTooLargeError: the payload would exceed `max_bytes`.
    """
    header = headers.encode_response_header(response.API_KEY, version, correlation_id)
    return (yield from encoding.steps(response, version, header, max_bytes))


def encode_unsupported_api_versions(correlation_id: int) -> bytes:
    """Encode the response to an ApiVersions request of an unsupported version.

    The client does not know a common version yet, so the response always has version 0, and lists
    the one range that the client needs to ask again (KIP-511). The body of such a request must not
    be parsed, and the connection stays open.
    """
    row = VERSIONS[ApiKey.API_VERSIONS]
    response_class = RESPONSES[ApiKey.API_VERSIONS]
    response = response_class(
        error_code=ErrorCode.UNSUPPORTED_VERSION,
        api_keys=[
            response_class.ApiVersion(
                api_key=ApiKey.API_VERSIONS,
                min_version=row.min_version,
                max_version=row.max_version,
            )
        ],
    )
    return encode_response(response, _API_VERSIONS_FALLBACK, correlation_id)


def _decode(message_class: Any, version: int, reader: Reader) -> Generator[None, None, Message]:
    try:
        return (yield from decoder(message_class, version)(reader))
    except UnicodeDecodeError as error:
        raise ProtocolError(f"{message_class.name}: string is not UTF-8") from error
