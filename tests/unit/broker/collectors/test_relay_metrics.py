from prometheus_client import CollectorRegistry, generate_latest

from headrace.broker.collectors.relay_metrics import RelayCollector, TransportCollector
from headrace.metadata.leader.relays import RelayStatistics
from headrace.metadata.net.quorum_transport import TransportStatistics


def test_both_ends_show_what_is_passed_on() -> None:
    registry = CollectorRegistry()
    registry.register(TransportCollector(lambda: TransportStatistics(9, 2, 1, 3, 4)))
    registry.register(RelayCollector(RelayStatistics(passed_on=5, failures=1, refused=2)))
    page = generate_latest(registry).decode()
    for line in (
        "headrace_controller_requests_total 9.0",
        "headrace_controller_request_failures_total 2.0",
        "headrace_controller_requests_relayed_total 4.0",
        "headrace_quorum_relayed_requests_total 5.0",
        "headrace_quorum_relay_failures_total 3.0",
    ):
        assert f"\n{line}\n" in page
