"""Raft (Ongaro and Ousterhout's extended paper; Ongaro's thesis) as a value: calls in, `Effects` out. Pure.

Messages, time and completed writes are calls; what must be written, sent, applied and answered is
collected until the driver takes it. The effects of one `Effects` happen in their documented order,
so nothing is sent before the state that it depends on is durable.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headrace.invariants import require
from headrace.metadata.errors import MetadataFormatError
from headrace.metadata.raft.changes import MemberChange
from headrace.metadata.raft.configuration import Configuration
from headrace.metadata.raft.effects import (
    NOBODY,
    DurableState,
    Effects,
    RaftSettings,
    Role,
)
from headrace.metadata.raft.elections import Elections
from headrace.metadata.raft.errors import NotLeaderError
from headrace.metadata.raft.following import Following
from headrace.metadata.raft.leading import EncodeMembers, LeaderState, OpenTerm
from headrace.metadata.raft.log import LogPosition, MembersOf, RaftLog
from headrace.metadata.raft.messages import (
    AppendRequest,
    AppendResponse,
    RaftMessage,
    SnapshotOffer,
    TimeoutNow,
    VoteRequest,
    VoteResponse,
)
from headrace.metadata.raft.node_state import NodeState
from headrace.metadata.raft.plausibility import is_foreign, is_plausible
from headrace.metadata.raft.views import CoreViews
from headrace.metadata.records.entry import SnapshotId

if TYPE_CHECKING:
    from random import Random


class RaftCore(CoreViews):
    """One node of the quorum. Times are milliseconds of its own clock; only differences matter."""

    def __init__(  # noqa: PLR0913 - keyword arguments: the parts of a core
        self,
        settings: RaftSettings,
        state: DurableState,
        *,
        initial: Configuration,
        members_of: MembersOf,
        encode_members: EncodeMembers,
        open_term: OpenTerm,
        rng: "Random",
        now_ms: int,
    ) -> None:
        """Start as a follower.

        Args:
            settings: this node's ids, timeouts and bounds.
            state: the durable state.
            initial: the members while neither snapshot nor log names any.
            members_of: the members that a payload names, if it does.
            encode_members: makes the payload that names members.
            open_term: makes the first payload of a leader's term, from that term and the last index before it;
                0: it begins the log. Only an entry that names the members may stand between.
            rng: randomizes election timeouts.
            now_ms: the clock.
        """
        self._encode_members = encode_members
        self._open_term = open_term
        log = RaftLog(state, initial, members_of)
        super().__init__(log, NodeState(settings, log, state, rng=rng, now_ms=now_ms))
        self._elections = Elections(self._state)
        self._following = Following(self._state)
        self._persisting = False
        self._reported = self._state.current_role

    # --- inputs

    def tick(self, now_ms: int) -> None:
        """Advance the time. To be called at `next_tick_ms` or later."""
        self._pass_time(now_ms)
        if self._leadership is not None:
            self._leadership.tick()
            self._leadership.serve_reads()
        elif self._state.now_ms >= self._state.election_at_ms:
            self._state.leader_id = NOBODY
            if self._may_campaign:
                self._elections.start_pre_vote()
                self._start_election_if_pre_vote_won()
            else:
                self._state.role = Role.FOLLOWER
                self._state.rearm()

    def step(self, message: RaftMessage, now_ms: int) -> None:
        """Process a message. An implausible one, or one from outside the quorum, is dropped."""
        self._pass_time(now_ms)
        if not is_plausible(message, self._state.node_id) or is_foreign(
            message, self._log.configuration
        ):
            return
        members, last_index = self._log.configuration, self._log.last_index
        if not self._state.disks.hear(message, members, last_index):
            self._refuse_old_copy(message)
            return
        if not self._enter_term(message):
            return
        match message:
            case VoteRequest():
                self._elections.on_request(message)
            case VoteResponse():
                self._elections.on_response(message)
                self._start_election_if_pre_vote_won()
                self._lead_if_elected()
            case AppendRequest() | SnapshotOffer():
                self._follow(message)
            case AppendResponse():
                self._on_append_response(message)
            case TimeoutNow():
                if self._may_campaign and message.source == self._state.leader_id:
                    self._elections.start_election(transfer=True)

    def _refuse_old_copy(self, message: RaftMessage) -> None:
        """Its directory is an old copy: let it know. If ours is, say nothing more."""
        if self.outdated is not None:
            self._resign()
            self._state.outbox.clear()
        elif isinstance(message, VoteRequest):
            self._state.refuse(message)

    def persisted(self, now_ms: int) -> None:
        """Everything that the last effects had to persist is durable."""
        require(self._persisting, "nothing is being persisted")
        self._persisting = False
        self._log.saved()
        self._pass_time(now_ms)
        self._elections.on_durable()
        self._lead_if_elected()
        self._advance_commit()

    def propose(self, payloads: Sequence[bytes], now_ms: int) -> LogPosition:
        """Append entries; they are committed when an entry of this term commits at that index.

        Raises:
            NotLeaderError: this node does not lead, or transfers its leadership.
            QuorumBusyError: too much is uncommitted.
        """
        return self._leading(now_ms).propose(payloads)

    def change_members(self, change: MemberChange, now_ms: int) -> LogPosition:
        """Change the quorum by one member.

        Raises:
            NotLeaderError: this node does not lead, or transfers its leadership.
            ChangeRefusedError: the change is not possible, or not now.
        """
        return self._leading(now_ms).change_members(change)

    def request_read(self, token: int, now_ms: int) -> None:
        """Request a read index, from which on a read sees everything committed now; `Effects.reads` answers.

        Raises:
            NotLeaderError: this node does not lead.
            QuorumBusyError: too many reads wait.
        """
        self._leading(now_ms).request_read(token)

    def transfer_leadership(self, now_ms: int) -> None:
        """Transfer the leadership to the voter with the longest log, if this node leads and there is one."""
        self._pass_time(now_ms)
        if self._leadership is not None and self._leadership.transfer is None:
            self._leadership.begin_transfer()

    def compacted(self, snapshot: SnapshotId) -> None:
        """A snapshot of applied entries is durable."""
        self._log.compact(snapshot, self._settings.compaction_slack_bytes)

    def snapshot_installed(
        self, snapshot: SnapshotId, configuration: Configuration, now_ms: int
    ) -> None:
        """The wanted snapshot has replaced the whole log."""
        self._pass_time(now_ms)
        self._following.end_fetch()
        self._log.install(snapshot, configuration)
        if self._state.leader_id != NOBODY:
            self._following.report(self._state.leader_id)

    def snapshot_failed(self, now_ms: int) -> None:
        """The wanted snapshot could not be read."""
        self._pass_time(now_ms)
        self._following.end_fetch()

    def take_effects(self) -> Effects:
        """The effects to perform now. To be called only after all previous effects are performed."""
        require(not self._persisting, "the effects before are not done")
        state = self._state
        if self._leadership is not None:
            state.outbox.extend(self._leadership.messages())
        persist = state.take_persist()
        reported, self._reported = self._reported, state.current_role
        role = None if self._reported == reported else self._reported
        effects = Effects(
            persist=persist,
            messages=() if self.outdated else tuple(state.outbox),
            committed=self._log.take_committed(self._settings.max_committed_bytes),
            reads=tuple(state.reads_ready),
            reads_lost=tuple(state.reads_lost),
            role=role,
            fetch_snapshot=self._following.take_wanted(),
        )
        self._persisting = persist is not None
        state.outbox.clear()
        state.reads_ready.clear()
        state.reads_lost.clear()
        return effects

    # --- rules

    @property
    def _settings(self) -> RaftSettings:
        return self._state.settings

    @property
    def _may_campaign(self) -> bool:
        """A node whose log is about to be replaced, or an old copy, must not become leader."""
        if self.outdated is not None:
            return False
        return self._state.may_campaign and not self._following.fetching

    def _pass_time(self, now_ms: int) -> None:
        """Advance the clock. A leader without contact to a majority resigns (check-quorum)."""
        self._state.now_ms = max(self._state.now_ms, now_ms)
        if self._leadership is not None and not self._leadership.has_quorum:
            self._resign()

    def _resign(self) -> None:
        if self._leadership is not None:
            self._state.reads_lost.extend(self._leadership.reads.lost())
            self._leadership = None
            self._state.role, self._state.leader_id = Role.FOLLOWER, NOBODY
            self._state.rearm()

    def _enter_term(self, message: RaftMessage) -> bool:
        """Compare terms (Raft 5.1); return whether the message is to be processed."""
        state = self._state
        if message.term < state.term:
            state.reject_stale(message)
            return False
        if message.term > state.term:
            if isinstance(message, VoteRequest) and state.has_live_leader and not message.transfer:
                return False
            # A pre-vote names a term that no node has entered yet.
            asked = isinstance(message, VoteRequest) and message.pre
            granted = isinstance(message, VoteResponse) and message.pre and message.granted
            if not asked and not granted:
                self._resign()
                state.enter_term(message.term)
        return True

    def _follow(self, message: AppendRequest | SnapshotOffer) -> None:
        if self._state.leader_id not in (NOBODY, message.source):
            return  # a term has one leader
        self._state.leader_contacted(message.source)
        if isinstance(message, SnapshotOffer):
            self._following.on_offer(message)
            return
        try:
            self._following.on_append(message)
        except MetadataFormatError:
            return  # its members cannot be read: no progress is better than different members

    def _start_election_if_pre_vote_won(self) -> None:
        if self._state.role is Role.PRE_CANDIDATE and self._elections.won:
            self._elections.start_election(transfer=False)

    def _lead_if_elected(self) -> None:
        if self._state.role is not Role.CANDIDATE or not self._elections.won:
            return
        self._state.role, self._state.leader_id = Role.LEADER, self._state.node_id
        self._leadership = LeaderState(self._state, self._encode_members)
        self._leadership.open(self._open_term, self._elections.votes)

    def _leading(self, now_ms: int) -> LeaderState:
        self._pass_time(now_ms)
        if self._leadership is None:
            raise NotLeaderError(self._state.leader_id)
        return self._leadership

    def _on_append_response(self, response: AppendResponse) -> None:
        if self._leadership is None:
            return
        self._leadership.on_response(response)
        self._advance_commit()

    def _advance_commit(self) -> None:
        """Commit what a majority has, if it is of this term: older entries are committed with it (Raft 5.4.2)."""
        leadership = self._leadership
        if leadership is None:
            return
        index = leadership.agreed_index
        if self._log.term_at(index) == self._state.term:
            self._log.commit_to(index)
        if self._state.is_voter or self._log.configuration_index > self._log.commit_index:
            leadership.serve_reads()
        else:
            self._leave(leadership)

    def _leave(self, leadership: LeaderState) -> None:
        """Our own removal is committed (thesis 4.2.2): inform the others, and start a leadership transfer."""
        leadership.begin_transfer()
        self._state.outbox.extend(leadership.messages())
        self._resign()
