"""CreateTopics (API key 19), versions 2 to 7.

Behaviour:
  * A topic is usable when the request is answered: its streams exist and its partitions are open.
  * Configs are validated; the effective ones are returned (v5+).
  * At most 10,000 partitions may be assigned in one request (POLICY_VIOLATION), and a topic may have 1,000 configs
    (INVALID_REQUEST).
  * A replication factor is stored for clients, which see so many replicas, and changes nothing else: durability is the
    WAL's and the bucket's. Above the number of brokers it is INVALID_REPLICATION_FACTOR, or becomes that number
    (`headrace.replication.factor.check`, which `headrace dev` switches off). -1 is 1.
Deviations from Apache Kafka:
  * `default.replication.factor` is 1.
  * Of the brokers of a manual assignment the first active one leads. Which other replicas clients see follows from
    the leader.
Version notes:
  * 4: -1 for the broker's defaults.  5: flexible, effective configs.  7: topic ids.
Source: CreateTopicsRequest.json, CreateTopicsResponse.json; KIP-464, KIP-525, KIP-516.
"""

from collections import Counter

from headrace.broker.cluster.topic_creation import MAX_TOPICS, TopicCreation
from headrace.broker.network.request_context import RequestContext
from headrace.config.describe import BrokerLayers, describe_topic
from headrace.config.node import NodeConfig
from headrace.metadata.follower.client import NewTopic, TopicResult
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import CreateTopicsRequest, CreateTopicsResponse

FACTOR_DEFAULT = 1
UNSET = -1
MAX_ASSIGNED = MAX_TOPICS  # partitions, in one request
MAX_CONFIGS = 1_000  # of one topic; there are fewer keys

_Result = CreateTopicsResponse.CreatableTopicResult
_Config = _Result.CreatableTopicConfigs
# The configs of topics, by their overrides.
_Described = dict[frozenset[tuple[str, str]], list[_Config]]


class CreateTopicsHandler:
    """Creates topics through the controller."""

    api_key = ApiKey.CREATE_TOPICS
    requires = (
        Access(
            AclOperation.CREATE,
            ResourceType.TOPIC,
            instead=(Access(AclOperation.CREATE, ResourceType.CLUSTER),),
        ),
        Access(
            AclOperation.DESCRIBE_CONFIGS, ResourceType.TOPIC, when="its configuration is answered"
        ),
    )

    def __init__(self, creation: TopicCreation, config: NodeConfig) -> None:
        self._creation = creation
        self._config = config

    async def handle(
        self, context: RequestContext, request: CreateTopicsRequest
    ) -> CreateTopicsResponse:
        """Create each topic, or answer with the reason."""
        if not self._config.log.refuse_factors_above_brokers:
            brokers = len(self._creation.image.brokers)
            async for topic in context.turns.each(request.topics):
                topic.replication_factor = min(topic.replication_factor, brokers)
        refused = await self._refusals(context, request)
        wanted = [
            self._new_topic(topic)
            async for topic in context.turns.each(request.topics)
            if topic.name not in refused
        ]
        results = await self._creation.create(
            wanted, validate_only=request.validate_only, timeout_ms=request.timeout_ms
        )
        answers = [
            self._error(name, code, message)
            async for name, (code, message) in context.turns.each(refused.items())
        ]
        described: _Described = {}
        async for new_topic, result in context.turns.each(zip(wanted, results, strict=True), 1):
            answers.append(self._answer(new_topic, result, described))
        return CreateTopicsResponse(topics=answers)

    async def _refusals(
        self, context: RequestContext, request: CreateTopicsRequest
    ) -> dict[str, tuple[ErrorCode, str]]:
        """Contradictions within the request, by topic."""
        refused = {}
        counts: Counter[str] = Counter()
        assigned_total = 0
        async for topic in context.turns.each(request.topics):
            counts[topic.name] += 1
            assigned_total += len(topic.assignments or ())
            if assigned_total > MAX_ASSIGNED:
                message = f"one request creates at most {MAX_ASSIGNED} partitions"
                refused[topic.name] = (ErrorCode.POLICY_VIOLATION, message)
                continue
            if len(topic.configs or ()) > MAX_CONFIGS:
                message = f"more than {MAX_CONFIGS} configs of one topic"
                refused[topic.name] = (ErrorCode.INVALID_REQUEST, message)
                continue
            assigned = [it.partition_index for it in topic.assignments or ()]
            if len(set(assigned)) < len(assigned):
                refused[topic.name] = await self._wrong_otherwise(topic) or (
                    ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                    "a partition is assigned more than once",
                )
        async for name, count in context.turns.each(counts.items()):
            if count > 1:
                refused[name] = (
                    ErrorCode.INVALID_REQUEST,
                    "the request names this topic more than once",
                )
        return refused

    async def _wrong_otherwise(
        self, topic: CreateTopicsRequest.CreatableTopic
    ) -> tuple[ErrorCode, str] | None:
        """What is wrong with a topic besides a partition that is assigned twice, which Kafka finds last."""
        (result,) = await self._creation.create(
            [self._new_topic(topic)], validate_only=True, timeout_ms=0
        )
        found = result.error, result.message or ""
        return None if result.error == ErrorCode.NONE else found

    def _new_topic(self, topic: CreateTopicsRequest.CreatableTopic) -> NewTopic:
        partitions = topic.num_partitions
        assignments = {
            assignment.partition_index: tuple(assignment.broker_ids)
            for assignment in topic.assignments or ()
        }
        if partitions == -1 and not assignments:
            partitions = self._config.log.partitions_default
        return NewTopic(
            topic.name,
            partitions,
            {config.name: config.value for config in topic.configs or ()},
            assignments=assignments or None,
            replication_factor=topic.replication_factor,
        )

    def _answer(self, new_topic: NewTopic, result: TopicResult, described: _Described) -> _Result:
        if result.error != ErrorCode.NONE:
            return self._error(result.name, result.error, result.message)
        # Most topics have the same configs, and an answer may have 10,000 topics.
        overrides = {name: it for name, it in new_topic.configs.items() if it is not None}
        known_as = frozenset(overrides.items())
        if known_as not in described:
            described[known_as] = self._configs(overrides)
        partitions, factor = new_topic.partitions, new_topic.replication_factor
        if result.topic is not None:
            partitions = len(result.topic.partitions)
        elif new_topic.assignments:
            partitions = len(new_topic.assignments)
        if new_topic.assignments:
            factor = len(next(iter(new_topic.assignments.values())))
        if result.topic is not None and result.topic.topic_id in self._creation.image.topics:
            factor = result.topic.replication_factor
        return _Result(
            name=result.name,
            topic_id=result.topic.topic_id if result.topic is not None else None,
            error_code=0,
            error_message=None,
            topic_config_error_code=0,
            num_partitions=partitions,
            replication_factor=FACTOR_DEFAULT if factor == UNSET else factor,
            configs=described[known_as],
        )

    def _configs(self, overrides: dict[str, str]) -> list[_Config]:
        return [
            _Config(
                name=entry.name,
                value=entry.value,
                read_only=entry.read_only,
                config_source=int(entry.source),
                is_sensitive=entry.sensitive,
            )
            for entry in describe_topic(overrides, self._layers())
        ]

    def _layers(self) -> BrokerLayers:
        image = self._creation.image
        return BrokerLayers(
            dynamic_broker=image.broker_config(self._config.node_id),
            dynamic_default=image.broker_config(""),
            static=self._config.static,
        )

    def _error(self, name: str, code: ErrorCode, message: str | None) -> _Result:
        return _Result(
            name=name,
            topic_id=None,
            error_code=int(code),
            error_message=message,
            topic_config_error_code=0,
            num_partitions=-1,
            replication_factor=-1,
            configs=[],
        )
