"""Metrics of the request budgets: inflight and waiting requests of each class of requests to the bucket."""

from collections.abc import Iterator, Mapping

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from headrace.storage.request_budget import RequestBudget


class BudgetCollector(Collector):
    """Reads the budgets at each scrape: plain numbers."""

    def __init__(self, budgets: Mapping[str, RequestBudget]) -> None:
        """Take the budgets by class of requests, which becomes a label."""
        self._budgets = budgets

    def collect(self) -> Iterator[Metric]:
        """Read everything."""
        labels = ["class"]
        requests = GaugeMetricFamily(
            "headrace_request_budget_requests", "Requests that hold room", labels=labels
        )
        size = GaugeMetricFamily(
            "headrace_request_budget_bytes", "Bytes of the requests that hold room", labels=labels
        )
        waiting = GaugeMetricFamily(
            "headrace_request_budget_waiting", "Requests that wait for room", labels=labels
        )
        waited = CounterMetricFamily(
            "headrace_request_budget_waited", "Requests that had to wait for room", labels=labels
        )
        seconds = CounterMetricFamily(
            "headrace_request_budget_waited_seconds",
            "Time that requests waited for room",
            labels=labels,
        )
        put_off = CounterMetricFamily(
            "headrace_request_budget_put_off",
            "Reads ahead that were skipped because there was no room",
            labels=labels,
        )
        for name, budget in self._budgets.items():
            requests.add_metric([name], budget.requests)
            size.add_metric([name], budget.bytes)
            waiting.add_metric([name], budget.waiting)
            waited.add_metric([name], budget.statistics.waited)
            seconds.add_metric([name], budget.statistics.waited_seconds)
            put_off.add_metric([name], budget.statistics.put_off)
        yield from (requests, size, waiting, waited, seconds, put_off)
