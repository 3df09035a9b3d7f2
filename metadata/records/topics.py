"""Records about topics, partitions, configs. Fields are encoded in this order; only append."""

from uuid import UUID

import msgspec


class TopicRecord(msgspec.Struct, frozen=True, array_like=True, tag=20, gc=False):
    """Creates a topic without partitions."""

    topic_id: UUID
    name: str


class PartitionRecord(msgspec.Struct, frozen=True, array_like=True, tag=21, gc=False):
    """Adds the next partition of a topic."""

    topic_id: UUID
    partition: int
    leader: int
    leader_epoch: int
    data_stream_id: int
    meta_stream_id: int


class PartitionChangeRecord(msgspec.Struct, frozen=True, array_like=True, tag=22, gc=False):
    """Gives a partition a leader at a higher epoch (the same broker again after its restart)."""

    topic_id: UUID
    partition: int
    leader: int
    leader_epoch: int


class RemoveTopicRecord(msgspec.Struct, frozen=True, array_like=True, tag=23, gc=False):
    """Removes a topic with its partitions and configs; its streams have separate records."""

    topic_id: UUID


class PartitionMoveRecord(msgspec.Struct, frozen=True, array_like=True, tag=25, gc=False):
    """A partition is to be led by another broker, once its leader has closed it. Replaces a move under way."""

    topic_id: UUID
    partition: int
    move_epoch: int  # index of this entry
    target: int  # node id


class PartitionMoveEndedRecord(msgspec.Struct, frozen=True, array_like=True, tag=26, gc=False):
    """Takes a move back. A move also ends with each change of its partition's leader epoch."""

    topic_id: UUID
    partition: int
    move_epoch: int


class ConfigRecord(msgspec.Struct, frozen=True, array_like=True, tag=24, gc=False):
    """Sets or removes one config override of a resource."""

    resource_type: int  # as in Kafka's protocol: 2 topic, 4 broker
    resource_name: str
    key: str
    value: str | None  # None: back to the default
