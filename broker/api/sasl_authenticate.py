"""SaslAuthenticate (API key 36), versions 0 to 2.

Behaviour:
  * No listener authenticates clients, so ILLEGAL_SASL_STATE, as on a PLAINTEXT listener of Kafka.
Version notes:
  * 1: how long the session lasts.  2: flexible.
Source: SaslAuthenticateRequest.json, SaslAuthenticateResponse.json; `KafkaApis.handleSaslAuthenticateRequest`.
"""

from headrace.broker.network.request_context import RequestContext
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import SaslAuthenticateRequest, SaslAuthenticateResponse


class SaslAuthenticateHandler:
    """Refuses to authenticate."""

    api_key = ApiKey.SASL_AUTHENTICATE
    requires = ()

    async def handle(
        self, context: RequestContext, request: SaslAuthenticateRequest
    ) -> SaslAuthenticateResponse:
        """Answer without looking at what was sent: it may be a password."""
        del context, request
        return SaslAuthenticateResponse(
            error_code=int(ErrorCode.ILLEGAL_SASL_STATE),
            error_message="this listener authenticates nobody",
        )
