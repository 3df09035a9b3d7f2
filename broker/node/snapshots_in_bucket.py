"""Publishes a controller's snapshots in the bucket.

Serving metadata does not need the bucket: its failures are logged and retried.
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
from headrace.storage.errors import ObjectStoreError, StorageError
from headrace.storage.object_store.retrying import RetryingObjectStore

logger = logging.getLogger("headrace.metadata_publishing")

BUCKET_KEY: Final = "s3.data.buckets"
# The first attempt waits too, so that it does not slow down a start; retried at this interval.
BUCKET_ASKED_MS: Final = 5_000


def has_bucket(config: NodeConfig) -> bool:
    """Whether a bucket for snapshots is configured: brokers always have one, controllers optionally."""
    return is_broker(config) or BUCKET_KEY in config.static


async def publish_snapshots(
    config: NodeConfig, environment: NodeEnvironment, node: ControllerNode, admin: NodeAdmin
) -> None:
    """Publish whenever this controller leads, until cancelled.

    Raises:
        MetadataIdentityError: the bucket knows more of the log than the log of this controller, the only one.
    """

    def leading_image() -> MetadataImage | None:
        return node.image if node.status().serving else None

    async def refuse_if_alone(reason: str) -> None:
        # The others remember a voter's log, and may publish what this one does not know yet.
        if node.status().voters == (config.node_id,):
            await node.condemn(reason)

    try:
        store = await _open_bucket(config, environment)
    except ValueError as error:  # a configuration error, such as missing credentials
        logger.error(  # noqa: TRY400
            "no snapshot of the metadata is published in the bucket: %s; correct the setting and restart the node",
            error,
        )
        return
    try:
        publisher = SnapshotPublisher(
            store,
            leading_image,
            bucket_errors=(StorageError,),
            interval_ms=config.metadata.snapshot_publish_interval_ms,
            wall_clock_ms=environment.wall_clock_ms,
            awaited_index=lambda: node.awaited_snapshot,
            on_unknown=refuse_if_alone,
        )
        admin.server.expose(PublishingCollector(publisher.statistics))
        await publisher.run()
    finally:
        await store.close()


async def _open_bucket(config: NodeConfig, environment: NodeEnvironment) -> RetryingObjectStore:
    """Open the bucket once it answers.

    Raises:
        ValueError: it cannot be opened with these settings.
    """
    uri, variables = config.storage.bucket_uri, environment.variables
    while True:
        await asyncio.sleep(BUCKET_ASKED_MS / 1000)
        try:
            return await environment.open_bucket(uri, rng=environment.rng, environment=variables)
        except (ObjectStoreError, OSError) as error:
            logger.warning(
                "the bucket does not answer: no snapshot of the metadata is published yet; trying again",
                extra={"reason": str(error)},
            )
