"""AlterConfigs (API key 33), versions 0 to 2.

Behaviour:
  * Replaces all configs that were set on a topic, on a broker or on all brokers (the empty name): what the request does
    not name goes back to its default. One change of the metadata, as IncrementalAlterConfigs makes it, so nothing that
    is set at the same time is left over.
  * A config without a value is INVALID_REQUEST, and so is one that is named twice.
  * Loggers cannot be replaced: INVALID_REQUEST.
Deviations from Apache Kafka:
  * Those of IncrementalAlterConfigs.
  * Configs of a topic that does not exist are UNKNOWN_TOPIC_OR_PARTITION; Kafka keeps them.
  * A resource that is named twice is answered with INVALID_REQUEST; Kafka never answers.
  * Kafka refuses to take `min.insync.replicas` away from all brokers while its eligible leader replicas are enabled.
Version notes:
  * 2: flexible.
Source: AlterConfigsRequest.json, AlterConfigsResponse.json; KIP-133; `ConfigurationControlManager.legacyAlterConfigs`.
"""

from typing import Final

from headrace.broker.api.altered_configs import (
    BROKER,
    BROKER_LOGGER,
    MAX_CONFIGS,
    REPEATED,
    TOO_MANY,
    TOPIC,
    AlteredConfigs,
    repeated,
)
from headrace.broker.network.request_context import RequestContext
from headrace.config.dynamic_keys import DRAIN_KEY, DYNAMIC_KEYS
from headrace.config.topic_keys import TOPIC_CONFIGS
from headrace.metadata.follower.client import ConfigOp, ConfigOperation, MetadataClient
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import AlterConfigsRequest, AlterConfigsResponse

# What may be set on a resource of each type.
_ALL: Final = {TOPIC: frozenset(TOPIC_CONFIGS), BROKER: DYNAMIC_KEYS}

_Resource = AlterConfigsRequest.AlterConfigsResource
_Response = AlterConfigsResponse.AlterConfigsResourceResponse


class AlterConfigsHandler:
    """Replaces the configs of resources."""

    api_key = ApiKey.ALTER_CONFIGS
    requires = (
        Access(AclOperation.ALTER_CONFIGS, ResourceType.TOPIC),
        Access(AclOperation.ALTER_CONFIGS, ResourceType.GROUP),
        Access(AclOperation.ALTER_CONFIGS, ResourceType.CLUSTER, when="they are a broker's"),
    )

    def __init__(self, client: MetadataClient) -> None:
        self._client = client
        self._configs = AlteredConfigs(client)

    async def handle(
        self, context: RequestContext, request: AlterConfigsRequest
    ) -> AlterConfigsResponse:
        """Replace the configs of each resource, or answer with the reason."""
        named = ((it.resource_type, it.resource_name) for it in request.resources)
        again = await repeated(context, named)
        responses = []
        async for resource in context.turns.each(request.resources):
            outcome: tuple[ErrorCode, str | None] = REPEATED
            if (resource.resource_type, resource.resource_name) not in again:
                outcome = await self._replace(resource, validate_only=request.validate_only)
            responses.append(
                _Response(
                    error_code=int(outcome[0]),
                    error_message=outcome[1],
                    resource_type=resource.resource_type,
                    resource_name=resource.resource_name,
                )
            )
        return AlterConfigsResponse(responses=responses)

    async def _replace(
        self, resource: _Resource, *, validate_only: bool
    ) -> tuple[ErrorCode, str | None]:
        kind, name = resource.resource_type, resource.resource_name
        if kind == BROKER_LOGGER:
            return ErrorCode.INVALID_REQUEST, "levels of loggers are changed one by one"
        if len(resource.configs) > MAX_CONFIGS:
            return TOO_MANY
        if any(it.value is None for it in resource.configs):
            return ErrorCode.INVALID_REQUEST, "a config has no value"
        # A release that knows more keys may have set some of them. A drain is ended by its own command.
        present = self._client.image.configs.get((kind, name), ())
        named = {DRAIN_KEY, *(it.name for it in resource.configs)}
        rest = {*_ALL.get(kind, ()), *present} - named
        operations = [
            *(ConfigOperation(it.name, ConfigOp.SET, it.value) for it in resource.configs),
            *(ConfigOperation(key, ConfigOp.DELETE, None) for key in sorted(rest)),
        ]
        return await self._configs.alter(kind, name, operations, validate_only=validate_only)
