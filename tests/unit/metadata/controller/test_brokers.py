from uuid import UUID

import pytest

from headrace.metadata.controller.brokers import fence_broker
from headrace.metadata.image import BrokerState
from headrace.metadata.levels import READ_HERE
from headrace.metadata.proof import recorded_lock
from headrace.metadata.records.brokers import BrokerEndpoint, FenceReason
from headrace.metadata.rpc.requests import (
    AllocateProducerIds,
    CommitStreamSetObject,
    CommittedStreamObject,
    CompactStreamObject,
    EndLog,
    ForgetObjects,
    PrepareObjects,
    RegisterBroker,
    ReportEnd,
    TrimStream,
    UnregisterBroker,
)
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.pure_controller import (
    CLUSTER_ID,
    ENDPOINT,
    PureController,
    closing,
    opening,
    stream_range,
)


def registration(
    node_id=1,
    incarnation=1,
    cluster_id=CLUSTER_ID,
    endpoints=(ENDPOINT,),
    locks=("wal",),
    reads=READ_HERE,
):
    return RegisterBroker(
        cluster_id, node_id, UUID(int=incarnation), endpoints, "rack", locks=locks, reads=reads
    )


def node_requests(node_id, epoch, stream_id=0):
    """One of each request that a fenced node must not get through."""
    piece = stream_range(stream_id, 0, 1)
    return [
        AllocateProducerIds(node_id, epoch),
        opening(node_id, epoch, stream_id, 0),
        closing(node_id, epoch, stream_id, 0, 0),
        TrimStream(node_id, epoch, stream_id, 0, 0),
        PrepareObjects(node_id, epoch, 1, 1_000),
        CommitStreamSetObject(node_id, epoch, 0, 1, (piece,), (), ()),
        CompactStreamObject(node_id, epoch, CommittedStreamObject(0, 1, piece), ()),
        ForgetObjects(node_id, epoch, ()),
    ]


def test_a_registration_starts_fenced_at_the_epoch_of_its_entry():
    controller = PureController()

    answer = controller.do(registration())

    broker = controller.image.brokers[1]
    assert answer.node_epoch == broker.epoch == controller.image.index
    assert answer.cluster_id == CLUSTER_ID
    assert broker.fenced
    assert broker.state == BrokerState.STARTING
    assert broker.endpoints[0].port == ENDPOINT.port
    assert broker.rack == "rack"


def test_the_same_process_asking_again_gets_the_epoch_it_has():
    controller = PureController()
    first = controller.do(registration())

    decision = controller.decide(registration())

    assert decision.records == ()
    assert decision.response == first


def test_a_later_process_ends_the_epoch_of_the_earlier(controller):
    """The later registration wins, the earlier process is refused from then on."""
    old = controller.epochs[1]

    new = controller.register()

    assert new > old
    for request in node_requests(1, old):
        assert controller.refusal(request) == ErrorCode.STALE_BROKER_EPOCH


def test_a_late_repetition_of_a_replaced_registration_is_refused():
    controller = PureController()
    controller.do(registration(incarnation=1))
    controller.do(registration(incarnation=2))

    assert controller.refusal(registration(incarnation=1)) == ErrorCode.STALE_BROKER_EPOCH
    assert controller.image.brokers[1].incarnation_id == UUID(int=2)


def test_while_a_process_has_a_session_no_other_takes_its_place():
    controller = PureController()
    controller.do(registration(incarnation=1, locks=("a", "b")))
    epoch = controller.image.brokers[1].epoch

    for locks in ((), ("c",)):
        twin = registration(incarnation=2, locks=locks)
        assert controller.refusal(twin) == ErrorCode.DUPLICATE_BROKER_REGISTRATION
    assert controller.image.brokers[1].epoch == epoch

    controller.commit(
        fence_broker(1, epoch, FenceReason.SESSION_EXPIRED, controller.image, controller.inputs())
    )
    assert controller.do(registration(incarnation=2, locks=())).node_epoch > epoch


def test_who_holds_a_lock_of_the_earlier_process_need_not_wait_for_its_session():
    controller = PureController()
    first = controller.do(registration(incarnation=1, locks=("a", "b")))

    second = controller.do(registration(incarnation=2, locks=("x", "b")))

    assert second.node_epoch > first.node_epoch
    assert controller.image.brokers[1].locks == ("x", "b")
    former = registration(incarnation=3, locks=("a",))
    assert controller.refusal(former) == ErrorCode.DUPLICATE_BROKER_REGISTRATION


def test_a_process_that_names_no_lock_proves_nothing():
    controller = PureController()
    controller.do(registration(incarnation=1, locks=()))

    again = registration(incarnation=2, locks=())

    assert controller.refusal(again) == ErrorCode.DUPLICATE_BROKER_REGISTRATION


def test_the_number_of_locks_is_bounded():
    locks = tuple(map(str, range(9)))
    assert PureController().refusal(registration(locks=locks)) == ErrorCode.INVALID_REGISTRATION


def test_a_registration_raises_the_leader_epochs_of_its_partitions_in_the_same_entry(controller):
    controller.register(2)
    controller.create("a", 4)
    controller.create("b", 1)
    before = controller.image

    controller.register(1, serve=False)

    assert controller.image.index == before.index + 1
    for name in ("a", "b"):
        for old, new in zip(
            before.topic(name).partitions, controller.image.topic(name).partitions, strict=True
        ):
            raised = 1 if old.leader == 1 else 0
            assert new.leader_epoch == old.leader_epoch + raised
            assert new.leader == old.leader


def test_a_registration_leaves_the_streams_open_at_their_old_epoch(controller):
    """Recovery commits under it what the WAL still holds, and opens at the new epoch after."""
    stream_id = controller.opened_stream()
    controller.upload(stream_range(stream_id, 0, 10))

    controller.register()

    stream = controller.stream(stream_id)
    assert (stream.opened, stream.node_id, stream.epoch) == (True, 1, 0)
    controller.upload(stream_range(stream_id, 10, 15, epoch=0))
    answer = controller.open(stream_id, epoch=1)
    assert controller.stream(stream_id).epoch == 1
    assert (answer.start_offset, answer.end_offset) == (0, 15)
    late = controller.upload_request([stream_range(stream_id, 15, 20, epoch=0)])
    assert controller.refusal(late) == ErrorCode.FENCED_LEADER_EPOCH
    controller.upload(stream_range(stream_id, 15, 20, epoch=1))
    assert [it.epoch for it in controller.stream(stream_id).ranges] == [0, 1]


def test_two_crashes_before_the_streams_are_opened_again(controller):
    stream_id = controller.opened_stream()
    controller.register()
    controller.register()

    controller.upload(stream_range(stream_id, 0, 5, epoch=0))
    assert (
        controller.refusal(opening(*controller.sender(), stream_id, 1))
        == ErrorCode.FENCED_LEADER_EPOCH
    )
    assert controller.open(stream_id, epoch=2).end_offset == 5


@pytest.mark.parametrize("reason", list(FenceReason))
def test_an_epoch_that_has_ended_does_not_come_back(controller, reason):
    controller.fence(reason=reason)

    assert controller.image.brokers[1].fenced
    for request in node_requests(*controller.sender()):
        assert controller.refusal(request) == ErrorCode.STALE_BROKER_EPOCH
    again = RegisterBroker(
        CLUSTER_ID, 1, controller.image.brokers[1].incarnation_id, (ENDPOINT,), "", reads=READ_HERE
    )
    assert controller.refusal(again) == ErrorCode.STALE_BROKER_EPOCH
    controller.register()
    assert not controller.image.brokers[1].fenced


def test_fencing_an_older_epoch_does_nothing(controller):
    old = controller.epochs[1]
    controller.register()

    decision = fence_broker(
        1, old, FenceReason.SESSION_EXPIRED, controller.image, controller.inputs()
    )

    assert decision.records == ()


def test_a_starting_broker_may_recover_but_is_fenced():
    controller = PureController()
    controller.register(serve=False)

    controller.prepare()

    assert controller.image.brokers[1].fenced


def test_unfencing_twice_changes_nothing(controller):
    before = controller.image

    controller.unfence()

    assert controller.image is before


def test_requests_of_an_unknown_broker_are_refused(controller):
    for request in node_requests(9, 1):
        assert controller.refusal(request) == ErrorCode.BROKER_ID_NOT_REGISTERED


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (registration(cluster_id="other"), ErrorCode.INCONSISTENT_CLUSTER_ID),
        (registration(endpoints=()), ErrorCode.INVALID_REGISTRATION),
        (registration(endpoints=(ENDPOINT, ENDPOINT)), ErrorCode.INVALID_REGISTRATION),
        (
            registration(endpoints=tuple(BrokerEndpoint(str(it), "h", 1) for it in range(65))),
            ErrorCode.INVALID_REGISTRATION,
        ),
    ],
)
def test_registrations_that_are_refused(request_, code):
    assert PureController().refusal(request_) == code


def test_a_broker_without_cluster_id_joins_whatever_it_finds():
    answer = PureController().do(registration(cluster_id=""))

    assert answer.cluster_id == CLUSTER_ID


def test_a_broker_that_owns_nothing_is_forgotten(controller):
    controller.register(2)
    assert controller.refusal(UnregisterBroker(2)) == ErrorCode.INVALID_REQUEST
    controller.fence(2)

    controller.do(UnregisterBroker(2))

    assert 2 not in controller.image.brokers
    assert controller.refusal(UnregisterBroker(2)) == ErrorCode.BROKER_ID_NOT_REGISTERED


def test_a_broker_that_leads_partitions_is_not_forgotten(controller):
    controller.create("a")
    controller.fence()

    assert controller.refusal(UnregisterBroker(1)) == ErrorCode.INVALID_REQUEST


def test_a_broker_that_comes_back_after_being_forgotten_has_a_higher_epoch(controller):
    old = controller.epochs[1]
    controller.fence()
    controller.do(UnregisterBroker(1))

    assert controller.register() > old


class TestReportedEnd:
    @staticmethod
    def controller():
        controller = PureController()
        for node_id in (1, 2):
            controller.register(node_id)
            controller.begin_log(node_id)
        return controller

    @staticmethod
    def report(controller, epoch=None, lock="wal of 2"):
        ended = controller.epochs[2] if epoch is None else epoch
        return ReportEnd(*controller.sender(1), 2, ended, lock)

    def test_a_free_lock_ends_the_epoch_before_the_session_does(self):
        controller = self.controller()
        controller.do(self.report(controller))

        assert controller.image.brokers[2].state == BrokerState.EXPIRED
        assert not controller.image.brokers[1].epoch_ended

    def test_repeated_it_changes_nothing(self):
        controller = self.controller()
        controller.do(self.report(controller))
        index = controller.image.index
        controller.do(self.report(controller))

        assert controller.image.index == index

    def test_the_next_process_of_the_broker_stays(self):
        controller = self.controller()
        report = self.report(controller)
        controller.fence(2)
        controller.register(2)
        controller.do(report)

        assert not controller.image.brokers[2].epoch_ended

    def test_a_lock_that_it_did_not_register_with_proves_nothing(self):
        controller = self.controller()
        refused = controller.refusal(self.report(controller, lock="another"))

        assert refused == ErrorCode.INVALID_REQUEST

    @pytest.mark.parametrize(
        ("name", "ends"),
        [("wal of 2", True), ("", False), ("wal of 1", False), (recorded_lock("wal of 2"), False)],
    )
    def test_what_is_recorded_of_a_lock_proves_nothing_without_its_name(self, name, ends):
        controller = self.controller()
        controller.fence(2)
        controller.register(2, record_lock=recorded_lock)
        controller.begin_log(2)
        (lock,) = controller.image.brokers[2].locks
        report = ReportEnd(*controller.sender(1), 2, controller.epochs[2], lock, name)
        if ends:
            controller.do(report)
        else:
            assert controller.refusal(report) == ErrorCode.INVALID_REQUEST

        assert controller.image.brokers[2].epoch_ended == ends

    def test_who_has_emptied_its_log_leaves_by_itself(self):
        controller = self.controller()
        controller.do(EndLog(*controller.sender(2), 2))
        controller.do(self.report(controller))

        assert not controller.image.brokers[2].epoch_ended

    def test_who_has_not_begun_its_log_keeps_its_session(self):
        controller = self.controller()
        controller.register(2)
        controller.do(self.report(controller))

        assert not controller.image.brokers[2].epoch_ended

    def test_of_a_broker_that_is_not_registered(self):
        controller = self.controller()
        index = controller.image.index
        controller.do(ReportEnd(*controller.sender(1), 3, 1, "wal of 3"))

        assert controller.image.index == index
