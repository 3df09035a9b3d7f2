"""Supported versions of each request, and the first version with a flexible encoding. Pure.

The ranges are those of Apache Kafka 4.4, with two exceptions for real clients:

* Produce is *advertised* from 0, though 0 to 2 are refused: older librdkafka compresses only
  when the advertised range includes 0 (KAFKA-18659).
* InitProducerId ends at 5: version 6 (KIP-939) is unstable, and a Java client uses whatever
  is advertised.

A row here means that the messages can be decoded and encoded. A listener advertises the part of the
table that it serves, see `advertised`.
"""

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from headrace.protocol.api_keys import ApiKey

NEVER: Final = 32_768  # above any version: the message has no flexible encoding


class ApiVersions(NamedTuple):
    """One row: the advertised range (inclusive) and the first flexible version (KIP-482)."""

    min_version: int
    max_version: int
    flexible_since: int


PRODUCE_MIN_VERSION: Final = 3  # lowest decoded version; the lowest advertised one is 0

VERSIONS: Final[Mapping[ApiKey, ApiVersions]] = MappingProxyType(
    {
        ApiKey.PRODUCE: ApiVersions(0, 13, 9),
        ApiKey.FETCH: ApiVersions(4, 18, 12),
        ApiKey.LIST_OFFSETS: ApiVersions(1, 11, 6),
        ApiKey.METADATA: ApiVersions(0, 13, 9),
        ApiKey.OFFSET_COMMIT: ApiVersions(2, 10, 8),
        ApiKey.OFFSET_FETCH: ApiVersions(1, 10, 6),
        ApiKey.FIND_COORDINATOR: ApiVersions(0, 6, 3),
        ApiKey.JOIN_GROUP: ApiVersions(0, 9, 6),
        ApiKey.HEARTBEAT: ApiVersions(0, 4, 4),
        ApiKey.LEAVE_GROUP: ApiVersions(0, 5, 4),
        ApiKey.SYNC_GROUP: ApiVersions(0, 5, 4),
        ApiKey.DESCRIBE_GROUPS: ApiVersions(0, 6, 5),
        ApiKey.LIST_GROUPS: ApiVersions(0, 5, 3),
        ApiKey.SASL_HANDSHAKE: ApiVersions(0, 1, NEVER),
        ApiKey.API_VERSIONS: ApiVersions(0, 5, 3),
        ApiKey.CREATE_TOPICS: ApiVersions(2, 7, 5),
        ApiKey.DELETE_TOPICS: ApiVersions(1, 6, 4),
        ApiKey.DELETE_RECORDS: ApiVersions(0, 2, 2),
        ApiKey.INIT_PRODUCER_ID: ApiVersions(0, 5, 2),
        ApiKey.OFFSET_FOR_LEADER_EPOCH: ApiVersions(2, 4, 4),
        ApiKey.ADD_PARTITIONS_TO_TXN: ApiVersions(0, 5, 3),
        ApiKey.ADD_OFFSETS_TO_TXN: ApiVersions(0, 4, 3),
        ApiKey.END_TXN: ApiVersions(0, 5, 3),
        ApiKey.WRITE_TXN_MARKERS: ApiVersions(1, 2, 1),
        ApiKey.TXN_OFFSET_COMMIT: ApiVersions(0, 6, 3),
        ApiKey.DESCRIBE_ACLS: ApiVersions(1, 3, 2),
        ApiKey.CREATE_ACLS: ApiVersions(1, 3, 2),
        ApiKey.DELETE_ACLS: ApiVersions(1, 3, 2),
        ApiKey.DESCRIBE_CONFIGS: ApiVersions(1, 4, 4),
        ApiKey.ALTER_CONFIGS: ApiVersions(0, 2, 2),
        ApiKey.ALTER_REPLICA_LOG_DIRS: ApiVersions(1, 2, 2),
        ApiKey.DESCRIBE_LOG_DIRS: ApiVersions(1, 5, 2),
        ApiKey.SASL_AUTHENTICATE: ApiVersions(0, 2, 2),
        ApiKey.CREATE_PARTITIONS: ApiVersions(0, 3, 2),
        ApiKey.CREATE_DELEGATION_TOKEN: ApiVersions(1, 3, 2),
        ApiKey.RENEW_DELEGATION_TOKEN: ApiVersions(1, 2, 2),
        ApiKey.EXPIRE_DELEGATION_TOKEN: ApiVersions(1, 2, 2),
        ApiKey.DESCRIBE_DELEGATION_TOKEN: ApiVersions(1, 3, 2),
        ApiKey.DELETE_GROUPS: ApiVersions(0, 3, 2),
        ApiKey.ELECT_LEADERS: ApiVersions(0, 2, 2),
        ApiKey.INCREMENTAL_ALTER_CONFIGS: ApiVersions(0, 1, 1),
        ApiKey.ALTER_PARTITION_REASSIGNMENTS: ApiVersions(0, 1, 0),
        ApiKey.LIST_PARTITION_REASSIGNMENTS: ApiVersions(0, 0, 0),
        ApiKey.OFFSET_DELETE: ApiVersions(0, 0, NEVER),
        ApiKey.DESCRIBE_CLIENT_QUOTAS: ApiVersions(0, 1, 1),
        ApiKey.ALTER_CLIENT_QUOTAS: ApiVersions(0, 1, 1),
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: ApiVersions(0, 0, 0),
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS: ApiVersions(0, 0, 0),
        ApiKey.DESCRIBE_QUORUM: ApiVersions(0, 2, 0),
        ApiKey.UPDATE_FEATURES: ApiVersions(0, 2, 0),
        ApiKey.DESCRIBE_CLUSTER: ApiVersions(0, 2, 0),
        ApiKey.DESCRIBE_PRODUCERS: ApiVersions(0, 0, 0),
        ApiKey.UNREGISTER_BROKER: ApiVersions(0, 0, 0),
        ApiKey.DESCRIBE_TRANSACTIONS: ApiVersions(0, 0, 0),
        ApiKey.LIST_TRANSACTIONS: ApiVersions(0, 2, 0),
        ApiKey.LIST_CONFIG_RESOURCES: ApiVersions(0, 1, 0),
        ApiKey.DESCRIBE_TOPIC_PARTITIONS: ApiVersions(0, 0, 0),
        ApiKey.ADD_RAFT_VOTER: ApiVersions(0, 1, 0),
        ApiKey.REMOVE_RAFT_VOTER: ApiVersions(0, 0, 0),
        ApiKey.UNREGISTER_CONTROLLER: ApiVersions(0, 0, 0),
    }
)


def advertised(served: Collection[ApiKey]) -> dict[ApiKey, ApiVersions]:
    """Return the ranges of an ApiVersions response for a listener that serves these keys, in key order.

    Raises:
        KeyError: a key has no row in the table.
    """
    return {key: VERSIONS[key] for key in sorted(served)}


def accepts(api_key: int, api_version: int) -> bool:
    """Whether requests of this key and version can be decoded."""
    row = _ACCEPTED.get(api_key)
    return row is not None and row.min_version <= api_version <= row.max_version


def is_flexible(api_key: int, api_version: int) -> bool:
    """Whether the bodies of this key and version are flexible; False for a key that has no row."""
    return api_version >= FLEXIBLE_SINCE.get(api_key, NEVER)


# Keyed by plain int, because a header can have any number from the client.
_ACCEPTED: Final[dict[int, ApiVersions]] = {
    int(key): row._replace(min_version=PRODUCE_MIN_VERSION) if key is ApiKey.PRODUCE else row
    for key, row in VERSIONS.items()
}
FLEXIBLE_SINCE: Final[dict[int, int]] = {
    int(key): row.flexible_since for key, row in VERSIONS.items()
}
