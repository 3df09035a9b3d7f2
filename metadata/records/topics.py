"""Records about topics, partitions, configs. Fields are encoded in this order; only append."""

from collections.abc import Mapping
from typing import ClassVar
from uuid import UUID

from headrace.metadata.records.record import MetadataRecord


class TopicRecord(MetadataRecord, frozen=True, tag=20):
    """Creates a topic without partitions."""

    LATER_FIELDS: ClassVar[Mapping[str, int]] = {"replication_factor": 4}

    topic_id: UUID
    name: str
    replication_factor: int = 1  # what was asked for, and is shown; each partition has one owner


class PartitionRecord(MetadataRecord, frozen=True, tag=21):
    """Adds the next partition of a topic."""

    topic_id: UUID
    partition: int
    leader: int
    leader_epoch: int
    data_stream_id: int
    meta_stream_id: int


class PartitionChangeRecord(MetadataRecord, frozen=True, tag=22):
    """Gives a partition a leader at a higher epoch (the same broker again after its restart)."""

    topic_id: UUID
    partition: int
    leader: int
    leader_epoch: int


class RemoveTopicRecord(MetadataRecord, frozen=True, tag=23):
    """Removes a topic with its partitions and configs; its streams have separate records."""

    topic_id: UUID


class PartitionMoveRecord(MetadataRecord, frozen=True, tag=25):
    """A partition is to be led by another broker, once its leader has closed it. Replaces a move under way."""

    LEVEL = 3

    topic_id: UUID
    partition: int
    move_epoch: int  # index of this entry
    target: int  # node id


class PartitionMoveEndedRecord(MetadataRecord, frozen=True, tag=26):
    """Takes a move back. A move also ends with each change of its partition's leader epoch."""

    LEVEL = 3

    topic_id: UUID
    partition: int
    move_epoch: int


class ConfigRecord(MetadataRecord, frozen=True, tag=24):
    """Sets or removes one config override of a resource."""

    resource_type: int  # as in Kafka's protocol: 2 topic, 4 broker
    resource_name: str
    key: str
    value: str | None  # None: back to the default
