import msgspec
import pytest

from headrace.metadata.images.objects import ObjectState, ObjectType
from headrace.metadata.rpc.requests import (
    CommitStreamSetObject,
    CommittedStreamObject,
)
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.pure_controller import stream_range

replace = msgspec.structs.replace


@pytest.fixture
def streams(controller):
    """Two open streams."""
    return controller.opened_stream("a"), controller.opened_stream("b")


# Upload


def test_a_commit_extends_every_stream_at_once(controller, streams):
    a, b = streams
    request = controller.upload(
        stream_range(b, 0, 5), stream_range(a, 0, 10), stream_objects=[stream_range(a, 10, 30)]
    )

    stream_object = request.stream_objects[0].object_id
    assert controller.layout(a) == [(request.object_id, 0, 10), (stream_object, 10, 30)]
    assert controller.layout(b) == [(request.object_id, 0, 5)]
    committed = controller.object(request.object_id)
    assert committed.state == ObjectState.COMMITTED
    assert committed.kind == ObjectType.STREAM_SET
    assert committed.live_ranges == 2
    assert committed.committed_ms == controller.now_ms
    assert [it.stream_id for it in committed.ranges] == [a, b]
    assert controller.object(stream_object).kind == ObjectType.STREAM
    assert not controller.image.objects.prepared
    assert controller.image.objects.stream_sets[1] == ((request.object_id, request.object_id),)


def test_a_commit_of_stream_objects_alone(controller, streams):
    request = controller.upload(stream_objects=[stream_range(it, 0, 4) for it in streams])

    assert request.object_id == -1
    assert [controller.stream(it).end_offset for it in streams] == [4, 4]


def test_a_commit_without_later_fields_is_one_of_the_senders_own_log(controller, streams):
    a, _ = streams
    request = controller.upload_request([stream_range(a, 0, 10)])
    earlier = msgspec.to_builtins(request)[:-4]
    controller.do(msgspec.convert(earlier, CommitStreamSetObject))

    assert controller.stream(a).end_offset == 10


def test_repeating_a_commit_succeeds_and_changes_nothing(controller, streams):
    """Judged before continuity, which a repetition could only fail."""
    a, _ = streams
    request = controller.upload(stream_range(a, 0, 10), stream_objects=[stream_range(a, 10, 20)])
    controller.upload(stream_range(a, 20, 30))

    assert controller.decide(request).records == ()


def test_repeating_a_commit_whose_object_has_been_compacted_away_succeeds(controller, streams):
    a, _ = streams
    request = controller.upload(stream_range(a, 0, 10))
    controller.upload(stream_range(a, 0, 10), compacted=[request.object_id])

    assert controller.decide(request).records == ()


def test_repeating_a_commit_whose_objects_are_forgotten_succeeds(controller, streams):
    """With a short retention that can be so before the lost answer has been asked for again."""
    a, b = streams
    parts = [stream_range(a, 0, 10), stream_range(b, 0, 5)]
    request = controller.upload(*parts, stream_objects=[stream_range(a, 10, 20)])
    controller.upload(*parts, compacted=[request.object_id])
    controller.forget(request.object_id)
    assert controller.decide(request).records == ()  # the Stream Object is still there
    controller.trim(a, 20)
    controller.forget(request.stream_objects[0].object_id)
    controller.upload(stream_range(a, 20, 30))
    assert controller.decide(request).records == ()
    controller.delete("a")
    assert controller.decide(request).records == ()
    controller.delete("b")
    assert controller.decide(request).records == ()


def test_objects_that_expired_and_are_forgotten_were_never_committed(controller, streams):
    a, _ = streams
    controller.upload(stream_range(a, 0, 10))
    request = controller.upload_request([stream_range(a, 10, 20)])
    unknown = replace(request, object_id=request.object_id + 100)
    controller.now_ms += 60_000
    controller.expire()
    controller.forget(request.object_id)
    assert controller.refusal(request) == ErrorCode.INVALID_RECORD_STATE
    controller.upload(stream_range(a, 10, 20))  # once more, under another id
    assert controller.decide(request).records == ()
    for other in (
        unknown,
        replace(request, ranges=(stream_range(a, 10, 21),)),
        replace(request, ranges=(stream_range(a, 10, 20, epoch=1),)),
        replace(request, ranges=(stream_range(a + 1_000, 10, 20),)),
    ):
        assert controller.refusal(other) == ErrorCode.INVALID_RECORD_STATE


def test_offsets_of_another_writer_are_not_taken_for_a_repetition(controller, streams):
    a, _ = streams
    controller.register(2)
    request = controller.upload(stream_range(a, 0, 10))
    controller.upload(stream_range(a, 0, 10), compacted=[request.object_id])
    controller.forget(request.object_id)
    node_epoch = controller.epochs[2]
    other = replace(request, node_id=2, node_epoch=node_epoch)
    assert controller.refusal(other) == ErrorCode.INVALID_RECORD_STATE


def test_the_same_object_with_other_content_is_refused(controller, streams):
    a, b = streams
    request = controller.upload(stream_range(a, 0, 10))

    for other in (
        replace(request, ranges=(stream_range(a, 10, 20),)),
        replace(request, size_bytes=request.size_bytes + 1),
        replace(request, ranges=(*request.ranges, stream_range(b, 0, 1))),
    ):
        assert controller.refusal(other) == ErrorCode.INVALID_RECORD_STATE


@pytest.mark.parametrize(("start", "end"), [(9, 12), (11, 12), (0, 10), (0, 12)])
def test_a_range_must_start_where_its_stream_ends(controller, streams, start, end):
    a, b = streams
    controller.upload(stream_range(a, 0, 10))

    request = controller.upload_request([stream_range(a, start, end), stream_range(b, 0, 1)])

    assert controller.refusal(request) == ErrorCode.OFFSET_OUT_OF_RANGE


def test_two_ranges_of_a_stream_in_one_commit_must_touch(controller, streams):
    a, _ = streams
    gap = controller.upload_request([stream_range(a, 0, 5), stream_range(a, 6, 8)])
    overlap = controller.upload_request([stream_range(a, 0, 5)], [stream_range(a, 4, 8)])

    assert controller.refusal(gap) == ErrorCode.OFFSET_OUT_OF_RANGE
    assert controller.refusal(overlap) == ErrorCode.OFFSET_OUT_OF_RANGE
    controller.upload(stream_range(a, 5, 8), stream_range(a, 0, 5))
    assert controller.stream(a).end_offset == 8


@pytest.mark.parametrize(
    ("epoch", "code"),
    [(0, ErrorCode.FENCED_LEADER_EPOCH), (2, ErrorCode.UNKNOWN_LEADER_EPOCH)],
)
def test_a_range_must_carry_the_epoch_of_its_stream(controller, streams, epoch, code):
    a, _ = streams
    controller.register()
    controller.open(a, 1)

    request = controller.upload_request([stream_range(a, 0, 10, epoch=epoch)])

    assert controller.refusal(request) == code


def test_a_range_of_another_nodes_stream_is_refused(controller, streams):
    a, _ = streams
    controller.register(2)

    request = controller.upload_request([stream_range(a, 0, 10)], node_id=2)

    assert controller.refusal(request) == ErrorCode.FENCED_LEADER_EPOCH


def test_a_closed_stream_takes_nothing(controller, streams):
    a, _ = streams
    controller.close(a, 0)

    request = controller.upload_request([stream_range(a, 0, 10)])

    assert controller.refusal(request) == ErrorCode.INVALID_REQUEST


def test_a_stream_that_never_existed_is_refused(controller, streams):
    request = controller.upload_request([stream_range(999, 0, 10)])

    assert controller.refusal(request) == ErrorCode.RESOURCE_NOT_FOUND


def test_ranges_of_a_topic_deleted_meanwhile_are_dropped(controller, streams):
    a, b = streams
    request = controller.upload_request([stream_range(a, 0, 10), stream_range(b, 0, 10)])
    controller.delete("a")

    controller.do(request)

    assert controller.object(request.object_id).live_ranges == 1
    assert controller.stream(b).end_offset == 10
    assert controller.decide(request).records == ()


def test_an_object_that_is_dead_on_arrival_is_destroyed_at_once(controller, streams):
    a, b = streams
    request = controller.upload_request([stream_range(a, 0, 10)], [stream_range(b, 0, 10)])
    controller.delete("a", "b")

    controller.do(request)

    for object_id in (request.object_id, request.stream_objects[0].object_id):
        assert controller.object(object_id).state == ObjectState.MARK_DESTROYED
    assert controller.decide(request).records == ()


def test_only_prepared_objects_of_the_sender_are_committed(controller, streams):
    a, _ = streams
    controller.register(2)
    others = controller.prepare(node_id=2)
    good = controller.upload_request([stream_range(a, 0, 10)])

    for object_id in (others, 12_345):
        request = replace(good, object_id=object_id)
        assert controller.refusal(request) == ErrorCode.INVALID_RECORD_STATE


def test_an_expired_object_is_not_committed(controller, streams):
    """Its deletion may be under way."""
    a, _ = streams
    request = controller.upload_request([stream_range(a, 0, 10)])
    controller.now_ms += 60_000
    controller.expire()

    assert controller.refusal(request) == ErrorCode.INVALID_RECORD_STATE
    assert controller.object(request.object_id).state == ObjectState.MARK_DESTROYED


@pytest.mark.parametrize(
    "spoil",
    [
        lambda it, a: replace(it, object_id=-1),
        lambda it, a: replace(it, ranges=(stream_range(a, 0, 0),)),
        lambda it, a: replace(it, ranges=(stream_range(a, 5, 3),)),
        lambda it, a: replace(it, ranges=(stream_range(a, -1, 3),)),
        lambda it, a: replace(it, size_bytes=-1),
        lambda it, a: replace(
            it,
            stream_objects=(CommittedStreamObject(it.object_id, 1, stream_range(a, 10, 12)),),
        ),
    ],
)
def test_malformed_commits_are_refused(controller, streams, spoil):
    a, _ = streams
    good = controller.upload_request([stream_range(a, 0, 10)])

    assert controller.refusal(spoil(good, a)) == ErrorCode.INVALID_REQUEST


# Compaction of Stream Set Objects


@pytest.fixture
def two_sets(controller, streams):
    """Two Stream Set Objects: a [0, 10) b [0, 5), then a [10, 20) b [5, 9)."""
    a, b = streams
    return [
        controller.upload(stream_range(a, 0, 10), stream_range(b, 0, 5)).object_id,
        controller.upload(stream_range(a, 10, 20), stream_range(b, 5, 9)).object_id,
    ]


def test_compaction_swaps_in_one_entry(controller, streams, two_sets):
    a, b = streams
    before = controller.image.index

    request = controller.upload_request(
        [stream_range(b, 0, 9)], [stream_range(a, 0, 20)], compacted=two_sets
    )
    prepared = controller.image.index
    controller.do(request)

    assert prepared == before + 2
    assert controller.image.index == prepared + 1
    assert controller.layout(b) == [(request.object_id, 0, 9)]
    assert controller.layout(a) == [(request.stream_objects[0].object_id, 0, 20)]
    for object_id in two_sets:
        assert controller.object(object_id).state == ObjectState.MARK_DESTROYED
    assert controller.decide(request).records == ()


def test_a_compacted_object_keeps_the_place_of_its_oldest_data(controller, streams, two_sets):
    a, b = streams
    newest = controller.upload(stream_range(a, 20, 21)).object_id

    compacted = controller.upload(
        stream_range(a, 0, 20), stream_range(b, 0, 9), compacted=two_sets
    ).object_id

    in_order = [object_id for _, object_id in controller.image.objects.stream_sets[1]]
    assert in_order == [compacted, newest]


def test_compaction_goes_on_while_the_stream_grows(controller, streams, two_sets):
    a, b = streams
    request = controller.upload_request(
        [stream_range(a, 0, 20), stream_range(b, 0, 9)], compacted=two_sets
    )
    newest = controller.upload(stream_range(a, 20, 30)).object_id

    controller.do(request)

    assert controller.layout(a) == [(request.object_id, 0, 20), (newest, 20, 30)]


def test_compaction_around_a_stream_object(controller, streams):
    a, _ = streams
    first = controller.upload(stream_range(a, 0, 10)).object_id
    middle = controller.upload(stream_objects=[stream_range(a, 10, 20)])
    last = controller.upload(stream_range(a, 20, 30)).object_id
    middle_id = middle.stream_objects[0].object_id

    over_it = controller.upload_request([stream_range(a, 0, 30)], compacted=[first, last])
    assert controller.refusal(over_it) == ErrorCode.OFFSET_OUT_OF_RANGE
    request = controller.upload(
        stream_range(a, 0, 10), stream_range(a, 20, 30), compacted=[first, last]
    )

    assert controller.layout(a) == [
        (request.object_id, 0, 10),
        (middle_id, 10, 20),
        (request.object_id, 20, 30),
    ]
    assert controller.object(request.object_id).live_ranges == 2


@pytest.mark.parametrize(
    "pieces",
    [
        [(0, 0, 20)],
        [(0, 0, 20), (1, 0, 8)],
        [(0, 0, 20), (1, 0, 10)],
        [(0, 0, 20), (1, 1, 9)],
        [(0, 0, 12), (0, 11, 20), (1, 0, 9)],
        [(0, 0, 10), (0, 11, 20), (1, 0, 9)],
        [],
    ],
)
def test_a_swap_that_loses_repeats_or_adds_offsets_is_refused(
    controller, streams, two_sets, pieces
):
    ranges = [stream_range(streams[which], start, end) for which, start, end in pieces]
    request = controller.upload_request(ranges, compacted=two_sets)

    assert controller.refusal(request) == ErrorCode.OFFSET_OUT_OF_RANGE


def test_what_was_trimmed_meanwhile_may_be_in_the_output(controller, streams, two_sets):
    a, b = streams
    request = controller.upload_request(
        [stream_range(a, 0, 20), stream_range(b, 0, 9)], compacted=two_sets
    )
    controller.trim(a, 12)
    sources = [it for it in two_sets if controller.object(it).state == ObjectState.COMMITTED]
    assert sources == two_sets, "stream b keeps both alive"

    controller.do(request)

    assert controller.layout(a) == [(request.object_id, 0, 20)]
    assert controller.stream(a).start_offset == 12


def test_what_was_deleted_meanwhile_may_be_in_the_output(controller, streams, two_sets):
    a, b = streams
    request = controller.upload_request(
        [stream_range(a, 0, 20), stream_range(b, 0, 9)], compacted=two_sets
    )
    controller.delete("a")

    controller.do(request)

    assert controller.layout(b) == [(request.object_id, 0, 9)]
    assert controller.object(request.object_id).live_ranges == 1


def test_a_source_that_died_meanwhile_refuses_the_swap(controller, streams, two_sets):
    a, b = streams
    request = controller.upload_request(
        [stream_range(a, 0, 20), stream_range(b, 0, 9)], compacted=two_sets
    )
    controller.trim(a, 10)
    controller.trim(b, 5)

    assert controller.refusal(request) == ErrorCode.RESOURCE_NOT_FOUND


def test_compacting_nothing_but_dead_objects_is_done_already(controller, streams, two_sets):
    request = controller.upload_request(compacted=two_sets)
    controller.delete("a", "b")

    assert controller.decide(request).records == ()


def test_only_the_senders_stream_set_objects_are_compacted(controller, streams, two_sets):
    a, b = streams
    controller.register(2)
    ranges = [stream_range(a, 0, 20), stream_range(b, 0, 9)]

    request = controller.upload_request(ranges, compacted=two_sets, node_id=2)

    assert controller.refusal(request) == ErrorCode.INVALID_REQUEST


def test_a_compaction_of_an_older_registration_is_refused(controller, streams, two_sets):
    a, b = streams
    ranges = [stream_range(a, 0, 20), stream_range(b, 0, 9)]
    request = controller.upload_request(ranges, compacted=two_sets)
    controller.register()

    assert controller.refusal(request) == ErrorCode.STALE_BROKER_EPOCH


# Compaction of Stream Objects


@pytest.fixture
def three_objects(controller, streams):
    """Stream Objects [0, 10), [10, 20), [20, 30) of stream a."""
    a, _ = streams
    return [
        controller.upload(stream_objects=[stream_range(a, it, it + 10)]).stream_objects[0].object_id
        for it in (0, 10, 20)
    ]


def test_stream_objects_are_merged(controller, streams, three_objects):
    a, _ = streams
    request = controller.merge_request(stream_range(a, 0, 20), three_objects[:2])

    controller.do(request)

    merged = request.stream_object.object_id
    assert controller.layout(a) == [(merged, 0, 20), (three_objects[2], 20, 30)]
    assert controller.object(three_objects[0]).state == ObjectState.MARK_DESTROYED
    assert controller.decide(request).records == ()


def test_a_merge_after_a_partial_trim(controller, streams, three_objects):
    a, _ = streams
    request = controller.merge_request(stream_range(a, 0, 20), three_objects[:2])
    controller.trim(a, 5)

    controller.do(request)

    assert controller.stream(a).start_offset == 5


def test_a_merge_of_what_was_trimmed_away_is_refused(controller, streams, three_objects):
    a, _ = streams
    request = controller.merge_request(stream_range(a, 0, 20), three_objects[:2])
    controller.trim(a, 10)

    assert controller.refusal(request) == ErrorCode.RESOURCE_NOT_FOUND


@pytest.mark.parametrize(("start", "end"), [(0, 19), (1, 20), (0, 30), (0, 21)])
def test_a_merge_must_cover_exactly(controller, streams, three_objects, start, end):
    a, _ = streams
    request = controller.merge_request(stream_range(a, start, end), three_objects[:2])

    assert controller.refusal(request) == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_merge_over_a_gap_is_refused(controller, streams, three_objects):
    a, _ = streams
    sources = [three_objects[0], three_objects[2]]
    request = controller.merge_request(stream_range(a, 0, 30), sources)

    assert controller.refusal(request) == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_merge_takes_only_stream_objects_of_the_writer(controller, streams):
    a, _ = streams
    stream_set = controller.upload(stream_range(a, 0, 10)).object_id
    request = controller.merge_request(stream_range(a, 0, 10), [stream_set])
    assert controller.refusal(request) == ErrorCode.INVALID_REQUEST

    controller.register(2)
    foreign = controller.merge_request(stream_range(a, 0, 10), [stream_set], node_id=2)
    assert controller.refusal(foreign) == ErrorCode.FENCED_LEADER_EPOCH


def test_a_merge_for_a_deleted_stream_is_refused(controller, streams, three_objects):
    a, _ = streams
    request = controller.merge_request(stream_range(a, 0, 20), three_objects[:2])
    controller.delete("a")

    assert controller.refusal(request) == ErrorCode.RESOURCE_NOT_FOUND
