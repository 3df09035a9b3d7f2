"""Metadata (API key 3), versions 0 to 13.

Behaviour:
  * Brokers have the address of the listener that received the request; when nothing is advertised, the address
    that the client used. A partition whose leader has no such listener is LISTENER_NOT_FOUND.
  * A partition whose leader is starting, or whose epoch has ended, is LEADER_NOT_AVAILABLE with leader -1 and the
    leader epoch that it has; its only replica is offline, and still in sync.
  * Authorised operations, when asked for: all that a topic or a cluster has, since there is no authorizer.
  * A topic that is named twice is answered once. Topics come in any order.
  * A topic that does not exist and may be created (request flag and `auto.create.topics.enable`) is
    created, and the answer already shows it.
Deviations from Apache Kafka:
  * Kafka first answers UNKNOWN_TOPIC_OR_PARTITION for a topic that is being created; here the answer waits for it.
  * Replicas are as many as the replication factor says, and nothing is copied to them: the WAL and the bucket provide
    durability. The leader comes first, then brokers in the order of their ids; those that are active are in sync.
Version notes:
  * 1: null asks for all topics.  4: allow_auto_topic_creation.  6: LISTENER_NOT_FOUND, which was
    LEADER_NOT_AVAILABLE.  7: leader epoch.  8: authorised operations (KIP-430), of the cluster up to 10.
    9: flexible.  10: topic ids.  12: look-up by topic id.  13: top-level error.
Source: MetadataRequest.json, MetadataResponse.json; KIP-516, KIP-1102; `KRaftMetadataCache.getPartitionMetadata`.
"""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from headrace.broker.api.described_topics import DescribedTopics
from headrace.broker.cluster.cluster_view import ClusterView, SeenCluster
from headrace.broker.cluster.topic_creation import MAX_TOPICS, TopicCreation
from headrace.broker.network.request_context import Later, RequestContext
from headrace.protocol.acl import (
    CLUSTER_OPERATIONS,
    NO_OPERATIONS,
    TOPIC_OPERATIONS,
    Access,
    AclOperation,
    ResourceType,
)
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import EncodedElement, MetadataRequest, MetadataResponse

AUTO_CREATION_FLAG_SINCE = 4
LOOKUP_BY_ID_SINCE = 12
NAMES_AT_ONCE = 128  # created at once
MAX_SHORT: Final = 256  # partitions of a topic that is answered at once

_Topic = MetadataResponse.MetadataResponseTopic
_Asked = MetadataRequest.MetadataRequestTopic


class MetadataHandler:
    """Answers with brokers, topics and leaders of the newest image."""

    api_key = ApiKey.METADATA
    requires = (
        Access(AclOperation.DESCRIBE, ResourceType.TOPIC),
        Access(
            AclOperation.CREATE,
            ResourceType.TOPIC,
            when="it creates topics",
            instead=(Access(AclOperation.CREATE, ResourceType.CLUSTER),),
        ),
        Access(
            AclOperation.DESCRIBE,
            ResourceType.CLUSTER,
            when="it asks for the operations allowed on the cluster",
        ),
    )

    def __init__(self, cluster: ClusterView, creation: TopicCreation) -> None:
        self._cluster = cluster
        self._creation = creation
        self._described = DescribedTopics()

    def handle(
        self, context: RequestContext, request: MetadataRequest
    ) -> MetadataResponse | Later[MetadataResponse]:
        """Describe the topics asked for, or all."""
        return self._describe_known(context, request) or self._describe(context, request)

    def _describe_known(
        self, context: RequestContext, request: MetadataRequest
    ) -> MetadataResponse | None:
        """Describe one topic that was described before, as nearly all clients ask; else None."""
        if request.topics is None or len(request.topics) != 1:
            return None
        (asked,) = request.topics
        seen = self._cluster.seen_by(context.client)
        if asked.topic_id is not None:
            if context.version < LOOKUP_BY_ID_SINCE:
                return None
            topic = seen.image.topic_by_id(asked.topic_id)
        else:
            topic = seen.image.topic(asked.name or "")
        if topic is None or len(topic.partitions) > MAX_SHORT:
            return None
        operations = _topic_operations(request)
        described = self._described.known(context.version, seen, topic, operations)
        return None if described is None else self._response(request, seen, [described])

    async def _describe(
        self, context: RequestContext, request: MetadataRequest
    ) -> MetadataResponse:
        operations = _topic_operations(request)
        if request.topics is None or (context.version == 0 and not request.topics):
            seen = self._cluster.seen_by(context.client)
            topics: list[_Topic | EncodedElement] = [
                await self._described.describe(context, seen, topic, operations)
                async for topic in context.turns.each(seen.image.topics.values())
            ]
        else:
            await self._create_missing(context, request, request.topics)
            seen = self._cluster.seen_by(context.client)
            topics = await self._asked_for(context, request.topics, seen, operations)
        return self._response(request, seen, topics)

    def _response(
        self, request: MetadataRequest, seen: SeenCluster, topics: list[_Topic | EncodedElement]
    ) -> MetadataResponse:
        return MetadataResponse(
            brokers=[
                MetadataResponse.MetadataResponseBroker(
                    node_id=broker.node_id, host=broker.host, port=broker.port, rack=broker.rack
                )
                for broker in seen.brokers.values()
            ],
            cluster_id=seen.image.cluster_id,
            controller_id=self._cluster.controller_id(),
            topics=topics,
            error_code=0,
            cluster_authorized_operations=CLUSTER_OPERATIONS
            if request.include_cluster_authorized_operations
            else NO_OPERATIONS,
        )

    async def _asked_for(
        self,
        context: RequestContext,
        topics: Sequence[_Asked],
        seen: SeenCluster,
        operations: int,
    ) -> list[_Topic | EncodedElement]:
        turns = context.turns
        asked = {(it.name, it.topic_id): None async for it in turns.each(topics)}
        if self._is_invalid(context, topics):
            return [
                self._error(ErrorCode.INVALID_REQUEST, name or "", topic_id)
                async for name, topic_id in turns.each(asked)
            ]
        answers: list[_Topic | EncodedElement] = []
        async for name, topic_id in turns.each(asked):
            image = seen.image
            found = None
            if topic_id is not None:  # an id counts, whatever the name beside it
                found = image.topic_by_id(topic_id)
            elif name is not None:
                found = image.topic(name)
            if found is not None:
                answers.append(await self._described.describe(context, seen, found, operations))
            elif topic_id is not None or name is None:
                answers.append(self._error(ErrorCode.UNKNOWN_TOPIC_ID, None, topic_id))
            else:
                missing = self._error(self._creation.why_missing(name), name, topic_id)
                missing.topic_authorized_operations = operations
                answers.append(missing)
        return answers

    def _is_invalid(self, context: RequestContext, topics: Sequence[_Asked]) -> bool:
        return context.version < LOOKUP_BY_ID_SINCE and any(
            topic.name is None or topic.topic_id is not None for topic in topics
        )

    async def _create_missing(
        self, context: RequestContext, request: MetadataRequest, topics: Sequence[_Asked]
    ) -> None:
        may_create = context.version < AUTO_CREATION_FLAG_SINCE or request.allow_auto_topic_creation
        if not may_create or self._is_invalid(context, topics):
            return
        image = self._cluster.image
        missing = {
            topic.name: None
            async for topic in context.turns.each(topics)
            if topic.name is not None and topic.topic_id is None and image.topic(topic.name) is None
        }
        async for names in context.turns.batches(list(missing)[:MAX_TOPICS], NAMES_AT_ONCE):
            await self._creation.create_automatically(names)

    def _error(self, code: ErrorCode, name: str | None, topic_id: UUID | None) -> _Topic:
        return _Topic(
            error_code=int(code),
            name=name,
            topic_id=topic_id,
            is_internal=False,
            partitions=[],
        )


def _topic_operations(request: MetadataRequest) -> int:
    return TOPIC_OPERATIONS if request.include_topic_authorized_operations else NO_OPERATIONS
