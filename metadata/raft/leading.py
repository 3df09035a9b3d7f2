"""A node as a leader: what it knows of the others, what it sends them, what they have agreed to. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from metadata.raft.following import NO_TERM
from metadata.raft.messages import (
    AppendRequest,
    AppendResponse,
    RaftMessage,
    SnapshotOffer,
    TimeoutNow,
)
from metadata.raft.node_state import NodeState
from metadata.raft.progress import Feeding, Progress, ProgressView
from metadata.raft.reads import ReadQueue, Rounds


@dataclass(slots=True)
class Transfer:
    """Leadership is being handed over."""

    target: int
    until_ms: int  # then we go on ourselves
    told: bool = False


class Leadership:
    """One term of one leader. It serves once the entry that opens the term is committed."""

    def __init__(self, state: NodeState) -> None:
        self._state = state
        self.opening_index = self._first_index = state.log.last_index + 1
        self.reads = ReadQueue()
        self.transfer: Transfer | None = None
        self.heartbeat_at_ms = state.now_ms
        self._rounds = Rounds()
        self._since_ms = state.now_ms
        self._progress: dict[int, Progress] = {}
        self.follow_configuration()

    @property
    def silence_ms_max(self) -> int:
        """So long after the last answer each follower has begun to look for another leader."""
        return 2 * self._state.settings.election_timeout_ms

    @property
    def serving(self) -> bool:
        """Whether all that was committed before this term is known to be (Raft 5.4.2, 8)."""
        return self._state.log.commit_index >= self.opening_index

    def views(self) -> Mapping[int, ProgressView]:
        """All members' progress, ours included, by node id."""
        state = self._state
        own = ProgressView(state.log.durable_index, state.now_ms, state.now_ms)
        return {state.node_id: own, **{it: known.view for it, known in self._progress.items()}}

    def follow_configuration(self) -> None:
        """Feed exactly the other members."""
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

    # --- what the others have agreed to

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
        """A majority has all up to here, durably; we are one of it once it is durable here."""
        matched = {it: known.match_index for it, known in self._progress.items()}
        return self._of_majority(self._state.log.durable_index, matched)

    @property
    def has_quorum(self) -> bool:
        """Whether a majority answered messages that were sent not long ago.

        What counts is when they were sent: answers that waited while this process did not run say
        nothing of who leads now.
        """
        contact = {it: known.contact_ms for it, known in self._progress.items()}
        now_ms = self._state.now_ms
        return now_ms - self._of_majority(now_ms, contact) <= self.silence_ms_max

    def on_response(self, response: AppendResponse) -> None:
        """Learn from an answer of a member to a message of this term."""
        log, known = self._state.log, self._progress[response.source]
        if response.round > self._rounds.newest:
            return
        known.answered(response.round, self._rounds.began_ms(response.round))
        if response.success:
            if response.match_index > log.last_index:
                return
            known.agreed(response.match_index)
            known.note_caught_up(log.last_index, self._state.now_ms)
        elif not response.fetching_snapshot:
            known.parted(response.match_index, self._next_try(response))

    def _next_try(self, refusal: AppendResponse) -> int:
        """Where the logs may agree at the latest, one further (Raft 5.3, with the follower's hint)."""
        if refusal.conflict_term == NO_TERM:
            return refusal.conflict_index
        log = self._state.log
        ours = log.last_index_up_to_term(refusal.conflict_term, refusal.match_index)
        if log.term_at(ours) == refusal.conflict_term:
            return ours + 1
        return min(ours + 1, refusal.conflict_index)

    def has_caught_up(self, node_id: int) -> bool:
        """Whether a member lately had all that we had."""
        caught_up_ms = self._progress[node_id].caught_up_ms
        if caught_up_ms is None:
            return False
        return self._state.now_ms - caught_up_ms <= self._state.settings.election_timeout_ms

    # --- time and reads

    def tick(self) -> None:
        """Begin a heartbeat if it is time; give up a transfer that took too long."""
        if self._state.now_ms >= self.heartbeat_at_ms:
            self._begin_round()
        if self.transfer is not None and self._state.now_ms >= self.transfer.until_ms:
            self.transfer = None

    def _begin_round(self) -> int:
        state = self._state
        for known in self._progress.values():
            known.heartbeat_due = True
        self.heartbeat_at_ms = state.now_ms + state.settings.heartbeat_interval_ms
        return self._rounds.begin(state.now_ms, self.silence_ms_max)

    def serve_reads(self) -> None:
        """Answer the reads whose round is over, and begin one for those that wait, if we serve."""
        if not self.serving:
            return
        self._confirm_reads()
        if self.reads.wants_round:
            self.reads.begin(self._begin_round(), self._state.log.commit_index)
            self._confirm_reads()  # perhaps nobody else counts

    def _confirm_reads(self) -> None:
        answered = {it: known.answered_round for it, known in self._progress.items()}
        round_ = self._of_majority(self._rounds.newest, answered)
        self._state.reads_ready.extend(self.reads.confirmed(round_))

    # --- what to send

    def begin_transfer(self) -> None:
        """Choose the voter that has most of the log, and hand over once it has all."""
        state = self._state
        voters = [it for it in state.log.configuration.voters if it in self._progress]
        if voters:
            target = max(voters, key=lambda it: (self._progress[it].view, -it))
            until_ms = state.now_ms + state.settings.election_timeout_ms
            self.transfer = Transfer(target, until_ms)

    def messages(self) -> list[RaftMessage]:
        """All that may be sent now, taken as sent."""
        sent: list[RaftMessage] = []
        for node_id, known in self._progress.items():
            if known.next_index < self._state.log.first_index:
                known.await_snapshot()
            if known.feeding is Feeding.SNAPSHOT:
                if known.heartbeat_due:
                    sent.append(self._offer(node_id))
            elif known.feeding is Feeding.PROBE:
                sent.extend(self._probe(node_id, known))
            else:
                sent.extend(self._replicate(node_id, known))
            known.heartbeat_due = False
        sent.extend(self._hand_over())
        return sent

    def _hand_over(self) -> list[RaftMessage]:
        transfer, last_index = self.transfer, self._state.log.last_index
        if transfer is None or transfer.told:
            return []
        transfer.told = self._progress[transfer.target].match_index == last_index
        return [TimeoutNow(**self._state.envelope(transfer.target))] if transfer.told else []

    def _probe(self, node_id: int, known: Progress) -> list[RaftMessage]:
        if known.asked:
            return [self._append(node_id, known, bytes_max=None)] if known.heartbeat_due else []
        known.asked = True
        return [self._append(node_id, known, self._state.settings.append_bytes_max)]

    def _replicate(self, node_id: int, known: Progress) -> list[RaftMessage]:
        settings, last_index = self._state.settings, self._state.log.last_index
        sent: list[RaftMessage] = []
        while (
            known.next_index <= last_index and len(known.inflight) < settings.appends_inflight_max
        ):
            request = self._append(node_id, known, settings.append_bytes_max)
            known.next_index += len(request.entries)
            known.inflight.append(known.next_index - 1)
            sent.append(request)
        news = known.heartbeat_due or known.sent_commit_index < self._state.log.commit_index
        if news and not sent:
            sent.append(self._append(node_id, known, bytes_max=None))
        return sent

    def _append(self, node_id: int, known: Progress, bytes_max: int | None) -> AppendRequest:
        log = self._state.log
        previous_index = known.next_index - 1
        previous_term = log.term_at(previous_index)
        assert previous_term is not None, "what is forgotten is offered as a snapshot"
        known.sent_commit_index = log.commit_index
        return AppendRequest(
            **self._state.envelope(node_id),
            previous_index=previous_index,
            previous_term=previous_term,
            entries=() if bytes_max is None else log.slice(known.next_index, bytes_max),
            commit_index=log.commit_index,
            round=self._rounds.newest,
        )

    def _offer(self, node_id: int) -> SnapshotOffer:
        snapshot = self._state.log.snapshot
        return SnapshotOffer(
            **self._state.envelope(node_id),
            snapshot_index=snapshot.index,
            snapshot_term=snapshot.term,
            round=self._rounds.newest,
        )
