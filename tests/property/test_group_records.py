"""Records of `__consumer_offsets`: what is written is read back; other bytes are refused or read, nothing else."""

import contextlib

from hypothesis import given
from hypothesis import strategies as st

from headrace.broker.coordinator.group.records import (
    CoordinatorRecord,
    GroupMetadataValue,
    GroupRecord,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
    OffsetRecord,
    decode_record,
    encode_record,
)
from headrace.broker.coordinator.runtime.record_fields import CorruptRecordError

INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
POSITIVE = st.integers(0, 2**31 - 1)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)

offset_values = st.one_of(
    st.builds(
        OffsetCommitValue,
        INT64,
        INT32,
        TEXT,
        INT64,
        st.just(-1),
        topic_id=st.none() | st.uuids(),
    ),
    # With an expiry (version 1) there is neither leader epoch nor topic id.
    st.builds(
        OffsetCommitValue,
        INT64,
        st.just(-1),
        TEXT,
        INT64,
        st.integers(0, 2**63 - 1),
        topic_id=st.none(),
    ),
)
members = st.builds(
    MemberMetadata,
    TEXT,
    st.none() | TEXT,
    TEXT,
    TEXT,
    POSITIVE,
    POSITIVE,
    st.binary(max_size=50),
    st.binary(max_size=50),
)
group_values = st.builds(
    GroupMetadataValue,
    TEXT,
    INT32,
    st.none() | TEXT,
    st.none() | TEXT,
    INT64,
    st.lists(members, max_size=4, unique_by=lambda member: member.member_id).map(tuple),
)
records = st.one_of(
    st.builds(
        OffsetRecord, st.builds(OffsetCommitKey, TEXT, TEXT, INT32), st.none() | offset_values
    ),
    st.builds(GroupRecord, TEXT, st.none() | group_values),
)


@given(records)
def test_round_trip(record: CoordinatorRecord) -> None:
    assert decode_record(*encode_record(record)) == record


@given(records, st.data())
def test_a_truncated_record_is_refused(record: CoordinatorRecord, data: st.DataObject) -> None:
    key, value = encode_record(record)
    if value is None:
        return
    end = data.draw(st.integers(0, len(value) - 1))
    try:
        decode_record(key, value[:end])
    except CorruptRecordError:
        return
    raise AssertionError("a truncated value was read")


@given(st.binary(max_size=100), st.none() | st.binary(max_size=200))
def test_any_bytes(key: bytes, value: bytes | None) -> None:
    with contextlib.suppress(CorruptRecordError):
        decode_record(key, value)


@given(records, st.binary(max_size=20), st.data())
def test_a_damaged_record(record: CoordinatorRecord, junk: bytes, data: st.DataObject) -> None:
    key, value = encode_record(record)
    if value is None:
        return
    at = data.draw(st.integers(0, len(value)))
    with contextlib.suppress(CorruptRecordError):
        decode_record(key, value[:at] + junk + value[at + len(junk) :])
