"""What a broker shows of the logs that it drains."""

from prometheus_client import CollectorRegistry, generate_latest

from headrace.broker.adapters.drained_log import DrainStatistics
from headrace.broker.collectors.drain_metrics import DrainCollector


def test_drains_are_shown_running_and_as_totals() -> None:
    registry = CollectorRegistry()
    registry.register(DrainCollector(DrainStatistics(1, 2, 3, 4, 5, 6, 7_500)))
    page = generate_latest(registry).decode().splitlines()
    assert [it for it in page if not it.startswith("#")] == [
        "headrace_drains_running 1.0",
        "headrace_drains_finished_total 2.0",
        "headrace_drains_refused_total 3.0",
        "headrace_drains_ended_total 4.0",
        "headrace_drains_records_total 5.0",
        "headrace_drains_bytes_total 6.0",
        "headrace_drains_last_seconds 7.5",
    ]
