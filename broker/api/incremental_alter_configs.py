"""IncrementalAlterConfigs (API key 44), versions 0 and 1.

Behaviour:
  * SET 0, DELETE 1, and for lists APPEND 2 and SUBTRACT 3, on topics; validated as a whole, resource by resource.
  * headrace.drain of one broker is the only setting of brokers that is dynamic.
  * A DELETE of other broker configs changes nothing: Kafka's reassignment tool takes back throttles in this way,
    whether it has set any or not.
Deviations from Apache Kafka:
  * Other broker configs are static: setting them is refused with INVALID_REQUEST and a message that names the file.
Version notes:
  * 1: flexible.
Source: IncrementalAlterConfigsRequest.json, IncrementalAlterConfigsResponse.json; KIP-339.
"""

from collections import Counter

from headrace.broker.network.request_context import RequestContext
from headrace.config.dynamic_keys import DRAIN_KEY
from headrace.metadata.follower.client import ConfigOp, ConfigOperation, MetadataClient
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import MAX_MESSAGE_CHARACTERS, ErrorCode
from headrace.protocol.messages import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

TOPIC = 2
BROKER = 4
MAX_CONFIGS = 1_000  # of one resource; there are fewer keys

_Response = IncrementalAlterConfigsResponse.AlterConfigsResourceResponse


class IncrementalAlterConfigsHandler:
    """Changes topic configs through the controller."""

    api_key = ApiKey.INCREMENTAL_ALTER_CONFIGS
    requires = (
        Access(AclOperation.ALTER_CONFIGS, ResourceType.TOPIC),
        Access(AclOperation.ALTER_CONFIGS, ResourceType.GROUP),
        Access(AclOperation.ALTER_CONFIGS, ResourceType.CLUSTER, when="they are a broker's"),
    )

    def __init__(self, client: MetadataClient) -> None:
        self._client = client

    async def handle(
        self, context: RequestContext, request: IncrementalAlterConfigsRequest
    ) -> IncrementalAlterConfigsResponse:
        """Alter each resource, or answer with the reason."""
        repeated: Counter[tuple[int, str]] = Counter()
        async for resource in context.turns.each(request.resources):
            repeated[resource.resource_type, resource.resource_name] += 1
        responses = []
        async for resource in context.turns.each(request.resources):
            key = (resource.resource_type, resource.resource_name)
            message: str | None
            if repeated[key] > 1:
                code, message = (
                    ErrorCode.INVALID_REQUEST,
                    "the request names this resource more than once",
                )
            elif len(resource.configs) > MAX_CONFIGS:
                code = ErrorCode.INVALID_REQUEST
                message = f"more than {MAX_CONFIGS} configs of one resource"
            elif (
                resource.resource_type == BROKER
                and not _is_dynamic(resource)
                and all(it.config_operation == ConfigOp.DELETE for it in resource.configs)
            ):
                code, message = ErrorCode.NONE, None
            elif resource.resource_type != TOPIC and not _is_dynamic(resource):
                code = ErrorCode.INVALID_REQUEST
                message = (
                    f"only topic configs can be altered, and {DRAIN_KEY} of one broker; set other broker configs "
                    "in server.properties and restart"
                )
            else:
                code, message = await self._client.alter_configs(
                    resource.resource_type,
                    resource.resource_name,
                    [
                        ConfigOperation(config.name, config.config_operation, config.value)
                        for config in resource.configs
                    ],
                    validate_only=request.validate_only,
                )
            responses.append(
                _Response(
                    error_code=int(code),
                    error_message=message and message[:MAX_MESSAGE_CHARACTERS],
                    resource_type=resource.resource_type,
                    resource_name=resource.resource_name,
                )
            )
        return IncrementalAlterConfigsResponse(responses=responses)


def _is_dynamic(resource: IncrementalAlterConfigsRequest.AlterConfigsResource) -> bool:
    """Whether a broker's settings are named that can be changed while it runs, and no others."""
    return (
        resource.resource_type == BROKER
        and bool(resource.resource_name)
        and [it.name for it in resource.configs] == [DRAIN_KEY]
    )
