"""Retention of offsets (KIP-211): what expires when, and when a group goes."""

import pytest

from headrace.broker.coordinator.group.records import (
    GroupMetadataValue,
    GroupRecord,
    OffsetCommitKey,
    OffsetCommitValue,
    OffsetRecord,
)
from headrace.broker.coordinator.group.requests import JoinProtocol, LeavingMember
from tests.unit.broker.coordinator.group.scene import INITIAL_MS, SESSION_MS, Scene, offset

RETENTION_MS = 100_000
CHECK_MS = 1_000


def scene_with_retention() -> Scene:
    return Scene(offsets_retention_ms=RETENTION_MS, offsets_retention_check_ms=CHECK_MS)


def keep_alive(scene: Scene, generation: int, duration_ms: int) -> None:
    """Let time pass while member "a" sends heartbeats."""
    for _ in range(duration_ms // (SESSION_MS // 2)):
        scene.advance(SESSION_MS // 2)
        scene.heartbeat("a", generation)


def test_a_simple_group_counts_from_each_commit() -> None:
    scene = scene_with_retention()
    scene.commit(offset(0, 1))
    scene.advance(RETENTION_MS // 2)
    scene.commit(offset(1, 2))
    scene.advance(RETENTION_MS // 2)
    assert (scene.committed(0), scene.committed(1)) == (None, 2)
    assert scene.state == "Empty"
    scene.advance(RETENTION_MS // 2)
    assert scene.committed(1) is None
    assert scene.state == "Dead"
    scene.restart()
    assert scene.state == "Dead"


def test_an_empty_group_counts_from_when_it_became_empty() -> None:
    scene = scene_with_retention()
    generation = scene.stable("a")
    scene.commit(offset(0, 1), member_id="a", generation=generation)
    keep_alive(scene, generation, 2 * RETENTION_MS)
    scene.leave(LeavingMember("a"))
    scene.advance(RETENTION_MS - 1)
    assert scene.committed() == 1
    scene.advance(CHECK_MS)
    assert scene.committed() is None
    assert scene.state == "Dead"


def test_that_survives_a_restart() -> None:
    scene = scene_with_retention()
    generation = scene.stable("a")
    scene.commit(offset(0, 1), member_id="a", generation=generation)
    scene.leave(LeavingMember("a"))
    scene.advance(RETENTION_MS - CHECK_MS)
    scene.restart()
    assert scene.committed() == 1
    scene.advance(CHECK_MS)
    assert scene.committed() is None


def test_a_live_group_keeps_the_offsets_of_its_topics() -> None:
    scene = scene_with_retention()
    generation = scene.stable("a")
    scene.commit(offset(0, 1), offset(0, 2, topic="u"), member_id="a", generation=generation)
    keep_alive(scene, generation, RETENTION_MS + 2 * CHECK_MS)
    assert scene.committed(topic="t") == 1
    assert scene.committed(topic="u") is None  # no longer subscribed to


def test_a_group_that_rebalances_keeps_everything() -> None:
    scene = Scene(
        offsets_retention_ms=10,
        offsets_retention_check_ms=CHECK_MS,
    )
    generation = scene.stable("a")
    scene.commit(offset(0, 2, topic="u"), member_id="a", generation=generation)
    scene.join_new("b")
    scene.advance(SESSION_MS - 1)
    assert scene.state == "PreparingRebalance"
    assert scene.committed(topic="u") == 2


@pytest.mark.parametrize("protocol_type", ["connect", "consumer"])
def test_a_live_group_of_unknown_subscriptions_keeps_everything(protocol_type: str) -> None:
    scene = scene_with_retention()
    unreadable = (JoinProtocol("p", b"\0"),)
    scene.join(new_id="a", two_step=False, protocol_type=protocol_type, protocols=unreadable)
    scene.advance(INITIAL_MS)
    scene.sync_all(1, ["a"])
    scene.commit(offset(0, 2, topic="u"), member_id="a", generation=1)
    keep_alive(scene, 1, 2 * RETENTION_MS)
    assert scene.committed(topic="u") == 2


def test_a_retention_of_the_clients_own_goes_first() -> None:
    scene = scene_with_retention()
    scene.commit(offset(0, 1), retention_time_ms=5_000)
    scene.commit(offset(1, 2), retention_time_ms=2 * RETENTION_MS)
    scene.advance(5_000)
    assert (scene.committed(0), scene.committed(1)) == (None, 2)
    scene.advance(RETENTION_MS)
    assert scene.committed(1) == 2


def test_a_record_that_does_not_tell_when_the_group_became_empty() -> None:
    """GroupMetadataValue before version 2: counted from the commit."""
    scene = scene_with_retention()
    wall_ms = scene.now.wall_ms
    scene.records += [
        GroupRecord("g", GroupMetadataValue("consumer", 3, None, None, -1, ())),
        OffsetRecord(OffsetCommitKey("g", "t", 0), OffsetCommitValue(5, -1, "", wall_ms)),
    ]
    scene.restart()
    scene.advance(RETENTION_MS - 1)
    assert scene.committed() == 5
    scene.advance(CHECK_MS)
    assert scene.committed() is None


def test_an_empty_group_without_offsets_goes_at_the_next_check() -> None:
    scene = scene_with_retention()
    scene.stable("a")
    scene.leave(LeavingMember("a"))
    assert scene.state == "Empty"
    scene.advance(CHECK_MS)
    assert scene.state == "Dead"


def test_a_group_with_a_pending_member_does_not() -> None:
    scene = scene_with_retention()
    scene.join(new_id="a")
    scene.advance(2 * CHECK_MS)
    assert scene.state == "Empty"
    scene.join("a")
    assert scene.members() == ["a"]


def test_many_groups_are_looked_at_in_several_goes() -> None:
    scene = scene_with_retention()
    scene.check_replay = lambda: None  # type: ignore[method-assign]  # once at the end is enough
    groups = [f"group-{number}" for number in range(250)]
    for group_id in groups:
        scene.commit(offset(0, 1), group_id=group_id)
    scene.advance(RETENTION_MS - 1)
    assert all(scene.committed(group_id=group_id) == 1 for group_id in groups)
    scene.advance(CHECK_MS + 10)
    assert not any(scene.committed(group_id=group_id) for group_id in groups)
    Scene.check_replay(scene)
