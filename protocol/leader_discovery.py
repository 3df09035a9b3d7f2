"""The current leader of a partition, in Produce and Fetch responses of a node that is not the leader. Pure.

The client can go to the leader without a round trip for metadata (KIP-951). Both parts are tagged
fields of flexible responses:

| field | where | layout |
|---|---|---|
| CurrentLeader | partition | int32 leader id, int32 leader epoch, no tags |
| NodeEndpoints | response, tag 0 | compact array of: int32 node id, compact string host, |
| | | int32 port, compact nullable string rack, no tags |

Source: ProduceResponse.json and FetchResponse.json of Apache Kafka 4.4.
"""

from collections.abc import Sequence
from struct import Struct
from typing import Final, NamedTuple

from headrace.protocol.primitives import (
    NO_TAGS,
    ONE_TAG,
    encode_compact_string,
    encode_tagged_field,
    encode_uvarint,
)

_LEADER: Final = Struct(">iix")
_INT32: Final = Struct(">i")
_NODE_ENDPOINTS_TAG: Final = 0


class CurrentLeader(NamedTuple):
    """Leader of a partition as this broker knows it; -1 is unknown."""

    leader_id: int
    leader_epoch: int


class NodeEndpoint(NamedTuple):
    """The address of a node for the clients of a listener."""

    node_id: int
    host: str
    port: int
    rack: str | None = None


def encode_current_leader(tag: int, leader: CurrentLeader) -> bytes:
    """Encode the tagged field; the tag depends on the response."""
    return encode_tagged_field(tag, _LEADER.pack(leader.leader_id, leader.leader_epoch))


def encode_response_tags(endpoints: Sequence[NodeEndpoint]) -> bytes:
    """Encode the tagged fields at the end of a response: these endpoints, if any."""
    if not endpoints:
        return NO_TAGS
    pieces = [encode_uvarint(len(endpoints) + 1)]
    for endpoint in endpoints:
        pieces += (
            _INT32.pack(endpoint.node_id),
            encode_compact_string(endpoint.host),
            _INT32.pack(endpoint.port),
            encode_compact_string(endpoint.rack),
            NO_TAGS,
        )
    return ONE_TAG + encode_tagged_field(_NODE_ENDPOINTS_TAG, b"".join(pieces))
