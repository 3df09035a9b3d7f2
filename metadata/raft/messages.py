"""What controllers of a quorum tell each other. One-way; any may be lost, late, doubled or overtaken.

Fields are encoded in the order written here; only append. `term` is the sender's, except in a
pre-vote, where it is the term that the sender would stand for. `source_directory` says with which
disk the sender speaks (`headrace.metadata.records.members`).
"""

from uuid import UUID

import msgspec

from headrace.metadata.records.entry import LogEntry
from headrace.metadata.records.numbers import Count, Int64


class Message(msgspec.Struct, frozen=True, array_like=True, gc=False, kw_only=True):
    """What every message says."""

    source: Count
    target: Count
    term: Int64
    source_directory: UUID


class VoteRequest(Message, frozen=True, array_like=True, tag=1, gc=False, kw_only=True):
    """Raft 5.2; with `pre`, thesis 9.6: would you vote for me?"""

    pre: bool
    last_index: Int64  # of the candidate's log
    last_term: Int64
    target_directory: UUID  # as the candidate's configuration has it; zero: it does not know
    transfer: bool  # the leader itself has asked for this election: no reason to cling to it


class VoteResponse(Message, frozen=True, array_like=True, tag=2, gc=False, kw_only=True):
    """Granted or not; the answer to a granted pre-vote carries the term that was asked about."""

    pre: bool
    granted: bool


class AppendRequest(Message, frozen=True, array_like=True, tag=3, gc=False, kw_only=True):
    """Entries behind a known one; without entries a heartbeat, or a question where the logs part."""

    previous_index: Int64
    previous_term: Int64
    entries: tuple[LogEntry, ...]
    commit_index: Int64
    round: Int64  # of this leader; comes back in the answer: what read-index counts


class AppendResponse(Message, frozen=True, array_like=True, tag=4, gc=False, kw_only=True):
    """The answer to AppendRequest and SnapshotOffer."""

    success: bool
    # On success: this log agrees with the leader's up to here, durably. Else the index that was asked
    # about: an answer that was overtaken is known by it.
    match_index: Int64
    # Else also a hint where to try next: the term of the entry at `previous_index` (-1: there is none) and
    # the first index of that term, or one behind the last entry (thesis 5.3, as etcd does it).
    conflict_term: Int64
    conflict_index: Int64
    round: Int64
    fetching_snapshot: bool  # the offered snapshot is being read: nothing else can be taken in


class SnapshotOffer(Message, frozen=True, array_like=True, tag=5, gc=False, kw_only=True):
    """The entries that you lack are gone: read this snapshot from me. Also a heartbeat."""

    snapshot_index: Int64
    snapshot_term: Int64
    round: Int64


class TimeoutNow(Message, frozen=True, array_like=True, tag=6, gc=False, kw_only=True):
    """Stand for election at once: the leader, whose log you have, is about to leave (thesis 3.10)."""


RaftMessage = (
    VoteRequest | VoteResponse | AppendRequest | AppendResponse | SnapshotOffer | TimeoutNow
)
