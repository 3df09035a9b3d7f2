"""The encoded form of a StreamRecordBatch."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.storage.errors import CorruptObjectError
from headrace.storage.record_batch import (
    HEADER_BYTES,
    MAX_COUNT,
    MAX_PAYLOAD_BYTES,
    StreamRecordBatch,
    decode_batch,
    encode_header,
)

GOLDEN = bytes.fromhex(
    "22"  # magic
    "0102030405060708"  # stream id
    "0000000000000007"  # epoch
    "000000000000002a"  # base offset
    "00000003"  # count
    "00000005"  # payload length
    "68656c6c6f"  # payload
)


def encoded(stream_id: int, epoch: int, base: int, count: int, payload: bytes) -> bytes:
    return encode_header(stream_id, epoch, base, count, len(payload)) + payload


def test_golden_bytes():
    assert encoded(0x0102030405060708, 7, 42, 3, b"hello") == GOLDEN
    batch, end = decode_batch(memoryview(GOLDEN), 0)
    assert batch == StreamRecordBatch(0x0102030405060708, 7, 42, 3, memoryview(b"hello"))
    assert batch.end_offset == 45
    assert end == len(GOLDEN) == HEADER_BYTES + 5


def test_payload_is_a_view_of_what_was_decoded():
    source = bytearray(GOLDEN)
    batch, _ = decode_batch(memoryview(source), 0)
    source[-1:] = b"!"
    assert bytes(batch.payload) == b"hell!"


@given(
    st.lists(
        st.tuples(
            st.integers(0, 2**63 - 1),
            st.integers(0, 2**63 - 1),
            st.integers(0, 2**63 - 1),
            st.integers(1, MAX_COUNT),
            st.binary(max_size=50),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_batches_back_to_back_round_trip(batches):
    view = memoryview(b"".join(encoded(*each) for each in batches))
    position = 0
    for each in batches:
        decoded, position = decode_batch(view, position)
        assert decoded == each
    assert position == len(view)


@pytest.mark.parametrize("length", range(len(GOLDEN)))
def test_every_truncation_is_refused(length):
    with pytest.raises(CorruptObjectError):
        decode_batch(memoryview(GOLDEN)[:length], 0)


@pytest.mark.parametrize(
    ("position", "value"),
    [(0, b"\x21"), (25, struct.pack(">i", 0)), (25, struct.pack(">i", -1)), (29, b"\xff" * 4)],
    ids=["magic", "count 0", "count -1", "length -1"],
)
def test_nonsense_is_refused(position, value):
    broken = bytearray(GOLDEN)
    broken[position : position + len(value)] = value
    with pytest.raises(CorruptObjectError):
        decode_batch(memoryview(broken), 0)


@pytest.mark.parametrize(
    ("count", "length"),
    [(0, 1), (-1, 1), (MAX_COUNT + 1, 1), (1, -1), (1, MAX_PAYLOAD_BYTES + 1)],
)
def test_what_does_not_fit_is_not_encoded(count, length):
    """Widths are checked when encoding, not discovered when reading."""
    with pytest.raises(ValueError, match="out of range"):
        encode_header(1, 1, 0, count, length)


def test_largest_values_fit():
    header = encode_header(2**63 - 1, 2**63 - 1, 2**63 - 1, MAX_COUNT, MAX_PAYLOAD_BYTES)
    assert len(header) == HEADER_BYTES
    with pytest.raises(struct.error):
        encode_header(2**63, 1, 0, 1, 1)
