"""ExpireDelegationToken (API key 40), versions 1 and 2.

Behaviour:
  * There are no tokens: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, as on a PLAINTEXT listener of Kafka.
Version notes:
  * 2: flexible.
Source: ExpireDelegationTokenRequest.json, ExpireDelegationTokenResponse.json; `KafkaApis.allowTokenRequests`.
"""

from headrace.broker.network.request_context import RequestContext
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import ExpireDelegationTokenRequest, ExpireDelegationTokenResponse

NEVER_MS = -1


class ExpireDelegationTokenHandler:
    """Knows no token."""

    api_key = ApiKey.EXPIRE_DELEGATION_TOKEN
    requires = ()  # a token's owner and its renewers may

    async def handle(
        self, context: RequestContext, request: ExpireDelegationTokenRequest
    ) -> ExpireDelegationTokenResponse:
        """Refuse without looking at the token."""
        del context, request
        return ExpireDelegationTokenResponse(
            error_code=int(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED),
            expiry_timestamp_ms=NEVER_MS,
        )
