"""DescribeClientQuotas (API key 48), versions 0 and 1.

Behaviour:
  * There are no quotas: no entry. A filter that makes no sense gets Kafka's error.
Version notes:
  * 1: flexible.
Source: DescribeClientQuotasRequest.json, DescribeClientQuotasResponse.json; `ClientQuotasImage.describe`.
"""

from collections.abc import Sequence
from typing import Final

from headrace.broker.network.request_context import RequestContext
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import MAX_MESSAGE_CHARACTERS, ErrorCode, KafkaError
from headrace.protocol.messages import DescribeClientQuotasRequest, DescribeClientQuotasResponse

USER, CLIENT_ID, IP = "user", "client-id", "ip"
EXACT, DEFAULT, SPECIFIED = 0, 1, 2
ENTITY_TYPES: Final = frozenset({USER, CLIENT_ID, IP})

_Component = DescribeClientQuotasRequest.ComponentData


class DescribeClientQuotasHandler:
    """Lists no quota."""

    api_key = ApiKey.DESCRIBE_CLIENT_QUOTAS
    requires = (Access(AclOperation.DESCRIBE_CONFIGS, ResourceType.CLUSTER),)

    async def handle(
        self, context: RequestContext, request: DescribeClientQuotasRequest
    ) -> DescribeClientQuotasResponse:
        """Check the filter, which matches nothing."""
        del context
        try:
            _check(request.components)
        except KafkaError as error:
            return DescribeClientQuotasResponse(
                error_code=int(error.code),
                error_message=str(error.message)[:MAX_MESSAGE_CHARACTERS],
                entries=None,
            )
        return DescribeClientQuotasResponse(error_message=None, entries=[])


def _check(components: Sequence[_Component]) -> None:
    """Refuse a filter; it ends at its first wrong component, and has three different ones at most."""
    seen: set[str] = set()
    for component in components:
        kind = component.entity_type
        if not kind or kind in seen:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST, f"entity type {kind!r} is empty or named twice"
            )
        if kind not in ENTITY_TYPES:
            raise KafkaError(
                ErrorCode.UNSUPPORTED_VERSION, f"entity type {kind!r} is not supported"
            )
        seen.add(kind)
        if component.match_type not in (EXACT, DEFAULT, SPECIFIED):
            raise KafkaError(
                ErrorCode.INVALID_REQUEST, f"match type {component.match_type} is unknown"
            )
        if (component.match_type == EXACT) != (component.match is not None):
            raise KafkaError(
                ErrorCode.INVALID_REQUEST, "an exact match has a name, and no other match has one"
            )
    if IP in seen and len(seen) > 1:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "ip goes with no other entity type")
