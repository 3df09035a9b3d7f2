"""Appends between the WAL and its confirmation: which are due, and which shared a WAL buffer. Pure.

Used from one loop only.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from headrace.storage.cache.log_cache import ConfirmedGroup, max_charge
from headrace.storage.record_batch import StreamRecordBatch

OnAck = Callable[[Exception | None], None]


class AppendTarget(Protocol):
    """The state of an open stream that an append changes."""

    stream_id: int
    epoch: int
    next_offset: int
    confirm_offset: int
    confirmed_wal_end: int


class OpenAppend(NamedTuple):
    """One append whose outcome is not known yet."""

    wal_offset: int
    wal_end_offset: int
    batch: StreamRecordBatch
    buffer_bytes: int
    target: AppendTarget
    on_ack: OnAck


class OpenAppends:
    """Appends in WAL order."""

    __slots__ = ("_open", "_payload_bytes")

    def __init__(self) -> None:
        self._open: deque[OpenAppend] = deque()
        self._payload_bytes = 0

    def __len__(self) -> int:
        return len(self._open)

    @property
    def reserved_bytes(self) -> int:
        """Most that LogCache will be charged for what is open."""
        return max_charge(self._payload_bytes, len(self._open))

    @property
    def wal_end_offset(self) -> int:
        """WAL offset at which the newest will have been confirmed; -1 when none is open."""
        return self._open[-1].wal_end_offset if self._open else -1

    def add(self, append: OpenAppend) -> None:
        """Add the newest append."""
        payload_bytes = self._payload_bytes + len(append.batch.payload)
        self._open.append(append)
        self._payload_bytes = payload_bytes

    def confirm(self, wal_end_offset: int) -> list[OpenAppend]:
        """Remove and return what is durable once everything below `wal_end_offset` is.

        Nothing is removed before everything that takes memory is done: an append is here or in the answer.
        """
        confirmed = []
        released_bytes = 0
        for append in self._open:
            if append.wal_end_offset > wal_end_offset:
                break
            confirmed.append(append)
            released_bytes += len(append.batch.payload)
        self._payload_bytes -= released_bytes
        for _ in confirmed:
            self._open.popleft()
        return confirmed

    def abandon(self) -> list[OpenAppend]:
        """Remove and return everything."""
        abandoned = [*self._open]
        self._open.clear()
        self._payload_bytes = 0
        return abandoned


def group_by_buffer(appends: Sequence[OpenAppend]) -> list[ConfirmedGroup]:
    """Split appends into runs that lie in one WAL buffer: their views have the same owner."""
    groups: list[ConfirmedGroup] = []
    batches: list[StreamRecordBatch] = []
    buffer: object = None
    first_offset = end_offset = buffer_bytes = -1
    for append in appends:
        batch = append.batch
        owner = batch.payload.obj
        if owner is not buffer:
            if batches:
                groups.append(ConfirmedGroup(batches, first_offset, end_offset, buffer_bytes))
            batches = []
            buffer = owner
            first_offset = append.wal_offset
            buffer_bytes = append.buffer_bytes
        batches.append(batch)
        end_offset = append.wal_end_offset
    if batches:
        groups.append(ConfirmedGroup(batches, first_offset, end_offset, buffer_bytes))
    return groups
