"""Data block: golden bytes, and no damage passes."""

import pytest
from crc32c import crc32c

from headrace.storage.errors import CorruptObjectError
from headrace.storage.objects.data_block import (
    BLOCK_HEADER_BYTES,
    MAX_BLOCK_SIZE,
    encode_block_header,
    iterate_batches,
    verify_block,
)
from headrace.storage.record_batch import encode_header
from tests.unit.storage.samples import batches

GOLDEN = bytes.fromhex(
    # magic, flags, record count, data length, CRC
    "5a00 00000001 00000024 abdab5d2"
    # batch: magic, stream id, epoch, base offset, count, payload length, payload
    "22 0000000000000007 0000000000000003 0000000000000064 00000005 00000003 616263"
)


def block_of(of_stream):
    data = b"".join(
        encode_header(it.stream_id, it.epoch, it.base_offset, it.count, len(it.payload))
        + it.payload
        for it in of_stream
    )
    return encode_block_header(len(of_stream), len(data), crc32c(data)) + data


def test_golden_bytes_are_encoded():
    data = encode_header(7, 3, 100, 5, 3) + b"abc"
    assert (encode_block_header(1, len(data), crc32c(data)) + data).hex() == GOLDEN.hex()


def test_golden_bytes_are_decoded():
    record_count, data = verify_block(memoryview(GOLDEN))
    (batch,) = iterate_batches(data)
    assert record_count == 1
    assert batch[:4] == (7, 3, 100, 5)
    assert bytes(batch.payload) == b"abc"


def test_batches_come_back_as_slices_of_the_block():
    written = batches(3, 10, 20, count=2)
    block = memoryview(block_of(written))
    record_count, data = verify_block(block)
    assert record_count == 20
    assert list(iterate_batches(data)) == written
    assert all(it.payload.obj is block.obj for it in iterate_batches(data))


@pytest.mark.parametrize("flags", [1, 2, 0x80, 0xFF])
def test_flags_that_are_not_defined_are_refused_behind_a_good_checksum(flags):
    """Of a later version, say: whatever they mean, it is not what this one would read."""
    prefix = GOLDEN[:1] + bytes([flags]) + GOLDEN[2:10]
    data = GOLDEN[BLOCK_HEADER_BYTES:]
    block = prefix + crc32c(prefix, crc32c(data)).to_bytes(4, "big") + data
    with pytest.raises(CorruptObjectError, match=f"flags {flags:#x}"):
        verify_block(memoryview(block))


def test_truncation_at_every_byte_is_detected():
    for length in range(len(GOLDEN)):
        with pytest.raises(CorruptObjectError):
            verify_block(memoryview(GOLDEN[:length]))


def test_trailing_bytes_are_detected():
    with pytest.raises(CorruptObjectError):
        verify_block(memoryview(GOLDEN + b"\0"))


def test_every_flipped_bit_is_detected():
    for bit in range(len(GOLDEN) * 8):
        damaged = bytearray(GOLDEN)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(CorruptObjectError):
            verify_block(memoryview(damaged))


def test_batches_that_end_too_early_are_detected():
    data = encode_header(7, 3, 100, 5, 4) + b"abc"  # promises one byte more
    block = encode_block_header(1, len(data), crc32c(data)) + data
    _, content = verify_block(memoryview(block))
    with pytest.raises(CorruptObjectError):
        list(iterate_batches(content))


@pytest.mark.parametrize(
    ("record_count", "data_length"),
    [(0, 10), (2**31, 10), (1, 0), (1, MAX_BLOCK_SIZE - BLOCK_HEADER_BYTES + 1)],
)
def test_what_does_not_fit_is_not_encoded(record_count, data_length):
    with pytest.raises(ValueError, match="does not fit"):
        encode_block_header(record_count, data_length, 0)
