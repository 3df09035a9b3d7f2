"""Opening: the last checkpoint, and no more of the log than lies behind it."""

import pytest

from headrace.broker.partition import checkpoint
from headrace.broker.partition.append_rules import AppendOrigin
from headrace.broker.partition.opening import Restored, restore_state
from headrace.broker.partition.partition import Partition
from headrace.broker.partition.producer_state import SequenceCheck
from headrace.broker.partition.retention import start_by_retention
from headrace.broker.partition.write_side import Accepted
from headrace.config.topic import EffectiveTopicConfig
from headrace.protocol.records.batch import parse_header
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from headrace.storage.errors import (
    CorruptObjectError,
    ObjectNotFoundError,
    ObjectStoreError,
    StorageError,
)
from headrace.storage.record_batch import StreamRecordBatch
from tests.unit.broker.cluster_scene import NOW_MS, BoundedStream, ServedPartition, run
from tests.unit.broker.partition.fakes import DamagedStream, FakeStream


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


def restored(data: FakeStream, meta: FakeStream, *, now_ms: int = NOW_MS) -> Restored:
    return run(
        restore_state(
            data,  # type: ignore[arg-type]
            meta,  # type: ignore[arg-type]
            producer_id_expiration_ms=86_400_000,
            now_ms=now_ms,
        )
    )


def equals(found: Restored, partition: Partition) -> bool:
    state, live = found.state, partition.state
    return (state.epochs.starts, tuple(state.times.segments()), state.size_bytes) == (
        live.epochs.starts,
        tuple(live.times.segments()),
        live.size_bytes,
    )


def test_a_cleaned_batch_covers_the_gap_before_it_and_counts_from_its_own_offset() -> None:
    """By the stream its first offset is where the gap begins, of which nobody knows the epoch and the producer."""
    found = FakeStream()
    for offset, epoch, sequence in ((4, 1, 7), (9, 2, 20)):
        options = BatchOptions(
            producer_id=5,
            producer_epoch=0,
            base_sequence=sequence,
            leader_epoch=epoch,
            base_offset=offset,
            last_offset=offset + 1,
        )
        payload = memoryview(encode_batch([Record(offset, NOW_MS, b"k", b"v")], options))
        start = found.next_offset
        found.batches.append(StreamRecordBatch(1, 0, start, offset + 2 - start, payload))
        found.next_offset = found.confirm_offset = offset + 2
    state = restored(found, FakeStream()).state
    assert [(it.epoch, it.start_offset) for it in state.epochs.starts] == [(1, 4), (2, 9)]
    (producer,) = state.producers
    assert [(it.base_offset, it.last_offset) for it in producer.batches] == [(4, 5), (9, 10)]
    assert [(it.first_sequence, it.last_sequence) for it in producer.batches] == [(7, 8), (20, 21)]


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
    assert found.must_checkpoint
    assert (found.is_ahead, found.checkpoints_lost) == (not is_torn, int(is_torn))
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


DAMAGE = [CorruptObjectError("bit 7 of block 3"), ObjectNotFoundError("404")]
HOUR_MS = 3_600_000


def idempotent(number_of_batches: int) -> ServedPartition:
    """Two records in each batch, an hour between batches; producer `number` wrote batch `number`."""
    found = ServedPartition("t", 1, 0, leader_epoch=3)
    for number in range(number_of_batches):
        at_ms = NOW_MS - (number_of_batches - number) * HOUR_MS
        records = [Record(it, at_ms, None, b"v") for it in range(2)]
        options = BatchOptions(producer_id=number, producer_epoch=0, base_sequence=0)
        batch = memoryview(encode_batch(records, options))
        result = found.partition.writes.append(
            batch, origin=AppendOrigin.CLIENT, now_ms=NOW_MS, on_done=lambda _error: None
        )
        assert isinstance(result, Accepted)
    found.data.confirm()
    return found


@pytest.mark.parametrize("error", DAMAGE, ids=repr)
def test_a_checkpoint_that_storage_cannot_read_costs_time_only(error: StorageError) -> None:
    source = served(5, checkpoint_after=3)
    meta = DamagedStream(source.meta, {(0, 1): error})
    data = Watched(source.data)
    found = restored(data, meta)
    assert data.reads[0] == 0
    assert equals(found, source.partition)
    assert (found.checkpoints_lost, found.damage, found.must_checkpoint) == (1, (), True)


@pytest.mark.parametrize("error", DAMAGE, ids=repr)
def test_the_checkpoint_before_the_damaged_ones_counts_and_each_object_is_asked_for_once(
    error: StorageError,
) -> None:
    source = served(5, checkpoint_after=2)
    for _ in range(20):
        taken = checkpoint.take(source.partition.state, source.data.next_offset, 0)
        source.meta.append(taken, 1, lambda _error: None)
    source.meta.confirm()
    meta = DamagedStream(source.meta, {(1, 11): error, (11, 21): error})
    data = Watched(source.data)
    found = restored(data, meta)
    assert meta.reads == [20, 10, 0]
    assert data.reads[0] == 4
    assert equals(found, source.partition)
    assert found.checkpoints_lost == 20


def test_a_bucket_that_does_not_answer_is_no_damage() -> None:
    source = served(5, checkpoint_after=3)
    meta = DamagedStream(source.meta, {(0, 1): ObjectStoreError("503")})
    with pytest.raises(ObjectStoreError):
        restored(source.data, meta)
    data = DamagedStream(source.data, {(4, 6): ObjectStoreError("503")})
    with pytest.raises(ObjectStoreError):
        restored(data, FakeStream())


@pytest.mark.parametrize("error", DAMAGE, ids=repr)
@pytest.mark.parametrize("span", [(0, 4), (4, 8), (6, 10), (0, 10)], ids=repr)
def test_batches_that_cannot_be_read_are_passed_over_and_named(
    error: StorageError, span: tuple[int, int]
) -> None:
    source = idempotent(5)
    found = restored(DamagedStream(source.data, {span: error}), source.meta)
    ((start, end, reason),) = found.damage
    assert (start, end) == span
    assert str(error) in reason
    assert found.must_checkpoint
    known = {it.producer_id for it in found.state.producers}
    assert known == {number for number in range(5) if 2 * number >= end}


def test_pieces_of_damage_side_by_side_are_one_hole() -> None:
    source = idempotent(5)
    data = DamagedStream(source.data, {(2, 4): DAMAGE[0], (4, 6): DAMAGE[1]})
    found = restored(data, source.meta)
    assert [it[:2] for it in found.damage] == [(2, 4), (4, 6)]
    assert [(it.start, it.end) for it in found.state.times.segments()][:2] == [(0, 2), (2, 6)]


def due(found: Restored, age_ms: int, *, end: int = 10) -> int:
    config = EffectiveTopicConfig.resolve({"retention.ms": str(age_ms)})
    return start_by_retention(found.state.times, config, log_end_offset=end, now_ms=NOW_MS)


def test_damaged_records_are_as_old_as_what_follows_them() -> None:
    source = idempotent(5)  # 5, 4, 3, 2 and 1 hours old
    found = restored(DamagedStream(source.data, {(4, 8): DAMAGE[0]}), source.meta)
    assert due(found, 2 * HOUR_MS) == 4  # the fourth batch is not older than that
    assert due(found, HOUR_MS) == 8
    assert due(found, HOUR_MS - 1) == 10


def test_damage_at_the_end_may_be_young_and_becomes_old_once() -> None:
    source = idempotent(5)
    found = restored(DamagedStream(source.data, {(8, 10): DAMAGE[0]}), source.meta)
    assert due(found, HOUR_MS // 2) == 8  # what is readable is old
    taken = checkpoint.take(found.state, 10, 0)
    source.meta.append(taken, 1, lambda _error: None)
    source.meta.confirm()
    later = restored(source.data, source.meta, now_ms=NOW_MS + HOUR_MS)
    config = EffectiveTopicConfig.resolve({"retention.ms": str(HOUR_MS // 2)})
    assert (
        start_by_retention(later.state.times, config, log_end_offset=10, now_ms=NOW_MS + HOUR_MS)
        == 10
    )


def test_look_ups_by_time_go_past_the_damage() -> None:
    source = idempotent(5)
    found = restored(DamagedStream(source.data, {(2, 6): DAMAGE[0]}), source.meta)
    behind = parse_header(source.data.batches[3].payload).max_timestamp
    assert found.state.times.start_of_search(behind) == 6
    assert found.state.times.start_of_search(behind - 1) == 2  # it may be among what cannot be read
    assert found.state.times.max_timestamp_ms == NOW_MS - HOUR_MS


def test_leader_epochs_beside_damage_truncate_no_consumer() -> None:
    source = served(2)
    source.partition.writes._leader_epoch = 5
    for _ in range(3):
        source.append(Record(0, NOW_MS, None, b"v"), Record(0, NOW_MS, None, b"v"))
    source.data.confirm()
    found = restored(DamagedStream(source.data, {(2, 8): DAMAGE[0]}), source.meta)
    assert found.state.epochs.starts == ((3, 0), (5, 8))
    assert found.state.epochs.end_offset(3, 10) == (3, 8)


def test_a_producer_that_is_not_known_after_damage_must_begin_anew() -> None:
    source = idempotent(5)
    found = restored(DamagedStream(source.data, {(2, 6): DAMAGE[0]}), source.meta)
    producers = found.state.producers
    assert producers.check(4, 0, 0, 2).outcome is SequenceCheck.DUPLICATE
    assert producers.check(4, 0, 2, 2).outcome is SequenceCheck.APPEND
    assert producers.check(1, 0, 2, 2).outcome is SequenceCheck.OUT_OF_ORDER  # lost
    assert producers.check(0, 0, 2, 2).outcome is SequenceCheck.OUT_OF_ORDER  # known before
    assert producers.check(1, 1, 0, 2).outcome is SequenceCheck.APPEND  # with a new epoch
    assert producers.check(77, 0, 0, 2).outcome is SequenceCheck.APPEND


def test_that_producers_were_lost_is_known_until_they_would_have_expired() -> None:
    source = idempotent(5)
    found = restored(DamagedStream(source.data, {(2, 6): DAMAGE[0]}), source.meta)
    source.meta.append(checkpoint.take(found.state, 10, 0), 1, lambda _error: None)
    source.meta.confirm()
    for later_ms, outcome in ((0, SequenceCheck.OUT_OF_ORDER), (1, SequenceCheck.APPEND)):
        state = restored(source.data, source.meta, now_ms=NOW_MS + 24 * HOUR_MS + later_ms).state
        assert state.producers.check(1, 0, 2, 2).outcome is outcome


def test_producers_of_deleted_records_are_lost_with_the_only_checkpoint() -> None:
    source = idempotent(5)
    source.meta.append(checkpoint.take(source.partition.state, 10, 0), 1, lambda _error: None)
    source.meta.confirm()
    source.data.start_offset = 6
    found = restored(source.data, DamagedStream(source.meta, {(0, 1): DAMAGE[0]}))
    assert {it.producer_id for it in found.state.producers} == {3, 4}
    assert found.state.producers.check(1, 0, 2, 2).outcome is SequenceCheck.OUT_OF_ORDER
