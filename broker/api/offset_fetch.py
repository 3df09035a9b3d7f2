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

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from headrace.broker.coordinator.group.requests import CommittedOffset, OffsetQuery
from headrace.broker.coordinator.ports import TopicDirectory
from headrace.broker.coordinator.runtime import GroupCoordinator
from headrace.broker.network.request_context import RequestContext
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode, KafkaError
from headrace.protocol.messages import MAX_ANSWER_BYTES, OffsetFetchRequest, OffsetFetchResponse

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


class _Topic(NamedTuple):
    """One topic of an answer; `name` is None for a topic id that is not known."""

    name: str | None
    topic_id: UUID | None
    partitions: list[dict[str, Any]]


class _Asked(NamedTuple):
    """One topic of a request; `name` is None for a topic id that is not known."""

    name: str | None
    topic_id: UUID | None
    indexes: dict[int, None]  # each once, in the order of the request


class OffsetFetchHandler:
    """Answers with the committed offsets of groups."""

    api_key = API

    def __init__(self, coordinator: GroupCoordinator, topics: TopicDirectory) -> None:
        self._coordinator = coordinator
        self._topics = topics

    async def handle(self, context: RequestContext, request: OffsetFetchRequest) -> Any:
        """Look up the offsets of one group, or of several."""
        if context.version < SEVERAL_GROUPS_SINCE:
            asked_of_one = [(request.group_id, request.topics)]
            error, topics = (await self._fetch(context, asked_of_one))[request.group_id]
            if context.version < GROUP_ERROR_SINCE and error is not ErrorCode.NONE:
                topics = _each_partition(request.topics, error)
            return OffsetFetchResponse(
                throttle_time_ms=0,
                error_code=int(error),
                topics=[
                    _TopicOfOne(
                        name=topic.name,
                        partitions=[
                            _PartitionOfOne(**fields)
                            async for fields in context.turns.each(topic.partitions)
                        ],
                    )
                    for topic in topics
                ],
            )
        asked = [
            (group.group_id, group.topics) async for group in context.turns.each(request.groups)
        ]
        results = await self._fetch(context, asked)
        return OffsetFetchResponse(
            throttle_time_ms=0,
            groups=[
                _Group(
                    group_id=group_id,
                    error_code=int(error),
                    topics=[
                        _Topics(
                            name=topic.name or "",
                            topic_id=topic.topic_id,
                            partitions=[
                                _Partitions(**fields)
                                async for fields in context.turns.each(topic.partitions)
                            ],
                        )
                        for topic in topics
                    ],
                )
                async for group_id, (error, topics) in context.turns.each(results.items())
            ],
        )

    async def _fetch(
        self, context: RequestContext, groups: Sequence[tuple[str, Any]]
    ) -> dict[str, tuple[ErrorCode, list[_Topic]]]:
        """Look up each group once."""
        answers: dict[str, tuple[ErrorCode, list[_Topic]]] = {}
        size_bytes = 0
        for group_id, asked in (await self._merged(context, groups)).items():
            offsets = await self._offsets(context, group_id, asked)
            if isinstance(offsets, KafkaError):
                answers[group_id] = offsets.code, []
                continue
            taken = 0
            async for committed in context.turns.each(offsets):
                taken += _size_bytes(committed)
            if size_bytes + taken > MAX_ANSWER_BYTES:
                answers[group_id] = ErrorCode.INVALID_REQUEST, []
                continue
            size_bytes += taken
            if asked is None:
                topics = await self._all_topics(context, offsets)
                answers[group_id] = ErrorCode.NONE, topics
            else:
                topics = await _asked_topics(context, asked, iter(offsets))
                answers[group_id] = ErrorCode.NONE, topics
        return answers

    async def _merged(
        self, context: RequestContext, groups: Sequence[tuple[str, Any]]
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
            for group_id, topics in merged.items()
        }

    async def _offsets(
        self, context: RequestContext, group_id: str, asked: list[_Asked] | None
    ) -> list[CommittedOffset] | KafkaError:
        """The offsets of one group, in the order in which they are asked for."""
        if asked is None:
            (found,) = await self._coordinator.fetch_offsets([(group_id, None)])
            if isinstance(found, KafkaError):
                return found
            return [committed async for committed in context.turns.each(found)]
        queries = await _queries(context, asked)
        offsets: list[CommittedOffset] = []
        # Without queries as well: the group's coordinator may be another broker.
        for start in range(0, max(1, len(queries)), QUERIES_AT_ONCE):
            some = queries[start : start + QUERIES_AT_ONCE]
            (found,) = await self._coordinator.fetch_offsets([(group_id, some)])
            if isinstance(found, KafkaError):
                return found
            offsets += found
            await context.turns.pause()
        return offsets

    def _identify(self, topic: Any, *, uses_ids: bool) -> _Asked:
        indexes = dict.fromkeys(topic.partition_indexes)
        if not uses_ids:
            return _Asked(topic.name, self._topics.id_of(topic.name), indexes)
        name = self._topics.name_of(topic.topic_id) if topic.topic_id else None
        return _Asked(name, topic.topic_id, indexes)

    async def _all_topics(
        self, context: RequestContext, offsets: list[CommittedOffset]
    ) -> list[_Topic]:
        uses_ids = context.version >= TOPIC_IDS_SINCE
        found: dict[str, _Topic] = {}
        async for committed in context.turns.each(offsets):
            topic = found.get(committed.topic)
            if topic is None:
                topic_id = self._topics.id_of(committed.topic)
                topic = found[committed.topic] = _Topic(committed.topic, topic_id, [])
            if committed.is_of(topic.topic_id):
                topic.partitions.append(_offset_fields(committed))
        return [
            topic
            for topic in found.values()
            if topic.partitions and (topic.topic_id is not None or not uses_ids)
        ]


async def _queries(context: RequestContext, topics: list[_Asked]) -> list[OffsetQuery]:
    return [
        OffsetQuery(topic.name, index, topic.topic_id)
        for topic in topics
        if topic.name is not None
        async for index in context.turns.each(topic.indexes)
    ]


async def _asked_topics(
    context: RequestContext, topics: list[_Asked], offsets: Iterator[CommittedOffset]
) -> list[_Topic]:
    """Give the answers in the order of the request, in which `offsets` are too."""
    return [
        _Topic(
            topic.name,
            topic.topic_id,
            [
                _error_fields(index, ErrorCode.UNKNOWN_TOPIC_ID)
                if topic.name is None
                else _offset_fields(next(offsets))
                async for index in context.turns.each(topic.indexes)
            ],
        )
        for topic in topics
    ]


def _size_bytes(committed: CommittedOffset) -> int:
    """What an offset takes in the answer, about."""
    return _OFFSET_BYTES + (len(committed.value.metadata) if committed.value is not None else 0)


def _each_partition(topics: Any, error: ErrorCode) -> list[_Topic]:
    return [
        _Topic(topic.name, None, [_error_fields(index, error) for index in topic.partition_indexes])
        for topic in topics
    ]


def _offset_fields(committed: CommittedOffset) -> dict[str, Any]:
    value = committed.value
    if value is None:
        return _error_fields(committed.partition, ErrorCode.NONE)
    return {
        "partition_index": committed.partition,
        "committed_offset": value.offset,
        "committed_leader_epoch": value.leader_epoch,
        "metadata": value.metadata,
        "error_code": int(ErrorCode.NONE),
    }


def _error_fields(partition: int, error: ErrorCode) -> dict[str, Any]:
    return {
        "partition_index": partition,
        "committed_offset": NO_OFFSET,
        "committed_leader_epoch": NO_LEADER_EPOCH,
        "metadata": "",
        "error_code": int(error),
    }
