"""CreateAcls (API key 30), versions 1 to 3.

Behaviour:
  * There is no authorizer, so SECURITY_DISABLED for each rule, as in Kafka without one.
Deviations from Apache Kafka:
  * Kafka closes the connection of a rule that has an unknown type of resource, pattern, operation or permission.
Version notes:
  * 1: prefixed patterns.  2: flexible.  3: users as resources.
Source: CreateAclsRequest.json, CreateAclsResponse.json; `AclApis.handleCreateAcls`.
"""

from headrace.broker.api.describe_acls import NO_AUTHORIZER
from headrace.broker.network.request_context import RequestContext
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import CreateAclsRequest, CreateAclsResponse, MadeWhenEncoded

_REFUSED = CreateAclsResponse.AclCreationResult(
    error_code=int(ErrorCode.SECURITY_DISABLED), error_message=NO_AUTHORIZER
)


class CreateAclsHandler:
    """Refuses access rules, since none are enforced."""

    api_key = ApiKey.CREATE_ACLS
    requires = (Access(AclOperation.ALTER, ResourceType.CLUSTER),)

    async def handle(
        self, context: RequestContext, request: CreateAclsRequest
    ) -> CreateAclsResponse:
        """Refuse each rule."""
        del context
        return CreateAclsResponse(
            results=MadeWhenEncoded(lambda _: _REFUSED, range(len(request.creations)))
        )
