import pytest

from headrace.metadata.controller.dispatch import decide
from headrace.metadata.controller.streams import STEP_DECISIONS
from headrace.metadata.images.objects import ObjectState
from headrace.metadata.records.topics import PartitionChangeRecord
from headrace.metadata.rpc.requests import (
    CloseStreamBatch,
    OpenStreamBatch,
    StreamToClose,
    StreamToOpen,
    TrimStream,
)
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.pure_controller import closing, of_one_stream, opening, stream_range


@pytest.fixture
def stream_id(controller):
    return controller.opened_stream()


def refuse(controller, kind, stream_id, *fields, node_id=1):
    return controller.refusal(kind(*controller.sender(node_id), stream_id, *fields))


def test_opening_starts_a_range(controller, stream_id):
    stream = controller.stream(stream_id)

    assert (stream.epoch, stream.node_id, stream.opened) == (0, 1, True)
    assert [(it.epoch, it.node_id, it.start_offset) for it in stream.ranges] == [(0, 1, 0)]


def test_opening_again_at_the_same_epoch_changes_nothing(controller, stream_id):
    decision = controller.decide(opening(*controller.sender(), stream_id, 0))

    assert decision.records == ()
    assert of_one_stream(decision.response).end_offset == 0


def open_many(controller, *wanted):
    streams = tuple(StreamToOpen(*it) for it in wanted)
    return controller.do(OpenStreamBatch(*controller.sender(), streams)).outcomes


def test_many_are_opened_by_one_entry_and_each_has_its_own_outcome(controller, stream_id):
    first, second = (controller.topic_with_streams(name)[0] for name in "xy")
    before = controller.image.index
    outcomes = open_many(controller, (first, 0), (999, 0), (second, 7), (stream_id, 0))
    assert controller.image.index == before + 1
    assert [it.error_code for it in outcomes] == [
        ErrorCode.NONE,
        ErrorCode.RESOURCE_NOT_FOUND,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.NONE,
    ]
    assert outcomes[0].end_offset == 0
    assert controller.stream(first).opened
    assert not controller.stream(second).opened
    open_many(controller, (first, 0))
    assert controller.image.index == before + 1, "opening again changes nothing"


def test_a_stream_that_is_named_twice_and_too_many_are_refused(controller, stream_id):
    for wanted in ([stream_id] * 2, range(10_000, 11_001)):
        streams = tuple(StreamToOpen(it, 0) for it in wanted)
        refusal = controller.refusal(OpenStreamBatch(*controller.sender(), streams))
        assert refusal == ErrorCode.INVALID_REQUEST
        closed = tuple(StreamToClose(it, 0, 0) for it in wanted)
        refusal = controller.refusal(CloseStreamBatch(*controller.sender(), closed))
        assert refusal == ErrorCode.INVALID_REQUEST


def close_many(controller, *wanted):
    streams = tuple(StreamToClose(*it) for it in wanted)
    return controller.do(CloseStreamBatch(*controller.sender(), streams)).outcomes


def test_many_are_closed_by_one_entry_and_each_has_its_own_outcome(controller, stream_id):
    first, second = (controller.opened_stream(name) for name in "xy")
    controller.upload(stream_range(second, 0, 3))
    before = controller.image.index
    outcomes = close_many(controller, (first, 0, 0), (999, 0, 0), (second, 0, 2), (stream_id, 7, 0))
    assert controller.image.index == before + 1
    assert [it.error_code for it in outcomes] == [
        ErrorCode.NONE,
        ErrorCode.RESOURCE_NOT_FOUND,
        ErrorCode.OFFSET_OUT_OF_RANGE,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
    ]
    opened = [controller.stream(it).opened for it in (first, second, stream_id)]
    assert opened == [False, True, True]
    close_many(controller, (first, 0, 0))
    assert controller.image.index == before + 1, "closing again changes nothing"


def test_a_decision_about_many_streams_is_made_in_short_steps(controller):
    streams = controller.topic_with_streams("many", 3 * STEP_DECISIONS)
    openings = OpenStreamBatch(*controller.sender(), tuple(StreamToOpen(it, 0) for it in streams))
    assert len(list(decide(openings, controller.image, controller.inputs()))) == 3
    controller.do(openings)
    closings = CloseStreamBatch(
        *controller.sender(), tuple(StreamToClose(it, 0, 0) for it in streams)
    )
    assert len(list(decide(closings, controller.image, controller.inputs()))) == 3


class TestAnEpochOfAStreamIsOpenedOnce:
    """Else a request that arrives late could close, or open, what its sender uses again."""

    def test_a_late_close_does_not_close_a_stream_that_is_in_use(self, controller, stream_id):
        """Its sender has repeated it; what is acknowledged since then is only in the log."""
        late = closing(*controller.sender(), stream_id, 0, 0)
        controller.do(late)
        again = opening(*controller.sender(), stream_id, 0)
        assert controller.refusal(again) == ErrorCode.FENCED_LEADER_EPOCH
        controller.do(late)
        assert not controller.stream(stream_id).opened

    def test_a_late_opening_does_not_open_a_stream_that_was_closed(self, controller, stream_id):
        late = OpenStreamBatch(*controller.sender(), (StreamToOpen(stream_id, 0),))
        controller.close(stream_id, 0)
        assert controller.do(late).outcomes[0].error_code == ErrorCode.FENCED_LEADER_EPOCH
        assert not controller.stream(stream_id).opened

    def test_a_restarted_broker_opens_it_at_the_next_epoch(self, controller, stream_id):
        """Each registration gives what the broker leads its next epoch, so late requests name an old one."""
        late = closing(*controller.sender(), stream_id, 0, 0)
        controller.do(late)
        controller.register()
        controller.open(stream_id, 1)
        assert controller.refusal(late) == ErrorCode.STALE_BROKER_EPOCH
        assert refuse(controller, closing, stream_id, 0, 0) == ErrorCode.FENCED_LEADER_EPOCH
        assert controller.stream(stream_id).opened

    def test_a_partition_that_was_away_comes_back_at_a_later_epoch(self, controller, stream_id):
        late = closing(*controller.sender(), stream_id, 0, 0)
        controller.do(late)
        topic = controller.image.topic("topic")
        controller.register(2)
        for epoch, leader in ((1, 2), (2, 1)):
            controller.apply(PartitionChangeRecord(topic.topic_id, 0, leader, epoch))
            controller.open(stream_id, epoch, node_id=leader)
            if leader == 2:
                controller.close(stream_id, 0, epoch, node_id=2)
        assert controller.refusal(late) == ErrorCode.FENCED_LEADER_EPOCH
        assert controller.stream(stream_id).opened


def test_only_the_leader_opens_and_only_at_the_leader_epoch(controller):
    controller.register(2)
    controller.create("a", -1, assignments=((0, (2,)),))
    stream_id = controller.image.topic("a").partitions[0].data_stream_id

    assert refuse(controller, opening, stream_id, 0) == ErrorCode.FENCED_LEADER_EPOCH
    code = refuse(controller, opening, stream_id, 1, node_id=2)
    assert code == ErrorCode.UNKNOWN_LEADER_EPOCH
    controller.open(stream_id, 0, node_id=2)


def test_an_older_epoch_does_not_open(controller, stream_id):
    controller.register()
    controller.open(stream_id, 1)

    assert refuse(controller, opening, stream_id, 0) == ErrorCode.FENCED_LEADER_EPOCH


def test_unknown_and_removed_streams_do_not_open(controller, stream_id):
    assert refuse(controller, opening, 999, 0) == ErrorCode.RESOURCE_NOT_FOUND
    controller.delete("topic")
    assert refuse(controller, opening, stream_id, 0) == ErrorCode.RESOURCE_NOT_FOUND


def test_a_range_without_data_is_replaced(controller, stream_id):
    """Restarts without writes must not make the list of ranges grow."""
    for epoch in (1, 2, 3):
        controller.register()
        controller.open(stream_id, epoch)

    assert [it.epoch for it in controller.stream(stream_id).ranges] == [3]


def test_closing_needs_everything_committed(controller, stream_id):
    controller.upload(stream_range(stream_id, 0, 10))

    assert refuse(controller, closing, stream_id, 0, 11) == ErrorCode.OFFSET_OUT_OF_RANGE
    assert refuse(controller, closing, stream_id, 0, 9) == ErrorCode.OFFSET_OUT_OF_RANGE
    controller.close(stream_id, 10)
    controller.close(stream_id, 10)

    assert not controller.stream(stream_id).opened


def test_closing_a_removed_stream_succeeds(controller, stream_id):
    controller.delete("topic")

    controller.close(stream_id, 0)


def test_only_the_writer_closes_and_trims(controller, stream_id):
    controller.register(2)
    controller.upload(stream_range(stream_id, 0, 10))
    for kind, offset in ((closing, 10), (TrimStream, 5)):
        code = refuse(controller, kind, stream_id, 0, offset, node_id=2)
        assert code == ErrorCode.FENCED_LEADER_EPOCH
        assert refuse(controller, kind, stream_id, 1, offset) == ErrorCode.UNKNOWN_LEADER_EPOCH
    controller.register()
    controller.open(stream_id, 1)
    for kind, offset in ((closing, 10), (TrimStream, 5)):
        assert refuse(controller, kind, stream_id, 0, offset) == ErrorCode.FENCED_LEADER_EPOCH


def test_trimming_drops_what_lies_wholly_below(controller, stream_id):
    first = controller.upload(stream_range(stream_id, 0, 10)).object_id
    second = controller.upload(stream_range(stream_id, 10, 20)).object_id

    controller.trim(stream_id, 15)

    assert controller.stream(stream_id).start_offset == 15
    assert controller.layout(stream_id) == [(second, 10, 20)]
    assert controller.object(first).state == ObjectState.MARK_DESTROYED
    assert controller.object(first).destroyed_ms == controller.now_ms
    assert controller.object(second).state == ObjectState.COMMITTED


def test_trimming_to_the_end_leaves_an_empty_stream(controller, stream_id):
    controller.upload(stream_range(stream_id, 0, 10))

    controller.trim(stream_id, 10)
    controller.upload(stream_range(stream_id, 10, 12))

    stream = controller.stream(stream_id)
    assert (stream.start_offset, stream.end_offset) == (10, 12)
    assert len(stream.objects) == 1


def test_trimming_back_changes_nothing(controller, stream_id):
    controller.upload(stream_range(stream_id, 0, 10))
    controller.trim(stream_id, 7)

    for offset in (7, 3):
        request = TrimStream(*controller.sender(), stream_id, 0, offset)
        assert controller.decide(request).records == ()


def test_trimming_beyond_the_committed_end_is_refused(controller, stream_id):
    controller.upload(stream_range(stream_id, 0, 10))

    assert refuse(controller, TrimStream, stream_id, 0, 11) == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_closed_stream_is_not_trimmed(controller, stream_id):
    controller.upload(stream_range(stream_id, 0, 10))
    controller.close(stream_id, 10)

    assert refuse(controller, TrimStream, stream_id, 0, 5) == ErrorCode.INVALID_REQUEST


def test_trimming_drops_ranges_of_old_epochs(controller, stream_id):
    controller.upload(stream_range(stream_id, 0, 10))
    controller.register()
    controller.open(stream_id, 1)
    controller.upload(stream_range(stream_id, 10, 20, epoch=1))

    controller.trim(stream_id, 9, epoch=1)
    assert [it.epoch for it in controller.stream(stream_id).ranges] == [0, 1]
    controller.trim(stream_id, 10, epoch=1)
    assert [it.epoch for it in controller.stream(stream_id).ranges] == [1]


def test_an_object_is_destroyed_when_its_last_stream_lets_go(controller):
    a, b = controller.opened_stream("a"), controller.opened_stream("b")
    shared = controller.upload(stream_range(a, 0, 10), stream_range(b, 0, 10)).object_id

    controller.trim(a, 10)
    assert controller.object(shared).state == ObjectState.COMMITTED
    assert controller.object(shared).live_ranges == 1
    controller.trim(b, 10)

    assert controller.object(shared).state == ObjectState.MARK_DESTROYED
    assert controller.image.objects.stream_sets.get(1) is None


def test_deleting_topics_destroys_what_only_they_used(controller):
    a, b = controller.opened_stream("a"), controller.opened_stream("b")
    shared = controller.upload(stream_range(a, 0, 10), stream_range(b, 0, 10)).object_id
    own = controller.upload(stream_range(a, 10, 20)).object_id
    split = controller.upload(stream_objects=[stream_range(b, 10, 30)])

    controller.delete("a")
    assert controller.object(own).state == ObjectState.MARK_DESTROYED
    assert controller.object(shared).state == ObjectState.COMMITTED
    controller.delete("b")

    for object_id in (shared, split.stream_objects[0].object_id):
        assert controller.object(object_id).state == ObjectState.MARK_DESTROYED
    assert not controller.image.streams


def test_two_topics_deleted_at_once_destroy_what_they_shared(controller):
    a, b = controller.opened_stream("a"), controller.opened_stream("b")
    shared = controller.upload(stream_range(a, 0, 10), stream_range(b, 0, 10)).object_id

    controller.delete("a", "b")

    assert controller.object(shared).state == ObjectState.MARK_DESTROYED


def test_a_stream_is_not_opened_elsewhere_before_it_is_closed(controller, stream_id):
    """Reassignment is what moves a leader; here its record is applied directly."""
    controller.register(2)
    topic = controller.image.topic("topic")
    controller.apply(PartitionChangeRecord(topic.topic_id, 0, 2, 1))

    code = refuse(controller, opening, stream_id, 1, node_id=2)
    assert code == ErrorCode.REASSIGNMENT_IN_PROGRESS
    controller.close(stream_id, 0)
    controller.open(stream_id, 1, node_id=2)
    late = controller.upload_request([stream_range(stream_id, 0, 1)])
    assert controller.refusal(late) == ErrorCode.FENCED_LEADER_EPOCH
