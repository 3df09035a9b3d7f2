"""Group commit against a model: any order of appends, completions, trims and superblock writes."""

from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from headrace.wal.errors import WalOverCapacityError
from headrace.wal.framing import read_block_header
from headrace.wal.layout import RING_POSITION, ShutdownType, Superblock
from headrace.wal.ring.block import Block
from headrace.wal.ring.budget import IoBudget
from headrace.wal.ring.group_commit import CommitLimits, GroupCommit
from headrace.wal.ring.superblock_updates import SuperblockUpdates

KIB = 1024
RING_BYTES = 48 * KIB
FORMATTED = Superblock(
    sequence=2,
    generation_id=5,
    capacity_bytes=RING_POSITION + RING_BYTES,
    trim_offset=RING_BYTES - 1,
    head_offset=RING_BYTES,
    confirmed_offset=RING_BYTES,
    window_bytes=8 * KIB,
    shutdown=ShutdownType.UNGRACEFUL,
    node_id=1,
    node_epoch=1,
    cluster_id="c",
)
LIMITS = CommitLimits(
    block_bytes=8 * KIB,
    io_depth=3,
    window_step_bytes=4 * KIB,
    max_window_bytes=32 * KIB,
    max_record_bytes=16 * KIB,
    max_block_records=20,
)


class GroupCommitMachine(RuleBasedStateMachine):
    """Feeds the two cores of the writer as the driver does, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.group = GroupCommit(
            FORMATTED,
            LIMITS,
            take_buffer=lambda size: memoryview(bytearray(size)),
            budget=IoBudget(max_iops=0, max_bandwidth_bytes=0, now_ns=0),
        )
        self.updates = SuperblockUpdates(FORMATTED)
        self.now_ns = 0
        self.writing: list[Block] = []
        self.ends: list[tuple[int, int]] = []  # of appends: (offset, end)
        self.durable: list[Block] = []
        self.confirmed = FORMATTED.confirmed_offset

    @rule(size=st.integers(0, 12 * KIB))
    def append(self, size: int) -> None:
        room = self.group.room_for(size)
        before = (self.group.next_offset, self.group.used_bytes, len(self.group.pending))
        try:
            appended = self.group.append(b"", bytes(size))
        except WalOverCapacityError:
            assert not room
            assert before == (
                self.group.next_offset,
                self.group.used_bytes,
                len(self.group.pending),
            )
            return
        assert room
        assert appended.offset >= (self.ends[-1][1] if self.ends else FORMATTED.head_offset)
        self.ends.append((appended.offset, appended.end_offset))

    @rule(elapsed_ns=st.integers(0, 500_000))
    def submit(self, elapsed_ns: int) -> None:
        self.now_ns += elapsed_ns
        while (block := self.group.next_write(self.now_ns)) is not None:
            durable = self.updates.durable
            reach = block.end - self.group.confirmed_offset
            assert reach <= durable.window_bytes, "recovery would not look so far"
            assert block.end - durable.head_offset <= RING_BYTES, "overwrites what is needed"
            assert block.offset % RING_BYTES + block.size_bytes <= RING_BYTES, (
                "crosses the ring's end"
            )
            header = read_block_header(block.memory, 0)
            assert header is not None
            assert header.confirmed_offset == self.confirmed
            assert header.superblock_sequence == durable.sequence
            self.writing.append(block)
            assert len(self.writing) <= LIMITS.io_depth

    @precondition(lambda self: self.writing)
    @rule(data=st.data())
    def complete_any(self, data: st.DataObject) -> None:
        block = self.writing.pop(data.draw(st.integers(0, len(self.writing) - 1)))
        moved = self.group.completed(block)
        assert moved == (self.group.confirmed_offset > self.confirmed)
        self.confirmed = self.group.confirmed_offset
        self.durable.append(block)

    @precondition(lambda self: self.confirmed > self.group.trim_offset + 1)
    @rule(data=st.data())
    def trim(self, data: st.DataObject) -> None:
        offset = data.draw(st.integers(self.group.trim_offset, self.confirmed - 1))
        head = self.group.trim(offset)
        if head is not None:
            assert all(o <= offset or o >= head for o, _ in self.ends), "frees a needed record"
            self.updates.want_trim(trim_offset=offset, head_offset=head)

    @rule()
    def write_superblock(self) -> None:
        self.updates.want_window(self.group.window_wanted_bytes)
        self.updates.next_write(confirmed_offset=self.group.confirmed_offset, now_ms=0)

    @precondition(lambda self: self.updates.inflight)
    @rule()
    def superblock_written(self) -> None:
        before = self.updates.durable
        after = self.updates.written()
        assert after.sequence == before.sequence + 1
        for name in ("trim_offset", "head_offset", "confirmed_offset", "window_bytes"):
            assert getattr(after, name) >= getattr(before, name)
        assert after == replace(
            before,
            sequence=after.sequence,
            trim_offset=after.trim_offset,
            head_offset=after.head_offset,
            confirmed_offset=after.confirmed_offset,
            window_bytes=after.window_bytes,
        )
        self.group.persisted(after)

    @invariant()
    def nothing_is_confirmed_before_it_is_durable(self) -> None:
        for block in self.writing:
            assert block.end > self.confirmed
        for block in self.group.pending:
            assert block.offset >= self.confirmed

    @invariant()
    def the_books_balance(self) -> None:
        assert 0 <= self.group.used_bytes <= RING_BYTES
        assert self.confirmed <= self.group.next_offset
        if self.ends:
            assert self.ends[-1][1] <= self.group.next_offset

    def teardown(self) -> None:
        """Everything can always be brought to rest."""
        for _ in range(1000):
            self.submit(500_000)
            if self.writing:
                block = self.writing.pop(0)
                self.group.completed(block)
                self.confirmed = self.group.confirmed_offset
            self.write_superblock()
            if self.updates.inflight:
                self.superblock_written()
        assert self.group.is_quiet


TestGroupCommit = GroupCommitMachine.TestCase
TestGroupCommit.settings = settings(
    max_examples=30, stateful_step_count=60, deadline=None, database=None
)
