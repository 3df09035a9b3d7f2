"""CoordinatorCollector: every statistic of the coordinator's logs, each under a name of its own."""

from dataclasses import fields
from types import SimpleNamespace

from headrace.broker.collectors.coordinator_metrics import CoordinatorCollector
from headrace.broker.coordinator.runtime.statistics import CoordinatorStatistics


def test_every_statistic_is_shown_once() -> None:
    values = {field.name: number for number, field in enumerate(fields(CoordinatorStatistics), 1)}
    coordinator = SimpleNamespace(
        log_bytes=100, live_records=200, statistics=CoordinatorStatistics(**values)
    )
    collector = CoordinatorCollector(coordinator)  # type: ignore[arg-type]
    shown = {
        sample.name.removeprefix("headrace_coordinator_"): sample.value
        for family in collector.collect()
        for sample in family.samples
    }
    assert shown == {**values, "log_bytes": 100, "live_records": 200}
