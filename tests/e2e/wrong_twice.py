"""Requests that are wrong in two ways, and which of the errors Kafka answers first.

Each line of `CASES` names the place in Kafka's source where the order is decided. The codes are those of Apache Kafka
4.3.1: with `--against kafka` the same test asks it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

from headrace.protocol.errors import ErrorCode as E
from headrace.protocol.records.record import BatchOptions, Record, encode_batch

NOBODY = UUID(int=77)
NO_ID = UUID(int=0)
OFFSETS = "__consumer_offsets"
LONG = "x" * 5_000  # metadata of a commit: 4,096 are allowed
LONG_NAME = "n" * 250
GOOD = bytes(encode_batch([Record(0, 1_000, b"k", b"v")], BatchOptions()))
DAMAGED = GOOD[:-1] + b"?"
OLD_MAGIC = GOOD[:16] + b"\x01" + GOOD[17:]


@dataclass
class Scene:
    """What there is: a topic of two partitions with a record each, and two groups."""

    topic: str
    topic_id: UUID
    group: str  # one member, subscribed to the topic, stable
    member: str
    generation: int
    empty_group: str  # with an offset, without a member


class Case(NamedTuple):
    """One request."""

    name: str
    api: str
    version: int
    fields: Callable[[Scene], dict[str, Any]]
    codes: list[int]
    source: str


def _join(**changes: Any) -> dict[str, Any]:
    return {
        "group_id": "wrong",
        "session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 10_000,
        "member_id": "",
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": b""}],
    } | changes


def _commit(s: Scene, *partitions: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "group_id": s.group,
        "generation_id_or_member_epoch": s.generation,
        "member_id": s.member,
        "topics": [
            {"name": it.pop("topic", s.topic), "partitions": [_COMMITTED | it]}
            for it in partitions
        ],
    } | changes


_COMMITTED = {"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}


def _topics(*topics: dict[str, Any], **changes: Any) -> dict[str, Any]:
    new = {
        "name": "fresh",
        "num_partitions": 1,
        "replication_factor": 1,
        "assignments": [],
        "configs": [],
    }
    return {
        "topics": [new | it for it in topics],
        "timeout_ms": 10_000,
        "validate_only": True,
    } | changes


BAD_CONFIG = [{"name": "retention.ms", "value": "soon"}]
NO_CONFIG = [{"name": "no.such.key", "value": "1"}]


def _assigned(*partitions: tuple[int, list[int]]) -> list[dict[str, Any]]:
    return [{"partition_index": index, "broker_ids": ids} for index, ids in partitions]


def _more(*topics: dict[str, Any]) -> dict[str, Any]:
    return {
        "topics": [{"count": 3, "assignments": None} | it for it in topics],
        "timeout_ms": 10_000,
        "validate_only": True,
    }


def _offsets(s: Scene, *partitions: dict[str, Any], **changes: Any) -> dict[str, Any]:
    asked = {"partition_index": 0, "current_leader_epoch": -1, "timestamp": -1}
    return {
        "replica_id": -1,
        "isolation_level": 0,
        "topics": [
            {"name": it.pop("topic", s.topic), "partitions": [asked | it]} for it in partitions
        ],
    } | changes


def _produce(s: Scene, *partitions: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "transactional_id": None,
        "acks": -1,
        "timeout_ms": 10_000,
        "topic_data": [
            {
                "name": it.pop("topic", s.topic),
                "partition_data": [{"index": 0, "records": GOOD} | it],
            }
            for it in partitions
        ],
    } | changes


def _fetch(s: Scene, *partitions: dict[str, Any], **changes: Any) -> dict[str, Any]:
    asked = {
        "partition": 0,
        "current_leader_epoch": -1,
        "fetch_offset": 0,
        "last_fetched_epoch": -1,
        "log_start_offset": -1,
        "partition_max_bytes": 1 << 20,
    }
    return {
        "replica_id": -1,
        "max_wait_ms": 0,
        "min_bytes": 0,
        "max_bytes": 1 << 20,
        "isolation_level": 0,
        "session_id": 0,
        "session_epoch": -1,
        "topics": [
            {"topic": it.pop("topic", s.topic), "partitions": [asked | it]} for it in partitions
        ],
        "forgotten_topics_data": [],
        "rack_id": "",
    } | changes


def _alter(*resources: dict[str, Any]) -> dict[str, Any]:
    return {"resources": list(resources), "validate_only": True}


def _resource(kind: int, name: str, *configs: tuple[str, int, str | None]) -> dict[str, Any]:
    return {
        "resource_type": kind,
        "resource_name": name,
        "configs": [{"name": n, "config_operation": o, "value": v} for n, o, v in configs],
    }


def _records(s: Scene, *partitions: dict[str, Any]) -> dict[str, Any]:
    return {
        "timeout_ms": 0,
        "topics": [
            {
                "name": it.pop("topic", s.topic),
                "partitions": [{"partition_index": 0, "offset": 0} | it],
            }
            for it in partitions
        ],
    }


def _moves(*topics: tuple[str, int, list[int] | None]) -> dict[str, Any]:
    return {
        "timeout_ms": 10_000,
        "topics": [
            {"name": name, "partitions": [{"partition_index": index, "replicas": replicas}]}
            for name, index, replicas in topics
        ],
    }
