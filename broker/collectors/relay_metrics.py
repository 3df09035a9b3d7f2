"""Metrics of requests that reach the leading controller through another one, at both ends."""

from collections.abc import Callable, Iterator

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from headrace.broker.telemetry.families import counters
from headrace.metadata.leader.relays import RelayStatistics
from headrace.metadata.net.quorum_transport import TransportStatistics


class TransportCollector(Collector):
    """Shows a broker's requests to the controllers."""

    def __init__(self, statistics: Callable[[], TransportStatistics]) -> None:
        self._read = statistics

    def collect(self) -> Iterator[Metric]:
        """Read everything."""
        found = self._read()
        yield from counters(
            ("controller_requests", "Requests to controllers", found.requests),
            ("controller_request_failures", "Requests to controllers that were not sent, or not answered in time",
             found.failures),
            ("controller_requests_relayed",
             "Requests that another controller has passed on to the leading one, which is not reached",
             found.relayed),
        )  # fmt: skip


class RelayCollector(Collector):
    """Shows what a controller has passed on to the leading one for brokers."""

    def __init__(self, statistics: RelayStatistics) -> None:
        self._statistics = statistics

    def collect(self) -> Iterator[Metric]:
        """Read everything."""
        found = self._statistics
        yield from counters(
            ("quorum_relayed_requests", "Requests of brokers that this controller has passed on to the leading one",
             found.passed_on),
            ("quorum_relay_failures", "Requests of brokers that it could not pass on, or that were not answered",
             found.failures + found.refused),
        )  # fmt: skip
