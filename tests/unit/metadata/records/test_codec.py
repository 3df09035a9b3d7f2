from collections.abc import Generator, Sequence
from contextlib import suppress
from uuid import UUID

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.metadata.errors import MetadataFormatError, MetadataVersionError
from headrace.metadata.records import brokers, cluster, logs, members, objects, streams, topics
from headrace.metadata.records.codec import (
    KINDS,
    STEP_RECORDS,
    decode_members,
    decode_records,
    decode_records_steps,
    encode_members,
    encode_records,
)
from headrace.metadata.records.record import MetadataRecord

ID = UUID(int=0x0102030405060708090A0B0C0D0E0F10)
ID_BYTES = bytes.fromhex("c410 0102030405060708090a0b0c0d0e0f10")
PIECE = objects.RecordedRange(5, 1, 100, 300)

# One of each record, with the bytes that it has had since it exists. They may never change: a log
# written by an older version must be read.
GOLDEN = [
    (cluster.ClusterIdRecord("abc"), "92 01 a3616263"),
    (cluster.LeaderChangeRecord(2, 1, 3), "94 02 02 01 03"),
    (cluster.FeatureRecord("f", 1), "93 03 a166 01"),
    (cluster.ProducerIdsRecord(1, 2, 1000), "94 06 01 02 cd03e8"),
    (cluster.NextIdsRecord(5, 128), "93 07 05 cc80"),
    (
        brokers.RegisterBrokerRecord(
            1, 2, ID, (brokers.BrokerEndpoint("P", "h", 9092),), "r", 7, None, 9000, ("l",)
        ),
        "9a 0a 01 02 " + ID_BYTES.hex() + " 91 93a150a168cd2384 a172 07 c0 cd2328 91a16c",
    ),
    (brokers.UnfenceBrokerRecord(1, 2), "93 0b 01 02"),
    (
        brokers.FenceBrokerRecord(1, 2, brokers.FenceReason.SESSION_EXPIRED, 7),
        "95 0c 01 02 01 07",
    ),
    (brokers.UnregisterBrokerRecord(1, 2), "93 0d 01 02"),
    (topics.TopicRecord(ID, "t", 3), "94 14 " + ID_BYTES.hex() + " a174 03"),
    (
        members.MembersRecord((members.Member(1, ID, "h", 9, voter=True),)),
        "92 08 91 95 01 " + ID_BYTES.hex() + " a168 09 c3",
    ),
    (topics.PartitionRecord(ID, 0, 1, 2, 10, 11), "97 15 " + ID_BYTES.hex() + " 00 01 02 0a 0b"),
    (topics.PartitionChangeRecord(ID, 0, 1, 3), "95 16 " + ID_BYTES.hex() + " 00 01 03"),
    (topics.PartitionMoveRecord(ID, 0, 9, 2), "95 19 " + ID_BYTES.hex() + " 00 09 02"),
    (topics.PartitionMoveEndedRecord(ID, 0, 9), "94 1a " + ID_BYTES.hex() + " 00 09"),
    (topics.RemoveTopicRecord(ID), "92 17 " + ID_BYTES.hex()),
    (topics.ConfigRecord(2, "t", "k", None), "95 18 02 a174 a16b c0"),
    (streams.StreamRecord(5, ID, 0, -1, 0, 0), "97 1e 05 " + ID_BYTES.hex() + " 00 ff 00 00"),
    (streams.RangeRecord(5, 0, 1, 2, 100), "96 1f 05 00 01 02 64"),
    (
        streams.StreamStateRecord(5, 1, streams.StreamState.OPENED, 2),
        "95 20 05 01 01 02",
    ),
    (streams.StreamTrimmedRecord(5, 1 << 40), "93 21 05 cf0000010000000000"),
    (streams.RemoveStreamRecord(5), "92 22 05"),
    (objects.ObjectsPreparedRecord(7, 2, 1, 3, 4), "96 28 07 02 01 03 04"),
    (
        objects.StreamSetObjectRecord(7, 1, 6, 200, 9, (PIECE,)),
        "97 29 07 01 06 ccc8 09 91 94 05 01 64 cd012c",
    ),
    (objects.StreamObjectRecord(8, 1, 200, 9, PIECE), "96 2a 08 01 ccc8 09 94 05 01 64 cd012c"),
    (objects.ObjectsDestroyedRecord((7, 8), 9), "93 2b 92 07 08 09"),
    (objects.ObjectsRemovedRecord((7,)), "92 2c 91 07"),
    (
        logs.LogRecord(3, 3, 5, "0f", logs.LogMedium.FILE, ("/a",), -1),
        "98 32 03 03 05 a23066 02 91a22f61 ff",
    ),
    (logs.LogUploadedRecord(3, 300), "93 33 03 cd012c"),
    (logs.LogEmptiedRecord(3), "92 34 03"),
    (logs.LogAssignedRecord(3, 9, 1, 7, 5), "96 35 03 09 01 07 05"),
    (logs.LogReleasedRecord(3, 9), "93 36 03 09"),
    (logs.LogRefusedRecord(3, 1, 7, "r", 8), "96 37 03 01 07 a172 08"),
    (logs.LogDrainedRecord(3, 300), "93 38 03 cd012c"),
    (logs.LogLostRecord(3, damaged_only=False), "93 39 03 c2"),
    (logs.RemoveLogRecord(3), "92 3a 03"),
    (
        logs.BrokerReachRecord(1, 7, (logs.LogReach(logs.LogMedium.BUCKET, ""),)),
        "94 3b 01 07 91 9203a0",
    ),
]


@pytest.mark.parametrize(
    ("record", "golden"), GOLDEN, ids=[type(record).__name__ for record, _ in GOLDEN]
)
def test_the_bytes_of_a_record_never_change(record, golden):
    payload = bytes.fromhex("01 91 " + golden)

    assert encode_records((record,)) == payload
    assert decode_records(payload) == (record,)


def test_a_field_at_the_end_that_was_not_written_has_its_default():
    record = brokers.FenceBrokerRecord(1, 2, brokers.FenceReason.SESSION_EXPIRED)

    assert decode_records(bytes.fromhex("01 91 94 0c 01 02 01")) == (record,)
    topic = bytes.fromhex("01 91 93 14 " + ID_BYTES.hex() + " a174")
    assert decode_records(topic) == (topics.TopicRecord(ID, "t", replication_factor=1),)


def test_every_record_has_golden_bytes():
    assert {type(record) for record, _ in GOLDEN} == set(KINDS)


def test_tags_are_unique():
    tags = [it.__struct_config__.tag for it in KINDS]

    assert len(set(tags)) == len(tags)


def test_a_batch_keeps_its_order():
    batch = tuple(record for record, _ in GOLDEN)

    assert decode_records(encode_records(batch)) == batch
    assert decode_records(memoryview(encode_records(batch))) == batch
    assert decode_records(encode_records(())) == ()


def test_a_batch_cut_off_anywhere_is_refused():
    payload = encode_records(tuple(record for record, _ in GOLDEN))

    for length in range(len(payload)):
        with pytest.raises(MetadataFormatError):
            decode_records(payload[:length])


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_records_or_an_error(junk):
    for payload in (junk, b"\x01" + junk):
        with suppress(MetadataFormatError):
            decode_records(payload)


@pytest.mark.parametrize(
    "payload",
    [
        b"\x02\x90",
        b"\x00\x90",
        b"\x01\x91\x92\x7f\x00",
        b"\x01\x91\x91\x01",
        b"\x01\x91\x92\x01\x05",
        b"\x01" + b"\x91" * 5_000,
        b"\x01\xdd\xff\xff\xff\xff",
        b"\x01\x90\x00",
    ],
    ids=[
        "newer version",
        "older version",
        "unknown tag",
        "missing field",
        "wrong type",
        "deep nesting",
        "long array",
        "trailing byte",
    ],
)
def test_foreign_payloads_are_refused(payload):
    with pytest.raises(MetadataFormatError):
        decode_records(payload)


def test_a_record_may_gain_fields_at_its_end():
    """A reader of this version skips what a later one has added; defaults fill what is not there."""

    class Newer(msgspec.Struct, frozen=True, array_like=True, tag=34):
        stream_id: int
        reason: str

    payload = b"\x01" + msgspec.msgpack.encode([Newer(5, "why")])

    assert decode_records(payload) == (streams.RemoveStreamRecord(5),)


def test_a_registration_of_an_older_version_says_nothing_of_its_session():
    older = "98 0a 01 02 " + ID_BYTES.hex() + " 91 93a150a168cd2384 a172 07 c0"

    (record,) = decode_records(bytes.fromhex("01 91 " + older))

    assert record.session_timeout_ms == 0


def test_a_change_of_the_quorum_is_known_by_its_first_byte():
    changed = (members.Member(1, ID, "h", 9, voter=True),)
    payload = encode_members(changed)

    assert payload == bytes.fromhex("c0 91 95 01 " + ID_BYTES.hex() + " a168 09 c3")
    assert decode_members(payload) == changed
    assert decode_records(payload) == (members.MembersRecord(changed),)
    assert decode_members(encode_records(())) is None


def test_a_large_batch_is_decoded_in_steps() -> None:
    """A topic of 50,000 partitions is removed by 100,000 records."""
    records = tuple(streams.RemoveStreamRecord(number) for number in range(9 * STEP_RECORDS + 1))
    payload = encode_records(records)
    decoded: Sequence[MetadataRecord] = ()

    def decode() -> Generator[None, None, None]:
        nonlocal decoded
        decoded = yield from decode_records_steps(payload)

    stops = sum(1 for _ in decode())
    assert tuple(decoded) == records
    assert stops == 10
    with pytest.raises(MetadataFormatError, match="cannot be read"):
        list(decode_records_steps(payload[:-1]))
    with pytest.raises(MetadataFormatError, match="have format 9"):
        list(decode_records_steps(b"\x09" + payload[1:]))


def test_a_batch_that_raises_the_level_to_one_with_unknown_records_says_what_to_do():
    feature = "93 03 b0" + b"metadata.version".hex() + " 09"
    payload = bytes.fromhex("01 92 " + feature + " 92 7e 01")

    with pytest.raises(
        MetadataVersionError, match=r"sets headrace\.metadata\.version to 9.*upgrade this"
    ):
        decode_records(payload)
    with pytest.raises(MetadataFormatError, match="cannot be read") as unknown:
        decode_records(bytes.fromhex("01 91 92 7e 01"))
    assert type(unknown.value) is MetadataFormatError
