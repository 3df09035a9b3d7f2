"""Which part of the ring is needed."""

from headrace.wal.ring.live_extents import LiveExtents

KIB = 1024


def test_a_block_is_released_with_its_last_record() -> None:
    extents = LiveExtents(head=0, ring_bytes=64 * KIB)
    extents.add(start=0, end=8192, last_record_offset=5000)
    extents.add(start=8192, end=12288, last_record_offset=9000)
    assert extents.release(4999) == 0
    assert extents.release(5000) == 8192
    assert extents.release(8999) == 8192
    assert extents.release(9000) == 12288
    assert len(extents) == 0


def test_the_skipped_rest_of_a_lap_is_released_with_what_follows() -> None:
    extents = LiveExtents(head=0, ring_bytes=64 * KIB)
    extents.add(start=0, end=57344, last_record_offset=100)
    extents.add(start=65536, end=73728, last_record_offset=65600)
    assert extents.release(60_000) == 57344
    assert extents.release(65600) == 73728


def test_small_blocks_are_remembered_together() -> None:
    ring_bytes = 2 << 30
    extents = LiveExtents(head=0, ring_bytes=ring_bytes)
    for start in range(0, 64 << 20, 4096):
        extents.add(start=start, end=start + 4096, last_record_offset=start + 56)
    assert len(extents) == (64 << 20) // (ring_bytes // 4096)
    assert extents.release((1 << 20) - 1) == 1 << 20
    assert extents.release((64 << 20) - 1) == 64 << 20


def test_blocks_larger_than_a_granule_stand_alone() -> None:
    extents = LiveExtents(head=0, ring_bytes=2 << 30)
    extents.add(start=0, end=4 << 20, last_record_offset=56)
    extents.add(start=4 << 20, end=(4 << 20) + 4096, last_record_offset=(4 << 20) + 56)
    assert extents.release(56) == 4 << 20
