"""ListConfigResources (API key 74), versions 0 and 1.

Behaviour:
  * Topics, brokers, and brokers as holders of loggers; of all of them when no type is asked for.
  * Client metrics (the only type of version 0) and groups have no configs here, so there are none.
  * A type that does not exist is UNSUPPORTED_VERSION.
Version notes:
  * 0: ListClientMetricsResources (KIP-714).  1: types (KIP-1142).
Source: ListConfigResourcesRequest.json, ListConfigResourcesResponse.json; `KafkaApis.handleListConfigResources`.
"""

from typing import Final

from headrace.broker.cluster.cluster_view import ClusterView
from headrace.broker.network.request_context import RequestContext
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import (
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
    MadeWhenEncoded,
)

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
TYPES: Final = (TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP)
TYPES_SINCE: Final = 1  # version of the request

_Resource = ListConfigResourcesResponse.ConfigResource


class ListConfigResourcesHandler:
    """Lists what has configs."""

    api_key = ApiKey.LIST_CONFIG_RESOURCES
    requires = (Access(AclOperation.DESCRIBE_CONFIGS, ResourceType.CLUSTER),)

    def __init__(self, cluster: ClusterView) -> None:
        self._cluster = cluster

    async def handle(
        self, context: RequestContext, request: ListConfigResourcesRequest
    ) -> ListConfigResourcesResponse:
        """List them from the newest metadata."""
        types = {CLIENT_METRICS}
        if context.version >= TYPES_SINCE:
            types = set(request.resource_types or TYPES)
        if not types.issubset(TYPES):
            return ListConfigResourcesResponse(error_code=int(ErrorCode.UNSUPPORTED_VERSION))
        image = self._cluster.image
        found: list[tuple[str, int]] = []
        brokers = [str(it.node_id) for it in image.brokers.values() if not it.fenced]
        for kind in types.intersection((BROKER, BROKER_LOGGER)):
            found += ((it, kind) for it in brokers)
        if TOPIC in types:
            found += [(it, TOPIC) async for it in context.turns.each(image.topic_ids)]
        return ListConfigResourcesResponse(config_resources=MadeWhenEncoded(_resource, found))


def _resource(named: tuple[str, int]) -> _Resource:
    return _Resource(*named)
