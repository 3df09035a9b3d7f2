"""InitProducerId (API key 22), versions 0 to 5.

Behaviour:
  * Without a transactional id: a new producer id at epoch 0, from a block that the controller
    gave to this broker. The same when the client sends its current id and epoch (KIP-360): the
    broker cannot verify who owns them, and two producers with one id would have their batches
    taken for duplicates of each other. An idempotent producer raises its epoch by itself.
Deviations from Apache Kafka:
  * A transactional id is answered INVALID_REQUEST: transactions are not supported, and clients fail at once.
Version notes:
  * 2: flexible.  3: producer id and epoch given.  4: PRODUCER_FENCED.
Source: InitProducerIdRequest.json, InitProducerIdResponse.json; KIP-98, KIP-360.
"""

from headrace.broker.cluster.producer_ids import ProducerIds
from headrace.broker.network.request_context import RequestContext
from headrace.metadata.errors import MetadataError
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import InitProducerIdRequest, InitProducerIdResponse

GIVEN_SINCE = 3


class InitProducerIdHandler:
    """Gives producers their identity."""

    api_key = ApiKey.INIT_PRODUCER_ID
    requires = (
        Access(AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, when="it names one"),
        Access(
            AclOperation.IDEMPOTENT_WRITE,
            ResourceType.CLUSTER,
            when="it names no transactional id",
            instead=(Access(AclOperation.WRITE, ResourceType.TOPIC, when="on any one"),),
        ),
    )

    def __init__(self, producer_ids: ProducerIds) -> None:
        self._producer_ids = producer_ids

    async def handle(
        self, context: RequestContext, request: InitProducerIdRequest
    ) -> InitProducerIdResponse:
        """Answer with an id and an epoch."""
        if request.transactional_id is not None:
            return self._answer(ErrorCode.INVALID_REQUEST)
        if context.version >= GIVEN_SINCE and (
            (request.producer_id < 0) != (request.producer_epoch < 0)
        ):
            return self._answer(ErrorCode.INVALID_REQUEST)
        try:
            fresh = await self._producer_ids.next_id()
        except MetadataError:
            return self._answer(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return self._answer(ErrorCode.NONE, fresh, 0)

    def _answer(
        self, code: ErrorCode, producer_id: int = -1, epoch: int = -1
    ) -> InitProducerIdResponse:
        return InitProducerIdResponse(
            error_code=int(code),
            producer_id=producer_id,
            producer_epoch=epoch,
        )
