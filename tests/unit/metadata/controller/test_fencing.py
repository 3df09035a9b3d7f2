"""Nothing that carries an epoch which is over is carried out, done before or not."""

import typing

import pytest

from headrace.metadata.records.brokers import FenceReason
from headrace.metadata.records.logs import LogMedium
from headrace.metadata.rpc.requests import (
    AllocateProducerIds,
    AlterReassignments,
    BeginLog,
    CloseStreamBatch,
    CommitStreamSetObject,
    CommittedStreamObject,
    CompactStreamObject,
    EndLog,
    FinishDrain,
    FinishMove,
    ForgetObjects,
    NodeMutation,
    OpenStreamBatch,
    PrepareObjects,
    Reassignment,
    RefuseDrain,
    ReportEnd,
    StreamToClose,
    StreamToOpen,
    TrimStream,
    UnregisterBroker,
)
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.pure_controller import (
    EVERY_FILE,
    PureController,
    closing,
    opening,
    stream_range,
)

KINDS = typing.get_args(NodeMutation)


def one_of_each(controller):
    """Requests of broker 1 that have all been carried out, and that would be once more."""
    stream_id = controller.opened_stream()
    controller.upload(stream_range(stream_id, 0, 10))
    sources = [
        controller.upload(stream_objects=[stream_range(stream_id, start, start + 5)])
        for start in (10, 15)
    ]
    source_ids = [it.stream_objects[0].object_id for it in sources]
    merged = CommittedStreamObject(controller.prepare(), 90, stream_range(stream_id, 10, 20))
    (closed_id,) = controller.topic_with_streams("closed")
    controller.open(closed_id)
    begun = begin_and_drain(controller)
    drain = controller.log(2).drain
    moved = finished_move(controller)
    sender = controller.sender()
    requests = (
        AllocateProducerIds(*sender),
        opening(*sender, stream_id, 0),
        OpenStreamBatch(*sender, (StreamToOpen(stream_id, 0),)),
        closing(*sender, closed_id, 0, 0),
        CloseStreamBatch(*sender, (StreamToClose(closed_id, 0, 0),)),
        TrimStream(*sender, stream_id, 0, 5),
        PrepareObjects(*sender, 1, 1_000),
        controller.upload(stream_range(stream_id, 20, 30)),
        CompactStreamObject(*sender, merged, tuple(source_ids)),
        ForgetObjects(*sender, tuple(source_ids)),
        begun,
        FinishDrain(*sender, 2, drain.epoch, 100, ()),
        RefuseDrain(*sender, 2, drain.epoch, "not there"),
        EndLog(*sender, 1),
        ReportEnd(*sender, 2, controller.epochs[2], "wal of 2"),
        moved,
    )
    for _ in range(2):
        for request in requests:
            controller.do(request)
    return {type(it): it for it in requests}


def begin_and_drain(controller):
    """Broker 1 begins its log and drains that of broker 2; return the request for the first."""
    begun = BeginLog(*controller.sender(), 1, "00", LogMedium.FILE, ("/wals/1",), EVERY_FILE)
    controller.do(begun)
    controller.register(2)
    controller.begin_log(2)
    controller.fence(2)
    controller.settle()
    return begun


def finished_move(controller):
    """A partition has moved from broker 1 to broker 3; return the request that finished it."""
    controller.led_by(1, "moved")
    (it,) = controller.image.topic("moved").partitions
    controller.open(it.meta_stream_id)
    controller.register(3)
    controller.do(AlterReassignments((Reassignment("moved", 0, (3,)),)))
    topic_id = controller.image.topic("moved").topic_id
    closed = tuple(StreamToClose(id_, 0, 0) for id_ in (it.data_stream_id, it.meta_stream_id))
    epoch = controller.image.moves[topic_id, 0].epoch
    return FinishMove(*controller.sender(), topic_id, 0, 0, epoch, closed)


def replace_process(controller):
    controller.register(incarnation=2)
    return ErrorCode.STALE_BROKER_EPOCH


def expire(controller):
    controller.fence()
    return ErrorCode.STALE_BROKER_EPOCH


def shut_down(controller):
    controller.fence(reason=FenceReason.SHUT_DOWN)
    return ErrorCode.STALE_BROKER_EPOCH


def forget(controller):
    controller.delete("topic", "closed")
    controller.fence()
    controller.do(UnregisterBroker(1))
    return ErrorCode.BROKER_ID_NOT_REGISTERED


@pytest.mark.parametrize("end", [replace_process, expire, shut_down, forget])
@pytest.mark.parametrize("kind", KINDS)
def test_a_repetition_is_refused_once_the_epoch_is_over(kind, end):
    """Also where it took effect and the answer was lost: who wakes up must learn that it has been replaced."""
    controller = PureController()
    controller.register(incarnation=1)
    request = one_of_each(controller)[kind]
    refusal = end(controller)

    assert controller.refusal(request) == refusal


@pytest.mark.parametrize("kind", KINDS)
def test_an_epoch_that_is_still_to_come_is_refused_as_well(kind):
    """Numbers of another log, from before its controllers were lost."""
    controller = PureController()
    controller.register(incarnation=1)
    request = one_of_each(controller)[kind]
    fields = [getattr(request, name) for name in request.__struct_fields__]
    fields[1] += 1 << 32

    assert controller.refusal(kind(*fields)) == ErrorCode.STALE_BROKER_EPOCH


def test_every_request_of_a_node_is_among_them():
    controller = PureController()
    controller.register(incarnation=1)

    assert set(one_of_each(controller)) == set(KINDS)
    assert CommitStreamSetObject in KINDS
