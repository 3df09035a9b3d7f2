"""A node as a leader: progress of the members, messages to them, and the agreed index. Pure."""

from collections.abc import Callable, Mapping, Sequence
from uuid import UUID

import msgspec

from headrace.metadata.raft.changes import MemberChange, Promote, changed, with_directories
from headrace.metadata.raft.configuration import Configuration
from headrace.metadata.raft.effects import NOBODY
from headrace.metadata.raft.errors import ChangeRefusedError, NotLeaderError, QuorumBusyError
from headrace.metadata.raft.following import NO_TERM
from headrace.metadata.raft.log import LogPosition
from headrace.metadata.raft.messages import (
    AppendResponse,
    RaftMessage,
    TimeoutNow,
)
from headrace.metadata.raft.node_state import NodeState
from headrace.metadata.raft.progress import Progress, ProgressView
from headrace.metadata.raft.reads import ReadQueue, Rounds
from headrace.metadata.raft.sending import messages_to
from headrace.metadata.records.members import Member

EncodeMembers = Callable[[Sequence[Member]], bytes]
OpenTerm = Callable[[int, int], bytes]


class Transfer(msgspec.Struct):
    """A leadership transfer that is in progress."""

    target: int
    until_ms: int  # then the transfer is cancelled, and this node keeps leading
    timeout_now_sent: bool = False


class LeaderState:
    """One term of one leader. It serves once the first entry of its term is committed."""

    def __init__(self, state: NodeState, encode_members: EncodeMembers) -> None:
        self._state = state
        self._encode_members = encode_members
        self.opening_index = self._first_index = state.log.last_index + 1
        self.reads = ReadQueue()
        self.transfer: Transfer | None = None
        self.heartbeat_at_ms = state.now_ms
        self._rounds = Rounds()
        self._progress: dict[int, Progress] = {}
        self._follow_configuration()

    @property
    def max_silence_ms(self) -> int:
        """Time without answers after which every follower has started an election (check-quorum)."""
        return 2 * self._state.settings.election_timeout_ms

    @property
    def serving(self) -> bool:
        """Whether everything committed before this term is known to be committed (Raft 5.4.2, 8)."""
        return self._state.log.commit_index >= self.opening_index

    def views(self) -> Mapping[int, ProgressView]:
        """Progress of all members, including this node, by node id."""
        state = self._state
        own = ProgressView(state.log.durable_index, state.now_ms, state.now_ms)
        return {state.node_id: own, **{it: known.view for it, known in self._progress.items()}}

    # --- new entries

    def open(self, open_term: OpenTerm, votes: Mapping[int, UUID]) -> None:
        """Begin the term.

        The entry with the members comes first: a log with any entry names those who elected its
        founder. A member with an empty log votes only for a log that names it.
        """
        last_index = self._state.log.last_index
        self._record_directories(votes)
        self.opening_index = self._append([open_term(self._state.term, last_index)]).index
        self.tick()

    def propose(self, payloads: Sequence[bytes]) -> LogPosition:
        """See `RaftCore.propose`."""
        self._refuse_while_handing_over()
        pending_bytes = self._state.log.uncommitted_bytes
        proposed_bytes = sum(len(payload) for payload in payloads)
        max_bytes = self._state.settings.max_uncommitted_bytes
        if pending_bytes and pending_bytes + proposed_bytes > max_bytes:
            raise QuorumBusyError(f"{pending_bytes} bytes of metadata are waiting to be committed")
        return self._append(payloads)

    def change_members(self, change: MemberChange) -> LogPosition:
        """See `RaftCore.change_members`."""
        self._refuse_while_handing_over()
        log = self._state.log
        if not self.serving:
            raise ChangeRefusedError("the leader has not committed an entry of its term yet")
        if log.configuration_index > log.commit_index:
            raise ChangeRefusedError("another change of the members is not committed yet")
        configuration = changed(log.configuration, change)
        if isinstance(change, Promote) and not self._has_caught_up(change.node_id):
            raise ChangeRefusedError(f"node {change.node_id} has not caught up with the log")
        return self._append_configuration(configuration)

    def _refuse_while_handing_over(self) -> None:
        if self.transfer is not None:
            raise NotLeaderError(NOBODY)

    def _record_directories(self, directory_ids: Mapping[int, UUID]) -> None:
        """Record directory ids of members that have none yet, and the members if no entry names them.

        The voters stay the same, so this need not wait for other changes. From then on no other
        directory is accepted for these members.
        """
        log = self._state.log
        configuration = with_directories(log.configuration, directory_ids)
        if log.configuration_index == 0 or configuration != log.configuration:
            self._append_configuration(configuration)

    def _append(self, payloads: Sequence[bytes]) -> LogPosition:
        self._state.log.append(self._state.term, payloads)
        return LogPosition(self._state.log.last_index, self._state.term)

    def _append_configuration(self, configuration: Configuration) -> LogPosition:
        position = self._append([self._encode_members(configuration.members)])
        self._follow_configuration()
        return position

    def _follow_configuration(self) -> None:
        """Replicate to exactly the other members."""
        state = self._state
        members = [it.node_id for it in state.log.configuration.members]
        for node_id in self._progress.keys() - set(members):
            del self._progress[node_id]
        for node_id in members:
            if node_id != state.node_id and node_id not in self._progress:
                self._progress[node_id] = Progress(
                    self._first_index, last_index=state.log.last_index, now_ms=state.now_ms
                )
        if self.transfer is not None and self.transfer.target not in self._progress:
            self.transfer = None

    # --- answers of the members

    def _of_majority(self, own: int, others: Mapping[int, int]) -> int:
        """The largest value that a majority of the voters has reached."""
        state = self._state
        configuration = state.log.configuration
        reached = sorted((others[it] for it in configuration.voters if it in others), reverse=True)
        if state.is_voter:
            reached = sorted([own, *reached], reverse=True)
        return reached[configuration.majority - 1] if configuration.voters else 0

    @property
    def agreed_index(self) -> int:
        """A majority has everything up to here, durably; this node counts once its own write is durable."""
        matched = {it: known.match_index for it, known in self._progress.items()}
        return self._of_majority(self._state.log.durable_index, matched)

    @property
    def has_quorum(self) -> bool:
        """Whether a majority answered recently sent messages (check-quorum).

        The time of sending counts: answers that waited while this process was stopped do not prove
        that it still leads.
        """
        contact = {it: known.contact_ms for it, known in self._progress.items()}
        now_ms = self._state.now_ms
        return now_ms - self._of_majority(now_ms, contact) <= self.max_silence_ms

    def on_response(self, response: AppendResponse) -> None:
        """Process a member's answer to a message of this term."""
        log, known = self._state.log, self._progress[response.source]
        self._record_directories({response.source: response.source_directory})
        if response.round > self._rounds.newest:
            return
        known.answered(response.round, self._rounds.began_ms(response.round))
        if response.success:
            if response.match_index > log.last_index:
                return
            known.agreed(response.match_index)
            known.note_caught_up(log.last_index, self._state.now_ms)
        elif not response.fetching_snapshot:
            known.rejected(response.match_index, self._next_try(response))

    def _next_try(self, refusal: AppendResponse) -> int:
        """The next index to try: one above the last that may match (Raft 5.3, with the follower's hint)."""
        if refusal.conflict_term == NO_TERM:
            return refusal.conflict_index
        log = self._state.log
        ours = log.last_index_up_to_term(refusal.conflict_term, refusal.match_index)
        if log.term_at(ours) == refusal.conflict_term:
            return ours + 1
        return min(ours + 1, refusal.conflict_index)

    def _has_caught_up(self, node_id: int) -> bool:
        """Whether a member recently had all entries of this node."""
        caught_up_ms = self._progress[node_id].caught_up_ms
        if caught_up_ms is None:
            return False
        return self._state.now_ms - caught_up_ms <= self._state.settings.election_timeout_ms

    # --- time and reads

    def tick(self) -> None:
        """Begin a heartbeat if it is due; cancel a leadership transfer that took too long."""
        if self._state.now_ms >= self.heartbeat_at_ms:
            self._begin_round()
        if self.transfer is not None and self._state.now_ms >= self.transfer.until_ms:
            self.transfer = None

    def _begin_round(self) -> int:
        state = self._state
        for known in self._progress.values():
            known.heartbeat_due = True
        self._note_disks()
        self.heartbeat_at_ms = state.now_ms + state.settings.heartbeat_interval_ms
        return self._rounds.begin(state.now_ms, self.max_silence_ms)

    def _note_disks(self) -> None:
        """Note which committed entries each directory holds; the heartbeat carries it."""
        log, disks = self._state.log, self._state.disks
        disks.kept(self._state.directory_id, min(log.durable_index, log.commit_index))
        for member in log.configuration.members:
            known = self._progress.get(member.node_id)
            if known is not None:
                disks.kept(member.directory_id, min(known.match_index, log.commit_index))

    def request_read(self, token: int) -> None:
        """See `RaftCore.request_read`."""
        if len(self.reads) >= self._state.settings.max_reads_pending:
            raise QuorumBusyError(f"{len(self.reads)} reads are waiting for the quorum")
        self.reads.add(token)
        self.serve_reads()

    def serve_reads(self) -> None:
        """Answer the reads whose round is complete, and begin a round for waiting ones, if serving."""
        if not self.serving:
            return
        self._confirm_reads()
        if self.reads.wants_round:
            self.reads.begin(self._begin_round(), self._state.log.commit_index)
            self._confirm_reads()  # this node may be the only voter

    def _confirm_reads(self) -> None:
        answered = {it: known.answered_round for it, known in self._progress.items()}
        round_ = self._of_majority(self._rounds.newest, answered)
        self._state.reads_ready.extend(self.reads.confirmed(round_))

    # --- messages to send

    def begin_transfer(self) -> None:
        """Choose the voter with the longest log, and transfer the leadership once it has all entries."""
        state = self._state
        voters = [it for it in state.log.configuration.voters if it in self._progress]
        if voters:
            target = max(voters, key=lambda it: (self._progress[it].view, -it))
            until_ms = state.now_ms + state.settings.election_timeout_ms
            self.transfer = Transfer(target, until_ms)

    def messages(self) -> list[RaftMessage]:
        """All messages that may be sent now; they count as sent."""
        sent: list[RaftMessage] = []
        for node_id, known in self._progress.items():
            sent.extend(messages_to(self._state, node_id, known, self._rounds.newest))
        sent.extend(self._hand_over())
        return sent

    def _hand_over(self) -> list[RaftMessage]:
        transfer, last_index = self.transfer, self._state.log.last_index
        if transfer is None or transfer.timeout_now_sent:
            return []
        transfer.timeout_now_sent = self._progress[transfer.target].match_index == last_index
        return (
            [TimeoutNow(**self._state.envelope(transfer.target))]
            if transfer.timeout_now_sent
            else []
        )
