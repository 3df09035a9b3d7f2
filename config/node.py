"""The settings of one node, as frozen sections with units in their names. Pure.

Values only: where they come from is `headrace.config.load`, what they are called outside is
`headrace.config.server_keys`. A component receives its own section and nothing else. Relations between
values (`headrace.config.relations`) are checked when the whole is built.
"""

from dataclasses import dataclass, field

from headrace.config.relations import RelationError, violated_relations

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One listener: what is bound, or what is advertised (`name://host:port`)."""

    name: str
    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkConfig:
    """Kafka listener. Every bound applies to one connection unless it says otherwise."""

    listeners: tuple[Endpoint, ...] = (Endpoint("PLAINTEXT", "127.0.0.1", 9092),)
    # Empty: clients get the address that they used to reach us.
    advertised_listeners: tuple[Endpoint, ...] = ()
    max_request_bytes: int = 100 * MIB
    receive_buffer_bytes: int = 256 * KIB
    # Produce requests whose writes are inflight; past either bound the socket is not read.
    max_produce_inflight_requests: int = 256
    max_produce_inflight_bytes: int = 32 * MIB
    max_connections: int = 10_000  # whole node; fewer if it may not have so many descriptors
    max_connections_per_ip: int = 2**31 - 1
    max_connections_per_ip_overrides: tuple[
        tuple[str, int], ...
    ] = ()  # (host or address, connections)
    connection_idle_max_ms: int = 600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WalConfig:
    """Delta WAL: where the ring lies and how it is written."""

    path: str = "wal"  # a file, or a block device such as /dev/nvme1n1
    capacity_bytes: int = 2 * GIB
    block_bytes: int = 1 * MIB  # soft limit of one device write
    max_record_bytes: int = 128 * MIB
    io_depth: int = 8  # inflight device writes
    io: str = "auto"  # auto | aio | threads
    io_threads: int = 4
    max_iops: int = 0  # 0: unlimited
    max_bandwidth_bytes: int = 0  # per second; 0: unlimited
    window_bytes_initial: int = 1 * MIB
    max_window_bytes: int = 112 * MIB  # the largest request fits, and recovery keeps to 200 MiB
    io_timeout_ms: int = 30_000
    accept_loss_generation: str = (
        ""  # generation id of the log whose damage is accepted, 16 hexadecimal digits
    )
    reach: tuple[str, ...] = ()  # directories and devices below which WALs of other brokers lie
    fence: str = "none"  # none | reservation | command:PROGRAM
    # Of a log in a bucket: a batch goes out when it is so large, or so long after the one before.
    batch_bytes: int = 8 * MIB
    batch_interval_ms: int = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageConfig:
    """S3Stream: bucket, caches, upload and compaction."""

    # s3://bucket?endpoint=&region=&pathStyle=, file:///absolute/dir, file://relative/dir, mem://
    bucket_uri: str = "file://bucket"
    log_cache_bytes: int = 1 * GIB
    block_cache_bytes: int = 512 * MIB
    upload_threshold_bytes: int = 512 * MIB
    upload_interval_ms: int = 60_000
    upload_concurrency: int = 4
    max_upload_bytes: int = 1 * GIB  # of objects on their way
    max_read_requests: int = 16  # cold reads; half as many read ahead
    max_read_bytes: int = 128 * MIB  # inflight, of each of both
    stream_split_bytes: int = 16 * MIB
    object_block_bytes: int = 1 * MIB
    object_part_bytes: int = 1 * GIB
    max_read_ahead_bytes: int = 32 * MIB
    admission_timeout_ms: int = 10_000  # how long an append may wait for room
    object_prepare_ttl_ms: int = 60 * 60_000
    object_delete_retention_ms: int = 10 * 60_000
    stream_set_object_compaction_interval_ms: int = 20 * 60_000
    compaction_memory_bytes: int = 500 * MIB
    max_compaction_requests: int = 4
    max_compaction_request_bytes: int = 64 * MIB
    compaction_bytes_per_s: int = 100 * MIB  # read, and as many written
    sweep_interval_ms: int = 60 * 60_000


@dataclass(frozen=True, slots=True)
class Voter:
    """One controller of the metadata quorum."""

    node_id: int
    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataConfig:
    """Controller and the broker's client of it."""

    log_dir: str = "metadata"
    # The first controllers of the cluster, and where controllers can be looked for (host, port).
    # Both empty: this node is the only controller. See `headrace.config.quorum`.
    quorum_voters: tuple[Voter, ...] = ()
    quorum_bootstrap_servers: tuple[tuple[str, int], ...] = ()
    controller_listeners: tuple[Endpoint, ...] = ()  # at most one
    controller_advertised_listeners: tuple[Endpoint, ...] = ()
    # Without a sign of the leader for one to two of these, a controller stands for election.
    election_timeout_ms: int = 500
    broker_session_timeout_ms: int = 9_000
    broker_heartbeat_interval_ms: int = 2_000
    snapshot_log_bytes: int = (
        20 * MIB
    )  # a snapshot is taken at the latest when the log has grown by this
    snapshot_publish_interval_ms: int = 60_000  # at most so often one is put into the bucket
    request_timeout_ms: int = 30_000
    registration_timeout_ms: int = 60_000  # while another process with this node id has a session
    # Whether this node keeps the brokers' shares of traffic and partitions even while it leads the controllers, and
    # as a broker measures its own.
    balance: bool = True
    balance_interval_ms: int = 10_000
    balance_window_ms: int = 300_000  # of the averages; a partition rests for twice this


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupConfig:
    """Consumer groups and committed offsets."""

    offsets_topic_partitions: int = 50
    session_timeout_min_ms: int = 6_000
    session_timeout_max_ms: int = 1_800_000
    initial_rebalance_delay_ms: int = 3_000
    max_group_size: int = 2_147_483_647
    max_offset_metadata_bytes: int = 4_096
    offsets_retention_ms: int = 7 * 24 * 3_600_000
    offsets_retention_check_ms: int = 600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LogConfig:
    """Broker-wide defaults of topics, and limits of the produce and fetch paths."""

    partitions_default: int = 1
    auto_create_topics: bool = True
    refuse_factors_above_brokers: bool = True
    max_message_bytes: int = 1_048_588
    max_fetch_bytes: int = 57_671_680
    fetch_session_slots: int = 1_000
    producer_id_expiration_ms: int = 86_400_000
    checkpoint_interval_bytes: int = 64 * MIB  # of one partition's data, between its checkpoints
    retention_check_interval_ms: int = 300_000
    validate_compressed: str = "all"  # all | header: what is looked at in compressed batches
    max_decompressed_bytes: int = 64 * MIB  # of one produced batch
    # Topic-level defaults set on the broker, by their topic-level names: {"retention.ms": "1000"}.
    topic_defaults: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetryConfig:
    """Admin HTTP endpoint and logging."""

    admin_host: str = "127.0.0.1"
    admin_port: int = 9644  # 0: a free port; -1: no endpoint
    log_level: str = "INFO"
    log_format: str = "auto"  # auto: text on a terminal, else json


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeConfig:
    """Everything one node needs to start."""

    node_id: int = 1
    cluster_id: str = ""  # empty: taken from the metadata log, or generated when that is new
    rack: str = ""
    # What relative paths below start from; headrace.config.load has resolved them when it returns.
    data_dir: str = ""
    process_roles: tuple[str, ...] = ("controller", "broker")
    uvloop: bool = True
    network: NetworkConfig = field(default_factory=NetworkConfig)
    wal: WalConfig = field(default_factory=WalConfig)
    storage: StorageConfig = field(default_factory=StorageConfig)
    metadata: MetadataConfig = field(default_factory=MetadataConfig)
    groups: GroupConfig = field(default_factory=GroupConfig)
    log: LogConfig = field(default_factory=LogConfig)
    telemetry: TelemetryConfig = field(default_factory=TelemetryConfig)
    # Server keys as given, by their main names: what DescribeConfigs shows beside the defaults.
    static: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check how the values relate.

        Raises:
            RelationError: some do not go together; it lists all of them.
        """
        violations = violated_relations(self)
        if violations:
            raise RelationError(violations)
