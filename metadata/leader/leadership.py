"""The parts of a controller that exist only while it is the leader, created for each term."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

from msgspec.structs import replace

from headrace.config.node import MetadataConfig
from headrace.metadata.balance.state import BalanceSettings
from headrace.metadata.controller.decision import Inputs
from headrace.metadata.controller.features import Readers, update_features
from headrace.metadata.errors import LeadershipLostError, RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.leader.balancer import Balancer
from headrace.metadata.leader.commits import Committer
from headrace.metadata.leader.supervision import BrokerSupervision
from headrace.metadata.quorum.description import Clocks
from headrace.metadata.quorum.membership import Membership
from headrace.metadata.quorum.node import QuorumNode
from headrace.metadata.quorum.told_levels import told_levels
from headrace.metadata.rpc.requests import UpdateFeatures
from headrace.metadata.transport import PeerNetwork

HEAR_WITHIN_S: Final = 5.0  # brokers send heartbeats every 2 s by default
LOOK_INTERVAL_S: Final = 0.05


class Leadership:
    """Accepts proposals once created; `run` processes them until `end`."""

    def __init__(
        self,
        config: MetadataConfig,
        quorum: QuorumNode,
        network: PeerNetwork,
        *,
        inputs: Callable[[], Inputs],
        clocks: Clocks,
    ) -> None:
        self._quorum = quorum
        self._network = network
        self.committer = Committer(
            quorum, inputs=lambda: replace(inputs(), unable=self.supervision.unable)
        )
        self.balancer = Balancer(
            lambda: quorum.image,
            self.committer,
            BalanceSettings(config.balance, config.balance_window_ms),
            config.balance_interval_ms,
            clocks,
        )
        self.supervision = BrokerSupervision(
            quorum,
            self.committer,
            session_timeout_ms=config.broker_session_timeout_ms,
            wall_clock_ms=clocks.wall_ms,
            boot_clock_ms=clocks.boot_ms,
            on_loads=self.balancer.note,
        )
        self.membership = Membership(quorum, network)
        self._over = asyncio.Event()

    def follow(self, old: MetadataImage, new: MetadataImage) -> None:
        """Note what has been committed."""
        self.supervision.follow(old, new)
        self.balancer.follow(old, new)

    def end(self) -> None:
        """The term is over for this node. Waiters are answered now: `run` may never have begun."""
        self._over.set()
        self.committer.stop()

    async def run(self) -> None:
        """Commit proposals, watch sessions, even out brokers and keep this node's address current, until `end`.

        Raises:
            ExceptionGroup: of a fault in one of them.
        """
        async with asyncio.TaskGroup() as tasks:
            works = (
                tasks.create_task(self.committer.run(), name="metadata-commits"),
                tasks.create_task(self.supervision.run(), name="metadata-sessions"),
                tasks.create_task(self.balancer.run(), name="metadata-balance"),
                tasks.create_task(self._keep_own_address(), name="quorum-address"),
            )
            await self._over.wait()
            for work in works:
                work.cancel()

    async def update_features(self, request: UpdateFeatures) -> None:
        """Ask every controller what it reads, and decide; see `headrace.metadata.controller.features`.

        Controllers are asked last, and those that are members then: a wait may go before.

        Raises:
            RefusedError: INVALID_UPDATE_VERSION; nothing has changed.
            ControllerUnavailableError: whether it takes effect is unknown.
        """
        await self._hear_from_brokers()
        members = [it.node_id for it in self._quorum.configuration.members]
        controllers = await told_levels(self._network, members, node_id=self._quorum.node_id)
        readers = Readers(controllers, self.supervision.told_levels())
        await self.committer.propose(partial(update_features, request, readers))

    async def _hear_from_brokers(self) -> None:
        """Wait for a heartbeat of each broker that this leader has not heard of yet, at most `HEAR_WITHIN_S`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(HEAR_WITHIN_S):
                while True:
                    live = (it for it in self._quorum.image.brokers.values() if not it.epoch_ended)
                    if {
                        (it.node_id, it.epoch) for it in live
                    } <= self.supervision.told_levels().keys():
                        return
                    await asyncio.sleep(LOOK_INTERVAL_S)

    async def _keep_own_address(self) -> None:
        with suppress(LeadershipLostError, RefusedError):
            await self.membership.keep_own_address()
