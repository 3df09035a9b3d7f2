"""Random members of random groups: live state is always what a replay of the log gives.

`Scene` replays everything after each operation. Here are the invariants of a group's parts, and
what must come of it when everybody falls silent: all that was parked is answered, nobody is left.
"""

from uuid import UUID

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from headrace.broker.coordinator.group.classic.classic_group import ClassicGroup
from headrace.broker.coordinator.group.classic.deadlines import DeadlineKey, DeadlineKind
from headrace.broker.coordinator.group.classic.states import GroupState
from headrace.broker.coordinator.group.requests import JoinProtocol, LeavingMember
from headrace.broker.coordinator.runtime.shard import DeletedTopic
from headrace.metadata.image import MetadataImage
from headrace.protocol.errors import ErrorCode
from tests.unit.broker.coordinator.group.scene import Scene, offset, subscription

GROUPS = st.sampled_from(["g", "h"])
INSTANCES = st.sampled_from([None, "one", "two"])
TOPICS = st.sampled_from(["t", "u"])
PROTOCOLS = st.lists(
    st.builds(
        JoinProtocol,
        st.sampled_from(["range", "sticky"]),
        st.sampled_from([subscription("t"), subscription("t", "u"), b"unreadable"]),
    ),
    min_size=1,
    max_size=3,
).map(tuple)
PICK = st.integers(0, 10)
SILENCE_MS = 30 * 60_000


class GroupMachine(RuleBasedStateMachine):
    """Two groups of one shard, clients that come and go, time and restarts."""

    @initialize(delay_ms=st.sampled_from([0, 3_000]), max_size=st.sampled_from([2, 100]))
    def begin(self, delay_ms: int, max_size: int) -> None:
        self.scene = Scene(
            initial_rebalance_delay_ms=delay_ms,
            max_group_size=max_size,
            offsets_retention_ms=40_000,
            offsets_retention_check_ms=7_000,
        )
        self.ids: list[tuple[str, str | None]] = []  # every id ever given out, and its instance id
        self.parked_joins: set[int] = set()
        self.parked_syncs: set[int] = set()
        self.generations: dict[str, int] = {}

    def pick(self, index: int) -> tuple[str, str | None]:
        return self.ids[index % len(self.ids)] if self.ids else ("nobody", None)

    def generation(self, group_id: str, behind: int) -> int:
        group = self.scene.shard._groups.get(group_id)
        return (0 if group is None else group.generation) - behind

    # Requests

    @rule(
        group_id=GROUPS,
        instance=INSTANCES,
        protocols=PROTOCOLS,
        two_step=st.booleans(),
        skip=st.booleans(),
        session_ms=st.sampled_from([6_000, 20_000]),
        rebalance_ms=st.sampled_from([8_000, 30_000]),
    )
    def join_new(
        self,
        group_id: str,
        instance: str | None,
        protocols: tuple[JoinProtocol, ...],
        two_step: bool,
        skip: bool,
        session_ms: int,
        rebalance_ms: int,
    ) -> None:
        new_id = f"m{len(self.ids)}"
        self.ids.append((new_id, instance))
        self.parked_joins.add(
            self.scene.join(
                new_id=new_id,
                instance=instance,
                protocols=protocols,
                two_step=two_step,
                knows_skip_assignment=skip,
                group_id=group_id,
                session_timeout_ms=session_ms,
                rebalance_timeout_ms=rebalance_ms,
            )
        )

    @rule(index=PICK, group_id=GROUPS, protocols=PROTOCOLS, with_instance=st.booleans())
    def join_again(
        self,
        index: int,
        group_id: str,
        protocols: tuple[JoinProtocol, ...],
        with_instance: bool,
    ) -> None:
        member_id, instance = self.pick(index)
        self.parked_joins.add(
            self.scene.join(
                member_id,
                instance=instance if with_instance else None,
                protocols=protocols,
                group_id=group_id,
            )
        )

    @rule(group_id=GROUPS)
    def everybody_rejoins(self, group_id: str) -> None:
        group = self.scene.shard._groups.get(group_id)
        for member in [] if group is None else list(group.members.values()):
            if group is not None and member.member_id in group.members:
                self.parked_joins.add(
                    self.scene.join(
                        member.member_id,
                        instance=member.group_instance_id,
                        protocols=member.protocols,
                        group_id=group_id,
                    )
                )

    @rule(index=PICK, group_id=GROUPS, behind=st.integers(0, 1))
    def sync(self, index: int, group_id: str, behind: int) -> None:
        member_id, _ = self.pick(index)
        self.parked_syncs.add(
            self.scene.sync(member_id, self.generation(group_id, behind), group_id=group_id)
        )

    @rule(group_id=GROUPS, data=st.binary(max_size=4))
    def leader_syncs(self, group_id: str, data: bytes) -> None:
        group = self.scene.shard._groups.get(group_id)
        if group is not None and group.leader is not None:
            assignments = dict.fromkeys(group.members, data)
            self.parked_syncs.add(
                self.scene.sync(group.leader, group.generation, assignments, group_id=group_id)
            )

    @rule(index=PICK, group_id=GROUPS, behind=st.integers(0, 1))
    def heartbeat(self, index: int, group_id: str, behind: int) -> None:
        member_id, instance = self.pick(index)
        generation = self.generation(group_id, behind)
        error = self.scene.heartbeat(member_id, generation, instance=instance, group_id=group_id)
        if behind:
            assert error is not ErrorCode.NONE

    @rule(index=PICK, group_id=GROUPS, by_instance=st.booleans())
    def leave(self, index: int, group_id: str, by_instance: bool) -> None:
        member_id, instance = self.pick(index)
        leaving = LeavingMember("" if by_instance else member_id, instance)
        self.scene.leave(leaving, LeavingMember("stranger"), group_id=group_id)

    @rule(
        index=PICK,
        group_id=GROUPS,
        behind=st.integers(0, 1),
        topic=TOPICS,
        value=st.integers(0, 1_000),
    )
    def commit(self, index: int, group_id: str, behind: int, topic: str, value: int) -> None:
        member_id, instance = self.pick(index)
        (error,) = self.scene.commit(
            offset(value % 3, value, topic=topic)._replace(topic_id=UUID(int=1)),
            member_id=member_id,
            generation=self.generation(group_id, behind),
            instance=instance,
            group_id=group_id,
        )
        if error is ErrorCode.NONE:
            assert self.scene.committed(value % 3, topic, group_id) == value

    @rule(group_id=GROUPS, topic=TOPICS, value=st.integers(0, 1_000))
    def commit_anonymously(self, group_id: str, topic: str, value: int) -> None:
        self.scene.commit(offset(value % 3, value, topic=topic), group_id=group_id)

    # Administration, time, restarts

    @rule(group_id=GROUPS, topic=TOPICS)
    def delete_offsets(self, group_id: str, topic: str) -> None:
        partitions = [(topic, partition) for partition in range(3)]
        scene = self.scene
        scene.do(scene.shard.delete_offsets(group_id, partitions, scene.now))

    @rule(group_id=GROUPS)
    def delete_group(self, group_id: str) -> None:
        scene = self.scene
        if scene.do(scene.shard.delete_group(group_id, scene.now)) is ErrorCode.NONE:
            self.generations.pop(group_id, None)

    @rule(topic=TOPICS)
    def delete_topic(self, topic: str) -> None:
        scene = self.scene
        scene.do(
            scene.shard.new_image(MetadataImage(), [DeletedTopic(topic, UUID(int=1))], scene.now)
        )

    @rule(duration_ms=st.sampled_from([0, 1, 500, 3_000, 5_999, 8_000, 25_000]))
    def time_passes(self, duration_ms: int) -> None:
        self.scene.advance(duration_ms)

    @rule()
    def restart(self) -> None:
        self.scene.restart()
        self.parked_joins.clear()
        self.parked_syncs.clear()
        self.generations.clear()  # a generation that was not stored is counted again

    # Invariants

    @invariant()
    def parts_agree(self) -> None:
        for group in self.scene.shard._groups.values():
            check_group(self.scene, group)

    @invariant()
    def everybody_unanswered_is_parked(self) -> None:
        groups = self.scene.shard._groups.values()
        joining = {token for group in groups for token in group.joining.values()}
        syncing = {token for group in groups for token in group.syncing.values()}
        assert self.parked_joins - set(self.scene.joins) == joining
        assert self.parked_syncs - set(self.scene.syncs) == syncing

    @invariant()
    def generations_do_not_go_back(self) -> None:
        groups = self.scene.shard._groups
        for group_id in list(self.generations):
            if group_id not in groups:
                del self.generations[group_id]  # deleted: begins anew
        for group_id, group in groups.items():
            assert group.generation >= self.generations.get(group_id, 0)
            self.generations[group_id] = group.generation

    def teardown(self) -> None:
        if not hasattr(self, "scene"):
            return
        self.scene.advance(SILENCE_MS)
        assert self.parked_joins <= set(self.scene.joins)
        assert self.parked_syncs <= set(self.scene.syncs)
        assert self.scene.shard._groups == {}  # the retention is over as well


def check_group(scene: Scene, group: ClassicGroup) -> None:
    """The parts of a group agree with each other and with its state."""
    members = set(group.members)
    assert set(group.joining) <= members
    assert set(group.syncing) <= members
    assert set(group.pending_sync) <= members
    assert not members & set(group.pending_members)
    assert (group.leader in members) if members else group.leader is None
    assert group.static_members == {
        member.group_instance_id: member_id
        for member_id, member in group.members.items()
        if member.group_instance_id is not None
    }
    assert all(member.member_id == member_id for member_id, member in group.members.items())
    state = group.state
    assert not group.joining or state is GroupState.PREPARING_REBALANCE
    assert not group.syncing or state is GroupState.COMPLETING_REBALANCE
    assert not group.pending_sync or state in (GroupState.COMPLETING_REBALANCE, GroupState.STABLE)
    assert bool(members) or state in (GroupState.EMPTY, GroupState.PREPARING_REBALANCE)
    deadlines = scene.shard._deadlines

    def is_set(kind: DeadlineKind, member_id: str = "") -> bool:
        return deadlines.get(DeadlineKey(kind, group.group_id, member_id)) is not None

    assert is_set(DeadlineKind.JOIN) == (state is GroupState.PREPARING_REBALANCE)
    assert is_set(DeadlineKind.SYNC) == bool(group.pending_sync)
    for member_id, member in group.members.items():
        parked = member_id in group.joining or member_id in group.syncing
        assert is_set(DeadlineKind.SESSION, member_id) or (parked and not member.is_new)
    for member_id in group.pending_members:
        assert is_set(DeadlineKind.SESSION, member_id)
    if state in (GroupState.STABLE, GroupState.EMPTY) and group.image is not None:
        assert group.generation == group.image.generation
        assert group.leader == group.image.leader
        assert group.protocol == group.image.protocol
        assert [member.member_id for member in group.image.members] == list(group.members)


TestGroupShard = pytest.mark.slow(GroupMachine.TestCase)
TestGroupShard.settings = settings(
    max_examples=150,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
