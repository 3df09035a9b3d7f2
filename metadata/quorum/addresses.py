"""Where the members of the quorum are reached."""

from collections.abc import Mapping

from metadata.raft.configuration import Configuration
from metadata.raft.effects import NOBODY
from metadata.records.members import Member
from metadata.rpc.frames import LeaderAddress
from metadata.transport import Address, PeerNetwork


class MemberAddresses:
    """As the log says, unless this node's settings say otherwise: a whole quorum may have moved."""

    def __init__(
        self, node_id: int, network: PeerNetwork, configured: Mapping[int, Address]
    ) -> None:
        self._node_id = node_id
        self._network = network
        self._configured = configured
        self._configuration: Configuration | None = None

    def follow(self, configuration: Configuration) -> None:
        """Tell the network, if these are other members than before."""
        if configuration is self._configuration:
            return
        self._configuration = configuration
        self._network.set_addresses(
            {
                member.node_id: self._of(member)
                for member in configuration.members
                if member.node_id != self._node_id
            }
        )

    def leader(self, leader_id: int) -> LeaderAddress | None:
        """Where another node leads; None if it is this one, or not known."""
        if leader_id in (NOBODY, self._node_id) or self._configuration is None:
            return None
        member = self._configuration.member(leader_id)
        if member is None or not self._of(member).port:
            return None
        return LeaderAddress(leader_id, *self._of(member))

    def _of(self, member: Member) -> Address:
        return self._configured.get(member.node_id, Address(member.host, member.port))
