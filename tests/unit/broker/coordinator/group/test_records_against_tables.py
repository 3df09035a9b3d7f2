"""Records that are written by hand are those that the generated classes write and read."""

import random
from typing import Any

from headrace.broker.coordinator.group.records import (
    GroupMetadataValue,
    GroupRecord,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
    OffsetRecord,
    decode_record,
    encode_record,
)
from headrace.protocol.generated import group_coordinator as tables
from headrace.protocol.primitives import Reader
from tests.fuzz.random_messages import MessageMaker

SEEDS = range(200)


def key_bytes(key: Any) -> bytes:
    """A key behind its type."""
    return written(key, key.RECORD_TYPE, 0)


def value_bytes(value: Any, version: int) -> bytes:
    """A value behind its version."""
    return written(value, version, version)


def written(message: Any, number: int, version: int) -> bytes:
    out = bytearray(number.to_bytes(2, "big"))
    message.WRITE[version](out, message)
    return bytes(out)


def test_keys_are_written_as_the_tables_say() -> None:
    key, _ = encode_record(OffsetRecord(OffsetCommitKey("g", "t", 7), None))
    assert key == key_bytes(tables.OffsetCommitKey("g", "t", 7))
    key, _ = encode_record(GroupRecord("g", None))
    assert key == key_bytes(tables.GroupMetadataKey("g"))


def test_offsets_are_written_as_the_tables_say() -> None:
    for seed in SEEDS:
        made = MessageMaker(random.Random(seed)).make(tables.OffsetCommitValue, 4)
        value = OffsetCommitValue(
            made.offset, made.leader_epoch, made.metadata, made.commit_timestamp, -1, made.topic_id
        )
        _, data = encode_record(OffsetRecord(OffsetCommitKey("g", "t", 7), value))
        assert data == value_bytes(made, 4)


def test_offsets_of_every_version_are_read_as_the_tables_say() -> None:
    for version in range(5):
        for seed in SEEDS:
            made = MessageMaker(random.Random(seed)).make(tables.OffsetCommitValue, version)
            key = key_bytes(tables.OffsetCommitKey("g", "t", 1))
            record = decode_record(key, value_bytes(made, version))
            assert isinstance(record, OffsetRecord)
            assert record.value == OffsetCommitValue(
                made.offset,
                made.leader_epoch,
                made.metadata,
                made.commit_timestamp,
                made.expire_timestamp,
                made.topic_id,
            )


def test_groups_are_written_and_read_as_the_tables_say() -> None:
    for seed in SEEDS:
        members = tuple(
            MemberMetadata(f"m{number}", "i", "c", "/h", 30, 20, b"subscribed", bytes(number))
            for number in range(seed % 4)
        )
        value = GroupMetadataValue("consumer", seed, "range", "m0", 1_000 + seed, members)
        _, data = encode_record(GroupRecord("g", value))
        assert data is not None
        version = int.from_bytes(data[:2], "big")
        told = tables.GroupMetadataValue.READ[version](Reader(memoryview(data)[2:]))
        assert (told.protocol_type, told.generation, told.protocol) == ("consumer", seed, "range")
        assert [it.member_id for it in told.members] == [it.member_id for it in members]
        assert value_bytes(told, version) == data
