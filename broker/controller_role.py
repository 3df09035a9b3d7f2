"""A node as a controller of the metadata quorum."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from broker.lifecycle import running
from broker.node_admin import NodeAdmin
from broker.surroundings import Surroundings
from config.node import NodeConfig
from config.topic import validate_topic_config
from metadata.controller.decision import ConfigRules
from metadata.driver import ControllerNode
from metadata.transport import LocalTransport, Transport


class ControllerRole:
    """The controller of one node, while it runs."""

    def __init__(self, node: ControllerNode) -> None:
        self._node = node

    @property
    def transport(self) -> Transport:
        """The way of this node's broker to the controller."""
        return LocalTransport(self._node.handle)

    @property
    def cluster_id(self) -> str:
        """Id of the cluster."""
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
    try:
        await node.start()
        async with running(node.run()):
            yield ControllerRole(node)
    finally:
        await node.shutdown()
