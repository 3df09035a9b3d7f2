"""Encodes and decodes messages, with their headers.

Payloads here do not include the four bytes of the frame size. A message may have a hundred thousand elements, which
takes a part of a second. So its encoding and decoding are generators that stop after some of them; who runs them on an
event loop lets others run there.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, runtime_checkable

from headrace.protocol import headers
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import VERSIONS, accepts
from headrace.protocol.errors import ErrorCode, ProtocolError
from headrace.protocol.generated.api_versions import ApiVersionsResponse
from headrace.protocol.headers import RequestHeader
from headrace.protocol.message_class import KafkaMessage, Read
from headrace.protocol.message_writing import (
    MAX_ANSWER_BYTES,
    EncodedElement,
    Output,
)
from headrace.protocol.messages.registry import REQUESTS, RESPONSES
from headrace.protocol.primitives import MAX_ARRAY_ELEMENTS, STEP_ELEMENTS, Reader
from headrace.steps import Steps, completed, freed

FLAT_BYTES: Final = 1024  # a body of no more is read without a stop
FREED_AT_ONCE: Final = 32  # elements, which may have some dozens of their own
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


# By key and version, of those that have been seen: what reads a request, and what makes the header of its answer.
_READ: Final[dict[tuple[int, int], Read]] = {}
_HEADERS: Final[dict[tuple[int, int], Callable[[int], bytes]]] = {}


@runtime_checkable
class _Throttled(Protocol):
    """An answer that has its client wait."""

    throttle_time_ms: int


def decode_request(api_key: int, version: int, body: memoryview) -> Any:
    """Decode the body of a request at once; see `decode_request_steps`. Of a small one this is one call."""
    if len(body) > FLAT_BYTES:
        return completed(decode_request_steps(api_key, version, body))
    read = _READ.get((api_key, version))
    if read is None:
        if not accepts(api_key, version):
            raise _not_supported(api_key, version)
        message_class = REQUESTS[api_key]
        read = _READ[api_key, version] = message_class.READ[version - message_class.MIN_VERSION]
    try:
        return read(Reader(body, MAX_ELEMENTS.get(api_key, MAX_ARRAY_ELEMENTS)))
    except UnicodeDecodeError as error:
        raise _not_utf8(error) from None


def decode_request_steps(api_key: int, version: int, body: memoryview) -> Steps[KafkaMessage]:
    """Decode the body of a request, in steps of less than a millisecond. The result keeps no view of `body`.

    Bytes after the body are ignored, as in Apache Kafka: librdkafka 2.16 sends three of them with a
    Metadata request (version 13) for all topics. A body that ends early is refused.

    Raises:
        ProtocolError: key and version are not supported, or the bytes are not a complete body.
    """
    if not accepts(api_key, version):
        raise _not_supported(api_key, version)
    reader = Reader(body, MAX_ELEMENTS.get(api_key, MAX_ARRAY_ELEMENTS))
    return (yield from _decode(REQUESTS[api_key], version, reader))


def is_large(api_key: int, body: memoryview) -> bool:
    """Whether a request may have so many elements that only some such are decoded and served at once."""
    return len(body) > _LARGE_BYTES and api_key not in MAX_ELEMENTS


def decode_response(api_key: int, version: int, payload: memoryview) -> tuple[int, Any]:
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
        name = type(message).__name__
        raise ProtocolError(f"{name}: {len(body) - reader.position} bytes left over")
    return correlation_id, message


_UNSUPPORTED_VERSION: Final = ErrorCode.UNSUPPORTED_VERSION.to_bytes(2, "big")


def encode_request(request: KafkaMessage, header: RequestHeader) -> bytes:
    """Encode a request with its header."""
    encoded = headers.encode_request_header(header)
    return b"".join(completed(_encode(request, header.api_version, encoded, MAX_ANSWER_BYTES)))


def encode_response(
    response: KafkaMessage, version: int, correlation_id: int, *, throttle_ms: int = 0
) -> bytes:
    """Encode a response with the header of its key and version, at once; see `encode_response_steps`.

    Its arrays are short, or it is not encoded on an event loop.
    """
    if throttle_ms and isinstance(response, _Throttled):
        response.throttle_time_ms = throttle_ms
    key = response.API_KEY, version
    header = _HEADERS.get(key)
    if header is None:
        header = _HEADERS[key] = headers.response_header(*key)
    output = bytearray(header(correlation_id))
    response.WRITE[version - response.MIN_VERSION](output, response)
    return bytes(output)


def encode_response_steps(
    response: KafkaMessage,
    version: int,
    correlation_id: int,
    *,
    throttle_ms: int = 0,
    max_bytes: int = MAX_ANSWER_BYTES,
) -> Steps[list[bytes]]:
    """Encode a response with the header of its key and version, in steps of less than a millisecond.

    A wrong type inside the message raises any error of the encoder: it is a bug of the caller.

    Args:
        response: what is answered.
        version: of the request.
        correlation_id: of the request.
        throttle_ms: how long the client has to wait, where the answer has a field for it.
        max_bytes: of the payload.

    Returns:
        The pieces of the payload, in their order.

    Raises:
        AnswerTooLargeError: the payload would exceed `max_bytes`.
    """
    if throttle_ms and isinstance(response, _Throttled):
        response.throttle_time_ms = throttle_ms
    header = headers.encode_response_header(response.API_KEY, version, correlation_id)
    return (yield from _encode(response, version, header, max_bytes))


def encode_element_steps(
    message_class: type[KafkaMessage], field_name: str, item: Any, version: int
) -> Steps[EncodedElement]:
    """Encode one element of an array, which takes the bytes instead of the element."""
    steps = message_class.ELEMENT_STEPS[field_name][version - message_class.MIN_VERSION]
    output = Output(MAX_ANSWER_BYTES)
    yield from steps(output, item)
    return EncodedElement(b"".join(output.end()))


def encode_unsupported_api_versions(correlation_id: int) -> bytes:
    """Encode the response to an ApiVersions request of an unsupported version.

    The client does not know a common version yet, so the response always has version 0, and lists
    the one range that the client needs to ask again (KIP-511). The body of such a request must not
    be parsed, and the connection stays open.
    """
    row = VERSIONS[ApiKey.API_VERSIONS]
    response = ApiVersionsResponse(
        error_code=ErrorCode.UNSUPPORTED_VERSION,
        api_keys=[
            ApiVersionsResponse.ApiVersion(
                api_key=ApiKey.API_VERSIONS,
                min_version=row.min_version,
                max_version=row.max_version,
            )
        ],
    )
    return encode_response(response, _API_VERSIONS_FALLBACK, correlation_id)


def error_for(request: KafkaMessage, code: ErrorCode) -> Any:
    """Return the answer that refuses everything that a request asks for."""
    return type(request).ERROR_FOR(request, int(code))


def free_steps(message: KafkaMessage) -> Steps[None]:
    """Free the elements of an unused message, in steps; small arrays stay as they are.

    An answer may have some hundred thousand objects: to free them at once takes tens of milliseconds.
    """
    for name in message.__struct_fields__:
        items = getattr(message, name)
        if isinstance(items, list) and len(items) > STEP_ELEMENTS:
            yield from freed(items, FREED_AT_ONCE)


def _decode(message_class: type[KafkaMessage], version: int, reader: Reader) -> Steps[KafkaMessage]:
    number = version - message_class.MIN_VERSION
    steps = message_class.READ_STEPS[number] if len(reader.data) > FLAT_BYTES else None
    message: KafkaMessage
    try:
        if steps is None:
            message = message_class.READ[number](reader)
        else:
            message = yield from steps(reader)
    except UnicodeDecodeError as error:
        raise _not_utf8(error) from None
    return message


def _not_supported(api_key: int, version: int) -> ProtocolError:
    return ProtocolError(f"version {version} of the request with key {api_key} is not supported")


def _not_utf8(error: UnicodeDecodeError) -> ProtocolError:
    return ProtocolError(f"string is not UTF-8: {error}")


def _encode(
    message: KafkaMessage, version: int, header: bytes, max_bytes: int
) -> Steps[list[bytes]]:
    number = version - message.MIN_VERSION
    output = Output(max_bytes)
    output.buffer += header
    steps = message.WRITE_STEPS[number]
    if steps is None:
        message.WRITE[number](output.buffer, message)
    else:
        yield from steps(output, message)
    return output.end()
