"""Metrics of a controller, and readiness of every node, about partitions that no broker serves."""

from collections.abc import Callable, Iterator
from typing import Final

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from headrace.broker.telemetry.readiness import CheckResult
from headrace.metadata.image import MetadataImage
from headrace.metadata.offline.described_logs import log_state, offline_by_owner, waiting_logs
from headrace.metadata.quorum.status import QuorumStatus

MAX_LOGS_NAMED: Final = 20


class OfflineCollector(Collector):
    """Counts, at the leading controller, the partitions whose broker's epoch has ended."""

    def __init__(
        self, status: Callable[[], QuorumStatus], image: Callable[[], MetadataImage]
    ) -> None:
        self._read_status = status
        self._read_image = image
        self._image: MetadataImage | None = None  # of a leader

    def take(self) -> None:
        """Take the image, whose partitions `collect` counts in any thread."""
        self._image = self._read_image() if self._read_status().serving else None

    def collect(self) -> Iterator[Metric]:
        """Count."""
        family = GaugeMetricFamily(
            "headrace_offline_partitions",
            "Partitions whose broker (owner) has ended, with the state of its log; the leading controller shows them",
            labels=["owner", "log"],
        )
        image = self._image
        if image is not None:
            for owner, topics in sorted(offline_by_owner(image).items()):
                count = sum(map(len, topics.values()))
                family.add_metric([str(owner), log_state(image, owner)], count)
        yield family


def check_logs(image: MetadataImage | None) -> CheckResult:
    """Readiness: always holds; the reason names logs that partitions wait for, because their owners have ended.

    Args:
        image: the newest metadata of this node; None: it has none yet.
    """
    if image is None:
        return CheckResult("logs", ok=True, reason="not known yet")
    waiting = waiting_logs(image)
    named = waiting[:MAX_LOGS_NAMED]
    if len(waiting) > MAX_LOGS_NAMED:
        named.append(f"{len(waiting) - MAX_LOGS_NAMED} more")
    return CheckResult("logs", ok=True, reason="; ".join(named) or "none waits")
