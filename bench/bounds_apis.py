"""More requests at their bounds: groups, and what makes or describes topics."""

import struct
from typing import Final

from bench.bounds import ELEMENTS, GROUP, WIDE, WIDE_PARTITIONS, Case, array, names, request
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.primitives import encode_compact_string, encode_uvarint

FEW: Final = 1_000  # where no client has more: protocols, filters
MEMBERS: Final = 16_000  # of a group


def _join_group(protocols: list[bytes]) -> bytes:
    begin = encode_compact_string(GROUP) + struct.pack(">ii", 10_000, 10_000) + b"\x01\0"
    body = begin + encode_compact_string("consumer") + array(protocols) + b"\0\0"
    return request(ApiKey.JOIN_GROUP, 9, body)


def _protocol(name: str, metadata: bytes) -> bytes:
    return encode_compact_string(name) + encode_uvarint(len(metadata) + 1) + metadata + b"\0"


def _sync_group(assignments: list[bytes]) -> bytes:
    begin = encode_compact_string(GROUP) + struct.pack(">i", 1) + b"\x02m\0"
    begin += encode_compact_string("consumer") + encode_compact_string("range")
    return request(ApiKey.SYNC_GROUP, 5, begin + array(assignments) + b"\0")


def _leave_group(group: str) -> bytes:
    members = [name + b"\0\0\0" for name in names("unknown")[:MEMBERS]]
    body = encode_compact_string(group) + array(members) + b"\0"
    return request(ApiKey.LEAVE_GROUP, 5, body)


def _offset_delete() -> bytes:
    partitions = struct.pack(f">i{ELEMENTS - 1}i", ELEMENTS - 1, *range(ELEMENTS - 1))
    body = struct.pack(">h5si", 5, GROUP.encode(), 1) + struct.pack(">h4s", 4, WIDE.encode())
    return request(ApiKey.OFFSET_DELETE, 0, body + partitions)


def _long_heartbeat(member_id: str) -> bytes:
    body = encode_compact_string(GROUP) + struct.pack(">i", 1) + encode_compact_string(member_id)
    return request(ApiKey.HEARTBEAT, 4, body + b"\0\0")


def _list_groups() -> bytes:
    return request(ApiKey.LIST_GROUPS, 5, array(names("unknown")[:FEW]) + b"\x01\0")


def _log_dirs() -> bytes:
    partitions = array([struct.pack(">i", index) for index in range(ELEMENTS - 1)])
    return request(
        ApiKey.DESCRIBE_LOG_DIRS,
        4,
        array([encode_compact_string(WIDE) + partitions + b"\0"]) + b"\0",
    )


def _reassignments() -> bytes:
    partitions = array([struct.pack(">i", index) for index in range(ELEMENTS - 1)])
    topics = array([encode_compact_string(WIDE) + partitions + b"\0"])
    return request(ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, bytes(4) + topics + b"\0")


def _create_one_topic(*, assigned: int = 0, configs: int = 0, partitions: int = -1) -> bytes:
    assignments = [
        struct.pack(">i", n) + b"\x02" + struct.pack(">i", 1) + b"\0" for n in range(assigned)
    ]
    keys = [encode_compact_string(f"c{n}") + b"\x02v\0" for n in range(configs)]
    factor = -1 if assigned else 1
    topic = encode_compact_string("one") + struct.pack(">ih", partitions, factor)
    topic += array(assignments) + array(keys) + b"\0"
    return request(
        ApiKey.CREATE_TOPICS, 7, array([topic]) + struct.pack(">i?", 30_000, True) + b"\0"
    )


def _create_partitions(topics: list[bytes]) -> bytes:
    body = array(topics) + struct.pack(">i?", 30_000, True) + b"\0"
    return request(ApiKey.CREATE_PARTITIONS, 3, body)


def _more_assigned_partitions() -> bytes:
    assignments = [b"\x02" + struct.pack(">i", 1) + b"\0" for _ in range(ELEMENTS // 2)]
    count = struct.pack(">i", WIDE_PARTITIONS + ELEMENTS // 2)
    return _create_partitions([encode_compact_string(WIDE) + count + array(assignments) + b"\0"])


def _config_keys() -> bytes:
    resource = b"\x02" + encode_compact_string(WIDE) + array(names("unknown")[1:]) + b"\0"
    return request(ApiKey.DESCRIBE_CONFIGS, 4, array([resource]) + b"\x01\x01\0")


def _alter_brokers() -> bytes:
    resources = [b"\x04" + name + b"\x01\0" for name in names("unknown")]
    return request(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, array(resources) + b"\x01\0")


MORE_CASES: Final = (
    Case("JoinGroup: protocols", lambda: _join_group([_protocol(f"p{n}", b"") for n in range(FEW)])),
    Case("JoinGroup: metadata of 15 MB", lambda: _join_group([_protocol("range", bytes(15_000_000))])),
    Case("JoinGroup: metadata of 60 MB", lambda: _join_group([_protocol("range", bytes(60_000_000))]), 0),
    Case("SyncGroup: assignments", lambda: _sync_group([_protocol(f"m{n}", b"") for n in range(MEMBERS)])),
    Case("SyncGroup: an assignment of 15 MB", lambda: _sync_group([_protocol("m", bytes(15_000_000))])),
    Case("LeaveGroup: members of no group", lambda: _leave_group("none")),
    Case("LeaveGroup: unknown members", lambda: _leave_group(GROUP)),
    Case("OffsetDelete: partitions", _offset_delete),
    Case("Heartbeat: a member id of 60 MB", lambda: _long_heartbeat("\u20ac" * 20_000_000), 0),
    Case("ListGroups: states", _list_groups),
    Case("DescribeLogDirs: partitions", _log_dirs),
    Case("ListPartitionReassignments: partitions", _reassignments),
    Case("IncrementalAlterConfigs: unknown brokers", _alter_brokers),
    Case("CreateTopics: partitions of one topic", lambda: _create_one_topic(partitions=10_000)),
    Case("CreateTopics: assignments of one topic", lambda: _create_one_topic(assigned=ELEMENTS // 2)),
    Case("CreateTopics: configs of one topic", lambda: _create_one_topic(configs=ELEMENTS - 1, partitions=1)),
    Case("CreatePartitions: unknown topics", lambda: _create_partitions([name + struct.pack(">i", 2) + b"\0\0" for name in names("unknown")])),
    Case("CreatePartitions: assignments of one topic", _more_assigned_partitions),
    Case("DescribeConfigs: keys of one topic", _config_keys),
)  # fmt: skip
