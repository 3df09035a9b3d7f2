"""What must hold between settings, beyond the range of each.

A table of relations over a NodeConfig. Each names the keys that it ties together, so that a message
can say where every one of them was set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from config.node import NodeConfig

# A record in the WAL is a batch with its stream header, and appends must be able to make progress
# while older data is still being uploaded: no single one may take more than this share of a bound.
APPEND_SHARE_MAX = 4
S3_PART_BYTES_MIN = 5 * 1024 * 1024  # UploadPart refuses less, except for the last part
COMPACTED_PART_BYTES_MAX = 32 * 1024 * 1024  # larger ones are for uploads only


@dataclass(frozen=True, slots=True)
class Violation:
    """A relation that does not hold: the keys it ties together, the first one to change first."""

    keys: tuple[str, ...]
    message: str


class RelationError(ValueError):
    """Settings that are valid one by one but not together."""

    def __init__(self, violations: list[Violation]) -> None:
        super().__init__("; ".join(violation.message for violation in violations))
        self.violations = violations


@dataclass(frozen=True, slots=True)
class _AtMost:
    """`low` times `factor` is at most `high`; the function gives the two values."""

    low_key: str
    high_key: str
    values: Callable[[NodeConfig], tuple[int, int]]
    why: str
    factor: int = 1
    high_name: str = ""  # what the high value is, where it is one part of its key

    def violation(self, config: NodeConfig) -> Violation | None:
        low, high = self.values(config)
        if low * self.factor <= high:
            return None
        bound = f"{self.high_name or self.high_key} ({high})"
        if self.factor > 1:
            bound = f"1/{self.factor} of {bound}"
        message = f"{self.low_key} ({low}) must be at most {bound}: {self.why}"
        return Violation((self.low_key, self.high_key), message)


_TABLE = (
    _AtMost(
        "s3.wal.upload.threshold",
        "s3.wal.cache.size",
        lambda c: (c.storage.upload_threshold_bytes, c.storage.log_cache_bytes),
        "records stay in that cache until they are uploaded",
    ),
    _AtMost(
        "s3.wal.upload.threshold",
        "s3.wal.path",
        lambda c: (c.storage.upload_threshold_bytes, c.wal.capacity_bytes),
        "there must be room for new records while older ones are uploaded",
        factor=2,
        high_name="the capacity in s3.wal.path",
    ),
    _AtMost(
        "message.max.bytes",
        "s3.wal.path",
        lambda c: (c.log.message_bytes_max, c.wal.capacity_bytes),
        "one batch must not fill the WAL",
        factor=APPEND_SHARE_MAX,
        high_name="the capacity in s3.wal.path",
    ),
    _AtMost(
        "message.max.bytes",
        "s3.wal.cache.size",
        lambda c: (c.log.message_bytes_max, c.storage.log_cache_bytes),
        "one batch must not fill the cache",
        factor=APPEND_SHARE_MAX,
    ),
    _AtMost(
        "message.max.bytes",
        "socket.request.max.bytes",
        lambda c: (c.log.message_bytes_max, c.network.request_bytes_max),
        "a batch arrives inside a request",
    ),
    _AtMost(
        "message.max.bytes",
        "headrace.wal.record.bytes.max",
        lambda c: (c.log.message_bytes_max, c.wal.record_bytes_max),
        "a batch is one WAL record",
    ),
    _AtMost(
        "message.max.bytes",
        "headrace.wal.window.bytes.max",
        lambda c: (c.log.message_bytes_max, c.wal.window_bytes_max),
        "one batch must not fill the sliding window",
        factor=APPEND_SHARE_MAX,
    ),
    _AtMost(
        "headrace.wal.block.bytes",
        "headrace.wal.window.bytes.max",
        lambda c: (c.wal.block_bytes, c.wal.window_bytes_max),
        "writes under way must fit in the sliding window",
    ),
    _AtMost(
        "headrace.wal.window.bytes.initial",
        "headrace.wal.window.bytes.max",
        lambda c: (c.wal.window_bytes_initial, c.wal.window_bytes_max),
        "the window only grows",
    ),
    _AtMost(
        "s3.object.block.size",
        "s3.object.part.size",
        lambda c: (c.storage.object_block_bytes, c.storage.object_part_bytes),
        "a part holds whole data blocks",
    ),
    _AtMost(
        "s3.object.part.size",
        "s3.stream.set.object.compaction.cache.size",
        lambda c: (
            min(c.storage.object_part_bytes, COMPACTED_PART_BYTES_MAX),
            c.storage.compaction_memory_bytes,
        ),
        "compaction holds a part that it reads and one that it writes",
        factor=2,
    ),
    _AtMost(
        "broker.heartbeat.interval.ms",
        "broker.session.timeout.ms",
        lambda c: (c.metadata.broker_heartbeat_interval_ms, c.metadata.broker_session_timeout_ms),
        "one lost heartbeat must not end a session",
        factor=2,
    ),
    _AtMost(
        "group.min.session.timeout.ms",
        "group.max.session.timeout.ms",
        lambda c: (c.groups.session_timeout_min_ms, c.groups.session_timeout_max_ms),
        "otherwise no session timeout is accepted",
    ),
)

_LISTENER_RULES = (
    "every name in `advertised.listeners` is one of `listeners`, and no address in it is 0.0.0.0",
    "a broker has a listener that is not in `controller.listener.names`",
    "a controller is in `controller.quorum.voters`, where that is given; a node that is only a "
    "broker needs it",
)


def violated_relations(config: NodeConfig) -> list[Violation]:
    """List every relation that does not hold."""
    found = [relation.violation(config) for relation in _TABLE]
    violations = [violation for violation in found if violation is not None]
    violations.extend(_listener_violations(config))
    return violations


def relation_texts() -> list[str]:
    """Describe every relation, for the documentation."""
    texts = []
    for relation in _TABLE:
        high = relation.high_name.replace(relation.high_key, f"`{relation.high_key}`")
        bound = high or f"`{relation.high_key}`"
        share = f"1/{relation.factor} of " if relation.factor > 1 else ""
        texts.append(f"`{relation.low_key}` is at most {share}{bound}: {relation.why}")
    return [*texts, *_LISTENER_RULES]


def _listener_violations(config: NodeConfig) -> list[Violation]:
    names = [endpoint.name for endpoint in config.network.listeners]
    violations = []
    stray = [e.name for e in config.network.advertised_listeners if e.name not in names]
    if stray:
        message = (
            f"advertised.listeners names {', '.join(stray)}, "
            f"which listeners does not have (it has {', '.join(names)})"
        )
        violations.append(Violation(("advertised.listeners", "listeners"), message))
    if "broker" in config.process_roles and not names:
        message = "a broker needs at least one listener that is not a controller's"
        violations.append(Violation(("listeners", "controller.listener.names"), message))
    voters = [voter.node_id for voter in config.metadata.quorum_voters]
    if voters and "controller" in config.process_roles and config.node_id not in voters:
        message = f"node.id ({config.node_id}) is a controller but not in controller.quorum.voters"
        violations.append(Violation(("controller.quorum.voters", "node.id"), message))
    if not voters and "controller" not in config.process_roles:
        message = "a node that is only a broker must be told where its controllers are"
        violations.append(Violation(("controller.quorum.voters", "process.roles"), message))
    return violations
