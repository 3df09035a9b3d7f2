"""Counts and latencies of requests, cheap enough for the hot path."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from prometheus_client.core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from headrace.broker.telemetry.latencies import Latencies
from headrace.protocol.api_keys import ApiKey

LATENCY_BUCKETS_S = (
    0.00005, 0.0001, 0.0002, 0.0003, 0.0005, 0.00075, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.125, 0.25, 0.5,
    1, 2, 5, 30,
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
            "Time from the last byte of a request to its answer, as the socket gets it",
            labels=["api"],
        )


class _Observers(dict[int, Callable[[float], None]]):
    """Made when an API is asked for the first time: a look-up is all that a request costs."""

    def __init__(self, by_api: dict[int, Latencies]) -> None:
        super().__init__()
        self._by_api = by_api

    def __missing__(self, api_key: int) -> Callable[[float], None]:
        self._by_api[api_key] = latencies = Latencies(LATENCY_BUCKETS_S)
        self[api_key] = observe = latencies.observe
        return observe


class RequestMetrics:
    """Plain counters for every request, and a latency histogram per API (observed cheaply)."""

    def __init__(self, clock_s: Callable[[], float]) -> None:
        self.requests: defaultdict[int, int] = defaultdict(int)
        self.produce_refused: defaultdict[int, int] = defaultdict(int)  # by error code
        self.cold_reads_failed: defaultdict[int, int] = defaultdict(int)  # by error code
        self.latest: int | None = None  # the API of the last request since it was read last
        self.clock_s = clock_s
        self._latencies = _LatenciesByApi()
        # By API: the functions that record one latency in seconds.
        self.observers = _Observers(self._latencies.by_api)

    def take_latest(self) -> str:
        """Name the API of the last request since the last call."""
        latest, self.latest = self.latest, None
        return "none" if latest is None else ApiKey(latest).name.lower()

    @property
    def latencies(self) -> Collector:
        """The collector of the latency histogram of all APIs."""
        return self._latencies
