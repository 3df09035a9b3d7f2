"""Any sequence of requests keeps the invariants of the metadata."""

import itertools
import random

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.images.objects import ObjectState, ObjectType
from headrace.metadata.records.brokers import FenceReason
from headrace.metadata.records.codec import decode_records
from headrace.metadata.replay import replay
from headrace.metadata.rpc.requests import (
    AllocateProducerIds,
    AlterReassignments,
    CommitStreamSetObject,
    CompactStreamObject,
    CreatePartitions,
    CreateTopics,
    FinishMove,
    Reassignment,
    StreamToClose,
)
from headrace.metadata.snapshot import canonical_bytes, image_to_records, records_to_image
from tests.unit.metadata.pure_controller import (
    PureController,
    of_one_stream,
    opening,
    stream_range,
    topic_creation,
)

NODES = (1, 2)
NAMES = ("a", "b", "c.d", "c_d")
LIFE = {
    (None, ObjectState.PREPARED),
    (ObjectState.PREPARED, ObjectState.COMMITTED),
    (ObjectState.PREPARED, ObjectState.MARK_DESTROYED),
    (ObjectState.COMMITTED, ObjectState.MARK_DESTROYED),
    (ObjectState.MARK_DESTROYED, None),
}

nodes = st.sampled_from(NODES)
seeds = st.integers(0, 2**32)
rarely = st.integers(0, 4)  # 0: now


class MetadataMachine(RuleBasedStateMachine):
    """Brokers do what brokers do, and what they should not, at any time."""

    def __init__(self):
        super().__init__()
        self.controller = PureController()
        self.seen = self.controller.image
        self.ids_seen = set()
        self.past_requests = []
        self.stale_requests = []

    @property
    def image(self):
        return self.controller.image

    def attempt(self, request):
        """Do a request, or be refused: then nothing may have changed."""
        before = self.image
        try:
            response = of_one_stream(self.controller.do(request))
        except RefusedError:
            assert self.image is before
            return None
        self.past_requests.append(request)
        del self.past_requests[:-20]
        return response

    def opened(self, node_id):
        """Streams that a node has open and may commit to."""
        return [it for it in self.image.streams.values() if it.opened and it.node_id == node_id]

    def alive(self, node_id):
        broker = self.image.brokers.get(node_id)
        return (
            broker is not None
            and not broker.epoch_ended
            and broker.epoch == self.controller.epochs.get(node_id)
        )

    # Brokers

    @initialize(partitions=st.integers(1, 3))
    def begin(self, partitions):
        for node_id in NODES:
            self.controller.register(node_id)
        self.controller.create("a", partitions)
        self.controller.create("b", 2)
        for node_id in NODES:
            self._open_all(node_id)

    @rule(node_id=nodes, serve=st.booleans(), recovers=st.booleans(), often=rarely, seed=seeds)
    def restart(self, node_id, serve, recovers, often, seed):
        """A new process; requests of the one before may still arrive.

        It commits what its WAL holds under the epochs of the one before, then opens its streams.
        """
        if often:
            return
        if self.alive(node_id):
            self.stale_requests += [
                it for it in self.past_requests if getattr(it, "node_id", None) == node_id
            ]
            del self.stale_requests[:-20]
        self.controller.register(node_id, serve=serve)
        if recovers:
            request = self._upload_request(node_id, random.Random(seed))
            if request is not None:
                assert self.attempt(request) is not None
            self._open_all(node_id)

    @precondition(lambda self: any(map(self.alive, NODES)))
    @rule(reason=st.sampled_from(FenceReason), data=st.data(), often=rarely)
    def fence(self, reason, data, often):
        if often:
            return
        node_id = data.draw(st.sampled_from([it for it in NODES if self.alive(it)]))
        self.controller.fence(node_id, reason)

    @precondition(lambda self: self.stale_requests)
    @rule(data=st.data())
    def zombie(self, data):
        """A request with an old node epoch is refused whatever it asks."""
        request = data.draw(st.sampled_from(self.stale_requests))
        if not hasattr(request, "node_epoch"):
            return
        if request.node_epoch == self.image.brokers[request.node_id].epoch:
            return
        with pytest.raises(RefusedError):
            self.controller.do(request)

    @precondition(lambda self: self.past_requests)
    @rule(data=st.data())
    def repeat(self, data):
        """A commit that took effect succeeds again, and changes nothing."""
        request = data.draw(st.sampled_from(self.past_requests))
        if not isinstance(request, CommitStreamSetObject | CompactStreamObject):
            return
        if not self.alive(request.node_id):
            return
        if request.node_epoch != self.controller.epochs[request.node_id]:
            return
        outputs = (
            [it.object_id for it in request.stream_objects]
            + [request.object_id] * (request.object_id >= 0)
            if isinstance(request, CommitStreamSetObject)
            else [request.stream_object.object_id]
        )
        if not set(outputs) <= set(self.image.objects.by_id):
            return
        assert self.controller.decide(request).records == ()

    @precondition(lambda self: any(map(self.alive, NODES)))
    @rule(data=st.data())
    def take_producer_ids(self, data):
        node_id = data.draw(st.sampled_from([it for it in NODES if self.alive(it)]))
        self.attempt(AllocateProducerIds(*self.controller.sender(node_id)))

    # Topics

    @rule(name=st.sampled_from(NAMES), partitions=st.integers(0, 3))
    def create_topic(self, name, partitions):
        self.controller.do(_creation(name, partitions))

    @precondition(lambda self: self.image.topics)
    @rule(data=st.data(), often=rarely)
    def delete_topic(self, data, often):
        if often:
            return
        name = data.draw(st.sampled_from(sorted(self.image.topic_ids)))
        self.controller.delete(name)

    @precondition(lambda self: self.image.topics)
    @rule(data=st.data(), added=st.integers(0, 2))
    def add_partitions(self, data, added):
        name = data.draw(st.sampled_from(sorted(self.image.topic_ids)))
        count = len(self.image.topic(name).partitions) + added
        self.attempt(CreatePartitions(name, count, None, False))

    # Streams

    @precondition(lambda self: self.image.topics)
    @rule(data=st.data(), off_by=st.sampled_from([0, 0, 0, 0, 0, -1, 1]))
    def open_stream(self, data, off_by):
        topic = self.image.topic(data.draw(st.sampled_from(sorted(self.image.topic_ids))))
        if not topic.partitions:
            return
        partition = data.draw(st.sampled_from(topic.partitions))
        if not self.alive(partition.leader):
            return
        self.attempt(
            opening(
                *self.controller.sender(partition.leader),
                partition.data_stream_id,
                max(0, partition.leader_epoch + off_by),
            )
        )

    @rule(node_id=nodes)
    def open_all(self, node_id):
        if self.alive(node_id):
            self._open_all(node_id)

    @precondition(lambda self: any(self.alive(it) and self.opened(it) for it in NODES))
    @rule(data=st.data(), off_by=st.sampled_from([0, 0, 0, 1]))
    def close_stream(self, data, off_by):
        stream = self._own_stream(data)
        if stream.epoch < 0:
            return
        try:
            self.controller.close(
                stream.stream_id, stream.end_offset + off_by, stream.epoch, stream.node_id
            )
        except RefusedError:
            assert off_by

    @precondition(lambda self: any(self.alive(it) and self.opened(it) for it in NODES))
    @rule(data=st.data())
    def trim_stream(self, data):
        stream = self._own_stream(data)
        offset = data.draw(st.integers(0, stream.end_offset))
        self.controller.trim(stream.stream_id, offset, stream.epoch, stream.node_id)

    # Moves

    @precondition(lambda self: self.image.topics)
    @rule(data=st.data(), node=st.sampled_from([*NODES, None, 9]))
    def alter_reassignment(self, data, node):
        name = data.draw(st.sampled_from(sorted(self.image.topic_ids)))
        index = data.draw(st.integers(0, len(self.image.topic(name).partitions)))
        brokers = None if node is None else (node,)
        self.attempt(AlterReassignments((Reassignment(name, index, brokers),)))

    @precondition(lambda self: self.image.moves)
    @rule(data=st.data(), off_by=st.sampled_from([0, 0, 0, -1, 1]))
    def finish_move(self, data, off_by):
        """By the leader, with the ends of both streams: the move is over, whatever becomes of it."""
        key = data.draw(st.sampled_from(sorted(self.image.moves)))
        move, partition = self.image.moves[key], self.image.topics[key[0]].partitions[key[1]]
        if not self.alive(partition.leader):
            return
        before = [
            self.image.streams[it] for it in (partition.data_stream_id, partition.meta_stream_id)
        ]
        epoch = partition.leader_epoch
        closed = tuple(
            StreamToClose(it.stream_id, epoch, max(0, it.end_offset + off_by)) for it in before
        )
        sender = self.controller.sender(partition.leader)
        answer = self.attempt(FinishMove(*sender, *key, epoch, move.epoch, closed))
        assert answer is not None
        assert key not in self.image.moves
        now = self.image.topics[key[0]].partitions[key[1]]
        has_moved = answer.taken_back is None
        assert (now.leader == move.target) == has_moved
        may_move = (
            all(it.opened and (it.node_id, it.epoch) == (partition.leader, epoch) for it in before)
            and [it.end_offset for it in closed] == [it.end_offset for it in before]
            and not self.image.brokers[move.target].fenced
        )
        assert has_moved == may_move
        if has_moved:
            assert not any(self.image.streams[it.stream_id].opened for it in before)

    # Objects

    @precondition(lambda self: any(self.alive(it) and self.opened(it) for it in NODES))
    @rule(data=st.data(), seed=seeds)
    def upload(self, data, seed):
        """Commits as an engine makes them: they must succeed."""
        node_id = self._own_stream(data).node_id
        rng = random.Random(seed)
        for _ in range(rng.randint(1, 4)):
            request = self._upload_request(node_id, rng)
            if request is not None:
                assert self.attempt(request) is not None

    @precondition(lambda self: any(self.alive(it) and self.opened(it) for it in NODES))
    @rule(data=st.data(), seed=seeds, often=rarely)
    def late_upload(self, data, seed, often):
        """The same, after a topic was deleted: what is left of it must still be committed."""
        if often:
            return
        node_id = self._own_stream(data).node_id
        request = self._upload_request(node_id, random.Random(seed))
        if request is None:
            return
        name = data.draw(st.sampled_from(sorted(self.image.topic_ids)))
        self.controller.delete(name)
        assert self.attempt(request) is not None

    @precondition(lambda self: any(self.alive(it) and self.opened(it) for it in NODES))
    @rule(data=st.data(), off_by=st.sampled_from([-1, 1]))
    def upload_at_the_wrong_place(self, data, off_by):
        stream = self._own_stream(data)
        start = stream.end_offset + off_by
        if start < 0:
            return
        piece = stream_range(stream.stream_id, start, start + 3, stream.epoch)
        request = self.controller.upload_request([piece], node_id=stream.node_id)
        with pytest.raises(RefusedError):
            self.controller.do(request)

    @rule(node_id=nodes, count=st.integers(1, 3), ttl_ms=st.integers(1, 50))
    def prepare(self, node_id, count, ttl_ms):
        if self.alive(node_id):
            self.controller.prepare(count, ttl_ms, node_id)

    @rule(duration_ms=st.integers(1, 100_000))
    def expire(self, duration_ms):
        self.controller.now_ms += duration_ms
        self.controller.expire()

    @rule(
        node_id=nodes, seed=seeds, meanwhile=st.sampled_from(["", "", "trim", "upload", "delete"])
    )
    def compact_stream_sets(self, node_id, seed, meanwhile):
        """A swap of some Stream Set Objects, with something going on while it is prepared."""
        rng = random.Random(seed)
        sources = [it for _, it in self.image.objects.stream_sets.get(node_id, ())]
        sources = [it for it in sources if rng.random() < 0.7]
        if not sources or not self.alive(node_id):
            return
        whole, split = [], []
        for stream_id, pieces in self._live_pieces(sources).items():
            for start, end in pieces:
                kind = whole if rng.random() < 0.6 else split
                kind.append(stream_range(stream_id, start, end))
        request = self.controller.upload_request(whole, split, compacted=sources, node_id=node_id)
        self._meanwhile(meanwhile, rng)
        alive = all(self.image.objects.by_id[it].state == ObjectState.COMMITTED for it in sources)
        assert (self.attempt(request) is not None) == alive or not (whole or split)

    @rule(node_id=nodes, seed=seeds, careless=st.booleans())
    def merge_stream_objects(self, node_id, seed, careless):
        rng = random.Random(seed)
        if not self.alive(node_id):
            return
        by_id = self.image.objects.by_id
        for stream in self.opened(node_id):
            run = [it for it in stream.objects if by_id[it.object_id].kind == ObjectType.STREAM][
                : rng.randint(2, 4)
            ]
            if len(run) < 2:
                continue
            start, end = run[0].start_offset, run[-1].end_offset
            contiguous = all(
                one.end_offset == other.start_offset for one, other in itertools.pairwise(run)
            )
            if careless:
                end += rng.choice([-1, 1])
            piece = stream_range(stream.stream_id, start, end, stream.epoch)
            request = self.controller.merge_request(piece, [it.object_id for it in run], node_id)
            assert (self.attempt(request) is not None) == (contiguous and not careless)
            return

    @precondition(lambda self: self.image.objects.destroyed and any(map(self.alive, NODES)))
    @rule(data=st.data(), seed=seeds)
    def forget(self, data, seed):
        node_id = data.draw(st.sampled_from([it for it in NODES if self.alive(it)]))
        rng = random.Random(seed)
        gone = [it for it in sorted(self.image.objects.destroyed) if rng.random() < 0.7]
        self.controller.forget(*gone, node_id=node_id)

    # Restart of the controller

    @rule()
    def reload_from_snapshot(self):
        """A snapshot loses nothing, and all that follows happens on the reloaded image."""
        image = records_to_image(
            image_to_records(self.image), index=self.image.index, term=self.image.term
        )
        assert canonical_bytes(image) == canonical_bytes(self.image)
        assert image == self.image
        self.controller.image = image

    # Invariants

    @invariant()
    def streams_are_covered(self):
        """What can be read is every offset of [start, end), once."""
        for stream in self.image.streams.values():
            position = stream.start_offset
            found = self.image.object_ranges(
                stream.stream_id, stream.start_offset, stream.end_offset, 1 << 30
            )
            for piece in found:
                assert piece.start_offset <= position < piece.end_offset
                assert position in (piece.start_offset, stream.start_offset)
                committed = self.image.objects.by_id[piece.object_id]
                assert committed.state == ObjectState.COMMITTED
                assert (stream.stream_id, piece.start_offset, piece.end_offset) in {
                    (it.stream_id, it.start_offset, it.end_offset) for it in committed.ranges
                }
                position = piece.end_offset
            assert position == stream.end_offset
            epochs = [it.epoch for it in stream.ranges]
            assert epochs == sorted(set(epochs))

    @invariant()
    def nothing_goes_backwards(self):
        old, new = self.seen, self.image
        assert new.next_producer_id >= old.next_producer_id
        assert new.next_stream_id >= old.next_stream_id
        for stream_id, before in old.streams.items():
            after = new.streams.get(stream_id)
            if after is None:
                continue
            assert after.start_offset >= before.start_offset
            assert after.end_offset >= before.end_offset
            assert after.epoch >= before.epoch
        for stream_id in new.streams:
            assert stream_id in old.streams or stream_id >= old.next_stream_id
        for node_id, before in old.brokers.items():
            assert new.brokers[node_id].epoch >= before.epoch
        for topic_id, before in old.topics.items():
            after = new.topics.get(topic_id)
            if after is not None:
                for one, other in zip(before.partitions, after.partitions, strict=False):
                    assert other.leader_epoch >= one.leader_epoch

    @invariant()
    def objects_live_as_they_should(self):
        """Several steps may lie between two looks: the ends of the path are checked."""
        old, new = self.seen.objects.by_id, self.image.objects.by_id
        for object_id in set(old) | set(new):
            before = old[object_id].state if object_id in old else None
            after = new[object_id].state if object_id in new else None
            if before is None:
                assert object_id not in self.ids_seen, "ids are never reused"
            elif before != after:
                assert (before, after) in LIFE
        self.ids_seen |= set(new)

    @invariant()
    def moves_lead_elsewhere(self):
        for (topic_id, index), move in self.image.moves.items():
            assert self.image.topics[topic_id].partitions[index].leader != move.target

    @invariant()
    def nothing_dangles(self):
        image = self.image
        used = {}
        for stream in image.streams.values():
            partition = image.topics[stream.topic_id].partitions[stream.partition]
            assert stream.stream_id in (partition.data_stream_id, partition.meta_stream_id)
            for piece in stream.objects:
                used[piece.object_id] = used.get(piece.object_id, 0) + 1
        for object_id, found in image.objects.by_id.items():
            assert used.pop(object_id, 0) == found.live_ranges
            assert (found.state == ObjectState.COMMITTED) == (found.live_ranges > 0)
            assert (object_id in image.objects.prepared) == (found.state == ObjectState.PREPARED)
            assert (object_id in image.objects.destroyed) == (
                found.state == ObjectState.MARK_DESTROYED
            )
        assert not used
        listed = [
            object_id for ordered in image.objects.stream_sets.values() for _, object_id in ordered
        ]
        assert sorted(listed) == sorted(
            it.object_id
            for it in image.objects.by_id.values()
            if it.state == ObjectState.COMMITTED and it.kind == ObjectType.STREAM_SET
        )
        self.seen = image

    def teardown(self):
        """The whole log gives the same image; with every topic gone, nothing is left."""
        image = MetadataImage()
        for entry in self.controller.entries:
            records = decode_records(entry.payload)
            image = replay(image, records, index=entry.index, term=entry.term)
        assert canonical_bytes(image) == canonical_bytes(self.image)
        if not self.alive(1):
            self.controller.register(1)
        self.controller.delete(*self.image.topic_ids)
        self.controller.now_ms += 1_000_000
        self.controller.expire()
        self.controller.forget(*self.image.objects.destroyed)
        assert not self.image.streams
        assert not self.image.objects.by_id
        assert not self.image.objects.stream_sets

    # Parts of rules

    def _open_all(self, node_id):
        for topic in self.image.topics.values():
            for partition in topic.partitions:
                if partition.leader == node_id:
                    sender = self.controller.sender(node_id)
                    stream_id = partition.data_stream_id
                    self.attempt(opening(*sender, stream_id, partition.leader_epoch))

    def _own_stream(self, data):
        streams = [it for node_id in NODES if self.alive(node_id) for it in self.opened(node_id)]
        return data.draw(st.sampled_from(sorted(streams, key=lambda it: it.stream_id)))

    def _upload_request(self, node_id, rng):
        whole, split = [], []
        for stream in sorted(self.opened(node_id), key=lambda it: it.stream_id):
            if rng.random() < 0.6:
                end = stream.end_offset + rng.randint(1, 5)
                piece = stream_range(stream.stream_id, stream.end_offset, end, stream.epoch)
                (whole if rng.random() < 0.7 else split).append(piece)
        if not whole and not split:
            return None
        return self.controller.upload_request(whole, split, node_id=node_id)

    def _live_pieces(self, sources):
        """Stream id -> what the sources hold of it, joined where it touches."""
        pieces = {}
        for stream in self.image.streams.values():
            for it in stream.objects:
                if it.object_id in sources:
                    runs = pieces.setdefault(stream.stream_id, [])
                    if runs and runs[-1][1] == it.start_offset:
                        runs[-1] = (runs[-1][0], it.end_offset)
                    else:
                        runs.append((it.start_offset, it.end_offset))
        return pieces

    def _meanwhile(self, what, rng):
        if what == "delete" and self.image.topics:
            self.controller.delete(rng.choice(sorted(self.image.topic_ids)))
            return
        for node_id in NODES:
            if not self.alive(node_id):
                continue
            if what == "upload":
                request = self._upload_request(node_id, rng)
                if request is not None:
                    self.attempt(request)
            elif what == "trim":
                for stream in self.opened(node_id):
                    offset = rng.randint(0, stream.end_offset)
                    self.controller.trim(stream.stream_id, offset, stream.epoch, node_id)


def _creation(name, partitions):
    return CreateTopics((topic_creation(name, partitions),), False)


TestMetadata = pytest.mark.slow(MetadataMachine.TestCase)
TestMetadata.settings = settings(
    max_examples=100,
    stateful_step_count=50,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
