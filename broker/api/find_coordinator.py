"""FindCoordinator (API key 10), versions 0 to 6.

Behaviour:
  * Key type 0 (group): the leader of the group's partition of `__consumer_offsets`, at the address
    of the listener that received the request. The first look-up creates the topic and waits for
    it.
  * COORDINATOR_NOT_AVAILABLE only while that partition has no leader with an address on this
    listener, or while its leader is this broker and its lease is not valid.
  * Errors carry node -1, host "" and port -1.
Deviations from Apache Kafka:
  * A key that is named twice is answered once.
  * Key type 1 (transaction) is answered with INVALID_REQUEST and a message: this version has
    no transactions. Kafka answers the same for a type of coordinator that is disabled (share
    groups switched off). Clients fail at once with that message; with
    COORDINATOR_NOT_AVAILABLE they would retry until `max.block.ms` and report a time-out.
  * In Kafka the first look-up answers COORDINATOR_NOT_AVAILABLE while the topic is being created.
Version notes:
  * 1: key type.  3: flexible.  4: several keys, with an error each (KIP-699).  5:
    TRANSACTION_ABORTABLE.  6: share groups.
Source: FindCoordinatorRequest.json, FindCoordinatorResponse.json; `KafkaApis.getCoordinator`.
"""

from typing import Final, NamedTuple, Protocol

from headrace.broker.network.client import Client
from headrace.broker.network.request_context import Later, RequestContext
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode, KafkaError
from headrace.protocol.messages import FindCoordinatorRequest, FindCoordinatorResponse

API = ApiKey.FIND_COORDINATOR

BATCHED_KEYS_SINCE: Final = 4
GROUP_KEY_TYPE: Final = 0
_NO_TRANSACTIONS: Final = "transactions are not supported by this version of the broker"
_NO_SUCH_COORDINATOR: Final = "unknown coordinator key type"


class CoordinatorNodes(Protocol):
    """Addresses of group coordinators."""

    def coordinator_node(self, client: Client, group_id: str) -> tuple[int, str, int] | None:
        """Node id, host and port of a group's coordinator for this client; None if there is none."""
        ...

    async def ensure_topic(self) -> None:
        """Create `__consumer_offsets` unless it exists; KafkaError when that is not possible now."""
        ...


class _Found(NamedTuple):
    error: ErrorCode
    message: str | None = None
    node_id: int = -1
    host: str = ""
    port: int = -1


class FindCoordinatorHandler:
    """Finds the broker that coordinates a group."""

    api_key = API
    requires = (
        Access(AclOperation.DESCRIBE, ResourceType.GROUP, when="the key is a group"),
        Access(
            AclOperation.DESCRIBE,
            ResourceType.TRANSACTIONAL_ID,
            when="the key is a transactional id",
        ),
        Access(
            AclOperation.CLUSTER_ACTION,
            ResourceType.CLUSTER,
            when="the key is a partition of a share group",
        ),
    )

    def __init__(self, nodes: CoordinatorNodes) -> None:
        self._nodes = nodes

    def handle(
        self, context: RequestContext, request: FindCoordinatorRequest
    ) -> FindCoordinatorResponse | Later[FindCoordinatorResponse]:
        """Look up one key, or several."""
        if context.version >= BATCHED_KEYS_SINCE:
            keys = request.coordinator_keys
            found = self._find_now(context, request, keys[0]) if len(keys) == 1 else None
            if found is None:
                return self._find_all(context, request)
            return FindCoordinatorResponse(coordinators=[_coordinator(keys[0], found)])
        found = self._find_now(context, request, request.key)
        return self._find_one(context, request) if found is None else _answer(found)

    async def _find_one(
        self, context: RequestContext, request: FindCoordinatorRequest
    ) -> FindCoordinatorResponse:
        return _answer(await self._find(context, request, request.key))

    async def _find_all(
        self, context: RequestContext, request: FindCoordinatorRequest
    ) -> FindCoordinatorResponse:
        # One at a time: the hash of a long key takes milliseconds.
        keys = context.turns.each(dict.fromkeys(request.coordinator_keys), per_look=1)
        return FindCoordinatorResponse(
            coordinators=[
                _coordinator(key, await self._find(context, request, key)) async for key in keys
            ]
        )

    def _find_now(
        self, context: RequestContext, request: FindCoordinatorRequest, key: str
    ) -> _Found | None:
        """Find a coordinator without waiting; None if there is none, which may change."""
        if request.key_type != GROUP_KEY_TYPE:
            message = _NO_TRANSACTIONS if request.key_type == 1 else _NO_SUCH_COORDINATOR
            return _Found(ErrorCode.INVALID_REQUEST, message)
        node = self._nodes.coordinator_node(context.client, key)
        return None if node is None else _Found(ErrorCode.NONE, None, *node)

    async def _find(
        self, context: RequestContext, request: FindCoordinatorRequest, key: str
    ) -> _Found:
        found = self._find_now(context, request, key)
        if found is None:
            try:
                await self._nodes.ensure_topic()
            except KafkaError as error:
                return _Found(ErrorCode.COORDINATOR_NOT_AVAILABLE, error.message)
            found = self._find_now(context, request, key)
        return found or _Found(ErrorCode.COORDINATOR_NOT_AVAILABLE)


def _answer(found: _Found) -> FindCoordinatorResponse:
    return FindCoordinatorResponse(
        error_code=int(found.error),
        error_message=found.message,
        node_id=found.node_id,
        host=found.host,
        port=found.port,
    )


def _coordinator(key: str, found: _Found) -> FindCoordinatorResponse.Coordinator:
    return FindCoordinatorResponse.Coordinator(
        key=key,
        node_id=found.node_id,
        host=found.host,
        port=found.port,
        error_code=int(found.error),
        error_message=found.message,
    )
