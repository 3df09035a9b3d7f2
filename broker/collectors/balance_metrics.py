"""Metrics of the balance of brokers; only the leading controller has values. Plain counters, read at each scrape."""

from collections.abc import Callable, Iterator

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from headrace.broker.telemetry.families import counter_by, counters, gauge_by
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
        yield counter_by(
            "goal",
            "balance_moves",
            "Moves that have begun to even out brokers, in this term",
            ((goal.value, state.moves_total[goal]) for goal in Goal),
        )
        yield from counters(
            ("balance_moves_taken_back", "Moves of the balance that were taken back, in this term",
             state.taken_back_total),
            ("balance_plans", "How often the controller has looked whether partitions should move, in this term",
             state.plans_total),
        )  # fmt: skip
        plan = state.last_plan
        yield gauge_by(
            "goal",
            "balance_deviation_ratio",
            "How far the furthest broker was from the mean at the last look",
            (
                (it.value, percent / 100)
                for it, percent in (plan.deviations_percent if plan else ())
            ),
        )
