"""ListTransactions (API key 66), versions 0 to 2.

Behaviour:
  * There are no transactions. States of the filter that Kafka does not have are named in the answer.
Deviations from Apache Kafka:
  * The pattern of version 2 is not looked at: Kafka answers INVALID_REGULAR_EXPRESSION for one that is none.
Version notes:
  * 1: duration (KIP-994).  2: pattern of transactional ids (KIP-1152).
Source: ListTransactionsRequest.json, ListTransactionsResponse.json; KIP-664;
    `TransactionStateManager.listTransactionStates`.
"""

from typing import Final

from headrace.broker.network.request_context import RequestContext
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.messages import ListTransactionsRequest, ListTransactionsResponse

STATES: Final = frozenset(
    {
        "Empty",
        "Ongoing",
        "PrepareCommit",
        "PrepareAbort",
        "CompleteCommit",
        "CompleteAbort",
        "Dead",
        "PrepareEpochFence",
    }
)


class ListTransactionsHandler:
    """Lists no transaction."""

    api_key = ApiKey.LIST_TRANSACTIONS
    requires = (Access(AclOperation.DESCRIBE, ResourceType.TRANSACTIONAL_ID),)

    async def handle(
        self, context: RequestContext, request: ListTransactionsRequest
    ) -> ListTransactionsResponse:
        """Look at the names of states only."""
        unknown = {it: None async for it in context.turns.each(request.state_filters)}
        return ListTransactionsResponse(
            unknown_state_filters=[it for it in unknown if it not in STATES]
        )
