"""Turns proposals into committed entries: decide, make durable, publish, answer.

Proposals are decided one after the other, each on the image that the one before leaves, and a group
of them is made durable by one write. Until that write has returned nothing of it shows: neither
image, nor entries, nor answers.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

from metadata.controller.decision import Decision, Inputs
from metadata.entry_buffer import EntryBuffer
from metadata.errors import ControllerUnavailableError, RefusedError
from metadata.image import MetadataImage
from metadata.log.entry_format import PAYLOAD_BYTES_MAX
from metadata.log.store import LogStore
from metadata.records.codec import encode_records
from metadata.records.entry import LogEntry
from metadata.replay import replay
from metadata.rpc.responses import Response
from protocol.errors import ErrorCode

PROPOSALS_MAX: Final = 10_000  # waiting; beyond, they are refused as too many
GROUP_PROPOSALS_MAX: Final = 1_000
GROUP_BYTES_MAX: Final = 16 << 20
LOOP_SLICE_S: Final = 0.005  # deciding goes on for so long before others get their turn

Decide = Callable[[MetadataImage, Inputs], Decision]


class Committed(NamedTuple):
    """An answer that may be given."""

    response: Response
    log_index: int  # what it rests on


_Outcome = Committed | RefusedError


class _Proposal(NamedTuple):
    decide: Decide
    answer: asyncio.Future[Committed]


class Committer:
    """The one place where entries are made. `run` must be running for proposals to get on."""

    def __init__(
        self,
        store: LogStore,
        entries: EntryBuffer,
        image: MetadataImage,
        *,
        inputs: Callable[[], Inputs],
        on_commit: Callable[[MetadataImage, MetadataImage], None],
    ) -> None:
        self._store = store
        self._entries = entries
        self._image = image
        self._inputs = inputs
        self._on_commit = on_commit
        self._proposals: deque[_Proposal] = deque()
        self._work = asyncio.Event()
        self._stopped = False

    @property
    def image(self) -> MetadataImage:
        """The image at the last committed entry."""
        return self._image

    async def propose(self, decide: Decide) -> Committed:
        """Have a decision made on the newest image; return when its records are committed.

        Raises:
            RefusedError: the decision is a refusal, there are too many proposals, or (then with
                NOT_CONTROLLER) the controller is stopping. Nothing has changed.
            ControllerUnavailableError: the controller stopped meanwhile. The outcome is unknown.

        Cancellation: the proposal may still be decided and committed.
        """
        if self._stopped:
            raise RefusedError(ErrorCode.NOT_CONTROLLER, "the controller is stopping")
        if len(self._proposals) >= PROPOSALS_MAX:
            raise RefusedError(
                ErrorCode.THROTTLING_QUOTA_EXCEEDED,
                f"{PROPOSALS_MAX} requests are waiting for the controller",
            )
        proposal = _Proposal(decide, asyncio.get_running_loop().create_future())
        self._proposals.append(proposal)
        self._work.set()
        return await proposal.answer

    async def run(self) -> None:
        """Commit proposals until cancelled.

        Raises:
            MetadataLogFailedError: the log accepts nothing any more.
        """
        group: list[_Proposal] = []
        try:
            while True:
                await self._work.wait()
                group = []
                await self._commit_group(group)
                if not self._proposals:
                    self._work.clear()
        finally:
            self._stop(group)

    async def _commit_group(self, group: list[_Proposal]) -> None:
        """Decide on what waits, make it durable, answer; `group` is filled as it goes."""
        image, entries, outcomes = await self._decide_group(group)
        if entries:
            await self._store.append(entries)
            self._entries.extend(entries)
            old, self._image = self._image, image
            self._on_commit(old, image)
        for proposal, outcome in zip(group, outcomes, strict=True):
            if proposal.answer.done():
                continue  # whoever asked has gone
            if isinstance(outcome, RefusedError):
                proposal.answer.set_exception(outcome)
            else:
                proposal.answer.set_result(outcome)

    async def _decide_group(
        self, group: list[_Proposal]
    ) -> tuple[MetadataImage, list[LogEntry], list[_Outcome]]:
        loop = asyncio.get_running_loop()
        pause_at = loop.time() + LOOP_SLICE_S
        image = self._image
        entries: list[LogEntry] = []
        outcomes: list[_Outcome] = []
        group_bytes = 0
        while (
            self._proposals and len(group) < GROUP_PROPOSALS_MAX and group_bytes < GROUP_BYTES_MAX
        ):
            proposal = self._proposals.popleft()
            if proposal.answer.done():
                continue
            group.append(proposal)
            try:
                decision = proposal.decide(image, self._inputs())
                entry = _entry(decision, image)
            except RefusedError as error:
                outcomes.append(error)
                continue
            if entry is not None:
                image = replay(image, decision.records, index=entry.index, term=entry.term)
                entries.append(entry)
                group_bytes += len(entry.payload)
            outcomes.append(Committed(decision.response, image.index))
            if loop.time() > pause_at:
                await asyncio.sleep(0)
                pause_at = loop.time() + LOOP_SLICE_S
        return image, entries, outcomes

    def _stop(self, group: list[_Proposal]) -> None:
        """Answer everybody: what was decided may have become durable, what waited has not."""
        self._stopped = True
        for proposal in group:
            if not proposal.answer.done():
                proposal.answer.set_exception(
                    ControllerUnavailableError("the controller stopped while it was committing")
                )
        while self._proposals:
            proposal = self._proposals.popleft()
            if not proposal.answer.done():
                proposal.answer.set_exception(
                    RefusedError(ErrorCode.NOT_CONTROLLER, "the controller is stopping")
                )


def _entry(decision: Decision, image: MetadataImage) -> LogEntry | None:
    if not decision.records:
        return None
    payload = encode_records(decision.records)
    if len(payload) > PAYLOAD_BYTES_MAX:
        raise RefusedError(
            ErrorCode.RECORD_LIST_TOO_LARGE,
            f"the request makes an entry of {len(payload)} bytes, more than {PAYLOAD_BYTES_MAX}",
        )
    return LogEntry(image.index + 1, image.term, payload)
