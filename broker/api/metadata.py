"""Metadata (API key 3), versions 0 to 13.

Behaviour:
  * Brokers have the address of the listener that received the request; when nothing is advertised, the address
    that the client used. A partition whose leader has no such listener is LISTENER_NOT_FOUND.
  * A topic that is named twice is answered once.
  * A topic that does not exist and may be created (request flag and `auto.create.topics.enable`) is
    created, and the answer already shows it.
Deviations from Apache Kafka:
  * Kafka first answers UNKNOWN_TOPIC_OR_PARTITION for a topic that is being created; here the answer waits for it.
  * Replicas and ISR are the leader alone: the WAL and the bucket provide durability.
Version notes:
  * 1: null asks for all topics.  4: allow_auto_topic_creation.  6: LISTENER_NOT_FOUND, which was
    LEADER_NOT_AVAILABLE.  7: leader epoch.  9: flexible.  10: topic ids.  12: look-up by topic id.
    13: top-level error.
Source: MetadataRequest.json, MetadataResponse.json; KIP-516, KIP-1102.
"""

from typing import Any
from uuid import UUID

from headrace.broker.cluster.cluster_view import ClusterView, SeenCluster
from headrace.broker.cluster.topic_creation import TopicCreation
from headrace.broker.network.request_context import RequestContext
from headrace.broker.partition.internal_topics import INTERNAL_TOPICS
from headrace.metadata.image import TopicImage
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import MetadataRequest, MetadataResponse

AUTO_CREATION_FLAG_SINCE = 4
LISTENER_NOT_FOUND_SINCE = 6
LOOKUP_BY_ID_SINCE = 12

_Topic = MetadataResponse.MetadataResponseTopic
_Partition = _Topic.MetadataResponsePartition


class MetadataHandler:
    """Answers with brokers, topics and leaders of the newest image."""

    api_key = ApiKey.METADATA

    def __init__(self, cluster: ClusterView, creation: TopicCreation) -> None:
        self._cluster = cluster
        self._creation = creation

    async def handle(self, context: RequestContext, request: MetadataRequest) -> Any:
        """Describe the topics asked for, or all."""
        if request.topics is None or (context.version == 0 and not request.topics):
            seen = self._cluster.seen_by(context)
            topics = [
                await self._describe(context, seen, seen.image.topics[topic_id])
                for _, topic_id in sorted(seen.image.topic_ids.items())
            ]
        else:
            await self._create_missing(context, request)
            seen = self._cluster.seen_by(context)
            topics = await self._asked_for(context, request, seen)
        return MetadataResponse(
            throttle_time_ms=0,
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
        )

    async def _asked_for(
        self, context: RequestContext, request: MetadataRequest, seen: SeenCluster
    ) -> list[Any]:
        asked = dict.fromkeys((topic.name, topic.topic_id) for topic in request.topics)
        if self._is_invalid(context, request):
            return [
                self._error(ErrorCode.INVALID_REQUEST, name or "", topic_id)
                for name, topic_id in asked
            ]
        answers = []
        async for name, topic_id in context.turns.each(asked):
            if name is None:
                found = seen.image.topic_by_id(topic_id)
                code = ErrorCode.UNKNOWN_TOPIC_ID
            else:
                found = seen.image.topic(name)
                code = self._creation.why_missing(name)
            if found is not None:
                answers.append(await self._describe(context, seen, found))
            else:
                answers.append(self._error(code, name, topic_id))
        return answers

    def _is_invalid(self, context: RequestContext, request: MetadataRequest) -> bool:
        return context.version < LOOKUP_BY_ID_SINCE and any(
            topic.name is None or topic.topic_id is not None for topic in request.topics
        )

    async def _create_missing(self, context: RequestContext, request: MetadataRequest) -> None:
        may_create = context.version < AUTO_CREATION_FLAG_SINCE or request.allow_auto_topic_creation
        if not may_create or self._is_invalid(context, request):
            return
        image = self._cluster.image
        names = {topic.name for topic in request.topics if topic.name is not None}
        missing = sorted(name for name in names if image.topic(name) is None)
        if missing:
            await self._creation.create_automatically(missing)

    async def _describe(self, context: RequestContext, seen: SeenCluster, topic: TopicImage) -> Any:
        without_listener = ErrorCode.LEADER_NOT_AVAILABLE
        if context.version >= LISTENER_NOT_FOUND_SINCE:
            without_listener = ErrorCode.LISTENER_NOT_FOUND
        return _Topic(
            error_code=0,
            name=topic.name,
            topic_id=topic.topic_id,
            is_internal=topic.name in INTERNAL_TOPICS,
            partitions=[
                _Partition(**seen.leadership(partition, without_listener=without_listener))
                async for partition in context.turns.each(topic.partitions)
            ],
        )

    def _error(self, code: ErrorCode, name: str | None, topic_id: UUID | None) -> Any:
        return _Topic(
            error_code=int(code),
            name=name,
            topic_id=topic_id,
            is_internal=False,
            partitions=[],
        )
