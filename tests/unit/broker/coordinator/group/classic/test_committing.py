"""OffsetCommit, OffsetFetch and OffsetDelete, over every state of a group."""

from uuid import UUID

import pytest

from headrace.broker.coordinator.group.records import (
    OffsetCommitKey,
    OffsetCommitValue,
    OffsetRecord,
)
from headrace.broker.coordinator.group.requests import JoinProtocol, LeavingMember, OffsetQuery
from headrace.broker.coordinator.runtime.shard import DeletedTopic
from headrace.metadata.image import MetadataImage
from headrace.protocol.errors import ErrorCode
from tests.unit.broker.coordinator.group.scene import INITIAL_MS, SESSION_MS, WALL_MS, Scene, offset

NONE = ErrorCode.NONE
UNKNOWN = ErrorCode.UNKNOWN_MEMBER_ID
FENCED = ErrorCode.FENCED_INSTANCE_ID
ILLEGAL = ErrorCode.ILLEGAL_GENERATION
REBALANCING = ErrorCode.REBALANCE_IN_PROGRESS
MISSING = ErrorCode.GROUP_ID_NOT_FOUND

STATES = ("Dead", "Empty", "PreparingRebalance", "CompletingRebalance", "Stable")


def group_in(state: str) -> tuple[Scene, int]:
    """A group in a state, with the dynamic leader "a" and "s", which is static "one"."""
    scene = Scene()
    if state == "Dead":
        return scene, 0
    scene.join_new("a")
    scene.join(new_id="s", instance="one")
    scene.advance(INITIAL_MS)
    if state == "CompletingRebalance":
        return scene, 1
    scene.sync_all(1, ["a", "s"])
    if state == "PreparingRebalance":
        scene.join_new("late")
    if state == "Empty":
        scene.leave(LeavingMember("a"), LeavingMember("s"))
    return scene, 2 if state == "Empty" else 1


# Rows: member id, instance id, generation relative to the group's (None: -1); columns: STATES.
TABLE = [
    ("", None, None, (NONE, NONE, UNKNOWN, UNKNOWN, UNKNOWN)),
    ("", "one", None, (NONE, NONE, FENCED, FENCED, FENCED)),
    ("", "other", None, (NONE, NONE, UNKNOWN, UNKNOWN, UNKNOWN)),
    ("a", None, None, (NONE, NONE, ILLEGAL, ILLEGAL, ILLEGAL)),
    ("x", None, None, (NONE, NONE, UNKNOWN, UNKNOWN, UNKNOWN)),
    ("a", None, 0, (MISSING, UNKNOWN, NONE, REBALANCING, NONE)),
    ("s", "one", 0, (MISSING, UNKNOWN, NONE, REBALANCING, NONE)),
    ("s", None, 0, (MISSING, UNKNOWN, NONE, REBALANCING, NONE)),
    ("a", "one", 0, (MISSING, UNKNOWN, FENCED, FENCED, FENCED)),
    ("a", "other", 0, (MISSING, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN)),
    ("x", None, 0, (MISSING, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN)),
    ("", None, 0, (MISSING, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN)),
    ("a", None, 1, (MISSING, UNKNOWN, ILLEGAL, ILLEGAL, ILLEGAL)),
    ("x", None, 1, (MISSING, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN)),
]


@pytest.mark.parametrize("column", range(len(STATES)), ids=STATES)
@pytest.mark.parametrize(("member_id", "instance", "ahead", "expected"), TABLE)
def test_which_commits_are_accepted(
    member_id: str,
    instance: str | None,
    ahead: int | None,
    expected: tuple[ErrorCode, ...],
    column: int,
) -> None:
    scene, generation = group_in(STATES[column])
    assert scene.state == STATES[column]
    asked = -1 if ahead is None else generation + ahead
    errors = scene.commit(offset(0, 7), member_id=member_id, instance=instance, generation=asked)
    assert errors == [expected[column]]
    assert scene.committed() == (7 if expected[column] is NONE else None)


def test_before_version_9_a_missing_group_is_an_illegal_generation() -> None:
    scene = Scene()
    assert scene.commit(member_id="a", generation=0, knows_group_id_not_found=False) == [ILLEGAL]
    assert scene.state == "Dead"


def test_a_commit_without_generation_makes_a_simple_group() -> None:
    scene = Scene()
    assert scene.commit(offset(0, 5)) == [NONE]
    assert scene.state == "Empty"
    assert scene.describe().protocol_type == ""
    scene.restart()
    assert scene.state == "Empty"
    assert scene.committed() == 5


@pytest.mark.parametrize("state", ["Stable", "PreparingRebalance"])
def test_a_commit_keeps_the_session_alive(state: str) -> None:
    scene = Scene()
    scene.stable("a", "b")
    if state == "PreparingRebalance":
        scene.join_new("c")
    scene.advance(SESSION_MS - 1)
    scene.commit(member_id="b", generation=1)
    scene.advance(SESSION_MS - 1)
    assert "b" in scene.members()
    assert "a" not in scene.members()


def test_a_refused_commit_does_not() -> None:
    scene = Scene()
    scene.stable("a")
    scene.advance(SESSION_MS - 1)
    scene.commit(member_id="a", generation=0)
    scene.advance(1)
    assert scene.state == "Empty"


def test_metadata_has_a_greatest_length() -> None:
    """offset.metadata.max.bytes counts characters, as Kafka does; each partition by itself."""
    scene = Scene(max_offset_metadata_bytes=4)
    errors = scene.commit(
        offset(0, 1, metadata="1234"),
        offset(1, 1, metadata="12345"),
        offset(2, 1, metadata="日本語だ"),
    )
    assert errors == [NONE, ErrorCode.OFFSET_METADATA_TOO_LARGE, NONE]
    assert [scene.committed(partition) for partition in range(3)] == [1, None, 1]


def test_metadata_that_no_record_can_hold_is_too_large_whatever_the_setting() -> None:
    scene = Scene(max_offset_metadata_bytes=1_000_000)
    assert scene.commit(offset(0, 1, metadata="日" * 11_000)) == [
        ErrorCode.OFFSET_METADATA_TOO_LARGE
    ]


def test_what_is_stored() -> None:
    scene = Scene()
    topic_id = UUID(int=7)
    entry = offset(3, 42, metadata="note")._replace(leader_epoch=5, topic_id=topic_id)
    scene.commit(entry)
    assert scene.records[-1] == OffsetRecord(
        OffsetCommitKey("g", "t", 3),
        OffsetCommitValue(42, 5, "note", WALL_MS, -1, topic_id),
    )


def test_a_retention_of_the_clients_own_is_stored() -> None:
    scene = Scene()
    scene.commit(offset(0, 1), retention_time_ms=5_000)
    (record,) = scene.records
    assert isinstance(record, OffsetRecord)
    assert record.value is not None
    assert record.value.expire_timestamp_ms == WALL_MS + 5_000


# OffsetFetch


def fetch(scene: Scene, *queries: OffsetQuery) -> list[int | None]:
    found = scene.do(scene.shard.fetch_offsets("g", queries, scene.now))
    return [None if each.value is None else each.value.offset for each in found]


def test_nothing_is_committed() -> None:
    scene = Scene()
    assert fetch(scene, OffsetQuery("t", 0)) == [None]
    scene.commit(offset(0, 5))
    assert fetch(scene, OffsetQuery("t", 1), OffsetQuery("u", 0)) == [None, None]


def test_all_offsets_of_a_group() -> None:
    scene = Scene()
    scene.commit(offset(0, 5), offset(1, 6), offset(0, 7, topic="u"))
    scene.commit(offset(0, 9), group_id="other")
    found = list(scene.do(scene.shard.fetch_offsets("g", None, scene.now)))
    assert [(each.topic, each.partition, each.value.offset) for each in found if each.value] == [
        ("t", 0, 5),
        ("t", 1, 6),
        ("u", 0, 7),
    ]


@pytest.mark.parametrize(
    ("stored", "asked", "expected"),
    [(1, 1, 5), (1, 2, None), (1, None, 5), (None, 2, 5), (None, None, 5)],
)
def test_an_offset_of_an_earlier_topic_is_not_told(
    stored: int | None, asked: int | None, expected: int | None
) -> None:
    scene = Scene()

    def as_id(number: int | None) -> UUID | None:
        return None if number is None else UUID(int=number)

    scene.commit(offset(0, 5)._replace(topic_id=as_id(stored)))
    assert fetch(scene, OffsetQuery("t", 0, as_id(asked))) == [expected]


def test_the_latest_commit_counts() -> None:
    scene = Scene()
    for value in (5, 3, 9, 4):
        scene.commit(offset(0, value))
    assert scene.committed() == 4


# OffsetDelete (KIP-496)


def delete(scene: Scene, *partitions: tuple[str, int]) -> tuple[ErrorCode, list[ErrorCode]]:
    return scene.do(scene.shard.delete_offsets("g", partitions, scene.now))


def test_offsets_of_topics_that_are_not_subscribed_to_are_deleted() -> None:
    scene = Scene()
    scene.stable("a")
    for topic in ("t", "u"):
        scene.commit(offset(0, 5, topic=topic), member_id="a", generation=1)
    assert delete(scene, ("u", 0), ("u", 9), ("t", 0)) == (
        NONE,
        [NONE, NONE, ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC],
    )
    assert scene.committed(topic="u") is None
    assert scene.committed(topic="t") == 5


def test_a_subscription_that_cannot_be_read_may_be_to_anything() -> None:
    scene = Scene()
    scene.stable("a", protocols=(JoinProtocol("range", b"\0"),))
    scene.commit(offset(0, 5), member_id="a", generation=1)
    assert delete(scene, ("t", 0)) == (NONE, [ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC])


def test_offsets_of_a_group_that_is_not_there() -> None:
    assert delete(Scene(), ("t", 0)) == (MISSING, [])


def test_offsets_of_a_group_of_other_than_consumers() -> None:
    scene = Scene()
    scene.join(new_id="w", two_step=False, protocol_type="connect")
    assert delete(scene, ("t", 0)) == (ErrorCode.NON_EMPTY_GROUP, [])
    scene.leave(LeavingMember("w"))
    scene.advance(INITIAL_MS)
    assert scene.state == "Empty"
    assert delete(scene, ("t", 0)) == (NONE, [NONE])


def test_all_offsets_of_an_empty_group_may_be_deleted() -> None:
    scene = Scene()
    scene.stable("a")
    scene.commit(offset(0, 5), member_id="a", generation=1)
    scene.leave(LeavingMember("a"))
    assert delete(scene, ("t", 0)) == (NONE, [NONE])
    assert scene.committed() is None


def test_deleted_topics_take_their_offsets_with_them() -> None:
    scene = Scene()
    first, second = UUID(int=1), UUID(int=2)
    scene.commit(offset(0, 5)._replace(topic_id=first), offset(0, 6, topic="u"))
    scene.commit(offset(1, 7)._replace(topic_id=second), group_id="other")
    scene.commit(offset(0, 8), group_id="old")  # of which topic is not known
    scene.do(scene.shard.new_image(MetadataImage(), [DeletedTopic("t", first)], scene.now))
    assert scene.committed() is None
    assert scene.committed(topic="u") == 6
    assert scene.committed(1, group_id="other") == 7  # of the topic that came after
    assert scene.committed(group_id="old") is None
