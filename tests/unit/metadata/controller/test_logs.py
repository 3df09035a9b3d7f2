"""Which log a broker uses, and what becomes of a log that nobody can read."""

import pytest

from headrace.metadata.images.logs import UNKNOWN_GENERATION, LogState
from headrace.metadata.records.logs import LogMedium, LogReach
from headrace.metadata.records.topics import PartitionChangeRecord
from headrace.metadata.rpc.requests import (
    AcceptLogLoss,
    BeginLog,
    EndLog,
    UnregisterBroker,
)
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.pure_controller import EVERY_FILE, PureController, stream_range

GENERATION = "0123456789abcdef"


@pytest.fixture
def controller():
    """Brokers 1 and 2, with their logs; both can drain logs."""
    controller = PureController(level=2)
    for node_id in (1, 2):
        controller.register(node_id)
        controller.begin_log(node_id)
    return controller


def begin(controller, *, log_id=1, node_id=1, generation=GENERATION, places=("/wals/1",), reach=()):
    sender = controller.sender(node_id)
    return BeginLog(*sender, log_id, generation, LogMedium.FILE, places, reach)


class TestBeginning:
    def test_a_broker_tells_its_log_and_what_it_can_drain(self, controller):
        controller.do(begin(controller, reach=(LogReach(LogMedium.BUCKET, ""),)))

        log = controller.log(1)
        assert (log.owner, log.epoch, log.generation) == (1, controller.epochs[1], GENERATION)
        assert (log.medium, log.places) == (LogMedium.FILE, ("/wals/1",))
        assert (log.state, log.uploaded_offset) == (LogState.ACTIVE, 0)
        assert controller.image.brokers[1].reach == (LogReach(LogMedium.BUCKET, ""),)

    def test_a_repeated_request_makes_no_entry(self, controller):
        controller.do(begin(controller))
        before = controller.image

        controller.do(begin(controller))

        assert controller.image is before

    def test_a_log_in_use_has_a_generation(self, controller):
        """An empty one would equal that of a loss which nobody has accepted."""
        refused = controller.refusal(begin(controller, generation=""))

        assert refused == ErrorCode.INVALID_REQUEST

    def test_a_new_registration_drains_nothing_until_it_says_so(self, controller):
        controller.register(1)

        assert controller.image.brokers[1].reach == ()

    def test_a_log_of_another_broker_cannot_be_taken(self, controller):
        assert controller.refusal(begin(controller, log_id=2)) == ErrorCode.INVALID_REQUEST

    def test_a_broker_has_one_log(self, controller):
        assert controller.refusal(begin(controller, log_id=7)) == ErrorCode.INVALID_REQUEST

    def test_an_old_registration_begins_nothing(self, controller):
        request = begin(controller)
        controller.register(1)

        assert controller.refusal(request) == ErrorCode.STALE_BROKER_EPOCH

    @pytest.mark.parametrize(
        "fields", [{"places": ("/x",) * 9}, {"reach": EVERY_FILE * 65}], ids=["places", "reach"]
    )
    def test_lists_are_bounded(self, controller, fields):
        assert controller.refusal(begin(controller, **fields)) == ErrorCode.INVALID_REQUEST


class TestUploaded:
    def upload(self, controller, stream_id, start, wal_end_offset, **fields):
        piece = stream_range(stream_id, start, start + 10)
        request = controller.upload_request([piece], log=(1, controller.epochs[1]), **fields)
        fields = {name: getattr(request, name) for name in request.__struct_fields__}
        return type(request)(**fields | {"wal_end_offset": wal_end_offset})

    def test_a_commit_tells_how_far_the_log_is_uploaded(self, controller):
        (stream_id,) = controller.led_by(1)

        controller.do(self.upload(controller, stream_id, 0, 500))
        assert controller.log(1).uploaded_offset == 500

        controller.do(self.upload(controller, stream_id, 10, 400))
        assert controller.log(1).uploaded_offset == 500

    def test_it_is_told_of_the_generation_that_the_registration_has_begun(self, controller):
        (stream_id,) = controller.led_by(1)
        controller.register(1)  # and recovers the generation before

        controller.do(self.upload(controller, stream_id, 0, 500))

        assert controller.log(1).uploaded_offset == 0

    def test_a_new_generation_begins_at_nothing_and_one_told_again_does_not(self, controller):
        (stream_id,) = controller.led_by(1)
        controller.do(self.upload(controller, stream_id, 0, 500))

        controller.do(begin(controller))
        assert controller.log(1).uploaded_offset == 500

        controller.register(1)
        controller.begin_log(1)
        assert controller.log(1).uploaded_offset == 0


class TestEnding:
    def test_an_emptied_log_is_not_needed(self, controller):
        controller.do(EndLog(*controller.sender(), 1))

        assert controller.log(1).state == LogState.EMPTY

    def test_a_repetition_changes_nothing(self, controller):
        controller.do(EndLog(*controller.sender(), 1))
        before = controller.image

        controller.do(EndLog(*controller.sender(), 1))

        assert controller.image is before

    def test_what_a_former_registration_began_is_still_needed(self, controller):
        controller.register(1)

        controller.do(EndLog(*controller.sender(), 1))

        assert controller.log(1).state == LogState.ACTIVE

    def test_the_next_start_needs_it_again(self, controller):
        controller.do(EndLog(*controller.sender(), 1))
        controller.register(1)
        controller.begin_log(1)

        assert controller.log(1).state == LogState.ACTIVE


class TestUnregistering:
    def test_a_broker_whose_log_is_not_drained_is_not_forgotten(self, controller):
        (stream_id,) = controller.led_by(1)
        controller.fence(1)

        assert controller.refusal(UnregisterBroker(1)) == ErrorCode.INVALID_REQUEST
        controller.settle()
        moved = PartitionChangeRecord(controller.stream(stream_id).topic_id, 0, 2, 1)
        controller._apply((moved,))  # it leads nothing any more
        assert controller.refusal(UnregisterBroker(1)) == ErrorCode.INVALID_REQUEST
        controller.finish_drain(1)
        controller.do(UnregisterBroker(1))

        assert set(controller.image.logs) == {2}

    def test_one_whose_loss_is_accepted_is(self, controller):
        controller.led_by(1)
        controller.fence(1)
        controller.do(AcceptLogLoss(1, controller.log(1).generation, damaged_only=False))

        controller.do(UnregisterBroker(1))

        assert set(controller.image.logs) == {2}

    @pytest.mark.parametrize("emptied", [True, False])
    def test_one_that_has_no_stream_open_is(self, controller, emptied):
        if emptied:
            controller.do(EndLog(*controller.sender(), 1))
        controller.fence(1)

        controller.do(UnregisterBroker(1))

        assert set(controller.image.logs) == {2}


class TestLoss:
    def accept(self, controller, *, damaged_only=False):
        return AcceptLogLoss(1, controller.log(1).generation, damaged_only)

    def test_the_partitions_go_on_elsewhere_without_what_the_log_held(self, controller):
        (stream_id,) = controller.led_by(1)
        controller.upload(stream_range(stream_id, 0, 10))
        controller.fence(1)

        controller.do(self.accept(controller))

        assert controller.log(1).state == LogState.LOST
        assert not controller.stream(stream_id).opened
        (partition,) = controller.image.topic("topic").partitions
        assert (partition.leader, partition.leader_epoch) == (2, 1)
        assert controller.open(stream_id, 1, node_id=2).end_offset == 10

    def test_not_before_a_broker_can_lead_the_partitions(self, controller):
        """Nobody would look at them again: they would be offline until the owner is back."""
        controller.led_by(1)
        controller.fence(1)
        controller.fence(2)

        assert controller.refusal(self.accept(controller)) == ErrorCode.INVALID_REQUEST

        controller.do(self.accept(controller, damaged_only=True))
        controller.register(2)
        controller.do(self.accept(controller))
        assert controller.image.topic("topic").partitions[0].leader == 2

    def test_a_repetition_changes_nothing(self, controller):
        controller.fence(1)
        controller.do(self.accept(controller))
        before = controller.image

        controller.do(self.accept(controller))

        assert controller.image is before

    def test_only_the_generation_that_is_named_is_given_up(self, controller):
        controller.fence(1)
        request = AcceptLogLoss(1, GENERATION, damaged_only=False)

        assert controller.refusal(request) == ErrorCode.INVALID_REQUEST

    def test_a_log_in_use_is_not_given_up(self, controller):
        assert controller.refusal(self.accept(controller)) == ErrorCode.INVALID_REQUEST

    def test_a_log_that_is_being_drained_is_not_given_up(self, controller):
        controller.fence(1)
        controller.settle()

        assert controller.refusal(self.accept(controller)) == ErrorCode.INVALID_REQUEST

    @pytest.mark.parametrize("damaged_only", [True, False])
    def test_a_log_that_nobody_needs_cannot_be_lost(self, controller, damaged_only):
        controller.fence(1)
        controller.settle()
        controller.finish_drain(1)
        request = self.accept(controller, damaged_only=damaged_only)

        assert controller.refusal(request) == ErrorCode.INVALID_REQUEST

    def test_an_unknown_log_cannot_be_lost(self, controller):
        request = AcceptLogLoss(9, GENERATION, damaged_only=False)

        assert controller.refusal(request) == ErrorCode.RESOURCE_NOT_FOUND

    def test_damage_is_accepted_of_a_log_that_is_drained_then(self, controller):
        controller.fence(1)

        controller.do(self.accept(controller, damaged_only=True))

        assert controller.log(1).damage_accepted
        assert controller.log(1).state == LogState.ACTIVE

    def test_it_is_accepted_of_one_generation(self, controller):
        controller.fence(1)
        controller.do(self.accept(controller, damaged_only=True))
        controller.register(1)
        controller.begin_log(1)

        assert not controller.log(1).damage_accepted

    def test_an_owner_that_comes_back_begins_anew(self, controller):
        (stream_id,) = controller.led_by(1)
        controller.fence(1)
        controller.do(self.accept(controller))
        controller.register(1)
        late = controller.upload_request([stream_range(stream_id, 0, 10)])

        assert controller.refusal(late) == ErrorCode.INVALID_REQUEST
        controller.begin_log(1)
        assert controller.log(1).state == LogState.ACTIVE


class TestTheGenerationOfALogThatWasNeverTold:
    def test_no_log_in_use_is_of_that_generation(self, controller):
        request = begin(controller, generation=UNKNOWN_GENERATION)
        assert controller.refusal(request) == ErrorCode.INVALID_REQUEST
