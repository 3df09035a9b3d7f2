"""Which appends share an object, when it goes out, and what is confirmed. Pure.

Sans-IO: records come in, objects to create come out, outcomes come in, the confirmed offset comes
out. The driver (`headrace.wal.objects.writer`) performs it.

Objects are created side by side and confirmed in the order of their numbers: number n is confirmed
once all up to n are durable. No number is `REACH` or more beyond the first that is not confirmed:
that bounds what a successor must fence.

The next object's header records what is released and what is confirmed (an object of its own does so
when nothing is appended). What is released counts as free, and may be deleted, once that object is confirmed.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from headrace.invariants import require
from headrace.wal.errors import WalError, WalOverCapacityError, WalRecordTooLargeError
from headrace.wal.framing import RECORD_HEADER_BYTES, checksum_seed
from headrace.wal.objects.batch import Arena, Batch
from headrace.wal.objects.layout import HEADER_BYTES, REACH, Kind, ObjectHeader
from headrace.wal.port import Appended, Buffer

# Unreleased objects of a log, for objects of any size: 7 hours at four objects a second.
MAX_OBJECTS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitLimits:
    """Bounds of one writer."""

    batch_bytes: (
        int  # soft limit of an object's records; one larger record has an object of its own
    )
    batch_interval_s: float  # between two objects that are not full
    linger_s: float  # how long the first record after a pause waits for more
    max_inflight: int  # objects being created at once
    max_unconfirmed_bytes: int  # appended and not durable: what is kept in memory for the bucket
    max_record_bytes: int  # of a body
    buffer_bytes: int
    max_objects: int = MAX_OBJECTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """The writer, and where its numbers and offsets begin."""

    cluster_id: str
    node_id: int
    node_epoch: int
    generation_id: int
    first_number: int
    start_offset: int
    capacity_bytes: int


class Outgoing:
    """An object that is being created."""

    __slots__ = ("content", "head_offset", "header", "last_record_offset", "settled")

    def __init__(
        self,
        header: ObjectHeader,
        records: list[memoryview],
        *,
        head_offset: int,
        last_record_offset: int,
    ) -> None:
        self.header = header
        self.content: list[bytes | memoryview] = [header.encode(), *records]
        self.head_offset = head_offset  # where the first object that is needed begins
        self.last_record_offset = last_record_offset
        self.settled = False

    @property
    def size_bytes(self) -> int:
        """Size of the object."""
        return HEADER_BYTES + self.header.length


@dataclass(frozen=True, slots=True)
class _Live:
    """A confirmed object that holds records which are not released."""

    number: int
    base_offset: int
    last_record_offset: int


class ObjectCommit:
    """Assigns appends to objects and decides what is created next."""

    def __init__(
        self,
        generation: Generation,
        limits: CommitLimits,
        *,
        take_buffer: Callable[[int], memoryview],
    ) -> None:
        require(limits.max_inflight <= REACH)
        self._generation = generation
        self._limits = limits
        self._seed = checksum_seed(generation.generation_id)
        self._arena = Arena(take_buffer, buffer_bytes=limits.buffer_bytes)
        self._max_unconfirmed_bytes = min(limits.max_unconfirmed_bytes, generation.capacity_bytes)
        self.max_body_bytes = min(
            limits.max_record_bytes, self._max_unconfirmed_bytes - RECORD_HEADER_BYTES
        )
        self._next_number = generation.first_number
        self._batch = Batch(generation.start_offset)
        self._pending: deque[Batch] = deque()
        self._writing: deque[Outgoing] = deque()
        self._live: deque[_Live] = deque()
        self.inflight = 0
        self.confirmed_number = generation.first_number
        self.confirmed_offset = generation.start_offset
        self.trim_offset = generation.start_offset - 1
        self._reported_trim_offset: int | None = (
            None  # None: nothing was recorded yet, which is due at once
        )
        self._reported_confirmed = generation.first_number  # by the newest object
        self._last_records_number = -1  # of the newest confirmed object that holds records
        self._refresh_wanted = False
        self.durable_head = generation.first_number  # number below which nothing is needed
        self._free_offset = generation.start_offset  # below it, the space is free
        self._content_since_s: float | None = None
        self.last_submission_s = -limits.batch_interval_s
        self.was_full = False
        self._refusal: WalError | None = None
        self._halted = False

    @property
    def next_offset(self) -> int:
        """Where the next append goes."""
        return self._batch.end_offset

    @property
    def batch_offset(self) -> int:
        """Where the current batch begins."""
        return self._batch.base_offset

    @property
    def pending_batches(self) -> int:
        """Full batches that wait to be created."""
        return len(self._pending)

    @property
    def used_bytes(self) -> int:
        """Bytes that are not released durably."""
        return self.next_offset - self._free_offset

    @property
    def is_quiet(self) -> bool:
        """Whether every append is confirmed and every trim is durable."""
        return not self._writing and not self._pending and not self._has_content

    @property
    def is_unreported(self) -> bool:
        """Whether records are confirmed, and no object records it: the loss of theirs would not be noticed."""
        return self._last_records_number >= self._reported_confirmed

    def append(self, header: Buffer, payload: Buffer) -> Appended:
        """Copy a record into the current batch; errors as in `headrace.wal.port`."""
        body_bytes = len(header) + len(payload)
        if self._refusal is not None:
            raise self._refusal
        if body_bytes > self.max_body_bytes:
            msg = f"a record of {body_bytes} bytes exceeds the maximum of {self.max_body_bytes}"
            raise WalRecordTooLargeError(msg)
        size = RECORD_HEADER_BYTES + body_bytes
        if not self._fits(size):
            self.was_full = True
            msg = f"no room for a record of {body_bytes} bytes: {self.used_bytes} bytes are in use"
            raise WalOverCapacityError(msg)
        batch = self._batch
        if batch.records and batch.length + size > self._limits.batch_bytes:
            batch = self._seal()
        return batch.append(header, payload, self._seed, self._arena)

    def room_for(self, body_bytes: int) -> bool:
        """Whether `append` of such a body would succeed now."""
        if self._refusal is not None or body_bytes > self.max_body_bytes:
            return False
        fits = self._fits(RECORD_HEADER_BYTES + body_bytes)
        self.was_full |= not fits
        return fits

    @property
    def has_full_batch(self) -> bool:
        """Whether a batch is full, so that it only waits for its turn."""
        return bool(self._pending) or self._batch.length >= self._limits.batch_bytes

    def refuse(self, error: WalError) -> None:
        """Let every later append raise `error`; what was appended goes out without waiting for more."""
        self._refusal = error

    def halt(self, error: WalError) -> None:
        """Let every later append raise `error`, and nothing more be created or confirmed."""
        self.refuse(error)
        self._halted = True

    def trim(self, offset: int) -> None:
        """Release the records that begin at or below `offset`.

        Raises:
            ValueError: `offset` is not confirmed yet.
        """
        if offset >= self.confirmed_offset:
            msg = f"cannot trim to offset {offset}: only offsets below {self.confirmed_offset} are confirmed"
            raise ValueError(msg)
        self.trim_offset = max(self.trim_offset, offset)
        live = self._live
        while live and live[0].last_record_offset <= self.trim_offset:
            live.popleft()

    def want_refresh(self) -> None:
        """Let an object record what is confirmed, if none does and no other object is due."""
        self._refresh_wanted = self.is_unreported

    def next_object(self, now_s: float) -> Outgoing | None:
        """Return the next object to create, or None while there is none that may go."""
        if self._has_content and self._content_since_s is None:
            self._content_since_s = now_s
        if not self._may_go or now_s < self._due_s():
            return None
        if not self._pending:
            self._seal()
        outgoing = self._stamp(self._pending.popleft())
        self._writing.append(outgoing)
        self.inflight += 1
        self._next_number += 1
        self.last_submission_s = now_s
        self._reported_trim_offset = outgoing.header.trim_offset
        self._reported_confirmed = outgoing.header.confirmed
        self._refresh_wanted = False
        self._content_since_s = now_s if self._has_content else None
        return outgoing

    def delay_s(self, now_s: float) -> float | None:
        """Return when time alone will allow an object; None when something else must happen first."""
        if not self._may_go:
            return None
        return max(0.0, self._due_s() - now_s)

    def settled(self, outgoing: Outgoing) -> bool:
        """Record that an object is durable; return whether the confirmed offset moved."""
        require(not outgoing.settled)
        outgoing.settled = True
        self.inflight -= 1
        before = self.confirmed_offset
        while self._writing and self._writing[0].settled:
            self._confirm(self._writing.popleft())
        return self.confirmed_offset > before

    @property
    def _has_content(self) -> bool:
        """Whether there is anything to write that is in no object yet."""
        return (
            bool(self._batch.records)
            or bool(self._pending)
            or self._reported_trim_offset != self.trim_offset
            or self._refresh_wanted
        )

    @property
    def _may_go(self) -> bool:
        return (
            not self._halted
            and self._has_content
            and self.inflight < self._limits.max_inflight
            and self._next_number < self.confirmed_number + REACH
        )

    def _due_s(self) -> float:
        """When the next object may go out."""
        at_once = (
            self.has_full_batch or self._refusal is not None or self._reported_trim_offset is None
        )
        if at_once or self._content_since_s is None:
            return self.last_submission_s
        return max(
            self._content_since_s + self._limits.linger_s,
            self.last_submission_s + self._limits.batch_interval_s,
        )

    def _fits(self, size_bytes: int) -> bool:
        end = self.next_offset + size_bytes
        return (
            end - self._free_offset <= self._generation.capacity_bytes
            and end - self.confirmed_offset <= self._max_unconfirmed_bytes
            and self._next_number - self.durable_head < self._limits.max_objects
        )

    def _seal(self) -> Batch:
        """Move the current batch behind the pending ones; return a new one."""
        self._pending.append(self._batch)
        self._batch = Batch(self._batch.end_offset)
        return self._batch

    def _stamp(self, batch: Batch) -> Outgoing:
        """Give a batch its number and its header."""
        generation = self._generation
        head = self._live[0] if self._live else None
        header = ObjectHeader(
            kind=Kind.DATA if batch.records else Kind.TRIM,
            cluster_id=generation.cluster_id,
            node_id=generation.node_id,
            node_epoch=generation.node_epoch,
            generation_id=generation.generation_id,
            number=self._next_number,
            released=self.confirmed_number if head is None else head.number,
            confirmed=self.confirmed_number,
            trim_offset=self.trim_offset,
            base_offset=batch.base_offset,
            length=batch.length,
            capacity_bytes=generation.capacity_bytes,
            records=batch.records,
        )
        return Outgoing(
            header,
            batch.parts(),
            head_offset=self.confirmed_offset if head is None else head.base_offset,
            last_record_offset=batch.last_record_offset,
        )

    def _confirm(self, outgoing: Outgoing) -> None:
        header = outgoing.header
        self.confirmed_number = header.number + 1
        self.confirmed_offset = header.end_offset
        self.durable_head = header.released
        self._free_offset = max(self._free_offset, outgoing.head_offset, header.trim_offset + 1)
        if header.records:
            self._last_records_number = header.number
            self._live.append(_Live(header.number, header.base_offset, outgoing.last_record_offset))
