"""The partitions of a broker that is about to end move to those that stay."""

from collections import Counter

import pytest

from headrace.config.dynamic_keys import DRAIN_KEY
from headrace.metadata.controller.leaving import (
    MAX_MOVES,
    MIN_MOVES,
    REST_MS,
    Departures,
    leaving_brokers,
)
from headrace.metadata.controller.moves import lost_moves, take_back
from headrace.metadata.images.configs import BROKER_RESOURCE
from headrace.metadata.records.topics import PartitionChangeRecord
from headrace.metadata.rpc.requests import (
    AlterConfigs,
    AlterReassignments,
    ConfigChange,
    ConfigOp,
    EndLog,
    FinishMove,
    Reassignment,
)
from headrace.protocol.errors import ErrorCode
from headrace.steps import completed
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


def round_of(controller, departures=None, now_ms=0):
    """What the leading controller does now and then; whether it has looked at all partitions."""
    departures = departures or Departures()
    is_due = departures.are_due(controller.image, controller.unable, now_ms)
    if is_due:
        controller.commit(completed(departures.move_away(controller.image, controller.inputs())))
    return is_due


def drain_request(node_id=1, *, undo=False):
    """An operator drains it, or ends that."""
    change = (
        ConfigChange(DRAIN_KEY, ConfigOp.DELETE, None)
        if undo
        else ConfigChange(DRAIN_KEY, ConfigOp.SET, "true")
    )
    return AlterConfigs(BROKER_RESOURCE, str(node_id), (change,), False)


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
    assert not Departures().are_due(controller.image)


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
    assert not Departures().are_due(controller.image)
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
    assert not Departures().are_due(controller.image)


def test_a_broker_that_has_ended_is_for_its_drain(controller):
    controller.led_by(1)
    leave(controller)
    controller.fence(1)
    assert leaving_brokers(controller.image) == []


def test_below_the_level_of_moves_nobody_moves():
    controller = cluster(NODES, level=2)
    controller.led_by(1)
    leave(controller)
    assert not Departures().are_due(controller.image)


def test_very_many_are_looked_at_in_steps(controller):
    for number in range(3):
        controller.led_by(2, f"t{number}", partitions=4_000)
    leave(controller)
    steps = Departures().move_away(controller.image, controller.inputs())
    assert next(steps) is None


class TestUnable:
    """Brokers that have told that they cannot open partitions, as their bucket does not answer."""

    def test_they_get_none(self, controller):
        controller.led_by(1, partitions=4)
        controller.unable = frozenset({2})
        leave(controller)
        round_of(controller)
        assert {*moves(controller).values()} == {3}

    def test_nothing_moves_until_one_can_again(self, controller):
        departures = Departures()
        controller.led_by(1, partitions=4)
        controller.unable = frozenset({2, 3})
        leave(controller)
        assert round_of(controller, departures)
        assert moves(controller) == {}
        assert not round_of(controller, departures)
        controller.unable = frozenset({2})
        assert round_of(controller, departures)
        assert {*moves(controller).values()} == {3}


def test_partitions_whose_moves_were_taken_back_rest_before_the_next(controller):
    departures = Departures()
    controller.led_by(1, partitions=2)
    leave(controller)
    round_of(controller, departures)
    before = controller.image
    controller.commit(take_back([*before.moves.values()], before))
    departures.follow(before, controller.image, 1_000)
    round_of(controller, departures, now_ms=REST_MS)
    assert moves(controller) == {}
    round_of(controller, departures, now_ms=1_000 + REST_MS)
    assert len(moves(controller)) == 2


def test_a_partition_that_has_moved_does_not_rest(controller):
    """Its new leader may leave as well."""
    departures = Departures()
    controller.led_by(1)
    leave(controller)
    round_of(controller, departures)
    before = controller.image
    (move,) = before.moves.values()
    finish(controller, 1)
    departures.follow(before, controller.image, 1_000)
    leave(controller, move.target)
    round_of(controller, departures, now_ms=1_000)
    (again,) = controller.image.moves.values()
    assert again.target == 5 - move.target


def test_partitions_of_a_topic_go_to_who_leads_fewest_of_it(controller):
    """Though that one leads more of another topic."""
    controller.led_by(1, "a", partitions=2)
    controller.led_by(3, "b", partitions=4)
    controller.apply(PartitionChangeRecord(controller.image.topic("a").topic_id, 0, 2, 1))
    leave(controller)
    round_of(controller)
    assert moves(controller) == {("a", 1): 3}


class TestNothingLeft:
    """A broker that leaves and leads nothing is looked at once, not at each tick."""

    def test_nothing_is_looked_at_again_until_something_changes(self, controller):
        departures = Departures()
        controller.led_by(1, partitions=2)
        leave(controller)
        assert round_of(controller, departures)
        finish(controller, 2)
        assert round_of(controller, departures)
        assert not departures.are_due(controller.image)
        controller.prepare(node_id=2)  # an entry that has nothing to do with partitions
        assert not departures.are_due(controller.image)

        controller.create("later", 3)
        assert round_of(controller, departures)
        assert not departures.are_due(controller.image)

    def test_another_broker_that_leaves_is_looked_at(self, controller):
        departures = Departures()
        leave(controller, 1)
        controller.led_by(2, partitions=1)
        round_of(controller, departures)
        assert not departures.are_due(controller.image)
        leave(controller, 2)
        round_of(controller, departures)
        assert moves(controller) == {("topic", 0): 3}

    def test_moves_that_are_all_under_way_are_not_looked_at_again(self, controller):
        departures = Departures()
        controller.led_by(1, partitions=2)
        leave(controller)
        round_of(controller, departures)
        round_of(controller, departures)
        assert not departures.are_due(controller.image)
        controller.commit(take_back([*controller.image.moves.values()][:1], controller.image))
        assert departures.are_due(controller.image)


class TestDrained:
    """An operator drains a broker, which goes on running."""

    def test_its_partitions_move_and_new_ones_go_elsewhere(self, controller):
        controller.led_by(1, partitions=4)
        controller.do(drain_request(1))
        round_of(controller)
        assert Counter(moves(controller).values()) == {2: 2, 3: 2}
        finish(controller, 4)
        controller.create("new", 6)
        assert led(controller, 1) == 0

    def test_nobody_moves_partitions_to_it(self, controller):
        controller.led_by(2, partitions=1)
        controller.do(drain_request(1))
        answer = controller.do(AlterReassignments((Reassignment("topic", 0, (1,)),)))
        (altered,) = answer.results
        assert altered.error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
        assert "drain 1 --undo" in altered.message
        controller.do(AlterReassignments((Reassignment("topic", 0, (1, 3)),)))
        assert moves(controller) == {("topic", 0): 3}

    def test_a_move_to_it_that_is_under_way_is_taken_back_when_it_would_finish(self, controller):
        controller.led_by(2, partitions=1)
        controller.do(AlterReassignments((Reassignment("topic", 0, (1,)),)))
        controller.do(drain_request(1))
        (move,) = controller.image.moves.values()
        sender = controller.sender(2)
        answer = controller.do(FinishMove(*sender, move.topic_id, 0, 0, move.epoch, ()))
        assert answer.taken_back == "broker 1 is drained or about to end"
        assert led(controller, 2) == 1

    def test_it_ends_when_it_is_taken_back(self, controller):
        controller.do(drain_request(1))
        controller.do(drain_request(1, undo=True))
        controller.led_by(1, partitions=2)
        assert leaving_brokers(controller.image) == []
        assert moves(controller) == {}

    def test_it_ends_when_its_process_starts_again(self, controller):
        controller.do(drain_request(1))
        controller.fence(1)
        controller.register(1)
        controller.begin_log(1)
        assert leaving_brokers(controller.image) == []
        assert controller.image.configs.get((BROKER_RESOURCE, "1")) is None
        controller.create("new", 3)
        assert led(controller, 1) == 1

    def test_the_last_one_that_could_take_partitions_is_not_drained(self, controller):
        controller.do(drain_request(1))
        leave(controller, 2)
        assert controller.refusal(drain_request(3)) == ErrorCode.INVALID_REQUEST
        assert controller.refusal(drain_request("")) == ErrorCode.INVALID_REQUEST

    def test_when_all_others_have_gone_it_leads_again(self, controller):
        controller.do(drain_request(1))
        controller.led_by(2, partitions=2)
        controller.fence(3)
        leave(controller, 2)
        assert leaving_brokers(controller.image) == [2]
        round_of(controller)
        assert set(moves(controller).values()) == {1}
        finish(controller, 2)
        assert led(controller, 1) == 2
        controller.register(3)
        controller.begin_log(3)
        assert leaving_brokers(controller.image) == [1, 2]
        round_of(controller)
        assert set(moves(controller).values()) == {3}

    def test_below_the_level_of_moves_nobody_is_drained(self):
        controller = cluster(NODES, level=2)
        assert controller.refusal(drain_request(1)) == ErrorCode.UNSUPPORTED_VERSION
