"""A node as a controller of the metadata quorum."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from broker.lifecycle import running
from broker.node_admin import NodeAdmin
from broker.surroundings import Surroundings
from config.node import NodeConfig
from config.quorum import controller_address
from config.topic import validate_topic_config
from metadata.controller.decision import ConfigRules
from metadata.driver import ControllerNode
from metadata.net.framing import Party
from metadata.net.listener import ControllerListener
from metadata.net.quorum_transport import LocalController
from metadata.records.members import NO_DIRECTORY
from metadata.transport import Address, LocalTransport

logger = logging.getLogger("headrace.controller")


class ControllerRole:
    """The controller of one node, while it runs."""

    def __init__(self, config: NodeConfig, node: ControllerNode, address: Address) -> None:
        self._config = config
        self._node = node
        self.address = address  # where other nodes reach it; no host when they cannot

    @property
    def local(self) -> LocalController:
        """The way of this node's broker to it."""
        return LocalController(self._config.node_id, LocalTransport(self._node.handle))

    @property
    def cluster_id(self) -> str:
        """Id of the cluster; empty when it is not known yet."""
        return self._node.image.cluster_id


@asynccontextmanager
async def controller_role(
    config: NodeConfig, around: Surroundings, admin: NodeAdmin
) -> AsyncIterator[ControllerRole]:
    """Run a controller beside the body; when it fails, the body is cancelled.

    Raises:
        ExceptionGroup: of what made it fail.
        OSError: its address cannot be bound.
        MetadataError: it cannot start.
    """
    del admin
    node = ControllerNode(
        config.metadata,
        node_id=config.node_id,
        cluster_id=config.cluster_id,
        rng=around.rng,
        wall_clock_ms=around.wall_clock_ms,
        boot_clock_ms=around.boot_clock_ms,
        configs=ConfigRules(validate_topic=validate_topic_config),
    )
    listener: ControllerListener | None = None
    for endpoint in config.metadata.controller_listeners:
        listener = ControllerListener(
            endpoint,
            node.handle,
            lambda _message: None,
            lambda: Party(node.image.cluster_id, config.node_id, NO_DIRECTORY),
        )
    try:
        port = 0 if listener is None else (await listener.bind()).port
        role = ControllerRole(config, node, Address(*controller_address(config, port)))
        await node.start()
        jobs = [] if listener is None else [listener.run()]
        async with running(node.run(), *jobs):
            yield role
    finally:
        if listener is not None:
            await listener.shutdown()
        await node.shutdown()
