"""A shard as a whole: describing, listing and deleting groups, and loading them."""

import pytest

from headrace.broker.coordinator.group.records import GroupRecord
from headrace.broker.coordinator.group.requests import (
    DescribedGroup,
    DescribedMember,
    JoinProtocol,
    LeavingMember,
)
from headrace.broker.coordinator.group.shard import GroupShard
from headrace.protocol.errors import ErrorCode
from tests.unit.broker.coordinator.fake_log import replay
from tests.unit.broker.coordinator.group.scene import (
    INITIAL_MS,
    RANGE,
    Scene,
    offset,
    subscription,
)

METADATA = subscription("t")


def test_a_stable_group_is_described_whole() -> None:
    scene = Scene()
    scene.join(new_id="a", two_step=False, client_id="one")
    scene.join(new_id="b", instance="two", client_id="other")
    scene.advance(INITIAL_MS)
    scene.sync_all(1, ["a", "b"])
    assert scene.describe() == DescribedGroup(
        "g",
        "Stable",
        "consumer",
        "range",
        (
            DescribedMember("a", None, "one", "/host", METADATA, b"a"),
            DescribedMember("b", "two", "other", "/host", METADATA, b"b"),
        ),
    )


def test_in_a_rebalance_metadata_is_not_shown() -> None:
    scene = Scene()
    scene.stable("a")
    scene.join_new("b")
    described = scene.describe()
    assert (described.state, described.protocol) == ("PreparingRebalance", "")
    assert [(member.metadata, member.assignment) for member in described.members] == [
        (b"", b"a"),
        (b"", b""),
    ]


def test_groups_are_listed() -> None:
    scene = Scene()
    scene.stable("a")
    scene.commit(group_id="simple")
    scene.join(new_id="c", group_id="pending")
    listed = scene.list_groups()
    assert [(group.group_id, group.protocol_type, group.state) for group in listed] == [
        ("g", "consumer", "Stable"),
        ("simple", "", "Empty"),
        ("pending", "", "Empty"),
    ]


def delete(scene: Scene, group_id: str = "g") -> ErrorCode:
    return scene.do(scene.shard.delete_group(group_id, scene.now))


def test_an_empty_group_is_deleted_with_its_offsets() -> None:
    scene = Scene()
    scene.stable("a")
    scene.commit(offset(0, 1), offset(0, 2, topic="u"), member_id="a", generation=1)
    assert delete(scene) is ErrorCode.NON_EMPTY_GROUP
    scene.leave(LeavingMember("a"))
    assert delete(scene) is ErrorCode.NONE
    assert scene.state == "Dead"
    assert scene.committed() is scene.committed(topic="u") is None
    assert scene.records[-1] == GroupRecord("g", None)
    assert delete(scene) is ErrorCode.GROUP_ID_NOT_FOUND


@pytest.mark.parametrize("state", ["PreparingRebalance", "CompletingRebalance"])
def test_a_group_that_rebalances_is_not_deleted(state: str) -> None:
    scene = Scene()
    scene.join_new("a")
    if state == "CompletingRebalance":
        scene.advance(INITIAL_MS)
    assert scene.state == state
    assert delete(scene) is ErrorCode.NON_EMPTY_GROUP


def test_a_simple_group_is_deleted() -> None:
    scene = Scene()
    scene.commit()
    assert delete(scene) is ErrorCode.NONE
    assert scene.state == "Dead"


def test_a_pending_member_of_a_deleted_group_has_no_deadline_left() -> None:
    scene = Scene()
    scene.join(new_id="a")
    assert delete(scene) is ErrorCode.NONE
    scene.advance(INITIAL_MS * 10)
    assert scene.state == "Dead"


def test_a_deleted_group_begins_anew() -> None:
    scene = Scene()
    scene.stable("a")
    scene.leave(LeavingMember("a"))
    delete(scene)
    scene.join_new("b")
    scene.advance(INITIAL_MS)
    assert scene.sync_all(1, ["b"]) == 1


def test_a_new_group_is_written_at_once() -> None:
    """Else a restart would forget that it exists, which DescribeGroups shows."""
    scene = Scene()
    scene.join(new_id="a")
    scene.restart()
    assert scene.state == "Empty"


def test_groups_do_not_disturb_each_other() -> None:
    scene = Scene()
    scene.stable("a")
    scene.join(new_id="a", group_id="other", two_step=False, protocols=RANGE)
    assert scene.state == "Stable"
    scene.advance(INITIAL_MS)
    assert scene.describe("other").state == "CompletingRebalance"
    assert scene.heartbeat("a", 1) is ErrorCode.NONE


def test_a_simple_group_takes_members() -> None:
    scene = Scene()
    scene.commit(offset(0, 5))
    scene.stable("a")
    assert scene.committed() == 5
    assert scene.describe().protocol_type == "consumer"
    assert scene.commit(offset(0, 6)) == [ErrorCode.UNKNOWN_MEMBER_ID]


def test_the_latest_record_of_a_member_counts() -> None:
    """A log holds many generations; a member may have told something else in each."""
    scene = Scene()
    scene.stable("a")
    other = (JoinProtocol("range", subscription("t", "u")),)
    scene.join("a", protocols=other, session_timeout_ms=20_000)
    scene.sync_all(2, ["a"])
    scene.restart()
    assert scene.describe().members[0].metadata == other[0].metadata
    scene.advance(19_999)
    assert scene.members() == ["a"]


def test_replaying_a_log_from_the_start_twice_changes_nothing() -> None:
    scene = Scene()
    scene.stable("a", "b")
    scene.commit(offset(0, 5), member_id="a", generation=1)
    scene.leave(LeavingMember("b"))
    scene.join("a")
    twice = GroupShard(scene.config)
    for record in scene.records * 2:
        replay(twice, record)
    assert twice.image() == scene.shard.image()
