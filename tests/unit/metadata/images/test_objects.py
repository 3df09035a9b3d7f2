from uuid import UUID

import pytest

from headrace.metadata.images.objects import NO_OBJECTS, ObjectsDelta, ObjectState
from headrace.metadata.images.streams import NO_EPOCH, StreamsDelta
from headrace.metadata.records.objects import (
    ObjectsDestroyedRecord,
    ObjectsPreparedRecord,
    ObjectsRemovedRecord,
    RecordedRange,
    StreamObjectRecord,
    StreamSetObjectRecord,
)
from headrace.metadata.records.streams import StreamRecord, StreamTrimmedRecord
from headrace.persistent_map import PersistentMap


class Deltas:
    """Objects 0 to 3 prepared by node 1; streams 0 and 1 empty."""

    def __init__(self):
        self.streams = StreamsDelta(PersistentMap())
        self.objects = ObjectsDelta(NO_OBJECTS, self.streams)
        for stream_id in (0, 1):
            self.streams.create(StreamRecord(stream_id, UUID(int=1), 0, NO_EPOCH, 0, 0))
        self.objects.prepare(ObjectsPreparedRecord(0, 4, 1, 100, 200))

    def commit_set(self, object_id, *ranges, order_id=None):
        pieces = tuple(RecordedRange(it, 0, start, end) for it, start, end in ranges)
        order = object_id if order_id is None else order_id
        self.objects.commit_stream_set(StreamSetObjectRecord(object_id, 1, order, 10, 150, pieces))

    def commit_stream(self, object_id, stream_id, start, end):
        piece = RecordedRange(stream_id, 0, start, end)
        self.objects.commit_stream(StreamObjectRecord(object_id, 1, 10, 150, piece))

    def trim(self, stream_id, start):
        self.objects.release(self.streams.trim(StreamTrimmedRecord(stream_id, start)))

    def destroy(self, *object_ids):
        self.objects.mark_destroyed(ObjectsDestroyedRecord(object_ids, 300))

    def remove(self, *object_ids):
        self.objects.remove(ObjectsRemovedRecord(object_ids))

    def finish(self):
        self.streams.finish()
        return self.objects.finish()


@pytest.fixture
def deltas():
    return Deltas()


def test_prepared(deltas):
    image = deltas.finish()

    assert dict(image.prepared) == dict.fromkeys(range(4), 200)
    assert image.next_object_id == 4
    assert image.by_id[0].state == ObjectState.PREPARED
    assert (image.by_id[0].prepared_ms, image.by_id[0].expires_ms) == (100, 200)


def test_committed(deltas):
    deltas.commit_set(0, (0, 0, 10), (1, 0, 10))
    deltas.commit_stream(1, 0, 10, 20)

    image = deltas.finish()

    assert set(image.prepared) == {2, 3}
    assert image.by_id[0].live_ranges == 2
    assert image.by_id[1].live_ranges == 1
    assert dict(image.stream_sets) == {1: ((0, 0),)}


def test_stream_sets_are_in_the_order_of_their_data(deltas):
    deltas.commit_set(0, (0, 0, 10))
    deltas.commit_set(1, (0, 10, 20))
    deltas.destroy(0)
    deltas.commit_set(2, (0, 0, 10), order_id=0)

    assert dict(deltas.finish().stream_sets) == {1: ((0, 2), (1, 1))}


def test_destroyed_and_removed(deltas):
    deltas.commit_set(0, (0, 0, 10))
    deltas.trim(0, 10)
    deltas.destroy(0, 3)
    image = deltas.finish()
    assert dict(image.destroyed) == {0: 300, 3: 300}
    assert image.by_id[0].committed_ms == 150
    assert image.by_id[3].committed_ms == 0
    assert not image.stream_sets

    deltas = ObjectsDelta(image, StreamsDelta(PersistentMap()))
    deltas.remove(ObjectsRemovedRecord((0, 3)))
    image = deltas.finish()
    assert set(image.by_id) == {1, 2}
    assert not image.destroyed
    assert image.next_object_id == 4


def test_a_committed_object_that_nobody_uses_is_a_leak(deltas):
    """The decision must mark it destroyed in the same batch."""
    deltas.commit_set(0, (0, 0, 10))
    deltas.trim(0, 10)

    with pytest.raises(AssertionError):
        deltas.finish()


def test_a_commit_without_live_ranges_is_a_leak(deltas):
    deltas.commit_set(0)

    with pytest.raises(AssertionError):
        deltas.finish()


def test_destroying_what_a_stream_uses_leaves_a_gap(deltas):
    deltas.commit_set(0, (0, 0, 10))
    deltas.destroy(0)

    with pytest.raises(AssertionError):
        deltas.finish()


@pytest.mark.parametrize(
    "replay",
    [
        lambda it: it.objects.prepare(ObjectsPreparedRecord(3, 1, 1, 0, 0)),
        lambda it: it.objects.prepare(ObjectsPreparedRecord(4, 0, 1, 0, 0)),
        lambda it: it.commit_set(9, (0, 0, 1)),
        lambda it: it.remove(0),
        lambda it: it.remove(9),
        lambda it: it.destroy(9),
        lambda it: it.destroy(1, 1),
        lambda it: it.objects.raise_next_id(3),
        lambda it: (it.commit_set(0, (0, 0, 1)), it.commit_set(0, (0, 1, 2))),
        lambda it: (it.destroy(0), it.commit_set(0, (0, 0, 1))),
    ],
)
def test_records_that_do_not_fit(deltas, replay):
    with pytest.raises(AssertionError):
        replay(deltas)


def test_an_untouched_image_stays_the_same_object():
    assert ObjectsDelta(NO_OBJECTS, StreamsDelta(PersistentMap())).finish() is NO_OBJECTS
