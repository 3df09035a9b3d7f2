"""Transactions of a partition: which rows are hidden under `read_committed`, and where what is decided ends. Pure.

A bucket has no index of transactions, so their outcome is read from the headers of batches. The rule is Kafka's: of
one producer id, everything in a transaction lies between two of its markers, so the first marker behind a batch says
whether its records count. What comes before a batch says nothing about it. So a scan may begin anywhere, as long as
it goes on until the transactions that it met have their markers. Where one has none, nothing behind its first batch
is read yet.

Source: ProducerStateManager.java and CompletedFetch.java of Apache Kafka 4.3.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from headrace.pipeline.source.errors import SourceError
from headrace.protocol.fetch.response import AbortedTransaction
from headrace.protocol.records.batch import BatchHeader, split_batches
from headrace.protocol.records.control import Marker, decode_marker

MAX_TRANSACTIONS: Final = 1_000_000  # of one partition, aborted or open, that are kept in memory


class AbortedRange(NamedTuple):
    """The transactional batches of a producer id in offsets `[first_offset, end_offset)` were aborted."""

    producer_id: int
    first_offset: int
    end_offset: int


class TransactionScan:
    """The transactions of a partition from an offset on, as far as its batches were added."""

    def __init__(self, start_offset: int) -> None:
        self.start_offset = start_offset
        self.end_offset = start_offset  # of what was added
        self._open: dict[int, int] = {}  # first offset by producer id
        self._aborted: deque[AbortedRange] = deque()  # in order of their markers

    def add(self, header: BatchHeader, batch: memoryview) -> None:
        """Add the next batch; one that was added before changes nothing.

        Raises:
            RecordsError: a marker is damaged.
            SourceError: there are more than MAX_TRANSACTIONS.
        """
        if header.next_offset <= self.end_offset:
            return
        self.end_offset = header.next_offset
        if not header.is_transactional:
            return
        if not header.is_control:
            self._open.setdefault(header.producer_id, header.base_offset)
        elif (marker := decode_marker(batch)) is not None:
            first = self._open.pop(header.producer_id, None)
            if marker is Marker.ABORT and first is not None:
                self._aborted.append(AbortedRange(header.producer_id, first, header.base_offset))
        if len(self._open) + len(self._aborted) > MAX_TRANSACTIONS:
            raise SourceError(
                f"more than {MAX_TRANSACTIONS} transactions of a partition, from offset {self.start_offset} to "
                f"{self.end_offset}, are aborted or open: read fewer offsets at once"
            )

    @property
    def last_stable_offset(self) -> int:
        """End of what is decided: the first offset of an open transaction, or the end of what was added."""
        return min(self._open.values(), default=self.end_offset)

    def aborted(self, start_offset: int, end_offset: int) -> tuple[AbortedRange, ...]:
        """The aborted transactions that have offsets in a range."""
        return tuple(
            it
            for it in self._aborted
            if it.first_offset < end_offset and it.end_offset > start_offset
        )

    def forget(self, offset: int) -> None:
        """Forget transactions that were aborted before an offset: the scan begins there now."""
        self.start_offset = max(self.start_offset, offset)
        while self._aborted and self._aborted[0].end_offset <= offset:
            self._aborted.popleft()


def hidden_by(aborted: Sequence[AbortedRange]) -> Callable[[BatchHeader], bool]:
    """Return the rule for `WantedRows.is_hidden`."""
    found: dict[int, list[AbortedRange]] = {}
    for it in sorted(aborted, key=lambda it: it.first_offset):
        found.setdefault(it.producer_id, []).append(it)

    def is_hidden(header: BatchHeader) -> bool:
        ranges = found.get(header.producer_id, ()) if header.is_transactional else ()
        place = bisect_right(ranges, header.base_offset, key=lambda it: it.first_offset)
        return place > 0 and header.base_offset < ranges[place - 1].end_offset

    return is_hidden


def visible_batches(
    records: memoryview, aborted: Sequence[AbortedTransaction]
) -> Iterator[tuple[BatchHeader, memoryview]]:
    """Yield the batches of a Fetch that are not aborted, as a consumer does; control batches are among them.

    Args:
        records: whole batches.
        aborted: the transactions that the broker sends with them; none under read_uncommitted.

    Raises:
        RecordsError: a batch is damaged.
    """
    coming = deque(sorted(aborted, key=lambda it: it.first_offset))
    producers: set[int] = set()
    for header, batch in split_batches(records):
        while coming and coming[0].first_offset <= header.last_offset:
            producers.add(coming.popleft().producer_id)
        if header.producer_id in producers and header.is_transactional:
            if not header.is_control:
                continue
            if decode_marker(batch) is Marker.ABORT:
                producers.discard(header.producer_id)
        yield header, batch
