"""A controller's snapshots in the bucket: when, and with which connection.

The bucket is not needed to serve metadata: all that it does is told and tried again.
"""

import asyncio
import logging
from typing import Final

from headrace.broker.collectors.quorum_metrics import PublishingCollector
from headrace.broker.node.admin import NodeAdmin
from headrace.broker.node.environment import NodeEnvironment
from headrace.config.node import NodeConfig
from headrace.config.quorum import is_broker
from headrace.metadata.driver import ControllerNode
from headrace.metadata.image import MetadataImage
from headrace.metadata.publishing import SnapshotPublisher
from headrace.storage.errors import ObjectStoreError
from headrace.storage.object_store.factory import ensure_bucket, open_object_store
from headrace.storage.object_store.retrying import RetryingObjectStore

logger = logging.getLogger("headrace.metadata_publishing")

BUCKET_KEY: Final = "s3.data.buckets"
# The first one is not in the way of a start; the bucket is asked so often until it answers.
BUCKET_ASKED_MS: Final = 5_000


def has_bucket(config: NodeConfig) -> bool:
    """Whether there is a bucket for snapshots: a broker's, or one that a controller was told of."""
    return is_broker(config) or BUCKET_KEY in config.static


async def publish_snapshots(
    config: NodeConfig, around: NodeEnvironment, node: ControllerNode, admin: NodeAdmin
) -> None:
    """Publish whenever this controller leads, until cancelled."""

    def leading_image() -> MetadataImage | None:
        return node.image if node.status().serving else None

    try:
        store = await _open_bucket(config, around)
    except ValueError as error:  # no credentials, for example: a matter of the configuration
        logger.error("the metadata is not published in the bucket: %s", error)  # noqa: TRY400
        return
    try:
        publisher = SnapshotPublisher(
            store,
            leading_image,
            interval_ms=config.metadata.snapshot_publish_interval_ms,
            wall_clock_ms=around.wall_clock_ms,
        )
        admin.server.expose(PublishingCollector(publisher.statistics))
        await publisher.run()
    finally:
        await store.close()


async def _open_bucket(config: NodeConfig, around: NodeEnvironment) -> RetryingObjectStore:
    """Open it once it answers.

    Raises:
        ValueError: it cannot be with these settings.
    """
    uri, environment = config.storage.bucket_uri, around.environment
    while True:
        await asyncio.sleep(BUCKET_ASKED_MS / 1000)
        try:
            await ensure_bucket(uri, environment=environment)
            return open_object_store(uri, rng=around.rng, environment=environment)
        except (ObjectStoreError, OSError) as error:
            logger.warning(
                "the bucket does not answer: the metadata is not published there yet",
                extra={"reason": str(error)},
            )
