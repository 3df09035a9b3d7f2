"""Addresses of the members of the quorum. Pure."""

from collections.abc import Mapping

from headrace.links.ends import Address
from headrace.metadata.raft.configuration import Configuration
from headrace.metadata.raft.core import RaftCore
from headrace.metadata.raft.effects import NOBODY
from headrace.metadata.records.members import Member
from headrace.metadata.rpc.frames import LeaderAddress
from headrace.metadata.transport import PeerNetwork


class MemberAddresses:
    """Addresses from the log, overridden by this node's settings: a whole quorum may have moved.

    A leader that has removed itself needs the answers of this node until its removal is committed.
    """

    def __init__(
        self,
        core: RaftCore,
        network: PeerNetwork,
        *,
        node_id: int,
        configured: Mapping[int, Address],
    ) -> None:
        self._core = core
        self._network = network
        self._node_id = node_id
        self._configured = configured
        self._found: Mapping[int, Address] = {}
        self._seen: tuple[Configuration, int] | None = None
        self._published: Mapping[int, Address] = {}

    @property
    def known(self) -> bool:
        """Whether the log, or the settings, name members."""
        return bool(self._core.configuration.members)

    def look(self) -> None:
        """Update the network, if the members have changed."""
        now = (self._core.configuration, self._core.leader_id)
        if self._seen is None or now[0] is not self._seen[0] or now[1] != self._seen[1]:
            self._seen = now
            self._publish()

    def found(self, addresses: Mapping[int, Address]) -> None:
        """Use these addresses while the log names no members."""
        self._found = addresses
        self._publish()

    def leader(self) -> LeaderAddress | None:
        """The address of the leader; None if it is this node, or not known."""
        leader_id = self._core.leader_id
        if leader_id in (NOBODY, self._node_id):
            return None
        member = self._core.configuration.member(leader_id)
        if member is None or not self._of(member).port:
            return None
        return LeaderAddress(leader_id, *self._of(member))

    def _publish(self) -> None:
        members = self._core.configuration.members
        addresses = {it.node_id: self._of(it) for it in members} or dict(self._found)
        leader_id = self._core.leader_id
        if leader_id in self._published:
            addresses.setdefault(leader_id, self._published[leader_id])
        addresses.pop(self._node_id, None)
        if addresses != self._published:
            self._published = addresses
            self._network.set_addresses(addresses)

    def _of(self, member: Member) -> Address:
        return self._configured.get(member.node_id, Address(member.host, member.port))
