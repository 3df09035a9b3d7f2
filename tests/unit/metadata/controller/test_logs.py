"""Which log a broker uses, and what becomes of a log that nobody can read."""

import pytest

from headrace.broker.adapters.wal_registry import require_known_wal
from headrace.metadata.controller.features import Readers, update_features
from headrace.metadata.controller.logs import has_keys_left, replace_keys
from headrace.metadata.images.log_keys import UNKNOWN_GENERATION
from headrace.metadata.images.logs import LogState
from headrace.metadata.levels import METADATA_FEATURE, READ_HERE
from headrace.metadata.offline.described_logs import waiting_logs
from headrace.metadata.records.brokers import FenceReason
from headrace.metadata.records.cluster import FeatureRecord
from headrace.metadata.records.logs import LogMedium, LogReach
from headrace.metadata.records.topics import PartitionChangeRecord
from headrace.metadata.rpc.requests import (
    AcceptLogLoss,
    BeginLog,
    EndLog,
    FeatureUpdate,
    PutKeyValues,
    UnregisterBroker,
    UpdateFeatures,
    UpgradeType,
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

    def test_below_its_level_there_are_no_logs(self):
        controller = PureController(level=1)
        controller.register(1)

        assert controller.refusal(begin(controller)) == ErrorCode.UNSUPPORTED_VERSION


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


def raised_after_an_orderly_stop(*, ends=True):
    """Broker 1, which leads a topic, has removed its keys at level 1; 2 goes on, and 3 leads nothing."""
    controller = PureController(level=1)
    for node_id in (1, 2, 3):
        controller.register(node_id)
    controller.led_by(1, "orders", 2)
    value = f"{controller.epochs[2]} {GENERATION}".encode()
    controller.do(PutKeyValues(*controller.sender(2), (("wal/2", value),)))
    controller.led_by(2, "others")
    if ends:
        for node_id in (1, 3):
            controller.fence(node_id, FenceReason.SHUT_DOWN)
    reads = dict.fromkeys(controller.epochs.items(), READ_HERE)
    update = FeatureUpdate(METADATA_FEATURE, 2, UpgradeType.UPGRADE)
    request = UpdateFeatures((update,), validate_only=False)
    controller.commit(
        update_features(request, Readers({}, reads), controller.image, controller.inputs())
    )
    controller.do(begin(controller, log_id=2, node_id=2, places=("/wals/2",), reach=EVERY_FILE))
    return controller


class TestRaisingTheLevel:
    def test_the_log_of_a_broker_that_told_none_waits_until_its_loss_is_accepted(self):
        controller = raised_after_an_orderly_stop()
        controller.commit(replace_keys(controller.image))
        assert not has_keys_left(controller.image)
        log = controller.log(1)
        assert (log.state, log.generation) == (LogState.ACTIVE, UNKNOWN_GENERATION)
        assert sorted(controller.image.logs) == [1, 2], "nothing waits for broker 3"
        assert controller.settle() == [], "whether it is empty is not guessed"
        (waiting,) = waiting_logs(controller.image)
        assert "it is empty if that was stopped in order" in waiting

        controller.do(AcceptLogLoss(1, UNKNOWN_GENERATION, damaged_only=False))

        assert {it.leader for it in controller.image.topic("orders").partitions} == {2}
        assert waiting_logs(controller.image) == []
        controller.do(UnregisterBroker(1))

    def test_or_until_it_is_started_again(self):
        controller = raised_after_an_orderly_stop()
        controller.commit(replace_keys(controller.image))
        controller.register(1)
        assert require_known_wal(controller.image, 1, "/wals/1", None, accepted="") is None

        controller.do(begin(controller))

        assert controller.log(1).generation == GENERATION
        assert waiting_logs(controller.image) == []

    def test_no_log_in_use_is_of_that_generation(self, controller):
        request = begin(controller, generation=UNKNOWN_GENERATION)
        assert controller.refusal(request) == ErrorCode.INVALID_REQUEST

    def test_the_keys_become_logs_in_one_entry(self):
        controller = PureController(level=1)
        older, one_epoch, two_epoch = (controller.register(it) for it in (2, 1, 2))
        keys = {
            "wal/1": f"{one_epoch} 0123456789abcdef".encode(),
            "wal/1/uploaded": f"{one_epoch} 500".encode(),
            "wal/2": f"{two_epoch} fedcba9876543210".encode(),
            "wal/2/uploaded": f"{older} 500".encode(),  # of an older registration
            "other": b"value",
        }
        controller.do(PutKeyValues(*controller.sender(), tuple(keys.items())))

        assert not has_keys_left(controller.image)
        controller._apply((FeatureRecord("metadata.version", 2),))
        assert has_keys_left(controller.image)
        controller.commit(replace_keys(controller.image))

        assert dict(controller.image.key_values) == {"other": b"value"}
        one, two = controller.log(1), controller.log(2)
        assert (one.epoch, one.generation, one.uploaded_offset) == (one_epoch, GENERATION, 500)
        assert (two.epoch, two.generation) == (two_epoch, "fedcba9876543210")
        assert two.uploaded_offset == -1
        assert (one.medium, one.places, one.state) == (LogMedium.UNKNOWN, (), LogState.ACTIVE)

    def test_a_log_that_ends_before_its_keys_are_replaced_has_ended(self):
        controller = PureController(level=1)
        epoch = controller.register(1)
        value = f"{epoch} {GENERATION}".encode()
        controller.do(PutKeyValues(*controller.sender(), (("wal/1", value),)))
        controller._apply((FeatureRecord("metadata.version", 2),))

        controller.do(EndLog(*controller.sender(), 1))

        assert not has_keys_left(controller.image)
        assert (controller.log(1).epoch, controller.log(1).state) == (epoch, LogState.EMPTY)
        late = begin(controller)
        controller.do(late)
        assert controller.log(1).state == LogState.EMPTY

    def test_so_has_one_whose_broker_has_removed_its_keys_before_the_level_was_raised(self):
        """It was stopped in order meanwhile: its partitions move, and nobody waits for it."""
        controller = raised_after_an_orderly_stop(ends=False)

        controller.do(EndLog(*controller.sender(1), 1))
        controller.fence(1, FenceReason.SHUT_DOWN)
        controller.settle()

        assert controller.log(1).state == LogState.DRAINED
        assert {it.leader for it in controller.image.topic("orders").partitions} == {2}

    def test_a_broker_tells_the_place_of_the_log_that_it_has_open(self):
        controller = PureController(level=1)
        epoch = controller.register(1)
        value = f"{epoch} {GENERATION}".encode()
        controller.do(PutKeyValues(*controller.sender(), (("wal/1", value),)))
        controller._apply((FeatureRecord("metadata.version", 2),))
        # A commit that was decided later brings its key along.
        uploaded = f"{epoch} 600".encode()
        controller.do(PutKeyValues(*controller.sender(), (("wal/1/uploaded", uploaded),)))

        controller.do(begin(controller))

        assert not has_keys_left(controller.image)
        assert controller.log(1).places == ("/wals/1",)
        assert controller.log(1).uploaded_offset == 600

    def test_a_key_that_was_late_is_removed(self, controller):
        log = controller.log(1)
        late = f"{log.epoch} 77".encode()
        keys = (("wal/1", f"{log.epoch} {GENERATION}".encode()), ("wal/1/uploaded", late))
        controller.do(PutKeyValues(*controller.sender(), keys))

        controller.commit(replace_keys(controller.image))

        assert not controller.image.key_values
        assert controller.log(1) == log

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("wal/1", b""),
            ("wal/1", b"\xff\xfe"),
            ("wal/1", b"x 0123456789abcdef"),
            ("wal/1", b"1"),
            ("wal/1", b"1 "),  # would equal a setting that is not set
            ("wal/1", b"1 0123456789abcdeg"),
            ("wal/1", b"-1 0123456789abcdef"),
            ("wal/1", b"999 0123456789abcdef"),  # no registration had this epoch
            ("wal/1", b"9" * 30 + b" 0123456789abcdef"),
            ("wal/9", b"1 0123456789abcdef"),  # not registered
            ("wal/01", b"1 0123456789abcdef"),
            ("wal/1/other", b"1 2"),
            ("wal/1/uploaded", b"1 2"),
            ("wal/", b""),
            ("wal//uploaded", b""),
        ],
    )
    def test_a_key_that_stands_for_no_log_is_removed(self, key, value):
        controller = PureController(level=1)
        controller.register(1)
        controller.do(PutKeyValues(*controller.sender(), ((key, value),)))
        controller._apply((FeatureRecord("metadata.version", 2),))

        assert has_keys_left(controller.image)
        controller.commit(replace_keys(controller.image))

        assert not controller.image.key_values
        assert not controller.image.logs
        assert not has_keys_left(controller.image)
        controller.do(begin(controller))

    @pytest.mark.parametrize(
        "value", [b"", b"\xff", b"EPOCH x", b"EPOCH -5", b"EPOCH " + b"9" * 30]
    )
    def test_what_was_uploaded_is_unknown_if_it_cannot_be_read(self, value):
        controller = PureController(level=1)
        epoch = str(controller.register(1)).encode()
        value = value.replace(b"EPOCH", epoch)
        keys = (("wal/1", epoch + b" 0123456789abcdef"), ("wal/1/uploaded", value))
        controller.do(PutKeyValues(*controller.sender(), keys))
        controller._apply((FeatureRecord("metadata.version", 2),))

        controller.commit(replace_keys(controller.image))

        assert controller.log(1).uploaded_offset == -1
        assert not controller.image.key_values

    @pytest.mark.parametrize("value", [b"", b"\xff", b"999 0123456789abcdef"])
    def test_a_broker_tells_its_log_whatever_its_keys_say(self, value):
        controller = PureController(level=2)
        controller.register(1)
        keys = (("wal/1", value), ("wal/1/uploaded", value))
        controller.do(PutKeyValues(*controller.sender(), keys))

        controller.do(begin(controller))

        assert controller.log(1).generation == GENERATION
        assert not has_keys_left(controller.image)
