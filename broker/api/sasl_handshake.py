"""SaslHandshake (API key 17), versions 0 and 1.

Behaviour:
  * No listener authenticates clients, so ILLEGAL_SASL_STATE without a mechanism, as on a PLAINTEXT listener of Kafka:
    clients that are configured for SASL say then what is wrong.
Source: SaslHandshakeRequest.json, SaslHandshakeResponse.json; `KafkaApis.handleSaslHandshakeRequest`.
"""

from headrace.broker.network.request_context import RequestContext
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import SaslHandshakeRequest, SaslHandshakeResponse


class SaslHandshakeHandler:
    """Refuses to authenticate."""

    api_key = ApiKey.SASL_HANDSHAKE
    requires = ()

    async def handle(
        self, context: RequestContext, request: SaslHandshakeRequest
    ) -> SaslHandshakeResponse:
        """Answer without looking at the mechanism."""
        del context, request
        return SaslHandshakeResponse(error_code=int(ErrorCode.ILLEGAL_SASL_STATE))
