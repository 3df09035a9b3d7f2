"""The network of a single controller."""

from collections.abc import Mapping

from headrace.links.ends import Address
from headrace.links.errors import NotSentError
from headrace.metadata.raft.messages import RaftMessage


class NoPeers:
    """A `PeerNetwork` without peers."""

    def send(self, message: RaftMessage) -> None:
        """Drop it."""

    async def request(self, node_id: int, frame: bytes) -> bytes:
        """Fail: there are no peers.

        Raises:
            NotSentError: always.
        """
        del frame
        raise NotSentError(
            f"node {node_id} cannot be reached: this controller has no network to other controllers"
        )

    def set_addresses(self, addresses: Mapping[int, Address]) -> None:
        """Do nothing: there are no peers."""
