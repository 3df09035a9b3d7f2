"""DescribeAcls (API key 29), versions 1 to 3.

Behaviour:
  * There is no authorizer, so SECURITY_DISABLED, as in Kafka without one.
Deviations from Apache Kafka:
  * Kafka closes the connection of a filter that has an unknown type of resource, pattern, operation or permission.
Version notes:
  * 1: prefixed patterns.  2: flexible.  3: users as resources.
Source: DescribeAclsRequest.json, DescribeAclsResponse.json; `AclApis.handleDescribeAcls`.
"""

from typing import Final

from headrace.broker.network.request_context import RequestContext
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import DescribeAclsRequest, DescribeAclsResponse

NO_AUTHORIZER: Final = "this broker has no authorizer: every client may do everything"


class DescribeAclsHandler:
    """Says that there are no access rules."""

    api_key = ApiKey.DESCRIBE_ACLS
    requires = (Access(AclOperation.DESCRIBE, ResourceType.CLUSTER),)

    async def handle(
        self, context: RequestContext, request: DescribeAclsRequest
    ) -> DescribeAclsResponse:
        """Answer without looking at the filter."""
        del context, request
        return DescribeAclsResponse(
            error_code=int(ErrorCode.SECURITY_DISABLED), error_message=NO_AUTHORIZER
        )
