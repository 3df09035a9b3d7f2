"""ListOffsets as a client asks and is answered: version 7. Pure.

Request, everything compact, tagged fields at the end of each struct:

| type | field |
|---|---|
| int32, int8 | replica_id, isolation_level |
| array | topics: string name, array of partitions: int32 index, int32 leader_epoch, int64 timestamp |

Answer:

| type | field |
|---|---|
| int32 | throttle_time_ms |
| array | topics: string name, array of partitions: int32 index, int16 error_code, int64 timestamp, |
| | int64 offset, int32 leader_epoch |

Source: ListOffsetsRequest.json and ListOffsetsResponse.json of Apache Kafka 4.4.
"""

from collections.abc import Mapping
from struct import Struct
from typing import Final, NamedTuple

from headrace.protocol.errors import ProtocolError
from headrace.protocol.primitives import (
    NO_TAGS,
    Reader,
    encode_compact_string,
    encode_uvarint,
    read_compact_non_null,
    skip_tagged_fields,
)

LIST_OFFSETS_VERSION: Final = 7
LATEST_TIMESTAMP: Final = -1
EARLIEST_TIMESTAMP: Final = -2

_HEAD: Final = Struct(">ib")
_WANTED: Final = Struct(">iiqx")
_FOUND: Final = Struct(">ihqqi")
_CONSUMER: Final = -1
_NO_EPOCH: Final = -1
_INT32: Final = Struct(">i")


class ListedOffset(NamedTuple):
    """The answer for a partition: -1 where there is no such record."""

    error_code: int
    offset: int


def encode_list_offsets_request(
    timestamps: Mapping[str, Mapping[int, int]], isolation_level: int
) -> bytes:
    """Encode the body of a request: a time, or one of the constants above, by topic and partition."""
    pieces = [_HEAD.pack(_CONSUMER, isolation_level), encode_uvarint(len(timestamps) + 1)]
    for name, partitions in timestamps.items():
        pieces += (encode_compact_string(name), encode_uvarint(len(partitions) + 1))
        pieces += (_WANTED.pack(index, _NO_EPOCH, time) for index, time in partitions.items())
        pieces.append(NO_TAGS)
    return b"".join((*pieces, NO_TAGS))


def decode_list_offsets_response(body: memoryview) -> dict[tuple[str, int], ListedOffset]:
    """Decode the body of an answer: what was found, by topic and partition.

    Raises:
        ProtocolError: the bytes are not such an answer.
    """
    found: dict[tuple[str, int], ListedOffset] = {}
    try:
        reader = Reader(body)
        reader.fixed(_INT32)
        for topic in reader.array(_topic, reader.uvarint() - 1, 3):
            found.update(topic)
        reader.position = skip_tagged_fields(body, reader.position)
    except UnicodeDecodeError as cause:
        raise ProtocolError("malformed ListOffsets response") from cause
    return found


def _topic(reader: Reader) -> dict[tuple[str, int], ListedOffset]:
    name, reader.position = read_compact_non_null(reader.data, reader.position)
    rows = reader.array(_partition, reader.uvarint() - 1, _FOUND.size + 1)
    reader.position = skip_tagged_fields(reader.data, reader.position)
    return {(name, index): found for index, found in rows}


def _partition(reader: Reader) -> tuple[int, ListedOffset]:
    index, error_code, _, offset, _ = reader.fixed(_FOUND)
    reader.position = skip_tagged_fields(reader.data, reader.position)
    return index, ListedOffset(error_code, offset)
