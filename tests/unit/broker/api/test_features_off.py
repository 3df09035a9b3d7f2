"""What a broker answers that authenticates nobody, and has no access rules, quotas, credentials and transactions.

The codes are those of Apache Kafka 4.4.0 on a PLAINTEXT listener and without an authorizer.
"""

import importlib
from typing import Any

import pytest

from headrace.protocol import messages
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import VERSIONS
from tests.unit.broker.cluster_scene import ask

R = Any


def of(name: str, **fields: Any) -> R:
    return getattr(messages, f"{name}Request")(**fields)


def nested(name: str, path: str, *values: Any) -> R:
    kind = getattr(messages, f"{name}Request")
    for part in path.split("."):
        kind = getattr(kind, part)
    return kind(*values)


def quota(entity: dict[str, str | None], *changes: tuple[str, float, bool]) -> R:
    return nested(
        "AlterClientQuotas",
        "EntryData",
        [nested("AlterClientQuotas", "EntryData.EntityData", *it) for it in entity.items()],
        [nested("AlterClientQuotas", "EntryData.OpData", *it) for it in changes],
    )


def quotas(*entries: R) -> R:
    return of("AlterClientQuotas", entries=list(entries))


def matching(*components: tuple[str, int, str | None]) -> R:
    made = [nested("DescribeClientQuotas", "ComponentData", *it) for it in components]
    return of("DescribeClientQuotas", components=made)


def users(*names: str) -> R:
    made = [nested("DescribeUserScramCredentials", "UserName", it) for it in names]
    return of("DescribeUserScramCredentials", users=made)


def scram(*upserted: tuple[str, int, int], deleted: tuple[tuple[str, int], ...] = ()) -> R:
    name = "AlterUserScramCredentials"
    return of(
        name,
        deletions=[nested(name, "ScramCredentialDeletion", *it) for it in deleted],
        upsertions=[
            nested(name, "ScramCredentialUpsertion", *it, b"salt", b"secret") for it in upserted
        ],
    )


def acl() -> R:
    return nested("CreateAcls", "AclCreation", 2, "t", 3, "User:a", "*", 3, 3)


def rule_filter() -> R:
    return nested("DeleteAcls", "DeleteAclsFilter", 1, None, 1, None, None, 1, 1)


SET, REMOVED = ("producer_byte_rate", 5.0, False), ("producer_byte_rate", 0.0, True)
USER: dict[str, str | None] = {"user": "u"}
CASES = [
    (of("SaslHandshake", mechanism="PLAIN"), [34]),
    (of("SaslAuthenticate", auth_bytes=b"secret"), [34]),
    (of("DescribeAcls"), [54]),
    (of("CreateAcls", creations=[acl(), acl()]), [54, 54]),
    (of("CreateAcls"), []),
    (of("DeleteAcls", filters=[rule_filter(), rule_filter()]), [54, 54]),
    (of("CreateDelegationToken"), [64]),
    (of("RenewDelegationToken", hmac=b"x"), [64]),
    (of("ExpireDelegationToken", hmac=b"x"), [64]),
    (of("DescribeDelegationToken"), [64]),
    (matching(), [0]),
    (matching(("user", 0, "u"), ("client-id", 1, None)), [0]),
    (matching(("ip", 2, None)), [0]),
    (matching(("", 2, None)), [42]),
    (matching(("group", 2, None)), [35]),
    (matching(("user", 2, "u")), [42]),
    (matching(("user", 0, None)), [42]),
    (matching(("user", 3, None)), [42]),
    (matching(("user", 2, None), ("user", 2, None)), [42]),
    (matching(("user", 2, None), ("ip", 2, None)), [42]),
    (quotas(quota(USER, REMOVED), quota({"user": None, "client-id": "c"}, REMOVED)), [0, 0]),
    (quotas(quota(USER)), [0]),
    (quotas(quota(USER, ("no.such", 0.0, True))), [0]),
    (quotas(quota(USER, SET)), [35]),
    (quotas(quota({"ip": "10.0.0.1"}, ("connection_creation_rate", 5.0, False))), [35]),
    (quotas(quota(USER, ("no.such", 5.0, False))), [42]),
    (quotas(quota(USER, ("connection_creation_rate", 5.0, False))), [42]),
    (quotas(quota({"ip": "10.0.0.1"}, SET)), [42]),
    (quotas(quota(USER, ("producer_byte_rate", 0.0, False))), [42]),
    (quotas(quota(USER, ("producer_byte_rate", float("nan"), False))), [42]),
    (quotas(quota(USER, ("producer_byte_rate", float("inf"), False))), [42]),
    (quotas(quota(USER, ("producer_byte_rate", 1.5, False))), [42]),
    (quotas(quota(USER, ("request_percentage", 1.5, False))), [35]),
    (quotas(quota({})), [42]),
    (quotas(quota({"group": "g"}, SET)), [42]),
    (quotas(quota({"user": ""}, REMOVED)), [42]),
    (quotas(quota({"ip": "10.0.0.1", "user": "u"}, REMOVED)), [42]),
    (quotas(quota(USER, REMOVED), quota(USER, REMOVED)), [42, 42]),
    (of("DescribeUserScramCredentials", users=None), [0]),
    (of("DescribeUserScramCredentials"), [0]),
    (users("a", "b", "b"), [0, 91, 92]),
    (scram(), []),
    (scram(("a", 1, 4_096)), [35]),
    (scram(("a", 1, 4_096), ("a", 2, 16_384)), [35]),
    (scram(("a", 1, 4_096), ("a", 1, 4_096)), [92]),
    (scram(("a", 1, 4_095)), [93]),
    (scram(("a", 1, 16_385)), [93]),
    (scram(("", 1, 4_096)), [93]),
    (scram(("a", 3, 4_096)), [33]),
    (scram(("a", 1, 4_096), deleted=(("a", 1), ("b", 2))), [91, 91]),
    (scram(deleted=(("a", 9),)), [33]),
    (scram(deleted=(("", 1),)), [93]),
    (of("DescribeTransactions", transactional_ids=["a", "a", ""]), [42, 105, 105]),
    (of("ListTransactions"), [0]),
]


def codes(answer: Any) -> list[int]:
    """Every error code of an answer, wherever it is."""
    found = []
    for name in getattr(answer, "__struct_fields__", ()):
        value = getattr(answer, name)
        if name == "error_code":
            found.append(value)
        elif isinstance(value, list):
            found += [code for it in value for code in codes(it)]
    return sorted(found)


def handler_of(key: ApiKey) -> Any:
    module = importlib.import_module(f"headrace.broker.api.{key.name.lower()}")
    (kind,) = (it for it in vars(module).values() if getattr(it, "api_key", None) is key)
    return kind()


@pytest.mark.parametrize(("request_", "expected"), CASES)
def test_the_answer_is_that_of_kafka_without_the_feature(request_: R, expected: list[int]) -> None:
    key = ApiKey(request_.API_KEY)
    low, high, _ = VERSIONS[key]
    for version in range(low, high + 1):
        assert codes(ask(handler_of(key), version, request_)) == expected


def test_a_token_is_refused_to_who_asks_for_it() -> None:
    asked = of("CreateDelegationToken", owner_principal_type="User", owner_principal_name="b")
    handler = handler_of(ApiKey.CREATE_DELEGATION_TOKEN)
    told = ask(handler, 3, asked)
    assert (told.principal_type, told.principal_name) == ("User", "b")
    assert told.token_requester_principal_name == "ANONYMOUS"
    assert ask(handler, 1, of("CreateDelegationToken")).principal_name == "ANONYMOUS"


def test_states_of_transactions_that_do_not_exist_are_named() -> None:
    asked = of("ListTransactions", state_filters=["Ongoing", "ongoing", "no", "no"])
    told = ask(handler_of(ApiKey.LIST_TRANSACTIONS), 2, asked)
    assert told.unknown_state_filters == ["ongoing", "no"]
    assert list(told.transaction_states) == []


def test_no_quotas_are_told_apart_from_a_wrong_filter() -> None:
    handler = handler_of(ApiKey.DESCRIBE_CLIENT_QUOTAS)
    assert ask(handler, 1, matching()).entries == []
    assert ask(handler, 1, matching(("", 2, None))).entries is None
