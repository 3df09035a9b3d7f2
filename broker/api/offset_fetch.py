"""OffsetFetch (API key 9), versions 1 to 10.

Behaviour:
  * Without a committed offset, and for a group that does not exist: offset -1, leader epoch -1,
    metadata "" and NONE.
  * Topics null (2+): all partitions that the group has an offset for.
  * `require_stable` (7+, KIP-447) makes no difference: this version has no transactions that could
    have offsets pending.
  * An error of the group is the response's in versions 2 to 7, the group's from 8 on, each
    partition's in version 1.
  * An offset that was committed for an earlier topic of the same name does not count.
  * Member id and epoch (9+) matter to KIP-848 groups only.
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
from headrace.protocol.messages import OffsetFetchRequest, OffsetFetchResponse

API = ApiKey.OFFSET_FETCH

GROUP_ERROR_SINCE: Final = 2
SEVERAL_GROUPS_SINCE: Final = 8
TOPIC_IDS_SINCE: Final = 10

NO_OFFSET: Final = -1
NO_LEADER_EPOCH: Final = -1

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
    indexes: list[int]


class OffsetFetchHandler:
    """Answers with the committed offsets of groups."""

    api_key = API

    def __init__(self, coordinator: GroupCoordinator, topics: TopicDirectory) -> None:
        self._coordinator = coordinator
        self._topics = topics

    async def handle(self, context: RequestContext, request: OffsetFetchRequest) -> Any:
        """Look up the offsets of one group, or of several."""
        if context.version < SEVERAL_GROUPS_SINCE:
            error, topics = (await self._fetch(context, [(request.group_id, request.topics)]))[0]
            if context.version < GROUP_ERROR_SINCE and error is not ErrorCode.NONE:
                topics = _each_partition(request.topics, error)
            return OffsetFetchResponse(
                throttle_time_ms=0,
                error_code=int(error),
                topics=[
                    _TopicOfOne(
                        name=topic.name,
                        partitions=[_PartitionOfOne(**fields) for fields in topic.partitions],
                    )
                    for topic in topics
                ],
            )
        asked = [(group.group_id, group.topics) for group in request.groups]
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
                            partitions=[_Partitions(**fields) for fields in topic.partitions],
                        )
                        for topic in topics
                    ],
                )
                for (group_id, _), (error, topics) in zip(asked, results, strict=True)
            ],
        )

    async def _fetch(
        self, context: RequestContext, groups: Sequence[tuple[str, Any]]
    ) -> list[tuple[ErrorCode, list[_Topic]]]:
        uses_ids = context.version >= TOPIC_IDS_SINCE
        asked = [
            (
                group_id,
                None
                if topics is None
                else [self._identify(topic, uses_ids=uses_ids) for topic in topics],
            )
            for group_id, topics in groups
        ]
        results = await self._coordinator.fetch_offsets(
            [(group_id, None if topics is None else _queries(topics)) for group_id, topics in asked]
        )
        answers: list[tuple[ErrorCode, list[_Topic]]] = []
        for (_, topics), result in zip(asked, results, strict=True):
            if isinstance(result, KafkaError):
                answers.append((result.code, []))
            elif topics is None:
                answers.append((ErrorCode.NONE, self._all_topics(result, uses_ids=uses_ids)))
            else:
                answers.append((ErrorCode.NONE, _asked_topics(topics, iter(result))))
        return answers

    def _identify(self, topic: Any, *, uses_ids: bool) -> _Asked:
        if not uses_ids:
            return _Asked(topic.name, self._topics.id_of(topic.name), topic.partition_indexes)
        name = self._topics.name_of(topic.topic_id) if topic.topic_id else None
        return _Asked(name, topic.topic_id, topic.partition_indexes)

    def _all_topics(self, offsets: list[CommittedOffset], *, uses_ids: bool) -> list[_Topic]:
        found: dict[str, _Topic] = {}
        for committed in offsets:
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


def _queries(topics: list[_Asked]) -> list[OffsetQuery]:
    return [
        OffsetQuery(topic.name, index, topic.topic_id)
        for topic in topics
        if topic.name is not None
        for index in topic.indexes
    ]


def _asked_topics(topics: list[_Asked], offsets: Iterator[CommittedOffset]) -> list[_Topic]:
    """Give the answers in the order of the request, in which `offsets` are too."""
    return [
        _Topic(
            topic.name,
            topic.topic_id,
            [
                _error_fields(index, ErrorCode.UNKNOWN_TOPIC_ID)
                if topic.name is None
                else _offset_fields(next(offsets))
                for index in topic.indexes
            ],
        )
        for topic in topics
    ]


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
