"""Messages between the controllers of a quorum. One-way; each may be lost, late, doubled or reordered.

Fields are encoded in the order written here; only append. `term` is the sender's, except in a
pre-vote, where it is the term in which the sender would be a candidate. `source_directory` is the
id of the sender's metadata directory (`headrace.metadata.records.members`).
"""

from uuid import UUID

import msgspec

from headrace.metadata.records.entry import LogEntry
from headrace.metadata.records.numbers import Count, Int64


class Disk(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What is known of the directory of one member (`headrace.metadata.raft.disks`)."""

    directory_id: UUID
    start: Int64  # of the process that owns it; larger than that of every start before
    start_index: Int64  # the end of its log at that start
    kept_index: Int64  # it durably holds the committed entries up to here

    def with_kept(self, index: int) -> "Disk":
        """Replace `kept_index`."""
        return Disk(self.directory_id, self.start, self.start_index, index)


class Message(msgspec.Struct, frozen=True, array_like=True, gc=False, kw_only=True):
    """The fields of every message."""

    source: Count
    target: Count
    term: Int64
    source_directory: UUID


class VoteRequest(Message, frozen=True, array_like=True, tag=1, gc=False, kw_only=True):
    """Raft 5.2; with `pre`, thesis 9.6: would you vote for me?"""

    pre: bool
    last_index: Int64  # of the candidate's log
    last_term: Int64
    target_directory: UUID  # from the candidate's configuration; zero: not known
    transfer: bool  # the leader itself requested this election: ignore that it is alive
    disks: tuple[Disk, ...] = ()  # the sender's own, and what it remembers of the others


class VoteResponse(Message, frozen=True, array_like=True, tag=2, gc=False, kw_only=True):
    """Granted or not; the answer to a granted pre-vote has the term of the request."""

    pre: bool
    granted: bool
    disks: tuple[Disk, ...] = ()  # as in VoteRequest


class AppendRequest(Message, frozen=True, array_like=True, tag=3, gc=False, kw_only=True):
    """Entries after a known one; without entries a heartbeat, or a probe for the matching index."""

    previous_index: Int64
    previous_term: Int64
    entries: tuple[LogEntry, ...]
    commit_index: Int64
    round: Int64  # of this leader; returned in the answer: counted for read index
    disks: tuple[Disk, ...] = ()  # as in VoteRequest; only when a heartbeat is due


class AppendResponse(Message, frozen=True, array_like=True, tag=4, gc=False, kw_only=True):
    """The answer to AppendRequest and SnapshotOffer."""

    success: bool
    # On success: this log matches the leader's up to here, durably. Otherwise the previous index of
    # the request, which identifies an answer that arrives out of order.
    match_index: Int64
    # On failure also a hint where to try next: the term of the entry at `previous_index` (-1: none) and
    # the first index of that term, or one after the last entry (thesis 5.3, as etcd does it).
    conflict_term: Int64
    conflict_index: Int64
    round: Int64
    fetching_snapshot: bool  # the offered snapshot is being read: no entries are accepted
    disks: tuple[Disk, ...] = ()  # the sender's own


class SnapshotOffer(Message, frozen=True, array_like=True, tag=5, gc=False, kw_only=True):
    """Offers a snapshot to a follower whose next entries are compacted. Also a heartbeat."""

    snapshot_index: Int64
    snapshot_term: Int64
    round: Int64
    disks: tuple[Disk, ...] = ()  # as in VoteRequest


class TimeoutNow(Message, frozen=True, array_like=True, tag=6, gc=False, kw_only=True):
    """Requests an immediate election: the leader, whose whole log the target has, resigns (thesis 3.10)."""


RaftMessage = (
    VoteRequest | VoteResponse | AppendRequest | AppendResponse | SnapshotOffer | TimeoutNow
)
