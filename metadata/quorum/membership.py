"""Membership changes of the quorum by operators: one member at a time (KIP-853).

A new controller is a learner first: it gets the log but has no vote. It becomes a voter once it has
the whole log, so that no commit ever waits for a log to be copied.
"""

import asyncio
from typing import Final

from headrace.metadata.errors import RefusedError
from headrace.metadata.levels import cannot_read, level_of
from headrace.metadata.quorum.node import QuorumNode
from headrace.metadata.quorum.told_levels import ask_levels
from headrace.metadata.raft.changes import AddLearner, MemberChange, Promote, Remove, UpdateMember
from headrace.metadata.raft.configuration import Configuration
from headrace.metadata.raft.errors import ChangeRefusedError
from headrace.metadata.records.members import NO_DIRECTORY, Member
from headrace.metadata.rpc.requests import AddVoter, RemoveVoter
from headrace.metadata.transport import PeerNetwork
from headrace.protocol.errors import ErrorCode

CHANGE_TIMEOUT_MS: Final = 20_000
LOOK_INTERVAL_MS: Final = 20
MAX_PORT: Final = 65_535


class Membership:
    """The membership changes of one term, one after the other."""

    def __init__(self, quorum: QuorumNode, network: PeerNetwork) -> None:
        self._quorum = quorum
        self._network = network
        self._turn = asyncio.Lock()
        self._refusal = "no majority has committed the change"  # why the core waits, if it does

    async def add_voter(self, request: AddVoter) -> None:
        """Return when this controller is a voter. The request may be repeated.

        Raises:
            RefusedError: INVALID_REQUEST, INCONSISTENT_CLUSTER_ID; DUPLICATE_VOTER, when the node
                is a voter with another directory; UNSUPPORTED_VERSION, when it does not read the
                level of the cluster; REQUEST_TIMED_OUT, when it did not get the log
                in time: it stays a learner, and a repeated request continues to wait.
            LeadershipLostError: whether it takes effect is unknown.
        """
        self._check_cluster(request.cluster_id)
        node_id, directory_id = request.node_id, request.directory_id
        if directory_id == NO_DIRECTORY or not _is_address(request.host, request.port):
            raise RefusedError(
                ErrorCode.INVALID_REQUEST, "a voter needs a directory id, a host and a port"
            )
        member = Member(node_id, directory_id, request.host, request.port, voter=False)
        try:
            async with asyncio.timeout(CHANGE_TIMEOUT_MS / 1000), self._turn:
                known = (await self._settled()).member(node_id)
                if known is not None and known.voter:
                    if known.directory_id != directory_id:
                        raise RefusedError(
                            ErrorCode.DUPLICATE_VOTER,
                            f"node {node_id} is already a voter, with directory {known.directory_id}: "
                            "remove that one first",
                        )
                    return
                await self._make_learner(member, known)
                await self._require_reader(node_id)
                await self._change(Promote(node_id))
        except TimeoutError:
            raise self._timed_out(
                f". Check that node {node_id} runs at {request.host}:{request.port} with directory id "
                f"{directory_id}. It stays a learner: add it again to continue, or remove it"
            ) from None

    async def remove_voter(self, request: RemoveVoter) -> None:
        """Return when this controller, voter or learner, is no longer a member.

        Raises:
            RefusedError: INCONSISTENT_CLUSTER_ID; VOTER_NOT_FOUND; INVALID_REQUEST for the last
                voter; REQUEST_TIMED_OUT.
            LeadershipLostError: whether it takes effect is unknown.
        """
        self._check_cluster(request.cluster_id)
        node_id, directory_id = request.node_id, request.directory_id
        try:
            async with asyncio.timeout(CHANGE_TIMEOUT_MS / 1000), self._turn:
                configuration = await self._settled()
                if not configuration.accepts(node_id, directory_id):
                    raise RefusedError(
                        ErrorCode.VOTER_NOT_FOUND,
                        _why_not_a_member(configuration.member(node_id), node_id),
                    )
                if configuration.voters == (node_id,):
                    raise RefusedError(
                        ErrorCode.INVALID_REQUEST, f"node {node_id} is the last voter"
                    )
                await self._change(Remove(node_id, directory_id))
        except TimeoutError:
            raise self._timed_out() from None

    async def keep_own_address(self) -> None:
        """Record this node's address in the log, if the log has another one.

        Raises:
            LeadershipLostError, RefusedError: it is not the leader; the next leader records its own.
        """
        own = self._quorum.own_address
        if not own.port:
            return
        async with self._turn:
            known = (await self._settled()).member(self._quorum.node_id)
            if known is not None and (known.host, known.port) != own:
                await self._change(
                    UpdateMember(Member(known.node_id, known.directory_id, *own, known.voter))
                )

    def _timed_out(self, advice: str = "") -> RefusedError:
        return RefusedError(
            ErrorCode.REQUEST_TIMED_OUT,
            f"the members of the quorum did not change in {CHANGE_TIMEOUT_MS} ms: {self._refusal}{advice}",
        )

    def _check_cluster(self, cluster_id: str) -> None:
        own = self._quorum.image.cluster_id
        if cluster_id and cluster_id != own:
            raise RefusedError(
                ErrorCode.INCONSISTENT_CLUSTER_ID, f"this is cluster {own}, not {cluster_id}"
            )

    async def _settled(self) -> Configuration:
        """The members, once every change so far is committed and this node is proven to lead."""
        await self._quorum.image_at_end()
        configuration = self._quorum.configuration
        await self._quorum.confirm_leadership()
        return configuration

    async def _make_learner(self, member: Member, known: Member | None) -> None:
        if known is not None and known.directory_id != member.directory_id:
            await self._change(Remove(known.node_id, known.directory_id))
            known = None
        if known is None:
            await self._change(AddLearner(member))
        elif known != member:
            await self._change(UpdateMember(member))

    async def _require_reader(self, node_id: int) -> None:
        """Return once the learner has reported that it reads the level of the cluster.

        Raises:
            RefusedError: UNSUPPORTED_VERSION, it does not.
        """
        while True:
            reads = await ask_levels(self._network, node_id)
            if reads is not None:
                break
            self._refusal = f"node {node_id} does not answer"
            await asyncio.sleep(LOOK_INTERVAL_MS / 1000)
        level = level_of(self._quorum.image.features)
        if level not in reads:
            raise RefusedError(
                ErrorCode.UNSUPPORTED_VERSION,
                f"node {node_id} says: {cannot_read(reads, level)}. It stays a learner: add it again "
                "to continue, or remove it",
            )

    async def _change(self, change: MemberChange) -> None:
        """Make a change; retry while the core waits for another change, or for a learner."""
        while True:
            await self._quorum.image_at_end()
            try:
                await self._quorum.change_members(change)
            except ChangeRefusedError as error:
                self._refusal = str(error)
                await asyncio.sleep(LOOK_INTERVAL_MS / 1000)
            else:
                return


def _is_address(host: str, port: int) -> bool:
    """Whether the address is valid: every member and broker dials an address that is in the log."""
    try:
        host.encode("idna")
    except UnicodeError:
        return False
    return bool(host) and "\0" not in host and 0 < port <= MAX_PORT


def _why_not_a_member(known: Member | None, node_id: int) -> str:
    if known is None:
        return f"controller {node_id} is not a member of the quorum"
    return f"controller {node_id} is a member with directory id {known.directory_id}"
