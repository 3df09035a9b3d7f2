"""A node as a follower: it receives entries and snapshots (Raft 5.3, 7). Pure."""

from typing import NamedTuple

from headrace.metadata.raft.effects import SnapshotWanted
from headrace.metadata.raft.log import RaftLog
from headrace.metadata.raft.messages import AppendRequest, AppendResponse, SnapshotOffer
from headrace.metadata.raft.node_state import NodeState
from headrace.metadata.records.entry import SnapshotId

NO_TERM = -1


class AppendOutcome(NamedTuple):
    """The result of an AppendRequest; the fields are those of AppendResponse."""

    success: bool
    match_index: int
    conflict_term: int = NO_TERM
    conflict_index: int = 0


def append_new(log: RaftLog, request: AppendRequest) -> AppendOutcome | None:
    """Append the new entries of a request, if the logs match at its previous entry (log matching).

    None: the request conflicts with a committed entry. Entries are removed only by an entry of another term at the
    same index: requests may arrive out of order, and an older one says nothing about what follows its own entries.

    Raises:
        MetadataFormatError: an entry that names members cannot be read. Nothing has changed.
    """
    previous_index, entries = request.previous_index, request.entries
    previous_term = log.term_at(previous_index)
    if previous_index <= log.commit_index:
        ours = [log.term_at(it.index) for it in entries if it.index <= log.commit_index]
        theirs = [it.term for it in entries[: len(ours)]]
        pairs = [(previous_term, request.previous_term), *zip(ours, theirs, strict=True)]
        if any(term is not None and term != other for term, other in pairs):
            return None
        entries = entries[len(ours) :]
        previous_index = log.commit_index
    elif previous_term is None:
        return AppendOutcome(
            success=False, match_index=previous_index, conflict_index=log.last_index + 1
        )
    elif previous_term != request.previous_term:
        return AppendOutcome(
            success=False,
            match_index=previous_index,
            conflict_term=previous_term,
            conflict_index=max(log.first_index_of_term(previous_term), log.commit_index + 1),
        )
    for position, entry in enumerate(entries):
        if log.term_at(entry.index) != entry.term:
            log.replace_from(entries[position:])
            break
    verified_index = previous_index + len(entries)  # later entries are not known to match
    log.commit_to(min(request.commit_index, verified_index))
    return AppendOutcome(success=True, match_index=verified_index)


class Following:
    """The log of a follower."""

    def __init__(self, state: NodeState) -> None:
        self._state = state
        self._wanted: SnapshotWanted | None = None  # until it is installed
        self._handed_over = False  # the driver has it

    @property
    def fetching(self) -> bool:
        """Whether a snapshot that will replace the log is being read: meanwhile the log does not change."""
        return self._wanted is not None

    def on_append(self, request: AppendRequest) -> None:
        """Process entries, or a heartbeat, of the leader of our term."""
        verdict = AppendOutcome(success=False, match_index=request.previous_index)
        if not self.fetching:
            taken = append_new(self._state.log, request)
            if taken is None:
                return
            verdict = taken
        self._answer(request.source, verdict, request.round)

    def on_offer(self, offer: SnapshotOffer) -> None:
        """Process the offer of a snapshot that replaces entries which the leader no longer has."""
        log = self._state.log
        verdict = AppendOutcome(success=False, match_index=offer.snapshot_index)
        if not self.fetching:
            if offer.snapshot_index <= log.commit_index:
                verdict = AppendOutcome(success=True, match_index=log.commit_index)
            elif log.term_at(offer.snapshot_index) == offer.snapshot_term:
                log.commit_to(offer.snapshot_index)
                verdict = AppendOutcome(success=True, match_index=offer.snapshot_index)
            else:
                snapshot = SnapshotId(offer.snapshot_index, offer.snapshot_term)
                self._wanted = SnapshotWanted(offer.source, snapshot)
                self._handed_over = False
        self._answer(offer.source, verdict, offer.round)

    def take_wanted(self) -> SnapshotWanted | None:
        """The snapshot to fetch, returned once."""
        if self._handed_over:
            return None
        self._handed_over = self._wanted is not None
        return self._wanted

    def end_fetch(self) -> None:
        """The snapshot is installed, or could not be read."""
        self._wanted, self._handed_over = None, False

    def report(self, leader_id: int) -> None:
        """Send an unsolicited answer to the leader: the snapshot was installed."""
        self._answer(
            leader_id, AppendOutcome(success=True, match_index=self._state.log.last_index), 0
        )

    def _answer(self, target: int, verdict: AppendOutcome, round_: int) -> None:
        state = self._state
        state.outbox.append(
            AppendResponse(
                **state.envelope(target),
                **verdict._asdict(),
                round=round_,
                fetching_snapshot=self.fetching,
                disks=state.disks_to_tell[:1],
            )
        )
