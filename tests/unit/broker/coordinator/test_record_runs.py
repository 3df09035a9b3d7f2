"""Neighbouring offsets of a log are replayed as one run: it comes to the same as one record after the other."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from headrace.broker.coordinator.group.shard import GroupShard
from headrace.broker.coordinator.records import (
    CoordinatorRecord,
    GroupMetadataValue,
    GroupRecord,
    OffsetCommitKey,
    OffsetCommitValue,
    OffsetRecord,
    OffsetRun,
    decode_records,
    encode_record,
)
from headrace.config.node import GroupConfig
from headrace.protocol.records.record import RecordFields

GROUP = GroupRecord("a", GroupMetadataValue("consumer", 1, None, None, 5, ()))

keys = st.builds(
    OffsetCommitKey, st.sampled_from("ab"), st.sampled_from(("t", "u", "\u00e9")), st.integers(0, 3)
)
values = st.builds(
    OffsetCommitValue,
    st.integers(0, 9),
    st.just(-1),
    st.sampled_from(("", "", "note")),
    st.just(7),
    st.sampled_from((-1, -1, 9)),
    st.sampled_from((None, UUID(int=1))),
).map(lambda it: it if it.expire_timestamp_ms == -1 else it._replace(topic_id=None))
records = st.one_of(
    st.builds(OffsetRecord, keys, values),
    st.builds(OffsetRecord, keys, values),
    st.builds(OffsetRecord, keys, st.none()),
    st.just(GROUP),
    st.just(GroupRecord("a", None)),
)


def fields_of(record: CoordinatorRecord) -> RecordFields:
    return (0, 0, *encode_record(record), ())


def offset(partition: int, group: str = "g") -> OffsetRecord:
    return OffsetRecord(OffsetCommitKey(group, "t", partition), OffsetCommitValue(5, 1, "", 7))


@given(st.lists(records, max_size=40))
def test_runs_and_single_records_give_the_same_shard(written: list[CoordinatorRecord]) -> None:
    single, together = GroupShard(GroupConfig()), GroupShard(GroupConfig())
    for record in written:
        single.replay(record)
    count = 0
    for decoded, number in decode_records(map(fields_of, written)):
        assert decoded is not None
        together.replay(decoded)
        count += number
    assert count == len(written)
    assert together.image() == single.image()
    assert together.live.count == single.live.count
    assert together.live.size_bytes == single.live.size_bytes


def test_a_run_ends_with_its_group_and_topic_and_with_anything_else() -> None:
    written = [offset(0), offset(1), offset(0), offset(0, "h"), GROUP, offset(1, "h")]
    unknown: RecordFields = (0, 0, b"\x00\x09", b"", ())
    found = list(decode_records([*map(fields_of, written), unknown]))
    value = OffsetCommitValue(5, 1, "", 7)
    assert found == [
        (OffsetRun("g", "t", {0: value, 1: value}), 3),
        (OffsetRun("h", "t", {0: value}), 1),
        (GROUP, 1),
        (OffsetRun("h", "t", {1: value}), 1),
        (None, 1),
    ]


def test_a_run_is_replayed_in_one_turn_and_has_a_bound() -> None:
    counts = [number for _, number in decode_records(fields_of(offset(it)) for it in range(100))]
    assert sum(counts) == 100
    assert max(counts) <= 32
