"""What access rules are about, and what an API asks of an authoriser. Pure.

Each handler declares what its API requires, beside its key. It is not checked yet: every client may do everything, and
the configuration refuses what would promise otherwise.

Source: `AclOperation`, `ResourceType`, and `KafkaApis` and `ControllerApis` for what is required, of Apache Kafka 4.4.
"""

from enum import IntEnum
from typing import Final, NamedTuple


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


_OF_CLUSTER: Final = (5, 7, 8, 9, 10, 11, 12)
_OF_TOPIC: Final = (3, 4, 5, 6, 7, 8, 10, 11)
_OF_GROUP: Final = (3, 6, 8, 10, 11)
# Operations that a resource has, as the bits of an `authorized_operations` field: all of them, without an authorizer.
CLUSTER_OPERATIONS: Final = sum(1 << AclOperation(it) for it in _OF_CLUSTER)
TOPIC_OPERATIONS: Final = sum(1 << AclOperation(it) for it in _OF_TOPIC)
GROUP_OPERATIONS: Final = sum(1 << AclOperation(it) for it in _OF_GROUP)
NO_OPERATIONS: Final = -(1 << 31)  # they were not asked for


class Access(NamedTuple):
    """An operation on the cluster, or on each resource of a type that a request or its answer names."""

    operation: AclOperation
    resource_type: ResourceType
    when: str = ""  # which requests, or parts of them, need it; empty: all
    instead: tuple["Access", ...] = ()  # any of these will do, too
