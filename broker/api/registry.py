"""Every API key that the broker supports, with its handler.

ApiVersions advertises exactly this table; a request with another key closes its connection.
"""

from collections.abc import Mapping
from typing import Final

from headrace.broker.api.api_versions import ApiVersionsHandler
from headrace.broker.api.dispatch import ApiDispatcher
from headrace.broker.api.fetch import FetchHandler
from headrace.broker.api.metadata import MetadataHandler
from headrace.broker.api.produce import ProduceHandler
from headrace.broker.api.services import Services
from headrace.broker.fetch.reader import FetchReader
from headrace.broker.fetch.session_cache import FetchSessions
from headrace.broker.network.request_context import Handler
from headrace.daemon_threads import import_in_thread
from headrace.invariants import require
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import advertised
from headrace.turns import Work, turns_of

# What a client needs to produce and to fetch is there at once.
FIRST_KEYS: Final = (ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.API_VERSIONS, ApiKey.METADATA)
LATER_KEYS: Final = (
    ApiKey.LIST_OFFSETS,
    ApiKey.OFFSET_FOR_LEADER_EPOCH,
    ApiKey.CREATE_TOPICS,
    ApiKey.DELETE_TOPICS,
    ApiKey.DELETE_RECORDS,
    ApiKey.CREATE_PARTITIONS,
    ApiKey.DESCRIBE_TOPIC_PARTITIONS,
    ApiKey.DESCRIBE_CLUSTER,
    ApiKey.DESCRIBE_CONFIGS,
    ApiKey.INCREMENTAL_ALTER_CONFIGS,
    ApiKey.DESCRIBE_LOG_DIRS,
    ApiKey.ELECT_LEADERS,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS,
    ApiKey.LIST_PARTITION_REASSIGNMENTS,
    ApiKey.INIT_PRODUCER_ID,
    ApiKey.FIND_COORDINATOR,
    ApiKey.JOIN_GROUP,
    ApiKey.SYNC_GROUP,
    ApiKey.HEARTBEAT,
    ApiKey.LEAVE_GROUP,
    ApiKey.OFFSET_COMMIT,
    ApiKey.OFFSET_FETCH,
    ApiKey.OFFSET_DELETE,
    ApiKey.DESCRIBE_GROUPS,
    ApiKey.LIST_GROUPS,
    ApiKey.DELETE_GROUPS,
    ApiKey.DESCRIBE_QUORUM,
    ApiKey.ADD_RAFT_VOTER,
    ApiKey.REMOVE_RAFT_VOTER,
    ApiKey.UNREGISTER_BROKER,
    ApiKey.UPDATE_FEATURES,
    ApiKey.SASL_HANDSHAKE,
    ApiKey.SASL_AUTHENTICATE,
    ApiKey.DESCRIBE_ACLS,
    ApiKey.CREATE_ACLS,
    ApiKey.DELETE_ACLS,
    ApiKey.ALTER_CONFIGS,
    ApiKey.ALTER_REPLICA_LOG_DIRS,
    ApiKey.CREATE_DELEGATION_TOKEN,
    ApiKey.RENEW_DELEGATION_TOKEN,
    ApiKey.EXPIRE_DELEGATION_TOKEN,
    ApiKey.DESCRIBE_DELEGATION_TOKEN,
    ApiKey.DESCRIBE_CLIENT_QUOTAS,
    ApiKey.ALTER_CLIENT_QUOTAS,
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
    ApiKey.DESCRIBE_PRODUCERS,
    ApiKey.DESCRIBE_TRANSACTIONS,
    ApiKey.LIST_TRANSACTIONS,
    ApiKey.LIST_CONFIG_RESOURCES,
    ApiKey.UNREGISTER_CONTROLLER,
)
_LATER_HANDLERS: Final = "headrace.broker.api.later_handlers"


def build_dispatcher(services: Services) -> ApiDispatcher:
    """Make the handlers that a client needs first, and the dispatcher that serves them and loads the others."""
    versions = advertised([*FIRST_KEYS, *LATER_KEYS])
    connections = turns_of(Work.CONNECTIONS)

    async def load_others() -> Mapping[ApiKey, Handler]:
        await import_in_thread("api-handlers", _LATER_HANDLERS)
        from headrace.broker.api.later_handlers import later_handlers  # noqa: PLC0415  # takes 0.1 s

        handlers = later_handlers(services)
        require(set(handlers) == set(LATER_KEYS), "what is advertised has a handler")
        return handlers

    return ApiDispatcher(
        versions=versions,
        produce=ProduceHandler(
            partitions=services.partitions,
            cluster=services.cluster,
            engine=services.engine,
            wall_clock_ms=services.wall_clock_ms,
            metrics=services.metrics,
            config=services.config.log,
            turns=connections,
        ),
        fetch=FetchHandler(
            reader=FetchReader(services.partitions, services.metrics, connections),
            cluster=services.cluster,
            sessions=FetchSessions(services.config.log.fetch_session_slots, services.rng),
            config=services.config.log,
            metrics=services.metrics,
            turns=connections,
        ),
        handlers={
            ApiKey.API_VERSIONS: ApiVersionsHandler(
                versions, lambda: services.client.image, services.cluster.node_id
            ),
            ApiKey.METADATA: MetadataHandler(services.cluster, services.creation),
        },
        load_others=load_others,
        metrics=services.metrics,
        turns=turns_of(Work.REQUESTS),
    )
