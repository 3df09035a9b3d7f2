"""Metrics of the balance of brokers; only the leading controller has values. Plain counters, read at each scrape."""

from collections.abc import Callable, Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from headrace.broker.telemetry.families import counter
from headrace.metadata.balance.cluster import Goal
from headrace.metadata.balance.state import BalanceState


class BalanceCollector(Collector):
    """Shows the state of this term; None on a controller that does not lead."""

    def __init__(self, state: Callable[[], BalanceState | None]) -> None:
        self._state = state

    def collect(self) -> Iterator[Metric]:
        """Read everything."""
        state = self._state()
        if state is None:
            return
        begun = CounterMetricFamily(
            "headrace_balance_moves",
            "Moves that have begun to even out brokers, in this term",
            labels=["goal"],
        )
        for goal in Goal:
            begun.add_metric([goal.value], state.moves_total[goal])
        yield begun
        yield counter(
            "balance_moves_taken_back",
            "Moves of the balance that were taken back, in this term",
            state.taken_back_total,
        )
        yield counter(
            "balance_plans",
            "How often the controller has looked whether partitions should move, in this term",
            state.plans_total,
        )
        deviation = GaugeMetricFamily(
            "headrace_balance_deviation_ratio",
            "How far the furthest broker was from the mean at the last look",
            labels=["goal"],
        )
        for goal, percent in () if state.last_plan is None else state.last_plan.deviations_percent:
            deviation.add_metric([goal.value], percent / 100)
        yield deviation
