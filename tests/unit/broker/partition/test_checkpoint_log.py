"""When checkpoints are written: often enough that openings replay little, seldom enough that they cost little."""

import asyncio

import pytest

from headrace.broker.partition import checkpoint
from headrace.broker.partition.append_rules import AppendOrigin
from headrace.broker.partition.checkpoint import MIN_INTERVAL_BYTES
from headrace.broker.partition.state import PartitionState
from headrace.protocol import partition_checkpoint
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from headrace.storage.errors import RetriableStorageError
from tests.unit.broker.partition.fakes import OpenPartition

MIB = 1 << 20
NOW_MS = 1_700_000_000_000


def grow(opened: OpenPartition, size_bytes: int, *, producer_id: int = -1) -> None:
    """Append batches of 64 KiB, about."""
    for number in range(size_bytes // (64 << 10)):
        epoch, sequence = (-1, -1) if producer_id < 0 else (0, number)
        options = BatchOptions(
            producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence
        )
        batch = encode_batch([Record(0, NOW_MS, None, bytes(64 << 10))], options)
        opened.partition.writes.append(
            memoryview(batch),
            origin=AppendOrigin.CLIENT,
            now_ms=NOW_MS,
            on_done=lambda _error: None,
        )


@pytest.mark.parametrize(
    ("last_bytes", "max_bytes", "expected"),
    [
        (0, 64 * MIB, MIN_INTERVAL_BYTES),
        (200, 64 * MIB, MIN_INTERVAL_BYTES),
        (40_000, 64 * MIB, 256 * 40_000),
        (MIB, 64 * MIB, 64 * MIB),
        (200, 64 << 10, 64 << 10),
    ],
)
def test_the_interval_depends_on_the_size_of_the_last_one(
    last_bytes: int, max_bytes: int, expected: int
) -> None:
    assert checkpoint.interval_bytes(last_bytes, max_bytes) == expected


def test_small_checkpoints_are_written_often() -> None:
    opened = OpenPartition(checkpoint_interval_bytes=64 * MIB)
    grow(opened, 3 * MIN_INTERVAL_BYTES)
    assert [partition_checkpoint.decode(it.payload).offset for it in opened.meta.batches] == [
        32,
        64,
        96,
    ]


def test_large_checkpoints_are_written_seldom() -> None:
    state = PartitionState(producer_id_expiration_ms=86_400_000)
    for number in range(3_000):
        state.times.append(number, NOW_MS, MIB)
    opened = OpenPartition(checkpoint_interval_bytes=64 * MIB, state=state)
    grow(opened, 8 * MIB)
    assert len(opened.meta.batches) == 1
    size_bytes = len(opened.meta.batches[0].payload)
    assert 256 * size_bytes > 8 * MIB, "else this shows nothing"


def test_what_an_opening_has_replayed_counts() -> None:
    opened = OpenPartition(checkpoint_interval_bytes=64 * MIB)
    opened.partition.checkpoints.opened(200, MIN_INTERVAL_BYTES - (64 << 10))
    grow(opened, 64 << 10)
    assert len(opened.meta.batches) == 1


def test_behind_a_large_checkpoint_the_next_one_is_late_after_an_opening_too() -> None:
    opened = OpenPartition(checkpoint_interval_bytes=64 * MIB)
    opened.partition.checkpoints.opened(40_000, 0)
    grow(opened, 9 * MIB)
    assert opened.meta.batches == []


def test_without_room_a_checkpoint_is_not_taken_for_each_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken = 0
    take = checkpoint.take

    def counted(state: PartitionState, offset: int, log_start_offset: int) -> bytes:
        nonlocal taken
        taken += 1
        return take(state, offset, log_start_offset)

    monkeypatch.setattr(checkpoint, "take", counted)
    opened = OpenPartition(checkpoint_interval_bytes=64 * MIB)
    opened.engine.has_room = False
    grow(opened, 2 * MIN_INTERVAL_BYTES)
    assert taken == 2
    opened.engine.has_room = True
    grow(opened, MIN_INTERVAL_BYTES)
    assert [partition_checkpoint.decode(it.payload).offset for it in opened.meta.batches] == [96]


@pytest.mark.parametrize("fault", [None, RetriableStorageError("no controller answers")])
def test_superseded_ones_go_with_the_records_that_are_deleted(
    fault: RetriableStorageError | None,
) -> None:
    """Each would keep an object that holds nothing else that is needed."""
    opened = OpenPartition(checkpoint_interval_bytes=64 * MIB)
    grow(opened, 3 * MIN_INTERVAL_BYTES)
    opened.data.confirm()
    opened.meta.confirm()
    opened.meta.trim_fault = fault
    assert asyncio.run(opened.partition.writes.delete_before(64)) == 64
    assert opened.partition.checkpoints.retained == (1 if fault is None else 3)
