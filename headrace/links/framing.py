"""The frames of a link between two nodes. Pure.

Everything is a frame:

offset | bytes  | type   | field  | meaning
0      | 4      | u32 BE | length | of the body; at most what the kind of the link allows
4      | length |        | body   | see below

The first frame in each direction is a hello, of `MAX_HELLO_BYTES` at most. The accepting end answers with its own,
which repeats the kind, or has the kind REFUSED and is its last frame.

offset | bytes | type    | field        | meaning
0      | 4     | bytes   | magic        | "HRCN"
4      | 1     | u8      | version      | `HELLO_VERSION`, `PROOF_VERSION`, or a later one
5      | 1     | u8      | kind         | `headrace.links.kinds`
6      | 4     | i32 BE  | node id      | of the sender; -1: it is not a node
10     | 16    | UUID    | directory id | of the sender's metadata log; zero: it has none
26     | 2     | u16 BE  | length       | of the cluster id; 0: not known yet
28     | n     | UTF-8   | cluster id   | differs: refused
       |       |         |              | from `PROOF_VERSION` on:
28 + n | 2     | u16 BE  | length       | of the proof
30 + n | m     | bytes   | proof        | that the sender is who it says; read by the service of the kind
       | rest  |         |              | of later versions; ignored

The first release takes version 1 and no rest only. So a node may send a proof, or a later version, once the level of
the cluster (`headrace.metadata.levels`) says that every node reads it; the link has the older version of the two
hellos. A hello without a proof has version 1.

Then, if the kind is of requests, requests in one direction and answers in the other, in any order:

offset | bytes | type    | field   | meaning
0      | 8     | u64 BE  | number  | of the client, from 1; returned in the answer. 0, no payload: a keepalive
8      | rest  | bytes   | payload | of the user of the kind

A keepalive means that the accepting end is alive and still serving requests of this link. If the kind is of messages,
every further frame is one message of its user, from the dialling end; the accepting end sends nothing more.
"""

import struct
from typing import Final, NamedTuple
from uuid import UUID

from headrace.links.ends import Party
from headrace.links.errors import LinkFormatError

HELLO_VERSION: Final = 1
PROOF_VERSION: Final = 2
MAGIC: Final = b"HRCN"
MAX_BODY_BYTES: Final = (64 << 20) + 4096  # of any kind
MAX_TEXT_BYTES: Final = 4096  # of a cluster id and a proof together
KEEPALIVE: Final = 0

_LENGTH: Final = struct.Struct(">I")
_HELLO: Final = struct.Struct(">4sBBi16sH")
_PROOF_LENGTH: Final = struct.Struct(">H")
_NUMBER: Final = struct.Struct(">Q")

MAX_HELLO_BYTES: Final = _HELLO.size + MAX_TEXT_BYTES


class Hello(NamedTuple):
    """The first frame in each direction."""

    kind: int
    party: Party
    proof: bytes = b""  # that the party is the one that it names; empty: none


class Numbered(NamedTuple):
    """A request or its answer."""

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
            LinkFormatError: it is above the limit; nothing was allocated for it.
        """
        if len(self._buffer) < _LENGTH.size:
            return None
        length = int(_LENGTH.unpack_from(self._buffer)[0])
        if length > self._max_body_bytes:
            raise LinkFormatError(
                f"a frame has {length} bytes, at most {self._max_body_bytes} are allowed"
            )
        return length

    def next_body(self) -> bytes | None:
        """Take the next frame's body, once it is complete.

        Raises:
            LinkFormatError: its length is above the limit.
        """
        length = self.next_length()
        if length is None or len(self._buffer) < _LENGTH.size + length:
            return None
        with memoryview(self._buffer) as read:
            body = bytes(read[_LENGTH.size : _LENGTH.size + length])
        del self._buffer[: _LENGTH.size + length]
        return body


def encode_hello(hello: Hello) -> bytes:
    """Encode the frame of a hello.

    Raises:
        LinkFormatError: the cluster id and the proof are too long.
    """
    kind, party, proof = hello
    cluster_id = party.cluster_id.encode()
    version = PROOF_VERSION if proof else HELLO_VERSION
    header = _HELLO.pack(
        MAGIC, version, kind, party.node_id, party.directory_id.bytes, len(cluster_id)
    )
    rest = _PROOF_LENGTH.pack(len(proof)) + proof if proof else b""
    return framed(header + cluster_id + rest, MAX_HELLO_BYTES)


def decode_hello(body: bytes) -> Hello:
    """Decode the body of the first frame.

    Raises:
        LinkFormatError: it is not a hello of a version that is known, or of a later one.
    """
    if len(body) < _HELLO.size or body[: len(MAGIC)] != MAGIC:
        raise LinkFormatError("a connection does not begin with a hello")
    _, version, kind, node_id, directory_id, length = _HELLO.unpack_from(body)
    if version < HELLO_VERSION:
        raise LinkFormatError(
            f"the connection has protocol version {version}, not {HELLO_VERSION} or later"
        )
    proof_at = end = _HELLO.size + length
    if version >= PROOF_VERSION:
        proof_at = end + _PROOF_LENGTH.size
        end = proof_at
        if len(body) >= proof_at:
            end += int(_PROOF_LENGTH.unpack_from(body, _HELLO.size + length)[0])
    if len(body) < end or (len(body) > end and version <= PROOF_VERSION):
        raise LinkFormatError(f"a hello has {len(body)} bytes, not {end}")
    try:
        cluster_id = body[_HELLO.size : _HELLO.size + length].decode()
    except UnicodeDecodeError as error:
        raise LinkFormatError(f"a hello cannot be read: {error}") from error
    party = Party(cluster_id, node_id, UUID(bytes=directory_id))
    return Hello(kind, party, body[proof_at:end])


def encode_numbered(number: int, payload: bytes) -> bytes:
    """Encode the frame of a request, an answer or a keepalive.

    Raises:
        LinkFormatError: the payload is too long.
    """
    return framed(_NUMBER.pack(number) + payload, MAX_BODY_BYTES)


def decode_numbered(body: bytes) -> Numbered:
    """Decode the body of a request, an answer or a keepalive.

    Raises:
        LinkFormatError: it is too short, or a keepalive with a payload.
    """
    if len(body) < _NUMBER.size:
        raise LinkFormatError(f"a frame of {len(body)} bytes is too short for its number")
    number = int(_NUMBER.unpack_from(body)[0])
    if (number == KEEPALIVE) != (len(body) == _NUMBER.size):
        raise LinkFormatError("a frame must have a number and a payload, or neither (a keepalive)")
    return Numbered(number, body[_NUMBER.size :])


def framed(body: bytes, max_body_bytes: int) -> bytes:
    """Make a frame of its body.

    Raises:
        LinkFormatError: it is too large.
    """
    if len(body) > max_body_bytes:
        raise LinkFormatError(f"a frame of {len(body)} bytes is too large")
    return _LENGTH.pack(len(body)) + body
