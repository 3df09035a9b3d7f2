"""Checkpoints that end the partitions of a drained log: the same state as a replay, or none."""

import pytest

from headrace.broker.partition import log_checkpoints
from headrace.broker.partition.append_rules import AppendOrigin
from headrace.broker.partition.log_checkpoints import DrainedPartition, LogCheckpoints
from headrace.broker.partition.opening import Restored, restore_state
from headrace.broker.partition.time_index import MAX_SEGMENT_MS, MAX_TIMESTAMP_MS
from headrace.protocol import partition_checkpoint
from headrace.protocol.records.batch import HEADER_BYTES
from headrace.protocol.records.control import Marker
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from headrace.storage.ports import StreamMetadata
from headrace.storage.record_batch import StreamRecordBatch
from tests.unit.broker.cluster_scene import NOW_MS, BoundedStream, ServedPartition, run
from tests.unit.broker.partition.fakes import FakeStream
from tests.unit.broker.partition.transactional import ABORT, COMMIT, end, write

DATA, META = 1, 2
EXPIRATION_MS = 86_400_000


class Written:
    """A partition and its log, in the order of the WAL."""

    def __init__(self) -> None:
        self.served = ServedPartition("t", 1, 0, leader_epoch=3)
        self.log: list[StreamRecordBatch] = []

    @property
    def data(self) -> BoundedStream:
        return self.served.data

    @property
    def meta(self) -> FakeStream:
        return self.served.meta

    def append(self, batches: int = 1) -> None:
        for _ in range(batches):
            number = len(self.data.batches)
            records = [Record(0, NOW_MS + number, None, b"v"), Record(1, NOW_MS, None, b"v")]
            options = BatchOptions(
                producer_id=7 + number % 2, producer_epoch=0, base_sequence=number // 2 * 2
            )
            result = self.served.partition.writes.append(
                memoryview(encode_batch(records, options)),
                origin=AppendOrigin.CLIENT,
                now_ms=NOW_MS,
                on_done=lambda _error: None,
            )
            assert not hasattr(result, "code"), result
            self.log.append(self.data.batches[-1])
        self.data.confirm()

    def transact(self, *steps: tuple[int, Marker | None]) -> None:
        """Append a batch of a transaction, or a marker, by producer id."""
        for producer_id, marker in steps:
            if marker is None:
                write(self.served.partition, producer_id)
            else:
                end(self.served.partition, producer_id, marker)
            self.log.append(self.data.batches[-1])
        self.data.confirm()

    def checkpoint(self) -> None:
        self.served.partition.checkpoints.write()
        self.meta.confirm()
        self.log.append(self.meta.batches[-1])

    def drained(self, *, start_offset: int = 0, meta_end_offset: int = 0) -> LogCheckpoints:
        partition = DrainedPartition(
            StreamMetadata(DATA, 3, start_offset, 0),
            StreamMetadata(META, 3, 0, meta_end_offset),
            MAX_SEGMENT_MS,
            MAX_TIMESTAMP_MS,
        )
        checkpoints = LogCheckpoints(
            [partition], producer_id_expiration_ms=EXPIRATION_MS, now_ms=NOW_MS
        )
        for batch in self.log:
            checkpoints.found(batch)
        return checkpoints

    def added(self, checkpoints: LogCheckpoints, **ends: int) -> list[StreamRecordBatch]:
        data, meta = self.data.next_offset, self.meta.next_offset
        found = {DATA: ends.get("data", data), META: ends.get("meta", meta)}
        return [it for it in checkpoints.closing(found, {DATA: 3, META: 3}) if it is not None]


def opened(data: BoundedStream, meta: FakeStream) -> Restored:
    return run(
        restore_state(
            data,  # type: ignore[arg-type]
            meta,  # type: ignore[arg-type]
            producer_id_expiration_ms=EXPIRATION_MS,
            now_ms=NOW_MS,
        )
    )


def state_of(restored: Restored) -> object:
    state = restored.state
    return (
        list(state.producers),
        state.epochs.starts,
        tuple(state.times.segments()),
        state.size_bytes,
        state.transactions and (state.transactions.listed, state.transactions.aborted),
    )


def require_same_state_without_replay(written: Written, *, meta_end_offset: int) -> None:
    """The checkpoint that is added at an offset of the meta stream takes the place of what was replayed."""
    replayed = opened(written.data, written.meta)
    assert replayed.replayed_bytes > 0
    (added,) = written.added(written.drained())
    assert added[:4] == (META, 3, meta_end_offset, 1)
    written.meta.append(added.payload, 1, lambda _error: None)
    written.meta.confirm()
    found = opened(written.data, written.meta)
    assert found.replayed_bytes == 0
    assert state_of(found) == state_of(replayed)


def test_the_next_opening_finds_the_same_state_and_replays_nothing() -> None:
    written = Written()
    written.append(3)
    written.checkpoint()
    written.append(2)
    written.checkpoint()
    written.append(200)
    require_same_state_without_replay(written, meta_end_offset=2)


@pytest.mark.parametrize("has_checkpoint", [False, True])
def test_how_transactions_ended_is_known_after_a_failover(*, has_checkpoint: bool) -> None:
    """That is in the records of their markers, not in the headers of the batches."""
    written = Written()
    written.transact((1, None), (2, None))
    if has_checkpoint:
        written.checkpoint()
    written.transact((1, ABORT), (3, None), (2, COMMIT), (1, None), *[(9, None), (9, ABORT)] * 100)
    require_same_state_without_replay(written, meta_end_offset=int(has_checkpoint))
    state = opened(written.data, written.meta).state.transactions
    assert state is not None
    assert (list(state.ongoing), len(state.aborted)) == ([3, 1], 101)
    assert state.last_stable_offset(206) == 3


@pytest.mark.parametrize("kept_bytes", [HEADER_BYTES, HEADER_BYTES - 1, 5, 0])
def test_a_marker_that_cannot_be_read_leaves_it_to_the_opening(kept_bytes: int) -> None:
    """And it does not end the drain, which others' records wait for."""
    written = Written()
    written.transact((1, None), (1, ABORT))
    marker = written.log[-1]
    written.log[-1] = marker._replace(payload=marker.payload[:kept_bytes])
    assert written.added(written.drained()) == []


def test_markers_count_as_what_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    written = Written()
    written.transact((1, None), *[(1, ABORT)] * 10)
    assert len(written.added(written.drained())) == 1
    held_bytes = 11 * HEADER_BYTES + 10 * log_checkpoints.MARKER_BYTES
    monkeypatch.setattr(log_checkpoints, "MAX_HELD_BYTES", held_bytes - 1)
    assert written.added(written.drained()) == []
    monkeypatch.setattr(log_checkpoints, "MAX_HELD_BYTES", held_bytes)
    assert len(written.added(written.drained())) == 1


def test_a_partition_that_begins_in_the_log_needs_no_checkpoint_in_it() -> None:
    written = Written()
    written.append(200)
    require_same_state_without_replay(written, meta_end_offset=0)


def test_nothing_is_added_where_an_earlier_checkpoint_is_not_in_the_log() -> None:
    written = Written()
    written.append(3)
    assert written.added(written.drained(meta_end_offset=1), meta=1) == []


def test_nothing_is_added_where_the_log_begins_within_the_partition() -> None:
    written = Written()
    written.append(3)
    del written.log[0]
    assert written.added(written.drained()) == []


def test_nothing_is_added_without_anything_behind_the_checkpoint() -> None:
    written = Written()
    written.append(3)
    written.checkpoint()
    assert written.added(written.drained()) == []


def test_what_an_earlier_drain_has_added_is_not_added_again() -> None:
    written = Written()
    written.checkpoint()
    written.append()
    assert written.added(written.drained(), meta=2) == []


def test_a_hole_behind_the_checkpoint_leaves_it_to_the_opening() -> None:
    written = Written()
    written.checkpoint()
    written.append(3)
    del written.log[2]
    assert written.added(written.drained()) == []


@pytest.mark.parametrize("end", [4, 8])
def test_a_log_that_ends_elsewhere_than_the_stream_leaves_it_to_the_opening(end: int) -> None:
    written = Written()
    written.checkpoint()
    written.append(3)
    assert len(written.added(written.drained(), data=6)) == 1
    assert written.added(written.drained(), data=end) == []


def test_a_checkpoint_of_batches_that_are_lost_is_not_used() -> None:
    written = Written()
    written.append(2)
    lost = written.log.pop()
    written.checkpoint()
    assert written.added(written.drained(), data=2) == []
    written.append(1)
    assert written.added(written.drained(), data=2) == []
    assert lost.base_offset == 2


def test_batches_that_the_checkpoint_covers_are_passed_over() -> None:
    written = Written()
    written.append(2)
    written.checkpoint()
    written.append(1)
    (first, second, taken, last) = written.log
    written.log = [taken, first, second, last]
    assert len(written.added(written.drained())) == 1


def test_deleted_records_are_not_in_it() -> None:
    written = Written()
    written.append(2)
    written.checkpoint()
    written.append(2)
    (added,) = written.added(written.drained(start_offset=4))
    assert partition_checkpoint.decode(added.payload).log_start_offset == 4
    assert written.added(written.drained(start_offset=6)) == [], "their producers are not known"


def test_damage_is_left_to_the_opening() -> None:
    written = Written()
    written.checkpoint()
    written.append()
    damaged = memoryview(bytes(len(written.log[0].payload)))
    written.log[0] = written.log[0]._replace(payload=damaged)
    assert written.added(written.drained()) == []


@pytest.mark.parametrize(
    ("bound", "value"),
    [("MAX_PARTITIONS", 0), ("MAX_CHECKPOINT_BYTES", 10), ("MAX_HELD_BYTES", 400)],
)
def test_beyond_a_bound_nothing_is_held(
    bound: str, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_checkpoints, bound, value)
    written = Written()
    written.checkpoint()
    written.append(10)
    assert written.added(written.drained()) == []
    if bound == "MAX_HELD_BYTES":
        written.checkpoint()
        written.append()
        assert len(written.added(written.drained())) == 1, "there is room again"
