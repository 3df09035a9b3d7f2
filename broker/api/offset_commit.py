"""OffsetCommit (API key 8), versions 2 to 10.

Behaviour:
  * Answered when the offsets are durable. For which commits a group accepts see
    `headrace.broker.coordinator.group.classic.committing`.
  * Partitions that do not exist get UNKNOWN_TOPIC_OR_PARTITION (an unknown topic id:
    UNKNOWN_TOPIC_ID), the others are committed.
  * An error of the group is given to each partition.
Deviations from Apache Kafka:
  * Offsets of more than 500 partitions are written in parts, and each partition is answered by its part.
Version notes:
  * 2 to 4: retention time of the client's choice.  6: leader epoch.  7: instance id.  8: flexible.
    9: GROUP_ID_NOT_FOUND instead of ILLEGAL_GENERATION.  10: topic ids instead of names.
Source: OffsetCommitRequest.json, OffsetCommitResponse.json; `KafkaApis.handleOffsetCommitRequest`.
"""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from headrace.broker.coordinator.group.coordinator import GroupCoordinator
from headrace.broker.coordinator.group.requests import CommitRequest, OffsetEntry
from headrace.broker.coordinator.group.topics import TopicDirectory
from headrace.broker.network.request_context import RequestContext
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode, KafkaError
from headrace.protocol.messages import OffsetCommitRequest, OffsetCommitResponse

API = ApiKey.OFFSET_COMMIT

GROUP_ID_NOT_FOUND_SINCE: Final = 9
TOPIC_IDS_SINCE: Final = 10
ENTRIES_AT_ONCE: Final = 500

_Topic = OffsetCommitResponse.OffsetCommitResponseTopic
_Partition = _Topic.OffsetCommitResponsePartition
_AskedTopic = OffsetCommitRequest.OffsetCommitRequestTopic
_AskedPartition = _AskedTopic.OffsetCommitRequestPartition


class OffsetCommitHandler:
    """Stores the committed offsets of consumers."""

    api_key = API
    requires = (
        Access(AclOperation.READ, ResourceType.GROUP),
        Access(AclOperation.READ, ResourceType.TOPIC),
    )

    def __init__(self, coordinator: GroupCoordinator, topics: TopicDirectory) -> None:
        self._coordinator = coordinator
        self._topics = topics

    async def handle(
        self, context: RequestContext, request: OffsetCommitRequest
    ) -> OffsetCommitResponse:
        """Commit the offsets of partitions that exist."""
        uses_ids = context.version >= TOPIC_IDS_SINCE
        entries: list[OffsetEntry] = []
        known: list[_Partition] = []  # answers of partitions that exist, in the order of `entries`
        topics = []
        async for topic in context.turns.each(request.topics):
            name, topic_id = self._identify(topic, uses_ids=uses_ids)
            partitions = []
            async for partition in context.turns.each(topic.partitions):
                answer = _Partition(partition_index=partition.partition_index, error_code=0)
                partitions.append(answer)
                if name is None:
                    answer.error_code = int(ErrorCode.UNKNOWN_TOPIC_ID)
                elif not self._topics.partition_exists(name, partition.partition_index):
                    answer.error_code = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
                else:
                    entries.append(_to_entry(name, topic_id, partition))
                    known.append(answer)
            topics.append(_Topic(name=topic.name, topic_id=topic.topic_id, partitions=partitions))
        answers = iter(known)
        async for some in context.turns.batches(entries, ENTRIES_AT_ONCE):
            for error in await self._commit(context, request, some):
                next(answers).error_code = int(error)
        return OffsetCommitResponse(topics=topics)

    def _identify(self, topic: _AskedTopic, *, uses_ids: bool) -> tuple[str | None, UUID | None]:
        """Give a topic's name, None when its id is not known, and its id."""
        if not uses_ids:
            return topic.name, self._topics.id_of(topic.name)
        name = self._topics.name_of(topic.topic_id) if topic.topic_id else None
        return name, topic.topic_id

    async def _commit(
        self, context: RequestContext, request: OffsetCommitRequest, entries: Sequence[OffsetEntry]
    ) -> list[ErrorCode]:
        commit = CommitRequest(
            group_id=request.group_id,
            entries=entries,
            member_id=request.member_id,
            generation=request.generation_id_or_member_epoch,
            group_instance_id=request.group_instance_id,
            retention_time_ms=request.retention_time_ms,
            knows_group_id_not_found=context.version >= GROUP_ID_NOT_FOUND_SINCE,
        )
        try:
            return await self._coordinator.commit_offsets(commit)
        except KafkaError as error:
            return [error.code] * len(entries)


def _to_entry(topic: str, topic_id: UUID | None, partition: _AskedPartition) -> OffsetEntry:
    return OffsetEntry(
        topic,
        partition.partition_index,
        partition.committed_offset,
        partition.committed_leader_epoch,
        partition.committed_metadata or "",
        topic_id,
    )
