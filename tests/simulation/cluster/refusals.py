"""Judges who is refused where nothing is wrong but that partitions move. Pure.

A client is told to look for another leader only because the leader has changed since it learned of it, and once for
what it has learned: who asks for a partition on its way between two brokers waits instead.

Where the bucket is so slow that a partition is on its way for long, it may be refused without a change as well: once
for what it has learned, as a partition that has come may leave again before it is its turn, and after each wait that
is as long as the broker lets anybody wait.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final

from headrace.broker.partition.transit import MAX_WAIT_MS
from headrace.protocol.errors import ErrorCode
from tests.simulation.cluster.records import Place

_MOVED: Final = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_COORDINATOR})
# What a coordinator answers whose partition takes long to load.
_LOADS: Final = frozenset({ErrorCode.COORDINATOR_LOAD_IN_PROGRESS})


@dataclass(frozen=True, slots=True)
class Refused:
    """A request that was refused."""

    client: Hashable
    place: Place
    epoch: int  # of the leader, as the client has learned it
    took_s: float  # until the answer


class Refusals:
    """All of one run."""

    def __init__(self, newest_epoch: Callable[[Place], int], *, slow_bucket: bool) -> None:
        """Begin.

        Args:
            newest_epoch: the leader epoch of a partition now.
            slow_bucket: whether partitions may be on their way for long.
        """
        self._newest_epoch = newest_epoch
        self._slow_bucket = slow_bucket
        self._seen: set[tuple[Hashable, Place, int, bool]] = set()
        self.codes = (
            _MOVED | _LOADS if slow_bucket else _MOVED
        )  # that are judged; no others are needed

    def wrong(self, refused: Refused) -> str | None:
        """Return why a request need not have been refused."""
        newest = self._newest_epoch(refused.place)
        changed = newest != refused.epoch
        key = (refused.client, refused.place, refused.epoch, changed)
        again = key in self._seen
        self._seen.add(key)
        if self._slow_bucket and refused.took_s >= MAX_WAIT_MS / 1000:
            return None
        if not again and (changed or self._slow_bucket):
            return None
        return (
            f"{refused.place} has leader epoch {newest}, {refused.epoch} was learned"
            f"{', and refused before' if again else ''}; after {refused.took_s:.3f} s"
        )
