"""The partitions that wait to be opened, the most wanted first. Pure."""

from collections import OrderedDict
from uuid import UUID

from headrace.broker.partition.internal_topics import INTERNAL_TOPICS

PartitionKey = tuple[UUID, int]  # topic id and index


class OpeningQueue:
    """First those that a client has asked for, then internal topics, which groups wait for, then all others.

    Within each of these, in the order in which they came.
    """

    def __init__(self) -> None:
        # Ordered dicts: to take the first of a plain one goes over all that were taken before.
        self._asked: OrderedDict[PartitionKey, None] = OrderedDict()
        self._internal: OrderedDict[PartitionKey, None] = OrderedDict()
        self._others: OrderedDict[PartitionKey, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._asked) + len(self._internal) + len(self._others)

    def add(self, key: PartitionKey, topic: str) -> None:
        """Have a partition wait; it does not wait yet."""
        queue = self._internal if topic in INTERNAL_TOPICS else self._others
        queue[key] = None

    def ask(self, key: PartitionKey) -> None:
        """Move a partition to the front, behind those that were asked for before; no effect if it does not wait."""
        for queue in (self._internal, self._others):
            if key in queue:
                del queue[key]
                self._asked[key] = None

    def take(self) -> PartitionKey | None:
        """Remove and return the next one; None when none waits."""
        for queue in (self._asked, self._internal, self._others):
            if queue:
                return queue.popitem(last=False)[0]
        return None
