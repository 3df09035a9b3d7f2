"""Metrics of a broker's copy of the metadata and of its lease."""

from collections.abc import Iterator

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from headrace.broker.telemetry.families import gauges
from headrace.metadata.follower.client import MetadataClient
from headrace.metadata.levels import NEWEST, level_of

MILLISECONDS = 1e-3


class MetadataCollector(Collector):
    """Shows how far this broker has applied the metadata, and its lease."""

    def __init__(self, client: MetadataClient) -> None:
        self._client = client

    def collect(self) -> Iterator[Metric]:
        """Read everything."""
        client = self._client
        yield from gauges(
            ("metadata_applied_index", "Index of the newest entry of the metadata log that this broker has applied",
             client.image.index),
            ("metadata_lag_entries",
             "Entries of the controller's log, as of its last answer, that this broker has not applied",
             client.lag),
            ("metadata_level", "Level of the cluster (headrace.metadata.version); an operator raises it",
             level_of(client.image.features)),
            ("metadata_level_supported", "Newest level of headrace.metadata.version that this broker reads", NEWEST),
            ("lease_remaining_seconds",
             "How long this broker may acknowledge records without another answered heartbeat",
             client.lease_remaining_ms() * MILLISECONDS),
            ("node_epoch", "Epoch of this broker's registration; it grows with each registration", client.node_epoch),
        )  # fmt: skip
