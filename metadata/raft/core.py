"""Raft (Ongaro and Ousterhout's extended paper; Ongaro's thesis) as a value: calls in, `Effects` out. Pure.

Messages, time and the end of writes come in as calls; what must be written, sent, applied and
answered gathers until the driver takes it. All of one `Effects` happens in its documented order, so
nothing is said before what it rests on is durable.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

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
from headrace.metadata.raft.plausibility import is_plausible, is_strange
from headrace.metadata.raft.views import CoreViews
from headrace.metadata.records.entry import SnapshotId

if TYPE_CHECKING:
    from random import Random


class RaftCore(CoreViews):
    """One node of the quorum. Times are milliseconds of its own clock; only their differences count."""

    def __init__(  # noqa: PLR0913 - what a core is made of, by name
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
        """Begin as a follower.

        Args:
            settings: who we are, times and bounds.
            state: what the disk holds.
            initial: the members while neither snapshot nor log names any.
            members_of: the members that a payload names, if it does.
            encode_members: the payload that names members.
            open_term: the payload that opens a leader's term, of that term and the last index before it;
                0: it founds the log. Only the members' names may stand between.
            rng: spreads the times of elections.
            now_ms: the clock.
        """
        self._encode_members = encode_members
        self._open_term = open_term
        log = RaftLog(state, initial, members_of)
        super().__init__(log, NodeState(settings, log, state.hard_state, rng=rng, now_ms=now_ms))
        self._elections = Elections(self._state)
        self._following = Following(self._state)
        self._persisting = False
        self._reported = self._state.standing

    # --- inputs

    def tick(self, now_ms: int) -> None:
        """Let time pass. To be called at `next_tick_ms` or later."""
        self._pass_time(now_ms)
        if self._leadership is not None:
            self._leadership.tick()
            self._leadership.serve_reads()
        elif self._state.now_ms >= self._state.election_at_ms:
            self._state.leader_id = NOBODY
            if self._may_stand:
                self._elections.ask_around()
                self._stand_if_wanted()
            else:
                self._state.role = Role.FOLLOWER
                self._state.rearm()

    def step(self, message: RaftMessage, now_ms: int) -> None:
        """Take a message in. One that makes no sense, or comes from a stranger, is dropped."""
        self._pass_time(now_ms)
        if not is_plausible(message, self._state.node_id) or is_strange(
            message, self._log.configuration
        ):
            return
        if not self._enter_term(message):
            return
        match message:
            case VoteRequest():
                self._elections.on_request(message)
            case VoteResponse():
                self._elections.on_response(message)
                self._stand_if_wanted()
                self._lead_if_elected()
            case AppendRequest() | SnapshotOffer():
                self._follow(message)
            case AppendResponse():
                self._on_append_response(message)
            case TimeoutNow():
                if self._may_stand and message.source == self._state.leader_id:
                    self._elections.stand(transfer=True)

    def persisted(self, now_ms: int) -> None:
        """What the last effects had to persist is durable."""
        assert self._persisting, "nothing is being persisted"
        self._persisting = False
        self._log.saved()
        self._pass_time(now_ms)
        self._elections.on_durable()
        self._lead_if_elected()
        self._advance_commit()

    def propose(self, payloads: Sequence[bytes], now_ms: int) -> LogPosition:
        """Append entries; they are committed when an entry of this term commits at that index.

        Raises:
            NotLeaderError: this node does not lead, or is handing over.
            QuorumBusyError: too much is uncommitted.
        """
        return self._leading(now_ms).propose(payloads)

    def change_members(self, change: MemberChange, now_ms: int) -> LogPosition:
        """Change the quorum by one member.

        Raises:
            NotLeaderError: this node does not lead, or is handing over.
            ChangeRefusedError: not so, or not now.
        """
        return self._leading(now_ms).change_members(change)

    def request_read(self, token: int, now_ms: int) -> None:
        """Ask from which index on a read sees all that is committed now; `Effects.reads` answers.

        Raises:
            NotLeaderError: this node does not lead.
            QuorumBusyError: too many reads wait.
        """
        self._leading(now_ms).request_read(token)

    def transfer_leadership(self, now_ms: int) -> None:
        """Hand over to the voter that has most of the log, if this node leads and there is one."""
        self._pass_time(now_ms)
        if self._leadership is not None and self._leadership.transfer is None:
            self._leadership.begin_transfer()

    def compacted(self, snapshot: SnapshotId) -> None:
        """A snapshot of entries that have been handed over is durable."""
        self._log.compact(snapshot, self._settings.compaction_slack_bytes)

    def snapshot_installed(
        self, snapshot: SnapshotId, configuration: Configuration, now_ms: int
    ) -> None:
        """The snapshot that was wanted stands in place of the whole log."""
        self._pass_time(now_ms)
        self._following.end_fetch()
        self._log.install(snapshot, configuration)
        if self._state.leader_id != NOBODY:
            self._following.report(self._state.leader_id)

    def snapshot_failed(self, now_ms: int) -> None:
        """The snapshot that was wanted could not be read."""
        self._pass_time(now_ms)
        self._following.end_fetch()

    def take_effects(self) -> Effects:
        """What is to be done now. Only when all of the effects before has been done."""
        assert not self._persisting, "the effects before are not done"
        state = self._state
        if self._leadership is not None:
            state.outbox.extend(self._leadership.messages())
        persist = state.take_persist()
        role = None if state.standing == self._reported else state.standing
        self._reported = state.standing
        effects = Effects(
            persist=persist,
            messages=tuple(state.outbox),
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
    def _may_stand(self) -> bool:
        """A log that is about to be replaced must not become a leader's."""
        return self._state.may_stand and not self._following.fetching

    def _pass_time(self, now_ms: int) -> None:
        """The clock moves on; a leader that has not heard of a majority for long leads no more."""
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
        """Compare terms (Raft 5.1); returns whether the message still counts."""
        state = self._state
        if message.term < state.term:
            state.correct(message)
            return False
        if message.term > state.term:
            if isinstance(message, VoteRequest) and state.hears_leader and not message.transfer:
                return False
            # A pre-vote speaks of a term that nobody has entered yet.
            asked = isinstance(message, VoteRequest) and message.pre
            granted = isinstance(message, VoteResponse) and message.pre and message.granted
            if not asked and not granted:
                self._resign()
                state.adopt(message.term)
        return True

    def _follow(self, message: AppendRequest | SnapshotOffer) -> None:
        if self._state.leader_id not in (NOBODY, message.source):
            return  # a term has one leader
        self._state.hear(message.source)
        if isinstance(message, SnapshotOffer):
            self._following.on_offer(message)
            return
        try:
            self._following.on_append(message)
        except MetadataFormatError:
            return  # its members cannot be read: better no progress than members that differ

    def _stand_if_wanted(self) -> None:
        if self._state.role is Role.PRE_CANDIDATE and self._elections.won:
            self._elections.stand(transfer=False)

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
        """Commit what a majority has, if it is of this term: older entries follow it (Raft 5.4.2)."""
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
        """Our own removal is committed (thesis 4.2.2): tell the others, and the best to take over."""
        leadership.begin_transfer()
        self._state.outbox.extend(leadership.messages())
        self._resign()
