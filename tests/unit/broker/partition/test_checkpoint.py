"""Checkpoints: state out is state in, and damage is named."""

import pytest
from crc32c import crc32c

from headrace.broker.partition import checkpoint
from headrace.broker.partition.state import PartitionState
from headrace.protocol import partition_checkpoint
from headrace.protocol.partition_checkpoint import (
    AbortedEntry,
    BatchMetadata,
    OngoingTransaction,
)


def state() -> PartitionState:
    found = PartitionState(producer_id_expiration_ms=1_000)
    found.producers.update(7, 1, BatchMetadata(0, 4, 10, 14, 99), 99)
    found.producers.update(9, 0, BatchMetadata(3, 3, 15, 15, 98), 98)
    found.epochs.assign(0, 0)
    found.epochs.assign(4, 12)
    found.cleaned_offset = 11
    for base in range(0, 16, 4):
        found.times.append(base, 100 - base, 1 << 20)
    return found


def restored(data: bytes) -> PartitionState:
    found = PartitionState(producer_id_expiration_ms=1_000)
    checkpoint.restore(partition_checkpoint.decode(data), found)
    return found


def test_what_is_restored_equals_what_was_taken() -> None:
    before = state()
    data = checkpoint.take(before, 16, 2)
    decoded = partition_checkpoint.decode(data)
    assert (decoded.offset, decoded.log_start_offset) == (16, 2)
    after = restored(data)
    assert list(after.producers) == list(before.producers)
    assert after.epochs.starts == before.epochs.starts
    assert after.cleaned_offset == 11
    assert after.times.entries == before.times.entries
    assert after.times.max_timestamp_ms == before.times.max_timestamp_ms
    assert list(after.times.segments()) == list(before.times.segments())
    assert checkpoint.take(after, 16, 2) == data


def test_every_truncation_and_every_flipped_bit_is_refused() -> None:
    data = checkpoint.take(state(), 16, 2)
    for length in range(len(data)):
        with pytest.raises(partition_checkpoint.CorruptCheckpointError):
            partition_checkpoint.decode(data[:length])
    for position in range(len(data) * 8):
        damaged = bytearray(data)
        damaged[position // 8] ^= 1 << position % 8
        with pytest.raises(partition_checkpoint.CorruptCheckpointError):
            partition_checkpoint.decode(bytes(damaged))


def test_golden_bytes() -> None:
    """An empty partition's checkpoint, byte by byte: the durable format does not change by accident."""
    empty = PartitionState(producer_id_expiration_ms=1_000)
    data = checkpoint.take(empty, 3, 1)
    assert data[:5].hex() == "4852504302"
    assert data[9:].hex() == "9e0301909090ce00100000ffff0000ff909000"
    for of_an_older_release in (
        "9a0301909090ce00100000ffff0000",
        "9b0301909090ce00100000ffff0000ff",
        "9d0301909090ce00100000ffff0000ff9090",
    ):
        assert decoded(of_an_older_release) == partition_checkpoint.decode(data)


def decoded(body: str) -> partition_checkpoint.Checkpoint:
    data = bytes.fromhex(body)
    header = bytes.fromhex("4852504302") + crc32c(data).to_bytes(4, "big")
    return partition_checkpoint.decode(header + data)


def test_golden_bytes_of_producers() -> None:
    """Those of an older release have no epoch of a coordinator."""
    found = PartitionState(producer_id_expiration_ms=1_000)
    found.producers.update(7, 1, BatchMetadata(0, 4, 10, 14, 99), 98)
    found.producers.update(7, 1, BatchMetadata(5, 5, 15, 15, 100), 101)
    data = checkpoint.take(found, 16, 1)
    assert data[9:].hex() == (
        "9e10019195070165929500040a0e639505050f0f64ff9090ce00100000ffff0000ff909000"
    )
    of_an_older_release = "9b10019194070165929500040a0e639505050f0f649090ce00100000ffff0000ff"
    assert decoded(of_an_older_release) == partition_checkpoint.decode(data)


def test_golden_bytes_of_transactions() -> None:
    found = PartitionState(producer_id_expiration_ms=1_000)
    found.restore_transactions([OngoingTransaction(8, 3)], [AbortedEntry(7, 1, 5, 3)])
    found.producers.mark(7, 1, 12, 99)
    data = checkpoint.take(found, 16, 1)
    assert (
        data[9:].hex() == "9e10019195070163900c9090ce00100000ffff0000ff919208039194" + "0701050300"
    )
    assert checkpoint.take(restored(data), 16, 1) == data
