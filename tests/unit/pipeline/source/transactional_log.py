"""A log with transactions, control batches, gaps and empty batches; and what Kafka's consumer shows of it."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hypothesis import strategies as st

from headrace.protocol.fetch.response import AbortedTransaction
from headrace.protocol.records.batch import parse_header
from headrace.protocol.records.compression import Compression
from headrace.protocol.records.control import Marker
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from headrace.storage.record_batch import StreamRecordBatch

IDEMPOTENT = 9  # a producer id without transactions
START_MS = 1_700_000_000_000


class Step(NamedTuple):
    """What a producer does next."""

    producer_id: int  # -1: none
    marker: Marker | None  # that ends its transaction; None: records
    records: int
    gap: int  # offsets before it that compaction took
    removed: int  # of its last records, which leave offsets
    codec: Compression


@dataclass
class Transaction:
    """Of one producer id; open without an outcome."""

    producer_id: int
    first_offset: int
    outcome: Marker | None = None
    last_offset: int = -1  # of its marker


@dataclass
class TransactionalLog:
    """Batches, and what is known of them beyond their bytes."""

    batches: list[bytes] = field(default_factory=list)
    records: list[tuple[int, Transaction | None]] = field(default_factory=list)
    transactions: list[Transaction] = field(default_factory=list)
    end_offset: int = 0

    def append(self, step: Step) -> None:
        open_one = next(
            (
                it
                for it in self.transactions
                if it.producer_id == step.producer_id and not is_over(it)
            ),
            None,
        )
        base = self.end_offset + step.gap
        if step.marker is not None:
            self.batches.append(control_batch(base, step.producer_id, step.marker))
            if open_one is not None:
                open_one.outcome, open_one.last_offset = step.marker, base
            self.end_offset = base + 1
            return
        is_transactional = step.producer_id not in (-1, IDEMPOTENT)
        if is_transactional and open_one is None:
            open_one = Transaction(step.producer_id, base)
            self.transactions.append(open_one)
        offsets = range(base, base + step.records)
        kept = offsets[: max(0, step.records - step.removed)]
        options = BatchOptions(
            compression=step.codec,
            producer_id=step.producer_id,
            producer_epoch=0,
            is_transactional=is_transactional,
            base_offset=base,
            last_offset=offsets[-1],
        )
        made = [Record(it, START_MS + it, None, str(it).encode()) for it in kept]
        self.batches.append(bytes(encode_batch(made, options)))
        self.records += [(it, open_one if is_transactional else None) for it in kept]
        self.end_offset = offsets[-1] + 1

    def last_stable_offset(self, start: int = 0) -> int:
        """As a broker tells it; of transactions that have a batch from an offset on."""
        headers = [parse_header(it) for it in self.batches]
        firsts = [
            min(
                it.base_offset
                for it in headers
                if it.producer_id == each.producer_id
                and not it.is_control
                and it.base_offset >= each.first_offset
                and it.next_offset > start
            )
            for each in self.transactions
            if not is_over(each)
            and any(
                it.producer_id == each.producer_id
                and it.base_offset >= each.first_offset
                and it.next_offset > start
                for it in headers
            )
        ]
        return min(firsts, default=self.end_offset)

    def shown(self, start: int, end: int, *, committed: bool) -> list[int]:
        """Offsets of the records in a range that a consumer shows."""
        return [
            offset
            for offset, transaction in self.records
            if start <= offset < end
            and not (committed and transaction and transaction.outcome is not Marker.COMMIT)
        ]

    def fetched(self, start: int, end: int) -> tuple[bytes, list[AbortedTransaction]]:
        """What a broker answers to a Fetch under read_committed: whole batches, and the aborted transactions."""
        records = b"".join(
            it
            for it in self.batches
            if parse_header(it).last_offset >= start and parse_header(it).base_offset < end
        )
        aborted = [
            AbortedTransaction(it.producer_id, it.first_offset)
            for it in self.transactions
            if it.outcome is Marker.ABORT and it.last_offset >= start and it.first_offset < end
        ]
        return records, aborted

    def stored(self, stream_id: int, start: int, end: int) -> list[StreamRecordBatch]:
        """The batches as a broker stores them; gaps belong to the batch behind them."""
        found, position = [], 0
        for it in self.batches:
            next_offset = parse_header(it).next_offset
            if start <= position < end:
                count = next_offset - position
                found.append(StreamRecordBatch(stream_id, 1, position, count, memoryview(it)))
            position = next_offset
        return found

    def bounds(self) -> list[int]:
        """Offsets at which the log can be divided."""
        return [0, *(parse_header(it).next_offset for it in self.batches)]


def is_over(transaction: Transaction) -> bool:
    return transaction.outcome is not None


def control_batch(offset: int, producer_id: int, marker: Marker) -> bytes:
    record = Record(offset, START_MS, struct.pack(">hh", 0, marker), struct.pack(">hi", 0, 0))
    options = BatchOptions(
        producer_id=producer_id, producer_epoch=0, is_transactional=True, is_control=True
    )
    return bytes(encode_batch([record], options))


def log_of(steps: Sequence[Step]) -> TransactionalLog:
    log = TransactionalLog()
    for it in steps:
        log.append(it)
    return log


PRODUCERS = st.sampled_from([-1, 1, 2, 3, IDEMPOTENT])
DATA = st.builds(
    Step,
    PRODUCERS,
    st.none(),
    st.integers(1, 5),
    st.sampled_from([0, 0, 0, 3]),
    st.sampled_from([0, 0, 1, 5]),
    st.sampled_from(Compression),
)
MARKERS = st.builds(
    Step,
    st.sampled_from([1, 2, 3]),
    st.sampled_from(Marker),
    st.just(1),
    st.sampled_from([0, 0, 2]),
    st.just(0),
    st.just(Compression.NONE),
)
LOGS = st.lists(DATA | DATA | MARKERS, min_size=1, max_size=25).map(log_of)
