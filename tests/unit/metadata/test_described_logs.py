"""What an operator is told of logs, and of the partitions that wait for them."""

import pytest

from headrace.metadata.image import MetadataImage
from headrace.metadata.offline.described_logs import (
    describe_logs,
    log_state,
    offline_by_owner,
    waiting_logs,
)
from headrace.metadata.records.logs import LogMedium, LogReach
from headrace.metadata.rpc.requests import AcceptLogLoss, EndLog, RefuseDrain
from tests.unit.metadata.pure_controller import EVERY_FILE, PureController


@pytest.fixture
def controller():
    """Brokers 1 and 2, of which 1 leads a topic; nobody drains."""
    controller = PureController()
    for node_id in (1, 2):
        controller.register(node_id)
        controller.begin_log(node_id, reach=())
    controller.led_by(1, "orders", partitions=3)
    return controller


def end(controller, node_id=1):
    controller.now_ms = 5_000_000
    controller.fence(node_id)


def test_a_log_in_use_waits_for_nothing(controller):
    log, _ = describe_logs(controller.image)

    assert (log.log_id, log.owner, log.owner_state, log.state) == (1, 1, "active", "active")
    assert (log.medium, log.places) == ("file", ("/wals/1",))
    assert (log.owner_ended_ms, log.offline_partitions, log.drainer) == (None, 0, None)
    assert waiting_logs(controller.image) == []
    assert offline_by_owner(controller.image) == {}


def test_partitions_wait_for_the_log_of_a_broker_that_has_ended(controller):
    end(controller)

    log, _ = describe_logs(controller.image)

    assert (log.owner_state, log.owner_ended_ms) == ("expired", 5_000_000)
    assert (log.offline_partitions, log.partitions) == (3, {"orders": (0, 1, 2)})
    (reason,) = waiting_logs(controller.image)
    assert f"log 1 of broker 1, generation {log.generation}, waits for" in reason
    assert "acceptance of its loss (no active broker can drain logs)" in reason


def test_nobody_waits_any_more_once_the_loss_is_accepted(controller):
    end(controller)

    controller.do(AcceptLogLoss(1, controller.log(1).generation, damaged_only=False))

    log, _ = describe_logs(controller.image)
    assert (log.state, log.offline_partitions) == ("lost", 0)
    assert waiting_logs(controller.image) == []


def test_a_log_that_is_drained_tells_by_whom_and_who_could_not(controller):
    controller.register(3)
    controller.begin_log(3, reach=EVERY_FILE)
    end(controller)
    controller.settle()
    described = describe_logs(controller.image)[0]
    assert (described.drainer, described.draining_since_ms) == (3, 5_000_000)
    assert described.waiting is None
    assert "is drained by broker 3" in waiting_logs(controller.image)[0]
    drain = controller.log(1).drain

    controller.do(RefuseDrain(drain.node_id, drain.node_epoch, 1, drain.epoch, "not there"))

    log = describe_logs(controller.image)[0]
    assert (log.drainer, log.refusals) == (None, ("broker 3: not there",))
    assert log.draining_since_ms is None
    assert log.waiting.endswith("(broker 3: not there)")


def test_why_nobody_drains_a_log(controller):
    controller.register(3)
    controller.begin_log(3, reach=(LogReach(LogMedium.FILE, "/elsewhere"),))
    end(controller)
    assert describe_logs(controller.image)[0].waiting.endswith("(no active broker reaches /wals/1)")

    for node_id in (4, 5):
        controller.register(node_id)
        controller.begin_log(node_id, reach=())
        controller.fence(node_id)
    controller.begin_log(3)
    assert controller.settle() == [1, 4]
    assert describe_logs(controller.image)[-1].waiting.endswith(
        "(those that reach it drain others)"
    )


def test_an_orderly_stop_leaves_partitions_offline_and_nothing_to_lose(controller):
    controller.do(EndLog(*controller.sender(1), 1))
    end(controller)

    assert offline_by_owner(controller.image) == {1: {"orders": (0, 1, 2)}}
    assert log_state(controller.image, 1) == "empty"
    (reason,) = waiting_logs(controller.image)
    assert "is empty, and its partitions move as soon as a broker that can drain" in reason
    controller.begin_log(2)
    controller.settle()
    assert waiting_logs(controller.image) == []


def test_partitions_of_a_broker_whose_log_is_not_known_are_told(controller):
    controller.register(3)
    controller.register(4)
    controller.led_by(3, "unknown")
    assert waiting_logs(controller.image) == []
    end(controller, 3)
    end(controller, 4)

    assert waiting_logs(controller.image) == [
        "broker 3 has ended, and its log is not known: its partitions wait until it is started again"
    ]


def test_a_broker_without_a_log():
    assert log_state(MetadataImage(), 1) == "none"
