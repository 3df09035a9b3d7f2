"""Opening: the last checkpoint, and no more of the log than lies behind it."""

import pytest

from headrace.broker.partition import checkpoint
from headrace.broker.partition.opening import Restored, restore_state
from headrace.broker.partition.partition import Partition
from headrace.protocol.records.record import Record
from headrace.storage.errors import ObjectStoreError
from headrace.storage.record_batch import StreamRecordBatch
from tests.unit.broker.cluster_scene import NOW_MS, BoundedStream, ServedPartition, run
from tests.unit.broker.partition.fakes import FakeStream


class Watched(BoundedStream):
    """Notes where it was read from."""

    def __init__(self, source: FakeStream) -> None:
        super().__init__(source.stream_id, source.epoch)
        self.batches = source.batches
        self.start_offset = source.start_offset
        self.next_offset = self.confirm_offset = source.confirm_offset
        self.reads: list[int] = []

    async def fetch(self, start: int, max_bytes: int) -> list[StreamRecordBatch]:
        self.reads.append(start)
        return await super().fetch(start, max_bytes)


def served(batches: int, *, checkpoint_after: int | None = None) -> ServedPartition:
    found = ServedPartition("t", 1, 0, leader_epoch=3)
    for number in range(batches):
        found.append(Record(0, NOW_MS + number, None, b"v"), Record(0, NOW_MS, None, b"v"))
        if number + 1 == checkpoint_after:
            data = checkpoint.take(found.partition.state, found.data.next_offset, 0)
            found.meta.append(data, 1, lambda _error: None)
    found.data.confirm()
    found.meta.confirm()
    return found


def restored(data: FakeStream, meta: FakeStream) -> Restored:
    return run(
        restore_state(
            data,  # type: ignore[arg-type]
            meta,  # type: ignore[arg-type]
            producer_id_expiration_ms=86_400_000,
            now_ms=NOW_MS,
        )
    )


def equals(found: Restored, partition: Partition) -> bool:
    state, live = found.state, partition.state
    return (state.epochs.starts, tuple(state.times.segments()), state.size_bytes) == (
        live.epochs.starts,
        tuple(live.times.segments()),
        live.size_bytes,
    )


def test_an_empty_partition_reads_nothing() -> None:
    data, meta = Watched(FakeStream()), Watched(FakeStream())
    assert not restored(data, meta).must_checkpoint
    assert (data.reads, meta.reads) == ([], [])


@pytest.mark.parametrize(("checkpoint_after", "first_read"), [(None, 0), (1, 2), (4, 8)])
def test_the_log_is_read_from_the_last_checkpoint_on(
    checkpoint_after: int | None, first_read: int
) -> None:
    source = served(5, checkpoint_after=checkpoint_after)
    data = Watched(source.data)
    assert equals(restored(data, source.meta), source.partition)
    assert data.reads[0] == first_read


def test_a_checkpoint_of_the_end_leaves_nothing_to_read() -> None:
    source = served(5, checkpoint_after=5)
    data = Watched(source.data)
    found = restored(data, source.meta)
    assert equals(found, source.partition)
    assert (data.reads, found.must_checkpoint) == ([], False)


def test_a_checkpoint_below_the_log_start_is_not_used() -> None:
    source = served(5, checkpoint_after=1)
    data = Watched(source.data)
    data.start_offset = 4
    found = restored(data, source.meta)
    assert data.reads[0] == 4
    assert not found.must_checkpoint
    assert found.state.epochs.starts[0].start_offset == 4


def test_a_bucket_that_does_not_answer_is_told_to_whoever_opens() -> None:
    data = Watched(served(2).data)
    data.bucket_error = ObjectStoreError("503")
    with pytest.raises(ObjectStoreError):
        restored(data, FakeStream())


@pytest.mark.parametrize("is_torn", [True, False])
def test_the_checkpoint_before_one_that_is_no_use_counts(is_torn: bool) -> None:
    """The records that it covers may be deleted: they tell nothing any more."""
    source = served(5, checkpoint_after=4)
    taken = checkpoint.take(source.partition.state, source.data.next_offset + 1, 0)
    last = b"torn" if is_torn else taken  # else of batches that a crash took
    source.meta.append(last, 1, lambda _error: None)
    source.meta.confirm()
    data = Watched(source.data)
    data.start_offset = 8
    found = restored(data, source.meta)
    assert data.reads[0] == 8
    assert found.must_checkpoint != is_torn
    assert found.state.times.end_bytes == source.partition.state.times.end_bytes


def test_a_replayed_log_is_divided_as_it_was() -> None:
    source = ServedPartition("t", 1, 0, overrides={"segment.ms": "1000"})
    for second in range(5):
        source.append(Record(0, NOW_MS + second * 1000, None, b"v"))
    source.data.confirm()
    found = run(
        restore_state(
            source.data,  # type: ignore[arg-type]
            source.meta,  # type: ignore[arg-type]
            producer_id_expiration_ms=86_400_000,
            now_ms=NOW_MS,
            segment_ms=1000,
        )
    )
    assert found.state.times.entries == source.partition.state.times.entries
    assert len(found.state.times.entries) == 4
