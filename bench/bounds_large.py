"""Requests whose cost grows with what the cluster has: a topic of many partitions, their offsets, and many groups."""

import struct
from collections.abc import Callable
from typing import Final

from bench.bounds import Case, array, request
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.primitives import encode_compact_string

TOPIC: Final = "huge"
GROUP: Final = "commits-all"
CREATED_AT_ONCE: Final = 10_000  # partitions, as many as one request may create


def large_cases(partitions: int, groups: int) -> tuple[Case, ...]:
    """The cases for so many partitions and groups, in an order in which each has what it needs."""
    first = min(partitions, CREATED_AT_ONCE)
    cases = [Case(f"CreateTopics: {first} partitions", lambda: _create(first))]
    for count in range(first + CREATED_AT_ONCE, partitions + 1, CREATED_AT_ONCE):
        cases.append(Case(f"CreatePartitions: up to {count}", _more(count)))
    return (
        *cases,
        Case("Metadata: all partitions of a topic", lambda: request(ApiKey.METADATA, 12, array([bytes(16) + encode_compact_string(TOPIC) + b"\0"]) + b"\0\0\0")),
        Case("OffsetCommit: all partitions", lambda: _commit(partitions)),
        Case("OffsetFetch: all offsets of a group", lambda: request(ApiKey.OFFSET_FETCH, 8, array([encode_compact_string(GROUP) + b"\0\0"]) + b"\0\0")),
        Case("DescribeLogDirs: all partitions", lambda: request(ApiKey.DESCRIBE_LOG_DIRS, 4, b"\0\0")),
        Case("OffsetDelete: all partitions", lambda: _delete_offsets(partitions)),
        Case("OffsetCommit: again", lambda: _commit(partitions)),
        Case("OffsetCommit: many groups", lambda: _many_groups(groups), groups),
        Case("ListGroups: many groups", lambda: request(ApiKey.LIST_GROUPS, 5, b"\x01\x01\0")),
        Case("DeleteGroups: a group with all offsets", lambda: request(ApiKey.DELETE_GROUPS, 2, array([encode_compact_string(GROUP)]) + b"\0")),
        Case("OffsetCommit: once more", lambda: _commit(partitions)),
        Case("DeleteRecords: all partitions", lambda: _delete_records(partitions)),
        Case("DeleteTopics: all partitions", lambda: request(ApiKey.DELETE_TOPICS, 6, array([encode_compact_string(TOPIC) + bytes(16) + b"\0"]) + struct.pack(">i", 60_000) + b"\0")),
    )  # fmt: skip


def _create(partitions: int) -> bytes:
    topic = encode_compact_string(TOPIC) + struct.pack(">ih", partitions, 1) + b"\x01\x01\0"
    body = array([topic]) + struct.pack(">i?", 120_000, False) + b"\0"
    return request(ApiKey.CREATE_TOPICS, 7, body)


def _more(count: int) -> Callable[[], bytes]:
    topic = encode_compact_string(TOPIC) + struct.pack(">i", count) + b"\0\0"
    body = array([topic]) + struct.pack(">i?", 120_000, False) + b"\0"
    return lambda: request(ApiKey.CREATE_PARTITIONS, 3, body)


def _commit(partitions: int) -> bytes:
    each = [struct.pack(">iqi", n, 1, -1) + b"\x01\0" for n in range(partitions)]
    topic = encode_compact_string(TOPIC) + array(each) + b"\0"
    group = encode_compact_string(GROUP) + struct.pack(">i", -1) + b"\x01\0"
    return request(ApiKey.OFFSET_COMMIT, 8, group + array([topic]) + b"\0")


def _delete_offsets(partitions: int) -> bytes:
    body = struct.pack(">h11si", len(GROUP), GROUP.encode(), 1)
    body += struct.pack(">h4s", len(TOPIC), TOPIC.encode())
    body += struct.pack(f">i{partitions}i", partitions, *range(partitions))
    return request(ApiKey.OFFSET_DELETE, 0, body)


def _many_groups(groups: int) -> bytes:
    partition = struct.pack(">iqi", 0, 1, -1) + b"\x01\0"
    topic = encode_compact_string(TOPIC) + array([partition]) + b"\0"
    frames = []
    for number in range(groups):
        group = encode_compact_string(f"group{number}") + struct.pack(">i", -1) + b"\x01\0"
        frames.append(request(ApiKey.OFFSET_COMMIT, 8, group + array([topic]) + b"\0"))
    return b"".join(frames)


def _delete_records(partitions: int) -> bytes:
    each = array([struct.pack(">iq", n, 0) + b"\0" for n in range(partitions)])
    topic = encode_compact_string(TOPIC) + each + b"\0"
    return request(ApiKey.DELETE_RECORDS, 2, array([topic]) + struct.pack(">i", 60_000) + b"\0")
