"""Turns proposals into committed entries: decide, replicate, answer.

Proposals are decided one after the other, each on the image that the previous one leaves. A group
of them is replicated at once. Nothing of a group is visible before the quorum has committed it:
neither image, nor entries, nor answers. A group that changes nothing is answered after a round of
the quorum has confirmed that this node led when it decided, on the newest image.

| the node stops leading            | the proposal is answered with                                 |
|-----------------------------------|---------------------------------------------------------------|
| before its group was written      | NOT_CONTROLLER: it has not taken effect                       |
| after, and it makes no entry      | the same                                                      |
| after, and it makes an entry      | a time-out: unknown whether the next leader has the entry      |
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from headrace.metadata.controller.decision import Decision, DecisionSteps, Inputs
from headrace.metadata.errors import ControllerUnavailableError, LeadershipLostError, RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.levels import encode_at_level, level_of
from headrace.metadata.log.entry_format import MAX_PAYLOAD_BYTES
from headrace.metadata.records.entry import LogEntry
from headrace.metadata.replay import replay_steps
from headrace.metadata.rpc.responses import Response
from headrace.protocol.errors import ErrorCode
from headrace.steps import Steps
from headrace.turns import Work, turns_of

MAX_PROPOSALS: Final = 10_000  # waiting; beyond that they are refused
MAX_GROUP_PROPOSALS: Final = 1_000
MAX_GROUP_BYTES: Final = 16 << 20
NOT_LEADING: Final = "this node no longer leads the quorum"

Decide = Callable[[MetadataImage, Inputs], Decision | DecisionSteps]


class Committed(NamedTuple):
    """An answer that may be given."""

    response: Response
    log_index: int  # the entry that it depends on


_Outcome = Committed | RefusedError


class ReplicatedLog(Protocol):
    """What the committer needs of the quorum; see `QuorumNode`."""

    async def image_at_end(self) -> MetadataImage:
        """Wait until all that is in the log at the call is committed; return that image or a later one."""
        ...

    async def replicate(
        self, entries: Sequence[LogEntry], images: Mapping[int, MetadataImage]
    ) -> bool:
        """Return when the entries are committed; False when they do not follow the log's end."""
        ...

    async def confirm_leadership(self) -> None:
        """Return once it is proven that this node led after the call, or refuse with NOT_CONTROLLER."""
        ...


class _Proposal(NamedTuple):
    decide: Decide
    answer: asyncio.Future[Committed]


class _Group:
    """Proposals that are decided together, and what was decided."""

    def __init__(self, image: MetadataImage) -> None:
        self.image = image
        self.proposals: list[_Proposal] = []
        self.outcomes: list[_Outcome] = []
        self.entries: list[LogEntry] = []
        self.images: dict[int, MetadataImage] = {}
        self.changing: set[int] = set()  # positions of the proposals that make an entry
        self.payload_bytes = 0
        self.written = False

    def decide(self, proposal: _Proposal, inputs: Inputs) -> Steps[None]:
        """Decide on one more, in steps; nothing else may change the group meanwhile."""
        self.proposals.append(proposal)
        try:
            decision = proposal.decide(self.image, inputs)
            if not isinstance(decision, Decision):
                decision = yield from decision
            yield
            entry = _entry(decision, self.image)
        except RefusedError as error:
            # Its frames have this group, and the group would have it: a cycle, with a whole image.
            self.outcomes.append(error.with_traceback(None))
            return
        if entry is not None:
            yield
            self.image = yield from replay_steps(
                self.image, decision.records, index=entry.index, term=entry.term
            )
            self.images[entry.index] = self.image
            self.entries.append(entry)
            self.changing.add(len(self.outcomes))
            self.payload_bytes += len(entry.payload)
        self.outcomes.append(Committed(decision.response, self.image.index))

    def may_take_effect(self, position: int) -> bool:
        """Whether a later leader may have this proposal's entry; True too if it is not decided yet."""
        return position >= len(self.outcomes) or (self.written and position in self.changing)


class Committer:
    """The only code that makes entries. Proposals progress only while `run` runs."""

    def __init__(self, log: ReplicatedLog, *, inputs: Callable[[], Inputs]) -> None:
        self._log = log
        self._inputs = inputs
        self._proposals: deque[_Proposal] = deque()
        self._work = asyncio.Event()
        self._stopped = False

    async def propose(self, decide: Decide) -> Committed:
        """Make a decision on the newest image; return when its records are committed.

        Raises:
            RefusedError: the decision is a refusal, there are too many proposals, or (then with
                NOT_CONTROLLER) this node is no longer the leader. Nothing has changed.
            ControllerUnavailableError: it lost the leadership meanwhile. The outcome is unknown.

        Cancellation: the proposal may still be decided and committed.
        """
        if self._stopped:
            raise RefusedError(ErrorCode.NOT_CONTROLLER, NOT_LEADING)
        if len(self._proposals) >= MAX_PROPOSALS:
            raise RefusedError(
                ErrorCode.THROTTLING_QUOTA_EXCEEDED,
                f"the controller is overloaded: {MAX_PROPOSALS} requests are waiting",
            )
        proposal = _Proposal(decide, asyncio.get_running_loop().create_future())
        self._proposals.append(proposal)
        self._work.set()
        try:
            return await proposal.answer
        finally:
            del proposal  # a refusal has this frame, and the proposal has the refusal

    def stop(self) -> None:
        """Refuse what waits and all that follows: it was not written. `run` answers the rest."""
        self._stopped = True
        for proposal in self._proposals:
            _refuse(proposal, RefusedError(ErrorCode.NOT_CONTROLLER, NOT_LEADING))
        self._proposals.clear()

    async def run(self) -> None:
        """Commit proposals until cancelled, at the latest when this node loses the leadership."""
        group: _Group | None = None
        try:
            while True:
                await self._work.wait()
                group = _Group(await self._log.image_at_end())
                await self._decide(group)
                await self._commit(group)
                if not self._proposals:
                    self._work.clear()
        except LeadershipLostError:
            pass  # the callers that wait get their answers below
        finally:
            self._stop(group)

    async def _decide(self, group: _Group) -> None:
        turns = turns_of(Work.METADATA)
        while (
            self._proposals
            and len(group.proposals) < MAX_GROUP_PROPOSALS
            and group.payload_bytes < MAX_GROUP_BYTES
        ):
            proposal = self._proposals.popleft()
            if proposal.answer.done():
                continue
            await turns.run(group.decide(proposal, self._inputs()))
            await turns.pause()

    async def _commit(self, group: _Group) -> None:
        """Commit the group, or confirm the leadership if there is nothing to commit, and answer."""
        try:
            if group.entries:
                group.written = True
                if not await self._log.replicate(group.entries, group.images):
                    # An entry about the members was appended first: decide again after it.
                    self._proposals.extendleft(reversed(group.proposals))
                    group.proposals.clear()
                    return
            elif group.proposals:
                await self._log.confirm_leadership()
        except RefusedError as error:
            group.outcomes = [error] * len(group.proposals)
        for proposal, outcome in zip(group.proposals, group.outcomes, strict=True):
            if isinstance(outcome, RefusedError):
                _refuse(proposal, outcome)
            elif not proposal.answer.done():
                proposal.answer.set_result(outcome)

    def _stop(self, group: _Group | None) -> None:
        """Answer all callers: the next leader may commit what was written, and nothing else."""
        for position, proposal in enumerate(group.proposals if group else ()):
            if group and group.may_take_effect(position):
                reason = "the controller stopped during the commit: the outcome is unknown"
                _refuse(proposal, ControllerUnavailableError(reason))
            else:
                _refuse(proposal, RefusedError(ErrorCode.NOT_CONTROLLER, NOT_LEADING))
        self.stop()


def _entry(decision: Decision, image: MetadataImage) -> LogEntry | None:
    if not decision.records:
        return None
    payload = encode_at_level(decision.records, level_of(image.features))
    if len(payload) > MAX_PAYLOAD_BYTES:
        raise RefusedError(
            ErrorCode.RECORD_LIST_TOO_LARGE,
            f"the request needs a log entry of {len(payload)} bytes, at most {MAX_PAYLOAD_BYTES} are allowed",
        )
    return LogEntry(image.index + 1, image.term, payload)


def _refuse(proposal: _Proposal, error: Exception) -> None:
    if not proposal.answer.done():  # else the caller was cancelled
        proposal.answer.set_exception(error)
