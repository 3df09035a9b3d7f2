"""DescribeDelegationToken (API key 41), versions 1 to 3.

Behaviour:
  * There are no tokens: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, as on a PLAINTEXT listener of Kafka.
Version notes:
  * 2: flexible.  3: who asked for a token (KIP-373).
Source: DescribeDelegationTokenRequest.json, DescribeDelegationTokenResponse.json; `KafkaApis.allowTokenRequests`.
"""

from headrace.broker.network.request_context import RequestContext
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import (
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)


class DescribeDelegationTokenHandler:
    """Knows no token."""

    api_key = ApiKey.DESCRIBE_DELEGATION_TOKEN
    requires = (
        Access(
            AclOperation.DESCRIBE,
            ResourceType.DELEGATION_TOKEN,
            when="they are others' tokens",
            instead=(Access(AclOperation.DESCRIBE_TOKENS, ResourceType.USER),),
        ),
    )

    async def handle(
        self, context: RequestContext, request: DescribeDelegationTokenRequest
    ) -> DescribeDelegationTokenResponse:
        """Refuse without looking at the owners."""
        del context, request
        return DescribeDelegationTokenResponse(
            error_code=int(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
        )
