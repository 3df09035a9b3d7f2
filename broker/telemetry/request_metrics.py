"""Counts and latencies of requests, cheap enough for the hot path."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from prometheus_client.core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from headrace.broker.telemetry.latencies import Latencies
from headrace.protocol.api_keys import ApiKey

LATENCY_BUCKETS_S = (
    0.00025, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.125, 0.25, 0.5, 1, 2, 5, 30,
)  # fmt: skip


class _LatenciesByApi(Collector):
    """The histograms of all APIs that were asked for."""

    def __init__(self) -> None:
        self.by_api: dict[int, Latencies] = {}

    def describe(self) -> Iterable[Metric]:
        """Name what `collect` gives."""
        yield self._family()

    def collect(self) -> Iterator[Metric]:
        """One histogram for each API."""
        family = self._family()
        for api_key, latencies in self.by_api.items():
            family.add_metric([ApiKey(api_key).name.lower()], latencies.buckets(), latencies.sum_s)
        yield family

    @staticmethod
    def _family() -> HistogramMetricFamily:
        return HistogramMetricFamily(
            "headrace_request_duration_seconds",
            "Time from the arrival of a request to its answer",
            labels=["api"],
        )


class RequestMetrics:
    """Plain counters for every request, and a latency histogram per API (bound once, observed cheaply)."""

    def __init__(self, clock_s: Callable[[], float]) -> None:
        self.requests: defaultdict[int, int] = defaultdict(int)
        self.produce_refused: defaultdict[int, int] = defaultdict(int)  # by error code
        self.cold_reads_failed: defaultdict[int, int] = defaultdict(int)  # by error code
        self.latest: int | None = None  # the API of the last request since somebody asked
        self.clock_s = clock_s
        self._latencies = _LatenciesByApi()
        self.observe_produce = self.observer(int(ApiKey.PRODUCE))
        self.observe_fetch = self.observer(int(ApiKey.FETCH))

    def observer(self, api_key: int) -> Callable[[float], None]:
        """Return the function that records one latency in seconds for `api_key`."""
        by_api = self._latencies.by_api
        if api_key not in by_api:
            by_api[api_key] = Latencies(LATENCY_BUCKETS_S)
        return by_api[api_key].observe

    def take_latest(self) -> str:
        """Name the API of the last request since the last call."""
        latest, self.latest = self.latest, None
        return "none" if latest is None else ApiKey(latest).name.lower()

    @property
    def latencies(self) -> Collector:
        """The collector of the latency histogram of all APIs."""
        return self._latencies

    @contextmanager
    def time(self, api_key: int) -> Iterator[None]:
        """Record how long the body takes."""
        begin = self.clock_s()
        try:
            yield
        finally:
            self.observer(api_key)(self.clock_s() - begin)
