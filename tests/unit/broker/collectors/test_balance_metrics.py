"""What the leading controller shows of the balance of brokers."""

from prometheus_client import CollectorRegistry, generate_latest

from headrace.broker.collectors.balance_metrics import BalanceCollector
from tests.unit.metadata.balance.balanced_cluster import BalancedCluster


def series(state):
    registry = CollectorRegistry()
    registry.register(BalanceCollector(lambda: state))
    page = generate_latest(registry).decode().splitlines()
    return [it for it in page if not it.startswith("#")]


def test_moves_are_counted_and_the_last_look_is_shown():
    cluster = BalancedCluster()
    cluster.pass_window()
    first, *_ = cluster.go_on()
    cluster.finish(first.move.partition)
    cluster.take_back_all()

    assert series(cluster.state) == [
        'headrace_balance_moves_total{goal="traffic"} 5.0',
        'headrace_balance_moves_total{goal="number"} 0.0',
        "headrace_balance_moves_taken_back_total 4.0",
        "headrace_balance_plans_total 1.0",
        'headrace_balance_deviation_ratio{goal="traffic"} 1.0',
        'headrace_balance_deviation_ratio{goal="number"} 1.0',
    ]


def test_before_the_first_look_no_deviation_is_known():
    assert series(BalancedCluster().state) == [
        'headrace_balance_moves_total{goal="traffic"} 0.0',
        'headrace_balance_moves_total{goal="number"} 0.0',
        "headrace_balance_moves_taken_back_total 0.0",
        "headrace_balance_plans_total 0.0",
    ]


def test_a_controller_that_does_not_lead_shows_nothing():
    assert series(None) == []
