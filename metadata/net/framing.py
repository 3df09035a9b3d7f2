"""The frames of a connection to a controller. Pure.

Everything is a frame:

offset | bytes  | type   | field  | meaning
0      | 4      | u32 BE | length | of the body; at most `MAX_BODY_BYTES`, see below for others
4      | length |        | body   | see below

The first frame in each direction is a hello, of `MAX_HELLO_BYTES` at most. The accepting end answers with its own,
which repeats the kind, or has the kind REFUSED and is its last frame. A request may have `MAX_REQUEST_BODY_BYTES`.

offset | bytes | type    | field        | meaning
0      | 4     | bytes   | magic        | "HRCN"
4      | 1     | u8      | version      | `NET_VERSION`, or a later one
5      | 1     | u8      | kind         | `Kind`
6      | 4     | i32 BE  | node id      | of the sender; -1: it is not a node
10     | 16    | UUID    | directory id | of the sender's metadata log; zero: it has none
26     | 2     | u16 BE  | length       | of the cluster id; 0: not known yet
28     | n     | UTF-8   | cluster id   | differs: refused
28 + n | rest  |         |              | of later versions; ignored

The first release takes version 1 and no rest only. So a node may send a later version once the level of the cluster
(`headrace.metadata.levels`) says that every node reads it; the connection has the older version of the two hellos.

Then, on an RPC connection, requests in one direction and answers in the other, in any order:

offset | bytes | type    | field   | meaning
0      | 8     | u64 BE  | number  | chosen by the client, from 1; returned in the answer. 0, no payload: a keepalive
8      | rest  | bytes   | payload | a frame of `headrace.metadata.rpc.frames`

A keepalive means that the controller is alive and still serving requests of this connection. On a
peer connection every further frame is one message of `headrace.metadata.raft.messages`, as MessagePack,
from the dialling node; the accepting end sends nothing more.
"""

import struct
from enum import IntEnum
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from headrace.metadata.errors import MetadataFormatError
from headrace.metadata.raft.messages import RaftMessage
from headrace.metadata.rpc import frames

NET_VERSION: Final = 1
MAGIC: Final = b"HRCN"
MAX_BODY_BYTES: Final = frames.MAX_FRAME_BYTES + 4096  # such a frame, or an entry received in one
MAX_REQUEST_BODY_BYTES: Final = frames.MAX_REQUEST_BYTES + 4096
MAX_CLUSTER_ID_BYTES: Final = 4096
KEEPALIVE: Final = 0

_LENGTH: Final = struct.Struct(">I")
_HELLO: Final = struct.Struct(">4sBBi16sH")
_NUMBER: Final = struct.Struct(">Q")
_ENCODER: Final = msgspec.msgpack.Encoder(uuid_format="bytes")
_MESSAGE_DECODER: Final = msgspec.msgpack.Decoder(RaftMessage)

MAX_HELLO_BYTES: Final = _HELLO.size + MAX_CLUSTER_ID_BYTES


class Kind(IntEnum):
    """The purpose of a connection."""

    REFUSED = 0
    RPC = 1
    PEER = 2


class Party(NamedTuple):
    """The identity of one end of a connection."""

    cluster_id: str  # empty: not known yet
    node_id: int
    directory_id: UUID


class Hello(NamedTuple):
    """The first frame in each direction."""

    kind: Kind
    party: Party


class Numbered(NamedTuple):
    """A request or its answer, on an RPC connection."""

    number: int
    payload: bytes


class FrameReader:
    """Splits received bytes into frames. Buffers at most one frame and what was read after it."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._max_body_bytes = MAX_HELLO_BYTES

    def expect_frames(self, max_body_bytes: int) -> None:
        """Allow frames of that length, after the hello."""
        self._max_body_bytes = max_body_bytes

    @property
    def pending_bytes(self) -> int:
        """Bytes that were fed and not taken yet."""
        return len(self._buffer)

    def feed(self, data: bytes) -> None:
        """Add received bytes."""
        self._buffer += data

    def next_length(self) -> int | None:
        """Length of the next frame's body, once it is known.

        Raises:
            MetadataFormatError: it is above the limit; nothing was allocated for it.
        """
        if len(self._buffer) < _LENGTH.size:
            return None
        length = int(_LENGTH.unpack_from(self._buffer)[0])
        if length > self._max_body_bytes:
            raise MetadataFormatError(
                f"a frame has {length} bytes, at most {self._max_body_bytes} are allowed"
            )
        return length

    def next_body(self) -> bytes | None:
        """Take the next frame's body, once it is complete.

        Raises:
            MetadataFormatError: its length is above the limit.
        """
        length = self.next_length()
        if length is None or len(self._buffer) < _LENGTH.size + length:
            return None
        with memoryview(self._buffer) as read:
            body = bytes(read[_LENGTH.size : _LENGTH.size + length])
        del self._buffer[: _LENGTH.size + length]
        return body


def encode_hello(hello: Hello) -> bytes:
    """Encode the frame of a hello."""
    kind, party = hello
    cluster_id = party.cluster_id.encode()
    header = _HELLO.pack(
        MAGIC, NET_VERSION, kind, party.node_id, party.directory_id.bytes, len(cluster_id)
    )
    return _framed(header + cluster_id)


def decode_hello(body: bytes) -> Hello:
    """Decode the body of the first frame.

    Raises:
        MetadataFormatError: it is not a hello of this version, or of a later one.
    """
    if len(body) < _HELLO.size or body[: len(MAGIC)] != MAGIC:
        raise MetadataFormatError("a connection does not begin with a hello")
    _, version, kind, node_id, directory_id, length = _HELLO.unpack_from(body)
    if version < NET_VERSION:
        raise MetadataFormatError(
            f"the connection has protocol version {version}, not {NET_VERSION} or later"
        )
    end = _HELLO.size + length
    if len(body) < end or (len(body) > end and version == NET_VERSION):
        raise MetadataFormatError(f"a hello has {len(body)} bytes, not {end}")
    try:
        cluster_id = body[_HELLO.size : end].decode()
        return Hello(Kind(kind), Party(cluster_id, node_id, UUID(bytes=directory_id)))
    except ValueError as error:
        raise MetadataFormatError(f"a hello cannot be read: {error}") from error


def encode_numbered(number: int, payload: bytes) -> bytes:
    """Encode the frame of a request, an answer or a keepalive.

    Raises:
        MetadataFormatError: the payload is too long.
    """
    return _framed(_NUMBER.pack(number) + payload)


def decode_numbered(body: bytes) -> Numbered:
    """Decode the body of a frame of an RPC connection.

    Raises:
        MetadataFormatError: it is too short, or a keepalive with a payload.
    """
    if len(body) < _NUMBER.size:
        raise MetadataFormatError(f"a frame of {len(body)} bytes is too short for its number")
    number = int(_NUMBER.unpack_from(body)[0])
    if (number == KEEPALIVE) != (len(body) == _NUMBER.size):
        raise MetadataFormatError(
            "a frame must have a number and a payload, or neither (a keepalive)"
        )
    return Numbered(number, body[_NUMBER.size :])


def encode_message(message: RaftMessage) -> bytes:
    """Encode the frame of a message between peers.

    Raises:
        MetadataFormatError: it is too long.
    """
    return _framed(_ENCODER.encode(message))


def decode_message(body: bytes) -> RaftMessage:
    """Decode the body of a frame of a peer connection.

    Raises:
        MetadataFormatError: it is not a message of this version.
    """
    try:
        message: RaftMessage = _MESSAGE_DECODER.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise MetadataFormatError(f"a message of a peer cannot be read: {error}") from error
    return message


def _framed(body: bytes) -> bytes:
    if len(body) > MAX_BODY_BYTES:
        raise MetadataFormatError(f"a frame of {len(body)} bytes is too large")
    return _LENGTH.pack(len(body)) + body
