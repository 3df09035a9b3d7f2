"""Topics and partitions in the metadata image, and the effect of their records. Pure."""

from uuid import UUID

import msgspec

from headrace.invariants import InvariantError, require
from headrace.metadata.records.topics import (
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from headrace.metadata.topic_names import collision_key
from headrace.persistent_map import PersistentMap


class PartitionImage(msgspec.Struct, frozen=True, gc=False):
    """One partition and the two streams that hold it."""

    partition: int
    leader: int
    leader_epoch: int  # grows with each new owner and with each registration of the owner
    data_stream_id: int
    meta_stream_id: int


class TopicImage(msgspec.Struct, frozen=True, gc=False):
    """One incarnation of a topic; partitions are numbered from 0 without gaps."""

    topic_id: UUID
    name: str
    partitions: tuple[PartitionImage, ...]
    replication_factor: int = 1  # that clients see; nothing is copied between brokers


Topics = PersistentMap[UUID, TopicImage]
TopicIds = PersistentMap[str, UUID]
# Names that contain `.` or `_`, by the key on which they would collide.
CollidingNames = PersistentMap[str, str]


class TopicsDelta:
    """Replays the records about topics on top of an image.

    A topic's partitions are collected in a list while a batch is replayed: thousands of them can
    arrive one by one.
    """

    def __init__(self, topics: Topics, ids: TopicIds, colliding: CollidingNames) -> None:
        self._topics = topics.mutate()
        self._ids = ids.mutate()
        self._colliding = colliding.mutate()
        self._changing: dict[UUID, list[PartitionImage]] = {}

    def add_topic(self, record: TopicRecord) -> None:
        """Add a topic without partitions."""
        require(record.topic_id not in self._topics, "topic ids are never reused")
        require(record.name not in self._ids, f"there is one topic {record.name}")
        topic = TopicImage(record.topic_id, record.name, (), record.replication_factor)
        self._topics[record.topic_id] = topic
        self._ids[record.name] = record.topic_id
        key = collision_key(record.name)
        if key is not None:
            require(key not in self._colliding, f"{record.name} collides with no other topic")
            self._colliding[key] = record.name

    def add_partition(self, record: PartitionRecord) -> None:
        """Add the next partition of a topic."""
        partitions = self._partitions(record.topic_id)
        require(record.partition == len(partitions), "partitions are numbered without gaps")
        partitions.append(
            PartitionImage(
                record.partition,
                record.leader,
                record.leader_epoch,
                record.data_stream_id,
                record.meta_stream_id,
            )
        )

    def change_partition(self, record: PartitionChangeRecord) -> None:
        """Give a partition its next leader epoch."""
        partitions = self._partitions(record.topic_id)
        old = partitions[record.partition]
        require(record.leader_epoch > old.leader_epoch, "leader epochs only grow")
        partitions[record.partition] = PartitionImage(
            old.partition,
            record.leader,
            record.leader_epoch,
            old.data_stream_id,
            old.meta_stream_id,
        )

    def remove(self, record: RemoveTopicRecord) -> str:
        """Remove a topic; return its name."""
        topic = self._topics.get(record.topic_id)
        if topic is None:
            raise InvariantError("a topic that is removed exists")
        self._changing.pop(record.topic_id, None)
        del self._topics[record.topic_id]
        del self._ids[topic.name]
        key = collision_key(topic.name)
        if key is not None:
            del self._colliding[key]
        return topic.name

    def finish(self) -> tuple[Topics, TopicIds, CollidingNames]:
        """Return the new maps; the old ones where nothing has changed."""
        for topic_id, partitions in self._changing.items():
            topic = self._topics[topic_id]
            self._topics[topic_id] = msgspec.structs.replace(topic, partitions=tuple(partitions))
        return self._topics.finish(), self._ids.finish(), self._colliding.finish()

    def _partitions(self, topic_id: UUID) -> list[PartitionImage]:
        partitions = self._changing.get(topic_id)
        if partitions is None:
            partitions = self._changing[topic_id] = list(self._topics[topic_id].partitions)
        return partitions
