"""DescribeTransactions (API key 65), version 0.

Behaviour:
  * There are no transactional ids: TRANSACTIONAL_ID_NOT_FOUND; INVALID_REQUEST for an empty one.
Deviations from Apache Kafka:
  * Kafka answers NOT_COORDINATOR from a broker that does not coordinate the id.
Source: DescribeTransactionsRequest.json, DescribeTransactionsResponse.json; KIP-664;
    `TransactionCoordinator.handleDescribeTransactions`.
"""

from headrace.broker.network.request_context import RequestContext
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    MadeWhenEncoded,
)

_State = DescribeTransactionsResponse.TransactionState


class DescribeTransactionsHandler:
    """Knows no transactional id."""

    api_key = ApiKey.DESCRIBE_TRANSACTIONS
    requires = (
        Access(AclOperation.DESCRIBE, ResourceType.TRANSACTIONAL_ID),
        Access(AclOperation.DESCRIBE, ResourceType.TOPIC, when="its partitions are answered"),
    )

    async def handle(
        self, context: RequestContext, request: DescribeTransactionsRequest
    ) -> DescribeTransactionsResponse:
        """Answer for each id."""
        del context
        return DescribeTransactionsResponse(
            transaction_states=MadeWhenEncoded(_state, request.transactional_ids)
        )


def _state(transactional_id: str) -> _State:
    code = ErrorCode.TRANSACTIONAL_ID_NOT_FOUND if transactional_id else ErrorCode.INVALID_REQUEST
    return _State(error_code=int(code), transactional_id=transactional_id)
