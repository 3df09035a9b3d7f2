"""The open partitions of this broker, by name and by topic id, and the waiters for one to be opened.

An open partition may be served only while `is_lease_valid`: without a valid lease, another broker may be the leader,
and may have acknowledged records that this broker does not know. Callers check the lease after reading, before they
answer.
"""

import asyncio
from collections.abc import Callable, Iterable
from uuid import UUID

from headrace.broker.partition.arrivals import Arrivals
from headrace.broker.partition.damage import DamagedRange
from headrace.broker.partition.opening_queue import PartitionKey
from headrace.broker.partition.partition import Partition
from headrace.broker.partition.transit import PartitionsInTransit
from headrace.broker.partition.wakeups import Wakeups
from headrace.metadata.follower.client import MetadataClient
from headrace.metadata.image import PartitionImage, TopicImage
from headrace.protocol.errors import ErrorCode
from headrace.shrinking_dict import ShrinkingDict
from headrace.turns import Work, turns_of

Listener = Callable[[Partition], None]


class _Waiter:
    """Waits for partitions to be opened, or for an attempt to open each of them."""

    __slots__ = ("_has_all", "done", "keys", "until_attempted")

    def __init__(self, *, until_attempted: bool) -> None:
        self.keys: set[PartitionKey] = set()
        self.until_attempted = until_attempted
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._has_all = False

    def begin(self) -> None:
        """End as soon as all keys are settled; they have all been added."""
        self._has_all = True
        self.settle(set())

    def settle(self, keys: set[PartitionKey]) -> None:
        """Wait for these no longer."""
        self.keys -= keys
        if self._has_all and not self.keys and not self.done.done():
            self.done.set_result(None)


class PartitionRegistry:
    """All partitions of this node that can be served."""

    def __init__(self, *, client: MetadataClient, node_id: int) -> None:
        self._client = client
        self._node_id = node_id
        self.is_lease_valid = (
            client.is_lease_valid
        )  # whether this broker still leads the open partitions
        self.wakeups = Wakeups()  # of those who listen to the partitions
        self.transit = PartitionsInTransit()
        self.arrivals = Arrivals(client, node_id, lambda key: self.get(key) is not None)
        self._by_name: ShrinkingDict[tuple[str, int], Partition] = ShrinkingDict()
        self._by_id: dict[UUID, dict[int, Partition]] = {}
        self._count = 0
        self._waiters: dict[_Waiter, None] = {}
        self._listeners: list[tuple[Listener, Listener]] = []
        # Called with a partition that was asked for, and is led by this broker or another, but not open.
        self.on_missed: Callable[[PartitionKey], None] = lambda _key: None

    def __len__(self) -> int:
        return self._count

    def all(self) -> list[Partition]:
        """Every open partition."""
        return [partition for topic in self._by_id.values() for partition in topic.values()]

    def of_topic(self, topic_id: UUID) -> list[Partition]:
        """Every open partition of a topic."""
        return list(self._by_id.get(topic_id, {}).values())

    def damaged(self) -> list[tuple[Partition, list[DamagedRange]]]:
        """The open partitions with records that are known to be damaged, and which."""
        return [
            (it, found)
            for topic in self._by_id.values()
            for it in topic.values()
            if it.reads.damage.ranges and (found := it.reads.unreadable)
        ]

    def get(self, key: PartitionKey) -> Partition | None:
        """The open partition of a topic id and index."""
        topic = self._by_id.get(key[0])
        return None if topic is None else topic.get(key[1])

    def find(self, topic: str, index: int) -> Partition | ErrorCode:
        """The open partition, or why there is none."""
        partition = self._by_name.get((topic, index))
        if partition is not None:
            return partition
        image = self._client.image.topic(topic)
        if image is None or not 0 <= index < len(image.partitions):
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        self.on_missed((image.topic_id, index))
        return ErrorCode.NOT_LEADER_OR_FOLLOWER

    def find_by_id(self, topic_id: UUID | None, index: int) -> Partition | ErrorCode:
        """As `find`, for requests that name topics by id."""
        if topic_id is None:
            return ErrorCode.UNKNOWN_TOPIC_ID
        partition = self.get((topic_id, index))
        if partition is not None:
            return partition
        image = self._client.image.topic_by_id(topic_id)
        if image is None:
            return ErrorCode.UNKNOWN_TOPIC_ID
        if not 0 <= index < len(image.partitions):
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        self.on_missed((topic_id, index))
        return ErrorCode.NOT_LEADER_OR_FOLLOWER

    def known(self, topic: str, topic_id: UUID | None, index: int) -> PartitionKey | None:
        """The key of a partition that is open, or in the metadata; `topic` is its name where there is no id."""
        found = (
            self._by_name.get((topic, index)) if topic_id is None else self.get((topic_id, index))
        )
        if found is not None:
            return found.topic_id, index
        images = self._client.image
        image = images.topic(topic) if topic_id is None else images.topic_by_id(topic_id)
        if image is None or not 0 <= index < len(image.partitions):
            return None
        return image.topic_id, index

    def subscribe(self, *, opened: Listener, closed: Listener) -> None:
        """Call `opened` with each partition that is added from now on, `closed` with each that is removed."""
        self._listeners.append((opened, closed))

    def add(self, partition: Partition) -> None:
        """Serve a partition."""
        key = (partition.topic_id, partition.index)
        topic = self._by_id.setdefault(partition.topic_id, {})
        self._count += partition.index not in topic
        topic[partition.index] = partition
        self._by_name[partition.topic, partition.index] = partition
        for opened, _ in self._listeners:
            opened(partition)
        self.settle(key)

    def remove(self, partition: Partition) -> None:
        """Stop serving a partition, and wake its waiters; no effect if it is not served."""
        if self.get((partition.topic_id, partition.index)) is not partition:
            return
        topic = self._by_id[partition.topic_id]
        del topic[partition.index]
        if not topic:
            del self._by_id[partition.topic_id]
        self._count -= 1
        name = (partition.topic, partition.index)
        if self._by_name.get(name) is partition:  # else the topic was deleted and created again
            del self._by_name[name]
        partition.retire()
        self.transit.release((partition.topic_id, partition.index))
        for _, closed in self._listeners:
            closed(partition)

    def settle(self, key: PartitionKey, *, attempted_only: bool = False) -> None:
        """End the waits for this partition, or with `attempted_only` only the waits for an attempt."""
        self.transit.release(key)
        self.arrivals.news()
        for waiter in self._waiters:
            if attempted_only and not waiter.until_attempted:
                continue
            waiter.settle({key})

    def settle_topic(self, topic_id: UUID) -> None:
        """End the waits for all partitions of a topic that is gone."""
        self.transit.release_topic(topic_id)
        for waiter in self._waiters:
            waiter.settle({key for key in waiter.keys if key[0] == topic_id})

    def _is_missing(self, topic: TopicImage, partition: PartitionImage) -> bool:
        """Whether this broker leads a partition and does not serve it at its leader epoch."""
        if partition.leader != self._node_id:
            return False
        opened = self.get((topic.topic_id, partition.partition))
        return opened is None or opened.leader_epoch < partition.leader_epoch

    async def wait_open(self, names: Iterable[str], timeout_ms: int) -> bool:
        """Wait until every partition of these topics that this broker leads is open; False on time-out."""
        topics = [self._client.image.topic(name) for name in names]
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                await self._wait(topics, until_attempted=False)
        except TimeoutError:
            return False
        return True

    async def wait_attempted(self) -> None:
        """Wait until every partition that this broker leads is open, or could not be opened at the first attempt."""
        await self._wait(self._client.image.topics.values(), until_attempted=True)

    async def _wait(self, topics: Iterable[TopicImage | None], *, until_attempted: bool) -> None:
        waiter = _Waiter(until_attempted=until_attempted)
        self._waiters[waiter] = None
        turns = turns_of(Work.METADATA)
        try:
            for topic in topics:
                for each in topic.partitions if topic is not None else ():
                    if topic is not None and self._is_missing(topic, each):
                        key = (topic.topic_id, each.partition)
                        waiter.keys.add(key)
                        if not until_attempted:
                            self.on_missed(key)
                    await turns.pause()
            waiter.begin()
            await waiter.done
        finally:
            self._waiters.pop(waiter, None)
