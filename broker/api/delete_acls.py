"""DeleteAcls (API key 31), versions 1 to 3.

Behaviour:
  * There is no authorizer, so SECURITY_DISABLED for each filter, as in Kafka without one.
Deviations from Apache Kafka:
  * Kafka closes the connection of a filter that has an unknown type of resource, pattern, operation or permission.
Version notes:
  * 1: prefixed patterns.  2: flexible.  3: users as resources.
Source: DeleteAclsRequest.json, DeleteAclsResponse.json; `AclApis.handleDeleteAcls`.
"""

from headrace.broker.api.describe_acls import NO_AUTHORIZER
from headrace.broker.network.request_context import RequestContext
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import DeleteAclsRequest, DeleteAclsResponse, MadeWhenEncoded

_REFUSED = DeleteAclsResponse.DeleteAclsFilterResult(
    error_code=int(ErrorCode.SECURITY_DISABLED), error_message=NO_AUTHORIZER
)


class DeleteAclsHandler:
    """Says that there are no access rules."""

    api_key = ApiKey.DELETE_ACLS
    requires = (Access(AclOperation.ALTER, ResourceType.CLUSTER),)

    async def handle(
        self, context: RequestContext, request: DeleteAclsRequest
    ) -> DeleteAclsResponse:
        """Refuse each filter."""
        del context
        return DeleteAclsResponse(
            filter_results=MadeWhenEncoded(lambda _: _REFUSED, range(len(request.filters)))
        )
