"""IncrementalAlterConfigs (API key 44), versions 0 and 1.

Behaviour:
  * SET 0, DELETE 1, and for lists APPEND 2 and SUBTRACT 3, on topics, on a broker, and on all brokers (the empty name);
    validated as a whole, resource by resource.
  * Of brokers the settings of `headrace.config.dynamic_keys`. They are in force at once, on each broker as it learns of
    them. INVALID_REQUEST for others.
  * A DELETE of a broker's setting that is not set changes nothing, whatever its name: Kafka's reassignment tool takes
    back throttles in this way, whether it has set any or not.
  * Loggers of the broker that is asked: SET and DELETE of `headrace` and what is below it, until its process ends.
Deviations from Apache Kafka:
  * Kafka keeps a broker's setting that no broker knows; here it is refused, since it would do nothing.
  * Settings of any broker are changed by every broker; Kafka's takes those of its own.
  * Groups and client metrics have no configs here: INVALID_REQUEST.
Version notes:
  * 1: flexible.
Source: IncrementalAlterConfigsRequest.json, IncrementalAlterConfigsResponse.json; KIP-339, KIP-412.
"""

from headrace.broker.api.altered_configs import (
    MAX_CONFIGS,
    REPEATED,
    TOO_MANY,
    AlteredConfigs,
    repeated,
)
from headrace.broker.network.request_context import RequestContext
from headrace.metadata.follower.client import ConfigOperation, MetadataClient
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.messages import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

_Response = IncrementalAlterConfigsResponse.AlterConfigsResourceResponse


class IncrementalAlterConfigsHandler:
    """Changes some configs of resources."""

    api_key = ApiKey.INCREMENTAL_ALTER_CONFIGS
    requires = (
        Access(AclOperation.ALTER_CONFIGS, ResourceType.TOPIC),
        Access(AclOperation.ALTER_CONFIGS, ResourceType.GROUP),
        Access(AclOperation.ALTER_CONFIGS, ResourceType.CLUSTER, when="they are a broker's"),
    )

    def __init__(self, client: MetadataClient) -> None:
        self._configs = AlteredConfigs(client)

    async def handle(
        self, context: RequestContext, request: IncrementalAlterConfigsRequest
    ) -> IncrementalAlterConfigsResponse:
        """Alter each resource, or answer with the reason."""
        named = ((it.resource_type, it.resource_name) for it in request.resources)
        again = await repeated(context, named)
        responses = []
        async for resource in context.turns.each(request.resources):
            outcome = REPEATED
            if len(resource.configs) > MAX_CONFIGS:
                outcome = TOO_MANY
            elif (resource.resource_type, resource.resource_name) not in again:
                outcome = await self._configs.alter(
                    resource.resource_type,
                    resource.resource_name,
                    [
                        ConfigOperation(it.name, it.config_operation, it.value)
                        for it in resource.configs
                    ],
                    validate_only=request.validate_only,
                )
            responses.append(
                _Response(
                    error_code=int(outcome[0]),
                    error_message=outcome[1],
                    resource_type=resource.resource_type,
                    resource_name=resource.resource_name,
                )
            )
        return IncrementalAlterConfigsResponse(responses=responses)
