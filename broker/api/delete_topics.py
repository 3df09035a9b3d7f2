"""DeleteTopics (API key 20), versions 1 to 6.

Behaviour:
  * The topic is removed from the metadata when the request is answered; its objects are deleted from the bucket
    after their retention.
  * A topic that is named twice is not deleted, and answered once, with INVALID_REQUEST.
  * Internal topics cannot be deleted.
Version notes:
  * 4: flexible.  5: error messages.  6: by topic id.
Source: DeleteTopicsRequest.json, DeleteTopicsResponse.json; KIP-516.
"""

from collections import Counter
from uuid import UUID

from headrace.broker.network.request_context import RequestContext
from headrace.broker.partition.internal_topics import INTERNAL_TOPICS
from headrace.metadata.follower.client import MetadataClient
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import DeleteTopicsRequest, DeleteTopicsResponse

BY_ID_SINCE = 6
TOPICS_AT_ONCE = 100  # in one change of the metadata
_REPEATED = "the request names this topic more than once"

_Result = DeleteTopicsResponse.DeletableTopicResult


class DeleteTopicsHandler:
    """Deletes topics through the controller."""

    api_key = ApiKey.DELETE_TOPICS
    requires = (
        Access(
            AclOperation.DESCRIBE,
            ResourceType.TOPIC,
            when="it is named by its id",
            instead=(Access(AclOperation.DELETE, ResourceType.CLUSTER),),
        ),
        Access(
            AclOperation.DELETE,
            ResourceType.TOPIC,
            instead=(Access(AclOperation.DELETE, ResourceType.CLUSTER),),
        ),
    )

    def __init__(self, client: MetadataClient) -> None:
        self._client = client

    async def handle(
        self, context: RequestContext, request: DeleteTopicsRequest
    ) -> DeleteTopicsResponse:
        """Delete each topic, or answer with the reason."""
        counts: Counter[tuple[str | None, UUID | None]] = Counter()
        if context.version >= BY_ID_SINCE:
            async for topic in context.turns.each(request.topics):
                counts[topic.name, topic.topic_id] += 1
        else:
            async for topic_name in context.turns.each(request.topic_names):
                counts[topic_name, None] += 1
        answers: list[_Result] = []
        wanted: list[str | UUID] = []
        async for name, topic_id in context.turns.each(counts):
            if (name is None) == (topic_id is None) or self._is_internal(name, topic_id):
                answers.append(self._answer(name, topic_id, ErrorCode.INVALID_REQUEST, None))
            elif counts[name, topic_id] > 1:
                answers.append(self._answer(name, topic_id, ErrorCode.INVALID_REQUEST, _REPEATED))
            else:
                asked = topic_id if name is None else name
                assert asked is not None
                wanted.append(asked)
        # The controller looks them up: this broker's metadata may not include a new topic or a deletion yet.
        async for some in context.turns.batches(wanted, TOPICS_AT_ONCE):
            answers += [self._answer(*it) for it in await self._client.delete_topics(some)]
        return DeleteTopicsResponse(responses=answers)

    def _is_internal(self, name: str | None, topic_id: UUID | None) -> bool:
        if topic_id is not None:
            topic = self._client.image.topic_by_id(topic_id)
            name = topic.name if topic is not None else None
        return name in INTERNAL_TOPICS

    def _answer(
        self, name: str | None, topic_id: UUID | None, code: ErrorCode, message: str | None
    ) -> _Result:
        return _Result(name=name, topic_id=topic_id, error_code=int(code), error_message=message)
