"""Metrics of the request budgets: inflight and waiting requests of each class of requests to the bucket."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from headrace.broker.telemetry.families import counter_by, gauge_by
from headrace.storage.request_budget import RequestBudget

_SHOWN: Final[tuple[tuple[Callable[..., Metric], str, str, Callable[[RequestBudget], float]], ...]] = (
    (gauge_by, "requests", "Requests that hold room", lambda it: it.requests),
    (gauge_by, "bytes", "Bytes of the requests that hold room", lambda it: it.bytes),
    (gauge_by, "waiting", "Requests that wait for room", lambda it: it.waiting),
    (counter_by, "waited", "Requests that had to wait for room", lambda it: it.statistics.waited),
    (counter_by, "waited_seconds", "Time that requests waited for room", lambda it: it.statistics.waited_seconds),
    (counter_by, "put_off", "Reads ahead that were skipped as there was no room", lambda it: it.statistics.put_off),
)  # fmt: skip


class BudgetCollector(Collector):
    """Reads the budgets at each scrape: plain numbers."""

    def __init__(self, budgets: Mapping[str, RequestBudget]) -> None:
        """Take the budgets by class of requests, which becomes a label."""
        self._budgets = budgets

    def collect(self) -> Iterator[Metric]:
        """Read everything."""
        for family, name, text, value in _SHOWN:
            samples = ((name, value(budget)) for name, budget in self._budgets.items())
            yield family("class", f"request_budget_{name}", text, samples)
