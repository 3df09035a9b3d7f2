"""When blocks are sealed and submitted, what is confirmed, and what is refused."""

from dataclasses import replace

import pytest

from headrace.wal.errors import WalFailedError, WalOverCapacityError, WalRecordTooLargeError
from headrace.wal.framing import BLOCK_HEADER_BYTES, RECORD_HEADER_BYTES, read_block_header
from headrace.wal.layout import RING_POSITION, ShutdownType, Superblock
from headrace.wal.ring.block import Block
from headrace.wal.ring.budget import IoBudget
from headrace.wal.ring.group_commit import PACE_NS, CommitLimits, GroupCommit

KIB = 1024
FRAME = BLOCK_HEADER_BYTES + RECORD_HEADER_BYTES
START = 64 * KIB
EMPTY = Superblock(
    sequence=3,
    generation_id=99,
    capacity_bytes=RING_POSITION + 64 * KIB,
    trim_offset=START - 1,
    head_offset=START,
    confirmed_offset=START,
    window_bytes=64 * KIB,
    shutdown=ShutdownType.UNGRACEFUL,
    node_id=1,
    node_epoch=1,
    cluster_id="c",
)
LIMITS = CommitLimits(
    block_bytes=8 * KIB,
    io_depth=2,
    window_step_bytes=4 * KIB,
    max_window_bytes=64 * KIB,
    max_record_bytes=32 * KIB,
)


def commit(
    superblock: Superblock = EMPTY, limits: CommitLimits = LIMITS, budget: IoBudget | None = None
) -> GroupCommit:
    return GroupCommit(
        superblock,
        limits,
        take_buffer=lambda size: memoryview(bytearray(size)),
        budget=budget or IoBudget(max_iops=0, max_bandwidth_bytes=0, now_ns=0),
    )


def write(group: GroupCommit, now_ns: int = 0) -> Block:
    block = group.next_write(now_ns)
    assert block is not None
    return block


def confirm(group: GroupCommit, now_ns: int = 0) -> None:
    while (block := group.next_write(now_ns)) is not None:
        group.completed(block)


def free(group: GroupCommit, sequence: int = 4) -> None:
    """Trim everything and make that durable."""
    head = group.trim(group.confirmed_offset - 1)
    assert head is not None
    group.persisted(replace(EMPTY, sequence=sequence, head_offset=head))


def test_an_append_goes_behind_the_block_header_and_the_record_before() -> None:
    group = commit()
    first = group.append(b"ab", b"cde")
    second = group.append(b"", b"x")
    assert first.offset == START + BLOCK_HEADER_BYTES
    assert first.end_offset == first.offset + RECORD_HEADER_BYTES + 5
    assert second.offset == first.end_offset
    assert bytes(first.payload) == b"cde"
    assert group.next_offset == second.end_offset


def test_the_caller_may_change_its_buffer_after_the_append() -> None:
    group = commit()
    payload = bytearray(b"before")
    appended = group.append(b"", payload)
    payload[:] = b"after!"
    assert bytes(appended.payload) == b"before"


def test_an_idle_device_gets_the_block_at_once_with_all_that_came() -> None:
    group = commit()
    group.append(b"", b"1")
    group.append(b"", b"2")
    block = write(group)
    header = read_block_header(block.memory, 0)
    assert header is not None
    assert header.records == 2
    assert header.offset == START
    assert len(block.memory) == 4096
    assert group.next_write(0) is None


def test_a_block_is_padded_with_zeros() -> None:
    group = GroupCommit(
        EMPTY,
        LIMITS,
        take_buffer=lambda size: memoryview(bytearray(b"\xff" * size)),
        budget=IoBudget(max_iops=0, max_bandwidth_bytes=0, now_ns=0),
    )
    group.append(b"", b"x")
    block = write(group)
    assert bytes(block.memory[block.used :]) == bytes(4096 - block.used)


def test_a_busy_device_gets_what_has_gathered_after_the_pace() -> None:
    group = commit()
    group.append(b"", b"1")
    write(group, 1000)
    group.append(b"", b"2")
    assert group.next_write(1000 + PACE_NS - 1) is None
    assert group.delay_ns(2000) == PACE_NS - 1000
    assert group.next_write(1000 + PACE_NS) is not None


def test_the_last_completion_lets_what_has_gathered_go_at_once() -> None:
    group = commit(limits=replace(LIMITS, io_depth=3))
    group.append(b"", b"1")
    first = write(group)
    group.append(b"", b"2")
    second = write(group, PACE_NS)
    group.append(b"", b"3")
    group.completed(first)
    assert group.next_write(PACE_NS + 1) is None, (
        "the pace, not completions, adds to what is under way"
    )
    group.completed(second)
    assert group.next_write(PACE_NS + 2) is not None


def test_a_block_is_sealed_by_size() -> None:
    group = commit()
    for _ in range(3):
        group.append(b"", bytes(4000))
    assert len(group.pending) == 1
    assert group.pending[0].records == 2
    assert group.pending[0].size_bytes <= LIMITS.block_bytes


def test_a_block_is_sealed_by_count() -> None:
    group = commit(limits=replace(LIMITS, max_block_records=3))
    for _ in range(3):
        group.append(b"", b"x")
    assert [block.records for block in group.pending] == [3]


def test_a_record_larger_than_a_block_gets_a_block_of_its_size() -> None:
    group = commit()
    group.append(b"", b"small")
    large = group.append(b"", bytes(20_000))
    group.append(b"", b"small")
    assert [block.size_bytes for block in group.pending] == [4096, 20_480]
    assert large.offset == START + 4096 + BLOCK_HEADER_BYTES
    assert large.block_bytes == 20_480


def test_the_io_depth_is_a_bound() -> None:
    group = commit()
    for _ in range(8):
        group.append(b"", bytes(7000))
    first = write(group)
    write(group)
    assert group.next_write(10 * PACE_NS) is None
    assert group.delay_ns(10 * PACE_NS) is None
    group.completed(first)
    assert group.next_write(10 * PACE_NS) is not None


def test_writes_complete_in_any_order_and_are_confirmed_in_theirs() -> None:
    group = commit(limits=replace(LIMITS, io_depth=3))
    for _ in range(3):
        group.append(b"", bytes(7000))
    blocks = [write(group, turn * PACE_NS) for turn in range(3)]
    assert not group.completed(blocks[2])
    assert not group.completed(blocks[1])
    assert group.confirmed_offset == START
    assert group.completed(blocks[0])
    assert group.confirmed_offset == blocks[2].end
    assert group.is_quiet


def test_a_block_tells_what_was_confirmed_when_it_was_submitted() -> None:
    group = commit()
    group.append(b"", bytes(7000))
    first = write(group)
    group.append(b"", bytes(7000))
    second = write(group, PACE_NS)
    group.completed(first)
    group.append(b"", b"x")
    third = write(group, 2 * PACE_NS)
    headers = [read_block_header(block.memory, 0) for block in (first, second, third)]
    assert [header.confirmed_offset for header in headers if header] == [START, START, first.end]
    assert [header.previous_end for header in headers if header] == [START, first.end, second.end]
    assert {header.superblock_sequence for header in headers if header} == {3}


def test_the_window_grows_before_the_block_that_needs_it() -> None:
    group = commit(replace(EMPTY, window_bytes=12 * KIB), replace(LIMITS, io_depth=4))
    for _ in range(3):
        group.append(b"", bytes(7000))
    write(group)
    assert group.next_write(0) is None
    assert group.window_wanted_bytes == 16 * KIB + LIMITS.window_step_bytes
    assert group.next_write(0) is None
    group.persisted(replace(EMPTY, sequence=4, window_bytes=group.window_wanted_bytes))
    assert group.next_write(0) is not None


def test_the_window_does_not_grow_when_the_confirmed_offset_moves_in_time() -> None:
    group = commit(replace(EMPTY, window_bytes=8 * KIB))
    group.append(b"", bytes(7000))
    block = write(group)
    group.append(b"", bytes(7000))
    group.completed(block)
    assert group.next_write(0) is not None
    assert group.window_wanted_bytes == 8 * KIB


def test_a_record_that_does_not_fit_before_the_end_of_the_lap_begins_the_next() -> None:
    group = commit()
    for _ in range(7):
        group.append(b"", bytes(8 * KIB - FRAME))
        confirm(group)
    free(group)
    appended = group.append(b"", bytes(12 * KIB))
    assert appended.offset == 2 * START + BLOCK_HEADER_BYTES
    header = read_block_header(write(group).memory, 0)
    assert header is not None
    assert header.previous_end == 2 * START - 8 * KIB


def test_over_capacity_changes_nothing() -> None:
    group = commit()
    while group.room_for(5000):
        group.append(b"", bytes(5000))
    confirm(group)
    before = (group.next_offset, group.used_bytes, group.confirmed_offset, len(group.pending))
    with pytest.raises(WalOverCapacityError):
        group.append(b"", bytes(5000))
    assert before == (
        group.next_offset,
        group.used_bytes,
        group.confirmed_offset,
        len(group.pending),
    )
    assert group.used_bytes == 64 * KIB


def test_space_is_free_when_the_trim_is_durable_and_not_before() -> None:
    group = commit()
    while group.room_for(5000):
        group.append(b"", bytes(5000))
        confirm(group)
    head = group.trim(group.confirmed_offset - 1)
    assert head == group.next_offset
    assert not group.room_for(5000)
    group.persisted(replace(EMPTY, sequence=4, head_offset=head))
    assert group.used_bytes == 0
    group.append(b"", bytes(5000))


def test_what_is_unconfirmed_is_bounded_by_the_largest_window() -> None:
    group = commit(limits=replace(LIMITS, max_window_bytes=24 * KIB))
    for _ in range(3):
        group.append(b"", bytes(7000))
    assert not group.room_for(7000)
    with pytest.raises(WalOverCapacityError):
        group.append(b"", bytes(7000))
    group.completed(write(group))
    assert group.room_for(7000)


def test_a_record_of_the_largest_size_fits_wherever_the_empty_ring_stands() -> None:
    for pages in range(16):
        group = commit()
        for _ in range(pages):
            group.append(b"", b"x")
            confirm(group)
        if pages:
            free(group)
        assert group.room_for(group.max_body_bytes)
        group.append(b"", bytes(group.max_body_bytes))


def test_a_record_that_can_never_fit_is_refused_as_such() -> None:
    group = commit()
    assert not group.room_for(group.max_body_bytes + 1)
    with pytest.raises(WalRecordTooLargeError):
        group.append(b"", bytes(group.max_body_bytes + 1))
    assert group.next_offset == START


@pytest.mark.parametrize("size", [0, 1, 8 * KIB - FRAME - 1, 8 * KIB - FRAME, 8 * KIB - FRAME + 1])
def test_sizes_around_the_block(size: int) -> None:
    group = commit()
    appended = group.append(b"", bytes(size))
    confirm(group)
    assert group.confirmed_offset >= appended.end_offset
    assert group.confirmed_offset % 4096 == 0


def test_trimming_what_is_not_confirmed_is_a_mistake() -> None:
    group = commit()
    appended = group.append(b"", b"x")
    with pytest.raises(ValueError, match="cannot trim"):
        group.trim(appended.offset)


def test_trimming_again_is_nothing_new() -> None:
    group = commit()
    appended = group.append(b"", b"x")
    confirm(group)
    assert group.trim(appended.offset) == group.confirmed_offset
    assert group.trim(appended.offset) is None
    assert group.trim_offset == appended.offset


def test_small_blocks_share_a_buffer_and_large_traffic_gets_whole_ones() -> None:
    buffers: list[memoryview] = []

    def take(size: int) -> memoryview:
        buffers.append(memoryview(bytearray(size)))
        return buffers[-1]

    limits = replace(LIMITS, block_bytes=32 * KIB)
    group = GroupCommit(
        EMPTY,
        limits,
        take_buffer=take,
        budget=IoBudget(max_iops=0, max_bandwidth_bytes=0, now_ns=0),
    )
    for _ in range(6):
        assert group.append(b"", b"x").block_bytes == 32 * KIB
        confirm(group)
    assert len(buffers) == 1
    group.append(b"", bytes(20 * KIB))
    assert len(buffers) == 2


def test_blocks_in_one_buffer_do_not_overlap() -> None:
    group = commit(limits=replace(LIMITS, io_depth=3))
    views = []
    for number in range(3):
        views.append(group.append(b"", bytes([number]) * 500).payload)
        write(group, number * PACE_NS)
    assert [bytes(view) for view in views] == [bytes([number]) * 500 for number in range(3)]


def test_a_barrier_holds_back_what_would_cross_it() -> None:
    group = commit()
    group.barrier_offset = START + 8 * KIB
    group.append(b"", bytes(7000))
    write(group)
    group.append(b"", bytes(7000))
    assert group.next_write(2 * PACE_NS) is None
    group.barrier_offset = None
    assert group.next_write(2 * PACE_NS) is not None


def test_the_budget_holds_writes_back_and_appends_gather() -> None:
    group = commit(budget=IoBudget(max_iops=100, max_bandwidth_bytes=0, now_ns=0))
    group.append(b"", b"x")
    assert group.next_write(0) is None
    group.append(b"", b"y")
    delay_ns = group.delay_ns(0)
    assert delay_ns is not None
    assert write(group, delay_ns).records == 2


def test_after_a_refusal_what_was_appended_is_still_written() -> None:
    group = commit()
    group.append(b"", b"1")
    write(group)
    group.append(b"", b"2")
    group.refuse(WalFailedError("over"))
    with pytest.raises(WalFailedError, match="over"):
        group.append(b"", b"3")
    assert not group.room_for(1)
    assert group.next_write(1) is not None


def test_after_a_halt_nothing_is_written() -> None:
    group = commit()
    group.append(b"", b"1")
    group.halt(WalFailedError("broken"))
    with pytest.raises(WalFailedError, match="broken"):
        group.append(b"", b"2")
    assert group.next_write(10 * PACE_NS) is None
    assert group.delay_ns(10 * PACE_NS) is None
