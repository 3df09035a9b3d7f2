"""Which stream goes into which object."""

from hypothesis import given
from hypothesis import strategies as st

from headrace.storage.ports import StreamRange
from headrace.storage.record_batch import HEADER_BYTES
from headrace.storage.upload.plan import UploadPlan, plan_upload
from tests.unit.storage.fakes import batch_of


def planned(streams, split_bytes, epochs=None) -> UploadPlan:
    sizes = {
        stream_id: sum(HEADER_BYTES + len(batch.payload) for batch in batches)
        for stream_id, batches in streams.items()
    }
    return plan_upload(streams, sizes, split_bytes, epochs)


def test_large_streams_are_split_out_and_the_rest_is_sorted():
    streams = {
        9: [batch_of(9, 5), batch_of(9, 6)],
        4: [batch_of(4, 0, 500)],
        2: [batch_of(2, 7, count=3)],
        1: [batch_of(1, 0, 467)],
    }
    plan = planned(streams, 500)
    assert [each.range for each in plan.stream_set] == [
        StreamRange(2, 1, 7, 10),
        StreamRange(9, 1, 5, 7),
    ]
    assert [each.range for each in plan.stream_objects] == [
        StreamRange(1, 1, 0, 1),
        StreamRange(4, 1, 0, 1),
    ]
    assert plan.object_count == 3


def test_split_begins_at_the_limit():
    streams = {1: [batch_of(1, 0, 500 - HEADER_BYTES)], 2: [batch_of(2, 0, 499 - HEADER_BYTES)]}
    plan = planned(streams, 500)
    assert [each.range.stream_id for each in plan.stream_objects] == [1]
    assert [each.range.stream_id for each in plan.stream_set] == [2]


def test_a_stream_alone_gets_its_own_object():
    plan = planned({3: [batch_of(3, 0)]}, 500)
    assert plan.stream_set == ()
    assert plan.object_count == 1


def test_nothing_shared_means_no_stream_set_object():
    plan = planned({1: [batch_of(1, 0, 900)], 2: [batch_of(2, 0, 900)]}, 500)
    assert plan.stream_set == ()
    assert plan.object_count == 2


def test_epoch_is_that_of_the_opening_when_it_is_told():
    streams = {1: [batch_of(1, 0, epoch=4), batch_of(1, 1, epoch=5)]}
    assert planned(streams, 500).stream_objects[0].range.epoch == 5
    assert planned(streams, 500, {1: 6}).stream_objects[0].range.epoch == 6


@given(
    st.dictionaries(
        st.integers(0, 50),
        st.tuples(st.integers(0, 1000), st.lists(st.integers(0, 600), min_size=1, max_size=4)),
        min_size=1,
        max_size=8,
    ),
    st.integers(1, 1500),
)
def test_every_record_goes_somewhere_exactly_once(streams, split_bytes):
    batches = {
        stream_id: [batch_of(stream_id, base + n, size) for n, size in enumerate(sizes)]
        for stream_id, (base, sizes) in streams.items()
    }
    plan = planned(batches, split_bytes)
    slices = [*plan.stream_set, *plan.stream_objects]
    assert {each.range.stream_id: list(each.batches) for each in slices} == batches
    assert len(slices) == len(batches)
    for part in (plan.stream_set, plan.stream_objects):
        order = [each.range.stream_id for each in part]
        assert order == sorted(order)
    for each in slices:
        assert each.range.start_offset == each.batches[0].base_offset
        assert each.range.end_offset == each.batches[-1].end_offset
