"""How much a waiting Fetch could be answered with: counts again only what has moved. Pure."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from headrace.broker.fetch.enough import Enough
from headrace.broker.fetch.session import FetchSession, Log, SessionPartition


class CountedBytes(NamedTuple):
    """What may be read of one partition."""

    end_offset: int  # of what was counted
    size_bytes: int  # that are available, see `Enough`
    log: Log | None  # in which it was counted; another one may have replaced it


# Counts from where an earlier count ended; None when the partition must be read to know.
Count = Callable[[SessionPartition, CountedBytes | None], CountedBytes | None]


class WaitingFetch:
    """What a Fetch waits for: so many bytes, or a partition that must be read."""

    __slots__ = ("_count", "_counted", "_enough", "_session", "available_bytes", "must_read")

    def __init__(self, session: FetchSession, enough: Enough, count: Count) -> None:
        self._session = session
        self._enough = enough
        self._count = count
        self._counted: dict[SessionPartition, CountedBytes] = {}
        self.available_bytes = 0
        self.must_read = False

    @property
    def has_enough(self) -> bool:
        """Whether what was counted is enough."""
        return self._enough.is_counted(self.available_bytes)

    def begin(self) -> None:
        """Continue from what a read has found, as of `add`; what moved meanwhile is counted next."""
        self._counted = {}
        self.available_bytes = 0
        self.must_read = False

    def add(self, counted: Iterable[tuple[SessionPartition, CountedBytes]]) -> None:
        """Add what was found of some partitions."""
        for target, count in counted:
            if count.size_bytes:
                self._counted[target] = count
                self.available_bytes += count.size_bytes

    def count(self, limit: int) -> bool:
        """Count at most `limit` partitions that have moved; return whether there are more of them."""
        moved = self._session.moved
        while moved and limit > 0:
            limit -= 1
            target = moved.pop()
            before = self._counted.get(target)
            found = self._count(target, before)
            if found is None:
                moved.add(target)
                self.must_read = True
                return False
            self.available_bytes += found.size_bytes - (before.size_bytes if before else 0)
            self._counted[target] = found
        return bool(moved)
