"""What each API asks of an authoriser is what Apache Kafka asks."""

import importlib
from collections.abc import Iterable
from typing import Final

import pytest

from headrace.broker.api.registry import FIRST_KEYS, LATER_KEYS
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey

# Of Apache Kafka 4.4, as operation and type of resource: all that stand in a row are asked for, and of those with "or"
# between them one is enough. What it asks only for what is not served here is left out: two-phase commits of
# InitProducerId 6.
KAFKA: Final = {
    "PRODUCE": ("WRITE TOPIC", "WRITE TRANSACTIONAL_ID"),
    "FETCH": ("READ TOPIC or CLUSTER_ACTION CLUSTER",),
    "LIST_OFFSETS": ("DESCRIBE TOPIC",),
    "METADATA": ("DESCRIBE TOPIC", "CREATE TOPIC or CREATE CLUSTER", "DESCRIBE CLUSTER"),
    "OFFSET_COMMIT": ("READ GROUP", "READ TOPIC"),
    "OFFSET_FETCH": ("DESCRIBE GROUP", "DESCRIBE TOPIC"),
    "FIND_COORDINATOR": (
        "DESCRIBE GROUP",
        "DESCRIBE TRANSACTIONAL_ID",
        "CLUSTER_ACTION CLUSTER",
    ),
    "JOIN_GROUP": ("READ GROUP",),
    "HEARTBEAT": ("READ GROUP",),
    "LEAVE_GROUP": ("READ GROUP",),
    "SYNC_GROUP": ("READ GROUP",),
    "DESCRIBE_GROUPS": ("DESCRIBE GROUP",),
    "LIST_GROUPS": ("DESCRIBE CLUSTER or DESCRIBE GROUP",),
    "API_VERSIONS": (),
    "CREATE_TOPICS": ("CREATE TOPIC or CREATE CLUSTER", "DESCRIBE_CONFIGS TOPIC"),
    "DELETE_TOPICS": ("DESCRIBE TOPIC or DELETE CLUSTER", "DELETE TOPIC or DELETE CLUSTER"),
    "DELETE_RECORDS": ("DELETE TOPIC",),
    "INIT_PRODUCER_ID": ("WRITE TRANSACTIONAL_ID", "IDEMPOTENT_WRITE CLUSTER or WRITE TOPIC"),
    "OFFSET_FOR_LEADER_EPOCH": ("DESCRIBE TOPIC or CLUSTER_ACTION CLUSTER",),
    "DESCRIBE_CONFIGS": (
        "DESCRIBE_CONFIGS TOPIC",
        "DESCRIBE_CONFIGS GROUP",
        "DESCRIBE_CONFIGS CLUSTER",
    ),
    "DESCRIBE_LOG_DIRS": ("DESCRIBE CLUSTER",),
    "CREATE_PARTITIONS": ("ALTER TOPIC",),
    "DELETE_GROUPS": ("DELETE GROUP",),
    "ELECT_LEADERS": ("ALTER CLUSTER",),
    "INCREMENTAL_ALTER_CONFIGS": (
        "ALTER_CONFIGS TOPIC",
        "ALTER_CONFIGS GROUP",
        "ALTER_CONFIGS CLUSTER",
    ),
    "ALTER_PARTITION_REASSIGNMENTS": ("ALTER CLUSTER",),
    "LIST_PARTITION_REASSIGNMENTS": ("DESCRIBE CLUSTER",),
    "OFFSET_DELETE": ("DELETE GROUP", "READ TOPIC"),
    "DESCRIBE_QUORUM": ("DESCRIBE CLUSTER",),
    "UPDATE_FEATURES": ("ALTER CLUSTER",),
    "DESCRIBE_CLUSTER": ("DESCRIBE CLUSTER",),
    "UNREGISTER_BROKER": ("ALTER CLUSTER",),
    "DESCRIBE_TOPIC_PARTITIONS": ("DESCRIBE TOPIC",),
    "ADD_RAFT_VOTER": ("ALTER CLUSTER",),
    "REMOVE_RAFT_VOTER": ("ALTER CLUSTER",),
    "SASL_HANDSHAKE": (),
    "SASL_AUTHENTICATE": (),
    "DESCRIBE_ACLS": ("DESCRIBE CLUSTER",),
    "CREATE_ACLS": ("ALTER CLUSTER",),
    "DELETE_ACLS": ("ALTER CLUSTER",),
    "ALTER_CONFIGS": ("ALTER_CONFIGS TOPIC", "ALTER_CONFIGS GROUP", "ALTER_CONFIGS CLUSTER"),
    "ALTER_REPLICA_LOG_DIRS": ("ALTER CLUSTER",),
    "CREATE_DELEGATION_TOKEN": ("CREATE_TOKENS USER",),
    "RENEW_DELEGATION_TOKEN": (),
    "EXPIRE_DELEGATION_TOKEN": (),
    "DESCRIBE_DELEGATION_TOKEN": ("DESCRIBE DELEGATION_TOKEN or DESCRIBE_TOKENS USER",),
    "DESCRIBE_CLIENT_QUOTAS": ("DESCRIBE_CONFIGS CLUSTER",),
    "ALTER_CLIENT_QUOTAS": ("ALTER_CONFIGS CLUSTER",),
    "DESCRIBE_USER_SCRAM_CREDENTIALS": ("DESCRIBE CLUSTER",),
    "ALTER_USER_SCRAM_CREDENTIALS": ("ALTER CLUSTER",),
    "DESCRIBE_PRODUCERS": ("READ TOPIC",),
    "DESCRIBE_TRANSACTIONS": ("DESCRIBE TRANSACTIONAL_ID", "DESCRIBE TOPIC"),
    "LIST_TRANSACTIONS": ("DESCRIBE TRANSACTIONAL_ID",),
    "LIST_CONFIG_RESOURCES": ("DESCRIBE_CONFIGS CLUSTER",),
    "UNREGISTER_CONTROLLER": ("ALTER CLUSTER",),
}
SERVED: Final = (*FIRST_KEYS, *LATER_KEYS)
# That ask only of some requests, or of some of what they name.
PARTLY: Final = {
    "ALTER_CONFIGS",
    "CREATE_DELEGATION_TOKEN",
    "DESCRIBE_DELEGATION_TOKEN",
    "DESCRIBE_TRANSACTIONS",
    "CREATE_TOPICS",
    "DELETE_TOPICS",
    "DESCRIBE_CLUSTER",
    "DESCRIBE_CONFIGS",
    "FIND_COORDINATOR",
    "INCREMENTAL_ALTER_CONFIGS",
    "INIT_PRODUCER_ID",
    "METADATA",
    "PRODUCE",
}


def required(key: ApiKey) -> tuple[Access, ...]:
    """What the handler of an API declares, which is in the module of the API's name."""
    module = importlib.import_module(f"headrace.broker.api.{key.name.lower()}")
    (handler,) = (it for it in vars(module).values() if getattr(it, "api_key", None) is key)
    found: tuple[Access, ...] = handler.requires
    return found


def rows(accesses: Iterable[Access]) -> list[str]:
    return [
        " or ".join(f"{one.operation.name} {one.resource_type.name}" for one in (it, *it.instead))
        for it in accesses
    ]


@pytest.mark.parametrize("key", SERVED, ids=lambda it: it.name)
def test_an_api_asks_for_what_kafka_asks(key: ApiKey) -> None:
    accesses = required(key)
    assert rows(accesses) == list(KAFKA[key.name])
    assert any(it.when for it in accesses) == (key.name in PARTLY)
    assert not any(deeper.instead for it in accesses for deeper in it.instead)


def test_the_table_has_the_apis_that_are_served() -> None:
    assert set(KAFKA) == {it.name for it in SERVED}


def test_codes_are_kafkas() -> None:
    assert [(it.name, it.value) for it in (AclOperation.READ, AclOperation.TWO_PHASE_COMMIT)] == [
        ("READ", 3),
        ("TWO_PHASE_COMMIT", 15),
    ]
    assert [it.value for it in AclOperation] == list(range(3, 16))
    assert [(it.name, it.value) for it in ResourceType] == [
        ("TOPIC", 2),
        ("GROUP", 3),
        ("CLUSTER", 4),
        ("TRANSACTIONAL_ID", 5),
        ("DELEGATION_TOKEN", 6),
        ("USER", 7),
    ]
