"""The frames of messages between controllers: MessagePack of `headrace.metadata.raft.messages`. Pure."""

from typing import Final

import msgspec

from headrace.links.errors import LinkFormatError
from headrace.links.framing import framed
from headrace.metadata.net.kinds import MAX_MESSAGE_BYTES
from headrace.metadata.raft.messages import RaftMessage

_ENCODER: Final = msgspec.msgpack.Encoder(uuid_format="bytes")
_DECODER: Final = msgspec.msgpack.Decoder(RaftMessage)


def encode_message(message: RaftMessage) -> bytes:
    """Encode the frame of a message.

    Raises:
        LinkFormatError: it is too large.
    """
    return framed(_ENCODER.encode(message), MAX_MESSAGE_BYTES)


def decode_message(body: bytes) -> RaftMessage:
    """Decode the body of a frame.

    Raises:
        LinkFormatError: it is not a message of this version.
    """
    try:
        message: RaftMessage = _DECODER.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise LinkFormatError(f"a message of a peer cannot be read: {error}") from error
    return message
