"""What must hold between settings, beyond the range of each. Pure.

A table of relations over a NodeConfig. Each names the keys that it ties together, so that a message
can say where every one of them was set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headrace.config.quorum import (
    EVERY_HOST,
    controller_address,
    controller_endpoint,
    has_other_nodes,
    is_broker,
    is_controller,
    own_voter,
)

if TYPE_CHECKING:
    from headrace.config.node import NodeConfig

# A record in the WAL is a batch with its stream header, and appends must be able to make progress
# while older data is still being uploaded: no single one may take more than this share of a bound.
MAX_APPEND_SHARE = 4
MIN_S3_PART_BYTES = 5 * 1024 * 1024  # UploadPart refuses less, except for the last part
# With these, four readers side by side read each block once; with half as many, six times on average.
MIN_CACHED_BLOCKS = 8
MAX_COMPACTED_PART_BYTES = 32 * 1024 * 1024  # larger ones are for uploads only


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
    low_name: str = ""  # what the low value is, where it is not all of its key
    high_name: str = ""

    def violation(self, config: NodeConfig) -> Violation | None:
        low, high = self.values(config)
        if low * self.factor <= high:
            return None
        bound = f"{self.high_name or self.high_key} ({high})"
        if self.factor > 1:
            bound = f"1/{self.factor} of {bound}"
        message = f"{self.low_name or self.low_key} ({low}) must be at most {bound}: {self.why}"
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
        lambda c: (c.log.max_message_bytes, c.wal.capacity_bytes),
        "one batch must not fill the WAL",
        factor=MAX_APPEND_SHARE,
        high_name="the capacity in s3.wal.path",
    ),
    _AtMost(
        "message.max.bytes",
        "s3.wal.cache.size",
        lambda c: (c.log.max_message_bytes, c.storage.log_cache_bytes),
        "one batch must not fill the cache",
        factor=MAX_APPEND_SHARE,
    ),
    _AtMost(
        "message.max.bytes",
        "socket.request.max.bytes",
        lambda c: (c.log.max_message_bytes, c.network.max_request_bytes),
        "a batch arrives inside a request",
    ),
    _AtMost(
        "message.max.bytes",
        "headrace.wal.window.bytes.max",
        lambda c: (c.log.max_message_bytes, c.wal.max_window_bytes),
        "one batch must not fill the sliding window",
        factor=MAX_APPEND_SHARE,
    ),
    _AtMost(
        "s3.object.block.size",
        "s3.object.part.size",
        lambda c: (c.storage.object_block_bytes, c.storage.object_part_bytes),
        "a part holds whole data blocks",
    ),
    _AtMost(
        "s3.object.block.size",
        "s3.block.cache.size",
        lambda c: (c.storage.object_block_bytes, c.storage.block_cache_bytes),
        "a block that readers still need must stay in the cache between their requests",
        factor=MIN_CACHED_BLOCKS,
    ),
    _AtMost(
        "s3.object.part.size",
        "s3.stream.set.object.compaction.cache.size",
        lambda c: (
            min(c.storage.object_part_bytes, MAX_COMPACTED_PART_BYTES),
            c.storage.compaction_memory_bytes,
        ),
        "compaction holds a part that it reads and one that it writes",
        factor=2,
        low_name="the smaller of s3.object.part.size and 32 MiB",
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
    "every name in `advertised.listeners` is one of `listeners`, and no address in it is 0.0.0.0; "
    "in a cluster of several nodes a listener on every address is among them",
    "a broker has a listener that is not in `controller.listener.names`, and a controller that "
    "other nodes connect to has one that is; a node with one role has no listener of the other",
    "if `controller.quorum.voters` is set, a controller is in it, with the port of its listener; "
    "a node that is only a broker is not in it, and needs it or "
    "`controller.quorum.bootstrap.servers`",
    "a node of a cluster sets `node.id`, and `s3.data.buckets` if it is a broker: all brokers "
    "share one bucket",
)


def violated_relations(config: NodeConfig) -> list[Violation]:
    """List every relation that does not hold."""
    found = [relation.violation(config) for relation in _TABLE]
    violations = [violation for violation in found if violation is not None]
    return [*violations, *_listener_violations(config), *_quorum_violations(config)]


def relation_texts() -> list[str]:
    """Describe every relation, for the documentation."""
    texts = []
    for relation in _TABLE:
        low, high = (
            (name or key).replace(key, f"`{key}`")
            for name, key in (
                (relation.low_name, relation.low_key),
                (relation.high_name, relation.high_key),
            )
        )
        share = f"1/{relation.factor} of " if relation.factor > 1 else ""
        texts.append(f"{low} is at most {share}{high}: {relation.why}")
    return [*texts, *_LISTENER_RULES]


def _listener_violations(config: NodeConfig) -> Iterator[Violation]:
    clients, controllers = config.network.listeners, config.metadata.controller_listeners
    names = [endpoint.name for endpoint in (*clients, *controllers)]
    advertised = (
        *config.network.advertised_listeners,
        *config.metadata.controller_advertised_listeners,
    )
    stray = [endpoint.name for endpoint in advertised if endpoint.name not in names]
    if stray:
        message = (
            f"advertised.listeners names {', '.join(stray)}, "
            f"which listeners does not have (it has {', '.join(names)})"
        )
        yield Violation(("advertised.listeners", "listeners"), message)
    keys = ("listeners", "controller.listener.names")
    if is_broker(config) and not clients:
        yield Violation(keys, "a broker needs at least one listener that is not a controller's")
    advertised_names = {endpoint.name for endpoint in config.network.advertised_listeners}
    silent = [it for it in clients if it.host in EVERY_HOST and it.name not in advertised_names]
    if is_broker(config) and silent and has_other_nodes(config):
        message = (
            f"{silent[0].name} listens on every address, so the other brokers do not know which "
            f"one to send to clients: add {silent[0].name}://host:{silent[0].port} to "
            "advertised.listeners"
        )
        yield Violation(("advertised.listeners", "listeners"), message)
    if not is_broker(config) and clients:
        message = "a node that is only a controller serves no clients, but listeners has "
        f"{clients[0].name}"
        yield Violation((*keys, "process.roles"), message)
    if not is_controller(config) and controllers:
        message = "a node that is only a broker has no controller, but listeners has "
        f"{names[-1]} for one"
        yield Violation((*keys, "process.roles"), message)
    if len(controllers) > 1:
        message = f"a controller has one listener, but listeners has {len(controllers)} for it"
        yield Violation(keys, message)


def _quorum_violations(config: NodeConfig) -> Iterator[Violation]:
    keys = ("controller.quorum.voters", "node.id")
    voters = config.metadata.quorum_voters
    unreachable = [it for it in voters if it.host in EVERY_HOST or not it.port]
    if unreachable and len(voters) > 1:
        first = unreachable[0]
        message = f"voter {first.node_id} is at {first.host}:{first.port}, which no node can "
        "connect to"
        yield Violation(keys[:1], message)
    if is_controller(config):
        yield from _controller_violations(config)
        return
    if not voters and not config.metadata.quorum_bootstrap_servers:
        message = "a node that is only a broker needs the addresses of its controllers"
        yield Violation((keys[0], "controller.quorum.bootstrap.servers", "process.roles"), message)
    if own_voter(config) is not None:
        message = (
            f"node.id ({config.node_id}) is a controller's in controller.quorum.voters, "
            "and this node is only a broker: every node needs an id of its own"
        )
        yield Violation((*keys, "process.roles"), message)


def _controller_violations(config: NodeConfig) -> Iterator[Violation]:
    metadata = config.metadata
    voter, endpoint = own_voter(config), controller_endpoint(config)
    if metadata.quorum_voters and voter is None:
        message = (
            f"node.id ({config.node_id}) is a controller but not in controller.quorum.voters; a "
            "controller that joins later sets controller.quorum.bootstrap.servers instead"
        )
        yield Violation(("controller.quorum.voters", "node.id"), message)
    keys = ("listeners", "controller.listener.names")
    if endpoint is None:
        named = [*metadata.quorum_voters, *metadata.quorum_bootstrap_servers]
        if named or not is_broker(config):
            message = (
                "a controller that other nodes connect to needs a listener of its own, such as "
                "CONTROLLER://:9093"
            )
            yield Violation(keys, message)
        return
    if voter is not None and voter.port and endpoint.port and voter.port != endpoint.port:
        message = (
            f"controller.quorum.voters has port {voter.port} for this node, "
            f"its listener {endpoint.name} has {endpoint.port}"
        )
        yield Violation(("controller.quorum.voters", "listeners"), message)
    if not controller_address(config, bound_port=1)[0]:
        message = (
            f"{endpoint.name} listens on every address, so other nodes do not know which one to "
            f"use: add {endpoint.name}://host:{endpoint.port} to advertised.listeners"
        )
        yield Violation(("advertised.listeners", "listeners"), message)
