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

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Final
from uuid import UUID

from headrace.broker.coordinator.group.coordinator import GroupCoordinator
from headrace.broker.coordinator.group.requests import CommitRequest, OffsetEntry
from headrace.broker.coordinator.group.topics import TopicDirectory
from headrace.broker.coordinator.runtime.batching import Outcome
from headrace.broker.network.request_context import Later, RequestContext, ShortAnswer
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode, KafkaError
from headrace.protocol.messages import OffsetCommitRequest, OffsetCommitResponse

API = ApiKey.OFFSET_COMMIT

GROUP_ID_NOT_FOUND_SINCE: Final = 9
TOPIC_IDS_SINCE: Final = 10
ENTRIES_AT_ONCE: Final = 500
MAX_SHORT: Final = 64  # partitions that are looked up at once

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

    def handle(
        self, context: RequestContext, request: OffsetCommitRequest
    ) -> OffsetCommitResponse | ShortAnswer | Later[OffsetCommitResponse]:
        """Commit the offsets of partitions that exist."""
        if not _is_short(request):
            return self._commit_many(context, request)
        asked = _Asked()
        uses_ids = context.version >= TOPIC_IDS_SINCE
        for topic in request.topics:
            name, topic_id = self._identify(topic, uses_ids=uses_ids)
            self._add(asked.begin(topic), asked, name, topic_id, topic.partitions)
        if not asked.entries:
            return OffsetCommitResponse(topics=asked.topics)
        commit = _to_commit(context, request, asked.entries)
        try:
            submitted = self._coordinator.commit(commit)
        except KafkaError as error:
            asked.settle([error.code] * len(asked.entries))
            return OffsetCommitResponse(topics=asked.topics)
        if submitted is None:
            return _answer(asked, self._coordinator.commit_offsets(commit))
        errors, durable = submitted
        if durable is None:  # none of them changes anything
            asked.settle(errors)
            return OffsetCommitResponse(topics=asked.topics)
        return ShortAnswer(durable, partial(_settled, asked, errors))

    async def _commit_many(
        self, context: RequestContext, request: OffsetCommitRequest
    ) -> OffsetCommitResponse:
        asked = _Asked()
        uses_ids = context.version >= TOPIC_IDS_SINCE
        async for topic in context.turns.each(request.topics):
            name, topic_id = self._identify(topic, uses_ids=uses_ids)
            answers = asked.begin(topic)
            async for some in context.turns.batches(topic.partitions, MAX_SHORT):
                self._add(answers, asked, name, topic_id, some)
        async for entries in context.turns.batches(asked.entries, ENTRIES_AT_ONCE):
            commit = _to_commit(context, request, entries)
            try:
                asked.settle(await self._coordinator.commit_offsets(commit))
            except KafkaError as error:
                asked.settle([error.code] * len(entries))
        return OffsetCommitResponse(topics=asked.topics)

    def _add(
        self,
        answers: list[_Partition],
        asked: "_Asked",
        name: str | None,
        topic_id: UUID | None,
        partitions: Sequence[_AskedPartition],
    ) -> None:
        """Add partitions to the answers of their topic, and to what is committed if they exist."""
        for partition in partitions:
            answer = _Partition(partition_index=partition.partition_index, error_code=0)
            answers.append(answer)
            if name is None:
                answer.error_code = int(ErrorCode.UNKNOWN_TOPIC_ID)
            elif not self._topics.partition_exists(name, partition.partition_index):
                answer.error_code = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            else:
                asked.entries.append(_to_entry(name, topic_id, partition))
                asked.known.append(answer)

    def _identify(self, topic: _AskedTopic, *, uses_ids: bool) -> tuple[str | None, UUID | None]:
        """Give a topic's name, None when its id is not known, and its id."""
        if not uses_ids:
            return topic.name, self._topics.id_of(topic.name)
        name = self._topics.name_of(topic.topic_id) if topic.topic_id else None
        return name, topic.topic_id


class _Asked:
    """What a request commits, and its answer."""

    __slots__ = ("entries", "known", "settled", "topics")

    def __init__(self) -> None:
        self.topics: list[_Topic] = []
        self.entries: list[OffsetEntry] = []  # of partitions that exist
        self.known: list[_Partition] = []  # their answers, in the same order
        self.settled = 0

    def begin(self, topic: _AskedTopic) -> list[_Partition]:
        """Begin the answer of a topic; give that of its partitions, which is empty yet."""
        answers: list[_Partition] = []
        self.topics.append(_Topic(name=topic.name, topic_id=topic.topic_id, partitions=answers))
        return answers

    def settle(self, errors: Sequence[ErrorCode]) -> None:
        """Answer the next entries."""
        for error in errors:
            self.known[self.settled].error_code = int(error)
            self.settled += 1


def _settled(
    asked: _Asked, errors: Sequence[ErrorCode], durable: asyncio.Future[Outcome]
) -> OffsetCommitResponse:
    failure = durable.result()
    asked.settle(errors if failure is None else [failure.code] * len(errors))
    return OffsetCommitResponse(topics=asked.topics)


async def _answer(asked: _Asked, outcome: Later[list[ErrorCode]]) -> OffsetCommitResponse:
    try:
        asked.settle(await outcome)
    except KafkaError as error:
        asked.settle([error.code] * len(asked.entries))
    return OffsetCommitResponse(topics=asked.topics)


def _is_short(request: OffsetCommitRequest) -> bool:
    topics = request.topics
    return len(topics) <= MAX_SHORT and sum([len(it.partitions) for it in topics]) <= MAX_SHORT


def _to_commit(
    context: RequestContext, request: OffsetCommitRequest, entries: Sequence[OffsetEntry]
) -> CommitRequest:
    return CommitRequest(
        group_id=request.group_id,
        entries=entries,
        member_id=request.member_id,
        generation=request.generation_id_or_member_epoch,
        group_instance_id=request.group_instance_id,
        retention_time_ms=request.retention_time_ms,
        knows_group_id_not_found=context.version >= GROUP_ID_NOT_FOUND_SINCE,
    )


def _to_entry(topic: str, topic_id: UUID | None, partition: _AskedPartition) -> OffsetEntry:
    return OffsetEntry(
        topic,
        partition.partition_index,
        partition.committed_offset,
        partition.committed_leader_epoch,
        partition.committed_metadata or "",
        topic_id,
    )
