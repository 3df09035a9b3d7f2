"""Fetch responses (API key 1), versions 4 to 18, encoded by hand.

A response is a list of buffers, so that stored record batches go to the socket without being joined
or copied; only small ones are copied, since each buffer costs the socket more than that.

Versions 4 to 11; from 12 on strings, bytes and arrays are compact, and tagged fields end each aborted transaction,
each partition, each topic and the body. The fields are in `protocol/generator/tables/clients.txt`.

Source: FetchResponse.json of Apache Kafka 4.4.
"""

from collections.abc import Sequence
from struct import Struct
from typing import Final, NamedTuple
from uuid import UUID

from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import VERSIONS
from headrace.protocol.leader_discovery import (
    CurrentLeader,
    NodeEndpoint,
    encode_current_leader,
    encode_response_tags,
)
from headrace.protocol.primitives import (
    NO_TAGS,
    UUID_ZERO_BYTES,
    encode_compact_string,
    encode_string,
    encode_tagged_field,
    encode_uvarint,
)
from headrace.steps import Steps

Buffer = bytes | bytearray | memoryview

LOG_START_OFFSET_SINCE: Final = 5
SESSIONS_SINCE: Final = 7  # KIP-227
PREFERRED_READ_REPLICA_SINCE: Final = 11  # KIP-392
TOPIC_IDS_SINCE: Final = 13  # KIP-516
NODE_ENDPOINTS_SINCE: Final = 16  # KIP-951
SLICE_PARTITIONS: Final = 500  # encoded without a break
COPIED_BYTES: Final = 2_048  # of the records of one partition, at most
_FLEXIBLE_SINCE: Final = VERSIONS[ApiKey.FETCH].flexible_since

_INT32: Final = Struct(">i")
_CLASSIC_HEADER: Final = Struct(">iiii")
_CLASSIC_HEADER_WITH_SESSION: Final = Struct(">iiihii")
_FLEXIBLE_HEADER: Final = Struct(">iixihi")
# A partition up to its aborted transactions.
_PARTITION: Final = Struct(">ihqq")
_PARTITION_WITH_LOG_START: Final = Struct(">ihqqq")
# The same with what follows when the aborted transactions are null.
_CLASSIC_WITHOUT_ABORTED: Final = Struct(">ihqqqiii")
_FLEXIBLE_WITHOUT_ABORTED: Final = Struct(">ihqqqxi")
_ABORTED: Final = Struct(">qq")
_ABORTED_FLEXIBLE: Final = Struct(">qqx")
_EPOCH_END_OFFSET: Final = Struct(">iqx")
_SNAPSHOT_ID: Final = Struct(">qix")
_DIVERGING_EPOCH_TAG: Final = 0
_CURRENT_LEADER_TAG: Final = 1
_SNAPSHOT_ID_TAG: Final = 2
_NULL: Final = -1  # as a length
_NO_TAGGED_FIELDS: Final = (None, None, None)


class AbortedTransaction(NamedTuple):
    """A transaction whose records a read-committed consumer must drop."""

    producer_id: int
    first_offset: int


class EpochEndOffset(NamedTuple):
    """Where the log of a client diverges from this one."""

    epoch: int
    end_offset: int


class SnapshotId(NamedTuple):
    """The snapshot to fetch instead of deleted log entries (metadata log only)."""

    end_offset: int
    epoch: int


class FetchPartitionResponse(NamedTuple):
    """The data of one partition: `records` are whole batches, in order, sent unchanged."""

    partition_index: int
    error_code: int = 0
    high_watermark: int = -1
    last_stable_offset: int = -1
    log_start_offset: int = -1
    aborted_transactions: Sequence[AbortedTransaction] | None = None
    preferred_read_replica: int = -1
    records: Sequence[Buffer] | None = ()
    diverging_epoch: EpochEndOffset | None = None
    current_leader: CurrentLeader | None = None
    snapshot_id: SnapshotId | None = None


class FetchTopicResponse(NamedTuple):
    """The partitions of one topic, identified as in the request."""

    name: str
    topic_id: UUID | None
    partitions: list[FetchPartitionResponse]


def encode_fetch_response(
    version: int,
    correlation_id: int,
    throttle_time_ms: int,
    error_code: int,
    session_id: int,
    responses: Sequence[FetchTopicResponse],
    node_endpoints: Sequence[NodeEndpoint] = (),
) -> list[Buffer]:
    """Encode a response as the buffers of one whole frame, its size included.

    The views in `records` are passed on without a copy, unless all of a partition come to `COPIED_BYTES` at most: they
    must not change until they are sent.
    Fields that the version lacks are left out.
    """
    head = _encode_head(
        version, (0, correlation_id, throttle_time_ms), (error_code, session_id), len(responses)
    )
    buffers: list[Buffer] = []
    pending = head
    for topic in responses:
        pending += _encode_topic_head(version, topic)
        pending = _encode_partitions(version, topic.partitions, pending, buffers)
        if version >= _FLEXIBLE_SINCE:
            pending += NO_TAGS
    return _finished(version, node_endpoints, pending, buffers)


def encode_fetch_in_slices(
    version: int,
    correlation_id: int,
    throttle_time_ms: int,
    session_id: int,
    responses: Sequence[FetchTopicResponse],
    node_endpoints: Sequence[NodeEndpoint] = (),
) -> Steps[list[Buffer]]:
    """As `encode_fetch_response`, for many partitions: `SLICE_PARTITIONS` at a time."""
    pending = _encode_head(
        version, (0, correlation_id, throttle_time_ms), (0, session_id), len(responses)
    )
    buffers: list[Buffer] = []
    room = SLICE_PARTITIONS
    for topic in responses:
        pending += _encode_topic_head(version, topic)
        for start in range(0, len(topic.partitions), SLICE_PARTITIONS):
            some = topic.partitions[start : start + SLICE_PARTITIONS]
            pending = _encode_partitions(version, some, pending, buffers)
            room -= len(some)
            if room <= 0:
                room = SLICE_PARTITIONS
                if pending:  # it grows no further: that would copy it
                    buffers.append(pending)
                    pending = bytearray()
                yield
        if version >= _FLEXIBLE_SINCE:
            pending += NO_TAGS
    return _finished(version, node_endpoints, pending, buffers)


def _encode_head(
    version: int, frame: tuple[int, int, int], session: tuple[int, int], topics: int
) -> bytearray:
    """Encode size (to be set later), correlation id, throttling; error and session; the number of topics."""
    if version >= _FLEXIBLE_SINCE:
        return bytearray(_FLEXIBLE_HEADER.pack(*frame, *session) + encode_uvarint(topics + 1))
    if version >= SESSIONS_SINCE:
        return bytearray(_CLASSIC_HEADER_WITH_SESSION.pack(*frame, *session, topics))
    return bytearray(_CLASSIC_HEADER.pack(*frame, topics))


def _encode_partitions(
    version: int,
    partitions: Sequence[FetchPartitionResponse],
    pending: bytearray,
    buffers: list[Buffer],
) -> bytearray:
    """Add partitions to `pending`, and this to `buffers` before any large records; return what is pending then."""
    flexible = version >= _FLEXIBLE_SINCE
    encode_partition = _encode_flexible_partition if flexible else _encode_classic_partition
    for partition in partitions:
        records = partition.records
        records_bytes = sum(map(len, records)) if records is not None else _NULL
        pending += encode_partition(version, partition, records_bytes)
        if records_bytes > COPIED_BYTES and records:
            buffers.append(pending)
            buffers += records
            pending = bytearray()
        elif records:
            for batch in records:
                pending += batch
        if flexible:
            pending += _encode_partition_tags(partition)
    return pending


def _finished(
    version: int,
    node_endpoints: Sequence[NodeEndpoint],
    pending: bytearray,
    buffers: list[Buffer],
) -> list[Buffer]:
    if version >= _FLEXIBLE_SINCE:
        has_endpoints = version >= NODE_ENDPOINTS_SINCE
        pending += encode_response_tags(node_endpoints if has_endpoints else ())
    if pending:
        buffers.append(pending)
    _INT32.pack_into(buffers[0], 0, sum(map(len, buffers)) - _INT32.size)
    return buffers


def _encode_topic_head(version: int, topic: FetchTopicResponse) -> bytes:
    if version < _FLEXIBLE_SINCE:
        return encode_string(topic.name) + _INT32.pack(len(topic.partitions))
    if version < TOPIC_IDS_SINCE:
        identity = encode_compact_string(topic.name)
    else:
        identity = UUID_ZERO_BYTES if topic.topic_id is None else topic.topic_id.bytes
    return identity + encode_uvarint(len(topic.partitions) + 1)


def _encode_classic_partition(
    version: int, partition: FetchPartitionResponse, records_bytes: int
) -> bytes:
    aborted = partition.aborted_transactions
    if aborted is None and version >= PREFERRED_READ_REPLICA_SINCE:
        return _CLASSIC_WITHOUT_ABORTED.pack(
            *partition[:5], _NULL, partition.preferred_read_replica, records_bytes
        )
    if version >= LOG_START_OFFSET_SINCE:
        pieces = [_PARTITION_WITH_LOG_START.pack(*partition[:5])]
    else:
        pieces = [_PARTITION.pack(*partition[:4])]
    if aborted is None:
        pieces.append(_INT32.pack(_NULL))
    else:
        pieces.append(_INT32.pack(len(aborted)))
        pieces += [_ABORTED.pack(*transaction) for transaction in aborted]
    if version >= PREFERRED_READ_REPLICA_SINCE:
        pieces.append(_INT32.pack(partition.preferred_read_replica))
    pieces.append(_INT32.pack(records_bytes))
    return b"".join(pieces)


def _encode_flexible_partition(
    _version: int, partition: FetchPartitionResponse, records_bytes: int
) -> bytes:
    aborted = partition.aborted_transactions
    if aborted is None:
        head = _FLEXIBLE_WITHOUT_ABORTED.pack(*partition[:5], partition.preferred_read_replica)
        return head + encode_uvarint(records_bytes + 1)
    return b"".join(
        (
            _PARTITION_WITH_LOG_START.pack(*partition[:5]),
            encode_uvarint(len(aborted) + 1),
            *[_ABORTED_FLEXIBLE.pack(*transaction) for transaction in aborted],
            _INT32.pack(partition.preferred_read_replica),
            encode_uvarint(records_bytes + 1),
        )
    )


def _encode_partition_tags(partition: FetchPartitionResponse) -> bytes:
    if partition[8:] == _NO_TAGGED_FIELDS:
        return NO_TAGS
    *_, diverging_epoch, current_leader, snapshot_id = partition
    tags = []
    if diverging_epoch is not None:
        value = _EPOCH_END_OFFSET.pack(*diverging_epoch)
        tags.append(encode_tagged_field(_DIVERGING_EPOCH_TAG, value))
    if current_leader is not None:
        tags.append(encode_current_leader(_CURRENT_LEADER_TAG, current_leader))
    if snapshot_id is not None:
        tags.append(encode_tagged_field(_SNAPSHOT_ID_TAG, _SNAPSHOT_ID.pack(*snapshot_id)))
    return encode_uvarint(len(tags)) + b"".join(tags)
