"""CreateDelegationToken (API key 38), versions 1 to 3.

Behaviour:
  * A token speaks for a client that was authenticated, and none is: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, as on a
    PLAINTEXT listener of Kafka. The answer names the owner who was asked for, and who asked.
Version notes:
  * 2: flexible.  3: a token for another principal (KIP-373).
Source: CreateDelegationTokenRequest.json, CreateDelegationTokenResponse.json; `KafkaApis.allowTokenRequests`.
"""

from headrace.broker.network.request_context import RequestContext
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import CreateDelegationTokenRequest, CreateDelegationTokenResponse

NEVER_MS = -1


class CreateDelegationTokenHandler:
    """Makes no token."""

    api_key = ApiKey.CREATE_DELEGATION_TOKEN
    requires = (
        Access(
            AclOperation.CREATE_TOKENS, ResourceType.USER, when="the owner is not who asks for it"
        ),
    )

    async def handle(
        self, context: RequestContext, request: CreateDelegationTokenRequest
    ) -> CreateDelegationTokenResponse:
        """Refuse."""
        asking = context.client.principal
        owner = (asking.kind, asking.name)
        if request.owner_principal_name:
            owner = (request.owner_principal_type or "", request.owner_principal_name)
        return CreateDelegationTokenResponse(
            error_code=int(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED),
            principal_type=owner[0],
            principal_name=owner[1],
            token_requester_principal_type=asking.kind,
            token_requester_principal_name=asking.name,
            issue_timestamp_ms=NEVER_MS,
            expiry_timestamp_ms=NEVER_MS,
            max_timestamp_ms=NEVER_MS,
        )
