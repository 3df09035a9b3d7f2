"""Publishes a controller's snapshots in the bucket.

Serving metadata does not need the bucket: its failures are logged and retried.
"""

import asyncio
import logging
from contextlib import AsyncExitStack, suppress
from typing import Final

from headrace.broker.collectors.quorum_metrics import PublishingCollector
from headrace.broker.node.admin import NodeAdmin
from headrace.broker.node.environment import NodeEnvironment
from headrace.config.node import NodeConfig
from headrace.config.quorum import is_broker
from headrace.metadata.image import MetadataImage
from headrace.metadata.leader.driver import ControllerNode
from headrace.metadata.leader.publishing import SnapshotPublisher
from headrace.storage.errors import ObjectStoreError, StorageError
from headrace.storage.object_store.retrying import RetryingObjectStore

logger = logging.getLogger("headrace.metadata_publishing")

BUCKET_KEY: Final = "s3.data.buckets"
# The first attempt waits too, so that it does not slow down a start; retried at this interval.
BUCKET_ASKED_MS: Final = 5_000
LAST_PUBLISH_S: Final = 5.0  # a stop waits no longer for its snapshot


def has_bucket(config: NodeConfig) -> bool:
    """Whether a bucket for snapshots is configured: brokers always have one, controllers optionally."""
    return is_broker(config) or BUCKET_KEY in config.static


async def publish_snapshots(
    config: NodeConfig, environment: NodeEnvironment, node: ControllerNode, admin: NodeAdmin
) -> None:
    """Publish whenever this controller leads, and once more when cancelled.

    Raises:
        MetadataIdentityError: the bucket knows more of the log than the log of this controller, the only one.
    """

    def leading_image() -> MetadataImage | None:
        return node.image if node.status().serving else None

    async def refuse_if_alone(reason: str) -> None:
        # The others remember a voter's log, and may publish what this one does not know yet.
        if node.status().voters == (config.node_id,):
            await node.condemn(reason)

    def publisher_of(store: RetryingObjectStore) -> SnapshotPublisher:
        return SnapshotPublisher(
            store,
            leading_image,
            bucket_errors=(StorageError,),
            interval_ms=config.metadata.snapshot_publish_interval_ms,
            wall_clock_ms=environment.wall_clock_ms,
            awaited_index=lambda: node.awaited_snapshot,
            on_unknown=refuse_if_alone,
        )

    publisher: SnapshotPublisher | None = None
    async with AsyncExitStack() as stack:
        try:
            store = await _open_bucket(config, environment)
            stack.push_async_callback(store.close)
            publisher = publisher_of(store)
            admin.server.expose(PublishingCollector(publisher.statistics))
            await publisher.run()
        except ValueError as error:  # a configuration error, such as missing credentials
            logger.error(  # noqa: TRY400
                "no snapshot of the metadata is published in the bucket: %s; correct the setting and restart the node",
                error,
            )
        except asyncio.CancelledError:
            # The node stops, and its broker has uploaded what it had: readers of the bucket shall see it.
            with suppress(TimeoutError, ObjectStoreError, OSError, ValueError):
                async with asyncio.timeout(LAST_PUBLISH_S):
                    if publisher is None and leading_image() is not None:
                        store = await _opened(config, environment)
                        stack.push_async_callback(store.close)
                        publisher = publisher_of(store)
                    if publisher is not None:
                        await publisher.publish()
            raise


async def _open_bucket(config: NodeConfig, environment: NodeEnvironment) -> RetryingObjectStore:
    """Open the bucket once it answers.

    Raises:
        ValueError: it cannot be opened with these settings.
    """
    while True:
        await asyncio.sleep(BUCKET_ASKED_MS / 1000)
        try:
            return await _opened(config, environment)
        except (ObjectStoreError, OSError) as error:
            logger.warning(
                "the bucket does not answer: no snapshot of the metadata is published yet; trying again",
                extra={"reason": str(error)},
            )


async def _opened(config: NodeConfig, environment: NodeEnvironment) -> RetryingObjectStore:
    uri, variables = config.storage.bucket_uri, environment.variables
    return await environment.open_bucket(uri, rng=environment.rng, environment=variables)
