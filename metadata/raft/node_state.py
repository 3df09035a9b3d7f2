"""What all parts of the core share: the node's term, vote and role, its log, its clock, its outbox. Pure."""

from collections import deque
from typing import TYPE_CHECKING, Final, TypedDict
from uuid import UUID

from headrace.metadata.raft.configuration import Configuration
from headrace.metadata.raft.effects import (
    NOBODY,
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
    RaftMessage,
    SnapshotOffer,
    VoteRequest,
    VoteResponse,
)

if TYPE_CHECKING:
    from random import Random

# Answers that gather while a write is under way. Beyond, the oldest are lost, as on a bad network.
MAX_OUTBOX_MESSAGES: Final = 10_000


class Envelope(TypedDict):
    """The fields that every message has."""

    source: int
    target: int
    term: int
    source_directory: UUID


class NodeState:
    """Who we are in which term. `term` never decreases; within a term a vote is never taken back."""

    def __init__(
        self,
        settings: RaftSettings,
        log: RaftLog,
        hard_state: HardState,
        *,
        rng: "Random",
        now_ms: int,
    ) -> None:
        self.settings = settings
        self.log = log
        self.node_id = settings.node_id
        self.directory_id = settings.directory_id
        self.now_ms = now_ms
        self.role = Role.FOLLOWER
        self.leader_id = NOBODY
        self.term, self.voted_for = hard_state.term, hard_state.voted_for
        if log.last_term > self.term:  # a log that was written before there were votes
            self.term, self.voted_for = log.last_term, NOBODY
        self.told_disk = hard_state  # as the last write leaves it
        self.outbox: deque[RaftMessage] = deque(maxlen=MAX_OUTBOX_MESSAGES)
        self.reads_ready: list[ReadReady] = []
        self.reads_lost: list[int] = []
        self.election_at_ms = now_ms
        self._rng = rng
        self._heard_ms = now_ms  # of the leader
        if not self.is_sole_voter:
            self.rearm()

    @property
    def hard_state(self) -> HardState:
        """What must be durable before anything is said in this term."""
        return HardState(self.term, self.voted_for)

    def take_persist(self) -> Persist | None:
        """What the disk has still to be told."""
        before, self.told_disk = self.told_disk, self.hard_state
        unsaved = self.log.take_unsaved()
        persist = Persist(
            None if before == self.told_disk else self.told_disk,
            unsaved.truncate_from,
            unsaved.entries,
        )
        return None if persist == Persist() else persist

    @property
    def standing(self) -> RoleChange:
        """Who leads, as far as we know."""
        return RoleChange(self.role, self.term, self.leader_id)

    def _counts_in(self, configuration: Configuration) -> bool:
        """Whether we are a voter there, with the disk that it names."""
        return configuration.is_voter(self.node_id) and configuration.accepts(
            self.node_id, self.directory_id
        )

    @property
    def is_voter(self) -> bool:
        """Whether we count."""
        return self._counts_in(self.log.configuration)

    @property
    def may_stand(self) -> bool:
        """Whether we may stand for election: a voter may, until its removal is known to be committed.

        Before that the entry may be on our disk alone, and those that lack it elect nobody without
        us (thesis 4.2.2). We do not count in that election.
        """
        return any(self._counts_in(it) for it in self.log.possible_configurations)

    @property
    def is_sole_voter(self) -> bool:
        """Whether nobody else counts."""
        return self.is_voter and len(self.log.configuration.voters) == 1

    @property
    def hears_leader(self) -> bool:
        """Whether there is a leader that we have no reason to give up (thesis 4.2.3)."""
        if self.role is Role.LEADER:
            return True
        silent_ms = self.now_ms - self._heard_ms
        return self.leader_id != NOBODY and silent_ms < self.settings.election_timeout_ms

    def may_vote_for(self, candidate_id: int) -> bool:
        """Whether our vote of this term is free, or already this candidate's."""
        if self.voted_for == NOBODY:
            return self.leader_id == NOBODY  # who leads has won without us
        return self.voted_for == candidate_id

    def adopt(self, term: int) -> None:
        """Enter a later term. What was to be said in an older one is not said any more."""
        assert term > self.term, "terms only grow"
        self.term, self.voted_for = term, NOBODY
        self.role, self.leader_id = Role.FOLLOWER, NOBODY
        self.outbox.clear()

    def hear(self, leader_id: int) -> None:
        """The leader of this term has spoken."""
        self.role, self.leader_id = Role.FOLLOWER, leader_id
        self._heard_ms = self.now_ms
        self.rearm()

    def rearm(self) -> None:
        """Wait anew, one to two election timeouts (Raft 5.2)."""
        timeout_ms = self.settings.election_timeout_ms
        self.election_at_ms = self.now_ms + self._rng.randint(timeout_ms, 2 * timeout_ms)

    def envelope(self, target: int, term: int | None = None) -> Envelope:
        """The fields of a message from here; `term` only if it is not ours."""
        return Envelope(
            source=self.node_id,
            target=target,
            term=self.term if term is None else term,
            source_directory=self.directory_id,
        )

    def correct(self, message: RaftMessage) -> None:
        """Tell a sender of an older term that there is a newer one."""
        envelope = self.envelope(message.source)
        if isinstance(message, VoteRequest):
            self.outbox.append(VoteResponse(**envelope, pre=message.pre, granted=False))
        elif isinstance(message, AppendRequest | SnapshotOffer):
            refusal = AppendResponse(
                **envelope,
                success=False,
                match_index=0,
                conflict_term=0,
                conflict_index=0,
                round=0,
                fetching_snapshot=False,
            )
            self.outbox.append(refusal)
