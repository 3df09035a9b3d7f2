"""Transactions of a partition: which are ongoing, which were aborted, and up to where all is decided. Pure.

A transaction begins with the first transactional batch of its producer and ends with the producer's next marker.
Consumers under read_committed see what lies before the first one that is ongoing, the *last stable offset*, and are
told which of those before it were aborted.

A marker counts once it is acknowledged: until then its transaction holds the last stable offset back. So this keeps
the ends that may not be acknowledged yet; a checkpoint need not, since it is used only up to an acknowledged end.

Source: ProducerStateManager.java, TransactionIndex.java and UnifiedLog.java of Apache Kafka 4.4.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Final, NamedTuple

from headrace.protocol.partition_checkpoint import AbortedEntry, OngoingTransaction
from headrace.protocol.records.control import Marker

# Ongoing or aborted, of one partition. At the bound no other one may begin until records of aborted ones are deleted:
# what is not known to be aborted would be shown.
MAX_TRANSACTIONS: Final = 50_000

_MARKER_OFFSET: Final = attrgetter("marker_offset")


class _Ended(NamedTuple):
    """A transaction whose marker may not be acknowledged yet."""

    marker_offset: int
    first_offset: int


class Transactions:
    """The transactions of one partition, of which at least one was seen."""

    __slots__ = ("_aborted", "_ended", "_ongoing")

    def __init__(
        self, ongoing: Iterable[OngoingTransaction] = (), aborted: Iterable[AbortedEntry] = ()
    ) -> None:
        # First offset by producer id. In their order: each begins behind those that are ongoing.
        self._ongoing: dict[int, int] = dict(ongoing)
        self._aborted: list[AbortedEntry] = list(aborted)  # by the offset of their marker
        # By both offsets: one that began before an earlier marker's transaction did stands for that as well.
        self._ended: deque[_Ended] = deque()

    @property
    def ongoing(self) -> Mapping[int, int]:
        """First offset of each transaction without a marker, by producer id."""
        return self._ongoing

    @property
    def listed(self) -> tuple[OngoingTransaction, ...]:
        """The ongoing ones by first offset."""
        return tuple(map(OngoingTransaction._make, self._ongoing.items()))

    @property
    def aborted(self) -> tuple[AbortedEntry, ...]:
        """Every transaction that was aborted and has records, by the offset of its marker."""
        return tuple(self._aborted)

    @property
    def is_full(self) -> bool:
        """Whether no other transaction may begin."""
        return len(self._ongoing) + len(self._aborted) >= MAX_TRANSACTIONS

    def begin(self, producer_id: int, offset: int) -> None:
        """Take in a transactional batch: it begins a transaction unless one is ongoing."""
        self._ongoing.setdefault(producer_id, offset)

    def end(self, producer_id: int, offset: int, marker: Marker) -> None:
        """Take in the marker at `offset`; without a transaction it decides nothing."""
        first_offset = self._ongoing.pop(producer_id, None)
        if first_offset is None:
            return
        if marker is Marker.ABORT:
            stable_offset = next(iter(self._ongoing.values()), offset + 1)
            self._aborted.append(AbortedEntry(producer_id, first_offset, offset, stable_offset))
        while self._ended and self._ended[-1].first_offset > first_offset:
            self._ended.pop()
        self._ended.append(_Ended(offset, first_offset))

    def acknowledged(self, high_watermark: int) -> None:
        """Forget the ends of which is known now that they last."""
        while self._ended and self._ended[0].marker_offset < high_watermark:
            self._ended.popleft()

    def last_stable_offset(self, high_watermark: int) -> int:
        """First offset of a transaction that is not known to have ended, or the high watermark, which never falls."""
        self.acknowledged(high_watermark)
        first = next(iter(self._ongoing.values()), high_watermark)
        if self._ended:
            first = min(first, self._ended[0].first_offset)
        return min(first, high_watermark)

    def aborted_between(self, start_offset: int, end_offset: int) -> list[AbortedEntry]:
        """The aborted transactions that have records in a range of offsets."""
        found = []
        position = bisect_left(self._aborted, start_offset, key=_MARKER_OFFSET)
        for index in range(position, len(self._aborted)):
            it = self._aborted[index]
            if it.first_offset < end_offset:
                found.append(it)
            if it.stable_offset >= end_offset:
                break  # all that ended later began behind it
        return found

    def trim(self, log_start_offset: int) -> None:
        """Forget aborted transactions whose records are deleted."""
        del self._aborted[: bisect_left(self._aborted, log_start_offset, key=_MARKER_OFFSET)]
