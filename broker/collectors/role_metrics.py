"""Metric of a broker that was fenced and began again in its process."""

from collections.abc import Callable, Iterator

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from headrace.broker.telemetry.families import counter


class RoleCollector(Collector):
    """Counts the restarts of the role since the start of the process."""

    def __init__(self, restarts_total: Callable[[], int]) -> None:
        self._restarts_total = restarts_total

    def collect(self) -> Iterator[Metric]:
        """See prometheus_client."""
        yield counter(
            "broker_role_restarts",
            "How often this broker was fenced and has begun again in its process; its other counters begin at 0 then",
            self._restarts_total(),
        )
