"""The controller's side of the RPCs: a frame in, a frame out, for any frame."""

from functools import partial
from typing import Final, Protocol

from headrace.metadata.controller.dispatch import decide
from headrace.metadata.errors import (
    ControllerUnavailableError,
    LeadershipLostError,
    MetadataFormatError,
    RefusedError,
)
from headrace.metadata.image import MetadataImage
from headrace.metadata.leader.commits import Committed, Decide
from headrace.metadata.leader.relays import Relays
from headrace.metadata.levels import READ_HERE
from headrace.metadata.proof import require_own_id, require_sender
from headrace.metadata.rpc.frames import (
    Answer,
    LeaderAddress,
    decode_correlation,
    decode_request,
    encode_answer,
    kind_of,
)
from headrace.metadata.rpc.requests import (
    AddVoter,
    DescribeBalance,
    DescribeQuorum,
    FetchEntries,
    FetchSnapshot,
    Heartbeat,
    Mutation,
    RegisterBroker,
    Relay,
    RemoveVoter,
    Request,
    Speaking,
    TellLevels,
    UpdateFeatures,
)
from headrace.metadata.rpc.responses import (
    Done,
    Entries,
    LevelsTold,
    Relayed,
    SnapshotChunk,
)
from headrace.protocol.errors import ErrorCode

NO_CORRELATION: Final = 0
NO_INDEX: Final = -1


class Controller(Protocol):
    """What the service needs of the controller."""

    @property
    def leader_address(self) -> LeaderAddress | None:
        """The address of the leader, if it is another controller and known."""
        ...

    @property
    def image(self) -> MetadataImage:
        """The newest image of committed entries that this controller has."""
        ...

    async def confirm_leading(self) -> None:
        """Return only if this controller is proven to be the leader, with an image of this time or later."""
        ...

    @property
    def relays(self) -> Relays:
        """What passes requests on to the leader."""
        ...

    async def propose(self, decide: Decide) -> Committed:
        """Decide, commit, answer."""
        ...

    async def heartbeat(self, request: Heartbeat) -> Committed:
        """Renew a session."""
        ...

    async def fetch_entries(self, request: FetchEntries) -> Entries:
        """Read committed entries."""
        ...

    async def fetch_snapshot(self, request: FetchSnapshot) -> SnapshotChunk:
        """Read a part of the newest snapshot."""
        ...

    async def describe(self, request: DescribeQuorum | DescribeBalance) -> Committed:
        """Describe the quorum, or the balance of brokers; with an index of the log that it depends on."""
        ...

    async def change_quorum(self, request: AddVoter | RemoveVoter | UpdateFeatures) -> int:
        """Add or remove a member, or set the level; returns an index of the log that includes it."""
        ...


class ControllerService:
    """Answers frames."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller

    async def handle(self, frame: bytes) -> bytes:
        """Answer one request. A malformed one is answered with INVALID_REQUEST.

        Cancellation: a mutation may still take effect.
        """
        correlation = NO_CORRELATION
        try:
            correlation = decode_correlation(frame)
            request, secret = decode_request(frame)
            await self._require_sender(request, secret)
            return encode_answer(correlation, await self._answer(request))
        except MetadataFormatError as error:
            refusal = RefusedError(ErrorCode.INVALID_REQUEST, str(error))
        except RefusedError as error:
            refusal = error
        except (ControllerUnavailableError, LeadershipLostError) as error:
            refusal = RefusedError(ErrorCode.REQUEST_TIMED_OUT, str(error))
        leader = None
        if refusal.code == ErrorCode.NOT_CONTROLLER:
            leader = self._controller.leader_address
        return encode_answer(
            correlation, Answer(refusal.code, refusal.message, NO_INDEX, None, leader)
        )

    async def _require_sender(self, request: Request, secret: bytes | None) -> None:
        """Refuse a sender that speaks for a registration of another, before anything is done."""
        if isinstance(request, RegisterBroker):
            require_own_id(request, secret)
        elif isinstance(request, Speaking):
            if request.node_epoch > self._controller.image.index:
                # A deposed leader that does not know it lacks the newest registrations.
                await self._controller.confirm_leading()
            require_sender(request, secret, self._controller.image)

    async def _answer(self, request: Request) -> Answer:
        match request:
            case Heartbeat():
                committed = await self._controller.heartbeat(request)
            case FetchEntries():
                entries = await self._controller.fetch_entries(request)
                committed = Committed(entries, entries.end_index)
            case FetchSnapshot():
                chunk = await self._controller.fetch_snapshot(request)
                committed = Committed(chunk, chunk.snapshot_index)
            case DescribeQuorum() | DescribeBalance():
                committed = await self._controller.describe(request)
            case Relay():
                committed = Committed(Relayed(await self._relay(request.frame)), NO_INDEX)
            case TellLevels():
                committed = Committed(LevelsTold(READ_HERE), NO_INDEX)
            case AddVoter() | RemoveVoter() | UpdateFeatures():
                committed = Committed(Done(), await self._controller.change_quorum(request))
            case _:
                committed = await self._controller.propose(_decision_of(request))
        return Answer(ErrorCode.NONE, None, committed.log_index, committed.response)

    async def _relay(self, frame: bytes) -> bytes:
        """Pass a request on to the leader: once, so that no two controllers send it back and forth."""
        kind = kind_of(frame)
        if kind is Relay:
            raise RefusedError(ErrorCode.INVALID_REQUEST, "a request is passed on once only")
        leader = self._controller.leader_address
        if leader is None:  # this one, or none is known: the answer says it
            return await self.handle(frame)
        return await self._controller.relays.pass_on(leader.node_id, frame, kind)


def _decision_of(request: Mutation) -> Decide:
    return partial(decide, request)
