"""What the leading controller shows of partitions that nobody serves."""

from prometheus_client import CollectorRegistry, generate_latest

from headrace.broker.collectors.offline_metrics import (
    MAX_LOGS_NAMED,
    OfflineCollector,
    check_logs,
)
from headrace.broker.telemetry.readiness import CheckResult
from headrace.metadata.raft.effects import Role
from tests.unit.broker.collectors.test_quorum_metrics import status
from tests.unit.metadata.pure_controller import PureController


def ended_broker():
    """Broker 1 has ended, which leads three partitions; broker 2 leads one."""
    controller = PureController()
    for node_id in (1, 2):
        controller.register(node_id)
        controller.begin_log(node_id, reach=())
    controller.led_by(1, "orders", partitions=3)
    controller.led_by(2, "others")
    controller.fence(1)
    return controller


def series(image, **changes):
    collector = OfflineCollector(lambda: status(**changes), lambda: image)
    registry = CollectorRegistry()
    registry.register(collector)
    collector.take()
    page = generate_latest(registry).decode().splitlines()
    return [it for it in page if not it.startswith("#")]


def test_offline_partitions_are_counted_with_the_reason():
    image = ended_broker().image

    assert series(image) == ['headrace_offline_partitions{log="active",owner="1"} 3.0']


def test_only_the_leading_controller_counts_them():
    image = ended_broker().image

    assert series(image, role=Role.FOLLOWER, serving=False) == []


def test_readiness_holds_and_names_the_log():
    controller = ended_broker()

    check = check_logs(controller.image)

    assert check.ok
    assert f"log 1 of broker 1, generation {controller.log(1).generation}" in check.reason
    controller.register(1)
    assert check_logs(controller.image).reason == "none waits"


def test_readiness_holds_before_anything_is_known():
    assert check_logs(None) == CheckResult("logs", ok=True, reason="not known yet")


def test_readiness_names_so_many_logs_and_counts_the_rest():
    controller = PureController()
    for node_id in range(1, MAX_LOGS_NAMED + 3):
        controller.register(node_id)
        controller.begin_log(node_id, reach=())
        controller.fence(node_id)

    named = check_logs(controller.image).reason.split("; ")

    assert len(named) == MAX_LOGS_NAMED + 1
    assert named[-1] == "2 more"
