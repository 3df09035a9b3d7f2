"""DeleteTopics (API key 20), versions 1 to 6.

Behaviour:
  * The topic is gone from metadata when it is answered; its objects are deleted from the bucket after their retention.
  * Internal topics may be deleted by nobody.
Version notes:
  * 4: flexible.  5: error messages.  6: by topic id.
Source: DeleteTopicsRequest.json, DeleteTopicsResponse.json; KIP-516.
"""

from typing import Any
from uuid import UUID

from broker.partition.internal_topics import INTERNAL_TOPICS
from broker.request_context import RequestContext
from metadata.client import MetadataClient
from metadata.image import TopicImage
from protocol.api_keys import ApiKey
from protocol.errors import ErrorCode
from protocol.messages import DeleteTopicsRequest, DeleteTopicsResponse

BY_ID_SINCE = 6

_Result = DeleteTopicsResponse.DeletableTopicResult


class DeleteTopicsHandler:
    """Deletes topics through the controller."""

    api_key = ApiKey.DELETE_TOPICS

    def __init__(self, client: MetadataClient) -> None:
        self._client = client

    async def handle(self, context: RequestContext, request: DeleteTopicsRequest) -> Any:
        """Delete each topic, or say why not."""
        if context.version >= BY_ID_SINCE:
            asked = [(topic.name, topic.topic_id) for topic in request.topics]
        else:
            asked = [(name, None) for name in request.topic_names]
        answers: list[Any] = []
        found: dict[UUID, TopicImage] = {}
        for name, topic_id in asked:
            topic, code = self._find(name, topic_id)
            if topic is None:
                answers.append(self._answer(name, topic_id, code, None))
            else:
                found[topic.topic_id] = topic
        if found:
            results = await self._client.delete_topics(list(found))
            for topic, (code, message) in zip(found.values(), results, strict=True):
                answers.append(self._answer(topic.name, topic.topic_id, code, message))
        return DeleteTopicsResponse(throttle_time_ms=0, responses=answers)

    def _find(self, name: str | None, topic_id: UUID | None) -> tuple[TopicImage | None, ErrorCode]:
        image = self._client.image
        if name is None:
            if topic_id is None:
                return None, ErrorCode.INVALID_REQUEST
            topic, missing = image.topic_by_id(topic_id), ErrorCode.UNKNOWN_TOPIC_ID
        else:
            if topic_id is not None:
                return None, ErrorCode.INVALID_REQUEST
            topic, missing = image.topic(name), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if topic is not None and topic.name in INTERNAL_TOPICS:
            return None, ErrorCode.INVALID_REQUEST
        return topic, missing

    def _answer(
        self, name: str | None, topic_id: UUID | None, code: ErrorCode, message: str | None
    ) -> Any:
        return _Result(name=name, topic_id=topic_id, error_code=int(code), error_message=message)
