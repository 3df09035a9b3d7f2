"""A node as a controller of the metadata quorum."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from uuid import UUID

from headrace.broker.collectors.balance_metrics import BalanceCollector
from headrace.broker.collectors.offline_metrics import OfflineCollector
from headrace.broker.collectors.quorum_metrics import QuorumCollector, check_quorum
from headrace.broker.collectors.relay_metrics import RelayCollector
from headrace.broker.node.admin import NodeAdmin
from headrace.broker.node.environment import NodeEnvironment
from headrace.broker.node.lifecycle import running, unless_stopped
from headrace.broker.node.snapshots_in_bucket import has_bucket, publish_snapshots
from headrace.config.node import NodeConfig
from headrace.config.quorum import controller_address, controller_addresses, founds_quorum
from headrace.config.topic import contradiction, validate_topic_config
from headrace.links.ends import Address, Party
from headrace.links.listener import LinkListener
from headrace.links.services import RequestService
from headrace.metadata.controller.decision import ConfigRules
from headrace.metadata.errors import MetadataError, MetadataFormatError, RefusedError
from headrace.metadata.follower.log_admin import LogAdmin
from headrace.metadata.follower.requester import Requester
from headrace.metadata.leader.driver import ControllerNode
from headrace.metadata.levels import level_of, require_written
from headrace.metadata.net.kinds import RPC
from headrace.metadata.net.peer_links import PeerLinks
from headrace.metadata.net.peer_service import PeerService
from headrace.metadata.net.quorum_transport import LocalController, QuorumTransport
from headrace.metadata.records.members import NO_DIRECTORY
from headrace.metadata.rpc.frames import Answer
from headrace.metadata.rpc.requests import REQUEST_LEVELS, AcceptLogLoss, DescribeBalance
from headrace.metadata.rpc.responses import BalanceDescribed
from headrace.metadata.transport import LocalTransport

logger = logging.getLogger("headrace.controller")


class ControllerRole:
    """The controller of one node, while it runs."""

    def __init__(self, config: NodeConfig, environment: NodeEnvironment, admin: NodeAdmin) -> None:
        self._config = config
        self._environment = environment
        self._admin = admin
        self._links = PeerLinks(self._party, environment.network, environment.rng)
        self._bootstrap: QuorumTransport | None = None  # None: it founds the quorum
        if not founds_quorum(config):
            addresses = [Address(*address) for address in controller_addresses(config)]
            self._bootstrap = QuorumTransport(addresses, self._party, environment.network)
        self.node = ControllerNode(
            config.metadata,
            environment.open_metadata_directory(Path(config.metadata.log_dir)),
            node_id=config.node_id,
            cluster_id=config.cluster_id,
            rng=environment.rng,
            wall_clock_ms=environment.wall_clock_ms,
            boot_clock_ms=environment.boot_clock_ms,
            configs=ConfigRules(
                validate_topic=validate_topic_config,
                contradiction=partial(contradiction, broker_defaults=config.log.topic_defaults),
            ),
            network=self._links,
            bootstrap=self._bootstrap,
        )
        # What an operator asks of this controller, the leader decides, here or elsewhere.
        self._leader = QuorumTransport((), self._asking, environment.network, local=self.local)
        self._listener: LinkListener | None = None
        for endpoint in config.metadata.controller_listeners:
            self._listener = LinkListener(
                endpoint,
                (
                    RequestService(RPC, self.node.handle),
                    PeerService(
                        self.node.receive,
                        self._party,
                        on_peer=self._links.dial_now,
                        is_member=self._is_member,
                    ),
                ),
                self._party,
                network=environment.network,
            )
        self.address = Address("", 0)  # where other nodes reach it; no host when they cannot

    @property
    def local(self) -> LocalController:
        """The connection of this node's broker to it."""
        return LocalController(
            self._config.node_id,
            LocalTransport(self.node.handle),
            lambda: self.node.image,
            self.node.lock_name,
        )

    def requests_total(self) -> int:
        """Requests received over the network since the start."""
        return 0 if self._listener is None else self._listener.statistics.requests

    async def start(self) -> None:
        """Bind, load the log, and add its metrics and readiness.

        Raises:
            OSError: the address cannot be bound.
            MetadataError: the log cannot be used.
        """
        port = 0 if self._listener is None else (await self._listener.bind()).port
        self.address = Address(*controller_address(self._config, port))
        await self.node.start(self.address)
        self._admin.server.expose(QuorumCollector(self.node.status, self._links))
        self._admin.server.expose(RelayCollector(self.node.relays.statistics))
        self._admin.readiness.add(lambda: check_quorum(self.node.status()))
        offline = OfflineCollector(self.node.status, lambda: self.node.image)
        self._admin.server.expose(offline, offline.take)
        self._admin.server.logs = LogAdmin(lambda: self.node.image, self._to_leader)
        self._admin.server.balance = self._describe_balance
        self._admin.server.expose(BalanceCollector(lambda: self.node.balance))

    @asynccontextmanager
    async def taking_part(self) -> AsyncIterator[None]:
        """Take part in the quorum while the body runs; resign leadership before the links are closed."""
        listening = [] if self._listener is None else [self._listener.run()]
        publishing = []
        if has_bucket(self._config):
            publishing.append(
                publish_snapshots(self._config, self._environment, self.node, self._admin)
            )
        async with (
            running(self._links.run(), *listening),
            running(self._run()),
            running(*publishing),
        ):
            yield

    async def shutdown(self) -> None:
        """Close the listener and the log."""
        if self._listener is not None:
            await self._listener.shutdown()
        if self._bootstrap is not None:
            self._bootstrap.close()
        self._leader.close()
        await self.node.shutdown()

    async def _run(self) -> None:
        try:
            await self.node.run()
        except* MetadataError as failures:
            # Log it now: stopping the other parts may take time.
            for failure in failures.exceptions:
                logger.critical(
                    "the controller has failed; this node stops", extra={"reason": str(failure)}
                )
            raise

    def _is_member(self, node_id: int, directory_id: UUID) -> bool:
        """Whether this is a member of the quorum, as far as is committed here; an unknown directory matches."""
        try:
            members = self.node.image.members
        except RefusedError:  # not started
            return False
        known = (NO_DIRECTORY, directory_id)
        return any(it.node_id == node_id and it.directory_id in known for it in members)

    async def _to_leader(self, request: AcceptLogLoss | DescribeBalance) -> Answer:
        requester = Requester(self._leader, self._environment.rng)
        return await requester.call(request, self._config.metadata.request_timeout_ms)

    async def _describe_balance(self, request: DescribeBalance) -> BalanceDescribed:
        require_written(DescribeBalance, REQUEST_LEVELS, level_of(self.node.image.features))
        body = (await self._to_leader(request)).body
        if not isinstance(body, BalanceDescribed):
            raise MetadataFormatError(f"unexpected answer of the controller: {type(body).__name__}")
        return body

    def _asking(self) -> Party:
        return Party(self.node.cluster_id, self._config.node_id, NO_DIRECTORY)

    def _party(self) -> Party:
        return Party(self.node.cluster_id, self._config.node_id, self.node.directory_id)


@asynccontextmanager
async def controller_role(
    config: NodeConfig, environment: NodeEnvironment, admin: NodeAdmin, stop: asyncio.Event
) -> AsyncIterator[ControllerRole]:
    """Run a controller while the body runs; when it fails, the body is cancelled.

    Raises:
        StoppedEarlyError: `stop` was set before it had started, for example because a disk does not answer.
        ExceptionGroup: the failure of the controller.
        OSError: its address cannot be bound.
        MetadataError: it cannot start.
    """
    role = ControllerRole(config, environment, admin)
    try:
        await unless_stopped(stop, role.start())
        async with role.taking_part():
            yield role
    finally:
        await role.shutdown()
