"""The phases of a rebalance, in time: who is waited for, how long, and who is removed."""

import pytest

from headrace.broker.coordinator.group.classic.sessions import NEW_MEMBER_JOIN_TIMEOUT_MS
from headrace.broker.coordinator.group.requests import JoinProtocol, LeavingMember
from headrace.protocol.errors import ErrorCode
from tests.unit.broker.coordinator.group.scene import (
    INITIAL_MS,
    RANGE,
    REBALANCE_MS,
    SESSION_MS,
    Scene,
    subscription,
)

DELAY_MS = 3_000


# The initial delay (KIP-134)


def test_a_new_group_waits_for_the_initial_delay() -> None:
    scene = Scene()
    (token,) = scene.join_new("a")
    scene.advance(DELAY_MS - 1)
    assert token not in scene.joins
    scene.advance(1)
    assert scene.joins[token].generation == 1


def test_a_member_that_arrives_during_the_delay_extends_it() -> None:
    scene = Scene()
    (first,) = scene.join_new("a")
    scene.advance(DELAY_MS - 1)
    (second,) = scene.join_new("b")
    scene.advance(DELAY_MS)
    assert not {first, second} & set(scene.joins)
    scene.advance(1)
    assert scene.joins[first].generation == scene.joins[second].generation == 1


def test_the_delay_is_extended_up_to_the_rebalance_timeout() -> None:
    scene = Scene()
    timeout_ms = 7_000
    (first,) = [scene.join(new_id="m0", two_step=False, rebalance_timeout_ms=timeout_ms)]
    for second in range(1, 7):
        scene.advance(1_000)
        assert first not in scene.joins
        scene.join(new_id=f"m{second}", two_step=False, rebalance_timeout_ms=timeout_ms)
    scene.advance(1_000)
    assert len(scene.joins[first].members) == 7


def test_no_delay() -> None:
    scene = Scene(initial_rebalance_delay_ms=0)
    (token,) = scene.join_new("a")
    scene.advance(0)
    assert scene.joins[token].generation == 1


def test_a_group_that_was_empty_waits_again() -> None:
    scene = Scene()
    scene.stable("a")
    scene.leave(LeavingMember("a"))
    (token,) = scene.join_new("b")
    assert token not in scene.joins
    scene.advance(DELAY_MS)
    assert scene.joins[token].generation == 3


def test_everybody_leaves_during_the_delay() -> None:
    scene = Scene()
    (token,) = scene.join_new("a")
    scene.leave(LeavingMember("a"))
    assert scene.joins[token].error is ErrorCode.UNKNOWN_MEMBER_ID
    scene.advance(DELAY_MS)
    assert scene.state == "Empty"


# The join phase


def test_three_members_one_after_the_other() -> None:
    scene = Scene()
    scene.stable("a")
    (second,) = scene.join_new("b")
    assert scene.heartbeat("a", 1) is ErrorCode.REBALANCE_IN_PROGRESS
    first = scene.join("a")
    assert (scene.joins[first].generation, scene.joins[first].leader) == (2, "a")
    assert [member.member_id for member in scene.joins[first].members] == ["a", "b"]
    scene.sync_all(2, ["a", "b"])
    (third,) = scene.join_new("c")
    scene.join("b")
    assert third not in scene.joins
    first = scene.join("a")
    assert scene.joins[third].generation == scene.joins[first].generation == 3
    assert scene.joins[second].generation == 2
    scene.sync_all(3, ["a", "b", "c"])


def test_the_join_phase_ends_at_the_longest_rebalance_timeout() -> None:
    """A member that did not rejoin by then is removed."""
    scene = Scene()
    scene.join(new_id="a", two_step=False, rebalance_timeout_ms=20_000)
    scene.join(new_id="b", two_step=False, rebalance_timeout_ms=15_000)
    scene.advance(INITIAL_MS)
    scene.sync_all(1, ["a", "b"])
    token = scene.join("a", rebalance_timeout_ms=20_000)
    for _ in range(19):
        scene.advance(1_000)
        assert scene.heartbeat("b", 1) is ErrorCode.REBALANCE_IN_PROGRESS
    assert token not in scene.joins
    scene.advance(1_000)
    assert [member.member_id for member in scene.joins[token].members] == ["a"]
    assert scene.heartbeat("b", 1) is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_leader_that_does_not_rejoin_is_replaced() -> None:
    scene = Scene()
    scene.stable("a", "b")
    scene.join_new("c")
    token = scene.join("b")
    scene.advance(SESSION_MS)
    assert scene.joins[token].leader == "b"
    assert [member.member_id for member in scene.joins[token].members] == ["b", "c"]


def test_a_parked_member_is_not_expired() -> None:
    scene = Scene()
    scene.join(new_id="a", two_step=False)
    scene.join(new_id="b", two_step=False, session_timeout_ms=30_000)
    scene.advance(INITIAL_MS)
    scene.sync_all(1, ["a", "b"])
    token = scene.join("a")  # its session is 10 s, b's 30 s
    scene.advance(29_000)
    assert token not in scene.joins
    assert scene.members() == ["a", "b"]
    scene.advance(1_000)
    assert scene.joins[token].error is ErrorCode.NONE


def test_a_member_parked_in_its_first_join_is_given_up_after_five_minutes() -> None:
    """It has no id to send heartbeats with, and its client may be long gone."""
    scene = Scene()
    hour_ms = 3_600_000
    scene.join(new_id="a", two_step=False, rebalance_timeout_ms=hour_ms)
    scene.advance(INITIAL_MS)
    scene.sync_all(1, ["a"])
    token = scene.join(new_id="b", two_step=False, rebalance_timeout_ms=hour_ms)
    for _ in range(NEW_MEMBER_JOIN_TIMEOUT_MS // 5_000 - 1):
        scene.advance(5_000)
        scene.heartbeat("a", 1)
    assert token not in scene.joins
    scene.advance(5_000)
    assert scene.joins[token].error is ErrorCode.UNKNOWN_MEMBER_ID
    assert scene.members() == ["a"]


def test_the_join_phase_waits_for_pending_members() -> None:
    """KIP-394: an id was given out, so its member is expected, for its session timeout."""
    scene = Scene()
    scene.stable("a")
    scene.join(new_id="b")
    token = scene.join("a")
    assert token not in scene.joins
    scene.advance(SESSION_MS - 1)
    assert token not in scene.joins
    scene.advance(1)
    assert scene.joins[token].generation == 2


def test_a_pending_member_that_joins_completes_the_phase() -> None:
    scene = Scene()
    scene.stable("a")
    scene.join(new_id="b")
    first = scene.join("a")
    second = scene.join("b")
    assert scene.joins[first].generation == scene.joins[second].generation == 2


def test_static_members_that_do_not_rejoin_stay() -> None:
    """KIP-345: until their session expires."""
    scene = Scene()
    scene.join(new_id="a", two_step=False, rebalance_timeout_ms=15_000)
    scene.join(
        new_id="s",
        instance="one",
        session_timeout_ms=100_000,
        rebalance_timeout_ms=15_000,
    )
    scene.advance(INITIAL_MS)
    scene.sync_all(1, ["a", "s"])
    token = scene.join("a", rebalance_timeout_ms=15_000)
    scene.advance(15_000)
    assert [member.member_id for member in scene.joins[token].members] == ["a", "s"]


def test_a_phase_to_which_nobody_comes_is_prolonged() -> None:
    """Only a static member is left, and silent: nothing can be decided without it."""
    scene = Scene()
    scene.join(new_id="s", instance="one", session_timeout_ms=100_000, rebalance_timeout_ms=15_000)
    scene.join(new_id="a", two_step=False, rebalance_timeout_ms=15_000)
    scene.advance(INITIAL_MS)
    scene.sync_all(1, ["s", "a"])
    scene.leave(LeavingMember("a"))
    scene.advance(40_000)
    assert scene.state == "PreparingRebalance"
    token = scene.join("s", instance="one")
    assert scene.joins[token].generation == 2


def test_when_the_last_member_expires_the_group_is_empty() -> None:
    scene = Scene()
    scene.stable("a")
    scene.advance(SESSION_MS)
    assert scene.state == "Empty"
    assert scene.describe().protocol_type == "consumer"
    assert scene.heartbeat("a", 1) is ErrorCode.UNKNOWN_MEMBER_ID


# The sync phase (KAFKA-9752)


def test_members_that_do_not_sync_are_removed() -> None:
    scene = Scene()
    scene.join(new_id="a", two_step=False, rebalance_timeout_ms=9_500)
    scene.join(new_id="b", two_step=False, rebalance_timeout_ms=9_500)
    scene.advance(2 * DELAY_MS)
    leading = scene.sync("a", 1, {"a": b"A", "b": b"B"})
    assert scene.syncs[leading].assignment == b"A"
    scene.advance(9_499)
    assert scene.state == "Stable"
    scene.advance(1)
    assert scene.state == "PreparingRebalance"
    assert scene.members() == ["a"]
    assert scene.joins[scene.join("a")].generation == 2


def test_a_leader_that_does_not_sync_is_removed() -> None:
    scene = Scene()
    scene.join(new_id="a", two_step=False, rebalance_timeout_ms=9_500)
    scene.join(new_id="b", two_step=False, rebalance_timeout_ms=9_500)
    scene.advance(2 * DELAY_MS)
    waiting = scene.sync("b", 1)
    scene.advance(9_500)
    assert scene.syncs[waiting].error is ErrorCode.REBALANCE_IN_PROGRESS
    assert scene.joins[scene.join("b")].leader == "b"


def test_a_member_parked_in_sync_is_not_expired() -> None:
    scene = Scene()
    scene.join_new("a", "b")
    scene.advance(2 * DELAY_MS)
    waiting = scene.sync("b", 1)
    for _ in range(3):
        scene.advance(8_000)
        assert scene.heartbeat("a", 1) is ErrorCode.NONE
    assert waiting not in scene.syncs
    assert scene.members() == ["a", "b"]
    scene.sync("a", 1, {"b": b"B"})
    assert scene.syncs[waiting].assignment == b"B"
    scene.advance(SESSION_MS - 1)
    assert scene.members() == ["a", "b"]  # both sessions began anew with the assignment


def test_a_generation_that_is_too_large_is_not_stored() -> None:
    scene = Scene()
    scene.join_new("a", "b")
    scene.advance(INITIAL_MS)
    waiting = scene.sync("b", 1)
    leading = scene.sync("a", 1, {"a": bytes(600_000), "b": bytes(600_000)})
    assert scene.syncs[waiting].error is ErrorCode.UNKNOWN_SERVER_ERROR
    assert scene.syncs[leading].error is ErrorCode.UNKNOWN_SERVER_ERROR
    assert scene.state == "PreparingRebalance"


# Restarts


def test_members_go_on_after_a_restart() -> None:
    scene = Scene()
    generation = scene.stable("a", "b")
    scene.advance(SESSION_MS - 1)
    scene.restart()
    scene.advance(SESSION_MS - 1)
    assert scene.heartbeat("a", generation) is ErrorCode.NONE
    assert scene.heartbeat("b", generation) is ErrorCode.NONE
    assert scene.syncs[scene.sync("b", generation)].assignment == b"b"


def test_members_that_are_gone_expire_after_a_restart() -> None:
    scene = Scene()
    scene.stable("a", "b")
    scene.restart()
    scene.advance(SESSION_MS)
    assert scene.state == "Empty"


def test_a_restart_before_the_sync_falls_back_to_the_last_stored_generation() -> None:
    scene = Scene()
    scene.stable("a")
    scene.join_new("b")
    scene.join("a")
    assert scene.state == "CompletingRebalance"
    scene.restart()
    assert scene.state == "Stable"
    assert scene.members() == ["a"]
    assert scene.heartbeat("a", 2) is ErrorCode.ILLEGAL_GENERATION
    assert scene.joins[scene.join("b")].error is ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("topics", [("t",), ("t", "u")])
def test_opaque_bytes_of_a_cooperative_assignor_go_through(topics: tuple[str, ...]) -> None:
    """KIP-429 needs nothing of the coordinator: owned partitions and generation are opaque."""
    owned = subscription(*topics) + bytes(range(256))
    assigned = bytes(reversed(range(256)))
    protocols = (JoinProtocol("cooperative-sticky", owned), *RANGE)
    scene = Scene()
    token = scene.join(new_id="a", two_step=False, protocols=protocols)
    scene.advance(INITIAL_MS)
    assert scene.joins[token].members[0].metadata == owned
    leading = scene.sync("a", 1, {"a": assigned})
    assert scene.syncs[leading].assignment == assigned
    scene.restart()
    (member,) = scene.describe().members
    assert (member.metadata, member.assignment) == (owned, assigned)


def test_a_rebalance_timeout_in_the_join_phase_is_of_the_latest_join() -> None:
    scene = Scene()
    scene.stable("a")
    scene.join_new("b")
    scene.advance(SESSION_MS)
    assert scene.state == "CompletingRebalance"
    assert scene.members() == ["b"]
    scene.advance(REBALANCE_MS)
    assert scene.state == "Empty"
