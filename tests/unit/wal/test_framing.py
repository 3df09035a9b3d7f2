"""Golden bytes of records and block headers, and what makes them invalid."""

import pytest

from headrace.wal.framing import (
    BLOCK_HEADER_BYTES,
    RECORD_HEADER_BYTES,
    BlockHeader,
    body_is_intact,
    checksum_seed,
    read_block_header,
    read_record_header,
    write_block_header,
    write_record,
)

GENERATION = 0x1122334455667788
SEED = checksum_seed(GENERATION)
HEADER = BlockHeader(
    length=4000,
    generation_id=GENERATION,
    offset=8192,
    previous_end=4096,
    confirmed_offset=4096,
    superblock_sequence=7,
    records=3,
)


def record(header: bytes = b"ab", payload: bytes = b"cdef", offset: int = 4152) -> memoryview:
    memory = memoryview(bytearray(100))
    write_record(memory, 10, header, payload, offset, SEED)
    return memory


def test_golden_bytes_of_a_record() -> None:
    memory = record()
    assert bytes(memory[:10]) == bytes(10)
    assert memory[10:40].hex() == (
        "48524543000000060000000000001038cc67dd72baa1ec49" + b"abcdef".hex()
    )
    assert bytes(memory[40:]) == bytes(60)


def test_the_view_returned_is_the_payload_in_place() -> None:
    memory = memoryview(bytearray(100))
    view = write_record(memory, 0, b"ab", b"cdef", 0, SEED)
    memory[RECORD_HEADER_BYTES + 2] = ord("X")
    assert bytes(view) == b"Xdef"


def test_golden_bytes_of_a_block_header() -> None:
    memory = memoryview(bytearray(BLOCK_HEADER_BYTES))
    write_block_header(memory, HEADER)
    assert memory.hex() == (
        "48424c4b"
        "00000fa0"
        "1122334455667788"
        "0000000000002000"
        "0000000000001000"
        "0000000000001000"
        "0000000000000007"
        "00000003"
        "9b9d4a05"
    )
    assert read_block_header(memory, 0) == HEADER


def test_a_record_is_read_at_its_place_and_in_its_life_only() -> None:
    memory = record()
    found = read_record_header(memory, 10, 4152, SEED)
    assert found is not None
    assert found.length == 6
    assert body_is_intact(memory[34:40], found.body_crc, SEED)
    assert read_record_header(memory, 10, 4152 + 65536, SEED) is None
    assert read_record_header(memory, 10, 4152, checksum_seed(GENERATION + 1)) is None
    assert not body_is_intact(memory[34:40], found.body_crc, checksum_seed(GENERATION + 1))


@pytest.mark.parametrize("at", range(10, 40))
def test_every_changed_byte_of_a_record_is_noticed(at: int) -> None:
    memory = record()
    memory[at] ^= 0x10
    found = read_record_header(memory, 10, 4152, SEED)
    if at < 34:
        assert found is None
    else:
        assert found is not None
        assert not body_is_intact(memory[34:40], found.body_crc, SEED)


@pytest.mark.parametrize("at", range(BLOCK_HEADER_BYTES))
def test_every_changed_byte_of_a_block_header_is_noticed(at: int) -> None:
    memory = memoryview(bytearray(BLOCK_HEADER_BYTES))
    write_block_header(memory, HEADER)
    memory[at] ^= 0x10
    assert read_block_header(memory, 0) is None


def test_headers_that_are_cut_off_are_none() -> None:
    memory = record()
    assert read_record_header(memory[:33], 10, 4152, SEED) is None
    block = memoryview(bytearray(BLOCK_HEADER_BYTES))
    write_block_header(block, HEADER)
    assert read_block_header(block[:-1], 0) is None


def test_a_block_of_another_life_can_be_told() -> None:
    memory = memoryview(bytearray(BLOCK_HEADER_BYTES))
    other = HEADER._replace(generation_id=GENERATION ^ 1)
    write_block_header(memory, other)
    assert read_block_header(memory, 0) == other
