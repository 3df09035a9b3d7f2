"""State that all parts of the core share: term, vote and role, log, clock, outbox. Pure."""

from collections import deque
from typing import TYPE_CHECKING, Final, TypedDict
from uuid import UUID

from headrace.invariants import require
from headrace.metadata.raft.configuration import Configuration
from headrace.metadata.raft.disks import Disks
from headrace.metadata.raft.effects import (
    NOBODY,
    DurableState,
    HardState,
    Persist,
    RaftSettings,
    ReadReady,
    Role,
    RoleChange,
)
from headrace.metadata.raft.log import RaftLog
from headrace.metadata.raft.messages import (
    AppendRequest,
    AppendResponse,
    Disk,
    RaftMessage,
    SnapshotOffer,
    VoteRequest,
    VoteResponse,
)

if TYPE_CHECKING:
    from random import Random

# Answers that wait for a write. Beyond that the oldest are dropped, as on a bad network.
MAX_OUTBOX_MESSAGES: Final = 10_000


class Envelope(TypedDict):
    """The fields of every message."""

    source: int
    target: int
    term: int
    source_directory: UUID


class NodeState:
    """Term, vote and role of this node. `term` never decreases; within a term a vote never changes."""

    def __init__(
        self,
        settings: RaftSettings,
        log: RaftLog,
        state: DurableState,
        *,
        rng: "Random",
        now_ms: int,
    ) -> None:
        self.settings = settings
        self.log = log
        self.node_id = settings.node_id
        self.directory_id = settings.directory_id
        own = Disk(settings.directory_id, state.start, log.last_index, 0)
        self.disks = Disks(own, state.disks)
        self.now_ms = now_ms
        self.role = Role.FOLLOWER
        self.leader_id = NOBODY
        hard_state = state.hard_state
        self.term, self.voted_for = hard_state.term, hard_state.voted_for
        if log.last_term > self.term:  # a log of version 1, which had no votes
            self.term, self.voted_for = log.last_term, NOBODY
        self.saved_hard_state = hard_state  # after the last write
        self.outbox: deque[RaftMessage] = deque(maxlen=MAX_OUTBOX_MESSAGES)
        self.reads_ready: list[ReadReady] = []
        self.reads_lost: list[int] = []
        self.election_at_ms = now_ms
        self._rng = rng
        self._leader_contact_ms = now_ms  # last message of the leader
        if not self.is_sole_voter:
            self.rearm()

    @property
    def hard_state(self) -> HardState:
        """Term and vote: durable before any message of this term is sent."""
        return HardState(self.term, self.voted_for)

    def take_persist(self) -> Persist | None:
        """What is yet to be written to disk."""
        before, self.saved_hard_state = self.saved_hard_state, self.hard_state
        is_same = before == self.saved_hard_state
        truncate_from, entries = self.log.take_unsaved()
        if is_same and truncate_from is None and not entries:
            return None
        return Persist(None if is_same else self.saved_hard_state, truncate_from, entries)

    @property
    def current_role(self) -> RoleChange:
        """The role of this node and the leader, as far as it knows."""
        return RoleChange(self.role, self.term, self.leader_id)

    def _is_voter_in(self, configuration: Configuration) -> bool:
        """Whether this node is a voter there, with the recorded directory id."""
        return configuration.is_voter(self.node_id) and configuration.accepts(
            self.node_id, self.directory_id
        )

    @property
    def is_voter(self) -> bool:
        """Whether this node is a voter."""
        return self._is_voter_in(self.log.configuration)

    @property
    def may_campaign(self) -> bool:
        """Whether this node may be a candidate: a voter may, until its removal is known to be committed.

        Before that the entry may be on this disk alone, and nodes that lack it cannot elect a leader
        without this node (thesis 4.2.2). Its own vote does not count in that election.
        """
        return any(self._is_voter_in(it) for it in self.log.possible_configurations)

    @property
    def is_sole_voter(self) -> bool:
        """Whether this node is the only voter."""
        return self.is_voter and len(self.log.configuration.voters) == 1

    @property
    def has_live_leader(self) -> bool:
        """Whether there is a leader, with recent contact (thesis 4.2.3)."""
        if self.role is Role.LEADER:
            return True
        silent_ms = self.now_ms - self._leader_contact_ms
        return self.leader_id != NOBODY and silent_ms < self.settings.election_timeout_ms

    def may_vote_for(self, candidate_id: int) -> bool:
        """Whether our vote of this term is free, or already given to this candidate."""
        if self.voted_for == NOBODY:
            return self.leader_id == NOBODY  # a leader has won without our vote
        return self.voted_for == candidate_id

    def enter_term(self, term: int) -> None:
        """Enter a later term. Unsent messages of older terms are dropped."""
        require(term > self.term, "terms only grow")
        self.term, self.voted_for = term, NOBODY
        self.role, self.leader_id = Role.FOLLOWER, NOBODY
        self.outbox.clear()

    def leader_contacted(self, leader_id: int) -> None:
        """Record a message of this term's leader."""
        self.role, self.leader_id = Role.FOLLOWER, leader_id
        self._leader_contact_ms = self.now_ms
        self.rearm()

    def rearm(self) -> None:
        """Restart the election timer, with one to two election timeouts (Raft 5.2)."""
        timeout_ms = self.settings.election_timeout_ms
        self.election_at_ms = self.now_ms + self._rng.randint(timeout_ms, 2 * timeout_ms)

    def envelope(self, target: int, term: int | None = None) -> Envelope:
        """The common fields of a message of this node; `term` only if it is not our own."""
        return Envelope(
            source=self.node_id,
            target=target,
            term=self.term if term is None else term,
            source_directory=self.directory_id,
        )

    @property
    def disks_to_tell(self) -> tuple[Disk, ...]:
        """What a message says of the members' directories; nothing without a count of starts."""
        own = self.disks.own
        return (own, *self.disks.remembered(self.log.configuration)) if own.start else ()

    def refuse(self, request: VoteRequest) -> None:
        """Refuse a vote."""
        self.outbox.append(
            VoteResponse(
                **self.envelope(request.source),
                pre=request.pre,
                granted=False,
                disks=self.disks_to_tell,
            )
        )

    def reject_stale(self, message: RaftMessage) -> None:
        """Answer a message of an older term with the newer term."""
        if isinstance(message, VoteRequest):
            self.refuse(message)
        elif isinstance(message, AppendRequest | SnapshotOffer):
            refusal = AppendResponse(
                **self.envelope(message.source),
                success=False,
                match_index=0,
                conflict_term=0,
                conflict_index=0,
                round=0,
                fetching_snapshot=False,
                disks=self.disks_to_tell,
            )
            self.outbox.append(refusal)
