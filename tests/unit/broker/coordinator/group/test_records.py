"""Records of `__consumer_offsets`: golden bytes of Apache Kafka, round trips, and damaged bytes."""

from uuid import UUID

import pytest

from headrace.broker.coordinator.group.records import (
    MAX_RECORD_BYTES,
    GroupMetadataValue,
    GroupRecord,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
    OffsetRecord,
    decode_record,
    encode_record,
    fits_record,
)
from headrace.broker.coordinator.runtime.record_fields import (
    MAX_STRING_BYTES,
    CorruptRecordError,
    fits_string,
)

# Read back from `__consumer_offsets` of an Apache Kafka 4.3.1: a group "g" of one static member with
# offsets for both partitions of "t", and a simple group.
TOPIC_ID = UUID("64e6c505-0f2c-4d74-ba13-5244d127d1e5")
SUBSCRIPTION = bytes.fromhex("0003000000010001740000000000000000ffffffff0000")
ASSIGNMENT = bytes.fromhex("00000000000100017400000002000000000000000100000000")
FROM_KAFKA = {
    "new group": (
        "0002000167",
        "0003000000000000ffffffff000001a1fe57b9af00000000",
        GroupRecord("g", GroupMetadataValue("", 0, None, None, 0x1A1FE57B9AF, ())),
    ),
    "generation": (
        "0002000167",
        "00030008636f6e73756d657200000001000572616e67650029696e73742d66343062666535382d376537652d346"
        "262302d613966332d383832346366353666353465000001a1fe57b9b7000000010029696e73742d663430626665"
        "35382d376537652d346262302d613966332d3838323463663536663534650004696e73740003636c69000a2f313"
        "2372e302e302e3100001b580000177000000017"
        + SUBSCRIPTION.hex()
        + "00000019"
        + ASSIGNMENT.hex(),
        GroupRecord(
            "g",
            GroupMetadataValue(
                "consumer",
                1,
                "range",
                "inst-f40bfe58-7e7e-4bb0-a9f3-8824cf56f54e",
                0x1A1FE57B9B7,
                (
                    MemberMetadata(
                        "inst-f40bfe58-7e7e-4bb0-a9f3-8824cf56f54e",
                        "inst",
                        "cli",
                        "/127.0.0.1",
                        7000,
                        6000,
                        SUBSCRIPTION,
                        ASSIGNMENT,
                    ),
                ),
            ),
        ),
    ),
    "empty generation": (
        "0002000167",
        "00030008636f6e73756d657200000002ffffffff000001a1fe57d1d200000000",
        GroupRecord("g", GroupMetadataValue("consumer", 2, None, None, 0x1A1FE57D1D2, ())),
    ),
    "offset": (
        "000100016700017400000000",
        "000400000000000000010000000001000001a1fe57ba5801001064e6c5050f2c4d74ba135244d127d1e5",
        OffsetRecord(
            OffsetCommitKey("g", "t", 0),
            OffsetCommitValue(1, 0, "", 0x1A1FE57BA58, topic_id=TOPIC_ID),
        ),
    ),
    "offset with metadata": (
        "000100016700017400000000",
        "00040000000000000001ffffffff096e6f746520c3a900000001a1fe57ba6001001064e6c5050f2c4d74ba13524"
        "4d127d1e5",
        OffsetRecord(
            OffsetCommitKey("g", "t", 0),
            OffsetCommitValue(1, -1, "note é\0", 0x1A1FE57BA60, topic_id=TOPIC_ID),
        ),
    ),
}


@pytest.mark.parametrize(("key", "value", "record"), FROM_KAFKA.values(), ids=FROM_KAFKA)
def test_golden_bytes(key: str, value: str, record: OffsetRecord | GroupRecord) -> None:
    assert decode_record(bytes.fromhex(key), bytes.fromhex(value)) == record
    assert encode_record(record) == (bytes.fromhex(key), bytes.fromhex(value))


def test_tombstones_have_no_value() -> None:
    offset = OffsetRecord(OffsetCommitKey("g", "t", 0), None)
    group = GroupRecord("g", None)
    assert encode_record(offset) == (bytes.fromhex("000100016700017400000000"), None)
    assert encode_record(group) == (bytes.fromhex("0002000167"), None)
    assert decode_record(bytes.fromhex("000100016700017400000000"), None) == offset
    assert decode_record(bytes.fromhex("0002000167"), None) == group


def test_a_retention_of_the_clients_own_is_version_1() -> None:
    """OffsetCommit before v5: the value carries the time at which it expires, and no epoch."""
    record = OffsetRecord(OffsetCommitKey("g", "t", 0), OffsetCommitValue(5, 7, "m", 100, 200))
    _, value = encode_record(record)
    assert value is not None
    assert value.hex() == "0001000000000000000500016d000000000000006400000000000000c8"
    decoded = decode_record(encode_record(record)[0], value)
    assert decoded == OffsetRecord(record.key, OffsetCommitValue(5, -1, "m", 100, 200))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0000 0000000000000005 00016d 0000000000000064", OffsetCommitValue(5, -1, "m", 100)),
        ("0002 0000000000000005 00016d 0000000000000064", OffsetCommitValue(5, -1, "m", 100)),
        (
            "0003 0000000000000005 00000002 00016d 0000000000000064",
            OffsetCommitValue(5, 2, "m", 100),
        ),
        (
            "0004 0000000000000005 00000002 026d 0000000000000064 00",
            OffsetCommitValue(5, 2, "m", 100),
        ),
        (  # an unknown tag is passed over, an id of zeros is none
            "0004 0000000000000005 00000002 026d 0000000000000064 02 0010" + "00" * 16 + "0501ff",
            OffsetCommitValue(5, 2, "m", 100),
        ),
    ],
)
def test_every_version_of_an_offset_is_read(value: str, expected: OffsetCommitValue) -> None:
    key = bytes.fromhex("000000016700017400000003")  # version 0 of the key
    decoded = decode_record(key, bytes.fromhex(value))
    assert decoded == OffsetRecord(OffsetCommitKey("g", "t", 3), expected)


MEMBER = MemberMetadata("m", None, "c", "/h", 9, 9, b"s", b"a")


@pytest.mark.parametrize(
    ("value", "timestamp_ms"),
    [
        ("0000 000163 00000003 000170 00016d 00000001 00016d000163 00022f68 00000009", -1),
        ("0001 000163 00000003 000170 00016d 00000001 00016d000163 00022f68 ffffffff 00000009", -1),
        (
            "0002 000163 00000003 000170 00016d 0000000000000064 00000001"
            "00016d000163 00022f68 00000009 00000009",
            100,
        ),
    ],
)
def test_older_versions_of_a_group_are_read(value: str, timestamp_ms: int) -> None:
    """Without a rebalance timeout, or with -1, it is the session timeout."""
    data = bytes.fromhex(value + "00000001 73 00000001 61")
    expected = GroupMetadataValue("c", 3, "p", "m", timestamp_ms, (MEMBER,))
    assert decode_record(bytes.fromhex("0002000167"), data) == GroupRecord("g", expected)


def test_the_flexible_version_of_a_group_is_read() -> None:
    data = bytes.fromhex(
        "0004 0263 00000003 0270 026d 0000000000000064 02"
        "026d 0269 0263 032f68 00000009 00000009 0273 0261 00 00"
    )
    member = MEMBER._replace(group_instance_id="i")
    expected = GroupMetadataValue("c", 3, "p", "m", 100, (member,))
    assert decode_record(bytes.fromhex("0002000167"), data) == GroupRecord("g", expected)


def test_kinds_of_newer_brokers_are_passed_over() -> None:
    """As Kafka does after a downgrade: KIP-848 records begin at key version 3."""
    assert decode_record(bytes.fromhex("0003000167"), b"anything") is None


@pytest.mark.parametrize(("key", "value", "record"), FROM_KAFKA.values(), ids=FROM_KAFKA)
def test_truncation_at_every_byte_is_found(
    key: str, value: str, record: OffsetRecord | GroupRecord
) -> None:
    whole_key, whole_value = bytes.fromhex(key), bytes.fromhex(value)
    for end in range(len(whole_value)):
        with pytest.raises(CorruptRecordError):
            decode_record(whole_key, whole_value[:end])
    for end in range(len(whole_key)):
        with pytest.raises(CorruptRecordError):
            decode_record(whole_key[:end], whole_value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, b""),
        ("00010001670001740000000000", None),  # one byte behind the key
        ("000100016700017400000000", "0005 0000000000000005"),  # unknown version of a value
        ("000100016700017400000000", "ffff 0000000000000005"),
        ("000100016700017400000000", "0003 0000000000000005 00000002 ffff 0000000000000064"),
        ("000100016700017400000000", "0004 0000000000000005 00000002 01 0000000000000064 01000101"),
        ("0002000167", "0003 000163 00000003 ffff ffff 0000000000000064 7fffffff"),
        ("0002000167", "0003 000163 00000003 ffff ffff 0000000000000064 ffffffff"),
        ("0002000167", "0004 0263 00000003 00 00 0000000000000064 ffffffffffff"),
    ],
)
def test_damage_is_found(key: str | None, value: str | bytes | None) -> None:
    with pytest.raises(CorruptRecordError):
        decode_record(
            None if key is None else bytes.fromhex(key),
            bytes.fromhex(value) if isinstance(value, str) else value,
        )


def test_text_that_is_no_utf8_is_read_as_java_reads_it() -> None:
    value = bytes.fromhex("0003 0000000000000005 00000002 0001ff 0000000000000064")
    decoded = decode_record(bytes.fromhex("000100016700017400000000"), value)
    assert decoded == OffsetRecord(
        OffsetCommitKey("g", "t", 0), OffsetCommitValue(5, 2, "\ufffd", 100)
    )


def test_two_members_with_one_id_are_refused() -> None:
    record = GroupRecord("g", GroupMetadataValue("c", 3, "p", "m", 100, (MEMBER, MEMBER)))
    with pytest.raises(CorruptRecordError):
        decode_record(*encode_record(record))


def test_what_does_not_fit_a_string_is_not_written() -> None:
    longest = "x" * MAX_STRING_BYTES
    assert fits_string(longest)
    assert not fits_string(longest + "x")
    assert not fits_string("é" * (MAX_STRING_BYTES // 2 + 1))
    encode_record(GroupRecord(longest, None))
    with pytest.raises(CorruptRecordError):
        encode_record(GroupRecord(longest + "x", None))


def test_a_record_has_a_greatest_size() -> None:
    def record(size_bytes: int) -> GroupRecord:
        member = MEMBER._replace(assignment=bytes(size_bytes))
        return GroupRecord("g", GroupMetadataValue("c", 3, "p", "m", 100, (member,)))

    assert fits_record(record(MAX_RECORD_BYTES - 100))
    assert not fits_record(record(MAX_RECORD_BYTES))
    assert fits_record(GroupRecord("g", None))
