"""Which messages make sense at all. What does not is dropped, whoever sent it. Pure."""

from typing import Final

from headrace.metadata.raft.configuration import Configuration
from headrace.metadata.raft.messages import (
    AppendRequest,
    AppendResponse,
    RaftMessage,
    SnapshotOffer,
    TimeoutNow,
    VoteRequest,
    VoteResponse,
)

# No quorum elects so often; one step further must still fit into an int64.
TERM_MAX: Final = 1 << 62


def is_plausible(message: RaftMessage, node_id: int) -> bool:
    """Whether a message is for this node, and its parts agree with each other."""
    if message.target != node_id or message.source == node_id or message.source < 0:
        return False
    if not 0 <= message.term <= TERM_MAX:
        return False
    match message:
        case VoteRequest():
            return message.last_index >= 0 and 0 <= message.last_term <= message.term
        case AppendRequest():
            return message.commit_index >= 0 and message.round >= 0 and _joins(message)
        case AppendResponse():
            return message.match_index >= 0 and message.round >= 0
        case SnapshotOffer():
            return message.snapshot_index > 0 and 0 < message.snapshot_term <= message.term
        case VoteResponse() | TimeoutNow():
            return True


def _joins(request: AppendRequest) -> bool:
    """Entries follow each other and the one before them, in index and term."""
    index, term = request.previous_index, request.previous_term
    if index < 0 or term < 0 or (index == 0) != (term == 0):
        return False
    for entry in request.entries:
        if entry.index != index + 1 or entry.term < term:
            return False
        index, term = entry.index, entry.term
    return 0 <= term <= request.term


def is_strange(message: RaftMessage, configuration: Configuration) -> bool:
    """Whether the sender speaks with another disk than our member has, or answers as no member.

    Requests of nodes that we do not know are taken: they may be members by entries that we lack.
    """
    if configuration.accepts(message.source, message.source_directory):
        return False
    if isinstance(message, VoteResponse | AppendResponse):
        return True
    return isinstance(message, VoteRequest) and configuration.member(message.source) is not None
