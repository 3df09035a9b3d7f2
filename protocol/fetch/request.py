"""Fetch requests (API key 1), versions 4 to 18, decoded by hand.

Versions 4 to 11; from 12 on strings and arrays are compact, and tagged fields end each partition, each topic, each
forgotten topic and the body. The fields are in `protocol/generator/tables/clients.txt`.

From 17 on, followers may send tags in partitions; they are skipped.

Source: FetchRequest.json of Apache Kafka 4.4.
"""

from collections.abc import Callable
from struct import Struct, error
from typing import Any, Final, NamedTuple
from uuid import UUID

from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import VERSIONS
from headrace.protocol.errors import ProtocolError
from headrace.protocol.primitives import (
    MAX_ARRAY_ELEMENTS,
    STRING_AS_JAVA,
    UUID_BYTES,
    Reader,
    check_array,
    read_compact_non_null,
    read_compact_string,
    read_uuid,
    read_uvarint,
    skip_tagged_fields,
)
from headrace.steps import Steps, completed

# What a session forgets is named beside what it is to have.
MAX_FETCH_ELEMENTS: Final = 2 * MAX_ARRAY_ELEMENTS

LOG_START_OFFSET_SINCE: Final = 5
SESSIONS_SINCE: Final = 7  # KIP-227
LEADER_EPOCH_SINCE: Final = 9  # KIP-320
RACK_SINCE: Final = 11  # KIP-392
TOPIC_IDS_SINCE: Final = 13  # KIP-516
REPLICA_STATE_SINCE: Final = 15  # KIP-903
_MIN_VERSION, _MAX_VERSION, _FLEXIBLE_SINCE = VERSIONS[ApiKey.FETCH]

_INT16: Final = Struct(">h")
_INT32: Final = Struct(">i")
_REPLICA_STATE: Final = Struct(">iq")
_CLUSTER_ID_TAG: Final = 0
_REPLICA_STATE_TAG: Final = 1

# The fields before the topics, by version.
_HEAD: Final = Struct(">iiiib")
_HEAD_WITH_SESSION: Final = Struct(">iiiibii")
_HEAD_WITHOUT_REPLICA: Final = Struct(">iiibii")
_NO_SESSION: Final = (0, -1)
# A partition, by version.
_PARTITION: Final = Struct(">iqi")
_PARTITION_WITH_LOG_START: Final = Struct(">iqqi")
_PARTITION_WITH_EPOCH: Final = Struct(">iiqqi")
_PARTITION_FLEXIBLE: Final = Struct(">iiqiqi")
_PARTITION_WITHOUT_TAGS: Final = Struct(">iiqiqix")
STEP_ELEMENTS: Final = 200  # topics and partitions, decoded before others may have their turn
# Minimum size of a topic, by encoding.
_CLASSIC_TOPIC_BYTES: Final = 6
_FLEXIBLE_TOPIC_BYTES: Final = 3


class FetchPartition(NamedTuple):
    """A fetch of one partition. Epochs are -1 if the client does not know them."""

    partition_index: int
    current_leader_epoch: int
    fetch_offset: int
    last_fetched_epoch: int
    log_start_offset: int  # of a follower; -1 otherwise
    partition_max_bytes: int


class FetchTopic(NamedTuple):
    """One topic of a request: `name` is empty from version 13 on, `topic_id` is None before."""

    name: str
    topic_id: UUID | None
    partitions: list[FetchPartition]


class ForgottenTopic(NamedTuple):
    """Partitions that leave an incremental fetch session."""

    name: str
    topic_id: UUID | None
    partitions: list[int]


class FetchRequest(NamedTuple):
    """A Fetch request; fields that its version lacks have the schema's default."""

    replica_id: int  # -1: a consumer
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    isolation_level: int  # 0 read uncommitted, 1 read committed
    session_id: int
    session_epoch: int  # -1: no session
    topics: list[FetchTopic]
    forgotten: list[ForgottenTopic]
    rack_id: str
    cluster_id: str | None


def decode_fetch(version: int, body: memoryview) -> FetchRequest:
    """Decode the body of a request at once, as `decode_fetch_steps` does."""
    return completed(decode_fetch_steps(version, body))


def decode_fetch_steps(version: int, body: memoryview) -> Steps[FetchRequest]:
    """Decode the body of a request, `STEP_ELEMENTS` at a time. The result keeps no view of `body`.

    Bytes after it are ignored, see `headrace.protocol.messages`.

    Raises:
        ProtocolError: the version is not supported, or the bytes are not a complete body.
    """
    if not _MIN_VERSION <= version <= _MAX_VERSION:
        raise ProtocolError(f"version {version} of Fetch is not supported")
    try:
        if version >= _FLEXIBLE_SINCE:
            return (yield from _decode_flexible(version, body))
        return (yield from _decode_classic(version, body))
    except (error, IndexError, UnicodeDecodeError) as cause:
        raise ProtocolError("malformed Fetch request") from cause


def _decode_classic(version: int, body: memoryview) -> Steps[FetchRequest]:
    if version >= SESSIONS_SINCE:
        head: tuple[Any, ...] = _HEAD_WITH_SESSION.unpack_from(body)
        position = _HEAD_WITH_SESSION.size
    else:
        head = (*_HEAD.unpack_from(body), *_NO_SESSION)
        position = _HEAD.size
    size = len(body)
    (count,) = _INT32.unpack_from(body, position)
    position += 4
    elements_left = check_array(count, size - position, _CLASSIC_TOPIC_BYTES, MAX_FETCH_ELEMENTS)
    topics = []
    layout = _classic_layout(version)
    room = STEP_ELEMENTS
    for _ in range(count):
        name, position = _classic_string(body, position)
        (count,) = _INT32.unpack_from(body, position)
        position += 4
        elements_left = check_array(count, size - position, layout.size, elements_left)
        partitions: list[FetchPartition] = []
        while count:
            some = min(count, STEP_ELEMENTS)
            end = position + some * layout.size
            partitions += _classic_partitions(layout, body[position:end])
            position, count, room = end, count - some, room - some
            if count:
                yield
        topics.append(FetchTopic(name, None, partitions))
        room -= 1
        if room <= 0:
            room = STEP_ELEMENTS
            yield
    forgotten: list[ForgottenTopic] = []
    if version >= SESSIONS_SINCE:
        (count,) = _INT32.unpack_from(body, position)
        position += 4
        if count:
            forgotten, position = yield from _classic_forgotten(
                body, position, count, elements_left
            )
    rack_id = ""
    if version >= RACK_SINCE:
        rack_id, _ = _classic_string(body, position)
    return FetchRequest._make((*head, topics, forgotten, rack_id, None))


def _classic_count(body: memoryview, position: int) -> tuple[int, int]:
    count: int = _INT32.unpack_from(body, position)[0]
    return count, position + _INT32.size


def _classic_string(body: memoryview, position: int) -> tuple[str, int]:
    length: int = _INT16.unpack_from(body, position)[0]
    start = position + _INT16.size
    end = start + length
    if length < 0 or end > len(body):
        raise ProtocolError("string is null or exceeds the frame")
    return str(body[start:end], "utf-8", STRING_AS_JAVA), end


def _classic_layout(version: int) -> Struct:
    if version >= LEADER_EPOCH_SINCE:
        return _PARTITION_WITH_EPOCH
    return _PARTITION_WITH_LOG_START if version >= LOG_START_OFFSET_SINCE else _PARTITION


def _classic_partitions(layout: Struct, encoded: memoryview) -> list[FetchPartition]:
    rows = layout.iter_unpack(encoded)
    if layout is _PARTITION_WITH_EPOCH:
        return [
            FetchPartition(index, epoch, offset, -1, log_start, max_bytes)
            for index, epoch, offset, log_start, max_bytes in rows
        ]
    if layout is _PARTITION_WITH_LOG_START:
        return [
            FetchPartition(index, -1, offset, -1, log_start, max_bytes)
            for index, offset, log_start, max_bytes in rows
        ]
    return [
        FetchPartition(index, -1, offset, -1, -1, max_bytes) for index, offset, max_bytes in rows
    ]


def _classic_forgotten(
    body: memoryview, position: int, topic_count: int, elements_left: int
) -> Steps[tuple[list[ForgottenTopic], int]]:
    elements_left = check_array(
        topic_count, len(body) - position, _CLASSIC_TOPIC_BYTES, elements_left
    )
    forgotten = []
    for number in range(1, topic_count + 1):
        name, position = _classic_string(body, position)
        count, position = _classic_count(body, position)
        indexes, position, elements_left = _indexes(body, position, count, elements_left)
        forgotten.append(ForgottenTopic(name, None, indexes))
        if number % STEP_ELEMENTS == 0:
            yield
    return forgotten, position


def _indexes(
    body: memoryview, position: int, count: int, elements_left: int
) -> tuple[list[int], int, int]:
    elements_left = check_array(count, len(body) - position, _INT32.size, elements_left)
    end = position + count * _INT32.size
    return [index for (index,) in _INT32.iter_unpack(body[position:end])], end, elements_left


def _decode_flexible(version: int, body: memoryview) -> Steps[FetchRequest]:
    if version >= REPLICA_STATE_SINCE:
        head: tuple[Any, ...] = (-1, *_HEAD_WITHOUT_REPLICA.unpack_from(body))
        position = _HEAD_WITHOUT_REPLICA.size
    else:
        head = _HEAD_WITH_SESSION.unpack_from(body)
        position = _HEAD_WITH_SESSION.size
    topic_count, position = _compact_count(body, position)
    elements_left = check_array(
        topic_count, len(body) - position, _FLEXIBLE_TOPIC_BYTES, MAX_FETCH_ELEMENTS
    )
    topics = []
    room = STEP_ELEMENTS
    for _ in range(topic_count):
        name, topic_id, position = _flexible_topic(version, body, position)
        count, position = _compact_count(body, position)
        elements_left = check_array(
            count, len(body) - position, _PARTITION_WITHOUT_TAGS.size, elements_left
        )
        partitions: list[FetchPartition] = []
        while count:
            some = min(count, STEP_ELEMENTS)
            position = _flexible_partitions(body, position, some, partitions)
            count, room = count - some, room - some
            if count:
                yield
        position = skip_tagged_fields(body, position)
        topics.append(FetchTopic(name, topic_id, partitions))
        room -= 1
        if room <= 0:
            room = STEP_ELEMENTS
            yield
    forgotten, position = yield from _flexible_forgotten(version, body, position, elements_left)
    rack_id, position = read_compact_non_null(body, position)
    request = FetchRequest._make((*head, topics, forgotten, rack_id, None))
    return request if body[position] == 0 else _with_tags(version, request, body[position:])


def _compact_count(body: memoryview, position: int) -> tuple[int, int]:
    count, position = read_uvarint(body, position)
    return count - 1, position


def _flexible_topic(version: int, body: memoryview, position: int) -> tuple[str, UUID | None, int]:
    if version >= TOPIC_IDS_SINCE:
        return "", read_uuid(body, position), position + UUID_BYTES
    name, position = read_compact_non_null(body, position)
    return name, None, position


def _flexible_partitions(
    body: memoryview, position: int, count: int, partitions: list[FetchPartition]
) -> int:
    """Add so many partitions; return the position after them."""
    # Consumers send no tags: then all partitions have the same size, and one read decodes them.
    size = _PARTITION_WITHOUT_TAGS.size
    end = position + count * size
    if not any(body[position + size - 1 : end : size]):
        rows = _PARTITION_WITHOUT_TAGS.iter_unpack(body[position:end])
        partitions += map(FetchPartition._make, rows)
        return end
    for _ in range(count):
        partitions.append(FetchPartition._make(_PARTITION_FLEXIBLE.unpack_from(body, position)))
        position = skip_tagged_fields(body, position + _PARTITION_FLEXIBLE.size)
    return position


def _flexible_forgotten(
    version: int, body: memoryview, position: int, elements_left: int
) -> Steps[tuple[list[ForgottenTopic], int]]:
    topic_count, position = _compact_count(body, position)
    elements_left = check_array(
        topic_count, len(body) - position, _FLEXIBLE_TOPIC_BYTES, elements_left
    )
    forgotten = []
    for number in range(1, topic_count + 1):
        name, topic_id, position = _flexible_topic(version, body, position)
        count, position = _compact_count(body, position)
        indexes, position, elements_left = _indexes(body, position, count, elements_left)
        position = skip_tagged_fields(body, position)
        forgotten.append(ForgottenTopic(name, topic_id, indexes))
        if number % STEP_ELEMENTS == 0:
            yield
    return forgotten, position


def _with_tags(version: int, request: FetchRequest, tags: memoryview) -> FetchRequest:
    known: dict[int, Callable[[Reader], Any]] = {_CLUSTER_ID_TAG: _read_cluster_id}
    if version >= REPLICA_STATE_SINCE:
        known[_REPLICA_STATE_TAG] = _read_replica_id
    values = Reader(tags).tagged_fields(known)
    return request._replace(
        cluster_id=values.get(_CLUSTER_ID_TAG),
        replica_id=values.get(_REPLICA_STATE_TAG, request.replica_id),
    )


def _read_cluster_id(reader: Reader) -> str | None:
    value, reader.position = read_compact_string(reader.data, reader.position)
    return value


def _read_replica_id(reader: Reader) -> int:
    replica_id: int = reader.fixed(_REPLICA_STATE)[0]
    reader.position = skip_tagged_fields(reader.data, reader.position)
    return replica_id
