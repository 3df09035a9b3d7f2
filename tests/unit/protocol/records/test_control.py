"""Markers of transactions."""

import struct

import pytest

from headrace.protocol.records.compression import Compression
from headrace.protocol.records.control import EndOfTransaction, Marker, decode_end, decode_marker
from headrace.protocol.records.errors import CorruptBatchError
from headrace.protocol.records.record import BatchOptions, Record, encode_batch


def control(key: bytes, compression: Compression = Compression.NONE) -> memoryview:
    options = BatchOptions(is_transactional=True, is_control=True, compression=compression)
    value = struct.pack(">hi", 0, 3)
    return memoryview(encode_batch([Record(7, 1_000, key, value)], options))


@pytest.mark.parametrize("compression", [Compression.NONE, Compression.ZSTD])
def test_how_a_transaction_ended(compression: Compression) -> None:
    assert decode_marker(control(bytes.fromhex("0000 0000"), compression)) is Marker.ABORT
    assert decode_marker(control(bytes.fromhex("0000 0001"), compression)) is Marker.COMMIT


def test_other_control_records_end_nothing() -> None:
    assert decode_marker(control(bytes.fromhex("0000 0002"))) is None  # a change of leaders


def test_compaction_may_have_taken_the_marker() -> None:
    options = BatchOptions(is_transactional=True, is_control=True, base_offset=7, last_offset=7)
    assert decode_marker(memoryview(encode_batch([], options))) is None


def test_damage_is_refused() -> None:
    with pytest.raises(CorruptBatchError, match="key of 3 bytes"):
        decode_marker(control(b"\0\0\0"))


def test_a_broker_keeps_the_coordinator_of_a_marker() -> None:
    assert decode_end(control(bytes.fromhex("0000 0001"))) == EndOfTransaction(Marker.COMMIT, 3)
    assert decode_end(control(bytes.fromhex("0000 0002"))) is None
    options = BatchOptions(is_transactional=True, is_control=True, base_offset=7, last_offset=7)
    assert decode_end(memoryview(encode_batch([], options))) is None
    short = encode_batch([Record(7, 1_000, bytes(4), b"abc")], options)
    with pytest.raises(CorruptBatchError, match="value of 3 bytes"):
        decode_end(memoryview(short))
