"""Composition root: which roles a node has, and in which order they start and stop.

A `Node` is an object: several can run in one process, each with its own clocks and entropy.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack

from headrace.broker.node.address import BrokerAddress, NodeAddress
from headrace.broker.node.admin import SERVING, NodeAdmin
from headrace.broker.node.broker_role import BrokerRole
from headrace.broker.node.controller_role import ControllerRole, controller_role
from headrace.broker.node.environment import NodeEnvironment
from headrace.broker.node.lifecycle import StoppedEarlyError, running, unless_stopped
from headrace.broker.node.private_directories import prepare_directories
from headrace.broker.telemetry import runtime_tuning
from headrace.broker.telemetry.unexpected_errors import UnexpectedErrors
from headrace.config.node import NodeConfig
from headrace.config.quorum import is_broker, is_controller

logger = logging.getLogger("headrace")

__all__ = ["Node", "NodeAddress", "NodeEnvironment"]


def _ignore_fencing(_reason: str) -> None:
    """Do nothing: `run` raises."""


class Node:
    """Controller, broker or both. `run` once."""

    def __init__(
        self,
        config: NodeConfig,
        environment: NodeEnvironment,
        *,
        unexpected: UnexpectedErrors | None = None,
    ) -> None:
        """Make a node; it ends with the first of the `unexpected` errors that belongs to it."""
        self._config = config
        self._environment = environment
        self._admin = NodeAdmin(config.telemetry, self._environment)
        self._unexpected = unexpected

    async def run(
        self,
        ready: Callable[[NodeAddress], None],
        stop: asyncio.Event,
        *,
        on_fenced: Callable[[str], None] = _ignore_fencing,
    ) -> None:
        """Start, serve until `stop` is set, shut down cleanly; a `stop` while it is starting counts as well.

        The broker leaves before the controller does. The start waits for a bucket or a remote
        controller that does not answer.

        Args:
            ready: called once, when the node serves.
            stop: ends it.
            on_fenced: called with the reason as soon as the broker is fenced; `run` then ends by
                itself, once inflight work is cancelled.

        Raises:
            ExceptionGroup: the failure of a part, once the others have been stopped; of
                NodeFencedError or storage's FencedError, when the broker was fenced.
            UnexpectedError: in such a group; see `UnexpectedErrors`.
            OSError: an address cannot be bound.
            WalError, MetadataError, StorageError, ValueError: a part cannot start.
        """
        admin = self._admin
        try:
            await admin.bind()
            async with AsyncExitStack() as roles:
                await roles.enter_async_context(running(admin.turns.run(), admin.serve()))
                preparing = prepare_directories(
                    self._config, self._environment.open_metadata_directory
                )
                await unless_stopped(stop, preparing)
                if self._unexpected is not None:
                    admin.server.expose(self._unexpected)
                    await roles.enter_async_context(running(self._unexpected.end_the_node()))
                controller = None
                if is_controller(self._config):
                    role = controller_role(self._config, self._environment, admin, stop)
                    controller = await roles.enter_async_context(role)
                if is_broker(self._config):
                    await self._run_broker(controller, ready, stop, on_fenced)
                elif controller is not None:
                    idle = runtime_tuning.collect_when_idle(controller.requests_total)
                    async with running(idle):
                        admin.stage = SERVING
                        ready(self._address(controller, controller.node.cluster_id, None))
                        await stop.wait()
                        admin.stage = "stopping"
        except* StoppedEarlyError:
            logger.info("the node was stopped while it was starting", extra={"state": admin.stage})
        finally:
            await admin.shutdown()

    async def _run_broker(
        self,
        controller: ControllerRole | None,
        ready: Callable[[NodeAddress], None],
        stop: asyncio.Event,
        on_fenced: Callable[[str], None],
    ) -> None:
        local = None if controller is None else controller.local
        broker = BrokerRole(
            self._config, self._environment, self._admin, local=local, on_fenced=on_fenced
        )

        def serving(cluster_id: str, address: BrokerAddress) -> None:
            ready(self._address(controller, cluster_id, address))

        await broker.run(serving, stop)

    def _address(
        self, controller: ControllerRole | None, cluster_id: str, broker: BrokerAddress | None
    ) -> NodeAddress:
        host, port = ("", 0) if controller is None else controller.address
        return NodeAddress(
            node_id=self._config.node_id,
            roles=self._config.process_roles,
            controller=f"{host}:{port}" if host else "",
            cluster_id=cluster_id,
            admin_url=self._admin.url,
            broker=broker,
        )
