"""Records of `__consumer_offsets`, byte for byte as Apache Kafka writes them. Pure.

A record's key begins with an int16, its type, and a value with its version; the fields are in
`protocol/generator/tables/group_coordinator.txt`: OffsetCommitKey (types 0 and 1; written: 1), OffsetCommitValue
(0 to 4; written: 4, or 1 when the client asked for a retention of its own), GroupMetadataKey (2) and
GroupMetadataValue (0 to 4; written: 3), one generation of a classic group.

Version 4 of both values is flexible (KIP-482): a string's or bytes' length is an unsigned varint
of the length plus one, and tagged fields end each structure. Kafka 4.4 writes offsets in it, for
the topic id, and groups in version 3; so does this module. A null value is a tombstone: the offset,
or the group, was deleted.

Source: OffsetCommitKey.json, OffsetCommitValue.json, GroupMetadataKey.json, GroupMetadataValue.json
of Apache Kafka 4.x; `MetadataVersion.offsetCommitValueVersion` and `groupMetadataValueVersion` for
what is written.
"""

import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple
from uuid import UUID

from headrace.broker.coordinator.runtime.record_fields import MAX_RECORD_BYTES, CorruptRecordError
from headrace.protocol.errors import ProtocolError
from headrace.protocol.message_reading import (
    read_blob,
    read_c_blob,
    read_c_count,
    read_c_null_string,
    read_c_string,
    read_count,
    read_null_string,
    read_string,
    skip_tags,
)
from headrace.protocol.message_writing import (
    write_blob,
    write_c_string,
    write_null_string,
    write_string,
)
from headrace.protocol.primitives import UUID_BYTES, Reader

NO_TIMESTAMP: Final = -1
MAX_TIMESTAMP_MS: Final = 2**63 - 1  # what an int64 holds
NO_LEADER_EPOCH: Final = -1

_OFFSET_KEY_VERSION: Final = 1
_GROUP_KEY_VERSION: Final = 2
_OFFSET_VALUE_VERSION: Final = 4
_OFFSET_VALUE_VERSION_WITH_EXPIRY: Final = 1
_GROUP_VALUE_VERSION: Final = 3
_MAX_VALUE_VERSION: Final = 4

_PARTITION_BYTES: Final = 4  # at the end of an offset's key
_ESTIMATED_FIELDS_BYTES: Final = 64  # of a record or a member: what is not a string of its owner
_MAX_TOPIC_IDS_SHARED: Final = 4_096
_MAX_OWNERS_SHARED: Final = 4_096  # groups with a topic
_NO_TAGS: Final = b"\0"
_TOPIC_ID_TAG: Final = b"\x01\x00\x10"  # one field: tag 0, 16 bytes

_INT16 = struct.Struct(">h")
_INT32 = struct.Struct(">i")
_INT64 = struct.Struct(">q")
_OFFSET_V4 = struct.Struct(">hqi")  # version, offset, leader epoch
# As nearly all are: with empty metadata (its length, plus one), commit timestamp, and the topic id behind its tag.
_PLAIN_OFFSET_V4 = struct.Struct(">hqiBq3s16s")
_OFFSET_V1 = struct.Struct(">hq")  # version, offset
_MEMBER_BYTES: Final = 6  # at least: the lengths of its strings and bytes


class _Fields(NamedTuple):
    """What reads strings, bytes, counts and the end of a structure; in flexible versions all of it is compact."""

    string: Callable[[Reader], str]
    null_string: Callable[[Reader], str | None]
    blob: Callable[[Reader], bytes]
    length: Callable[[Reader, int], int]
    end: Callable[[Reader], None]


_PLAIN: Final = _Fields(read_string, read_null_string, read_blob, read_count, lambda _: None)
_COMPACT: Final = _Fields(read_c_string, read_c_null_string, read_c_blob, read_c_count, skip_tags)


class OffsetCommitKey(NamedTuple):
    """The group and partition that an offset was committed for."""

    group: str
    topic: str
    partition: int


class OffsetCommitValue(NamedTuple):
    """A committed offset; timestamps in ms since the epoch."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp_ms: int
    expire_timestamp_ms: int = NO_TIMESTAMP
    topic_id: UUID | None = None  # of the topic that it was committed for; None unknown


class MemberMetadata(NamedTuple):
    """One member of a generation."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: bytes
    assignment: bytes


class GroupMetadataValue(NamedTuple):
    """A generation of a classic group, as it survives a restart."""

    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    current_state_timestamp_ms: int
    members: tuple[MemberMetadata, ...]


class OffsetRecord(NamedTuple):
    """`value` None removes the offset."""

    key: OffsetCommitKey
    value: OffsetCommitValue | None


class GroupRecord(NamedTuple):
    """`value` None removes the group."""

    group: str
    value: GroupMetadataValue | None


class OffsetRun(NamedTuple):
    """Offsets of one group in one topic that follow each other in a log, each the last one of its partition."""

    group: str
    topic: str
    values: dict[int, OffsetCommitValue]


CoordinatorRecord = OffsetRecord | GroupRecord


def encode_record(record: CoordinatorRecord) -> tuple[bytes, bytes | None]:
    """Give the key and the value of a record; a tombstone has the value None.

    Raises:
        CorruptRecordError: a string is longer than 32,767 bytes; callers check the strings of
            clients before.
    """
    try:
        if isinstance(record, OffsetRecord):
            return _encode_offset_key(record.key), (
                None if record.value is None else _encode_offset_value(record.value)
            )
        return _encode_group_key(record.group), (
            None if record.value is None else _encode_group_value(record.value)
        )
    except struct.error as error:
        raise CorruptRecordError(f"a string or a number is too large: {error}") from error


def estimated_group_bytes(group: str, value: GroupMetadataValue | None) -> int:
    """Give about how many bytes a group takes in the log, without encoding it; 0 for a tombstone."""
    if value is None:
        return 0
    return _ESTIMATED_FIELDS_BYTES + len(group) + sum(map(_estimated_member_bytes, value.members))


def estimated_offset_bytes(group: str, topic: str) -> int:
    """Give about how many bytes an offset takes in the log, without its metadata."""
    return _ESTIMATED_FIELDS_BYTES + len(group) + len(topic)


def _estimated_member_bytes(member: MemberMetadata) -> int:
    strings = len(member.member_id) + len(member.client_id) + len(member.client_host)
    return _ESTIMATED_FIELDS_BYTES + strings + len(member.subscription) + len(member.assignment)


def fits_record(record: CoordinatorRecord) -> bool:
    """Whether a record is small enough to be written."""
    _, value = encode_record(record)
    return value is None or len(value) <= MAX_RECORD_BYTES


def decode_record(key: bytes | None, value: bytes | None) -> CoordinatorRecord | None:
    """Read one record; None when its key is of an unknown type.

    Newer brokers write further types (KIP-848, share groups) to the same topic: they are skipped,
    as Kafka does after a downgrade.

    Raises:
        CorruptRecordError: the bytes do not match their version.
    """
    if key is None:
        raise CorruptRecordError("record without a key")
    try:
        return _decode_record(key, value)
    except (ProtocolError, UnicodeDecodeError) as error:
        raise CorruptRecordError(str(error)) from error


def _decode_record(key: bytes, value: bytes | None) -> CoordinatorRecord | None:
    kind = int.from_bytes(key[:2])
    if kind in (0, _OFFSET_KEY_VERSION):
        group, topic = _group_and_topic(key[2:-_PARTITION_BYTES])
        partition = int.from_bytes(key[-_PARTITION_BYTES:], signed=True)
        offset_key = OffsetCommitKey(group, topic, partition)
        return OffsetRecord(offset_key, None if value is None else _decode_offset_value(value))
    reader = Reader(memoryview(key))
    if reader.fixed(_INT16) != (_GROUP_KEY_VERSION,):
        return None
    group = read_string(reader)
    _expect_end(reader)
    return GroupRecord(group, None if value is None else _decode_group_value(value))


@lru_cache(maxsize=_MAX_OWNERS_SHARED)
def _group_and_topic(data: bytes) -> tuple[str, str]:
    """Read what an offset's key begins with, the same objects each time: many partitions have it in common."""
    reader = Reader(memoryview(data))
    found = read_string(reader), read_string(reader)
    _expect_end(reader)
    return found


def _encode_offset_key(key: OffsetCommitKey) -> bytes:
    out = bytearray(_INT16.pack(_OFFSET_KEY_VERSION))
    write_string(out, key.group)
    write_string(out, key.topic)
    out += _INT32.pack(key.partition)
    return bytes(out)


def _encode_offset_value(value: OffsetCommitValue) -> bytes:
    if value.expire_timestamp_ms == NO_TIMESTAMP:
        out = bytearray(_OFFSET_V4.pack(_OFFSET_VALUE_VERSION, value.offset, value.leader_epoch))
        write_c_string(out, value.metadata)
        out += _INT64.pack(value.commit_timestamp_ms)
        out += _NO_TAGS if value.topic_id is None else _TOPIC_ID_TAG + value.topic_id.bytes
        return bytes(out)
    out = bytearray(_OFFSET_V1.pack(_OFFSET_VALUE_VERSION_WITH_EXPIRY, value.offset))
    write_string(out, value.metadata)
    out += _INT64.pack(value.commit_timestamp_ms)
    out += _INT64.pack(value.expire_timestamp_ms)
    return bytes(out)


def _decode_offset_value(data: bytes) -> OffsetCommitValue:
    if len(data) == _PLAIN_OFFSET_V4.size:
        version, offset, leader_epoch, empty, committed_ms, tag, uuid = _PLAIN_OFFSET_V4.unpack(
            data
        )
        if version == _OFFSET_VALUE_VERSION and empty == 1 and tag == _TOPIC_ID_TAG:
            return OffsetCommitValue(
                offset, leader_epoch, "", committed_ms, NO_TIMESTAMP, _topic_id(uuid)
            )
    reader, version, fields = _begin_value(data, "OffsetCommitValue")
    (offset,) = reader.fixed(_INT64)
    (leader_epoch,) = reader.fixed(_INT32) if version >= 3 else (NO_LEADER_EPOCH,)
    metadata = fields.string(reader)
    (committed_ms,) = reader.fixed(_INT64)
    (expire_ms,) = reader.fixed(_INT64) if version == 1 else (NO_TIMESTAMP,)
    topic_id = None
    if fields is _COMPACT:
        topic_id = reader.tagged_fields({0: _read_topic_id}).get(0)
    _expect_end(reader)
    return OffsetCommitValue(offset, leader_epoch, metadata, committed_ms, expire_ms, topic_id)


@lru_cache(maxsize=_MAX_TOPIC_IDS_SHARED)
def _topic_id(data: bytes) -> UUID | None:
    """Return a topic id, the same object each time: a log names few topics."""
    return UUID(bytes=data) if any(data) else None


def _read_topic_id(reader: Reader) -> UUID | None:
    return _topic_id(bytes(reader.take(UUID_BYTES)))


def _encode_group_key(group: str) -> bytes:
    out = bytearray(_INT16.pack(_GROUP_KEY_VERSION))
    write_string(out, group)
    return bytes(out)


def _encode_group_value(value: GroupMetadataValue) -> bytes:
    out = bytearray(_INT16.pack(_GROUP_VALUE_VERSION))
    write_string(out, value.protocol_type)
    out += _INT32.pack(value.generation)
    write_null_string(out, value.protocol)
    write_null_string(out, value.leader)
    out += _INT64.pack(value.current_state_timestamp_ms)
    out += _INT32.pack(len(value.members))
    for member in value.members:
        write_string(out, member.member_id)
        write_null_string(out, member.group_instance_id)
        write_string(out, member.client_id)
        write_string(out, member.client_host)
        out += _INT32.pack(member.rebalance_timeout_ms)
        out += _INT32.pack(member.session_timeout_ms)
        write_blob(out, member.subscription)
        write_blob(out, member.assignment)
    return bytes(out)


def _decode_group_value(data: bytes | memoryview) -> GroupMetadataValue:
    reader, version, fields = _begin_value(data, "GroupMetadataValue")
    protocol_type = fields.string(reader)
    (generation,) = reader.fixed(_INT32)
    protocol, leader = fields.null_string(reader), fields.null_string(reader)
    (timestamp_ms,) = reader.fixed(_INT64) if version >= 2 else (NO_TIMESTAMP,)
    count = fields.length(reader, _MEMBER_BYTES)
    members = tuple(_decode_member(reader, version, fields) for _ in range(count))
    fields.end(reader)
    _expect_end(reader)
    if len({member.member_id for member in members}) != len(members):
        raise CorruptRecordError("two members have the same id")
    return GroupMetadataValue(protocol_type, generation, protocol, leader, timestamp_ms, members)


def _decode_member(reader: Reader, version: int, fields: _Fields) -> MemberMetadata:
    member_id = fields.string(reader)
    instance_id = fields.null_string(reader) if version >= 3 else None
    client_id, client_host = fields.string(reader), fields.string(reader)
    (rebalance_timeout_ms,) = reader.fixed(_INT32) if version >= 1 else (-1,)
    (session_timeout_ms,) = reader.fixed(_INT32)
    subscription, assignment = fields.blob(reader), fields.blob(reader)
    fields.end(reader)
    return MemberMetadata(
        member_id,
        instance_id,
        client_id,
        client_host,
        rebalance_timeout_ms if rebalance_timeout_ms != -1 else session_timeout_ms,
        session_timeout_ms,
        subscription,
        assignment,
    )


def _begin_value(data: bytes | memoryview, name: str) -> tuple[Reader, int, _Fields]:
    """Read the version of a value; return what reads the rest."""
    reader = Reader(memoryview(data))
    (version,) = reader.fixed(_INT16)
    if not 0 <= version <= _MAX_VALUE_VERSION:
        raise CorruptRecordError(f"{name} has unknown version {version}")
    return reader, version, _COMPACT if version == _MAX_VALUE_VERSION else _PLAIN


def _expect_end(reader: Reader) -> None:
    left = len(reader.data) - reader.position
    if left:
        raise CorruptRecordError(f"{left} bytes left after the last field")
