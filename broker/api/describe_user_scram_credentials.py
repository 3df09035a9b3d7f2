"""DescribeUserScramCredentials (API key 50), version 0.

Behaviour:
  * There are no credentials: no result when all are asked for, RESOURCE_NOT_FOUND for a user who is named, and
    DUPLICATE_RESOURCE for one who is named twice.
Source: DescribeUserScramCredentialsRequest.json, DescribeUserScramCredentialsResponse.json; `ScramImage.describe`.
"""

from collections import Counter

from headrace.broker.network.request_context import RequestContext
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    MadeWhenEncoded,
)

_Result = DescribeUserScramCredentialsResponse.DescribeUserScramCredentialsResult


class DescribeUserScramCredentialsHandler:
    """Knows no user."""

    api_key = ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS
    requires = (Access(AclOperation.DESCRIBE, ResourceType.CLUSTER),)

    async def handle(
        self, context: RequestContext, request: DescribeUserScramCredentialsRequest
    ) -> DescribeUserScramCredentialsResponse:
        """Answer for each user who is named."""
        counts: Counter[str] = Counter()
        async for user in context.turns.each(request.users or ()):
            counts[user.name] += 1
        return DescribeUserScramCredentialsResponse(
            error_message=None, results=MadeWhenEncoded(_result, list(counts.items()))
        )


def _result(counted: tuple[str, int]) -> _Result:
    name, count = counted
    code, message = ErrorCode.RESOURCE_NOT_FOUND, "the user has no credential"
    if count > 1:
        code, message = ErrorCode.DUPLICATE_RESOURCE, "the user is named more than once"
    return _Result(user=name, error_code=int(code), error_message=message)
