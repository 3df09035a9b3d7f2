"""The partitions of a broker that is about to end move to those that stay."""

from collections import Counter

import pytest

from headrace.loop_steps import completed
from headrace.metadata.controller.leaving import (
    MAX_MOVES,
    MIN_MOVES,
    has_to_move_away,
    leaving_brokers,
    move_away,
)
from headrace.metadata.controller.logs import replace_keys
from headrace.metadata.controller.moves import lost_moves, take_back
from headrace.metadata.images.log_keys import generation_key
from headrace.metadata.levels import METADATA_FEATURE
from headrace.metadata.records.cluster import FeatureRecord
from headrace.metadata.records.topics import PartitionChangeRecord
from headrace.metadata.rpc.requests import EndLog, PutKeyValues
from tests.unit.metadata.pure_controller import PureController

NODES = (1, 2, 3)


@pytest.fixture
def controller():
    return cluster(NODES)


def cluster(nodes, level=3):
    controller = PureController(level=level)
    for node_id in nodes:
        controller.register(node_id)
        controller.begin_log(node_id)
    return controller


def leave(controller, node_id=1):
    """It begins to stop."""
    controller.begin_log(node_id, controller.log(node_id).generation, reach=())


def round_of(controller):
    """What the leading controller does now and then."""
    if has_to_move_away(controller.image):
        controller.commit(completed(move_away(controller.image, controller.inputs())))


def moves(controller):
    """Targets, by topic and partition."""
    image = controller.image
    return {(image.topics[key[0]].name, key[1]): it.target for key, it in image.moves.items()}


def finish(controller, count):
    """As many of the moves come to their end."""
    image = controller.image
    for (topic_id, index), move in sorted(image.moves.items())[:count]:
        epoch = image.topics[topic_id].partitions[index].leader_epoch + 1
        controller.apply(PartitionChangeRecord(topic_id, index, move.target, epoch))


def led(controller, node_id):
    topics = controller.image.topics.values()
    return sum(it.leader == node_id for topic in topics for it in topic.partitions)


def test_while_all_stay_nothing_moves(controller):
    controller.led_by(1, partitions=4)
    assert leaving_brokers(controller.image) == []
    assert not has_to_move_away(controller.image)


def test_all_partitions_move_to_those_that_stay(controller):
    controller.led_by(1, "a", partitions=4)
    controller.led_by(2, "b", partitions=4)
    leave(controller)

    assert leaving_brokers(controller.image) == [1]
    round_of(controller)

    found = moves(controller)
    assert set(found) == {("a", it) for it in range(4)}
    assert Counter(found.values()) == {2: 2, 3: 2}
    finish(controller, 4)
    before = controller.image
    round_of(controller)
    assert controller.image.moves == before.moves
    assert led(controller, 1) == 0


def test_only_some_move_at_a_time(controller):
    controller.led_by(1, partitions=MAX_MOVES + 10)
    leave(controller)
    round_of(controller)
    assert len(moves(controller)) == MAX_MOVES
    finish(controller, MAX_MOVES - MIN_MOVES)
    assert not has_to_move_away(controller.image)
    finish(controller, 1)
    round_of(controller)
    assert len(moves(controller)) == MIN_MOVES - 1 + 10


def test_what_was_taken_back_begins_again(controller):
    controller.led_by(1)
    leave(controller)
    round_of(controller)
    (move,) = controller.image.moves.values()
    controller.fence(move.target)
    controller.commit(take_back(lost_moves(controller.image), controller.image))
    round_of(controller)
    (again,) = controller.image.moves.values()
    assert again.target == ({2, 3} - {move.target}).pop()


def test_who_has_not_told_its_log_yet_stays():
    """As when the level is raised under running brokers: they tell their logs one after the other."""
    controller = PureController(level=1)
    for node_id in NODES:
        controller.register(node_id)
        keys = ((generation_key(node_id), f"{controller.epochs[node_id]} {node_id:016x}".encode()),)
        controller.do(PutKeyValues(*controller.sender(node_id), keys))
        controller.led_by(node_id, f"of-{node_id}", partitions=4)
    controller.apply(FeatureRecord(METADATA_FEATURE, 3))
    controller.commit(replace_keys(controller.image))
    for node_id in NODES:
        assert leaving_brokers(controller.image) == []
        controller.begin_log(node_id)
    assert not has_to_move_away(controller.image)
    leave(controller, 2)
    assert leaving_brokers(controller.image) == [2]


def test_who_begins_to_stop_before_others_have_told_their_logs_leaves():
    controller = PureController(level=3)
    for node_id in NODES:
        controller.register(node_id)
    controller.led_by(1, partitions=4)
    controller.begin_log(1, reach=())
    assert leaving_brokers(controller.image) == [1]
    round_of(controller)
    assert Counter(moves(controller).values()) == {2: 2, 3: 2}


def test_who_has_emptied_its_log_leaves(controller):
    controller.do(EndLog(*controller.sender(1), 1))
    assert leaving_brokers(controller.image) == [1]


def test_when_all_leave_nothing_moves(controller):
    controller.led_by(1)
    for node_id in NODES:
        leave(controller, node_id)
    assert leaving_brokers(controller.image) == []


def test_the_only_broker_has_nobody_to_take_its_partitions():
    controller = cluster((1,))
    controller.led_by(1)
    leave(controller)
    assert not has_to_move_away(controller.image)


def test_a_broker_that_has_ended_is_for_its_drain(controller):
    controller.led_by(1)
    leave(controller)
    controller.fence(1)
    assert leaving_brokers(controller.image) == []


def test_below_the_level_of_moves_nobody_moves():
    controller = cluster(NODES, level=2)
    controller.led_by(1)
    leave(controller)
    assert not has_to_move_away(controller.image)


def test_very_many_are_looked_at_in_steps(controller):
    for number in range(3):
        controller.led_by(2, f"t{number}", partitions=4_000)
    leave(controller)
    steps = move_away(controller.image, controller.inputs())
    assert next(steps) is None
