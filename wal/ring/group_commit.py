"""Which appends share a device write, when it goes out, and what is confirmed. Pure.

Sans-IO: records come in, blocks to write come out, completions come in, the confirmed offset comes
out. The driver (`headrace.wal.ring.log`) performs it. Terms of the articles: the *current block* takes appends,
*pending blocks* are sealed, *writing blocks* are at the device. The *window* is how far a block may
reach beyond the confirmed offset: recovery reads no further, so it grows only after the superblock with
the larger window is durable.

A block is sealed when the next record does not fit or its number of records is reached; otherwise
when the device could take it: at once when it is idle, and while it is busy no sooner than `pace_ns`
after the last submission (1/3000 s is the pace of the free tier of a cloud disk).
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from headrace.invariants import InvariantError, require
from headrace.wal.errors import WalError, WalOverCapacityError, WalRecordTooLargeError
from headrace.wal.framing import BLOCK_HEADER_BYTES, RECORD_HEADER_BYTES, checksum_seed
from headrace.wal.layout import Superblock, align_down, align_up
from headrace.wal.port import Appended, Buffer
from headrace.wal.ring.block import Block
from headrace.wal.ring.budget import IoBudget
from headrace.wal.ring.live_extents import LiveExtents

PACE_NS = 1_000_000_000 // 3000
MAX_BLOCK_RECORDS = 4096
_NO_BLOCK = Block.full()


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitLimits:
    """Bounds of group commit."""

    block_bytes: int  # soft limit of one write; a multiple of the page
    io_depth: int  # inflight writes
    window_step_bytes: int  # the window grows to what is needed and this, so that it grows rarely
    max_window_bytes: int  # also the bound on what is appended and not confirmed
    max_record_bytes: int  # of a body
    max_block_records: int = MAX_BLOCK_RECORDS
    pace_ns: int = PACE_NS


class GroupCommit:
    """Assigns positions in the ring to appends, and decides what is written next."""

    def __init__(
        self,
        superblock: Superblock,
        limits: CommitLimits,
        *,
        take_buffer: Callable[[int], memoryview],
        budget: IoBudget,
    ) -> None:
        self._ring = superblock.ring
        self._limits = limits
        self._take_buffer = take_buffer
        self._budget = budget
        self._generation_id = superblock.generation_id
        self._seed = checksum_seed(superblock.generation_id)
        self._superblock_sequence = superblock.sequence
        self._max_unconfirmed_bytes = align_down(
            min(limits.max_window_bytes, self._ring.size_bytes)
        )
        frame_bytes = BLOCK_HEADER_BYTES + RECORD_HEADER_BYTES
        # Half, because a record that does not fit before the end of a lap costs its own size once more.
        self.max_body_bytes = min(
            limits.max_record_bytes, align_down(self._max_unconfirmed_bytes // 2) - frame_bytes
        )
        self._window_bytes = superblock.window_bytes
        self.window_wanted_bytes = superblock.window_bytes
        self._extents = LiveExtents(head=superblock.head_offset, ring_bytes=self._ring.size_bytes)
        self._durable_head = superblock.head_offset
        self._end = superblock.head_offset  # of the last sealed block
        self.confirmed_offset = superblock.confirmed_offset
        require(self.confirmed_offset == self._end, "appends begin where the ring is empty")
        self.trim_offset = superblock.trim_offset
        # No block reaches beyond it for now: zeroing writes there.
        self.barrier_offset: int | None = None
        self._current = _NO_BLOCK
        self._arena = memoryview(b"")
        self._arena_at = 0
        self.pending: deque[Block] = deque()
        self._writing: deque[Block] = deque()
        self.inflight = 0
        self._last_submission_ns = -limits.pace_ns
        self._refusal: WalError | None = None  # what appends raise, once they are refused
        self._halted = False

    @property
    def next_offset(self) -> int:
        """Where the next append goes at the earliest."""
        block = self._current
        return block.offset + block.used if block.records else self._end

    @property
    def used_bytes(self) -> int:
        """Bytes of the ring that cannot be reused yet."""
        return self.next_offset - self._durable_head

    @property
    def is_filling(self) -> bool:
        """Whether a block that is not sealed holds appends."""
        return self._current.records > 0

    @property
    def is_quiet(self) -> bool:
        """Whether every append is confirmed."""
        return self.confirmed_offset == self.next_offset

    def append(self, header: Buffer, payload: Buffer) -> Appended:
        """Copy a record into the current block; errors as in `headrace.wal.port`."""
        body_bytes = len(header) + len(payload)
        block = self._current
        if block.used + RECORD_HEADER_BYTES + body_bytes > block.limit:
            block = self._open_block(body_bytes)
        appended = block.append(header, payload, self._seed)
        if (
            block.used >= self._limits.block_bytes
            or block.records >= self._limits.max_block_records
        ):
            self._seal()
        return appended

    def room_for(self, body_bytes: int) -> bool:
        """Whether `append` of such a body would succeed now."""
        if self._refusal is not None or body_bytes > self.max_body_bytes:
            return False
        block = self._current
        if block.used + RECORD_HEADER_BYTES + body_bytes <= block.limit:
            return True
        return self._place_for(body_bytes) is not None

    def refuse(self, error: WalError) -> None:
        """Let every later append raise `error`; what was appended is written without waiting for more."""
        self._refusal = error
        self._current.limit = 0

    def readmit(self) -> None:
        """Take appends again, after `refuse`."""
        if not self._halted:
            self._refusal = None

    def halt(self, error: WalError) -> None:
        """Let every later append raise `error`, and nothing more be written."""
        self.refuse(error)
        self._halted = True

    def next_write(self, now_ns: int) -> Block | None:
        """Return the next block to submit, stamped, or None while there is none that may go."""
        block = self._candidate(now_ns)
        if block is None:
            return None
        size_bytes = block.size_bytes
        end = block.offset + size_bytes
        if not self._may_go(end) or self._budget.delay_ns(size_bytes, now_ns):
            return None
        if block is self._current:
            self._seal()
        if end - self._durable_head > self._ring.size_bytes:
            raise InvariantError("overwrites live data")
        self.pending.popleft()
        self._writing.append(block)
        self.inflight += 1
        self._last_submission_ns = now_ns
        self._budget.take(size_bytes)
        block.stamp(
            generation_id=self._generation_id,
            confirmed_offset=self.confirmed_offset,
            superblock_sequence=self._superblock_sequence,
        )
        return block

    def delay_ns(self, now_ns: int) -> int | None:
        """Return when time alone may allow a write; None when something else must happen first."""
        if self._halted or self.inflight >= self._limits.io_depth:
            return None
        if self.pending:
            return self._budget.delay_ns(self.pending[0].size_bytes, now_ns) or None
        if not self._current.records:
            return None
        pace_ns = self._last_submission_ns + self._limits.pace_ns - now_ns if self.inflight else 0
        return max(pace_ns, self._budget.delay_ns(self._current.size_bytes, now_ns)) or None

    def completed(self, block: Block) -> bool:
        """Record that a block is durable; return whether the confirmed offset moved."""
        if block.written:
            raise InvariantError("a block became durable twice")
        block.written = True
        self.inflight -= 1
        before = self.confirmed_offset
        writing = self._writing
        while writing and writing[0].written:
            first = writing.popleft()
            self.confirmed_offset = end = first.end
            self._extents.add(
                start=first.offset, end=end, last_record_offset=first.last_record_offset
            )
        return self.confirmed_offset > before

    def trim(self, offset: int) -> int | None:
        """Release the records that begin at or below `offset`.

        Returns:
            The head to persist; the space counts as free after `persisted`. None when
            nothing is new.

        Raises:
            ValueError: `offset` is not confirmed yet.
        """
        if offset >= self.confirmed_offset:
            msg = f"cannot trim to offset {offset}: only offsets below {self.confirmed_offset} are confirmed"
            raise ValueError(msg)
        if offset <= self.trim_offset:
            return None
        self.trim_offset = offset
        return self._extents.release(offset)

    def persisted(self, superblock: Superblock) -> None:
        """Apply what the superblock now holds durably: space freed, window grown."""
        require(superblock.sequence > self._superblock_sequence)
        self._superblock_sequence = superblock.sequence
        self._durable_head = superblock.head_offset
        self._window_bytes = superblock.window_bytes

    def try_spend(self, size_bytes: int, now_ns: int) -> bool:
        """Charge the IO budget for a write that is not an append's, if it allows that now."""
        if self._budget.delay_ns(size_bytes, now_ns):
            return False
        self._budget.take(size_bytes)
        return True

    def spend_delay_ns(self, size_bytes: int, now_ns: int) -> int:
        """Return how long to wait until `try_spend` may succeed; 0 for now."""
        return self._budget.delay_ns(size_bytes, now_ns)

    def _candidate(self, now_ns: int) -> Block | None:
        """The block that is next, if the IO depth and the sealing rules allow it."""
        if self._halted or self.inflight >= self._limits.io_depth:
            return None
        if self.pending:
            return self.pending[0]
        if not self._current.records:
            return None
        ripe = (
            self.inflight == 0
            or self._refusal is not None
            or now_ns - self._last_submission_ns >= self._limits.pace_ns
        )
        return self._current if ripe else None

    def _may_go(self, end: int) -> bool:
        """Whether window and barrier allow a block up to `end`; asks for a larger window when that is missing."""
        reach = end - self.confirmed_offset
        if reach > self._window_bytes:
            wanted = min(reach + self._limits.window_step_bytes, self._max_unconfirmed_bytes)
            self.window_wanted_bytes = max(self.window_wanted_bytes, wanted)
            return False
        return self.barrier_offset is None or end <= self.barrier_offset

    def _place_for(self, body_bytes: int) -> tuple[int, int, int] | None:
        """Find room for a block that begins with this body: its offset, what it needs and what it may take, in bytes.

        None when there is no room for it now.
        """
        need = align_up(BLOCK_HEADER_BYTES + RECORD_HEADER_BYTES + body_bytes)
        start = self._current.end if self._current.records else self._end
        lap_bytes = self._ring.distance_to_end(start)
        if need > lap_bytes:
            start += lap_bytes  # the rest of this lap stays unused
            lap_bytes = self._ring.size_bytes
        room_end = min(
            self._durable_head + self._ring.size_bytes,
            self.confirmed_offset + self._max_unconfirmed_bytes,
        )
        if start + need > room_end:
            return None
        return start, need, min(max(need, self._limits.block_bytes), lap_bytes, room_end - start)

    def _open_block(self, body_bytes: int) -> Block:
        """Seal the current block and open one that holds such a body; raises with nothing changed."""
        if self._refusal is not None:
            raise self._refusal
        if body_bytes > self.max_body_bytes:
            msg = f"a record of {body_bytes} bytes exceeds the maximum of {self.max_body_bytes}"
            raise WalRecordTooLargeError(msg)
        place = self._place_for(body_bytes)
        if place is None:
            msg = f"no room for a record of {body_bytes} bytes: {self.used_bytes} bytes are in use"
            raise WalOverCapacityError(msg)
        self._seal()
        start, need, limit = place
        memory, buffer_bytes = self._block_memory(need, limit)
        self._current = Block(
            memory, offset=start, previous_end=self._end, buffer_bytes=buffer_bytes
        )
        return self._current

    def _block_memory(self, need: int, limit: int) -> tuple[memoryview, int]:
        """Memory of at least `need` and at most `limit` bytes, and the size of the buffer behind it.

        Consecutive small blocks share one buffer (the arena), so that a cache of sparse traffic is
        not sparse.
        """
        if need > self._limits.block_bytes:
            buffer = self._take_buffer(need)
            return buffer[:need], len(buffer)
        remaining = len(self._arena) - self._arena_at
        if remaining < max(need, min(limit, self._limits.block_bytes // 4)):
            self._arena = self._take_buffer(self._limits.block_bytes)
            self._arena_at = 0
            remaining = len(self._arena)
        memory = self._arena[self._arena_at : self._arena_at + min(limit, remaining)]
        return memory, len(self._arena)

    def _seal(self) -> None:
        """Move the current block, if it holds anything, behind the pending ones."""
        block = self._current
        if not block.records:
            return
        size_bytes = block.seal()
        if block.memory.obj is self._arena.obj:
            self._arena_at += size_bytes
        self._end = block.offset + size_bytes
        self.pending.append(block)
        self._current = _NO_BLOCK
