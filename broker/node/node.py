"""Composition root: which roles a node has, and in which order they start and stop.

A `Node` is an object: several can run in one process, each with its own clocks and entropy.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Final, NamedTuple

from headrace.broker.collectors.role_metrics import RoleCollector
from headrace.broker.node.address import BrokerAddress, NodeAddress
from headrace.broker.node.admin import SERVING, NodeAdmin
from headrace.broker.node.broker_role import BrokerRole
from headrace.broker.node.controller_role import ControllerRole, controller_role
from headrace.broker.node.environment import NodeEnvironment
from headrace.broker.node.lifecycle import StoppedEarlyError, running, unless_stopped
from headrace.broker.node.private_directories import prepare_directories
from headrace.broker.node.role_ends import leaves, reasons, was_fenced
from headrace.broker.node.role_restarts import RoleRestarts
from headrace.broker.telemetry import runtime_tuning
from headrace.broker.telemetry.unexpected_errors import UnexpectedErrors
from headrace.config.node import NodeConfig
from headrace.config.quorum import is_broker, is_controller
from headrace.metadata.errors import NodeFencedError
from headrace.storage.object_store.uri import MemoryLocation, parse_bucket_uri
from headrace.wal.errors import WalLockedError

logger = logging.getLogger("headrace")

__all__ = ["Node", "NodeAddress", "NodeEnvironment"]


def _ignore() -> None:
    """Do nothing: no one observes the broker."""


def _ignore_reason(_reason: str) -> None:
    """Do nothing: no one observes the broker."""


def _ignore_failure(_failure: BaseException) -> None:
    """Do nothing: no one observes the broker."""


class Fencing(NamedTuple):
    """Called when the broker of a node is fenced, and when it begins again."""

    begin: Callable[[str], None] = _ignore_reason  # its role ends
    end: Callable[[BaseException], None] = _ignore_failure  # it is over, another one begins
    served: Callable[[], None] = _ignore  # that one serves


UNTOLD: Final = Fencing()


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
        self._has_been_ready = False

    async def run(
        self,
        ready: Callable[[NodeAddress], None],
        stop: asyncio.Event,
        *,
        fencing: Fencing = UNTOLD,
    ) -> None:
        """Start, serve until `stop` is set, shut down cleanly; a `stop` while it is starting counts as well.

        The broker leaves before the controller does. The start waits for a bucket or a remote
        controller that does not answer.

        Args:
            ready: called once, when the node serves.
            stop: ends it.
            fencing: called when the broker is fenced, and with how it goes on.

        Raises:
            ExceptionGroup: the failure of a part, once the others have been stopped; of
                NodeFencedError or storage's FencedError, when the broker was fenced too often.
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
                    await self._run_broker(controller, ready, stop, fencing)
                elif controller is not None:
                    idle = runtime_tuning.watch_memory(controller.requests_total)
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
        fencing: Fencing,
    ) -> None:
        """Run the broker; when it was fenced, and its role is over, begin another one by the code of a start."""
        restarts = RoleRestarts()
        self._admin.server.expose(RoleCollector(lambda: restarts.total))
        config = self._config

        def serving(cluster_id: str, address: BrokerAddress) -> None:
            if not self._has_been_ready:
                self._has_been_ready = True
                ready(self._address(controller, cluster_id, address))
            else:
                logger.info(
                    "the broker that was fenced serves again", extra={"restarts": restarts.total}
                )
                fencing.served()

        while True:
            broker = BrokerRole(
                config,
                self._environment,
                self._admin,
                local=None if controller is None else controller.local,
                on_fenced=fencing.begin,
            )
            try:
                return await broker.run(serving, stop)
            except Exception as failure:
                if restarts.total and _is_locked_out(failure, broker):
                    # By an operation of an earlier role that hangs, or by another process.
                    raise NodeFencedError(
                        "the WAL of the fenced broker is still in use"
                    ) from failure
                pause_ms = None
                if was_fenced(failure) and self._may_begin_again(stop):
                    pause_ms = restarts.pause_ms(self._now_ms(), has_served=broker.has_served)
                if pause_ms is None:
                    raise
                fencing.end(failure)
                reason = reasons(failure)
            if broker.bound:  # what clients and other brokers know
                config = replace(config, network=replace(config.network, listeners=broker.bound))
            del broker  # nothing else keeps it, and it has all of its caches
            self._admin.stage = f"fenced ({reason}), begins again"
            logger.warning(
                "the role of the fenced broker is over; it begins again in this process",
                extra={"reason": reason, "restarts": restarts.total, "pause_ms": pause_ms},
            )
            await unless_stopped(stop, asyncio.sleep(pause_ms / 1000))

    def _may_begin_again(self, stop: asyncio.Event) -> bool:
        """Whether nothing but the role has ended, and the next one would find what this one has left."""
        task = asyncio.current_task()
        assert task is not None
        if stop.is_set() or task.cancelling():  # by another part of the node that has failed
            return False
        if self._unexpected is not None and self._unexpected.first is not None:
            return False
        # A bucket in memory ends with the role that has opened it.
        places = [self._config.storage.bucket_uri, self._config.wal.path]
        return not any(
            isinstance(parse_bucket_uri(it), MemoryLocation) for it in places if "://" in it
        )

    def _now_ms(self) -> int:
        return int(self._environment.monotonic_s() * 1000)

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


def _is_locked_out(failure: Exception, broker: BrokerRole) -> bool:
    return not broker.has_log and any(isinstance(it, WalLockedError) for it in leaves(failure))
