"""The kinds of links that controllers serve, and their bounds. Pure."""

from typing import Final

from headrace.links.kinds import LinkKind
from headrace.metadata.rpc import frames

MAX_REQUEST_BODY_BYTES: Final = frames.MAX_REQUEST_BYTES + 4096
MAX_MESSAGE_BYTES: Final = frames.MAX_FRAME_BYTES + 4096  # of an entry that was received in a frame

# Requests of brokers and of other controllers; a payload is a frame of `headrace.metadata.rpc.frames`.
RPC: Final = LinkKind(
    number=1,
    name="rpc",
    max_body_bytes=MAX_REQUEST_BODY_BYTES,
    max_answer_bytes=frames.MAX_FRAME_BYTES + 4096,
    max_inflight=256,
    max_inflight_bytes=2 * MAX_REQUEST_BODY_BYTES,
)
# Messages of `headrace.metadata.raft.messages`, as MessagePack.
PEER: Final = LinkKind(number=2, name="peer", max_body_bytes=MAX_MESSAGE_BYTES)
