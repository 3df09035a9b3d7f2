"""Hourly requests to a bucket that do not depend on the load: sweeps, and snapshots of the metadata."""

import random
import time
from dataclasses import dataclass

from bench.s3_proxy import CountingProxy
from bench.s3_requests import Tally
from headrace.config.node import MetadataConfig, StorageConfig
from headrace.metadata.image import MetadataImage
from headrace.metadata.published import NO_SNAPSHOT
from headrace.metadata.leader.publishing import SnapshotPublisher
from headrace.storage.audit.cost import Prices
from headrace.storage.errors import StorageError
from headrace.storage.object_store.retrying import RetryingObjectStore
from headrace.storage.sweep.swept_bucket import open_swept_bucket
from headrace.storage.sweep.sweeper import Sweeper
from tests.simulation.control_plane import CLUSTER_ID, ControlPlane

HOUR_MS = 3_600_000
HOURS_OF_A_MONTH = 730


@dataclass
class Upkeep:
    """Requests of one sweep and of one snapshot, and the number of each per hour."""

    sweep: Tally
    snapshot: Tally
    swept_objects: int
    sweeps_per_hour: float
    snapshots_per_hour: float  # at most: there is none without a change of the metadata

    @property
    def puts_per_hour(self) -> float:
        """PUT-class requests."""
        sweeps = self.sweep.puts * self.sweeps_per_hour
        return sweeps + self.snapshot.puts * self.snapshots_per_hour

    @property
    def gets_per_hour(self) -> float:
        """GET-class requests."""
        sweeps = self.sweep.gets * self.sweeps_per_hour
        return sweeps + self.snapshot.gets * self.snapshots_per_hour

    def price_per_month(self, prices: Prices) -> float:
        """The price for 730 hours."""
        sweeps = self.sweep.price(prices) * self.sweeps_per_hour
        snapshots = self.snapshot.price(prices) * self.snapshots_per_hour
        return (sweeps + snapshots) * HOURS_OF_A_MONTH

    def as_json(self, prices: Prices) -> dict[str, object]:
        """The JSON form."""
        return {
            "sweep": dict(self.sweep.requests),
            "snapshot": dict(self.snapshot.requests),
            "swept_objects": self.swept_objects,
            "sweeps_per_hour": self.sweeps_per_hour,
            "snapshots_per_hour": self.snapshots_per_hour,
            "put_per_hour": self.puts_per_hour,
            "get_per_hour": self.gets_per_hour,
            "price_per_month": self.price_per_month(prices),
        }


async def _stop(reason: str) -> None:
    raise RuntimeError(reason)


async def measure_upkeep(
    config: StorageConfig,
    store: RetryingObjectStore,
    control: ControlPlane,
    proxy: CountingProxy,
) -> Upkeep:
    """Sweep the bucket and put a snapshot into it, once each, and count the requests."""
    place = open_swept_bucket(config.bucket_uri, {})
    assert place is not None
    sweeper = Sweeper(
        config,
        store,
        place,
        control,
        rng=random.Random(1),
        wall_clock_ms=lambda: time.time_ns() // 1_000_000,
    )
    proxy.take()
    await sweeper.sweep()
    sweep = proxy.take()
    found = sweeper.statistics
    assert not found.failures, found
    assert not found.removed_objects, found
    published = MetadataConfig()
    image = MetadataImage(cluster_id=CLUSTER_ID, index=1)
    publisher = SnapshotPublisher(
        store,
        lambda: image,
        bucket_errors=(StorageError,),
        interval_ms=published.snapshot_publish_interval_ms,
        wall_clock_ms=lambda: 0,
        awaited_index=lambda: NO_SNAPSHOT,
        on_unknown=_stop,
    )
    await publisher.publish()
    assert not publisher.statistics.failures
    return Upkeep(
        sweep,
        proxy.take(),
        found.listed_objects,
        HOUR_MS / config.sweep_interval_ms,
        HOUR_MS / published.snapshot_publish_interval_ms,
    )
