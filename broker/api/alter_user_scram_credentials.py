"""AlterUserScramCredentials (API key 51), version 0.

Behaviour:
  * Clients are not authenticated, so no credential is kept: UNSUPPORTED_VERSION, with a message, as in Kafka while its
    metadata.version has no SCRAM.
  * There is none to delete: RESOURCE_NOT_FOUND.
  * Kafka's errors for what makes no sense: UNACCEPTABLE_CREDENTIAL for an empty name, and for iterations below 4,096
    or above 16,384; UNSUPPORTED_SASL_MECHANISM; DUPLICATE_RESOURCE for a credential that is set twice.
  * Each user has one answer, with the first error.
Source: AlterUserScramCredentialsRequest.json, AlterUserScramCredentialsResponse.json;
    `ScramControlManager.alterCredentials`.
"""

from collections import Counter
from typing import Final

from headrace.broker.network.request_context import RequestContext
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
)

MECHANISMS: Final = (1, 2)  # SCRAM-SHA-256, SCRAM-SHA-512
MIN_ITERATIONS: Final = 4_096
MAX_ITERATIONS: Final = 16_384

_Refusal = tuple[ErrorCode, str]
_NOT_KEPT: Final = ErrorCode.UNSUPPORTED_VERSION, "this broker authenticates nobody"
_ABSENT: Final = ErrorCode.RESOURCE_NOT_FOUND, "the user has no such credential"
_TWICE: Final = ErrorCode.DUPLICATE_RESOURCE, "the credential is set more than once"
_NO_NAME: Final = ErrorCode.UNACCEPTABLE_CREDENTIAL, "the name of the user is empty"
_MECHANISM: Final = ErrorCode.UNSUPPORTED_SASL_MECHANISM, "the mechanism is unknown"
_ITERATIONS: Final = (
    ErrorCode.UNACCEPTABLE_CREDENTIAL,
    f"iterations are from {MIN_ITERATIONS} to {MAX_ITERATIONS}",
)
_Result = AlterUserScramCredentialsResponse.AlterUserScramCredentialsResult


class AlterUserScramCredentialsHandler:
    """Refuses credentials, since no listener authenticates."""

    api_key = ApiKey.ALTER_USER_SCRAM_CREDENTIALS
    requires = (Access(AclOperation.ALTER, ResourceType.CLUSTER),)

    async def handle(
        self, context: RequestContext, request: AlterUserScramCredentialsRequest
    ) -> AlterUserScramCredentialsResponse:
        """Refuse for each user."""
        refused: dict[str, _Refusal] = {}
        async for deleted in context.turns.each(request.deletions):
            refused.setdefault(
                deleted.name, _problem_with(deleted.name, deleted.mechanism) or _ABSENT
            )
        counts: Counter[tuple[str, int]] = Counter()
        async for upserted in context.turns.each(request.upsertions):
            counts[upserted.name, upserted.mechanism] += 1
        async for upserted in context.turns.each(request.upsertions):
            problem = _problem_with(upserted.name, upserted.mechanism)
            if problem is None and not MIN_ITERATIONS <= upserted.iterations <= MAX_ITERATIONS:
                problem = _ITERATIONS
            if problem is None and counts[upserted.name, upserted.mechanism] > 1:
                problem = _TWICE
            refused.setdefault(upserted.name, problem or _NOT_KEPT)
        return AlterUserScramCredentialsResponse(
            results=[
                _Result(user, int(code), message)
                async for user, (code, message) in context.turns.each(refused.items())
            ]
        )


def _problem_with(name: str, mechanism: int) -> _Refusal | None:
    if not name:
        return _NO_NAME
    return None if mechanism in MECHANISMS else _MECHANISM
