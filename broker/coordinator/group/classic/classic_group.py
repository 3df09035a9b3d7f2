"""A classic group: its members, their protocols, its generation.

It has two layers. The *image* is the last group record: it alone survives a restart, and only `install`
changes it. The rest is the state of a rebalance in progress. In Empty and Stable the two agree:
generation, protocol, leader and member ids are those of the image.

The rules for when to change what are in `rebalance`, `joining` and `membership`; this class keeps its
fields consistent.

Source: `ClassicGroup` of Apache Kafka.
"""

from collections import Counter

from headrace.broker.coordinator.group.classic.consumer_protocol import (
    PROTOCOL_TYPE,
    subscribed_topics,
)
from headrace.broker.coordinator.group.classic.member import Member
from headrace.broker.coordinator.group.classic.states import TRANSITIONS, GroupState
from headrace.broker.coordinator.group.records import NO_TIMESTAMP, GroupMetadataValue
from headrace.broker.coordinator.group.requests import JoinedMember, JoinProtocol
from headrace.invariants import require
from headrace.protocol.errors import ErrorCode


class ClassicGroup:
    """One group. Iteration over members is in the order in which they joined."""

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.image: GroupMetadataValue | None = None  # None: a simple group, which only has offsets
        self.state = GroupState.EMPTY
        self.previous_state = GroupState.DEAD
        self.state_timestamp_ms = NO_TIMESTAMP
        self.protocol_type: str | None = None
        self.protocol: str | None = None
        self.generation = 0
        self.leader: str | None = None
        self.members: dict[str, Member] = {}
        self.static_members: dict[str, str] = {}  # instance id -> member id
        self.joining: dict[str, int] = {}  # member id -> token of its parked JoinGroup
        self.syncing: dict[str, int] = {}  # member id -> token of its parked SyncGroup
        # Got their id, not yet joined with it (KIP-394). A dict for its order.
        self.pending_members: dict[str, None] = {}
        self.pending_sync: dict[str, None] = {}  # got a JoinGroup answer, have not synced
        self.joined_during_delay = False  # someone joined while the initial delay ran
        self.initial_delay_left_ms: int | None = None  # None: not in the initial delay
        # None: not known (not a consumer group, or its metadata cannot be read).
        self.subscribed_topics: frozenset[str] | None = None
        self._supporters: Counter[str] = Counter()  # protocol -> members that support it
        self._assignments: dict[str, bytes] = {}

    # Membership

    def add(self, member: Member) -> None:
        """Add a member; a group without a leader takes it as leader."""
        if member.group_instance_id is not None:
            self.static_members[member.group_instance_id] = member.member_id
        if self.leader is None:
            self.leader = member.member_id
        self.members[member.member_id] = member
        self._supporters.update(member.protocol_names)
        self.pending_members.pop(member.member_id, None)

    def remove(self, member_id: str) -> None:
        """Remove a member or a pending member; its parked requests must have been answered."""
        member = self.members.pop(member_id, None)
        if member is not None:
            self._supporters.subtract(member.protocol_names)
            if member.group_instance_id is not None:
                self.static_members.pop(member.group_instance_id, None)
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)
        self.joining.pop(member_id, None)
        self.syncing.pop(member_id, None)
        self.pending_members.pop(member_id, None)
        self.pending_sync.pop(member_id, None)

    def update(
        self,
        member: Member,
        *,
        protocols: tuple[JoinProtocol, ...],
        rebalance_timeout_ms: int,
        session_timeout_ms: int,
    ) -> None:
        """Update a rejoining member from its request."""
        self._supporters.subtract(member.protocol_names)
        member.protocols = protocols
        self._supporters.update(member.protocol_names)
        member.rebalance_timeout_ms = rebalance_timeout_ms
        member.session_timeout_ms = session_timeout_ms

    def rename_static_member(self, group_instance_id: str, new_member_id: str) -> Member:
        """Replace the id of a static member; its parked requests must have been answered."""
        old_member_id = self.static_members[group_instance_id]
        member = self.members[old_member_id]
        member.member_id = new_member_id
        member.is_new = False
        self.members = {known.member_id: known for known in self.members.values()}
        self.static_members[group_instance_id] = new_member_id
        if self.leader == old_member_id:
            self.leader = new_member_id
        if old_member_id in self._assignments:
            self._assignments[new_member_id] = self._assignments.pop(old_member_id)
        if old_member_id in self.pending_sync:
            del self.pending_sync[old_member_id]
            self.pending_sync[new_member_id] = None
        return member

    def check_member(self, member_id: str, group_instance_id: str | None) -> ErrorCode:
        """UNKNOWN_MEMBER_ID or FENCED_INSTANCE_ID unless this is a member's present id."""
        if group_instance_id is not None:
            known = self.static_members.get(group_instance_id)
            if known is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
            if known != member_id:
                return ErrorCode.FENCED_INSTANCE_ID
        if member_id not in self.members:
            return ErrorCode.UNKNOWN_MEMBER_ID
        return ErrorCode.NONE

    def all_joined(self) -> bool:
        """Whether every member is parked in JoinGroup and no pending member is expected."""
        return len(self.joining) == len(self.members) and not self.pending_members

    def elect_joined_leader(self) -> bool:
        """Keep the leader if it has rejoined, else take the first that has; False if none."""
        if self.leader is None:
            return False
        if self.leader in self.joining:
            return True
        joined = next((member_id for member_id in self.members if member_id in self.joining), None)
        if joined is None:
            return False
        self.leader = joined
        return True

    def rebalance_timeout_ms(self) -> int:
        """Give the longest rebalance timeout of the members."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    # Protocols

    def supports(self, protocol_type: str, protocols: tuple[JoinProtocol, ...]) -> bool:
        """Whether a member with these protocols can be in this group with the others."""
        if not protocol_type or not protocols:
            return False
        if not self.members:
            return True
        return protocol_type == self.protocol_type and any(
            self._supporters[supported.name] == len(self.members) for supported in protocols
        )

    def select_protocol(self) -> str:
        """Let each member vote for the first of its protocols that all support; most votes win."""
        everybody = len(self.members)
        candidates = {name for name, count in self._supporters.items() if count == everybody}
        votes = Counter(member.vote(candidates) for member in self.members.values())
        return votes.most_common(1)[0][0]

    # States and generations

    def transition_to(self, state: GroupState, wall_ms: int) -> None:
        """Move to a state; only the moves of `states` exist."""
        require(state in TRANSITIONS[self.state], f"group {self.group_id}: {self.state} to {state}")
        self.previous_state = self.state
        self.state = state
        self.state_timestamp_ms = wall_ms

    def begin_generation(self) -> None:
        """Count one generation up, with the protocol that the members vote for."""
        self.generation += 1
        self.protocol = self.select_protocol() if self.members else None
        self.subscribed_topics = self._compute_subscribed_topics()
        self.pending_sync.clear()

    def to_image(
        self, wall_ms: int, assignments: dict[str, bytes] | None = None
    ) -> GroupMetadataValue:
        """Give the record of the present generation, with these assignments or its own."""
        protocol = self.protocol
        assigned = self._assignments if assignments is None else assignments
        return GroupMetadataValue(
            self.protocol_type or "",
            self.generation,
            protocol,
            self.leader,
            wall_ms,
            ()
            if protocol is None
            else tuple(
                member.to_record(protocol, assigned.get(member.member_id, b""))
                for member in self.members.values()
            ),
        )

    def install(self, image: GroupMetadataValue) -> None:
        """Take a group record as the present generation; nothing else changes the image."""
        known = self.members
        self.image = image
        self.previous_state, self.state = (
            self.state,
            GroupState.STABLE if image.members else GroupState.EMPTY,
        )
        self.state_timestamp_ms = image.current_state_timestamp_ms
        self.protocol_type = image.protocol_type or None
        self.protocol = image.protocol
        self.generation = image.generation
        self.leader = None
        self.members = {}
        self.static_members = {}
        self._supporters = Counter()
        for record in image.members:
            member = known.get(record.member_id)
            if member is None or not member.is_as_stored(record, image.protocol):
                member = Member.from_record(record, image.protocol)
            self.add(member)
        self.leader = image.leader
        self._assignments = {record.member_id: record.assignment for record in image.members}
        self.subscribed_topics = self._compute_subscribed_topics()

    def assignment(self, member_id: str) -> bytes:
        """Give what the last stored generation assigned to a member; empty when nothing."""
        return self._assignments.get(member_id, b"")

    # Answers to clients

    def members_for(self, member_id: str) -> tuple[JoinedMember, ...]:
        """Return all members for the leader, none for other members."""
        if member_id != self.leader or self.protocol is None:
            return ()
        protocol = self.protocol
        return tuple(member.as_joined(protocol) for member in self.members.values())

    @property
    def is_consumer_group(self) -> bool:
        """Whether members speak the consumer protocol, whose subscriptions can be read."""
        return self.protocol_type == PROTOCOL_TYPE

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether a member is, or may be, subscribed to a topic."""
        if self.subscribed_topics is None:
            return self.is_consumer_group
        return topic in self.subscribed_topics

    def _compute_subscribed_topics(self) -> frozenset[str] | None:
        if not self.is_consumer_group:
            return None
        if not self.members:
            return frozenset()
        if self.protocol is None:
            return None
        protocol = self.protocol
        return subscribed_topics(member.metadata(protocol) for member in self.members.values())
