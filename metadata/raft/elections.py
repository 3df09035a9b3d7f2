"""Elections: requesting, granting and counting votes (Raft 5.2, 5.4.1; thesis 9.6). Pure."""

from collections.abc import Mapping
from uuid import UUID

from headrace.metadata.raft.effects import Role
from headrace.metadata.raft.messages import VoteRequest, VoteResponse
from headrace.metadata.raft.node_state import NodeState
from headrace.metadata.records.members import NO_DIRECTORY


class Elections:
    """A node as a voter and as a candidate."""

    def __init__(self, state: NodeState) -> None:
        self._state = state
        self._votes: dict[int, UUID] = {}

    @property
    def votes(self) -> Mapping[int, UUID]:
        """The nodes that voted for us in the current election or the one just won, with their directory ids."""
        return self._votes

    @property
    def won(self) -> bool:
        """Whether the votes are a majority. They must include our own, even if we are not a voter."""
        votes = self._votes
        return self._state.node_id in votes and self._state.log.configuration.has_majority(votes)

    def start_pre_vote(self) -> None:
        """Start a pre-vote, which changes no term: a node that cannot win disturbs no leader."""
        state = self._state
        state.rearm()
        state.role = Role.PRE_CANDIDATE
        self._votes = {state.node_id: state.directory_id}
        self._request(pre=True, transfer=False)

    def start_election(self, *, transfer: bool) -> None:
        """Enter the next term as a candidate. Our own vote counts once it is durable; request the others'."""
        state = self._state
        state.enter_term(state.term + 1)
        state.rearm()
        state.role = Role.CANDIDATE
        state.voted_for = state.node_id
        self._votes = {}
        self._request(pre=False, transfer=transfer)

    def on_durable(self) -> None:
        """A write has completed: our own vote may be durable now."""
        state = self._state
        if state.role is Role.CANDIDATE and state.saved_hard_state == state.hard_state:
            self._votes[state.node_id] = state.directory_id

    def _request(self, *, pre: bool, transfer: bool) -> None:
        state = self._state
        for member in state.log.configuration.members:
            if member.voter and member.node_id != state.node_id:
                state.outbox.append(
                    VoteRequest(
                        **state.envelope(member.node_id, state.term + 1 if pre else None),
                        pre=pre,
                        last_index=state.log.last_index,
                        last_term=state.log.last_term,
                        target_directory=member.directory_id,
                        transfer=transfer,
                        disks=state.disks_to_tell,
                    )
                )

    def on_request(self, request: VoteRequest) -> None:
        """Grant or refuse a vote. The request is of our term, or a pre-vote for our term or a later one."""
        state = self._state
        granted = self._grants(request)
        if granted and not request.pre:
            state.voted_for = request.source
            state.rearm()
        term = request.term if granted else state.term
        state.outbox.append(
            VoteResponse(
                **state.envelope(request.source, term),
                pre=request.pre,
                granted=granted,
                disks=state.disks_to_tell,
            )
        )

    def _grants(self, request: VoteRequest) -> bool:
        state, log = self._state, self._state.log
        if request.target_directory not in (NO_DIRECTORY, state.directory_id):
            return False  # it is for this node before it lost its disk
        named = request.target_directory == state.directory_id
        if log.last_index == 0 and request.last_index > 0 and not named:
            # This node may have had a log, have voted, and have lost the disk with both.
            return False
        later = request.pre and request.term > state.term
        if not later and not state.may_vote_for(request.source):
            return False
        return (request.last_term, request.last_index) >= (log.last_term, log.last_index)

    def on_response(self, response: VoteResponse) -> None:
        """Count a vote, if it belongs to the current election or pre-vote."""
        state = self._state
        asked_term = state.term + 1 if response.pre else state.term
        asking = state.role is (Role.PRE_CANDIDATE if response.pre else Role.CANDIDATE)
        if asking and response.granted and response.term == asked_term:
            self._votes[response.source] = response.source_directory
