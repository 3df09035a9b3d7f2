"""Plausibility checks of messages. Implausible messages are dropped, from any sender. Pure."""

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

# No quorum has so many elections; the next term must still fit into an int64.
MAX_TERM: Final = 1 << 62
MAX_DISKS: Final = 64  # directories of members in a message


def is_plausible(message: RaftMessage, node_id: int) -> bool:
    """Whether a message is for this node, and its fields are consistent."""
    if message.target != node_id or message.source == node_id or message.source < 0:
        return False
    if not 0 <= message.term <= MAX_TERM:
        return False
    if not isinstance(message, TimeoutNow) and len(message.disks) > MAX_DISKS:
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
    """Whether the entries follow each other and the previous entry, in index and term."""
    index, term = request.previous_index, request.previous_term
    if index < 0 or term < 0 or (index == 0) != (term == 0):
        return False
    for entry in request.entries:
        if entry.index != index + 1 or entry.term < term:
            return False
        index, term = entry.index, entry.term
    return 0 <= term <= request.term


def is_foreign(message: RaftMessage, configuration: Configuration) -> bool:
    """Whether the sender has another directory id than the member, or answers without being a member.

    Requests of unknown nodes are accepted: they may be members by entries that this node lacks.
    """
    if configuration.accepts(message.source, message.source_directory):
        return False
    if isinstance(message, VoteResponse | AppendResponse):
        return True
    return isinstance(message, VoteRequest) and configuration.member(message.source) is not None
