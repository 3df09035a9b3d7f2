"""UnregisterController (API key 94), version 0.

Behaviour:
  * CONTROLLER_ID_NOT_REGISTERED for a controller that is not in the quorum.
  * Controllers are registered by being in the quorum, and leave it by RemoveRaftVoter: INVALID_REQUEST, with a message,
    for one that is in it.
Deviations from Apache Kafka:
  * Kafka keeps a registration beside the membership, which a controller that has left leaves behind.
Source: UnregisterControllerRequest.json, UnregisterControllerResponse.json;
    `ClusterControlManager.unregisterController`.
"""

from headrace.broker.network.request_context import RequestContext
from headrace.metadata.admin import error_of
from headrace.metadata.errors import MetadataError
from headrace.metadata.follower.quorum_admin import QuorumAdmin
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import UnregisterControllerRequest, UnregisterControllerResponse


class UnregisterControllerHandler:
    """Says how a controller leaves."""

    api_key = ApiKey.UNREGISTER_CONTROLLER
    requires = (Access(AclOperation.ALTER, ResourceType.CLUSTER),)

    def __init__(self, quorum: QuorumAdmin) -> None:
        self._quorum = quorum

    async def handle(
        self, context: RequestContext, request: UnregisterControllerRequest
    ) -> UnregisterControllerResponse:
        """Look the controller up in the quorum."""
        del context
        node_id = request.controller_id
        try:
            quorum = await self._quorum.describe()
        except MetadataError as error:
            return _answer(*error_of(error))
        if any(it.node_id == node_id for it in quorum.voters):
            return _answer(
                ErrorCode.INVALID_REQUEST,
                f"controller {node_id} is a voter: remove it with kafka-metadata-quorum.sh remove-controller",
            )
        return _answer(
            ErrorCode.CONTROLLER_ID_NOT_REGISTERED, f"controller {node_id} is not registered"
        )


def _answer(code: ErrorCode, message: str | None) -> UnregisterControllerResponse:
    return UnregisterControllerResponse(error_code=int(code), error_message=message)
