"""Records that wait to be appended to the log, and the requests that wait for them.

While one append is inflight, the records of later decisions are collected and appended as the next
batch: hundreds of members that commit at once cost a few appends, not hundreds.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Generic

from headrace.broker.coordinator.runtime.record_fields import MAX_RECORD_BYTES, CorruptRecordError
from headrace.broker.coordinator.runtime.shard import R
from headrace.protocol.errors import ErrorCode, KafkaError
from headrace.protocol.records.record import BatchOptions, Record, encode_batch

MAX_BATCH_BYTES: Final = MAX_RECORD_BYTES
# Encoded, and validated, in one turn of the event loop. More only if one atomic decision has more.
MAX_BATCH_RECORDS: Final = 1_000
MAX_PENDING_BYTES: Final = 32 * 1024 * 1024  # of one shard; at this bound, writes are refused
_RECORD_OVERHEAD_BYTES: Final = 40  # lengths, deltas and counts of one record, rounded up

Outcome = KafkaError | None  # None: durable


class DecisionTooLargeError(KafkaError):
    """The records of an atomic decision do not fit into one batch; nothing has changed."""


class PendingBatch:
    """One batch that is being filled or written."""

    __slots__ = ("_on_settled", "_records", "_waiters", "size_bytes")

    def __init__(self) -> None:
        self._records: list[Record] = []
        self._waiters: list[asyncio.Future[Outcome]] = []
        self._on_settled: list[Callable[[], None]] = []
        self.size_bytes = 0

    def add_record(self, record: Record, size_bytes: int) -> None:
        """Add a record; its offset is its position in the batch."""
        self._records.append(record._replace(offset=len(self._records)))
        self.size_bytes += size_bytes

    def has_room(self, count: int, size_bytes: int) -> bool:
        """Whether further records of this size fit together; the first ones always do."""
        return (
            self.size_bytes + size_bytes <= MAX_BATCH_BYTES
            and len(self._records) + count <= MAX_BATCH_RECORDS
        )

    @property
    def records_count(self) -> int:
        """Records in it."""
        return len(self._records)

    def encode(self) -> bytearray:
        """Give the record batch, with base offset 0."""
        return encode_batch(self._records, BatchOptions())

    def wait(self) -> asyncio.Future[Outcome]:
        """Return a new future that is set when this batch is settled."""
        waiter: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        return waiter

    def when_durable(self, action: Callable[[], None]) -> None:
        """Call `action` when the batch is durable; it is dropped when the batch fails."""
        self._on_settled.append(action)

    def settle(self, outcome: Outcome) -> None:
        """Set the outcome of every waiter, in the order in which they came."""
        if outcome is None:
            for action in self._on_settled:
                action()
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(outcome)


class PendingBatches(Generic[R]):
    """The batches of one shard: at most one being written, the others in the order of decision."""

    def __init__(self, encode: Callable[[R], tuple[bytes, bytes | None]]) -> None:
        self._encode = encode
        self._queue: deque[PendingBatch] = deque()
        self._writing: PendingBatch | None = None
        self.size_bytes = 0  # of all, the one being written included
        self.next_offset = 0  # of the next record that is queued

    @property
    def is_full(self) -> bool:
        """Whether no further writes should be accepted for now."""
        return self.size_bytes >= MAX_PENDING_BYTES

    def fits(self, record: R) -> bool:
        """Whether a record can be written: this broker's own can, another's may not."""
        try:
            _, value = self._encode(record)
        except CorruptRecordError:
            return False
        return value is None or len(value) <= MAX_RECORD_BYTES

    def add(self, records: Sequence[R], timestamp_ms: int, *, is_atomic: bool = False) -> int:
        """Queue records, in order and, unless they are atomic, over as many batches as they need.

        Returns the offset of the first.

        Raises:
            DecisionTooLargeError: they are atomic, and too large for one batch; none is queued.
        """
        encoded = []
        whole_bytes = 0
        for record in records:
            key, value = self._encode(record)
            size_bytes = len(key) + (0 if value is None else len(value)) + _RECORD_OVERHEAD_BYTES
            encoded.append((Record(0, timestamp_ms, key, value), size_bytes))
            whole_bytes += size_bytes
        if is_atomic:
            if whole_bytes > MAX_BATCH_BYTES:
                raise DecisionTooLargeError(
                    ErrorCode.MESSAGE_TOO_LARGE,
                    f"{whole_bytes} bytes must be written together, more than {MAX_BATCH_BYTES}",
                )
            self._make_room(len(encoded), whole_bytes)
        for written, size_bytes in encoded:
            if not is_atomic:
                self._make_room(1, size_bytes)
            self._queue[-1].add_record(written, size_bytes)
        self.size_bytes += whole_bytes
        first, self.next_offset = self.next_offset, self.next_offset + len(encoded)
        return first

    def _make_room(self, count: int, size_bytes: int) -> None:
        """Begin a batch, unless the last one has room."""
        if not (self._queue and self._queue[-1].has_room(count, size_bytes)):
            self._queue.append(PendingBatch())

    def newest(self) -> PendingBatch | None:
        """Give the last batch that is not durable yet; None when all are."""
        return self._queue[-1] if self._queue else self._writing

    def next(self) -> PendingBatch | None:
        """Take the next batch to write; `written` or `fail` must follow."""
        if not self._queue:
            return None
        self._writing = self._queue.popleft()
        return self._writing

    def written(self) -> None:
        """The batch being written is durable."""
        batch = self._writing
        assert batch is not None
        self._writing = None
        self.size_bytes -= batch.size_bytes
        batch.settle(None)

    def fail(self, error: KafkaError) -> None:
        """Fail every batch, including the one being written, whose outcome is unknown."""
        batches = [] if self._writing is None else [self._writing]
        batches.extend(self._queue)
        self._writing = None
        self._queue.clear()
        self.size_bytes = 0
        for batch in batches:
            batch.settle(error)
