"""Links of the other controllers to this one, and their messages."""

from collections.abc import Callable
from typing import Final
from uuid import UUID

from headrace.links.ends import Party
from headrace.links.errors import LinkFormatError
from headrace.links.framing import Hello
from headrace.links.services import AcceptedLink, MessageService
from headrace.metadata.net.kinds import PEER
from headrace.metadata.net.peer_messages import decode_message
from headrace.metadata.raft.messages import RaftMessage

MAX_PEERS: Final = 32


class PeerService(MessageService):
    """Takes Raft's messages. Of one controller's links the newest is kept.

    A second controller with a node id is refused while the first one's link lasts, unless only the second one is the
    member of the quorum. One that contradicts the configuration is taken if there is no other: it may be a member by
    an entry that this node lacks.
    """

    def __init__(
        self,
        receive: Callable[[RaftMessage], None],
        identity: Callable[[], Party],
        *,
        on_peer: Callable[[int], None] = lambda _: None,
        is_member: Callable[[int, UUID], bool] = lambda _node_id, _directory_id: False,
    ) -> None:
        """Create the service.

        Args:
            receive: takes a message; it neither waits nor raises.
            identity: returns this node's current identity.
            on_peer: called with the node id of a controller that has connected.
            is_member: whether a node id with a directory id is a member of the quorum, as far as this node knows.
        """
        super().__init__(PEER)
        self._receive = receive
        self._identity = identity
        self._on_peer = on_peer
        self._is_member = is_member
        self._peers: dict[int, tuple[AcceptedLink, Party]] = {}

    @property
    def connected(self) -> int:
        """Controllers that are connected."""
        return len(self._peers)

    def refusal(self, hello: Hello) -> str:
        """See `Service.refusal`."""
        theirs, ours = hello.party, self._identity()
        if theirs.node_id == ours.node_id:
            return f"another controller uses the same node id {ours.node_id}"
        if theirs.node_id in self._peers:
            return self._other_refusal(theirs)
        return f"the limit of {MAX_PEERS} peers is reached" if self.connected >= MAX_PEERS else ""

    def opened(self, link: AcceptedLink, hello: Hello) -> None:
        """See `Service.opened`."""
        node_id = hello.party.node_id
        older = self._peers.pop(node_id, None)
        if older is not None:
            older[0].close()
        self._peers[node_id] = link, hello.party
        self._on_peer(node_id)

    def closed(self, link: AcceptedLink) -> None:
        """See `Service.closed`."""
        self._peers = {key: it for key, it in self._peers.items() if it[0] is not link}

    def received(self, hello: Hello, body: bytes) -> None:
        """See `MessageService.received`."""
        party, message = hello.party, decode_message(body)
        if (message.source, message.source_directory) != (party.node_id, party.directory_id):
            raise LinkFormatError(
                f"node {party.node_id} with directory {party.directory_id} sent a message in the name of "
                f"node {message.source} with directory {message.source_directory}"
            )
        self._receive(message)

    def _other_refusal(self, theirs: Party) -> str:
        """Why a controller is refused beside one with its node id that is connected; empty: it is not."""
        link, known = self._peers[theirs.node_id]
        is_known = known.directory_id == theirs.directory_id
        if is_known or (
            self._is_member(theirs.node_id, theirs.directory_id)
            and not self._is_member(theirs.node_id, known.directory_id)
        ):
            return ""
        return (
            f"node {theirs.node_id} with directory {theirs.directory_id} is a second controller with this "
            f"node id: the one with directory {known.directory_id} is connected from {link.client}"
        )
