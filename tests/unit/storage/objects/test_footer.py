"""Footer: golden bytes, and no damage passes."""

import pytest
from crc32c import crc32c

from headrace.storage.errors import CorruptObjectError
from headrace.storage.objects.footer import FOOTER_BYTES, Footer, decode_footer, encode_footer

FOOTER = Footer(index_position=1000, index_length=72, index_crc=0xDEADBEEF)
SIZE = 1000 + 72 + FOOTER_BYTES
GOLDEN = bytes.fromhex(
    # index position, index length, index CRC, version, reserved, footer CRC, magic
    "00000000000003e8 00000048 deadbeef 0001 000000000000000000000000000000000000"
    "54fdb9eb 6865616472616365"
)


def test_golden_bytes():
    assert encode_footer(FOOTER).hex() == GOLDEN.hex()
    assert decode_footer(memoryview(GOLDEN), SIZE) == FOOTER


def test_every_flipped_bit_is_detected():
    for bit in range(len(GOLDEN) * 8):
        damaged = bytearray(GOLDEN)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(CorruptObjectError):
            decode_footer(memoryview(damaged), SIZE)


def test_truncation_at_every_byte_is_detected():
    for length in range(FOOTER_BYTES):
        with pytest.raises(CorruptObjectError):
            decode_footer(memoryview(GOLDEN[:length]), SIZE)


@pytest.mark.parametrize("size", [0, SIZE - 1, SIZE + 1])
def test_an_index_that_does_not_end_the_object_is_detected(size):
    with pytest.raises(CorruptObjectError, match="does not fit into an object"):
        decode_footer(memoryview(GOLDEN), size)


def test_an_unknown_version_is_refused_by_name():
    newer = bytearray(GOLDEN)
    newer[17] = 2
    newer[36:40] = crc32c(bytes(newer[:36])).to_bytes(4, "big")
    with pytest.raises(CorruptObjectError, match="version 2 is unknown"):
        decode_footer(memoryview(newer), SIZE)


def test_negative_positions_are_detected():
    footer = Footer(index_position=-36, index_length=36, index_crc=0)
    with pytest.raises(CorruptObjectError):
        decode_footer(memoryview(encode_footer(footer)), FOOTER_BYTES)


def test_an_index_that_is_too_long_is_not_encoded():
    with pytest.raises(ValueError, match="does not fit"):
        encode_footer(Footer(0, 2**31, 0))
