"""Who may append what, and up to where a partition with transactions is read: live, reopened, moved, cut."""

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

import pytest

from headrace.broker.partition import transactions
from headrace.broker.partition.append_rules import AppendOrigin, Rejection
from headrace.broker.partition.opening import restore_state
from headrace.broker.partition.read_side import Isolation
from headrace.broker.partition.state import PartitionState
from headrace.broker.partition.write_side import Accepted
from headrace.protocol.errors import ErrorCode
from headrace.protocol.records.batch import parse_header
from headrace.storage.errors import CorruptObjectError
from tests.unit.broker.cluster_scene import NOW_MS, run
from tests.unit.broker.partition.fakes import DamagedStream, FakeStream, OpenPartition
from tests.unit.broker.partition.transactional import (
    ABORT,
    COMMIT,
    append,
    data_batch,
    end,
    marker_batch,
    write,
)

CLIENT, COORDINATOR, MARKER = AppendOrigin.CLIENT, AppendOrigin.COORDINATOR, AppendOrigin.MARKER
COMMITTED, UNCOMMITTED = Isolation.READ_COMMITTED, Isolation.READ_UNCOMMITTED
EXPIRATION_MS = 86_400_000
T = TypeVar("T")


def named(opened: OpenPartition, start: int = 0, stop: int = 1 << 40) -> list[tuple[int, int]]:
    found = opened.partition.reads.aborted_between(start, stop)
    return [(it.producer_id, it.first_offset) for it in found]


def reopened(data: FakeStream, meta: FakeStream) -> OpenPartition:
    """The partition as the next leader opens it."""
    restored = run(
        restore_state(
            data,  # type: ignore[arg-type]
            meta,  # type: ignore[arg-type]
            producer_id_expiration_ms=EXPIRATION_MS,
            now_ms=NOW_MS,
        )
    )
    return OpenPartition(data=data, meta=meta, state=restored.state)


def written() -> OpenPartition:
    """1 aborts [0, 3), 2 commits [1, 5), 3 is ongoing from 4 on, 1 again from 6 on."""
    opened = OpenPartition()
    for producer_id in (1, 2, 1):
        write(opened.partition, producer_id)
    end(opened.partition, 1, ABORT)
    write(opened.partition, 3)
    end(opened.partition, 2, COMMIT)
    write(opened.partition, 1)
    opened.data.confirm()
    return opened


@pytest.mark.parametrize(
    ("batch", "origin", "code"),
    [
        (marker_batch(1, COMMIT, sequence=0), CLIENT, ErrorCode.INVALID_RECORD),
        (marker_batch(1, COMMIT), COORDINATOR, ErrorCode.INVALID_RECORD),
        (data_batch(1, sequence=0), CLIENT, ErrorCode.INVALID_TXN_STATE),
        (data_batch(1, is_transactional=False), CLIENT, ErrorCode.INVALID_RECORD),
        (data_batch(1, epoch=-1), COORDINATOR, ErrorCode.INVALID_RECORD),
        (data_batch(1), MARKER, ErrorCode.INVALID_RECORD),
        (data_batch(-1, is_transactional=False), MARKER, ErrorCode.INVALID_RECORD),
        (marker_batch(-1, COMMIT), MARKER, ErrorCode.INVALID_RECORD),
        (marker_batch(1, COMMIT, is_transactional=False), MARKER, ErrorCode.INVALID_RECORD),
        (marker_batch(1, COMMIT, records=2), MARKER, ErrorCode.INVALID_RECORD),
        (marker_batch(1, 2), MARKER, ErrorCode.INVALID_RECORD),
        (marker_batch(1, COMMIT, value=b"\0\0"), MARKER, ErrorCode.INVALID_RECORD),
    ],
)
def test_what_an_origin_may_not_append(
    batch: memoryview, origin: AppendOrigin, code: ErrorCode
) -> None:
    opened = OpenPartition()
    result = append(opened.partition, memoryview(bytearray(batch)), origin)
    assert isinstance(result, Rejection)
    assert result.code is code
    assert not opened.data.batches


@pytest.mark.parametrize(
    ("batch", "origin"),
    [
        (data_batch(1, sequence=0, is_transactional=False), CLIENT),
        (data_batch(-1, is_transactional=False), COORDINATOR),
        (data_batch(1), COORDINATOR),
        (data_batch(1, is_transactional=False), COORDINATOR),
        (marker_batch(1, COMMIT), MARKER),
        (marker_batch(1, ABORT), MARKER),
    ],
)
def test_what_an_origin_may_append(batch: memoryview, origin: AppendOrigin) -> None:
    opened = OpenPartition()
    assert isinstance(append(opened.partition, memoryview(bytearray(batch)), origin), Accepted)


@pytest.mark.parametrize("compression", ["uncompressed", "zstd"])
def test_markers_are_stored_as_they_are_whatever_a_topic_asks_for(compression: str) -> None:
    opened = OpenPartition(overrides={"compression.type": compression, "cleanup.policy": "compact"})
    end(opened.partition, 1, COMMIT)
    assert parse_header(opened.data.batches[0].payload).codec == 0


def test_without_transactions_everything_is_stable() -> None:
    opened = OpenPartition()
    append(opened.partition, data_batch(1, 3, sequence=0, is_transactional=False), CLIENT)
    end(opened.partition, 1, ABORT)
    reads = opened.partition.reads
    for confirmed in (0, 4):
        assert reads.readable_end(COMMITTED) == reads.readable_end(UNCOMMITTED) == confirmed
        assert reads.last_stable_offset == reads.high_watermark
        opened.data.confirm()
    assert opened.partition.state.transactions is None
    assert named(opened) == []


def test_the_last_stable_offset_is_where_the_first_ongoing_transaction_begins() -> None:
    opened = OpenPartition()
    reads, data = opened.partition.reads, opened.data
    write(opened.partition, 1, records=2)
    assert reads.readable_end(COMMITTED) == 0
    data.confirm()
    assert (reads.readable_end(COMMITTED), reads.readable_end(UNCOMMITTED)) == (0, 2)
    write(opened.partition, 2)
    data.confirm()
    end(opened.partition, 1, COMMIT)
    assert reads.readable_end(COMMITTED) == 0, "its marker may be lost yet"
    data.confirm()
    assert reads.readable_end(COMMITTED) == 2
    end(opened.partition, 2, ABORT)
    data.confirm()
    assert reads.readable_end(COMMITTED) == reads.high_watermark == 5
    assert named(opened) == [(2, 2)]
    assert named(opened, 0, 2) == []
    assert named(opened, 4) == [(2, 2)], "its marker is there"
    assert named(opened, 5) == []


def test_readers_are_woken_by_the_marker_that_lets_them_go_on() -> None:
    opened = OpenPartition()
    write(opened.partition, 1)
    opened.data.confirm()
    woken: list[int] = []
    reads = opened.partition.reads
    end(opened.partition, 1, COMMIT)
    reads.add_reader(lambda: woken.append(reads.readable_end(COMMITTED)))
    opened.data.confirm()
    assert woken == [2]


def test_producers_and_coordinators_that_have_a_successor_are_refused() -> None:
    opened = OpenPartition()

    def code(batch: memoryview, origin: AppendOrigin) -> ErrorCode:
        result = append(opened.partition, batch, origin)
        return result.code if isinstance(result, Rejection) else ErrorCode.NONE

    assert code(data_batch(1, epoch=3), COORDINATOR) is ErrorCode.NONE
    assert code(data_batch(1, epoch=2), COORDINATOR) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert code(marker_batch(1, COMMIT, epoch=2), MARKER) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert code(marker_batch(1, ABORT, epoch=4, coordinator_epoch=7), MARKER) is ErrorCode.NONE
    fenced = code(marker_batch(1, COMMIT, epoch=4, coordinator_epoch=6), MARKER)
    assert fenced is ErrorCode.TRANSACTION_COORDINATOR_FENCED
    assert code(data_batch(1, epoch=3), COORDINATOR) is ErrorCode.INVALID_PRODUCER_EPOCH
    # A client begins anew behind a marker of a newer epoch.
    later = data_batch(1, epoch=4, sequence=5, is_transactional=False)
    assert code(later, CLIENT) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    first = data_batch(1, epoch=4, sequence=0, is_transactional=False)
    assert code(first, CLIENT) is ErrorCode.NONE


def test_a_marker_of_the_same_epoch_leaves_a_producers_sequences_alone() -> None:
    opened = OpenPartition()
    assert isinstance(append(opened.partition, data_batch(1, sequence=0), COORDINATOR), Accepted)
    end(opened.partition, 1, COMMIT)
    again = append(opened.partition, data_batch(1, sequence=0), COORDINATOR)
    assert isinstance(again, Accepted)
    assert again.base_offset == 0, "it is a repetition"
    assert opened.partition.state.transactions is not None
    assert not opened.partition.state.transactions.ongoing


def test_a_producer_in_a_transaction_writes_nothing_outside_it() -> None:
    opened = OpenPartition()
    write(opened.partition, 1)
    outside = append(opened.partition, data_batch(1, is_transactional=False), COORDINATOR)
    assert isinstance(outside, Rejection)
    assert outside.code is ErrorCode.INVALID_TXN_STATE
    other = append(opened.partition, data_batch(2, is_transactional=False), COORDINATOR)
    assert isinstance(other, Accepted)


def test_at_the_bound_transactions_go_on_and_none_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transactions, "MAX_TRANSACTIONS", 2)
    opened = OpenPartition()
    write(opened.partition, 1)
    write(opened.partition, 2)
    refused = append(opened.partition, data_batch(3), COORDINATOR)
    assert isinstance(refused, Rejection)
    assert refused.code is ErrorCode.NOT_ENOUGH_REPLICAS
    write(opened.partition, 2)
    end(opened.partition, 1, COMMIT)
    write(opened.partition, 3)


@pytest.mark.parametrize("has_checkpoint", [False, True])
@pytest.mark.parametrize("before", [0, 2, 4, 7])
def test_a_partition_that_is_opened_again_knows_its_transactions(
    before: int, *, has_checkpoint: bool
) -> None:
    """By its checkpoint, by its log, or by both."""
    opened = OpenPartition()
    steps = [
        lambda: write(opened.partition, 1),
        lambda: write(opened.partition, 2),
        lambda: write(opened.partition, 1),
        lambda: end(opened.partition, 1, ABORT),
        lambda: write(opened.partition, 3),
        lambda: end(opened.partition, 2, COMMIT),
        lambda: write(opened.partition, 1),
    ]
    for number, step in enumerate(steps):
        if has_checkpoint and number == before:
            opened.partition.checkpoints.write()
        step()
    if has_checkpoint and before == len(steps):
        opened.partition.checkpoints.write()
    opened.data.confirm()
    opened.meta.confirm()
    again = reopened(opened.data, opened.meta)
    assert again.partition.reads.readable_end(COMMITTED) == 4
    assert named(again) == named(opened) == [(1, 0)]
    assert list(again.partition.state.producers) == list(opened.partition.state.producers)
    for one in (opened, again):
        end(one.partition, 3, ABORT)
    again.data.confirm()
    assert again.partition.reads.readable_end(COMMITTED) == 6
    assert named(again) == [(1, 0), (3, 4)]


def test_a_marker_that_a_crash_has_lost_decided_nothing() -> None:
    opened = OpenPartition()
    write(opened.partition, 1)
    opened.data.confirm()
    end(opened.partition, 1, ABORT)
    opened.partition.checkpoints.write()
    opened.meta.confirm()
    opened.data.lose_unconfirmed()
    again = reopened(opened.data, opened.meta)
    assert again.partition.reads.readable_end(COMMITTED) == 0
    assert named(again) == []


def finished(opened: OpenPartition, work: Coroutine[None, None, T]) -> T:
    """What becomes of work that waits for checkpoints."""

    async def main() -> T:
        task = asyncio.create_task(work)
        while not task.done():
            await asyncio.sleep(0)
            opened.meta.confirm()
        return await task

    return run(main())


def test_a_partition_moves_with_its_transactions() -> None:
    opened = written()
    opened.partition.set_frozen(frozen=True)
    finished(opened, opened.partition.checkpoints.settle())
    data = DamagedStream(opened.data)
    again = reopened(data, opened.meta)
    assert data.reads == [], "the checkpoint has it all"
    assert again.partition.reads.readable_end(COMMITTED) == 4
    assert named(again) == [(1, 0)]


def test_deleted_records_take_their_transactions_with_them() -> None:
    opened = written()
    reads = opened.partition.reads
    finished(opened, opened.partition.writes.delete_before(3))
    assert named(opened) == [(1, 0)], "its marker is there"
    finished(opened, opened.partition.writes.delete_before(5))
    for one in (opened, reopened(opened.data, opened.meta)):
        assert one.partition.reads.readable_end(COMMITTED) == 5, "nothing before the log start"
        assert named(one) == []
    end(opened.partition, 3, COMMIT)
    opened.data.confirm()
    assert reads.readable_end(COMMITTED) == 6, "where the next one begins"


def test_transactions_go_on_behind_damage_until_their_next_marker() -> None:
    """The marker may be among what cannot be read; what nobody knows to be decided is not shown."""
    opened = OpenPartition()
    write(opened.partition, 1)
    end(opened.partition, 1, COMMIT)
    append(opened.partition, data_batch(-1, is_transactional=False), COORDINATOR)
    opened.data.confirm()
    damaged = DamagedStream(opened.data, {(1, 2): CorruptObjectError("block")})
    again = reopened(damaged, opened.meta)
    assert again.partition.reads.readable_end(COMMITTED) == 0
    end(again.partition, 1, COMMIT)
    again.data.confirm()
    assert again.partition.reads.readable_end(COMMITTED) == 4


def test_producers_in_a_transaction_are_not_forgotten() -> None:
    state = PartitionState(producer_id_expiration_ms=10)
    opened = OpenPartition(state=state)
    write(opened.partition, 1)
    write(opened.partition, 2)
    end(opened.partition, 2, COMMIT)
    assert state.producers.expire(NOW_MS + 100) == 1
    assert [it.producer_id for it in state.producers] == [1]
    state.producers._max_producers = 2
    for producer_id in range(3, 7):
        append(opened.partition, data_batch(producer_id, is_transactional=False), COORDINATOR)
    assert 1 in [it.producer_id for it in state.producers]
    assert len(state.producers) == 2
