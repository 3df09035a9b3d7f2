"""A Fetch of one partition, as a client asks and is answered: version 13, without a session. Pure.

Topics are identified by their ids: a topic that was deleted and created again is another one. The layouts are in
`headrace.protocol.fetch.request` and `headrace.protocol.fetch.response`.

Source: FetchRequest.json and FetchResponse.json of Apache Kafka 4.4.
"""

from dataclasses import dataclass
from struct import Struct
from typing import Final
from uuid import UUID

from headrace.protocol.errors import ProtocolError
from headrace.protocol.fetch.response import AbortedTransaction
from headrace.protocol.primitives import Reader, encode_uvarint, skip_tagged_fields

FETCH_VERSION: Final = 13

# Replica, max_wait_ms, min_bytes, max_bytes, isolation_level, no session; the number of topics, which is one.
_HEAD: Final = Struct(">iiiibiiB")
# No known epoch, no offset of a follower, no tags.
_PARTITION: Final = Struct(">iiqiqix")
# No tags of the topic; no forgotten topics, no rack, no tags of the body.
_TAIL: Final = b"\0" + b"\x01" + b"\x01" + b"\0"
_CONSUMER: Final = -1
_NO_SESSION: Final = (0, -1)
_ONE: Final = encode_uvarint(2)

_ANSWER_HEAD: Final = Struct(">ihi")
_ANSWER_PARTITION: Final = Struct(">ihqqq")
_ABORTED: Final = Struct(">qq")
_REPLICA: Final = Struct(">i")


@dataclass(frozen=True, slots=True)
class FetchedPartition:
    """The answer for the partition. `records` may end with a batch that is cut off."""

    error_code: int
    high_watermark: int  # -1 with an error, as the next two
    last_stable_offset: int
    log_start_offset: int
    aborted: tuple[AbortedTransaction, ...]  # asked for by isolation_level 1 only
    records: memoryview


def encode_fetch_request(
    topic_id: UUID,
    partition: int,
    fetch_offset: int,
    *,
    isolation_level: int,
    max_wait_ms: int,
    max_bytes: int,
) -> bytes:
    """Encode the body of a request; a first batch that is larger than `max_bytes` is answered all the same."""
    head = _HEAD.pack(_CONSUMER, max_wait_ms, 1, max_bytes, isolation_level, *_NO_SESSION, 2)
    wanted = _PARTITION.pack(partition, -1, fetch_offset, -1, -1, max_bytes)
    return b"".join((head, topic_id.bytes, _ONE, wanted, _TAIL))


def decode_fetch_response(body: memoryview) -> FetchedPartition:
    """Decode the answer to a request for one partition; `records` is a view of `body`.

    Raises:
        ProtocolError: the bytes are not such an answer.
    """
    reader = Reader(body)
    _, error_code, _ = reader.fixed(_ANSWER_HEAD)
    if error_code:
        return FetchedPartition(error_code, -1, -1, -1, (), body[:0])
    if reader.uvarint() != 2:
        raise ProtocolError("a Fetch of one topic is answered with another number of topics")
    reader.take(16)
    if reader.uvarint() != 2:
        raise ProtocolError(
            "a Fetch of one partition is answered with another number of partitions"
        )
    _, error_code, high_watermark, stable, start = reader.fixed(_ANSWER_PARTITION)
    count = max(0, reader.uvarint() - 1)
    aborted = reader.array(_aborted, count, _ABORTED.size + 1)
    reader.fixed(_REPLICA)
    records = reader.take(max(0, reader.uvarint() - 1))
    for _ in range(3):  # of the partition, the topic and the body
        reader.position = skip_tagged_fields(body, reader.position)
    return FetchedPartition(error_code, high_watermark, stable, start, tuple(aborted), records)


def _aborted(reader: Reader) -> AbortedTransaction:
    transaction = AbortedTransaction(*reader.fixed(_ABORTED))
    reader.position = skip_tagged_fields(reader.data, reader.position)
    return transaction
