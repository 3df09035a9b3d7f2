"""Metrics of the group coordinator's log: how long it is, how much of it is live, what was given up."""

from collections.abc import Iterator
from typing import Any

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from headrace.broker.coordinator.runtime.coordinator_runtime import CoordinatorRuntime
from headrace.broker.telemetry.families import counters, gauges


class CoordinatorCollector(Collector):
    """Shows the partitions of `__consumer_offsets` that this broker leads, together."""

    def __init__(self, coordinator: CoordinatorRuntime[Any, Any]) -> None:
        self._coordinator = coordinator

    def collect(self) -> Iterator[Metric]:
        """Read everything."""
        coordinator, found = self._coordinator, self._coordinator.statistics
        yield from gauges(
            ("coordinator_log_bytes", "Bytes that a load would read", coordinator.log_bytes),
            ("coordinator_live_records", "Groups and committed offsets, one record each", coordinator.live_records),
        )  # fmt: skip
        yield from counters(
            ("loads", "Partitions loaded", found.loads_total),
            ("loaded_records", "Records read by loads", found.loaded_records_total),
            ("loads_past_damage", "Loads that passed over damage", found.loads_past_damage_total),
            ("rewrites", "Times that a partition's log was written again", found.rewrites_total),
            ("rewritten_records", "Live records written again", found.rewritten_records_total),
            ("given_up_records", "Records deleted thereby", found.given_up_records_total),
            ("given_up_bytes", "Bytes deleted thereby", found.given_up_bytes_total),
            prefix="coordinator_",
        )  # fmt: skip
