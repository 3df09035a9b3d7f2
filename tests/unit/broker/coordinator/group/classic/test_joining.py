"""JoinGroup: ids, who is let in, and what a rejoin does (KIP-62, 345, 389, 394, 814)."""

import pytest

from headrace.broker.coordinator.group.classic import joining
from headrace.broker.coordinator.group.requests import JoinedMember, JoinProtocol, LeavingMember
from headrace.protocol.errors import ErrorCode
from tests.unit.broker.coordinator.group.scene import (
    INITIAL_MS,
    RANGE,
    SESSION_MS,
    Scene,
    subscription,
)

METADATA = subscription("t")
OTHER = (JoinProtocol("range", subscription("t", "u")),)


# New members


def test_an_unknown_member_of_an_unknown_group() -> None:
    scene = Scene()
    token = scene.join("lost")
    assert scene.joins[token].error is ErrorCode.UNKNOWN_MEMBER_ID
    assert scene.state == "Dead"
    assert scene.records == []


@pytest.mark.parametrize(("protocol_type", "protocols"), [("", RANGE), ("consumer", ())])
def test_a_group_is_not_made_for_a_member_without_protocol(
    protocol_type: str, protocols: tuple[JoinProtocol, ...]
) -> None:
    scene = Scene()
    token = scene.join(new_id="a", protocol_type=protocol_type, protocols=protocols)
    assert scene.joins[token].error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert scene.state == "Dead"


def test_a_dynamic_member_is_told_its_id_first() -> None:
    """KIP-394."""
    scene = Scene()
    result = scene.joins[scene.join(new_id="client-1")]
    assert (result.error, result.member_id) == (ErrorCode.MEMBER_ID_REQUIRED, "client-1")
    assert scene.state == "Empty"
    assert scene.members() == []
    token = scene.join("client-1")
    assert scene.members() == ["client-1"]
    scene.advance(INITIAL_MS)
    assert scene.joins[token].error is ErrorCode.NONE


def test_before_version_4_an_id_is_given_at_once() -> None:
    scene = Scene()
    token = scene.join(new_id="a", two_step=False)
    assert scene.members() == ["a"]
    assert token not in scene.joins
    scene.advance(INITIAL_MS)
    assert (scene.joins[token].member_id, scene.joins[token].generation) == ("a", 1)


def test_a_pending_member_that_does_not_come_back_is_forgotten() -> None:
    scene = Scene()
    scene.join(new_id="a")
    scene.advance(SESSION_MS)
    late = scene.join("a")
    assert scene.joins[late].error is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_pending_member_with_an_instance_id_is_not_known() -> None:
    scene = Scene()
    scene.join(new_id="a")
    token = scene.join("a", instance="i")
    assert scene.joins[token].error is ErrorCode.UNKNOWN_MEMBER_ID


def test_pending_members_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joining, "MAX_PENDING_MEMBERS", 2)
    scene = Scene()
    scene.join(new_id="a")
    scene.join(new_id="b")
    refused = scene.joins[scene.join(new_id="c")]
    assert (refused.error, refused.member_id) == (ErrorCode.COORDINATOR_NOT_AVAILABLE, "")
    scene.join("a")
    assert scene.joins[scene.join(new_id="d")].error is ErrorCode.MEMBER_ID_REQUIRED


def test_the_leader_alone_is_told_of_all_members() -> None:
    scene = Scene()
    first, second = scene.join_new("a", "b")
    scene.advance(INITIAL_MS)
    leading, following = scene.joins[first], scene.joins[second]
    assert leading.leader == following.leader == "a"
    assert leading.members == (JoinedMember("a", None, METADATA), JoinedMember("b", None, METADATA))
    assert following.members == ()
    assert leading.generation == following.generation == 1
    assert (following.protocol_type, following.protocol) == ("consumer", "range")
    assert scene.state == "CompletingRebalance"


# Protocols


@pytest.mark.parametrize(
    ("protocol_type", "protocols"),
    [
        ("connect", RANGE),
        ("consumer", (JoinProtocol("sticky", METADATA),)),
        ("", RANGE),
        ("consumer", ()),
    ],
)
def test_members_must_share_a_protocol(
    protocol_type: str, protocols: tuple[JoinProtocol, ...]
) -> None:
    scene = Scene()
    scene.stable("a")
    token = scene.join(new_id="b", protocol_type=protocol_type, protocols=protocols)
    assert scene.joins[token].error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    again = scene.join("a", protocol_type=protocol_type, protocols=protocols)
    assert scene.joins[again].error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert scene.joins[again].member_id == "a"
    assert scene.state == "Stable"


def test_the_protocol_with_most_votes_wins() -> None:
    """Each member votes for the first of its protocols that all support."""
    range_, sticky, cooperative = (JoinProtocol(n, METADATA) for n in ("range", "sticky", "coop"))
    scene = Scene()
    scene.join(new_id="a", two_step=False, protocols=(range_, sticky))
    scene.join(new_id="b", two_step=False, protocols=(cooperative, sticky, range_))
    token = scene.join(new_id="c", two_step=False, protocols=(sticky, range_, cooperative))
    scene.advance(INITIAL_MS)
    assert scene.joins[token].protocol == "sticky"


def test_a_protocol_that_is_listed_twice_counts_once() -> None:
    twice = (JoinProtocol("range", b"first"), JoinProtocol("range", b"second"))
    scene = Scene()
    scene.join(new_id="a", two_step=False, protocol_type="x", protocols=twice)
    token = scene.join(new_id="b", two_step=False, protocol_type="x", protocols=twice)
    scene.advance(INITIAL_MS)
    assert scene.joins[token].protocol == "range"
    assert scene.joins[token - 1].members[0].metadata == b"first"


def test_an_empty_group_may_change_its_protocol_type() -> None:
    scene = Scene()
    scene.stable("a")
    scene.leave(LeavingMember("a"))
    assert scene.state == "Empty"
    token = scene.join(
        new_id="w", two_step=False, protocol_type="connect", protocols=(JoinProtocol("c", b""),)
    )
    scene.advance(INITIAL_MS)
    assert scene.joins[token].protocol_type == "connect"
    assert scene.joins[token].generation == 3


# Size (KIP-389)


def test_a_full_group_takes_no_new_member() -> None:
    scene = Scene(max_group_size=2)
    scene.stable("a", "b")
    refused = scene.joins[scene.join(new_id="c")]
    assert (refused.error, refused.member_id) == (ErrorCode.GROUP_MAX_SIZE_REACHED, "")
    assert scene.state == "Stable"


def test_in_a_rebalance_the_first_to_join_are_let_in() -> None:
    scene = Scene(max_group_size=2)
    first, second, third = scene.join_new("a", "b", "c")
    assert scene.joins[third].error is ErrorCode.GROUP_MAX_SIZE_REACHED
    scene.advance(INITIAL_MS)
    assert scene.joins[first].error is scene.joins[second].error is ErrorCode.NONE


def test_a_group_above_a_maximum_that_was_lowered_shrinks() -> None:
    """It is rebalanced when it is loaded; the last to rejoin is not let in."""
    scene = Scene()
    scene.stable("a", "b", "c")
    scene.config = Scene(max_group_size=2).config
    scene.restart()
    assert scene.state == "PreparingRebalance"
    first, second = scene.join("a"), scene.join("b")
    third = scene.join("c")
    assert scene.joins[third].error is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert scene.joins[first].error is scene.joins[second].error is ErrorCode.NONE
    assert scene.members() == ["a", "b"]


# Joining again


def test_a_lost_join_answer_is_repeated_before_the_sync() -> None:
    scene = Scene()
    first, second = scene.join_new("a", "b")
    scene.advance(INITIAL_MS)
    again = scene.join("a")
    assert scene.joins[again] == scene.joins[first]
    assert scene.joins[scene.join("b")] == scene.joins[second]
    assert scene.state == "CompletingRebalance"


def test_changed_metadata_before_the_sync_begins_a_rebalance() -> None:
    scene = Scene()
    scene.join_new("a", "b")
    scene.advance(INITIAL_MS)
    waiting = scene.sync("b", 1)
    token = scene.join("a", protocols=OTHER)
    assert scene.syncs[waiting].error is ErrorCode.REBALANCE_IN_PROGRESS
    assert scene.state == "PreparingRebalance"
    scene.join("b")
    assert scene.joins[token].generation == 2


def test_a_leader_that_rejoins_begins_a_rebalance() -> None:
    scene = Scene()
    scene.stable("a", "b")
    token = scene.join("a")
    assert scene.state == "PreparingRebalance"
    assert token not in scene.joins


def test_a_follower_that_rejoins_unchanged_does_not() -> None:
    scene = Scene()
    generation = scene.stable("a", "b")
    result = scene.joins[scene.join("b")]
    assert scene.state == "Stable"
    assert (result.error, result.generation, result.leader) == (ErrorCode.NONE, generation, "a")
    assert result.members == ()


def test_a_follower_with_other_metadata_begins_a_rebalance() -> None:
    scene = Scene()
    scene.stable("a", "b")
    scene.join("b", protocols=OTHER)
    assert scene.state == "PreparingRebalance"


def test_a_member_is_unknown_to_an_empty_group() -> None:
    scene = Scene()
    scene.stable("a")
    scene.leave(LeavingMember("a"))
    assert scene.joins[scene.join("a")].error is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_second_join_of_a_parked_member_takes_the_place_of_the_first() -> None:
    scene = Scene()
    (first,) = scene.join_new("a")
    second = scene.join("a")
    assert scene.joins[first].error is ErrorCode.REBALANCE_IN_PROGRESS
    scene.advance(INITIAL_MS)
    assert scene.joins[second].error is ErrorCode.NONE


# Static members (KIP-345)


def static_pair(scene: Scene) -> int:
    """A Stable group of two static members: a (leader) is "one", b is "two"."""
    scene.join(new_id="a", instance="one")
    token = scene.join(new_id="b", instance="two")
    scene.advance(INITIAL_MS)
    return scene.sync_all(scene.joins[token].generation, ["a", "b"])


def test_a_static_member_needs_no_second_step() -> None:
    scene = Scene()
    token = scene.join(new_id="a", instance="one")
    assert scene.members() == ["a"]
    scene.advance(INITIAL_MS)
    assert scene.joins[token].members == (JoinedMember("a", "one", METADATA),)


def test_a_static_follower_that_restarts_keeps_its_assignment_without_rebalance() -> None:
    scene = Scene()
    generation = static_pair(scene)
    result = scene.joins[scene.join(new_id="b2", instance="two")]
    assert (result.error, result.member_id) == (ErrorCode.NONE, "b2")
    assert (result.generation, result.leader) == (generation, "a")
    assert (result.skip_assignment, result.members) == (False, ())
    assert scene.state == "Stable"
    assert scene.members() == ["a", "b2"]
    assert scene.syncs[scene.sync("b2", generation, instance="two")].assignment == b"b"


def test_a_static_leader_that_restarts_is_told_to_skip_the_assignment() -> None:
    """KIP-814, from JoinGroup 9 on: it watches the topics again, and assigns nothing."""
    scene = Scene()
    generation = static_pair(scene)
    result = scene.joins[scene.join(new_id="a2", instance="one")]
    assert (result.leader, result.skip_assignment) == ("a2", True)
    assert [member.member_id for member in result.members] == ["a2", "b"]
    assert scene.syncs[scene.sync("a2", generation, instance="one")].assignment == b"a"


def test_before_version_9_a_static_leader_takes_itself_for_a_follower() -> None:
    scene = Scene()
    static_pair(scene)
    result = scene.joins[scene.join(new_id="a2", instance="one", knows_skip_assignment=False)]
    assert (result.member_id, result.leader) == ("a2", "a")
    assert (result.skip_assignment, result.members) == (False, ())


def test_the_old_id_of_a_static_member_is_fenced_everywhere() -> None:
    scene = Scene()
    generation = static_pair(scene)
    scene.join(new_id="b2", instance="two")
    fenced = ErrorCode.FENCED_INSTANCE_ID
    assert scene.heartbeat("b", generation, instance="two") is fenced
    assert scene.syncs[scene.sync("b", generation, instance="two")].error is fenced
    assert scene.joins[scene.join("b", instance="two")].error is fenced
    assert scene.commit(member_id="b", generation=generation, instance="two") == [fenced]
    assert scene.leave(LeavingMember("b", "two"))[0].error is fenced
    assert scene.heartbeat("b", generation) is ErrorCode.UNKNOWN_MEMBER_ID
    assert scene.heartbeat("b2", generation, instance="two") is ErrorCode.NONE


def test_the_session_of_the_old_id_ends_with_it() -> None:
    scene = Scene()
    generation = static_pair(scene)
    scene.join(new_id="b2", instance="two")
    for _ in range(3):
        scene.advance(SESSION_MS - 1)
        assert scene.heartbeat("a", generation, instance="one") is ErrorCode.NONE
        assert scene.heartbeat("b2", generation, instance="two") is ErrorCode.NONE
    assert scene.members() == ["a", "b2"]


def test_a_static_member_that_restarts_before_its_sync_may_sync_under_its_new_id() -> None:
    scene = Scene()
    scene.join(new_id="a", two_step=False, rebalance_timeout_ms=20_000)
    scene.join(new_id="b", instance="two", rebalance_timeout_ms=20_000)
    scene.advance(INITIAL_MS)
    scene.sync("a", 1, {"b": b"B"})
    scene.join(new_id="b2", instance="two", rebalance_timeout_ms=20_000)
    assert scene.syncs[scene.sync("b2", 1, instance="two")].assignment == b"B"
    for _ in range(5):
        scene.advance(SESSION_MS - 1)
        assert scene.heartbeat("a", 1) is ErrorCode.NONE
        assert scene.heartbeat("b2", 1) is ErrorCode.NONE


def test_a_parked_static_member_that_is_replaced_is_fenced() -> None:
    scene = Scene()
    first = scene.join(new_id="a", instance="one")
    second = scene.join(new_id="a2", instance="one")
    result = scene.joins[first]
    assert (result.error, result.member_id) == (ErrorCode.FENCED_INSTANCE_ID, "a")
    scene.advance(INITIAL_MS)
    assert scene.joins[second].leader == "a2"
    assert scene.members() == ["a2"]


def test_a_static_member_that_restarts_before_the_sync_begins_a_rebalance() -> None:
    """The leader may have assigned partitions to the old id already."""
    scene = Scene()
    scene.join(new_id="a", instance="one")
    scene.join(new_id="b", instance="two")
    scene.advance(INITIAL_MS)
    waiting = scene.sync("b", 1, instance="two")
    token = scene.join(new_id="b2", instance="two")
    assert scene.syncs[waiting].error is ErrorCode.FENCED_INSTANCE_ID
    assert scene.state == "PreparingRebalance"
    scene.join("a", instance="one")
    assert scene.joins[token].generation == 2


def test_a_static_member_that_would_change_the_protocol_begins_a_rebalance() -> None:
    sticky_first = (JoinProtocol("sticky", METADATA), JoinProtocol("range", METADATA))
    range_first = sticky_first[::-1]
    scene = Scene()
    scene.join(new_id="a", instance="one", protocols=range_first)
    scene.advance(INITIAL_MS)
    scene.sync_all(1, ["a"])
    token = scene.join(new_id="a2", instance="one", protocols=sticky_first)
    assert scene.joins[token].protocol == "sticky"
    assert scene.joins[token].generation == 2


def test_a_static_member_that_restarts_during_the_join_phase_is_waited_for_no_longer() -> None:
    scene = Scene()
    static_pair(scene)
    first = scene.join("a", instance="one")
    second = scene.join(new_id="b2", instance="two")
    assert scene.joins[first].error is scene.joins[second].error is ErrorCode.NONE
    assert [member.member_id for member in scene.joins[first].members] == ["a", "b2"]


def test_a_new_generation_too_large_to_store_is_not_written_for_a_restarted_member() -> None:
    scene = Scene()
    static_pair(scene)
    huge = (JoinProtocol("range", bytes(1_000_000)),)
    token = scene.join(new_id="b2", instance="two", protocols=huge)
    assert token not in scene.joins
    assert scene.state == "PreparingRebalance"
