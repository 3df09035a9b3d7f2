"""RenewDelegationToken (API key 39), versions 1 and 2.

Behaviour:
  * There are no tokens: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, as on a PLAINTEXT listener of Kafka.
Version notes:
  * 2: flexible.
Source: RenewDelegationTokenRequest.json, RenewDelegationTokenResponse.json; `KafkaApis.allowTokenRequests`.
"""

from headrace.broker.network.request_context import RequestContext
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import RenewDelegationTokenRequest, RenewDelegationTokenResponse

NEVER_MS = -1


class RenewDelegationTokenHandler:
    """Knows no token."""

    api_key = ApiKey.RENEW_DELEGATION_TOKEN
    requires = ()  # a token's owner and its renewers may

    async def handle(
        self, context: RequestContext, request: RenewDelegationTokenRequest
    ) -> RenewDelegationTokenResponse:
        """Refuse without looking at the token."""
        del context, request
        return RenewDelegationTokenResponse(
            error_code=int(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED),
            expiry_timestamp_ms=NEVER_MS,
        )
