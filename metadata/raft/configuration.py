"""The members of the quorum, and its majority. Pure.

It changes by one member at a time (Ongaro's thesis, 4.1), so that any majority before a change and
any majority after it have a member in common.
"""

from collections.abc import Collection, Iterable
from functools import cached_property
from uuid import UUID

import msgspec

from headrace.metadata.records.members import NO_DIRECTORY, Member


class Configuration(msgspec.Struct, frozen=True, dict=True):
    """The members, sorted by node id. What follows from them is worked out once: each message asks for it."""

    members: tuple[Member, ...] = ()

    @classmethod
    def of(cls, members: Iterable[Member]) -> "Configuration":
        """Sort members into a configuration."""
        return cls(tuple(sorted(members, key=lambda member: member.node_id)))

    @cached_property
    def voters(self) -> tuple[int, ...]:
        """Node ids of the voters."""
        return tuple(member.node_id for member in self.members if member.voter)

    @cached_property
    def majority(self) -> int:
        """The number of voters that form a majority."""
        return len(self.voters) // 2 + 1

    @cached_property
    def _by_id(self) -> dict[int, Member]:
        return {member.node_id: member for member in reversed(self.members)}

    def member(self, node_id: int) -> Member | None:
        """One member."""
        return self._by_id.get(node_id)

    def is_voter(self, node_id: int) -> bool:
        """Whether a node is a voter."""
        member = self.member(node_id)
        return member is not None and member.voter

    def has_majority(self, nodes: Collection[int]) -> bool:
        """Whether these nodes include a majority of the voters. False without voters."""
        voters = self.voters
        return bool(voters) and sum(node_id in nodes for node_id in voters) >= self.majority

    def with_member(self, member: Member) -> "Configuration":
        """Add a member, or replace the one of that node id."""
        others = (it for it in self.members if it.node_id != member.node_id)
        return Configuration.of((*others, member))

    def without(self, node_id: int) -> "Configuration":
        """Remove a member."""
        return Configuration(tuple(it for it in self.members if it.node_id != node_id))

    def accepts(self, node_id: int, directory_id: UUID) -> bool:
        """Whether this node with this directory is the member: an unknown directory id matches any."""
        known = self.member(node_id)
        return known is not None and known.directory_id in (NO_DIRECTORY, directory_id)
