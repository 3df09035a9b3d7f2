"""A log of format version 1, byte by byte: every later version that reads version 1 reads this one."""

from headrace.wal.framing import RECORD_HEADER_BYTES
from headrace.wal.layout import PAGE_BYTES, RING_POSITION, ShutdownType, newest_superblock
from headrace.wal.ring.recovery import Scan

OLDER = bytes.fromhex(
    "4845414452414345"
    "00000001"
    "00000001"
    "0000000000000004"
    "0102030405060708"
    "0000000000042000"
    "0000000000000038"
    "0000000000000000"
    "0000000000001000"
    "0000000000008000"
    "0000018bcfe56800"
    "00000003"
    "00000016"
    "0000000000000009"
    "6d6b55334f4556424e5463774e544a454e444d325167"
    "000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "53fd45cf"
)
NEWER = bytes.fromhex(
    "4845414452414345"
    "00000001"
    "00000001"
    "0000000000000005"
    "0102030405060708"
    "0000000000042000"
    "0000000000000038"
    "0000000000000000"
    "0000000000001000"
    "0000000000008000"
    "0000018bcfe56800"
    "00000003"
    "00000016"
    "0000000000000009"
    "6d6b55334f4556424e5463774e544a454e444d325167"
    "000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "90b90ff6"
)
FIRST_BLOCK = bytes.fromhex(
    "48424c4b"
    "00000073"
    "0102030405060708"
    "0000000000000000"
    "0000000000000000"
    "0000000000000000"
    "0000000000000005"
    "00000002"
    "696c8da4"
    "485245430000000800000000000000384aa282773cc9ebf3"
    "72656c6561736564"
    "48524543000000030000000000000058260a4c5a0e760eed"
    "6f6e65"
)
SECOND_BLOCK = bytes.fromhex(
    "48424c4b"
    "00000053"
    "0102030405060708"
    "0000000000001000"
    "0000000000001000"
    "0000000000001000"
    "0000000000000005"
    "00000001"
    "4a752b8c"
    "485245430000000300000000000010385e464d10d9f1cf68"
    "74776f"
)
CAPACITY = 0x42000


def golden_log() -> memoryview:
    image = bytearray(CAPACITY)
    for position, content in (
        (0, OLDER),
        (PAGE_BYTES, NEWER),
        (RING_POSITION, FIRST_BLOCK),
        (RING_POSITION + PAGE_BYTES, SECOND_BLOCK),
    ):
        image[position : position + len(content)] = content
    return memoryview(image)


def test_the_superblock_of_version_1_is_read() -> None:
    superblock = newest_superblock(golden_log()[:RING_POSITION])
    assert superblock is not None
    assert (superblock.sequence, superblock.generation_id) == (5, 0x0102030405060708)
    assert (superblock.capacity_bytes, superblock.window_bytes) == (CAPACITY, 0x8000)
    assert (superblock.trim_offset, superblock.head_offset) == (56, 0)
    assert superblock.confirmed_offset == 4096
    assert superblock.shutdown is ShutdownType.UNGRACEFUL
    assert (superblock.node_id, superblock.node_epoch) == (3, 9)
    assert superblock.cluster_id == "mkU3OEVBNTcwNTJENDM2Qg"
    assert superblock.last_write_ms == 1_700_000_000_000


def test_the_records_of_version_1_are_recovered() -> None:
    image = golden_log()
    superblock = newest_superblock(image[:RING_POSITION])
    assert superblock is not None
    scan = Scan(superblock, path="golden")
    records = scan.feed(image[RING_POSITION:])
    first, second = 56 + RECORD_HEADER_BYTES + 8, PAGE_BYTES + 56
    assert [(record.offset, bytes(record.body)) for record in records] == [
        (first, b"one"),
        (second, b"two"),
    ]
    assert records[1].end_offset == second + RECORD_HEADER_BYTES + 3
    assert scan.wants() is None
