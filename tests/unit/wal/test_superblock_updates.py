"""What is asked of the superblock is written together, one write at a time."""

from dataclasses import replace

import pytest

from headrace.wal.layout import ShutdownType, Superblock
from headrace.wal.ring.superblock_updates import SuperblockUpdates

DURABLE = Superblock(
    sequence=7,
    generation_id=1,
    capacity_bytes=1 << 20,
    trim_offset=-1,
    head_offset=0,
    confirmed_offset=0,
    window_bytes=8192,
    shutdown=ShutdownType.UNGRACEFUL,
    node_id=1,
    node_epoch=1,
    cluster_id="c",
)


def test_nothing_wanted_nothing_written() -> None:
    updates = SuperblockUpdates(DURABLE)
    updates.want_window(4096)
    updates.want_window(8192)
    assert not updates.wanted
    assert updates.next_write(confirmed_offset=4096, now_ms=1) is None


def test_everything_wanted_goes_into_one_write() -> None:
    updates = SuperblockUpdates(DURABLE)
    updates.want_trim(trim_offset=10, head_offset=0)
    updates.want_trim(trim_offset=5000, head_offset=4096)
    updates.want_window(16384)
    written = updates.next_write(confirmed_offset=8192, now_ms=3)
    assert written == replace(
        DURABLE,
        sequence=8,
        trim_offset=5000,
        head_offset=4096,
        window_bytes=16384,
        confirmed_offset=8192,
        last_write_ms=3,
    )


def test_what_is_wanted_meanwhile_waits_for_the_next_write() -> None:
    updates = SuperblockUpdates(DURABLE)
    updates.want_trim(trim_offset=10, head_offset=0)
    first = updates.next_write(confirmed_offset=4096, now_ms=0)
    assert updates.inflight
    assert not updates.wanted
    updates.want_trim(trim_offset=20, head_offset=0)
    assert updates.wanted
    assert updates.next_write(confirmed_offset=4096, now_ms=0) is None
    assert updates.durable is DURABLE
    assert updates.written() == first
    second = updates.next_write(confirmed_offset=4096, now_ms=0)
    assert second is not None
    assert (second.sequence, second.trim_offset) == (9, 20)


def test_a_refresh_is_written_once() -> None:
    updates = SuperblockUpdates(DURABLE)
    updates.want_refresh()
    written = updates.next_write(confirmed_offset=4096, now_ms=0)
    assert written is not None
    assert written.confirmed_offset == 4096
    updates.written()
    assert not updates.wanted


def test_offsets_never_go_back() -> None:
    updates = SuperblockUpdates(replace(DURABLE, trim_offset=100, confirmed_offset=4096))
    with pytest.raises(AssertionError):
        updates.want_trim(trim_offset=99, head_offset=0)
