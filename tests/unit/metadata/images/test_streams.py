from uuid import UUID

import pytest

from headrace.metadata.images.streams import (
    NO_EPOCH,
    ObjectRangeImage,
    StreamsDelta,
    check_coverage,
    holds_object,
    object_index,
)
from headrace.metadata.records.objects import RecordedRange
from headrace.metadata.records.streams import (
    RangeRecord,
    RemoveStreamRecord,
    StreamRecord,
    StreamState,
    StreamStateRecord,
    StreamTrimmedRecord,
)
from headrace.persistent_map import PersistentMap

TOPIC = UUID(int=1)


def piece(start, end, stream_id=0):
    return RecordedRange(stream_id, 0, start, end)


def created(start=0, end=0):
    delta = StreamsDelta(PersistentMap())
    delta.create(StreamRecord(0, TOPIC, 0, NO_EPOCH, start, end))
    return delta


@pytest.fixture
def delta():
    """Stream 0 with objects 1 [0, 10), 2 [10, 20), 3 [20, 30)."""
    delta = created()
    for object_id in (1, 2, 3):
        delta.attach(object_id, piece(10 * object_id - 10, 10 * object_id))
    return delta


def test_commits_extend_a_stream(delta):
    stream = delta.finish()[0]

    assert (stream.start_offset, stream.end_offset) == (0, 30)
    assert [it.object_id for it in stream.objects] == [1, 2, 3]


@pytest.mark.parametrize(("offset", "index"), [(0, 0), (9, 0), (10, 1), (29, 2), (30, 3), (99, 3)])
def test_the_object_of_an_offset(delta, offset, index):
    assert object_index(delta.finish()[0], offset) == index


def test_whether_a_range_of_an_object_is_in_use(delta):
    stream = delta.finish()[0]

    assert holds_object(stream, 2, 10, 20)
    assert not holds_object(stream, 2, 10, 19)
    assert not holds_object(stream, 1, 10, 20)
    assert not holds_object(stream, 4, 30, 40)


@pytest.mark.parametrize("start", [29, 31])
def test_a_commit_that_does_not_continue_the_stream_is_corruption(delta, start):
    with pytest.raises(AssertionError):
        delta.attach(4, piece(start, 40))


def test_dead_ranges_are_not_taken(delta):
    delta.trim(StreamTrimmedRecord(0, 15))

    assert not delta.attach(9, piece(0, 15))
    assert not delta.attach(9, piece(0, 15, stream_id=7))


def test_trimming(delta):
    dropped = delta.trim(StreamTrimmedRecord(0, 20))

    assert dropped == (ObjectRangeImage(1, 0, 10), ObjectRangeImage(2, 10, 20))
    stream = delta.finish()[0]
    assert (stream.start_offset, stream.end_offset) == (20, 30)
    assert [it.object_id for it in stream.objects] == [3]


@pytest.mark.parametrize("start", [4, 31])
def test_impossible_trims(delta, start):
    delta.trim(StreamTrimmedRecord(0, 5))

    with pytest.raises(AssertionError):
        delta.trim(StreamTrimmedRecord(0, start))


def test_a_swap_is_whole_at_the_end_of_the_batch(delta):
    delta.detach(1, 0)
    delta.detach(2, 0)
    assert delta.attach(4, piece(0, 20))

    assert [it.object_id for it in delta.finish()[0].objects] == [4, 3]


@pytest.mark.parametrize(
    "pieces", [[], [(0, 19)], [(1, 20)], [(0, 12), (10, 20)], [(0, 9), (10, 20)], [(0, 30)]]
)
def test_a_swap_that_leaves_a_gap_or_an_overlap_is_corruption(delta, pieces):
    delta.detach(1, 0)
    delta.detach(2, 0)
    for start, end in pieces:
        delta.attach(4, piece(start, end))

    with pytest.raises(AssertionError):
        delta.finish()


def test_a_stream_of_a_snapshot_must_get_its_objects():
    delta = created(start=5, end=20)
    delta.attach(2, piece(10, 20))
    with pytest.raises(AssertionError):
        delta.finish()

    delta = created(start=5, end=20)
    delta.attach(2, piece(10, 20))
    delta.attach(1, piece(0, 10))
    assert [it.object_id for it in delta.finish()[0].objects] == [1, 2]


def test_removal_returns_what_was_used(delta):
    dropped = delta.remove(RemoveStreamRecord(0))

    assert [it.object_id for it in dropped] == [1, 2, 3]
    assert not delta.finish()
    delta.detach(1, 0)


def test_states_and_ranges():
    delta = created()
    delta.start_range(RangeRecord(0, 0, 0, 1, 0))
    delta.change_state(StreamStateRecord(0, 0, StreamState.OPENED, 1))
    delta.attach(1, piece(0, 10))
    delta.start_range(RangeRecord(0, 1, 3, 2, 10))
    delta.change_state(StreamStateRecord(0, 3, StreamState.OPENED, 2))

    stream = delta.finish()[0]

    assert [(it.epoch, it.node_id, it.start_offset) for it in stream.ranges] == [
        (0, 1, 0),
        (3, 2, 10),
    ]
    assert (stream.epoch, stream.node_id, stream.opened) == (3, 2, True)


@pytest.mark.parametrize(
    "replay",
    [
        lambda delta: delta.create(StreamRecord(0, TOPIC, 0, NO_EPOCH, 0, 0)),
        lambda delta: delta.create(StreamRecord(1, TOPIC, 0, NO_EPOCH, 2, 1)),
        lambda delta: delta.start_range(RangeRecord(0, 1, 2, 1, 0)),
        lambda delta: delta.start_range(RangeRecord(0, 0, 3, 1, 0)),
        lambda delta: delta.change_state(StreamStateRecord(0, 1, StreamState.OPENED, 1)),
        lambda delta: delta.trim(StreamTrimmedRecord(9, 1)),
        lambda delta: delta.remove(RemoveStreamRecord(9)),
    ],
)
def test_records_that_do_not_fit(replay):
    delta = created()
    delta.start_range(RangeRecord(0, 0, 2, 1, 0))
    delta.change_state(StreamStateRecord(0, 2, StreamState.OPENED, 1))

    with pytest.raises(AssertionError):
        replay(delta)


def test_coverage_of_a_start_inside_the_first_object(delta):
    delta.trim(StreamTrimmedRecord(0, 5))

    check_coverage(delta.finish()[0])


def test_an_untouched_map_stays_the_same_object():
    streams = PersistentMap()

    assert StreamsDelta(streams).finish() is streams
