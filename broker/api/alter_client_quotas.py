"""AlterClientQuotas (API key 49), versions 0 and 1.

Behaviour:
  * No quota is applied here, so none is kept: to set one is UNSUPPORTED_VERSION, with a message. To remove one, or to
    change nothing, succeeds.
  * An entry that makes no sense is INVALID_REQUEST, as in Kafka: no entity, one of an unknown type, an empty name, an
    IP address beside something else, a key that its entity does not have, a rate that is not above 0 or no whole
    number where it must be one, the same entity in two entries.
Deviations from Apache Kafka:
  * Kafka keeps quotas and applies them.
  * Kafka looks up the name of an IP entity; here it is not looked at.
Version notes:
  * 1: flexible.
Source: AlterClientQuotasRequest.json, AlterClientQuotasResponse.json; `ClientQuotaControlManager.alterClientQuotas`.
"""

from collections import Counter
from typing import Final

from headrace.broker.api.describe_client_quotas import CLIENT_ID, ENTITY_TYPES, IP, USER
from headrace.broker.network.request_context import RequestContext
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import AlterClientQuotasRequest, AlterClientQuotasResponse

OF_CLIENTS: Final = frozenset(
    {"producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate"}
)
OF_ADDRESSES: Final = frozenset({"connection_creation_rate"})
WHOLE: Final = frozenset({"producer_byte_rate", "consumer_byte_rate", "connection_creation_rate"})
_NOT_APPLIED: Final = "this broker applies no quotas"

_Entry = AlterClientQuotasRequest.EntryData
_Answer = AlterClientQuotasResponse.EntryData
_Names = dict[str, str | None]  # by the type of the entity


class AlterClientQuotasHandler:
    """Refuses quotas, since none are enforced."""

    api_key = ApiKey.ALTER_CLIENT_QUOTAS
    requires = (Access(AclOperation.ALTER_CONFIGS, ResourceType.CLUSTER),)

    async def handle(
        self, context: RequestContext, request: AlterClientQuotasRequest
    ) -> AlterClientQuotasResponse:
        """Check each entry, and change nothing."""
        entries: list[tuple[_Entry, _Names]] = []
        counts: Counter[frozenset[tuple[str, str | None]]] = Counter()
        async for entry in context.turns.each(request.entries):
            names = {it.entity_type: it.entity_name for it in entry.entity}
            counts[frozenset(names.items())] += 1
            entries.append((entry, names))
        answers = []
        async for entry, names in context.turns.each(entries):
            problem = _problem_with(entry, names)
            if problem is None and counts[frozenset(names.items())] > 1:
                problem = "the entity is named more than once"
            code = ErrorCode.NONE if problem is None else ErrorCode.INVALID_REQUEST
            if problem is None and not all(it.remove for it in entry.ops):
                code, problem = ErrorCode.UNSUPPORTED_VERSION, _NOT_APPLIED
            entity = [_Answer.EntityData(kind, name) for kind, name in names.items()]
            answers.append(_Answer(int(code), problem, entity))
        return AlterClientQuotasResponse(entries=answers)


def _problem_with(entry: _Entry, names: _Names) -> str | None:
    if not names or not ENTITY_TYPES.issuperset(names):
        return f"an entity has types among {USER}, {CLIENT_ID} and {IP}"
    if IP in names and len(names) > 1:
        return f"{IP} goes with no other entity type"
    if "" in names.values():
        return "the name of an entity is empty"
    keys = OF_ADDRESSES if IP in names else OF_CLIENTS
    for operation in entry.ops:
        if operation.remove:
            continue
        if operation.key not in keys:
            return f"the keys of this entity are {', '.join(sorted(keys))}"
        if not operation.value > 0:
            return f"{operation.key} is above 0"
        if operation.key in WHOLE and operation.value % 1 != 0:
            return f"{operation.key} is a whole number"
    return None
