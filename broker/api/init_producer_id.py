"""InitProducerId (API key 22), versions 0 to 5.

Behaviour:
  * Without a transactional id: a fresh producer id at epoch 0, from a block that the controller
    gave to this broker. With a producer id and epoch given (KIP-360), the same id at the next
    epoch, or a fresh id when the epoch is used up.
Deviations from Apache Kafka:
  * A transactional id is answered INVALID_REQUEST: transactions are not served, and clients fail at once.
Version notes:
  * 2: flexible.  3: producer id and epoch given.  4: PRODUCER_FENCED.
Source: InitProducerIdRequest.json, InitProducerIdResponse.json; KIP-98, KIP-360.
"""

from typing import Any

from broker.api.context import RequestContext
from broker.producer_ids import ProducerIds
from metadata.errors import MetadataError
from protocol.api_keys import ApiKey
from protocol.errors import ErrorCode
from protocol.messages import InitProducerIdRequest, InitProducerIdResponse

GIVEN_SINCE = 3
EPOCH_MAX = 32_766


class InitProducerIdHandler:
    """Gives producers their identity."""

    api_key = ApiKey.INIT_PRODUCER_ID

    def __init__(self, producer_ids: ProducerIds) -> None:
        self._producer_ids = producer_ids

    async def handle(self, context: RequestContext, request: InitProducerIdRequest) -> Any:
        """Answer with an id and an epoch."""
        if request.transactional_id is not None:
            return self._answer(ErrorCode.INVALID_REQUEST)
        producer_id, epoch = -1, -1
        if context.version >= GIVEN_SINCE:
            producer_id, epoch = request.producer_id, request.producer_epoch
        if (producer_id < 0) != (epoch < 0):
            return self._answer(ErrorCode.INVALID_REQUEST)
        if producer_id >= 0 and epoch < EPOCH_MAX:
            return self._answer(ErrorCode.NONE, producer_id, epoch + 1)
        try:
            fresh = await self._producer_ids.next_id()
        except MetadataError:
            return self._answer(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return self._answer(ErrorCode.NONE, fresh, 0)

    def _answer(self, code: ErrorCode, producer_id: int = -1, epoch: int = -1) -> Any:
        return InitProducerIdResponse(
            throttle_time_ms=0,
            error_code=int(code),
            producer_id=producer_id,
            producer_epoch=epoch,
        )
