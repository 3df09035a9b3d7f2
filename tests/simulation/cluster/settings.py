"""Settings of the simulated nodes: as an operator's, but for sizes and intervals that make much happen in 20 s."""

from typing import Any

from headrace.config.node import (
    MIB,
    Endpoint,
    GroupConfig,
    LogConfig,
    MetadataConfig,
    NetworkConfig,
    NodeConfig,
    StorageConfig,
    TelemetryConfig,
    Voter,
    WalConfig,
)
from tests.simulation.cluster.nature import Nature

FIRST_CONTROLLER = 101
FIRST_BROKER = 1
CONTROLLER_PORT = 9093
KAFKA_PORT = 9092
BUCKET = "s3://cluster?region=none"
WAL_BYTES = 8 * MIB
WAL_DEVICE_BYTES = WAL_BYTES + MIB
SHARED = "/shared"  # below it are the WALs that every host can open
SESSION_MS = 3_000
OFFSETS_PARTITIONS = 2
BALANCE_WINDOW_MS = 4_000  # loads count for a fifth of it: longer than the pause between heartbeats
BALANCE_REST_S = (
    2 * BALANCE_WINDOW_MS / 1000
)  # of a partition after a move: ten minutes where a window has five


def host_of(node_id: int) -> str:
    """Return the name of a node's host."""
    return f"node-{node_id}"


def voters(nature: Nature) -> tuple[Voter, ...]:
    """Return those who found the quorum."""
    ids = range(FIRST_CONTROLLER, FIRST_CONTROLLER + nature.controllers)
    return tuple(Voter(it, host_of(it), CONTROLLER_PORT) for it in ids)


def controller(nature: Nature, node_id: int) -> NodeConfig:
    """Settings of a node that is a controller."""
    return NodeConfig(
        node_id=node_id,
        process_roles=("controller",),
        network=NetworkConfig(listeners=()),
        storage=_storage(nature),
        log=LogConfig(max_message_bytes=max_message_bytes(nature)),
        metadata=MetadataConfig(
            log_dir="/metadata",
            controller_listeners=(Endpoint("CONTROLLER", host_of(node_id), CONTROLLER_PORT),),
            quorum_voters=voters(nature),
            **_metadata(nature),
        ),
        telemetry=TelemetryConfig(admin_port=-1),
        static={"s3.data.buckets": BUCKET},
    )


def broker(nature: Nature, node_id: int, host: str) -> NodeConfig:
    """Settings of a node that is a broker, on a host of this name."""
    found = tuple((it.host, it.port) for it in voters(nature))
    return NodeConfig(
        node_id=node_id,
        process_roles=("broker",),
        network=NetworkConfig(listeners=(Endpoint("PLAINTEXT", host, KAFKA_PORT),)),
        wal=WalConfig(
            path=wal_path(nature, node_id, host),
            reach=(nature.reach,) if nature.reach else (),
            capacity_bytes=WAL_BYTES,
            max_window_bytes=4 * MIB,
        ),
        storage=_storage(nature),
        metadata=MetadataConfig(quorum_bootstrap_servers=found, **_metadata(nature)),
        groups=GroupConfig(
            offsets_topic_partitions=OFFSETS_PARTITIONS,
            session_timeout_min_ms=1_000,
            initial_rebalance_delay_ms=300,
        ),
        log=LogConfig(
            auto_create_topics=False,
            max_message_bytes=max_message_bytes(nature),
            checkpoint_interval_bytes=nature.checkpoint_interval_bytes,
            retention_check_interval_ms=2_000,
        ),
        telemetry=TelemetryConfig(admin_port=-1),
        static={"s3.data.buckets": BUCKET},
    )


def wal_path(nature: Nature, node_id: int, host: str) -> str:
    """Return where a broker's WAL lies.

    A second host for a broker's id has an empty disk of its own. Where that would be accepted, as nothing in the
    broker's log is needed once others have drained it or it was given up, it has the broker's volume: what the second
    process acknowledged would else be on a disk that nobody has again.
    """
    if nature.wal == "bucket":
        return BUCKET
    stays_needed = not nature.reach and "empty WAL" not in nature.faults
    if host != host_of(node_id) and stays_needed:
        return f"/local/wal-{host}"
    return f"{SHARED}/wal-{node_id}"


def max_message_bytes(nature: Nature) -> int:
    """Return how large a batch may be: not so that it fills the cache."""
    return min(MIB, nature.cache_bytes // 4)


def _metadata(nature: Nature) -> dict[str, Any]:
    return {
        "election_timeout_ms": nature.election_timeout_ms,
        "broker_session_timeout_ms": SESSION_MS,
        "broker_heartbeat_interval_ms": 500,
        "snapshot_log_bytes": nature.snapshot_log_bytes,
        "snapshot_publish_interval_ms": 2_000,
        "registration_timeout_ms": 20_000,
        "balance": nature.balances,
        "balance_interval_ms": 300,
        "balance_window_ms": BALANCE_WINDOW_MS,
    }


def _storage(nature: Nature) -> StorageConfig:
    return StorageConfig(
        bucket_uri=BUCKET,
        log_cache_bytes=nature.cache_bytes,
        block_cache_bytes=nature.cache_bytes,
        upload_threshold_bytes=min(nature.upload_threshold_bytes, nature.cache_bytes),
        object_block_bytes=min(MIB, nature.cache_bytes // 8),
        upload_interval_ms=nature.upload_interval_ms,
        stream_split_bytes=nature.stream_split_bytes,
        object_prepare_ttl_ms=8_000,
        object_delete_retention_ms=nature.delete_retention_ms,
        stream_set_object_compaction_interval_ms=nature.compaction_interval_ms,
        sweep_interval_ms=4_000,
    )
