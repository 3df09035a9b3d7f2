"""UnregisterBroker (API key 64), version 0.

Behaviour:
  * BROKER_ID_NOT_REGISTERED for an unknown broker; INVALID_REQUEST, with the reason, for one that is active or
    still owns partitions.
Deviations from Apache Kafka:
  * Kafka also unregisters an active broker, which must then be restarted.
Source: UnregisterBrokerRequest.json, UnregisterBrokerResponse.json; `ReplicationControlManager.unregisterBroker`.
"""

from headrace.broker.network.request_context import RequestContext
from headrace.metadata.admin import error_of
from headrace.metadata.errors import MetadataError
from headrace.metadata.follower.quorum_admin import QuorumAdmin
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import UnregisterBrokerRequest, UnregisterBrokerResponse


class UnregisterBrokerHandler:
    """Removes a broker that will not come back."""

    api_key = ApiKey.UNREGISTER_BROKER
    requires = (Access(AclOperation.ALTER, ResourceType.CLUSTER),)

    def __init__(self, quorum: QuorumAdmin) -> None:
        self._quorum = quorum

    async def handle(
        self, context: RequestContext, request: UnregisterBrokerRequest
    ) -> UnregisterBrokerResponse:
        """Forward the request to the controller, and wait until the local image shows it."""
        del context
        if request.broker_id < 0:
            return _answer(
                ErrorCode.BROKER_ID_NOT_REGISTERED, f"broker {request.broker_id} is not registered"
            )
        try:
            await self._quorum.unregister_broker(request.broker_id)
        except MetadataError as error:
            return _answer(*error_of(error))
        return _answer(ErrorCode.NONE, None)


def _answer(code: ErrorCode, message: str | None) -> UnregisterBrokerResponse:
    return UnregisterBrokerResponse(error_code=int(code), error_message=message)
