"""DescribeConfigs (API key 32), versions 1 to 4.

Behaviour:
  * Topics and brokers: every key with its value, where the value comes from, the chain of synonyms,
    type and documentation.
  * A broker resource must name this broker, or be empty for the cluster-wide defaults. Those of
    `headrace.config.dynamic_keys` are not read-only.
  * The loggers of this broker, with the levels in force.
  * A group, or a subscription to client metrics, has no configs, whether it exists or not.
  * A resource that is named twice is answered once, with the keys of both. Resources that the answer has no room for
    (100 MB) are INVALID_REQUEST.
Deviations from Apache Kafka:
  * Kafka answers a resource as often as the request names it, and bounds no answer.
  * A topic that does not exist is UNKNOWN_TOPIC_OR_PARTITION also while Kafka shows what was kept of it.
Version notes:
  * 1: synonyms and source.  3: type and documentation.  4: flexible.
Source: DescribeConfigsRequest.json, DescribeConfigsResponse.json; KIP-133, KIP-226, KIP-412, KIP-569.
"""

from collections.abc import Sequence
from typing import Final

from headrace.broker.network.request_context import RequestContext
from headrace.broker.telemetry import loggers
from headrace.config.definition import ConfigSource
from headrace.config.describe import (
    BrokerLayers,
    ConfigEntry,
    describe_broker,
    describe_broker_defaults,
    describe_topic,
)
from headrace.config.node import NodeConfig
from headrace.metadata.follower.client import MetadataClient
from headrace.metadata.topic_names import is_valid_topic_name
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import MAX_MESSAGE_CHARACTERS, ErrorCode, KafkaError
from headrace.protocol.messages import (
    MAX_ANSWER_BYTES,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
)

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
NO_TYPE = 0  # of a level

_Result = DescribeConfigsResponse.DescribeConfigsResult
_Entry = _Result.DescribeConfigsResourceResult
_Synonym = _Entry.DescribeConfigsSynonym


# In one answer: above this, resources are refused.
_TOO_LARGE: Final = (
    f"the answer would exceed {MAX_ANSWER_BYTES} bytes: ask for fewer resources at once"
)


async def _merged(
    context: RequestContext, resources: Sequence[DescribeConfigsRequest.DescribeConfigsResource]
) -> dict[tuple[int, str], set[str] | None]:
    """Each resource once, with all keys that the request asks for; None for all keys."""
    merged: dict[tuple[int, str], set[str] | None] = {}
    async for resource in context.turns.each(resources):
        place = (resource.resource_type, resource.resource_name)
        wanted = merged.setdefault(place, set())
        if resource.configuration_keys is None:
            merged[place] = None
        elif wanted is not None:
            wanted.update(resource.configuration_keys)
    return merged


def _size_bytes(entry: _Entry) -> int:
    """What an entry takes in the answer, about."""
    size = len(entry.name) + len(entry.value or "") + len(entry.documentation or "")
    return size + sum(len(it.name) + len(it.value or "") for it in entry.synonyms)


class DescribeConfigsHandler:
    """Shows effective configs."""

    api_key = ApiKey.DESCRIBE_CONFIGS
    requires = (
        Access(AclOperation.DESCRIBE_CONFIGS, ResourceType.TOPIC),
        Access(AclOperation.DESCRIBE_CONFIGS, ResourceType.GROUP),
        Access(AclOperation.DESCRIBE_CONFIGS, ResourceType.CLUSTER, when="they are a broker's"),
    )

    def __init__(self, client: MetadataClient, config: NodeConfig) -> None:
        self._client = client
        self._config = config

    async def handle(
        self, context: RequestContext, request: DescribeConfigsRequest
    ) -> DescribeConfigsResponse:
        """Describe each resource."""
        merged = await _merged(context, request.resources)
        results = []
        size_bytes = 0
        for (resource_type, name), wanted in merged.items():
            code, message = ErrorCode.NONE, None
            entries: list[_Entry] = []
            try:
                entries = [
                    entry
                    for entry in self._describe(resource_type, name, request)
                    if wanted is None or entry.name in wanted
                ]
                taken = sum(map(_size_bytes, entries))
                if size_bytes + taken > MAX_ANSWER_BYTES:
                    code, message, entries = ErrorCode.INVALID_REQUEST, _TOO_LARGE, []
                else:
                    size_bytes += taken
            except KafkaError as error:
                code, message = error.code, str(error)[:MAX_MESSAGE_CHARACTERS]
            results.append(
                _Result(
                    error_code=int(code),
                    error_message=message,
                    resource_type=resource_type,
                    resource_name=name,
                    configs=entries,
                )
            )
            await context.turns.pause()
        return DescribeConfigsResponse(results=results)

    def _describe(
        self, resource_type: int, name: str, request: DescribeConfigsRequest
    ) -> list[_Entry]:
        if resource_type == BROKER_LOGGER:
            self._require_own(name)
            return [_level_entry(*it) for it in loggers.levels().items()]
        if resource_type in (GROUP, CLIENT_METRICS):
            if not name:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "the name of the resource is empty")
            return []
        return [self._entry(it, request) for it in self._settings(resource_type, name)]

    def _require_own(self, name: str) -> None:
        if name != str(self._config.node_id):
            raise KafkaError(
                ErrorCode.INVALID_REQUEST,
                f"broker {self._config.node_id} cannot describe broker {name!r}: send the request there",
            )

    def _settings(self, resource_type: int, name: str) -> Sequence[ConfigEntry]:
        image = self._client.image
        if resource_type == TOPIC:
            if not is_valid_topic_name(name):
                raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"invalid topic name {name!r}")
            if image.topic(name) is None:
                raise KafkaError(
                    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"topic {name!r} does not exist"
                )
            return describe_topic(image.topic_config(name), self._layers())
        if resource_type == BROKER:
            if not name:
                return describe_broker_defaults(image.broker_config(""))
            self._require_own(name)
            return describe_broker(self._layers())
        raise KafkaError(
            ErrorCode.INVALID_REQUEST, f"configs of resource type {resource_type} are not supported"
        )

    def _layers(self) -> BrokerLayers:
        image = self._client.image
        return BrokerLayers(
            dynamic_broker=image.broker_config(self._config.node_id),
            dynamic_default=image.broker_config(""),
            static=self._config.static,
        )

    def _entry(self, entry: ConfigEntry, request: DescribeConfigsRequest) -> _Entry:
        synonyms = entry.synonyms if request.include_synonyms else ()
        return _Entry(
            name=entry.name,
            value=None if entry.sensitive else entry.value,
            read_only=entry.read_only,
            config_source=int(entry.source),
            is_sensitive=entry.sensitive,
            synonyms=[
                _Synonym(name=synonym.name, value=synonym.value, source=int(synonym.source))
                for synonym in synonyms
            ],
            config_type=int(entry.type),
            documentation=entry.documentation if request.include_documentation else None,
        )


def _level_entry(logger: str, level: str) -> _Entry:
    return _Entry(
        name=logger,
        value=level,
        read_only=False,
        config_source=int(ConfigSource.DYNAMIC_LOGGER),
        is_sensitive=False,
        synonyms=[],
        config_type=NO_TYPE,
    )
