"""Objects of a node that has left are looked after by another one: which, and what it may do."""

import itertools

import pytest

from headrace.metadata.images.brokers import active_brokers, adopter
from headrace.metadata.images.objects import ObjectState
from headrace.metadata.records.brokers import FenceReason
from headrace.metadata.rpc.requests import UnregisterBroker
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.pure_controller import PureController, stream_range


@pytest.fixture
def two():
    """Node 2 has written two Stream Set Objects; node 1 came later."""
    controller = PureController()
    controller.register(2)
    (stream_id,) = controller.topic_with_streams()
    controller.open(stream_id, node_id=2)
    for start in (0, 10):
        controller.upload(stream_range(stream_id, start, start + 10), node_id=2)
    controller.register(1)
    return controller


def merge(controller, *, node_id):
    """The request of a compaction of everything by a node."""
    (stream_id,) = [it for it, found in controller.image.streams.items() if found.end_offset]
    objects = [
        found.object_id
        for _, found in sorted(controller.image.objects.by_id.items())
        if found.state == ObjectState.COMMITTED
    ]
    return controller.upload_request(
        [stream_range(stream_id, 0, 20)], compacted=objects, node_id=node_id
    )


class TestRule:
    @pytest.mark.parametrize(
        "states", list(itertools.product(["absent", "starting", "active", "gone"], repeat=3))
    )
    def test_everybody_finds_the_same_and_nobody_else_has_it(self, states):
        controller = PureController()
        for node_id, state in enumerate(states, 1):
            if state != "absent":
                controller.register(node_id, serve=state == "active")
            if state == "gone":
                controller.fence(node_id)
        brokers = controller.image.brokers
        active = [node_id for node_id, state in enumerate(states, 1) if state == "active"]
        assert active_brokers(brokers) == active
        for node_id, state in enumerate(states, 1):
            alive = state in ("starting", "active")
            expected = node_id if alive else min(active, default=None)
            assert adopter(brokers, node_id) == expected


def test_the_objects_of_a_node_that_lives_are_its_own(two):
    assert two.refusal(merge(two, node_id=1)) == ErrorCode.INVALID_REQUEST
    two.do(merge(two, node_id=2))


@pytest.mark.parametrize("reason", list(FenceReason))
def test_those_of_a_node_that_left_are_compacted_by_another(two, reason):
    two.fence(2, reason)
    request = merge(two, node_id=1)
    two.do(request)
    merged = two.object(request.object_id)
    assert (merged.node_id, merged.state) == (1, ObjectState.COMMITTED)
    # Its data are as old as they were: the order of what is merged next stays.
    assert merged.order_id == min(request.compacted_object_ids)
    for object_id in request.compacted_object_ids:
        assert two.object(object_id).state == ObjectState.MARK_DESTROYED
    two.do(request)  # a repetition succeeds


def test_only_one_of_those_that_stay_adopts(two):
    two.register(3)
    two.fence(2)
    assert two.refusal(merge(two, node_id=3)) == ErrorCode.INVALID_REQUEST
    two.do(merge(two, node_id=1))


class TestStreamObjects:
    """Of a stream that its last writer, a node that left, has open still, or has closed."""

    @pytest.fixture
    def stream_id(self, two):
        (stream_id,) = [it for it, found in two.image.streams.items() if found.end_offset]
        return stream_id

    @pytest.fixture
    def pieces(self, two, stream_id):
        """Two Stream Objects behind the Stream Set Objects."""
        return [
            two.upload(stream_objects=[stream_range(stream_id, start, start + 10)], node_id=2)
            .stream_objects[0]
            .object_id
            for start in (20, 30)
        ]

    @pytest.mark.parametrize("closed", [False, True])
    def test_they_are_merged_by_another(self, two, stream_id, pieces, closed):
        if closed:
            two.close(stream_id, 40, node_id=2)
        two.fence(2)
        request = two.merge_request(stream_range(stream_id, 20, 40), pieces)
        two.do(request)
        assert two.object(request.stream_object.object_id).node_id == 1
        assert two.layout(stream_id)[-1][1:] == (20, 40)

    def test_not_while_the_node_lives(self, two, stream_id, pieces):
        request = two.merge_request(stream_range(stream_id, 20, 40), pieces)
        assert two.refusal(request) == ErrorCode.FENCED_LEADER_EPOCH

    def test_by_one_alone_of_those_that_stay(self, two, stream_id, pieces):
        two.register(3)
        two.fence(2)
        request = two.merge_request(stream_range(stream_id, 20, 40), pieces, node_id=3)
        assert two.refusal(request) == ErrorCode.FENCED_LEADER_EPOCH

    def test_at_the_epoch_that_the_writer_had(self, two, stream_id, pieces):
        two.fence(2)
        request = two.merge_request(stream_range(stream_id, 20, 40, epoch=1), pieces)
        assert two.refusal(request) == ErrorCode.UNKNOWN_LEADER_EPOCH

    def test_no_more_once_the_writer_is_back_and_goes_on(self, two, stream_id, pieces):
        two.fence(2)
        request = two.merge_request(stream_range(stream_id, 20, 40), pieces)
        two.register(2)
        two.open(stream_id, 1, node_id=2)
        assert two.refusal(request) == ErrorCode.FENCED_LEADER_EPOCH


def test_whoever_comes_second_changes_nothing(two):
    """The node is back, while its adopter was compacting: both hold the same sources."""
    two.fence(2)
    adopted = merge(two, node_id=1)
    two.register(2)
    returned = merge(two, node_id=2)
    assert two.refusal(adopted) == ErrorCode.INVALID_REQUEST
    two.do(returned)
    two.fence(2)
    assert two.refusal(adopted) == ErrorCode.RESOURCE_NOT_FOUND


def test_those_of_a_node_that_was_unregistered(two):
    (stream_id,) = [it for it, found in two.image.streams.items() if found.end_offset]
    two.close(stream_id, 20, node_id=2)
    two.delete("topic")  # it leads nothing any more
    two.fence(2)
    two.do(UnregisterBroker(2))
    assert adopter(two.image.brokers, 2) == 1
    destroyed = list(two.image.objects.destroyed)
    assert len(destroyed) == 2
    two.forget(*destroyed, node_id=1)
    assert not two.image.objects.by_id
