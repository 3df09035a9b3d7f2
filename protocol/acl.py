"""What access rules are about, and what an API asks of an authoriser. Pure.

Each handler declares what its API requires, beside its key. It is not checked yet: every client may do everything, and
the configuration refuses what would promise otherwise.

Source: `AclOperation`, `ResourceType`, and `KafkaApis` and `ControllerApis` for what is required, of Apache Kafka 4.4.
"""

from enum import IntEnum
from typing import NamedTuple


class AclOperation(IntEnum):
    """What a client may be allowed to do; UNKNOWN, ANY and ALL, which only rules and filters have, are not here."""

    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class ResourceType(IntEnum):
    """What it may be done to; UNKNOWN and ANY are not here."""

    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class Access(NamedTuple):
    """An operation on the cluster, or on each resource of a type that a request or its answer names."""

    operation: AclOperation
    resource_type: ResourceType
    when: str = ""  # which requests, or parts of them, need it; empty: all
    instead: tuple["Access", ...] = ()  # any of these will do, too
