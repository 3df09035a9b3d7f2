"""How a partition moves from a broker that lives to another one."""

import pytest

from headrace.metadata.controller.moves import (
    MAX_MOVE_MS,
    MAX_REASSIGNMENTS,
    MOVE_MS,
    SLOWEST_BYTES_PER_S,
    MoveDeadlines,
    lost_moves,
    take_back,
)
from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.records.brokers import FenceReason
from headrace.metadata.records.topics import PartitionChangeRecord
from headrace.metadata.rpc.requests import (
    AlterReassignments,
    FinishMove,
    Reassignment,
    StreamToClose,
    UnregisterBroker,
)
from headrace.metadata.snapshot import canonical_bytes, image_to_records, records_to_image
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.pure_controller import PureController, stream_range

NODES = (1, 2, 3)


@pytest.fixture
def controller():
    """Three brokers, the first of which leads a topic of two partitions."""
    return cluster()


def cluster():
    controller = PureController()
    for node_id in NODES:
        controller.register(node_id)
        controller.begin_log(node_id)
    controller.led_by(1, partitions=2)
    for it in partitions(controller):
        controller.open(it.meta_stream_id)
    return controller


def partitions(controller):
    return controller.image.topic("topic").partitions


def partition(controller, index=0):
    return partitions(controller)[index]


def alter(controller, *asked):
    """Ask for `(partition, brokers)`; return the codes."""
    request = AlterReassignments(tuple(Reassignment("topic", *it) for it in asked))
    return [ErrorCode(it.error_code) for it in controller.do(request).results]


def move(controller, index=0):
    topic_id = controller.image.topic("topic").topic_id
    return controller.image.moves.get((topic_id, index))


def begin(controller, target=2, index=0):
    assert alter(controller, (index, (target,))) == [ErrorCode.NONE]
    return move(controller, index)


def finishing(controller, index=0, *, data_end=0, meta_end=0, node_id=1, **changed):
    """The request with which the leader finishes the move of a partition."""
    it, moving = partition(controller, index), move(controller, index)
    fields = {
        "topic_id": controller.image.topic("topic").topic_id,
        "partition": index,
        "leader_epoch": it.leader_epoch,
        "move_epoch": -1 if moving is None else moving.epoch,
        "streams": (
            StreamToClose(it.data_stream_id, it.leader_epoch, data_end),
            StreamToClose(it.meta_stream_id, it.leader_epoch, meta_end),
        ),
    }
    return FinishMove(*controller.sender(node_id), **(fields | changed))


def is_open(controller, index=0):
    it = partition(controller, index)
    return [controller.stream(s).opened for s in (it.data_stream_id, it.meta_stream_id)]


class TestBeginning:
    def test_a_move_changes_nothing_but_that_it_is_known(self, controller):
        before = partitions(controller)

        moving = begin(controller, 2)

        assert moving is not None
        assert (moving.target, moving.epoch) == (2, controller.image.index)
        assert partitions(controller) is before
        assert is_open(controller) == [True, True]

    def test_each_partition_of_a_request_is_by_itself(self, controller):
        codes = alter(controller, (0, (2,)), (7, (2,)), (1, (9,)))

        assert codes == [
            ErrorCode.NONE,
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
        ]
        assert move(controller, 0).target == 2
        assert move(controller, 1) is None

    @pytest.mark.parametrize("brokers", [(), (2, 2), (9,), (-1,)])
    def test_brokers_that_cannot_lead_are_refused(self, controller, brokers):
        assert alter(controller, (0, brokers)) == [ErrorCode.INVALID_REPLICA_ASSIGNMENT]
        assert move(controller) is None

    def test_the_first_active_broker_is_the_target(self, controller):
        controller.fence(2)

        assert alter(controller, (0, (2, 3, 1))) == [ErrorCode.NONE]
        assert move(controller).target == 3

    def test_a_partition_that_is_named_twice_is_refused(self, controller):
        assert alter(controller, (0, (2,)), (0, (3,))) == [ErrorCode.INVALID_REQUEST] * 2
        assert move(controller) is None

    def test_the_leader_is_where_it_is(self, controller):
        before = controller.image
        assert alter(controller, (0, (1,))) == [ErrorCode.NONE]
        assert controller.image is before

    def test_a_repeated_request_changes_nothing(self, controller):
        moving = begin(controller, 2)
        before = controller.image
        assert alter(controller, (0, (2,))) == [ErrorCode.NONE]
        assert controller.image is before
        assert move(controller) is moving

    def test_another_target_replaces_the_move(self, controller):
        first = begin(controller, 2)
        late = finishing(controller)
        second = begin(controller, 3)

        assert second.epoch > first.epoch
        assert controller.refusal(late) == ErrorCode.NO_REASSIGNMENT_IN_PROGRESS

    def test_a_request_is_bounded(self, controller):
        asked = [Reassignment("topic", 0, (2,))] * (MAX_REASSIGNMENTS + 1)
        assert controller.refusal(AlterReassignments(tuple(asked))) == ErrorCode.POLICY_VIOLATION

    def test_below_its_level_there_are_no_moves(self):
        controller = PureController(level=2)
        controller.register(1)
        controller.register(2)
        controller.led_by(1)
        with pytest.raises(RefusedError, match=r"needs headrace\.metadata\.version 3"):
            alter(controller, (0, (2,)))


class TestTakingBack:
    @pytest.mark.parametrize("brokers", [None, (1,)])
    def test_a_client_takes_a_move_back(self, controller, brokers):
        begin(controller)
        late = finishing(controller)

        assert alter(controller, (0, brokers)) == [ErrorCode.NONE]

        assert move(controller) is None
        assert partition(controller).leader == 1
        assert controller.refusal(late) == ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
        assert is_open(controller) == [True, True]

    def test_without_a_move_there_is_nothing_to_take_back(self, controller):
        assert alter(controller, (0, None)) == [ErrorCode.NO_REASSIGNMENT_IN_PROGRESS]

    def test_a_move_to_a_broker_that_has_ended_is_taken_back(self, controller):
        moving = begin(controller, 2)
        assert lost_moves(controller.image) == []

        controller.fence(2)

        assert lost_moves(controller.image) == [moving]
        controller.commit(take_back([moving], controller.image))
        assert move(controller) is None
        assert take_back([moving], controller.image).records == ()

    def test_only_the_move_that_was_meant_is_taken_back(self, controller):
        first = begin(controller, 2)
        second = begin(controller, 3)
        controller.commit(take_back([first], controller.image))
        assert move(controller) == second


class TestFinishing:
    def test_one_entry_closes_both_streams_and_makes_the_target_the_leader(self, controller):
        it = partition(controller)
        controller.upload(stream_objects=[stream_range(it.data_stream_id, 0, 5)])
        controller.upload(stream_objects=[stream_range(it.meta_stream_id, 0, 1)])
        begin(controller, 2)
        index = controller.image.index

        answer = controller.do(finishing(controller, data_end=5, meta_end=1))

        assert answer.taken_back is None
        assert controller.image.index == index + 1
        assert is_open(controller) == [False, False]
        assert (partition(controller).leader, partition(controller).leader_epoch) == (2, 1)
        assert move(controller) is None
        assert partition(controller, 1).leader == 1
        controller.open(it.data_stream_id, epoch=1, node_id=2)
        assert controller.stream(it.data_stream_id).end_offset == 5

    def test_a_repeated_request_changes_nothing(self, controller):
        begin(controller)
        request = finishing(controller)
        controller.do(request)
        before = controller.image
        assert controller.do(request).taken_back is None
        assert controller.image is before

    def test_also_when_the_partition_is_back_by_then(self, controller):
        begin(controller)
        request = finishing(controller)
        controller.do(request)
        for stream_id in (
            partition(controller).data_stream_id,
            partition(controller).meta_stream_id,
        ):
            controller.open(stream_id, epoch=1, node_id=2)
        begin(controller, 1)
        controller.do(finishing(controller, node_id=2))
        assert partition(controller).leader == 1
        begin(controller, 3)
        before = controller.image
        assert controller.do(request).taken_back is None
        assert controller.image is before

    @pytest.mark.parametrize(
        "ends", [{"data_end": 4}, {"data_end": 6}, {"data_end": 5, "meta_end": 1}]
    )
    def test_what_is_not_all_in_the_bucket_stays(self, controller, ends):
        it = partition(controller)
        controller.upload(stream_objects=[stream_range(it.data_stream_id, 0, 5)])
        begin(controller)

        answer = controller.do(finishing(controller, **ends))

        assert "committed up to" in answer.taken_back
        assert partition(controller).leader == 1
        assert is_open(controller) == [True, True]
        assert move(controller) is None

    def test_a_stream_that_another_epoch_has_opened_is_not_closed(self, controller):
        begin(controller)
        it = partition(controller)
        streams = (
            StreamToClose(it.data_stream_id, it.leader_epoch - 1, 0),
            StreamToClose(it.meta_stream_id, it.leader_epoch, 0),
        )
        assert controller.do(finishing(controller, streams=streams)).taken_back is not None
        assert is_open(controller) == [True, True]

    def test_a_stream_that_is_closed_is_not_closed_again(self, controller):
        begin(controller)
        it = partition(controller)
        controller.close(it.meta_stream_id, 0)
        assert controller.do(finishing(controller)).taken_back is not None
        assert partition(controller).leader == 1

    @pytest.mark.parametrize("streams", [(), "data", "another"])
    def test_both_streams_of_the_partition_are_closed(self, controller, streams):
        other = partition(controller, 1)
        it = partition(controller)
        data = StreamToClose(it.data_stream_id, 0, 0)
        closed = {
            (): (),
            "data": (data,),
            "another": (data, StreamToClose(other.meta_stream_id, 0, 0)),
        }[streams]
        begin(controller)
        assert "both streams" in controller.do(finishing(controller, streams=closed)).taken_back
        assert is_open(controller, 0) == is_open(controller, 1) == [True, True]

    def test_a_target_that_is_not_active_gets_nothing(self, controller):
        begin(controller, 2)
        controller.fence(2)
        assert "is not active" in controller.do(finishing(controller)).taken_back
        assert partition(controller).leader == 1

    def test_nor_does_one_that_is_about_to_end(self, controller):
        begin(controller, 2)
        generation = controller.begin_log(2)
        controller.begin_log(2, generation, reach=())
        assert "about to end" in controller.do(finishing(controller)).taken_back
        assert partition(controller).leader == 1

    def test_a_move_that_was_refused_once_is_over(self, controller):
        """The leader goes on, so the same request must not take effect when it arrives again."""
        begin(controller, 2)
        request = finishing(controller)
        controller.fence(2)
        assert controller.do(request).taken_back
        controller.register(2)
        assert controller.refusal(request) == ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
        assert partition(controller).leader == 1

    def test_only_the_leader_finishes_a_move(self, controller):
        begin(controller, 2)
        assert "leads it" in controller.do(finishing(controller, node_id=3)).taken_back
        assert partition(controller).leader == 1

    def test_a_registration_that_has_ended_finishes_nothing(self, controller):
        begin(controller, 2)
        request = finishing(controller)
        controller.fence(1)
        assert controller.refusal(request) == ErrorCode.STALE_BROKER_EPOCH

    def test_a_topic_that_is_deleted_moves_no_more(self, controller):
        begin(controller)
        request = finishing(controller)
        controller.delete("topic")
        assert not controller.image.moves
        assert controller.refusal(request) == ErrorCode.UNKNOWN_TOPIC_ID


class TestWhenSomebodyDies:
    def test_the_partition_of_a_dead_leader_goes_to_its_target(self, controller):
        begin(controller, 3, index=0)
        begin(controller, 3, index=1)
        controller.fence(1)
        controller.settle()

        controller.finish_drain(1)

        assert [it.leader for it in partitions(controller)] == [3, 3]
        assert not controller.image.moves

    def test_unless_the_target_is_dead_too(self, controller):
        begin(controller, 3)
        controller.fence(1)
        controller.fence(3)
        controller.settle()

        controller.finish_drain(1)

        assert {it.leader for it in partitions(controller)} == {2}
        assert not controller.image.moves

    def test_a_leader_that_comes_back_keeps_its_partitions(self, controller):
        begin(controller, 2)
        controller.fence(1)
        controller.register(1)
        assert partition(controller).leader == 1
        assert move(controller) is None

    def test_a_broker_that_is_unregistered_is_no_target(self, controller):
        controller.register(4)
        begin(controller, 4)
        controller.fence(4, FenceReason.SHUT_DOWN)
        controller.do(UnregisterBroker(4))
        assert [it.target for it in lost_moves(controller.image)] == [4]

    def test_a_target_that_cannot_open_partitions_gets_none(self, controller):
        begin(controller)
        controller.unable = frozenset({2})
        answer = controller.do(finishing(controller))
        assert "cannot open partitions" in answer.taken_back
        assert move(controller) is None
        assert partition(controller, 0).leader == 1


class TestDeadlines:
    def test_a_move_that_does_not_get_on_is_overdue(self, controller):
        deadlines = MoveDeadlines(controller.image.moves, 0)
        before = controller.image
        moving = begin(controller)
        deadlines.follow(before, controller.image, 1_000)

        assert deadlines.overdue(controller.image, 1_000 + MOVE_MS) == []
        assert deadlines.overdue(controller.image, 1_001 + MOVE_MS) == [moving]

    def test_a_new_leader_gives_it_its_whole_time(self, controller):
        moving = begin(controller)
        deadlines = MoveDeadlines(controller.image.moves, 5_000)
        assert deadlines.overdue(controller.image, 5_000 + MOVE_MS) == []
        assert deadlines.overdue(controller.image, 5_001 + MOVE_MS) == [moving]

    def test_those_that_wait_have_time_while_their_source_finishes_others(self, controller):
        begin(controller, 2, index=0)
        waits = begin(controller, 2, index=1)
        deadlines = MoveDeadlines(controller.image.moves, 0)
        before = controller.image
        controller.do(finishing(controller, 0))
        deadlines.follow(before, controller.image, MOVE_MS)

        assert deadlines.overdue(controller.image, 2 * MOVE_MS) == []
        assert deadlines.overdue(controller.image, 2 * MOVE_MS + 1) == [waits]

    def test_one_that_was_taken_back_gives_others_no_time(self, controller):
        begin(controller, 2, index=0)
        waits = begin(controller, 2, index=1)
        deadlines = MoveDeadlines(controller.image.moves, 0)
        before = controller.image
        alter(controller, (0, None))
        deadlines.follow(before, controller.image, MOVE_MS)
        assert deadlines.overdue(controller.image, MOVE_MS + 1) == [waits]

    def test_what_is_uploaded_before_it_gives_it_time(self, controller):
        """A source waits for a large older block: as long as that may take, and no longer."""
        moving = begin(controller)
        deadlines = MoveDeadlines(controller.image.moves, 0)
        deadlines.note(1, 30 * SLOWEST_BYTES_PER_S, 2_000)
        due_ms = 2_000 + MOVE_MS + 30_000
        assert deadlines.overdue(controller.image, due_ms) == []
        assert deadlines.overdue(controller.image, due_ms + 1) == [moving]

        deadlines.note(1, 30 * SLOWEST_BYTES_PER_S, 30_000)  # no less
        assert deadlines.overdue(controller.image, due_ms + 1) == [moving]
        deadlines.note(1, 20 * SLOWEST_BYTES_PER_S, 30_000)
        assert deadlines.overdue(controller.image, 30_000 + MOVE_MS + 20_000) == []
        deadlines.note(1, 0, 40_000)
        assert deadlines.overdue(controller.image, 40_000 + MOVE_MS) == []
        assert deadlines.overdue(controller.image, 40_001 + MOVE_MS) == [moving]

    def test_what_another_broker_uploads_gives_it_none(self, controller):
        moving = begin(controller)
        deadlines = MoveDeadlines(controller.image.moves, 0)
        deadlines.note(3, 30 * SLOWEST_BYTES_PER_S, 2_000)
        assert deadlines.overdue(controller.image, MOVE_MS + 1) == [moving]

    def test_however_much_gets_on_it_ends(self, controller):
        moving = begin(controller)
        deadlines = MoveDeadlines(controller.image.moves, 0)
        for now_ms in range(0, MAX_MOVE_MS, 1_000):
            deadlines.note(1, 10**9 - now_ms, now_ms)
            assert deadlines.overdue(controller.image, now_ms) == []
        assert deadlines.overdue(controller.image, MAX_MOVE_MS) == []
        assert deadlines.overdue(controller.image, MAX_MOVE_MS + 1) == [moving]

    def test_it_ends_whatever_others_of_its_source_do(self, controller):
        """The source carries it out, and finishes another one every second."""
        stuck = begin(controller, 2, index=0)
        deadlines = MoveDeadlines(controller.image.moves, 0)
        assert deadlines.overdue(controller.image, 0) == []
        for now_ms in range(1_000, MAX_MOVE_MS + 1, 1_000):
            begin(controller, 2, index=1)
            before, topic_id = controller.image, stuck.topic_id
            epoch = partition(controller, 1).leader_epoch
            controller.apply(PartitionChangeRecord(topic_id, 1, 2, epoch + 1))
            deadlines.follow(before, controller.image, now_ms)
            controller.apply(PartitionChangeRecord(topic_id, 1, 1, epoch + 2))
            assert deadlines.overdue(controller.image, now_ms) == []
        assert deadlines.overdue(controller.image, MAX_MOVE_MS + 1) == [stuck]

    def test_a_move_that_begins_again_begins_anew(self, controller):
        deadlines = MoveDeadlines(controller.image.moves, 0)
        images = [controller.image]
        for target in (2, 3):
            begin(controller, target)
            images.append(controller.image)
        deadlines.follow(images[0], images[1], 0)
        deadlines.follow(images[1], images[2], 7_000)
        assert deadlines.overdue(controller.image, 7_000 + MOVE_MS) == []


def test_a_snapshot_has_the_moves(controller):
    begin(controller, 2, index=0)
    begin(controller, 3, index=1)
    image = controller.image
    again = records_to_image(image_to_records(image), index=image.index, term=image.term)
    assert again.moves == image.moves
    assert canonical_bytes(again) == canonical_bytes(image)


def test_without_moves_nothing_is_looked_at():
    assert lost_moves(MetadataImage()) == []
