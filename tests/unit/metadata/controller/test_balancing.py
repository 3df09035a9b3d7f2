"""Moves of a plan begin, unless what they were planned for has changed since."""

import pytest

from headrace.metadata.controller.balancing import WantedMove, begin_wanted
from headrace.metadata.records.topics import PartitionChangeRecord, PartitionMoveRecord
from headrace.metadata.rpc.requests import AlterReassignments, Reassignment
from tests.unit.metadata.pure_controller import PureController

FIVE = 5


@pytest.fixture
def controller():
    """Broker 1 leads eight partitions of "orders"; 2 and 3 lead none."""
    controller = PureController()
    for node_id in (1, 2, 3):
        controller.register(node_id)
        controller.begin_log(node_id)
    controller.led_by(1, "orders", partitions=8)
    return controller


def wanted(*partitions, topic="orders", source=1, target=2):
    return [WantedMove(topic, it, source, target) for it in partitions]


def begun(controller, moves, max_moves=FIVE):
    """(partition, target) of the moves that begin."""
    decision = begin_wanted(moves, max_moves, controller.image, controller.inputs())
    assert all(isinstance(it, PartitionMoveRecord) for it in decision.records)
    return [(it.partition, it.target) for it in decision.records]


def move(controller, partition, target):
    """A client asks for a move."""
    controller.do(AlterReassignments((Reassignment("orders", partition, (target,)),)))


def test_moves_begin_in_their_order(controller):
    moves = [*wanted(3), *wanted(0, target=3)]
    assert begun(controller, moves) == [(3, 2), (0, 3)]


def test_no_more_begin_than_may_be_under_way(controller):
    assert begun(controller, wanted(*range(8))) == [(it, 2) for it in range(FIVE)]


def test_moves_of_others_are_under_way_as_well(controller):
    for partition in range(4):
        move(controller, partition, 3)
    assert begun(controller, wanted(6, 7)) == [(6, 2)]
    move(controller, 4, 3)
    move(controller, 5, 3)
    assert begun(controller, wanted(6, 7)) == []


def test_a_partition_that_moves_already_is_left_alone(controller):
    move(controller, 0, 3)
    assert begun(controller, wanted(0, 1)) == [(1, 2)]


def test_a_partition_that_has_another_leader_is_left_alone(controller):
    topic = controller.image.topic("orders")
    controller.apply(PartitionChangeRecord(topic.topic_id, 0, 3, 1))
    assert begun(controller, wanted(0, 1)) == [(1, 2)]


def test_what_is_not_there_any_more_is_left_alone(controller):
    moves = [*wanted(0, topic="deleted"), *wanted(8), *wanted(1)]
    assert begun(controller, moves) == [(1, 2)]


def test_nothing_goes_to_a_broker_that_is_about_to_end(controller):
    controller.begin_log(2, controller.log(2).generation, reach=())
    assert begun(controller, [*wanted(0), *wanted(1, target=3)]) == [(1, 3)]


def test_nothing_begins_while_no_broker_stays(controller):
    for node_id in (1, 2, 3):
        controller.fence(node_id)
    assert begun(controller, wanted(0)) == []
