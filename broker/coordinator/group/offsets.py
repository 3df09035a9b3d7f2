"""Committed offsets of a shard's groups, and which of them have expired. Pure.

Source: `OffsetMetadataManager`, `OffsetExpirationConditionImpl` of Apache Kafka; KIP-211
(retention), KIP-496 (topics of a live group that are no longer subscribed to).
"""

from collections.abc import Iterator

from headrace.broker.coordinator.group.classic.classic_group import ClassicGroup
from headrace.broker.coordinator.group.classic.states import GroupState
from headrace.broker.coordinator.group.records import (
    NO_TIMESTAMP,
    OffsetCommitKey,
    OffsetCommitValue,
    OffsetRecord,
    OffsetRun,
    estimated_offset_bytes,
)
from headrace.broker.coordinator.group.requests import CommittedOffset, OffsetQuery
from headrace.broker.coordinator.runtime.shard import DeletedTopic

TopicOffsets = dict[str, dict[int, OffsetCommitValue]]


class CommittedOffsets:
    """Offsets by group, topic and partition. `replay` is the only writer."""

    def __init__(self) -> None:
        self._groups: dict[str, TopicOffsets] = {}
        self.count = 0
        self.estimated_bytes = 0  # that they would take in a log

    def replay(self, record: OffsetRecord) -> None:
        """Store or remove one offset."""
        (group_id, topic, partition), value = record
        if value is not None:
            self.replay_run(OffsetRun(group_id, topic, {partition: value}))
            return
        topics = self._groups.get(group_id, {})
        partitions = topics.get(topic, {})
        if partition not in partitions:
            return
        self.count -= 1
        removed = partitions.pop(partition)
        self.estimated_bytes -= estimated_offset_bytes(group_id, topic) + len(removed.metadata)
        if not partitions:
            del topics[topic]
        if not topics:
            del self._groups[group_id]

    def replay_run(self, run: OffsetRun) -> None:
        """Store offsets of a group in a topic."""
        group_id, topic, values = run
        partitions = self._partitions(group_id, topic)
        known = len(partitions)
        for partition, value in values.items():
            old = partitions.get(partition)
            if value.metadata or (old is not None and old.metadata):
                self.estimated_bytes += len(value.metadata) - (len(old.metadata) if old else 0)
            partitions[partition] = value
        added = len(partitions) - known
        self.count += added
        self.estimated_bytes += added * estimated_offset_bytes(group_id, topic)

    def _partitions(self, group_id: str, topic: str) -> dict[int, OffsetCommitValue]:
        """Return the offsets of a group in a topic, to add one."""
        topics = self._groups.get(group_id)
        if topics is None:
            topics = self._groups[group_id] = {}
        partitions = topics.get(topic)
        if partitions is None:
            partitions = topics[topic] = {}
        return partitions

    def get(self, group_id: str, topic: str, partition: int) -> OffsetCommitValue | None:
        """Give a committed offset; None when there is none."""
        topics = self._groups.get(group_id)
        partitions = None if topics is None else topics.get(topic)
        return None if partitions is None else partitions.get(partition)

    def find(self, group_id: str, query: OffsetQuery) -> CommittedOffset:
        """Answer a query; an offset that was committed for an earlier topic of that name is not returned."""
        value = self.get(group_id, query.topic, query.partition)
        found = CommittedOffset(query.topic, query.partition, value)
        return found if found.is_of(query.topic_id) else found._replace(value=None)

    def find_all(self, group_id: str) -> Iterator[CommittedOffset]:
        """Answer for all offsets of a group as they are now, when it is asked for each.

        There may be one for each partition of the cluster: to copy them takes little, to make their answers long.
        """
        topics = {
            topic: dict(partitions) for topic, partitions in self._groups.get(group_id, {}).items()
        }
        return (
            CommittedOffset(topic, partition, value)
            for topic, partitions in topics.items()
            for partition, value in partitions.items()
        )

    def has(self, group_id: str) -> bool:
        """Whether a group has offsets."""
        return group_id in self._groups

    def of_group(self, group_id: str) -> Iterator[tuple[OffsetCommitKey, OffsetCommitValue]]:
        """Give all offsets of a group; it must not change meanwhile."""
        for topic, partitions in self._groups.get(group_id, {}).items():
            for partition, value in partitions.items():
                yield OffsetCommitKey(group_id, topic, partition), value

    def group_ids(self) -> list[str]:
        """Return the groups that have offsets."""
        return list(self._groups)

    def live_records(self, group_id: str) -> Iterator[OffsetRecord]:
        """Give each offset of a group as it is when it is asked for; it may change meanwhile."""
        for topic in list(self._groups.get(group_id, ())):
            for partition in list(self._groups.get(group_id, {}).get(topic, ())):
                value = self.get(group_id, topic, partition)
                if value is not None:
                    yield OffsetRecord(OffsetCommitKey(group_id, topic, partition), value)

    def of_topic(self, topic: DeletedTopic) -> Iterator[OffsetCommitKey]:
        """Give the keys of all offsets in a topic, including those without a known topic id."""
        return (
            OffsetCommitKey(group_id, topic.name, partition)
            for group_id, topics in self._groups.items()
            if topic.name in topics
            for partition, value in topics[topic.name].items()
            if value.topic_id in (None, topic.topic_id)
        )


def is_expired(record: OffsetRecord, group: ClassicGroup, wall_ms: int, retention_ms: int) -> bool:
    """Whether the retention of an offset is over.

    | group | counted from |
    |---|---|
    | simple: never had members | the commit |
    | Empty | when it became Empty (the commit, if a very old record does not hold that time) |
    | Stable, of consumers whose topics are known | the commit, for topics not subscribed to |
    | anything else | does not expire |

    A retention that the client sent with its commit (before v5) takes precedence.
    """
    value = record.value
    if value is None or group.is_subscribed_to(record.key.topic):
        return False
    since_empty = False
    if group.protocol_type is not None:
        if group.state is GroupState.EMPTY:
            since_empty = group.state_timestamp_ms != NO_TIMESTAMP
        elif group.state is not GroupState.STABLE or group.subscribed_topics is None:
            return False
    if value.expire_timestamp_ms != NO_TIMESTAMP:
        return wall_ms >= value.expire_timestamp_ms
    base_ms = group.state_timestamp_ms if since_empty else value.commit_timestamp_ms
    return wall_ms - base_ms >= retention_ms
