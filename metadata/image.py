"""All metadata at one index of its log, immutable. Pure.

Controllers and brokers hold the same image at the same index. Only `headrace.metadata.replay` makes the next
one. Maps that a batch has not changed are the same objects in both images, so `old.topics is
new.topics` means that no topic changed.
"""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from headrace.metadata.images.brokers import BrokerImage, Brokers, BrokerState
from headrace.metadata.images.configs import (
    BROKER_RESOURCE,
    NO_OVERRIDES,
    TOPIC_RESOURCE,
    Configs,
    Overrides,
)
from headrace.metadata.images.logs import LogImage, Logs
from headrace.metadata.images.moves import MoveImage, Moves
from headrace.metadata.images.objects import NO_OBJECTS, ObjectImage, ObjectsImage
from headrace.metadata.images.streams import ObjectRangeImage, StreamImage, Streams, object_index
from headrace.metadata.images.topics import (
    CollidingNames,
    PartitionImage,
    TopicIds,
    TopicImage,
    Topics,
)
from headrace.metadata.records.members import Member
from headrace.persistent_map import PersistentMap

__all__ = [
    "BrokerImage",
    "BrokerState",
    "LogImage",
    "Member",
    "MetadataImage",
    "MoveImage",
    "ObjectImage",
    "ObjectRangeImage",
    "PartitionImage",
    "StreamImage",
    "TopicImage",
]

NO_LEADER = -1


class MetadataImage(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The state after the records up to and including `index`."""

    cluster_id: str = ""
    index: int = 0  # of the last entry applied; the log starts at 1
    term: int = 0
    leader_id: int = NO_LEADER  # controller of this term
    members: tuple[Member, ...] = ()  # of the quorum, by node id
    brokers: Brokers = PersistentMap()
    topics: Topics = PersistentMap()  # by id
    topic_ids: TopicIds = PersistentMap()  # by name
    colliding_names: CollidingNames = PersistentMap()
    configs: Configs = PersistentMap()  # by (resource type, resource name)
    streams: Streams = PersistentMap()
    objects: ObjectsImage = NO_OBJECTS
    logs: Logs = PersistentMap()
    moves: Moves = PersistentMap()  # under way, by (topic id, partition)
    features: PersistentMap[str, int] = PersistentMap()
    next_stream_id: int = 0
    next_producer_id: int = 0

    def topic(self, name: str) -> TopicImage | None:
        """The topic with this name."""
        topic_id = self.topic_ids.get(name)
        return None if topic_id is None else self.topics[topic_id]

    def topic_by_id(self, topic_id: UUID) -> TopicImage | None:
        """The topic with this id."""
        return self.topics.get(topic_id)

    def topic_config(self, name: str) -> Overrides:
        """The overrides of a topic; not the effective configs."""
        return self.configs.get((TOPIC_RESOURCE, name), NO_OVERRIDES)

    def broker_config(self, node_id: int | str) -> Overrides:
        """Dynamic configs of one broker, or the default of all brokers (the empty name)."""
        return self.configs.get((BROKER_RESOURCE, str(node_id)), NO_OVERRIDES)

    def object_ranges(
        self, stream_id: int, start_offset: int, end_offset: int, limit: int
    ) -> Sequence[ObjectRangeImage]:
        """Objects that hold a part of `[start_offset, end_offset)`, in order, at most `limit`.

        Empty when no part of it is committed, or `start_offset` is below the stream's start.
        """
        stream = self.streams.get(stream_id)
        if stream is None or start_offset < stream.start_offset or limit <= 0:
            return ()
        first = object_index(stream, start_offset)
        last = first
        while (
            last < len(stream.objects)
            and last - first < limit
            and stream.objects[last].start_offset < end_offset
        ):
            last += 1
        return stream.objects[first:last]
