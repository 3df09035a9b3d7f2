"""ListPartitionReassignments (API key 46), version 0.

Behaviour:
  * Always empty: a partition moves in one metadata change, so no reassignment is ever in progress.
Source: ListPartitionReassignmentsRequest.json, ListPartitionReassignmentsResponse.json; KIP-455.
"""

from typing import Any

from headrace.broker.network.request_context import RequestContext
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.messages import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)


class ListPartitionReassignmentsHandler:
    """Answers the request that topic tools send before they describe topics."""

    api_key = ApiKey.LIST_PARTITION_REASSIGNMENTS

    async def handle(
        self, context: RequestContext, request: ListPartitionReassignmentsRequest
    ) -> Any:
        """Answer that no partition is being reassigned."""
        del context, request
        return ListPartitionReassignmentsResponse(
            throttle_time_ms=0, error_code=0, error_message=None, topics=[]
        )
