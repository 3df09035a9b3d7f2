"""SyncGroup, Heartbeat and LeaveGroup."""

import pytest

from headrace.broker.coordinator.group.requests import LeavingMember
from headrace.protocol.errors import ErrorCode
from tests.unit.broker.coordinator.group.scene import INITIAL_MS, SESSION_MS, Scene

# SyncGroup


def test_followers_wait_for_the_leader() -> None:
    scene = Scene()
    scene.join_new("a", "b", "c")
    scene.advance(INITIAL_MS)
    before, after = scene.sync("b", 1), None
    assert before not in scene.syncs
    leading = scene.sync("a", 1, {"a": b"A", "b": b"B"})
    after = scene.sync("c", 1)
    assert scene.syncs[before].assignment == b"B"
    assert scene.syncs[leading].assignment == b"A"
    assert scene.syncs[after].assignment == b""  # left out by the leader
    assert scene.syncs[after].error is ErrorCode.NONE
    assert (scene.syncs[before].protocol_type, scene.syncs[before].protocol) == (
        "consumer",
        "range",
    )


def test_assignments_of_strangers_are_dropped() -> None:
    scene = Scene()
    scene.join_new("a")
    scene.advance(INITIAL_MS)
    scene.sync("a", 1, {"a": b"A", "stranger": b"S"})
    assert [member.member_id for member in scene.describe().members] == ["a"]


@pytest.mark.parametrize(
    ("member_id", "generation", "instance", "expected"),
    [
        ("a", 1, None, ErrorCode.NONE),
        ("x", 1, None, ErrorCode.UNKNOWN_MEMBER_ID),
        ("", 1, None, ErrorCode.UNKNOWN_MEMBER_ID),
        ("a", 0, None, ErrorCode.ILLEGAL_GENERATION),
        ("a", 2, None, ErrorCode.ILLEGAL_GENERATION),
        ("a", 1, "unknown", ErrorCode.UNKNOWN_MEMBER_ID),
        ("a", 1, "one", ErrorCode.FENCED_INSTANCE_ID),
        ("s", 1, "one", ErrorCode.NONE),
    ],
)
def test_who_may_sync_and_heartbeat(
    member_id: str, generation: int, instance: str | None, expected: ErrorCode
) -> None:
    scene = Scene()
    scene.join_new("a")
    scene.join(new_id="s", instance="one")
    scene.advance(INITIAL_MS)
    scene.sync_all(1, ["a", "s"])
    token = scene.sync(member_id, generation, instance=instance)
    assert scene.syncs[token].error is expected
    assert scene.heartbeat(member_id, generation, instance=instance) is expected


def test_sync_of_an_unknown_group() -> None:
    scene = Scene()
    assert scene.syncs[scene.sync("a", 1)].error is ErrorCode.UNKNOWN_MEMBER_ID
    assert scene.heartbeat("a", 1) is ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(
    ("protocol_type", "protocol", "expected"),
    [
        (None, None, ErrorCode.NONE),
        ("consumer", "range", ErrorCode.NONE),
        ("connect", "range", ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ("consumer", "sticky", ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    ],
)
def test_the_protocol_must_be_the_groups(
    protocol_type: str | None, protocol: str | None, expected: ErrorCode
) -> None:
    """KIP-559, SyncGroup 5."""
    scene = Scene()
    scene.stable("a")
    token = scene.sync("a", 1, protocol_type=protocol_type, protocol=protocol)
    assert scene.syncs[token].error is expected


def test_sync_during_the_join_phase() -> None:
    scene = Scene()
    scene.stable("a", "b")
    scene.join_new("c")
    assert scene.syncs[scene.sync("b", 1)].error is ErrorCode.REBALANCE_IN_PROGRESS


def test_a_second_sync_takes_the_place_of_the_first() -> None:
    scene = Scene()
    scene.join_new("a", "b")
    scene.advance(INITIAL_MS)
    first, second = scene.sync("b", 1), scene.sync("b", 1)
    assert scene.syncs[first].error is ErrorCode.REBALANCE_IN_PROGRESS
    scene.sync("a", 1, {"b": b"B"})
    assert scene.syncs[second].assignment == b"B"


def test_a_late_assignment_of_the_leader_is_not_taken() -> None:
    """In Stable the leader gets what was stored."""
    scene = Scene()
    scene.stable("a", "b")
    again = scene.sync("a", 1, {"a": b"other", "b": b"other"})
    assert scene.syncs[again].assignment == b"a"


# Heartbeat


def test_heartbeats_keep_a_member_alive() -> None:
    scene = Scene()
    scene.stable("a")
    for _ in range(5):
        scene.advance(SESSION_MS - 1)
        assert scene.heartbeat("a", 1) is ErrorCode.NONE
    scene.advance(SESSION_MS)
    assert scene.state == "Empty"


def test_heartbeats_in_every_state() -> None:
    scene = Scene()
    scene.join_new("a")
    assert scene.heartbeat("a", 0) is ErrorCode.REBALANCE_IN_PROGRESS
    scene.advance(INITIAL_MS)
    assert scene.state == "CompletingRebalance"
    assert scene.heartbeat("a", 1) is ErrorCode.NONE
    scene.sync_all(1, ["a"])
    assert scene.heartbeat("a", 1) is ErrorCode.NONE


def test_a_refused_heartbeat_keeps_nobody_alive() -> None:
    scene = Scene()
    scene.stable("a")
    scene.advance(SESSION_MS - 1)
    assert scene.heartbeat("a", 0) is ErrorCode.ILLEGAL_GENERATION
    scene.advance(1)
    assert scene.state == "Empty"


# LeaveGroup


def errors(results: list) -> list[ErrorCode]:
    return [result.error for result in results]


def test_the_others_rebalance_when_a_member_leaves() -> None:
    scene = Scene()
    scene.stable("a", "b")
    assert errors(scene.leave(LeavingMember("b"))) == [ErrorCode.NONE]
    assert scene.heartbeat("a", 1) is ErrorCode.REBALANCE_IN_PROGRESS
    assert scene.joins[scene.join("a")].generation == 2


def test_the_leader_leaves() -> None:
    scene = Scene()
    scene.stable("a", "b")
    scene.leave(LeavingMember("a"))
    assert scene.joins[scene.join("b")].leader == "b"


def test_several_leave_with_a_result_each() -> None:
    """LeaveGroup 3."""
    scene = Scene()
    scene.join_new("a", "b")
    scene.join(new_id="s", instance="one")
    scene.advance(INITIAL_MS)
    scene.sync_all(1, ["a", "b", "s"])
    results = scene.leave(
        LeavingMember("b"),
        LeavingMember("x"),
        LeavingMember("", "one"),
        LeavingMember("", "unknown"),
        LeavingMember("", None),
        LeavingMember("a", "unknown"),
    )
    assert errors(results) == [
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.UNKNOWN_MEMBER_ID,
    ]
    assert results[2].member == LeavingMember("", "one")
    assert scene.members() == ["a"]


def test_a_static_member_leaves_under_its_id_only() -> None:
    scene = Scene()
    scene.join(new_id="s", instance="one")
    scene.advance(INITIAL_MS)
    scene.sync_all(1, ["s"])
    assert errors(scene.leave(LeavingMember("other", "one"))) == [ErrorCode.FENCED_INSTANCE_ID]
    assert errors(scene.leave(LeavingMember("s", "one"))) == [ErrorCode.NONE]
    assert scene.state == "Empty"


def test_leaving_may_complete_the_join_phase() -> None:
    scene = Scene()
    scene.stable("a", "b")
    token = scene.join("a")
    assert token not in scene.joins
    scene.leave(LeavingMember("b"))
    assert scene.joins[token].generation == 2


def test_what_a_leaving_member_is_parked_in_is_answered() -> None:
    scene = Scene()
    scene.stable("a", "b")
    joining = scene.join("b", protocols=())
    assert scene.joins[joining].error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    scene.join_new("c")
    joining = scene.join("b")
    scene.leave(LeavingMember("b"))
    assert scene.joins[joining].error is ErrorCode.UNKNOWN_MEMBER_ID
    scene.join("a")
    syncing = scene.sync("c", 2)
    scene.leave(LeavingMember("c"))
    assert scene.syncs[syncing].error is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_pending_member_leaves_unnoticed() -> None:
    scene = Scene()
    scene.stable("a")
    scene.join(new_id="b")
    assert errors(scene.leave(LeavingMember("b"))) == [ErrorCode.NONE]
    assert scene.state == "Stable"
    scene.join(new_id="c")
    token = scene.join("a")
    assert token not in scene.joins
    scene.leave(LeavingMember("c"))
    assert scene.joins[token].generation == 2


def test_a_pending_member_that_leaves_does_not_cut_the_initial_delay_short() -> None:
    scene = Scene()
    (token,) = scene.join_new("a")
    scene.join(new_id="b")
    scene.leave(LeavingMember("b"))
    assert token not in scene.joins
    scene.advance(INITIAL_MS)
    assert scene.joins[token].generation == 1


def test_leaving_an_unknown_group() -> None:
    scene = Scene()
    assert errors(scene.leave(LeavingMember("a"))) == [ErrorCode.UNKNOWN_MEMBER_ID]
