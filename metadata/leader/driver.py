"""The controller: a member of the quorum, which makes the decisions while it is the leader.

Every member replays the committed entries and so has the image. The leader also makes entries
(`Committer`), watches the brokers (`BrokerSupervision`) and serves the followers of the log; the
other members answer with the leader's address. A single node is a quorum of one: it leads at once,
an entry is committed when it is durable, and a round of the quorum needs no message.

Leadership begins when the no-op of the term is applied, with full sessions for all brokers: none is
fenced before the longest lease that a previous leader may have granted has ended.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Final
from uuid import UUID

import msgspec

from headrace.config.node import MetadataConfig
from headrace.links.ends import Address
from headrace.metadata.balance.state import BalanceState
from headrace.metadata.controller.decision import ConfigRules, Inputs
from headrace.metadata.errors import RefusedError
from headrace.metadata.follower.requester import Requester
from headrace.metadata.image import MetadataImage
from headrace.metadata.leader.commits import Committed, Decide
from headrace.metadata.leader.leadership import Leadership
from headrace.metadata.leader.log_reads import LogReads
from headrace.metadata.leader.relays import Relays
from headrace.metadata.leader.service import ControllerService
from headrace.metadata.leader.startup import (
    check_image,
    durable_state,
    first_configuration,
    load_snapshot,
    new_cluster_id,
    opening_records,
)
from headrace.metadata.levels import OLDEST, encode_at_level
from headrace.metadata.log.directory import Directory
from headrace.metadata.log.store import LogStore
from headrace.metadata.quorum.alone import NoPeers
from headrace.metadata.quorum.applied import AppliedLog
from headrace.metadata.quorum.description import Clocks, describe
from headrace.metadata.quorum.joining import find_members
from headrace.metadata.quorum.node import Hooks, QuorumNode
from headrace.metadata.quorum.status import QuorumStatus
from headrace.metadata.raft.core import RaftCore
from headrace.metadata.raft.effects import RaftSettings
from headrace.metadata.raft.messages import RaftMessage
from headrace.metadata.records.codec import decode_members, encode_members
from headrace.metadata.records.members import NO_DIRECTORY
from headrace.metadata.rpc.frames import LeaderAddress
from headrace.metadata.rpc.requests import (
    AddVoter,
    DescribeBalance,
    DescribeQuorum,
    FetchEntries,
    FetchSnapshot,
    Heartbeat,
    RemoveVoter,
    UpdateFeatures,
)
from headrace.metadata.rpc.responses import Entries, SnapshotChunk
from headrace.metadata.transport import PeerNetwork, Transport
from headrace.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from random import Random

logger = logging.getLogger("headrace.controller")

HEARTBEATS_PER_ELECTION_TIMEOUT: Final = 5
NO_ADDRESS: Final = Address("", 0)  # no other node connects to this one


class _Member(msgspec.Struct, frozen=True):
    """The parts that exist from `start` to `shutdown`."""

    quorum: QuorumNode
    applied: AppliedLog
    reads: LogReads


class ControllerNode:
    """One controller. Order of use: `start`, then `run` in a task, `handle`, `receive`; then `shutdown`."""

    def __init__(  # noqa: PLR0913 - keyword arguments: what a controller depends on
        self,
        config: MetadataConfig,
        directory: Directory,
        *,
        node_id: int,
        rng: "Random",
        wall_clock_ms: Callable[[], int],
        boot_clock_ms: Callable[[], int],
        configs: ConfigRules,
        cluster_id: str = "",
        network: PeerNetwork | None = None,
        bootstrap: Transport | None = None,
    ) -> None:
        """Create the controller without reading anything yet.

        Args:
            config: the founders of the quorum, timeouts.
            directory: of the log.
            node_id: of this node.
            rng: for ids and election timeouts.
            wall_clock_ms: for records.
            boot_clock_ms: also runs in suspend; for everything else.
            configs: the configs of topics and brokers that exist.
            cluster_id: the expected cluster; empty: any.
            network: to the other controllers; None if there are none.
            bootstrap: to the quorum that this node waits to be added to; None: it may found one.
        """
        self._config = config
        self._node_id = node_id
        self._rng = rng
        self._clocks = Clocks(wall_clock_ms, boot_clock_ms)
        self._configs = configs
        self._cluster_id = cluster_id
        self._network = network or NoPeers()
        self.relays = Relays(self._network)
        self._bootstrap = bootstrap
        self._directory_id = NO_DIRECTORY
        self._store = LogStore(directory, rng)
        self.condemn = self._store.condemn
        self._service = ControllerService(self)
        self._member: _Member | None = None
        self._leadership: Leadership | None = None
        self._led = asyncio.Event()
        self.balance: BalanceState | None = None  # while this node leads

    @property
    def image(self) -> MetadataImage:
        """The image at the last committed entry that this node knows of.

        Raises:
            RefusedError: NOT_CONTROLLER, before the start.
        """
        return self._started().quorum.image

    @property
    def cluster_id(self) -> str:
        """The cluster of this node; empty until it is known."""
        return self._cluster_id

    @property
    def directory_id(self) -> UUID:
        """The id of the log's directory; zero before the start."""
        return self._directory_id

    @property
    def lock_name(self) -> str:
        """Name of the lock on the log's directory, which this process holds until it ends; empty: not known."""
        return self._store.lock_name

    @property
    def leader_address(self) -> LeaderAddress | None:
        """The address of the leader, if it is another controller and known."""
        return None if self._member is None else self._member.quorum.addresses.leader()

    @property
    def awaited_snapshot(self) -> int:
        """The entry that a published snapshot must have before brokers delete what they want to; -1: none."""
        if self._leadership is None:
            return -1
        heartbeats = self._leadership.supervision.last_heartbeats().values()
        return max((it.awaited_snapshot for it in heartbeats), default=-1)

    def status(self) -> QuorumStatus:
        """This node as a member of the quorum.

        Raises:
            RefusedError: NOT_CONTROLLER, before the start.
        """
        return self._started().quorum.status()

    async def start(self, address: Address = NO_ADDRESS) -> None:
        """Load the log. A sole voter leads when this returns; others begin to look for a leader.

        Args:
            address: where other nodes reach this one.

        Raises:
            MetadataIdentityError: the directory belongs to another node or cluster, or is in use.
            MetadataLogCorruptError: acknowledged entries cannot be read.
            MetadataFormatError: a newer version has written the log.
            MetadataLogFailedError: the log cannot be written.
        """
        opened = await self._store.open(node_id=self._node_id, cluster_id=self._cluster_id)
        if opened.recovered.cut_off_bytes:
            logger.warning(
                "removed the incomplete last write of the metadata log; it was never acknowledged",
                extra={"bytes": opened.recovered.cut_off_bytes},
            )
        self._cluster_id = opened.cluster_id
        self._directory_id = opened.directory_id
        image = load_snapshot(opened.recovered, opened.cluster_id)
        applied = AppliedLog(image, self._image_changed)
        quorum = QuorumNode(
            RaftCore(
                self._settings(),
                durable_state(opened, image),
                initial=first_configuration(
                    self._config.quorum_voters,
                    node_id=self._node_id,
                    directory_id=opened.directory_id,
                    address=address,
                    founds_quorum=self._bootstrap is None,
                ),
                members_of=decode_members,
                encode_members=encode_members,
                open_term=self._open_term,
                rng=self._rng,
                now_ms=self._clocks.boot_ms(),
            ),
            self._store,
            self._network,
            applied,
            node_id=self._node_id,
            own_address=address,
            addresses={it.node_id: Address(it.host, it.port) for it in self._config.quorum_voters},
            clock_ms=self._clocks.boot_ms,
            hooks=Hooks(self._accept, self._begin_leading, self._end_leading),
        )
        reads = LogReads(self, quorum.image_at_end, applied.entries, self._store)
        self._member = _Member(quorum, applied, reads)
        await quorum.start()

    async def run(self) -> None:
        """Take part in the quorum, as its leader when elected, until cancelled.

        A leader that is cancelled transfers the leadership to another voter before it stops.

        Raises:
            ExceptionGroup: of MetadataLogFailedError, when the log accepts no more writes; of
                MetadataIdentityError, when the quorum is of another cluster.
        """
        quorum = self._started().quorum
        async with asyncio.TaskGroup() as tasks:
            member = tasks.create_task(quorum.run(self._config.snapshot_log_bytes), name="quorum")
            if self._bootstrap is not None:
                joining = find_members(Requester(self._bootstrap, self._rng), quorum.addresses)
                tasks.create_task(joining, name="quorum-joining")
            async with asyncio.TaskGroup() as works:
                works.create_task(self._lead(), name="metadata-leading")
                try:
                    await asyncio.Event().wait()
                finally:
                    # Requests that are being served get their answers meanwhile.
                    if not member.done():
                        await quorum.hand_over(self._config.election_timeout_ms)

    async def shutdown(self) -> None:
        """Stop serving and close the log. `run` must have ended, or `start` failed."""
        self._end_leading()
        self._member = None
        await self._store.close()

    async def handle(self, frame: bytes) -> bytes:
        """Answer one encoded request; see `ControllerService.handle`."""
        return await self._service.handle(frame)

    def receive(self, message: RaftMessage) -> None:
        """Receive a message of another controller."""
        if self._member is not None:
            self._member.quorum.receive(message)

    # Requests

    async def propose(self, decide: Decide) -> Committed:
        """Decide, commit, answer; see `Committer.propose`."""
        return await self._leading().committer.propose(decide)

    async def heartbeat(self, request: Heartbeat) -> Committed:
        """Renew a session; see `BrokerSupervision.heartbeat`."""
        return await self._leading().supervision.heartbeat(request)

    async def check_deadlines(self) -> None:
        """Fence and expire what is due now; `run` does so regularly."""
        await self._leading().supervision.check_deadlines()

    async def fetch_entries(self, request: FetchEntries) -> Entries:
        """Committed entries; see `LogReads.entries`."""
        return await self._started().reads.entries(request)

    async def fetch_snapshot(self, request: FetchSnapshot) -> SnapshotChunk:
        """A part of the newest snapshot; see `LogReads.snapshot`."""
        return await self._started().reads.snapshot(request)

    async def describe(self, request: DescribeQuorum | DescribeBalance) -> Committed:
        """Describe the members and how far each has replicated the log, or the balance of brokers."""
        await self.confirm_leading()
        leadership = self._leading()
        if isinstance(request, DescribeBalance):
            return Committed(await leadership.balancer.describe(request), self.image.index)
        last_heartbeats = leadership.supervision.last_heartbeats()
        described = describe(self._started().quorum, last_heartbeats, self._clocks)
        return Committed(described, described.commit_index)

    async def change_quorum(self, request: AddVoter | RemoveVoter | UpdateFeatures) -> int:
        """Add or remove a member, or set the level; returns an index whose image includes the change."""
        leadership = self._leading()
        match request:
            case AddVoter():
                await leadership.membership.add_voter(request)
            case RemoveVoter():
                await leadership.membership.remove_voter(request)
            case UpdateFeatures():
                await leadership.update_features(request)
        return self.image.index

    async def take_snapshot(self) -> None:
        """Write the image to disk, and drop the log before it; see `Snapshots.take`."""
        await self._started().quorum.snapshots.take()

    # The quorum

    def _settings(self) -> RaftSettings:
        interval_ms = self._config.election_timeout_ms // HEARTBEATS_PER_ELECTION_TIMEOUT
        return RaftSettings(
            node_id=self._node_id,
            directory_id=self._directory_id,
            election_timeout_ms=self._config.election_timeout_ms,
            heartbeat_interval_ms=max(1, interval_ms),
        )

    def _open_term(self, term: int, last_index: int) -> bytes:
        """The first entry of a new leader. It names the cluster if no entry of its log does, committed or not.

        The first entry of a log that is not about members names the cluster. What is not committed yet
        is committed before ours, or goes with it. An empty log is not the criterion: after a crash it may
        hold only the members, which come first.
        """
        del last_index
        cluster_id = None
        if self._started().quorum.holds_members_only and not self.image.cluster_id:
            cluster_id = self._cluster_id or new_cluster_id(self._rng)
        now_ms, leader_id = self._clocks.wall_ms(), self._node_id
        records = opening_records(term, leader_id=leader_id, cluster_id=cluster_id, now_ms=now_ms)
        return encode_at_level(records, OLDEST)

    async def _accept(self, image: MetadataImage) -> None:
        """Check an image before it is published."""
        check_image(image, self._cluster_id)
        if image.cluster_id and not self._cluster_id:
            await self._store.name_cluster(image.cluster_id)
            self._cluster_id = image.cluster_id

    def _image_changed(self, old: MetadataImage, new: MetadataImage) -> None:
        if self._leadership is not None:
            self._leadership.follow(old, new)

    # Leading

    def _begin_leading(self) -> None:
        quorum = self._started().quorum
        self._leadership = Leadership(
            self._config, quorum, self._network, inputs=self._inputs, clocks=self._clocks
        )
        self.balance = self._leadership.balancer.state
        self._led.set()
        image = quorum.image
        logger.info(
            "leading the metadata quorum",
            extra={"cluster_id": image.cluster_id, "term": image.term, "index": image.index},
        )

    def _end_leading(self) -> None:
        if self._leadership is not None:
            self._leadership.end()
            self._leadership = self.balance = None
            self._started().applied.entries.wake()

    async def _lead(self) -> None:
        """Do the leader's work in each term that this node leads, one after the other."""
        while True:
            await self._led.wait()
            self._led.clear()
            if self._leadership is not None:
                await self._leadership.run()

    def _started(self) -> _Member:
        if self._member is None:
            raise RefusedError(ErrorCode.NOT_CONTROLLER, "the controller has not started")
        return self._member

    def _leading(self) -> Leadership:
        if self._leadership is None:
            raise RefusedError(ErrorCode.NOT_CONTROLLER, "this node does not lead the quorum")
        return self._leadership

    def require_leading(self) -> None:
        """Return only if this node is the leader, as far as it knows.

        Raises:
            RefusedError: NOT_CONTROLLER.
        """
        self._leading()

    async def confirm_leading(self) -> None:
        """Return only if this node is proven to be the leader; see `QuorumNode.confirm_leadership`.

        Raises:
            RefusedError: NOT_CONTROLLER.
        """
        await self._started().quorum.confirm_leadership()

    def _inputs(self) -> Inputs:
        return Inputs(self._clocks.wall_ms(), self._rng, self._configs)
