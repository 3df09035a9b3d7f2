"""Metrics of the drains of other brokers' logs. Plain counters, read at each scrape."""

from collections.abc import Iterator

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from headrace.broker.adapters.drained_log import DrainStatistics
from headrace.broker.telemetry.families import counters, gauge

MILLISECONDS = 1e-3


class DrainCollector(Collector):
    """Shows the logs that this broker drains, and has drained."""

    def __init__(self, statistics: DrainStatistics) -> None:
        self._statistics = statistics

    def collect(self) -> Iterator[Metric]:
        """Read everything."""
        found = self._statistics
        yield gauge("drains_running", "Logs of other brokers that are being drained", found.running)
        yield from counters(
            ("finished", "Logs of other brokers that were drained", found.finished),
            ("refused", "Logs of other brokers that could not be read", found.refused),
            ("ended", "Drains that ended early: the log has its owner or another drainer", found.ended),
            ("records", "Records uploaded by drains that were finished", found.records),
            ("bytes", "Bytes uploaded by drains that were finished", found.bytes),
            prefix="drains_",
        )  # fmt: skip
        yield gauge(
            "drains_last_seconds",
            "Duration of the drain that was finished last",
            found.last_ms * MILLISECONDS,
        )
