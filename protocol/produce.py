"""Produce (API key 0), versions 3 to 13, decoded and encoded by hand. Pure.

Produce and Fetch make up nearly all bytes and most requests, so they bypass the message classes.
Record sets are never copied here: they are views into the frame, writable if the frame is.

Versions 3 to 8; from 9 on strings, bytes and arrays are compact, and tagged fields end each partition, each topic and
the body. The fields are in `protocol/generator/tables/clients.txt`.

Source: ProduceRequest.json and ProduceResponse.json of Apache Kafka 4.4.
"""

from collections.abc import Generator, Sequence
from functools import lru_cache
from struct import Struct, error
from typing import Final, NamedTuple
from uuid import UUID

from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import PRODUCE_MIN_VERSION, VERSIONS
from headrace.protocol.errors import ProtocolError
from headrace.protocol.leader_discovery import (
    CurrentLeader,
    NodeEndpoint,
    encode_current_leader,
    encode_response_tags,
)
from headrace.protocol.primitives import (
    MAX_ARRAY_ELEMENTS,
    NO_TAGS,
    ONE_TAG,
    STRING_AS_JAVA,
    UUID_BYTES,
    UUID_ZERO_BYTES,
    check_array,
    encode_compact_string,
    encode_string,
    encode_uvarint,
    read_compact_non_null,
    read_compact_string,
    read_uuid,
    read_uvarint,
    skip_tagged_fields,
)
from headrace.protocol.records.window import Slice
from headrace.steps import Steps, completed

STEP_ELEMENTS: Final = 200  # topics and partitions of a request that are decoded at once
SLICE_PARTITIONS: Final = 100  # of a request, served in one turn of the loop, which others need too
LOG_START_OFFSET_SINCE: Final = 5
RECORD_ERRORS_SINCE: Final = 8  # KIP-467
LEADER_DISCOVERY_SINCE: Final = 10  # KIP-951
TOPIC_IDS_SINCE: Final = 13  # KIP-516
_MAX_VERSION: Final = VERSIONS[ApiKey.PRODUCE].max_version
_FLEXIBLE_SINCE: Final = VERSIONS[ApiKey.PRODUCE].flexible_since

_INT16: Final = Struct(">h")
_INT32: Final = Struct(">i")
_TWO_INT32: Final = Struct(">ii")
_ACKS_TIMEOUT: Final = Struct(">hi")
_ACKS_TIMEOUT_TOPICS: Final = Struct(">hii")
_ONE_TOPIC: Final = Struct(">hhiih")  # no transactional id, acks, timeout, 1, length of the name
_ONE_FLEXIBLE_TOPIC: Final = Struct(">bhib")
_ONE_ELEMENT: Final = 2  # the length of a compact array
_NO_TAGS_OF_THREE: Final = b"\0\0\0"  # partition, topic and request
_ONE_PARTITION: Final = Struct(">iii")  # 1, index, length of the record set
_FLEXIBLE_HEADER: Final = Struct(">ix")
# Minimum size of an element, by encoding.
_CLASSIC_TOPIC_BYTES: Final = 6
_CLASSIC_PARTITION_BYTES: Final = 8
_FLEXIBLE_TOPIC_BYTES: Final = 3
_FLEXIBLE_PARTITION_BYTES: Final = 6

_KNOWN_ANSWERS: Final = 1024  # topics and versions whose answers are kept but for what differs

# A partition of a response, by version.
_BASE: Final = Struct(">ihqq")
_WITH_LOG_START_OFFSET: Final = Struct(">ihqqq")
_FLEXIBLE_WITHOUT_DETAILS: Final = Struct(">ihqqqBxx")  # no record errors, null message, no tags
_SIZE_AND_ID: Final = Struct(">ii")
_EMPTY_COMPACT_ARRAY: Final = 1
_NO_DETAILS: Final = ((), None, None)
_CURRENT_LEADER_TAG: Final = 0


class ProduceTopic(NamedTuple):
    """One topic of a request: `name` is empty from version 13 on, `topic_id` is None before.

    Partitions are pairs of index and record set; a set is a view into the frame, or None.
    """

    name: str
    topic_id: UUID | None
    partitions: list[tuple[int, memoryview | None]]


class ProduceRequest(NamedTuple):
    """A Produce request. `acks` may be any number; only -1, 0 and 1 are valid."""

    transactional_id: str | None
    acks: int
    timeout_ms: int
    topics: list[ProduceTopic]


class RecordError(NamedTuple):
    """Why one record caused its batch to be refused; `batch_index` counts from 0 in the batch."""

    batch_index: int
    message: str | None = None


class ProducePartitionResponse(NamedTuple):
    """The result for one record set. `log_append_time_ms` is -1 if the records keep their timestamps."""

    partition_index: int
    error_code: int = 0
    base_offset: int = -1
    log_append_time_ms: int = -1
    log_start_offset: int = -1
    record_errors: Sequence[RecordError] = ()
    error_message: str | None = None
    current_leader: CurrentLeader | None = None


class ProduceTopicResponse(NamedTuple):
    """The results of one topic, identified as in the request."""

    name: str
    topic_id: UUID | None
    partitions: Sequence[ProducePartitionResponse]


def decode_produce(version: int, body: memoryview) -> ProduceRequest:
    """Decode the body of a request at once, as `decode_produce_steps` does."""
    return decode_one_batch(version, body) or completed(decode_produce_steps(version, body))


def decode_one_batch(version: int, body: memoryview) -> ProduceRequest | None:
    """Decode what most requests are: one batch, and nothing unusual. None for any other, malformed ones included."""
    try:
        if version >= _FLEXIBLE_SINCE:
            return _decode_one_flexible(version, body)
        return _decode_one_partition(body)
    except (error, IndexError, UnicodeDecodeError, ProtocolError):
        return None  # the steps say what is wrong


def decode_produce_steps(version: int, body: memoryview) -> Steps[ProduceRequest]:
    """Decode the body of a request, `STEP_ELEMENTS` at a time.

    Bytes after it are ignored, see `headrace.protocol.messages`.

    Raises:
        ProtocolError: the version is not supported, or the bytes are not a complete body.
    """
    if not PRODUCE_MIN_VERSION <= version <= _MAX_VERSION:
        raise ProtocolError(f"version {version} of Produce is not supported")
    try:
        if version >= _FLEXIBLE_SINCE:
            return (yield from _decode_flexible(version, body))
        return (yield from _decode_classic(body))
    except (error, IndexError, UnicodeDecodeError) as cause:
        raise ProtocolError("malformed Produce request") from cause


def _decode_one_partition(body: memoryview) -> ProduceRequest | None:
    """Decode what most requests are, at half the cost: one partition, and no transaction. None for any other."""
    try:
        id_bytes, acks, timeout_ms, topic_count, name_bytes = _ONE_TOPIC.unpack_from(body)
        name_end = _ONE_TOPIC.size + name_bytes
        count, index, length = _ONE_PARTITION.unpack_from(body, name_end)
    except error:
        return None  # less than that, or nothing
    start = name_end + _ONE_PARTITION.size
    if id_bytes != -1 or topic_count != 1 or name_bytes < 0 or count != 1:
        return None
    if not 0 <= length <= len(body) - start:
        return None
    name = str(body[_ONE_TOPIC.size : name_end], "utf-8", STRING_AS_JAVA)
    # What their constructors do, without a call of Python code.
    topic = tuple.__new__(ProduceTopic, (name, None, [(index, body[start : start + length])]))
    return tuple.__new__(ProduceRequest, (None, acks, timeout_ms, [topic]))


def _decode_one_flexible(version: int, body: memoryview) -> ProduceRequest | None:
    """As `_decode_one_partition`, of the flexible versions, with a name of less than 127 bytes and no tags."""
    id_bytes, acks, timeout_ms, topic_count = _ONE_FLEXIBLE_TOPIC.unpack_from(body)
    position = _ONE_FLEXIBLE_TOPIC.size
    name, topic_id = "", None
    if version >= TOPIC_IDS_SINCE:
        topic_id = read_uuid(body, position)
        position += UUID_BYTES
    else:
        start, position = position + 1, position + body[position]
        if not start <= position < start + 0x7F:
            return None
        name = str(body[start:position], "utf-8", STRING_AS_JAVA)
    if id_bytes or topic_count != _ONE_ELEMENT or body[position] != _ONE_ELEMENT:
        return None
    (index,) = _INT32.unpack_from(body, position + 1)
    length, start = read_uvarint(body, position + 5)
    end = start + length - 1
    if end < start or bytes(body[end : end + 3]) != _NO_TAGS_OF_THREE:
        return None
    topic = tuple.__new__(ProduceTopic, (name, topic_id, [(index, body[start:end])]))
    return tuple.__new__(ProduceRequest, (None, acks, timeout_ms, [topic]))


def _decode_classic(body: memoryview) -> Steps[ProduceRequest]:
    unpack_int16, unpack_int32 = _INT16.unpack_from, _INT32.unpack_from
    unpack_partition = _TWO_INT32.unpack_from
    size = len(body)
    position = 2
    transactional_id = None
    (length,) = unpack_int16(body)
    if length >= 0:
        position += length
        transactional_id = str(body[2:position], "utf-8", STRING_AS_JAVA)
    acks, timeout_ms, topic_count = _ACKS_TIMEOUT_TOPICS.unpack_from(body, position)
    position += _ACKS_TIMEOUT_TOPICS.size
    elements_left = check_array(
        topic_count, size - position, _CLASSIC_TOPIC_BYTES, MAX_ARRAY_ELEMENTS
    )
    topics = []
    left = STEP_ELEMENTS
    for _ in range(topic_count):
        left -= 1
        if left < 0:
            left = STEP_ELEMENTS
            yield
        (length,) = unpack_int16(body, position)
        if length < 0:
            raise ProtocolError("topic name is null")
        start = position + 2
        position = start + length
        (count,) = unpack_int32(body, position)
        name = str(body[start:position], "utf-8", STRING_AS_JAVA)
        position += 4
        elements_left = check_array(count, size - position, _CLASSIC_PARTITION_BYTES, elements_left)
        partitions: list[tuple[int, memoryview | None]] = []
        for _ in range(count):
            left -= 1
            if left < 0:
                left = STEP_ELEMENTS
                yield
            index, length = unpack_partition(body, position)
            start = position = position + 8
            if length < 0:
                partitions.append((index, None))
                continue
            position += length
            if position > size:
                raise ProtocolError("record set exceeds the frame")
            partitions.append((index, body[start:position]))
        topics.append(ProduceTopic(name, None, partitions))
    return ProduceRequest(transactional_id, acks, timeout_ms, topics)


def _decode_flexible(version: int, body: memoryview) -> Steps[ProduceRequest]:
    size = len(body)
    transactional_id, position = read_compact_string(body, 0)
    acks, timeout_ms = _ACKS_TIMEOUT.unpack_from(body, position)
    topic_count, position = read_uvarint(body, position + _ACKS_TIMEOUT.size)
    topic_count -= 1
    elements_left = check_array(
        topic_count, size - position, _FLEXIBLE_TOPIC_BYTES, MAX_ARRAY_ELEMENTS
    )
    topics = []
    left = STEP_ELEMENTS
    for _ in range(topic_count):
        left -= 1
        if left < 0:
            left = STEP_ELEMENTS
            yield
        name, topic_id = "", None
        if version >= TOPIC_IDS_SINCE:
            topic_id = read_uuid(body, position)
            position += UUID_BYTES
        else:
            name, position = read_compact_non_null(body, position)
        count, position = read_uvarint(body, position)
        count -= 1
        elements_left = check_array(
            count, size - position, _FLEXIBLE_PARTITION_BYTES, elements_left
        )
        partitions: list[tuple[int, memoryview | None]] = []
        for start in range(0, count, STEP_ELEMENTS):
            some = min(STEP_ELEMENTS, count - start)
            left -= some
            if left < 0:
                left = STEP_ELEMENTS - some
                yield
            position = _decode_flexible_partitions(body, position, some, partitions)
        position = skip_tagged_fields(body, position)
        topics.append(ProduceTopic(name, topic_id, partitions))
    skip_tagged_fields(body, position)
    return ProduceRequest(transactional_id, acks, timeout_ms, topics)


def _decode_flexible_partitions(
    body: memoryview, position: int, count: int, partitions: list[tuple[int, memoryview | None]]
) -> int:
    """Decode some partitions of a topic; return the position behind them."""
    size = len(body)
    for _ in range(count):
        (index,) = _INT32.unpack_from(body, position)
        length, start = read_uvarint(body, position + 4)
        position = start
        records = None
        if length:
            position += length - 1
            if position > size:
                raise ProtocolError("record set exceeds the frame")
            records = body[start:position]
        partitions.append((index, records))
        # No client sends tags here: one zero byte.
        position = position + 1 if body[position] == 0 else skip_tagged_fields(body, position)
    return position


def encode_appended(
    version: int, correlation_id: int, topic: ProduceTopic, partition: ProducePartitionResponse
) -> bytes:
    """Encode what most answers are: one batch was appended. The frame size is included.

    All but the ids and offsets is the same for each request of a topic: it is encoded once.
    """
    layout, fields, size_bytes, before, after = _appended_to(version, topic.name, topic.topic_id)
    return b"".join(
        (
            _SIZE_AND_ID.pack(size_bytes, correlation_id),
            before,
            layout.pack(*partition[:fields]),
            after,
        )
    )


@lru_cache(maxsize=_KNOWN_ANSWERS)
def _appended_to(
    version: int, name: str, topic_id: UUID | None
) -> tuple[Struct, int, int, bytes, bytes]:
    """The form of an answer for one partition: layout and number of its fields, size, what is around them."""
    has_start_offset = version >= LOG_START_OFFSET_SINCE
    layout, fields = (_WITH_LOG_START_OFFSET, 5) if has_start_offset else (_BASE, 4)
    topic = ProduceTopicResponse(name, topic_id, [ProducePartitionResponse(0)])
    whole = completed(encode_produce_response(version, 0, [topic]))
    at = whole.rindex(layout.pack(*topic.partitions[0][:fields]))
    return layout, fields, len(whole), whole[4:at], whole[at + layout.size :]


def encode_produce_response(
    version: int,
    correlation_id: int,
    topics: Sequence[ProduceTopicResponse],
    *,
    throttle_time_ms: int = 0,
    node_endpoints: Sequence[NodeEndpoint] = (),
) -> Generator[Slice, None, bytes]:
    """Encode a response, with its header but without the frame size, `SLICE_PARTITIONS` at a time.

    Fields that a version lacks are left out.
    """
    if version < _FLEXIBLE_SINCE:
        encoded = yield from _encode_classic(version, correlation_id, topics, throttle_time_ms)
        return encoded
    before = 0  # partitions of earlier topics, and those topics
    pieces = [_FLEXIBLE_HEADER.pack(correlation_id), encode_uvarint(len(topics) + 1)]
    for topic in topics:
        if version >= TOPIC_IDS_SINCE:
            pieces.append(UUID_ZERO_BYTES if topic.topic_id is None else topic.topic_id.bytes)
        else:
            pieces.append(encode_compact_string(topic.name))
        pieces.append(encode_uvarint(len(topic.partitions) + 1))
        for number, partition in enumerate(topic.partitions, before + 1):
            if number % SLICE_PARTITIONS == 0:
                yield Slice.LOOP
            if partition[5:] == _NO_DETAILS:
                pieces.append(_FLEXIBLE_WITHOUT_DETAILS.pack(*partition[:5], _EMPTY_COMPACT_ARRAY))
            else:
                pieces.append(_WITH_LOG_START_OFFSET.pack(*partition[:5]))
                pieces.append(_flexible_details(version, partition))
        pieces.append(NO_TAGS)
        before += len(topic.partitions) + 1
        if before % SLICE_PARTITIONS == 0:
            yield Slice.LOOP
    pieces.append(_INT32.pack(throttle_time_ms))
    endpoints = node_endpoints if version >= LEADER_DISCOVERY_SINCE else ()
    pieces.append(encode_response_tags(endpoints))
    return b"".join(pieces)


def _flexible_details(version: int, partition: ProducePartitionResponse) -> bytes:
    pieces = [encode_uvarint(len(partition.record_errors) + 1)]
    for record_error in partition.record_errors:
        pieces += (
            _INT32.pack(record_error.batch_index),
            encode_compact_string(record_error.message),
            NO_TAGS,
        )
    pieces.append(encode_compact_string(partition.error_message))
    if partition.current_leader is None or version < LEADER_DISCOVERY_SINCE:
        pieces.append(NO_TAGS)
    else:
        pieces += (ONE_TAG, encode_current_leader(_CURRENT_LEADER_TAG, partition.current_leader))
    return b"".join(pieces)


def _encode_classic(
    version: int,
    correlation_id: int,
    topics: Sequence[ProduceTopicResponse],
    throttle_time_ms: int,
) -> Generator[Slice, None, bytes]:
    has_start_offset = version >= LOG_START_OFFSET_SINCE
    pack, fields = (_WITH_LOG_START_OFFSET.pack, 5) if has_start_offset else (_BASE.pack, 4)
    has_details = version >= RECORD_ERRORS_SINCE
    before = 0  # partitions of earlier topics, and those topics
    pieces = [_TWO_INT32.pack(correlation_id, len(topics))]
    for topic_name, _, partitions in topics:
        name = topic_name.encode()
        pieces.append(_INT16.pack(len(name)) + name + _INT32.pack(len(partitions)))
        for number, partition in enumerate(partitions, before + 1):
            if number % SLICE_PARTITIONS == 0:
                yield Slice.LOOP
            pieces.append(pack(*partition[:fields]))
            if has_details:
                pieces.append(_classic_details(partition))
        before += len(partitions) + 1
        if before % SLICE_PARTITIONS == 0:
            yield Slice.LOOP
    pieces.append(_INT32.pack(throttle_time_ms))
    return b"".join(pieces)


def _classic_details(partition: ProducePartitionResponse) -> bytes:
    pieces = [_INT32.pack(len(partition.record_errors))]
    for record_error in partition.record_errors:
        pieces += (
            _INT32.pack(record_error.batch_index),
            encode_string(record_error.message),
        )
    pieces.append(encode_string(partition.error_message))
    return b"".join(pieces)
