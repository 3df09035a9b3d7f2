"""The network of a controller without others."""

from collections.abc import Mapping

from headrace.metadata.raft.messages import RaftMessage
from headrace.metadata.transport import Address, NotSentError


class NoPeers:
    """A `PeerNetwork` that reaches nobody."""

    def send(self, message: RaftMessage) -> None:
        """Lose it."""

    async def request(self, node_id: int, frame: bytes) -> bytes:
        """Reach nobody.

        Raises:
            NotSentError: always.
        """
        del frame
        raise NotSentError(f"node {node_id} cannot be reached: this controller has no network")

    def set_addresses(self, addresses: Mapping[int, Address]) -> None:
        """There is nobody to speak to."""
