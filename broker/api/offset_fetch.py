"""OffsetFetch (API key 9), versions 1 to 10.

Behaviour:
  * Without a committed offset, and for a group that does not exist: offset -1, leader epoch -1,
    metadata "" and NONE.
  * Topics null (2+): all partitions that the group has an offset for.
  * `require_stable` (7+, KIP-447) makes no difference: this version has no transactions that could
    have offsets pending.
  * An error of the group is the response's in versions 2 to 7, the group's from 8 on, each
    partition's in version 1.
  * A group that is named twice is answered once, with the partitions of both; so is a partition.
  * Groups that the answer has no room for (100 MB) are INVALID_REQUEST.
  * An offset that was committed for an earlier topic of the same name does not count.
  * Member id and epoch (9+) matter to KIP-848 groups only.
Deviations from Apache Kafka:
  * Kafka answers as often as the request names a group or partition, and bounds no answer.
Version notes:
  * 2: null topics, group error.  5: leader epoch.  6: flexible.  7: require_stable.  8: several
    groups (KIP-709).  9: member id and epoch. 10: topic ids instead of names; an unknown one gets
    UNKNOWN_TOPIC_ID, and a topic without an id is left out of "all".
Source: OffsetFetchRequest.json, OffsetFetchResponse.json; `KafkaApis.handleOffsetFetchRequest`;
`OffsetMetadataManager.fetchOffsets`.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from headrace.broker.coordinator.group.coordinator import GroupCoordinator
from headrace.broker.coordinator.group.records import OffsetCommitValue
from headrace.broker.coordinator.group.requests import CommittedOffset, OffsetQuery
from headrace.broker.coordinator.group.topics import TopicDirectory
from headrace.broker.network.request_context import RequestContext
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode, KafkaError
from headrace.protocol.messages import (
    MAX_ANSWER_BYTES,
    MadeWhenEncoded,
    OffsetFetchRequest,
    OffsetFetchResponse,
)

API = ApiKey.OFFSET_FETCH

GROUP_ERROR_SINCE: Final = 2
SEVERAL_GROUPS_SINCE: Final = 8
TOPIC_IDS_SINCE: Final = 10

QUERIES_AT_ONCE: Final = 500

NO_OFFSET: Final = -1
NO_LEADER_EPOCH: Final = -1
_OFFSET_BYTES: Final = 24  # without metadata

_Group = OffsetFetchResponse.OffsetFetchResponseGroup
_Topics = _Group.OffsetFetchResponseTopics
_Partitions = _Topics.OffsetFetchResponsePartitions
_TopicOfOne = OffsetFetchResponse.OffsetFetchResponseTopic
_PartitionOfOne = _TopicOfOne.OffsetFetchResponsePartition
_AskedOfOne = OffsetFetchRequest.OffsetFetchRequestTopic
_AskedTopic = _AskedOfOne | OffsetFetchRequest.OffsetFetchRequestGroup.OffsetFetchRequestTopics
_AskedTopics = Sequence[_AskedTopic] | None


_Found = (
    OffsetCommitValue | ErrorCode
)  # what an answer says of a partition; NONE: nothing is committed


class _Topic(NamedTuple):
    """One topic of an answer; `name` is None for a topic id that is not known."""

    name: str | None
    topic_id: UUID | None
    indexes: list[int]
    found: list[_Found]  # of each index


class _Asked(NamedTuple):
    """One topic of a request; `name` is None for a topic id that is not known."""

    name: str | None
    topic_id: UUID | None
    indexes: dict[int, None]  # each once, in the order of the request


class OffsetFetchHandler:
    """Answers with the committed offsets of groups."""

    api_key = API
    requires = (
        Access(AclOperation.DESCRIBE, ResourceType.GROUP),
        Access(AclOperation.DESCRIBE, ResourceType.TOPIC),
    )

    def __init__(self, coordinator: GroupCoordinator, topics: TopicDirectory) -> None:
        self._coordinator = coordinator
        self._topics = topics

    async def handle(
        self, context: RequestContext, request: OffsetFetchRequest
    ) -> OffsetFetchResponse:
        """Look up the offsets of one group, or of several."""
        if context.version < SEVERAL_GROUPS_SINCE:
            asked_of_one = [(request.group_id, request.topics)]
            error, topics = (await self._fetch(context, asked_of_one))[request.group_id]
            if context.version < GROUP_ERROR_SINCE and error is not ErrorCode.NONE:
                topics = await _each_partition(context, request.topics or (), error)
            return OffsetFetchResponse(
                error_code=int(error),
                topics=MadeWhenEncoded(_topic_of_one, topics),
            )
        asked = [
            (group.group_id, group.topics) async for group in context.turns.each(request.groups)
        ]
        results = await self._fetch(context, asked)
        return OffsetFetchResponse(
            groups=[
                _Group(
                    group_id=group_id,
                    error_code=int(error),
                    topics=MadeWhenEncoded(_topic_of_several, topics),
                )
                async for group_id, (error, topics) in context.turns.each(results.items())
            ],
        )

    async def _fetch(
        self, context: RequestContext, groups: Sequence[tuple[str, _AskedTopics]]
    ) -> dict[str, tuple[ErrorCode, list[_Topic]]]:
        """Look up each group once."""
        answers: dict[str, tuple[ErrorCode, list[_Topic]]] = {}
        left_bytes = MAX_ANSWER_BYTES
        for group_id, asked in (await self._merged(context, groups)).items():
            try:
                if asked is None:
                    topics, size_bytes = await self._all_topics(context, group_id)
                else:
                    topics, size_bytes = await self._asked_topics(context, group_id, asked)
            except KafkaError as error:
                answers[group_id] = error.code, []
                continue
            if size_bytes > left_bytes:
                answers[group_id] = ErrorCode.INVALID_REQUEST, []
                continue
            left_bytes -= size_bytes
            answers[group_id] = ErrorCode.NONE, topics
        return answers

    async def _merged(
        self, context: RequestContext, groups: Sequence[tuple[str, _AskedTopics]]
    ) -> dict[str, list[_Asked] | None]:
        """Each group once, each of its topics and partitions once; None where all are asked for."""
        uses_ids = context.version >= TOPIC_IDS_SINCE
        merged: dict[str, dict[tuple[str | None, UUID | None], _Asked] | None] = {}
        async for group_id, topics in context.turns.each(groups):
            found = merged.setdefault(group_id, {})
            if topics is None:
                merged[group_id] = None
            elif found is not None:
                async for topic in context.turns.each(topics):
                    identified = self._identify(topic, uses_ids=uses_ids)
                    first = found.setdefault((identified.name, identified.topic_id), identified)
                    first.indexes.update(identified.indexes)
        return {
            group_id: None if topics is None else list(topics.values())
            async for group_id, topics in context.turns.each(merged.items())
        }

    async def _offsets(
        self, group_id: str, queries: list[OffsetQuery] | None
    ) -> Iterable[CommittedOffset]:
        (found,) = await self._coordinator.fetch_offsets([(group_id, queries)])
        if isinstance(found, KafkaError):
            raise found
        return found

    def _identify(self, topic: _AskedTopic, *, uses_ids: bool) -> _Asked:
        indexes = dict.fromkeys(topic.partition_indexes)
        if not uses_ids or isinstance(topic, _AskedOfOne):
            return _Asked(topic.name, self._topics.id_of(topic.name), indexes)
        name = self._topics.name_of(topic.topic_id) if topic.topic_id else None
        return _Asked(name, topic.topic_id, indexes)

    async def _all_topics(self, context: RequestContext, group_id: str) -> tuple[list[_Topic], int]:
        """All offsets of a group, and the bytes that they take in the answer."""
        uses_ids = context.version >= TOPIC_IDS_SINCE
        found: dict[str, _Topic] = {}
        size_bytes = 0
        async for committed in context.turns.each(await self._offsets(group_id, None)):
            name, partition, value = committed
            topic = found.get(name)
            if topic is None:
                topic = found[name] = _Topic(name, self._topics.id_of(name), [], [])
            size_bytes += _size_bytes(value)
            if value is not None and committed.is_of(topic.topic_id):
                topic.indexes.append(partition)
                topic.found.append(value)
        topics = [
            topic
            async for topic in context.turns.each(found.values())
            if topic.indexes and (topic.topic_id is not None or not uses_ids)
        ]
        return topics, size_bytes

    async def _asked_topics(
        self, context: RequestContext, group_id: str, asked: list[_Asked]
    ) -> tuple[list[_Topic], int]:
        """The offsets that are asked for, in the order of the request, and their bytes in the answer."""
        topics: list[_Topic] = []
        queries: list[OffsetQuery] = []
        places: list[_Topic] = []  # of the topic of each query
        size_bytes = 0

        async def look_up() -> int:
            taken = 0
            offsets = await self._offsets(group_id, queries)
            for topic, committed in zip(places, offsets, strict=True):
                taken += _size_bytes(committed.value)
                topic.found.append(committed.value or ErrorCode.NONE)
            queries.clear()
            places.clear()
            await context.turns.pause()
            return taken

        async for topic in context.turns.each(asked):
            made = _Topic(topic.name, topic.topic_id, list(topic.indexes), [])
            topics.append(made)
            if topic.name is None:
                made.found.extend([ErrorCode.UNKNOWN_TOPIC_ID] * len(made.indexes))
                continue
            async for index in context.turns.each(made.indexes):
                queries.append(OffsetQuery(topic.name, index, topic.topic_id))
                places.append(made)
                if len(queries) == QUERIES_AT_ONCE:
                    size_bytes += await look_up()
        # Without queries as well: the group's coordinator may be another broker.
        return topics, size_bytes + await look_up()


def _size_bytes(value: OffsetCommitValue | None) -> int:
    """What an offset takes in the answer, about."""
    return _OFFSET_BYTES + (len(value.metadata) if value is not None else 0)


async def _each_partition(
    context: RequestContext, topics: Iterable[_AskedOfOne], error: ErrorCode
) -> list[_Topic]:
    return [
        _Topic(topic.name, None, topic.partition_indexes, [error] * len(topic.partition_indexes))
        async for topic in context.turns.each(topics)
    ]


def _topic_of_one(topic: _Topic) -> _TopicOfOne:
    partitions = MadeWhenEncoded(_partition_of_one, topic.indexes, topic.found)
    return _TopicOfOne(name=topic.name or "", partitions=partitions)


def _topic_of_several(topic: _Topic) -> _Topics:
    partitions = MadeWhenEncoded(_partition_of_several, topic.indexes, topic.found)
    return _Topics(name=topic.name or "", topic_id=topic.topic_id, partitions=partitions)


def _partition_of_one(partition: int, found: _Found) -> _PartitionOfOne:
    if isinstance(found, ErrorCode):
        return _PartitionOfOne(partition, NO_OFFSET, NO_LEADER_EPOCH, "", int(found))
    return _PartitionOfOne(partition, found.offset, found.leader_epoch, found.metadata)


def _partition_of_several(partition: int, found: _Found) -> _Partitions:
    if isinstance(found, ErrorCode):
        return _Partitions(partition, NO_OFFSET, NO_LEADER_EPOCH, "", int(found))
    return _Partitions(partition, found.offset, found.leader_epoch, found.metadata)
