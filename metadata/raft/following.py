"""A node as a follower: entries and snapshots come in (Raft 5.3, 7). Pure."""

from typing import NamedTuple

from headrace.metadata.raft.effects import SnapshotWanted
from headrace.metadata.raft.log import RaftLog
from headrace.metadata.raft.messages import AppendRequest, AppendResponse, SnapshotOffer
from headrace.metadata.raft.node_state import NodeState
from headrace.metadata.records.entry import SnapshotId

NO_TERM = -1


class AppendOutcome(NamedTuple):
    """What to answer; the fields are those of AppendResponse."""

    success: bool
    match_index: int
    conflict_term: int = NO_TERM
    conflict_index: int = 0


def take_in(log: RaftLog, request: AppendRequest) -> AppendOutcome | None:
    """Add what is new of a request, if its entries join ours. None: it contradicts what is committed.

    Only an entry of another term in the same place removes anything: requests overtake each other,
    and an older one says nothing about what follows its own entries.

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
    verified_index = previous_index + len(entries)  # what lies behind is not known to agree
    log.commit_to(min(request.commit_index, verified_index))
    return AppendOutcome(success=True, match_index=verified_index)


class Following:
    """The log as its leader fills it."""

    def __init__(self, state: NodeState) -> None:
        self._state = state
        self._wanted: SnapshotWanted | None = None  # until it is installed
        self._told = False  # the driver knows

    @property
    def fetching(self) -> bool:
        """Whether a snapshot is on its way, that will replace the log: until then the log stays as it is."""
        return self._wanted is not None

    def on_append(self, request: AppendRequest) -> None:
        """Entries, or a heartbeat, of the leader of our term."""
        verdict = AppendOutcome(success=False, match_index=request.previous_index)
        if not self.fetching:
            taken = take_in(self._state.log, request)
            if taken is None:
                return
            verdict = taken
        self._answer(request.source, verdict, request.round)

    def on_offer(self, offer: SnapshotOffer) -> None:
        """A snapshot in place of entries that the leader of our term does not have any more."""
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
                self._told = False
        self._answer(offer.source, verdict, offer.round)

    def take_wanted(self) -> SnapshotWanted | None:
        """The snapshot to fetch, said once."""
        if self._told:
            return None
        self._told = self._wanted is not None
        return self._wanted

    def end_fetch(self) -> None:
        """It is installed, or could not be read."""
        self._wanted, self._told = None, False

    def report(self, leader_id: int) -> None:
        """Tell the leader what was installed, without being asked."""
        self._answer(
            leader_id, AppendOutcome(success=True, match_index=self._state.log.last_index), 0
        )

    def _answer(self, target: int, verdict: AppendOutcome, round_: int) -> None:
        self._state.outbox.append(
            AppendResponse(
                **self._state.envelope(target),
                **verdict._asdict(),
                round=round_,
                fetching_snapshot=self.fetching,
            )
        )
