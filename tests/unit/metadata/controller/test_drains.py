"""Who drains the log of a broker whose epoch has ended, and what such a drain may do."""

from collections import Counter

import pytest

from headrace.metadata.controller.dispatch import decide
from headrace.metadata.controller.drains import MAX_DRAINS_PER_BROKER, REFUSED_MS
from headrace.metadata.controller.handover import STEP_MOVED
from headrace.metadata.images.logs import Drain, LogState, drains_of
from headrace.metadata.records.brokers import FenceReason
from headrace.metadata.records.logs import LogMedium, LogReach
from headrace.metadata.rpc.requests import (
    AcceptLogLoss,
    EndLog,
    FinishDrain,
    RefuseDrain,
)
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.pure_controller import (
    EVERY_FILE,
    PureController,
    closing,
    opening,
    stream_range,
)

NODES = (1, 2, 3)


@pytest.fixture
def controller():
    """Three brokers that can drain each other's logs."""
    return cluster()


def cluster(nodes=NODES, reach=EVERY_FILE):
    controller = PureController(level=2)
    for node_id in nodes:
        controller.register(node_id)
        controller.begin_log(node_id, reach=reach)
    return controller


def drainer_of(controller, log_id=1):
    return controller.log(log_id).drain.node_id


def commit(controller, stream_id, start, end, *, epoch=0):
    """The request with which the drainer of log 1 commits a part of a stream."""
    drain = controller.log(1).drain
    piece = stream_range(stream_id, start, end, epoch)
    return controller.upload_request([piece], node_id=drain.node_id, log=(1, drain.epoch))


def refusing(controller, log_id=1, reason="not there"):
    drain = controller.log(log_id).drain
    return RefuseDrain(drain.node_id, drain.node_epoch, log_id, drain.epoch, reason)


def has_emptied_its_log(controller, node_id):
    controller.do(EndLog(*controller.sender(node_id), node_id))


def reaches_nothing_any_more(controller, node_id):
    """It begins to stop, and uploads what it has."""
    log = controller.log(node_id)
    controller.begin_log(node_id, log.generation, reach=())
    assert controller.log(node_id) is log


about_to_end = pytest.mark.parametrize(
    "about_to_end", [reaches_nothing_any_more, has_emptied_its_log]
)


class TestAssigning:
    @about_to_end
    def test_a_broker_that_is_about_to_end_drains_nothing(self, controller, about_to_end):
        about_to_end(controller, 2)
        controller.fence(1)
        controller.settle()
        assert drainer_of(controller) == 3

    @pytest.mark.parametrize("reason", FenceReason)
    def test_the_log_of_a_broker_that_has_ended_is_assigned(self, controller, reason):
        controller.fence(1, reason)

        assert controller.settle() == [1]

        log = controller.log(1)
        assert log.state == LogState.DRAINING
        assert log.drain == Drain(controller.image.index, 2, controller.epochs[2])
        assert drains_of(controller.image.logs, 2, controller.epochs[2]) == [log]
        assert drains_of(controller.image.logs, 2, controller.epochs[2] - 1) == []
        assert controller.settle() == []

    def test_nothing_is_assigned_while_the_owner_may_act(self, controller):
        assert controller.settle() == []
        controller.register(1, serve=False)
        assert controller.settle() == []

    @about_to_end
    def test_a_broker_that_is_about_to_end_leads_what_is_assigned_to_it_only_alone(
        self, controller, about_to_end
    ):
        about_to_end(controller, 2)
        controller.create("both", -1, assignments=((0, (2, 3)), (1, (3, 2))))
        controller.create("alone", -1, assignments=((0, (2,)),))

        topics = map(controller.image.topic, ("both", "alone"))
        leaders = [it.leader for topic in topics for it in topic.partitions]
        assert leaders == [3, 3, 2]

    def test_a_starting_broker_drains_nothing(self):
        controller = cluster((1,))
        controller.register(2, serve=False)
        controller.begin_log(2)
        controller.fence(1)

        assert controller.settle() == []
        controller.unfence(2)
        assert controller.settle() == [1]

    def test_brokers_that_can_drain_nothing_are_assigned_nothing(self):
        controller = cluster(reach=())
        controller.do(EndLog(*controller.sender(2), 2))
        controller.fence(1)
        controller.fence(2)

        assert controller.settle() == []

    @pytest.mark.parametrize(
        ("medium", "prefix", "reached"),
        [
            (LogMedium.FILE, "/wals", True),
            (LogMedium.FILE, "/wals/", True),
            (LogMedium.FILE, "/wals/1", True),
            (LogMedium.FILE, "", True),
            (LogMedium.FILE, "/wal", False),
            (LogMedium.FILE, "/wals/10", False),
            (LogMedium.DEVICE, "/wals", False),
        ],
    )
    def test_only_a_broker_that_reaches_a_place_drains(self, medium, prefix, reached):
        controller = cluster((1, 2), reach=(LogReach(medium, prefix),))
        controller.fence(1)

        assert bool(controller.settle()) == reached

    def test_different_logs_get_different_drainers(self):
        controller = cluster(range(1, 6))
        for node_id in (1, 2):
            controller.fence(node_id)
        controller.settle()

        assert [drainer_of(controller, it) for it in (1, 2)] == [3, 4]

    def test_a_broker_drains_a_few_at_once_and_the_rest_waits(self):
        controller = cluster(range(1, 6))
        for node_id in (1, 2, 3, 4):
            controller.fence(node_id)

        assert controller.settle() == [1, 2]
        drains = drains_of(controller.image.logs, 5, controller.epochs[5])
        assert len(drains) == MAX_DRAINS_PER_BROKER == 2
        controller.finish_drain(drains[0].log_id)
        assert controller.settle() == [3]

    def test_the_log_of_a_drainer_that_has_ended_is_assigned_again(self, controller):
        controller.fence(1)
        controller.settle()
        first = controller.log(1).drain
        controller.fence(2)

        assert controller.settle() == [1, 2]

        again = controller.log(1).drain
        assert again.node_id == 3
        assert again.epoch > first.epoch

    def test_a_drainer_that_comes_back_does_not_go_on_with_its_drain(self, controller):
        controller.fence(1)
        controller.settle()
        epoch = controller.log(1).drain.epoch
        controller.register(2)
        request = FinishDrain(*controller.sender(2), 1, epoch, 100, ())

        assert controller.refusal(request) == ErrorCode.FENCED_LEADER_EPOCH
        assert controller.settle() == [1]
        assert drainer_of(controller) == 3

    def test_without_another_drainer_it_is_taken_back(self):
        controller = cluster((1, 2))
        controller.fence(1)
        controller.settle()
        controller.fence(2)

        controller.settle()

        assert controller.log(1).state == LogState.ACTIVE
        assert controller.settle() == []


class TestRefusing:
    def test_another_broker_is_tried(self, controller):
        controller.fence(1)
        controller.settle()

        controller.do(refusing(controller))

        assert drainer_of(controller) == 3
        (refusal,) = controller.log(1).refusals
        assert (refusal.node_id, refusal.reason) == (2, "not there")

    def test_the_reasons_stay_while_nobody_can(self, controller):
        controller.fence(1)
        controller.settle()
        for reason in ("no such file", "input/output error"):
            controller.do(refusing(controller, reason=reason))

        log = controller.log(1)
        assert log.state == LogState.ACTIVE
        assert [it.reason for it in log.refusals] == ["no such file", "input/output error"]
        assert controller.settle() == []

    def test_all_are_asked_again_later(self, controller):
        controller.fence(1)
        controller.settle()
        controller.do(refusing(controller))
        controller.now_ms += 10
        controller.do(refusing(controller))

        controller.now_ms += REFUSED_MS - 10
        assert controller.settle() == [1]
        assert drainer_of(controller) == 2

    def test_a_restarted_broker_is_asked_at_once(self, controller):
        controller.fence(1)
        controller.settle()
        for _ in range(2):
            controller.do(refusing(controller))
        controller.register(3)
        controller.begin_log(3)

        assert controller.settle() == [1]
        assert drainer_of(controller) == 3

    def test_all_are_asked_at_once_when_damage_is_accepted(self, controller):
        controller.fence(1)
        controller.settle()
        for _ in range(2):
            controller.do(refusing(controller))
        generation = controller.log(1).generation

        controller.do(AcceptLogLoss(1, generation, damaged_only=True))

        assert controller.settle() == [1]
        assert controller.log(1).damage_accepted

    def test_a_late_refusal_changes_nothing(self, controller):
        controller.fence(1)
        controller.settle()
        late = refusing(controller)
        controller.do(late)
        before = controller.image

        controller.do(late)

        assert controller.image is before


class TestActingForALog:
    def test_the_drainer_commits_as_the_owner_would(self, controller):
        (stream_id,) = controller.led_by(1)
        controller.upload(stream_range(stream_id, 0, 10))
        controller.fence(1)
        controller.settle()

        request = commit(controller, stream_id, 10, 20)
        controller.do(request)

        assert controller.stream(stream_id).end_offset == 20
        assert controller.object(request.object_id).node_id == 2

    def test_it_must_say_so(self, controller):
        (stream_id,) = controller.led_by(1)
        controller.fence(1)
        controller.settle()
        request = controller.upload_request([stream_range(stream_id, 0, 10)], node_id=2)

        assert controller.refusal(request) == ErrorCode.FENCED_LEADER_EPOCH

    def test_nobody_else_does(self, controller):
        (stream_id,) = controller.led_by(1)
        controller.fence(1)
        controller.settle()
        log = (1, controller.log(1).drain.epoch)
        request = controller.upload_request([stream_range(stream_id, 0, 10)], node_id=3, log=log)

        assert controller.refusal(request) == ErrorCode.FENCED_LEADER_EPOCH

    def test_not_once_the_owner_has_registered(self, controller):
        """The refusal ends the drain, not the process that drains: it says nothing about its own epoch."""
        (stream_id,) = controller.led_by(1)
        controller.fence(1)
        controller.settle()
        request = commit(controller, stream_id, 0, 10)
        finish = FinishDrain(*controller.sender(2), 1, controller.log(1).drain.epoch, 100, ())
        controller.register(1)

        assert controller.log(1).state == LogState.ACTIVE
        assert controller.refusal(request) == ErrorCode.FENCED_LEADER_EPOCH
        assert controller.refusal(finish) == ErrorCode.FENCED_LEADER_EPOCH
        controller.upload(stream_range(stream_id, 0, 5))
        assert controller.stream(stream_id).end_offset == 5

    def test_not_once_another_one_drains(self, controller):
        (stream_id,) = controller.led_by(1)
        controller.fence(1)
        controller.settle()
        request = commit(controller, stream_id, 0, 10)
        controller.do(refusing(controller))

        assert controller.refusal(request) == ErrorCode.FENCED_LEADER_EPOCH
        controller.do(commit(controller, stream_id, 0, 10))

    def test_not_by_a_former_drain_of_the_same_broker(self, controller):
        (stream_id,) = controller.led_by(1)
        controller.fence(1)
        controller.settle()
        request = commit(controller, stream_id, 0, 10)
        for _ in range(2):
            controller.do(refusing(controller))
        controller.now_ms += REFUSED_MS
        controller.settle()

        assert drainer_of(controller) == 2
        assert controller.refusal(request) == ErrorCode.FENCED_LEADER_EPOCH

    def test_a_repetition_succeeds(self, controller):
        (stream_id,) = controller.led_by(1)
        controller.fence(1)
        controller.settle()
        request = commit(controller, stream_id, 0, 10)
        controller.do(request)
        before = controller.image

        controller.do(request)

        assert controller.image is before

    def test_a_repetition_succeeds_though_its_object_was_compacted_and_deleted(self, controller):
        (stream_id,) = controller.led_by(1)
        controller.fence(1)
        controller.settle()
        request = commit(controller, stream_id, 0, 10)
        controller.do(request)
        controller.upload(stream_range(stream_id, 0, 10), compacted=[request.object_id], node_id=2)
        controller.forget(request.object_id, node_id=2)
        before = controller.image

        controller.do(request)

        assert controller.image is before

    @pytest.mark.parametrize("log", [(1, None), (7, None), (2, -1)])
    def test_a_broker_acts_for_its_own_log_at_its_own_epoch(self, controller, log):
        (stream_id,) = controller.led_by(2)
        log_id, epoch = log
        epoch = controller.epochs[2] if epoch is None else epoch
        close = closing(*controller.sender(2), stream_id, 0, 0, log_id, epoch)

        assert controller.refusal(close) == ErrorCode.FENCED_LEADER_EPOCH
        own = closing(*controller.sender(2), stream_id, 0, 0, 2, controller.epochs[2])
        controller.do(own)
        assert not controller.stream(stream_id).opened


class TestFinishing:
    def test_one_entry_closes_the_streams_and_names_new_leaders(self, controller):
        streams = controller.led_by(1, partitions=6)
        controller.led_by(2, "busy", 3)
        controller.fence(1)
        controller.settle()
        controller.do(commit(controller, streams[0], 0, 10))
        index = controller.image.index

        controller.finish_drain(1, [(streams[0], 10)], position=300)

        assert controller.image.index == index + 1
        assert (controller.log(1).state, controller.log(1).position) == (LogState.DRAINED, 300)
        assert not any(controller.stream(it).opened for it in streams)
        partitions = controller.image.topic("topic").partitions
        assert [it.leader_epoch for it in partitions] == [1] * 6
        assert sorted(it.leader for it in partitions) == [2, 2, 2, 3, 3, 3]
        assert {it.leader for it in controller.image.topic("busy").partitions} == {2}
        first = partitions[0]
        opened = controller.open(streams[0], 1, node_id=first.leader)
        assert opened.end_offset == 10

    def test_the_new_leaders_are_spread_over_all_topics(self, controller):
        for number in range(6):
            controller.led_by(1, f"topic{number}")
        controller.fence(1)
        controller.settle()

        controller.finish_drain(1)

        leaders = [it.partitions[0].leader for it in controller.image.topics.values()]
        assert sorted(leaders) == [2, 2, 2, 3, 3, 3]

    def test_what_the_owner_had_not_opened_moves_too(self, controller):
        controller.create("topic", -1, assignments=((0, (1,)),))
        controller.fence(1)
        controller.settle()

        controller.finish_drain(1)

        assert controller.image.topic("topic").partitions[0].leader in (2, 3)

    def test_not_before_everything_in_the_log_is_committed(self, controller):
        (stream_id,) = controller.led_by(1)
        controller.fence(1)
        controller.settle()
        drain = controller.log(1).drain
        ends = ((stream_id, 10),)
        request = FinishDrain(2, drain.node_epoch, 1, drain.epoch, 100, ends)

        assert controller.refusal(request) == ErrorCode.OFFSET_OUT_OF_RANGE
        controller.do(commit(controller, stream_id, 0, 10))
        controller.do(request)

    def test_a_stream_that_was_removed_needs_no_commit(self, controller):
        (stream_id,) = controller.led_by(1)
        controller.fence(1)
        controller.settle()
        controller.delete("topic")

        controller.finish_drain(1, [(stream_id, 10)])

        assert controller.log(1).state == LogState.DRAINED

    def test_a_repetition_changes_nothing(self, controller):
        controller.fence(1)
        controller.settle()
        drain = controller.log(1).drain
        controller.finish_drain(1)
        before = controller.image

        controller.do(FinishDrain(2, drain.node_epoch, 1, drain.epoch, 100, ()))

        assert controller.image is before

    def test_nothing_is_committed_in_the_logs_name_afterwards(self, controller):
        (stream_id,) = controller.led_by(1)
        controller.fence(1)
        controller.settle()
        request = commit(controller, stream_id, 0, 10)
        controller.finish_drain(1)

        assert controller.refusal(request) == ErrorCode.FENCED_LEADER_EPOCH

    def test_no_stream_is_opened_elsewhere_before(self, controller):
        (stream_id,) = controller.led_by(1)
        controller.fence(1)
        controller.settle()
        early = [opening(*controller.sender(2), stream_id, epoch) for epoch in (0, 1)]

        assert [controller.refusal(it) for it in early] == [
            ErrorCode.FENCED_LEADER_EPOCH,
            ErrorCode.UNKNOWN_LEADER_EPOCH,
        ]

    def test_an_owner_that_comes_back_has_nothing_open(self, controller):
        (stream_id,) = controller.led_by(1)
        controller.fence(1)
        controller.settle()
        controller.finish_drain(1)
        controller.register(1)
        late = controller.upload_request([stream_range(stream_id, 0, 10)])

        assert controller.refusal(late) == ErrorCode.INVALID_REQUEST
        assert controller.log(1).state == LogState.DRAINED
        controller.begin_log(1)
        assert controller.log(1).state == LogState.ACTIVE
        controller.fence(1)
        assert controller.settle() == [1]

    def test_an_unknown_log_cannot_be_finished(self, controller):
        request = FinishDrain(*controller.sender(), 9, 1, 1, ())

        assert controller.refusal(request) == ErrorCode.RESOURCE_NOT_FOUND


class TestAnEmptyLog:
    def test_its_partitions_move_without_anybody_reading_it(self, controller):
        (stream_id,) = controller.led_by(1)
        controller.do(EndLog(*controller.sender(), 1))
        controller.fence(1, FenceReason.SHUT_DOWN)

        assert controller.settle() == [1]

        assert controller.log(1).state == LogState.DRAINED
        assert not controller.stream(stream_id).opened
        assert controller.image.topic("topic").partitions[0].leader in (2, 3)

    def test_not_while_the_owner_may_come_to_use_it(self, controller):
        controller.do(EndLog(*controller.sender(), 1))

        assert controller.settle() == []


class TestNewLeaders:
    """Who leads the partitions of a broker that has ended."""

    def leaders(self, controller, name):
        return Counter(it.leader for it in controller.image.topic(name).partitions)

    def lose(self, controller):
        controller.fence(1)
        request = AcceptLogLoss(1, controller.log(1).generation, damaged_only=False)
        return list(decide(request, controller.image, controller.inputs())), request

    def test_each_topic_is_spread_though_one_broker_leads_fewest_of_all(self):
        controller = cluster((1, 2, 3, 4))
        controller.led_by(2, "other", 60)
        for name in ("a", "b"):
            controller.led_by(1, name, 9)
        _, request = self.lose(controller)
        controller.do(request)

        assert self.leaders(controller, "a") == self.leaders(controller, "b") == {2: 3, 3: 3, 4: 3}

    def test_what_is_moved_in_parts_is_spread_as_a_whole(self):
        controller = cluster((1, 2, 3, 4))
        controller.led_by(1, "a", 4 * STEP_MOVED)
        for node_id in (2, 3):
            controller.led_by(node_id, f"of-{node_id}", 60)
        _, request = self.lose(controller)
        controller.do(request)

        leaders = self.leaders(controller, "a")
        assert sorted(leaders) == [2, 3, 4]
        assert max(leaders.values()) - min(leaders.values()) == 1

    @about_to_end
    def test_a_broker_that_is_about_to_end_gets_none(self, controller, about_to_end):
        controller.led_by(1, "a", 4)
        about_to_end(controller, 2)
        _, request = self.lose(controller)
        controller.do(request)

        assert self.leaders(controller, "a") == {3: 4}
        controller.create("b", 4)
        assert self.leaders(controller, "b") == {3: 4}

    @about_to_end
    def test_unless_all_are(self, controller, about_to_end):
        controller.led_by(1, "a", 4)
        for node_id in (2, 3):
            about_to_end(controller, node_id)
        _, request = self.lose(controller)
        controller.do(request)

        assert self.leaders(controller, "a") == {2: 2, 3: 2}

    def test_a_broker_that_is_back_gets_some_again(self, controller):
        controller.do(EndLog(*controller.sender(2), 2))
        controller.register(2)
        controller.begin_log(2)
        controller.create("a", 3)

        assert self.leaders(controller, "a") == {1: 1, 2: 1, 3: 1}

    def test_very_many_move_in_short_steps(self, controller):
        """Others are answered between two steps."""
        controller.led_by(1, "a", 5 * STEP_MOVED)
        steps, _ = self.lose(controller)

        assert len(steps) >= 5
