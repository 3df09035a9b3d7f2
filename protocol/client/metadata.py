"""Metadata as a client asks for it and is answered: version 12. Pure.

Request, everything compact, tagged fields at the end of each struct:

| type | field |
|---|---|
| array | topics: uuid topic_id (zeros), nullable string name |
| bool, bool | allow_auto_topic_creation, include_topic_authorized_operations |

Answer:

| type | field |
|---|---|
| int32 | throttle_time_ms |
| array | brokers: int32 node_id, string host, int32 port, nullable string rack |
| string, int32 | nullable cluster_id, controller_id |
| array | topics: int16 error_code, nullable string name, uuid topic_id, bool is_internal, then |
| . array | . partitions: int16 error_code, int32 index, int32 leader_id, int32 leader_epoch, |
| | . arrays of int32: replicas, those in sync, those offline |
| . int32 | . authorized operations |

Source: MetadataRequest.json and MetadataResponse.json of Apache Kafka 4.4.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Final
from uuid import UUID

from headrace.protocol.errors import ProtocolError
from headrace.protocol.primitives import (
    NO_TAGS,
    UUID_BYTES,
    UUID_ZERO_BYTES,
    Reader,
    encode_compact_string,
    encode_uvarint,
    read_compact_non_null,
    read_compact_string,
    read_uuid,
    skip_tagged_fields,
)

METADATA_VERSION: Final = 12
MAX_ELEMENTS: Final = 1 << 20  # of the arrays of an answer together: the brokers are not strangers

_INT32: Final = Struct(">i")
_INT16: Final = Struct(">h")
_PARTITION: Final = Struct(">hiii")


@dataclass(frozen=True, slots=True)
class TopicMetadata:
    """A topic as a broker knows it; error codes are Kafka's."""

    name: str
    topic_id: UUID | None
    error_code: int
    leaders: Mapping[int, int]  # node id by partition; -1: there is none now


@dataclass(frozen=True, slots=True)
class ClusterMetadata:
    """Addresses of brokers, by node id, for clients of the listener that was asked; and topics."""

    cluster_id: str
    brokers: Mapping[int, tuple[str, int]]
    topics: Sequence[TopicMetadata]


def encode_metadata_request(names: Sequence[str]) -> bytes:
    """Encode the body of a request for some topics, none of which is created."""
    pieces = [encode_uvarint(len(names) + 1)]
    for name in names:
        pieces += (UUID_ZERO_BYTES, encode_compact_string(name), NO_TAGS)
    return b"".join((*pieces, b"\0\0", NO_TAGS))


def decode_metadata_response(body: memoryview) -> ClusterMetadata:
    """Decode the body of an answer.

    Raises:
        ProtocolError: the bytes are not such an answer.
    """
    try:
        reader = Reader(body, MAX_ELEMENTS)
        reader.fixed(_INT32)
        brokers = dict(reader.array(_broker, reader.uvarint() - 1, 11))
        cluster_id, reader.position = read_compact_string(body, reader.position)
        reader.fixed(_INT32)
        topics = reader.array(_topic, reader.uvarint() - 1, 26)
        _skip_tags(reader)
    except UnicodeDecodeError as cause:
        raise ProtocolError("malformed Metadata response") from cause
    return ClusterMetadata(cluster_id or "", brokers, topics)


def _broker(reader: Reader) -> tuple[int, tuple[str, int]]:
    (node_id,) = reader.fixed(_INT32)
    host, reader.position = read_compact_non_null(reader.data, reader.position)
    (port,) = reader.fixed(_INT32)
    _, reader.position = read_compact_string(reader.data, reader.position)
    _skip_tags(reader)
    return node_id, (host, port)


def _topic(reader: Reader) -> TopicMetadata:
    (error_code,) = reader.fixed(_INT16)
    name, reader.position = read_compact_string(reader.data, reader.position)
    topic_id = read_uuid(reader.take(UUID_BYTES), 0)
    reader.take(1)
    leaders = dict(reader.array(_partition, reader.uvarint() - 1, _PARTITION.size + 4))
    reader.fixed(_INT32)
    _skip_tags(reader)
    return TopicMetadata(name or "", topic_id, error_code, leaders)


def _partition(reader: Reader) -> tuple[int, int]:
    _, index, leader_id, _ = reader.fixed(_PARTITION)
    for _ in range(3):
        count = reader.uvarint() - 1
        reader.begin_array(count, _INT32.size)
        reader.take(count * _INT32.size)
    _skip_tags(reader)
    return index, leader_id


def _skip_tags(reader: Reader) -> None:
    reader.position = skip_tagged_fields(reader.data, reader.position)
