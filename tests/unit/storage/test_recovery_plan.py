"""The table of recovery, row by row and over all its combinations."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.storage.errors import RecoveryError
from headrace.storage.ports import StreamMetadata
from headrace.storage.record_batch import StreamRecordBatch
from headrace.storage.recovery_plan import RecordAction, RecoveryPlan
from tests.unit.storage.fakes import batch_of, require_dense

END = 100
EPOCH = 5
BEFORE = batch_of(1, 90, count=5, epoch=4)  # seen first: committed, older epoch


def plan(*opening: StreamMetadata, max_segment_bytes: int = 1 << 20) -> RecoveryPlan:
    return RecoveryPlan(opening, max_segment_bytes=max_segment_bytes)


def opened(stream_id: int = 1, end: int = END, epoch: int = EPOCH) -> StreamMetadata:
    return StreamMetadata(stream_id, epoch, 0, end)


POSITIONS = {
    "below": (90, 10),
    "across": (95, 10),
    "at": (100, 10),
    "beyond": (101, 10),
}
EPOCHS = {"stale": 3, "older": 4, "same": EPOCH, "newer": EPOCH + 1}


@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize(("position", "epoch"), list(product(POSITIONS, EPOCHS)))
def test_every_combination(is_open, position, epoch):
    recovery = plan(opened()) if is_open else plan(opened(stream_id=2))
    recovery.add(BEFORE)
    base, count = POSITIONS[position]
    record = batch_of(1, base, count=count, epoch=EPOCHS[epoch])
    if not is_open:
        expected = RecordAction.NOT_OWNED
    elif epoch == "newer":
        expected = None
    elif epoch == "stale":
        expected = RecordAction.STALE
    else:
        expected = {
            "below": RecordAction.COMMITTED,
            "across": None,
            "at": RecordAction.TAKE,
            "beyond": RecordAction.DISCONTINUOUS,
        }[position]
    if expected is None:
        with pytest.raises(RecoveryError):
            recovery.add(record)
        assert recovery.cut() is None
        return
    assert recovery.add(record) is expected
    segment = recovery.cut()
    assert (segment is not None) == (expected is RecordAction.TAKE)


def test_what_is_taken_moves_the_end():
    recovery = plan(opened(end=0))
    verdicts = [
        recovery.add(batch_of(1, base, count=count, epoch=EPOCH))
        for base, count in [(0, 2), (2, 3), (0, 2), (7, 1), (5, 2), (7, 1)]
    ]
    assert verdicts == [
        RecordAction.TAKE,
        RecordAction.TAKE,
        RecordAction.COMMITTED,
        RecordAction.DISCONTINUOUS,
        RecordAction.TAKE,
        RecordAction.TAKE,
    ]


def test_a_segment_holds_what_was_taken_since_the_last_cut():
    recovery = plan(opened(1, 0), opened(2, 0, 9), max_segment_bytes=2000)
    assert recovery.cut() is None
    recovery.add(batch_of(1, 0, 700, epoch=5))
    recovery.add(batch_of(2, 0, 10, epoch=9))
    assert not recovery.segment_is_full
    recovery.add(batch_of(1, 1, 700, epoch=5))
    assert recovery.segment_is_full
    segment = recovery.cut()
    assert {stream: len(batches) for stream, batches in segment.streams.items()} == {1: 2, 2: 1}
    assert segment.sizes_bytes == {1: 2 * 733, 2: 43}
    assert not recovery.segment_is_full
    recovery.add(batch_of(1, 2, 10, epoch=5))
    assert [batch.base_offset for batch in recovery.cut().streams[1]] == [2]
    assert recovery.recovered_streams == 2
    assert recovery.taken_bytes == 700 + 10 + 700 + 10
    assert recovery.epochs == {1: 5, 2: 9}


def test_a_segment_is_charged_for_the_buffers_that_it_keeps():
    """Few records among many that are dropped must not fill the memory."""
    recovery = plan(opened(end=0), max_segment_bytes=1 << 20)
    buffer = memoryview(bytearray(600_000))
    for base in range(10):
        payload = buffer[base : base + 1]
        recovery.add(StreamRecordBatch(1, EPOCH, base, 1, payload))
    assert not recovery.segment_is_full
    recovery.add(StreamRecordBatch(1, EPOCH, 10, 1, memoryview(bytearray(600_000))[:1]))
    assert recovery.segment_is_full
    recovery.cut()
    recovery.add(StreamRecordBatch(1, EPOCH, 11, 1, buffer[11:12]))
    assert recovery.cut().charge_bytes > 600_000


@given(
    st.lists(st.tuples(st.integers(1, 2), st.integers(1, 3)), max_size=30),
    st.sets(st.integers(0, 29)),
    st.tuples(st.integers(0, 5), st.integers(0, 5)),
)
def test_result_is_the_contiguous_rest_of_each_stream(appends, lost, committed_batches):
    """Records in the order of appends, some lost, the first of each stream committed."""
    ends = {1: 0, 2: 0}
    records = []
    for stream_id, count in appends:
        records.append(batch_of(stream_id, ends[stream_id], count=count, epoch=EPOCH))
        ends[stream_id] += count
    committed = {}
    for stream_id, number in zip((1, 2), committed_batches, strict=True):
        of_stream = [record for record in records if record.stream_id == stream_id]
        committed[stream_id] = sum(record.count for record in of_stream[:number])
    recovery = plan(*(opened(stream_id, end) for stream_id, end in committed.items()))
    survivors = [record for n, record in enumerate(records) if n not in lost]
    for record in survivors:
        recovery.add(record)
    segment = recovery.cut()
    taken = segment.streams if segment is not None else {}
    for stream_id in (1, 2):
        expected = committed[stream_id]
        for record in survivors:
            if record.stream_id == stream_id and record.base_offset == expected:
                expected = record.end_offset
        require_dense(taken.get(stream_id, []), committed[stream_id], expected)
    assert sum(recovery.counts.values()) == len(survivors)
