"""Metadata made anew from a snapshot, after every controller was lost."""

from uuid import UUID

import pytest

from headrace.metadata.images.brokers import BrokerState
from headrace.metadata.images.logs import LogState
from headrace.metadata.images.objects import ObjectState
from headrace.metadata.levels import READ_HERE
from headrace.metadata.offline.rebuilding import (
    ID_STEP,
    INDEX_STEP,
    LEADER_EPOCH_STEP,
    NEVER_MS,
    TERM_STEP,
    continues,
    rebuild,
)
from headrace.metadata.records.members import Member
from headrace.metadata.rpc.requests import (
    AllocateProducerIds,
    CommitStreamSetObject,
    EndLog,
    PrepareObjects,
    RegisterBroker,
)
from headrace.metadata.snapshot import image_to_records, records_to_image
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.pure_controller import (
    CLUSTER_ID,
    ENDPOINT,
    PureController,
    opening,
    stream_range,
)

MEMBER = Member(7, UUID(int=77), "localhost", 9093, voter=True)


@pytest.fixture
def lost():
    """A controller with data, of which only a snapshot is left."""
    controller = PureController()
    controller.register()
    stream_id = controller.opened_stream("orders")
    controller.upload(stream_range(stream_id, 0, 10))
    controller.do(AllocateProducerIds(1, controller.epochs[1]))
    return controller


def found_in(image, **changes):
    """What lies in the bucket: what is committed, and what is told."""
    found = {
        it.object_id: it.size_bytes
        for it in image.objects.by_id.values()
        if it.state == ObjectState.COMMITTED
    }
    return found | changes.get("more", {})


def rebuilt(image, **changes):
    held = changes.get("held", {})
    return rebuild(image, found_in(image, **changes), held, member=MEMBER, now_ms=1_000)


def going_on(image):
    """A controller that goes on with it."""
    controller = PureController()
    controller.image = image
    controller.entries.clear()
    controller.rng.seed(image.index)  # other processes
    return controller


@pytest.mark.parametrize("state", [LogState.EMPTY, LogState.DRAINING, LogState.DRAINED])
def test_every_log_may_hold_what_was_written_after_the_snapshot(state):
    lost = PureController(level=2)
    for node_id in (1, 2):
        lost.register(node_id)
        lost.begin_log(node_id)
    if state == LogState.EMPTY:
        lost.do(EndLog(*lost.sender(1), 1))
    else:
        lost.fence(1)
        lost.settle()
    if state == LogState.DRAINED:
        lost.finish_drain(1)
    assert lost.log(1).state == state

    controller = going_on(rebuilt(lost.image).image)

    assert controller.log(1).state == LogState.ACTIVE
    assert controller.log(1).generation == lost.log(1).generation


def test_nothing_that_was_given_out_is_given_out_again(lost):
    """Although the lost log went on for long after the snapshot."""
    image = lost.image
    controller = going_on(rebuilt(image).image)
    assert controller.image.term == image.term + TERM_STEP
    assert controller.image.members == (MEMBER,)
    assert controller.image.cluster_id == CLUSTER_ID

    epoch = controller.register()
    assert epoch > image.index + INDEX_STEP
    prepared = controller.do(PrepareObjects(1, epoch, 1, 60_000))
    assert prepared.first_object_id >= image.objects.next_object_id + ID_STEP
    block = controller.do(AllocateProducerIds(1, epoch))
    assert block.first_producer_id >= image.next_producer_id + ID_STEP
    (stream_id,) = controller.topic_with_streams("another")
    assert stream_id >= image.next_stream_id + ID_STEP


def test_topics_configs_and_data_are_as_they_were(lost):
    image, made = lost.image, rebuilt(lost.image).image
    assert made.topic_ids == image.topic_ids
    assert made.configs == image.configs
    for stream_id, stream in image.streams.items():
        again = made.streams[stream_id]
        assert (again.start_offset, again.end_offset) == (stream.start_offset, stream.end_offset)
        assert again.objects == stream.objects


def test_every_broker_must_register_anew_and_old_epochs_are_over(lost):
    """Also those that began after the snapshot, of processes that it does not know."""
    old_epoch = lost.epochs[1]
    controller = going_on(rebuilt(lost.image).image)
    assert controller.image.brokers[1].state == BrokerState.EXPIRED
    for epoch in (old_epoch, old_epoch + 5):
        refused = controller.refusal(PrepareObjects(1, epoch, 1, 60_000))
        assert refused == ErrorCode.STALE_BROKER_EPOCH
    incarnation = lost.image.brokers[1].incarnation_id
    again = RegisterBroker(CLUSTER_ID, 1, incarnation, (ENDPOINT,), "", reads=READ_HERE)
    assert controller.refusal(again) == ErrorCode.STALE_BROKER_EPOCH
    controller.register()
    partition = controller.image.topic("orders").partitions[0]
    old = lost.image.topic("orders").partitions[0]
    assert partition.leader_epoch == old.leader_epoch + LEADER_EPOCH_STEP + 1


@pytest.mark.parametrize("opened", [True, False])
def test_a_broker_recovers_what_its_wal_holds_and_goes_on(lost, opened):
    """Under whatever epoch it was written, also into a stream that the snapshot has as closed."""
    name = "orders"
    if not opened:
        name = "closed"
        lost.create(name)
    made = rebuilt(lost.image).image
    controller = going_on(made)
    epoch = controller.register()
    stream_id = made.topic(name).partitions[0].data_stream_id
    stream = made.streams[stream_id]
    assert stream.opened
    assert stream.node_id == 1
    end = stream.end_offset
    object_id = controller.do(PrepareObjects(1, epoch, 1, 60_000)).first_object_id
    piece = stream_range(stream_id, end, end + 5, epoch=stream.epoch)
    controller.do(CommitStreamSetObject(1, epoch, object_id, 100, (piece,), (), ()))
    partition = controller.image.topic(name).partitions[0]
    assert partition.leader_epoch > stream.epoch
    controller.do(opening(1, epoch, stream_id, partition.leader_epoch))
    assert controller.stream(stream_id).end_offset == end + 5


def test_objects_that_the_snapshot_does_not_know_are_never_expire(lost):
    """Whether it had prepared them or not: nobody can say whether they are wanted."""
    prepared = lost.prepare(2)
    later = lost.image.objects.next_object_id
    outcome = rebuilt(lost.image, more={prepared: 10, later: 20, later + 1: 30, later + 9: 40})
    assert outcome.unreferenced == {prepared: 10, later: 20, later + 1: 30, later + 9: 40}

    by_id = outcome.image.objects.by_id
    for object_id in (prepared, prepared + 1, later, later + 1, later + 9):
        assert by_id[object_id].state == ObjectState.PREPARED
        assert by_id[object_id].expires_ms == NEVER_MS
    assert later + 2 not in by_id
    controller = going_on(outcome.image)
    controller.register()
    controller.now_ms = NEVER_MS - 1
    controller.expire()
    assert controller.object(later).state == ObjectState.PREPARED


def test_objects_that_continue_their_streams_are_taken_in(lost):
    """Whoever uploaded them had confirmed what they hold; the chain goes on as far as it goes."""
    one = lost.image.topic("orders").partitions[0].data_stream_id
    (two,) = lost.topic_with_streams("unopened")
    prepared = lost.prepare()
    later = lost.image.objects.next_object_id
    held = {
        prepared: [(one, 0, 10, 20)],
        later: [(one, 0, 20, 22), (one, 1, 22, 25), (two, 0, 0, 5)],
        later + 1: [(one, 1, 30, 40)],  # behind a gap
        later + 2: [(two, 0, 5, 6), (77, 0, 0, 9)],  # of a stream that is not known
        later + 3: [(one, 0, 0, 20)],  # a compaction of what is there
        later + 4: [(two, 0, 5, 9)],
        later + 5: [(two, 0, 9, 12), (two, 0, 13, 14)],
    }
    sizes = {object_id: object_id * 10 for object_id in held}
    outcome = rebuilt(lost.image, more=sizes | {later + 6: 7}, held=held)
    assert outcome.adopted == {it: sizes[it] for it in (prepared, later, later + 4)}
    assert list(outcome.unreferenced) == [later + it for it in (1, 2, 3, 5, 6)]
    assert outcome.outdated == {}

    made = outcome.image
    assert made.streams[one].end_offset == 25
    assert made.streams[two].end_offset == 9
    assert [it.object_id for it in made.streams[two].objects] == [later, later + 4]
    assert made.objects.by_id[later].size_bytes == sizes[later]
    assert made.objects.by_id[later].node_id == 1
    assert made.objects.by_id[later + 1].state == ObjectState.PREPARED
    again = records_to_image(image_to_records(made), index=made.index, term=made.term)
    assert again == made


class TestEpochs:
    """Of objects that hold the same offsets: a stopped owner may have uploaded what was never committed."""

    @pytest.fixture
    def stream_id(self, lost):
        """Of a stream that ends at 10; its range begins at epoch 0 and offset 0."""
        found = lost.image.topic("orders").partitions[0].data_stream_id
        assert [(it.epoch, it.start_offset) for it in lost.stream(found).ranges] == [(0, 0)]
        return found

    @staticmethod
    def outcome(lost, *objects):
        """Rebuild with objects of these contents, oldest first."""
        held = dict(enumerate(objects, lost.image.objects.next_object_id))
        return rebuilt(lost.image, more=dict.fromkeys(held, 5), held=held)

    @staticmethod
    def positions(lost, objects):
        return [it - lost.image.objects.next_object_id for it in objects]

    def test_of_one_epoch_the_newest_counts(self, lost, stream_id):
        """The first attempt of an upload, a second one that went further, and a compaction."""
        outcome = self.outcome(
            lost, [(stream_id, 0, 10, 15)], [(stream_id, 0, 10, 18)], [(stream_id, 0, 18, 20)]
        )
        assert self.positions(lost, outcome.adopted) == [1, 2]
        assert outcome.image.streams[stream_id].end_offset == 20
        assert outcome.outdated == {}

    def test_of_equal_objects_the_newest_counts(self, lost, stream_id):
        same = [(stream_id, 0, 10, 15), (stream_id, 1, 15, 20)]
        outcome = self.outcome(lost, same, same)
        assert self.positions(lost, outcome.adopted) == [1]
        assert self.positions(lost, outcome.unreferenced) == [0]
        assert outcome.outdated == {}

    @pytest.mark.parametrize(
        "late",
        [
            (20, 30),  # holds the same offsets
            (20, 25),
            (20, 40),
            (15, 25),  # ends among them
            (10, 30),
            (10, 50),  # begins before them and ends behind
            (30, 40),  # follows them
            (25, 28),
        ],
    )
    @pytest.mark.parametrize("newest", [True, False])
    def test_a_late_object_of_an_epoch_that_had_ended_is_not_adopted(
        self, lost, stream_id, late, newest
    ):
        """Nor is it cut: what it holds before is in the object that was committed."""
        drained, following = [(stream_id, 0, 10, 20)], [(stream_id, 1, 20, 30)]
        of_the_stopped = [(stream_id, 0, *late)]
        objects = [drained, following]
        objects.insert(2 if newest else 0, of_the_stopped)
        outcome = self.outcome(lost, *objects)
        assert self.positions(lost, outcome.adopted) == ([0, 1] if newest else [1, 2])
        assert self.positions(lost, outcome.outdated) == [2 if newest else 0]
        assert outcome.outdated.items() <= outcome.unreferenced.items()
        assert outcome.image.streams[stream_id].end_offset == 30

    def test_what_a_compaction_has_joined_is_proof_as_well(self, lost, stream_id):
        compacted = [(stream_id, 0, 10, 20), (stream_id, 1, 20, 30)]
        outcome = self.outcome(lost, compacted, [(stream_id, 0, 10, 25)])
        assert self.positions(lost, outcome.adopted) == [0]
        assert outcome.image.streams[stream_id].end_offset == 30

    def test_an_object_with_one_such_record_is_outdated_as_a_whole(self, lost, stream_id):
        (other,) = lost.topic_with_streams("other")
        late = sorted([(stream_id, 0, 10, 25), (other, 0, 0, 5)])
        outcome = self.outcome(
            lost, [(stream_id, 0, 10, 20)], [(stream_id, 1, 20, 30)], [(other, 0, 0, 4)], late
        )
        assert self.positions(lost, outcome.adopted) == [2, 0, 1]
        assert self.positions(lost, outcome.outdated) == [3]
        assert outcome.image.streams[other].end_offset == 4

    def test_of_what_a_later_epoch_follows_nothing_is_taken_if_the_rest_is_gone(
        self, lost, stream_id
    ):
        """To take the late object would put its records in the place of those that were acknowledged."""
        outcome = self.outcome(lost, [(stream_id, 1, 20, 30)], [(stream_id, 0, 10, 25)])
        assert self.positions(lost, outcome.adopted) == []
        assert self.positions(lost, outcome.outdated) == [1]
        assert outcome.image.streams[stream_id].end_offset == 10

    def test_of_three_epochs(self, lost, stream_id):
        outcome = self.outcome(
            lost,
            [(stream_id, 0, 10, 20)],
            [(stream_id, 2, 25, 30)],
            [(stream_id, 1, 20, 25)],
            [(stream_id, 1, 20, 26)],  # late, of the second
            [(stream_id, 0, 10, 21)],  # late, of the first
        )
        assert self.positions(lost, outcome.adopted) == [0, 2, 1]
        assert self.positions(lost, outcome.outdated) == [3, 4]

    def test_an_epoch_that_only_the_snapshot_knows(self, lost, stream_id):
        """The new leader's records are in its WAL still: nothing may take their place."""
        lost.register()  # once more: the leader's epoch grows
        epoch = lost.image.topic("orders").partitions[0].leader_epoch
        lost.open(stream_id, epoch)
        outcome = self.outcome(lost, [(stream_id, 0, 10, 20)])
        assert outcome.adopted == {}
        assert self.positions(lost, outcome.outdated) == [0]
        outcome = self.outcome(lost, [(stream_id, 0, 10, 20)], [(stream_id, epoch, 10, 12)])
        assert self.positions(lost, outcome.adopted) == [1]

    def test_what_a_broker_recovered_into_rebuilt_metadata_is_adopted(self, lost, stream_id):
        """It was written at an older epoch than that under which the stream is open since."""
        lost = going_on(rebuilt(lost.image).image)
        outcome = self.outcome(lost, [(stream_id, 0, 10, 20)], [(stream_id, 3, 20, 25)])
        assert self.positions(lost, outcome.adopted) == [0, 1]

    def test_what_one_rebuild_left_over_the_next_one_does_not_adopt(self, lost, stream_id):
        """The stream has gone on without it."""
        left = lost.image.objects.next_object_id
        late = [(stream_id, 0, 10, 20)]
        lost = going_on(rebuilt(lost.image, more={left: 7}).image)
        lost.register()
        lost.open(stream_id, lost.image.topic("orders").partitions[0].leader_epoch)
        outcome = rebuilt(lost.image, more={left: 7}, held={left: late})
        assert (outcome.adopted, outcome.outdated) == ({}, {left: 7})

    def test_whose_epochs_are_asked_for(self, lost, stream_id):
        assert continues(lost.image, [(77, 0, 5), (stream_id, 5, 11)])
        assert not continues(lost.image, [(77, 0, 5), (stream_id, 0, 10)])


def test_what_the_bucket_lacks_is_told(lost):
    (committed,) = (
        it for it in lost.image.objects.by_id.values() if it.state == ObjectState.COMMITTED
    )
    nothing = rebuild(lost.image, {}, {}, member=MEMBER, now_ms=1_000)
    assert nothing.missing == {committed.object_id: committed.size_bytes}
    found = {committed.object_id: committed.size_bytes + 1}
    other = rebuild(lost.image, found, {}, member=MEMBER, now_ms=1_000)
    assert (other.missing, other.other_size) == ({}, found)


def test_it_can_be_written_and_read_as_a_snapshot(lost):
    lost.prepare(3)
    later = lost.image.objects.next_object_id
    made = rebuilt(lost.image, more={later + 4: 1}).image
    again = records_to_image(image_to_records(made), index=made.index, term=made.term)
    assert again == made


def test_it_can_be_done_again_and_again(lost):
    image = lost.image
    for _ in range(3):
        image = rebuilt(image).image
        lost = going_on(image)
        lost.register()
        image = lost.image
