"""Frames that carry requests and answers between brokers and the controller.

offset | bytes | type        | field       | meaning
0      | 1     | u8          | version     | `RPC_VERSION`, or a later one: those only add at the end
1      | 8     | u64 BE      | correlation | chosen by the sender, returned in the answer
9      | rest  | MessagePack | body        | request: array of its tag and fields, and last the proof
       |       |             |             | answer: [error code, message or nil, index, body or nil,
       |       |             |             |          leader or nil]

`index` is the entry of the metadata log that an answer depends on: a reader that has applied it
sees the change. `leader` is [node id, host, port] of the leader, with NOT_CONTROLLER and if it is
known. Frames have no checksum: the transport has one.

The proof is an extension (`PROOF_TYPE`) of 16 bytes: the secret of the sender's registration, with requests that speak
for one. It is behind all fields that the sender knows, and who does not know it ignores it like any later field.
"""

import struct
from typing import Final, NamedTuple

import msgspec

from headrace.metadata.errors import MetadataFormatError
from headrace.metadata.rpc.requests import (
    FetchEntries,
    FetchSnapshot,
    Heartbeat,
    Relay,
    Request,
)
from headrace.metadata.rpc.responses import Response
from headrace.protocol.errors import ErrorCode

RPC_VERSION: Final = 1
MAX_FRAME_BYTES: Final = 64 << 20
# The ranges of 100,000 streams in one upload take a quarter of it.
MAX_REQUEST_BYTES: Final = 8 << 20
MAX_RELAY_BYTES: Final = MAX_REQUEST_BYTES + 64  # such a request in a Relay

PROOF_TYPE: Final = 1  # the application's type of the MessagePack extension
PROOF_BYTES: Final = 16

_HEADER: Final = struct.Struct(">BQ")
_PROOF_MARK: Final = bytes((0xD8, PROOF_TYPE))  # an extension of 16 bytes
_SHORT_ARRAY: Final = 0x90  # MessagePack's array of up to 15 items, which are its low bits
_ENCODER: Final = msgspec.msgpack.Encoder(uuid_format="bytes")
_REQUEST_DECODER: Final = msgspec.msgpack.Decoder(Request)
_KINDS: Final = (Relay, Heartbeat, FetchEntries, FetchSnapshot)
_ITEMS_DECODER: Final = msgspec.msgpack.Decoder(tuple[msgspec.Raw, ...])


class Sent(NamedTuple):
    """A request without its frame."""

    request: Request
    proof: bytes | None  # the secret of the sender's registration, if it was sent


class LeaderAddress(NamedTuple):
    """The address of the quorum's leader."""

    node_id: int
    host: str
    port: int


class Answer(NamedTuple):
    """An answer without its frame; `body` is None if and only if there is an error."""

    error: ErrorCode
    message: str | None
    log_index: int
    body: Response | None
    leader: LeaderAddress | None = None


_ANSWER_DECODER: Final = msgspec.msgpack.Decoder(
    tuple[int, str | None, int, Response | None, LeaderAddress | None]
)


def encode_request(correlation: int, request: Request, proof: bytes | None = None) -> bytes:
    """Encode a request frame, with the secret of the sender's registration if it speaks for one.

    Raises:
        MetadataFormatError: it is too large.
    """
    if proof is None:
        return _encode(correlation, request, MAX_REQUEST_BYTES)
    extension = msgspec.msgpack.Ext(PROOF_TYPE, proof)
    fields = msgspec.structs.astuple(request)
    tag = type(request).__struct_config__.tag
    return _encode(correlation, (tag, *fields, extension), MAX_REQUEST_BYTES)


def encode_answer(correlation: int, answer: Answer) -> bytes:
    """Encode an answer frame."""
    return _encode(correlation, (int(answer.error), *answer[1:]), MAX_FRAME_BYTES)


def encode_relay(correlation: int, frame: bytes) -> bytes:
    """Encode the frame of a request to pass another one's frame on."""
    return _encode(correlation, Relay(frame), MAX_RELAY_BYTES)


def kind_of(frame: bytes) -> type | None:
    """Return the kind of request that a frame is of, as far as others need to know it; None: another one.

    Raises:
        MetadataFormatError: it is not the frame of a request.
    """
    decode_correlation(frame)
    try:
        items = _ITEMS_DECODER.decode(memoryview(frame)[_HEADER.size :])
        tag = msgspec.msgpack.decode(items[0]) if items else None  # a number has several encodings
    except (msgspec.MsgspecError, RecursionError) as error:
        raise MetadataFormatError(f"a controller request cannot be read: {error}") from error
    return next((kind for kind in _KINDS if kind.__struct_config__.tag == tag), None)


def decode_correlation(frame: bytes) -> int:
    """Read the header of a frame.

    Raises:
        MetadataFormatError: the frame is too long or short, or has an invalid version.
    """
    if not _HEADER.size < len(frame) <= MAX_FRAME_BYTES:
        raise MetadataFormatError(
            f"a controller RPC frame has the invalid length of {len(frame)} bytes"
        )
    version, correlation = _HEADER.unpack_from(frame)
    if version < RPC_VERSION:
        raise MetadataFormatError(
            f"a controller RPC has version {version}, not {RPC_VERSION} or later"
        )
    return int(correlation)


def decode_request(frame: bytes) -> Sent:
    """Decode the body of a request frame whose header has been read.

    Raises:
        MetadataFormatError: the body is not a request of this version.
    """
    try:
        body, proof = _without_proof(memoryview(frame)[_HEADER.size :])
        request: Request = _REQUEST_DECODER.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise MetadataFormatError(f"a controller request cannot be read: {error}") from error
    return Sent(request, proof)


def decode_answer(frame: bytes, correlation: int) -> Answer:
    """Decode the answer to a request.

    Raises:
        MetadataFormatError: the frame cannot be read, or answers another request.
    """
    found = decode_correlation(frame)
    if found != correlation:
        raise MetadataFormatError(
            f"the answer to request {correlation} has the number of request {found}"
        )
    try:
        code, message, index, body, leader = _ANSWER_DECODER.decode(
            memoryview(frame)[_HEADER.size :]
        )
        error = ErrorCode(code)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError) as failure:
        raise MetadataFormatError(f"a controller answer cannot be read: {failure}") from failure
    if (error == ErrorCode.NONE) == (body is None):
        raise MetadataFormatError("a controller answer must have either an error or a body")
    return Answer(error, message, index, body, leader)


def _without_proof(body: memoryview) -> tuple[memoryview | bytes, bytes | None]:
    """Take the proof off a body, if there is one: a request of a later release may have a field there."""
    size = len(_PROOF_MARK) + PROOF_BYTES
    if body[-size:-PROOF_BYTES] != _PROOF_MARK or body[0] & 0xF0 != _SHORT_ARRAY:
        return body, None
    if len(_ITEMS_DECODER.decode(body)[-1]) != size:
        return body, None  # the bytes of something else only look like one
    return bytes((body[0] - 1,)) + body[1:-size], bytes(body[-PROOF_BYTES:])


def _encode(correlation: int, body: object, max_bytes: int) -> bytes:
    buffer = bytearray(_HEADER.pack(RPC_VERSION, correlation))
    _ENCODER.encode_into(body, buffer, _HEADER.size)
    if len(buffer) > max_bytes:
        raise MetadataFormatError(f"a controller RPC frame of {len(buffer)} bytes is too large")
    return bytes(buffer)
