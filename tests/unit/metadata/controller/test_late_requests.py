"""Requests are repeated while no answer comes, and the first copy may arrive last: after what its sender did next."""

from contextlib import suppress
from typing import get_args

import pytest

from headrace.metadata.errors import RefusedError
from headrace.metadata.rpc.requests import (
    AllocateProducerIds,
    AlterReassignments,
    BeginLog,
    CloseStreamBatch,
    CommitStreamSetObject,
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
    TrimStream,
)
from tests.unit.metadata.pure_controller import PureController, closing, opening, stream_range

# A late copy of these has an effect, and does no harm.
HARMLESS = {
    AllocateProducerIds: "the ids of the second block are given to nobody",
    PrepareObjects: "what was prepared and is not committed expires",
}


class Scene:
    """Brokers 1 to 3 with their logs; broker 1 leads a partition."""

    def __init__(self):
        self.controller = PureController()
        for node_id in (1, 2, 3):
            self.controller.register(node_id)
            self.controller.begin_log(node_id)
        (self.stream_id,) = self.controller.led_by(1)
        self.sender = self.controller.sender(1)

    def openings(self):
        self.controller.close(self.stream_id, 0)
        return opening(*self.sender, self.stream_id, 0)

    def _close(self, request):
        self.controller.do(request)
        again = opening(*self.sender, self.stream_id, 0)
        assert self.controller.refusal(again), "else the late copy closes it once more"
        return request

    def closings(self):
        return self._close(closing(*self.sender, self.stream_id, 0, 0))

    def trimming(self):
        self.controller.upload(stream_range(self.stream_id, 0, 10))
        self.controller.trim(self.stream_id, 7)
        return TrimStream(*self.sender, self.stream_id, 0, 5)

    def committing(self):
        controller = self.controller
        late = controller.upload(stream_range(self.stream_id, 0, 10))
        controller.upload(stream_range(self.stream_id, 0, 10), compacted=[late.object_id])
        controller.forget(late.object_id)
        return late

    def compacting(self):
        controller, pieces = self.controller, [(0, 5), (5, 10)]
        sources = [
            controller.upload(stream_objects=[stream_range(self.stream_id, *it)])
            .stream_objects[0]
            .object_id
            for it in pieces
        ]
        late = controller.merge_request(stream_range(self.stream_id, 0, 10), sources)
        controller.do(late)
        controller.forget(*sources)
        controller.trim(self.stream_id, 10)
        controller.forget(late.stream_object.object_id)
        return late

    def forgetting(self):
        first = self.controller.upload(stream_range(self.stream_id, 0, 10)).object_id
        self.controller.trim(self.stream_id, 10)
        self.controller.forget(first)
        return ForgetObjects(*self.sender, (first,))

    def beginning(self):
        late = self.controller.begin_log_request()
        self.controller.do(late)
        self.controller.do(EndLog(*self.sender, 1))
        return late

    def ending(self):
        late = EndLog(*self.sender, 1)
        self.controller.do(late)
        return late

    def _drain(self):
        self.controller.fence(1)
        self.controller.settle()
        drain = self.controller.log(1).drain
        return drain.node_id, drain.node_epoch, 1, drain.epoch

    def finishing(self):
        late = FinishDrain(*self._drain(), 1, ())
        self.controller.do(late)
        self.controller.register(1)
        self.controller.begin_log(1)
        return late

    def refusing(self):
        late = RefuseDrain(*self._drain(), "not there")
        self.controller.do(late)
        return late

    def reporting(self):
        late = ReportEnd(*self.sender, 2, self.controller.epochs[2], "wal of 2")
        self.controller.do(late)
        self.controller.register(2)
        self.controller.begin_log(2)
        return late

    def _move(self, target, node_id, epoch):
        controller = self.controller
        topic = controller.image.topic("topic")
        controller.do(AlterReassignments((Reassignment("topic", 0, (target,)),)))
        it = topic.partitions[0]
        for stream_id in (it.data_stream_id, it.meta_stream_id):
            if not controller.stream(stream_id).opened:
                controller.open(stream_id, epoch, node_id)
        closed = tuple(
            StreamToClose(stream_id, epoch, 0)
            for stream_id in (it.data_stream_id, it.meta_stream_id)
        )
        move = controller.image.moves[topic.topic_id, 0]
        sender = controller.sender(node_id)
        request = FinishMove(*sender, topic.topic_id, 0, epoch, move.epoch, closed)
        controller.do(request)
        return request

    def moving(self):
        """The partition is back, and about to move again."""
        late = self._move(2, 1, 0)
        self._move(1, 2, 1)
        self.controller.do(AlterReassignments((Reassignment("topic", 0, (2,)),)))
        return late


LATE = {
    OpenStreamBatch: Scene.openings,
    CloseStreamBatch: Scene.closings,
    TrimStream: Scene.trimming,
    CommitStreamSetObject: Scene.committing,
    CompactStreamObject: Scene.compacting,
    ForgetObjects: Scene.forgetting,
    BeginLog: Scene.beginning,
    EndLog: Scene.ending,
    FinishDrain: Scene.finishing,
    RefuseDrain: Scene.refusing,
    ReportEnd: Scene.reporting,
    FinishMove: Scene.moving,
}


def test_every_request_of_a_broker_is_looked_at():
    assert set(LATE) | set(HARMLESS) == set(get_args(NodeMutation))
    assert not set(LATE) & set(HARMLESS)


@pytest.mark.parametrize("kind", LATE, ids=lambda it: it.__name__)
def test_a_late_copy_changes_nothing(kind):
    scene = Scene()
    late = LATE[kind](scene)
    assert isinstance(late, kind)
    before = scene.controller.image

    with suppress(RefusedError):  # nobody waits for this answer
        scene.controller.do(late)

    assert scene.controller.image is before


def test_a_registration_that_arrives_late_ends_no_newer_one():
    """Its process has ended: the newer one holds the lock that both name."""
    controller = PureController()
    for incarnation in (1, 2):
        controller.register(1, incarnation)
    before = controller.image

    with pytest.raises(RefusedError):
        controller.register(1, 1)

    assert controller.image is before
