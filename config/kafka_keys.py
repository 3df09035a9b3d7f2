"""The table of Kafka's server keys that this broker honours, apart from the topic defaults. Pure.

Nothing but data. Names, types and ranges are Kafka's; defaults are those of the NodeConfig
fields. Server keys that give topics their defaults (`log.retention.ms` ...) follow from
`headrace.config.topic_keys`.
"""

from headrace.config.bucket_uris import check_path
from headrace.config.definition import (
    INT_MAX,
    Between,
    ConfigKey,
    ConfigType,
    FieldValues,
    Importance,
    ListOf,
    Matches,
)
from headrace.config.uris import (
    parse_advertised,
    parse_bootstrap,
    parse_host_counts,
    parse_listeners,
    parse_voters,
)

ROLES = ("broker", "controller")


def _listeners(text: str) -> FieldValues:
    return {"network.listeners": parse_listeners(text)}


def _advertised(text: str) -> FieldValues:
    return {"network.advertised_listeners": parse_advertised(text)}


def _voters(text: str) -> FieldValues:
    return {"metadata.quorum_voters": parse_voters(text)}


def _bootstrap(text: str) -> FieldValues:
    return {"metadata.quorum_bootstrap_servers": parse_bootstrap(text)}


def _connections_per_ip(text: str) -> FieldValues:
    return {"network.max_connections_per_ip_overrides": parse_host_counts(text)}


def _data_dir(text: str) -> FieldValues:
    directories = [part.strip() for part in text.split(",") if part.strip()]
    if len(directories) != 1:
        raise ValueError(
            "must name one directory: it holds metadata and, by default, WAL and bucket; "
            "topic data is in the bucket"
        )
    check_path(directories[0])
    return {"data_dir": directories[0]}


def _metadata_log_dir(text: str) -> FieldValues:
    check_path(text)
    return {"metadata.log_dir": text}


_AT_LEAST_1 = Between(1)
_AT_LEAST_0 = Between(0)

IDENTITY = (
    ConfigKey(
        name="node.id",
        type=ConfigType.INT,
        field="node_id",
        valid=_AT_LEAST_0,
        also_named=("broker.id",),
        importance=Importance.HIGH,
        doc="Number of this node, unique in the cluster and the same after every restart.",
        example="1",
    ),
    ConfigKey(
        name="process.roles",
        type=ConfigType.LIST,
        field="process_roles",
        valid=ListOf(ROLES, empty=False),
        importance=Importance.HIGH,
        doc="Roles of this process: broker, controller, or both.",
        example="broker,controller",
    ),
    ConfigKey(
        name="cluster.id",
        type=ConfigType.STRING,
        field="cluster_id",
        importance=Importance.HIGH,
        doc="Id of the cluster. If not set, it is generated at the first start and stored in the "
        "metadata log. If set, it must be the stored one. Storage needs no formatting.",
        example="5L6g3nShT-eMCtK--X86sw",
    ),
    ConfigKey(
        name="log.dirs",
        type=ConfigType.LIST,
        fields=_data_dir,
        default_text="data",
        also_named=("log.dir",),
        importance=Importance.HIGH,
        doc="Directory of this node. Relative paths of other keys are below it, so by default it "
        "holds the metadata log, the WAL file and a bucket directory.",
        example="/var/lib/headrace",
    ),
    ConfigKey(
        name="broker.rack",
        type=ConfigType.STRING,
        field="rack",
        doc="Rack or zone of this node, reported to clients.",
        example="eu-central-1a",
    ),
)

NETWORK = (
    ConfigKey(
        name="listeners",
        type=ConfigType.LIST,
        fields=_listeners,
        default_text="PLAINTEXT://127.0.0.1:9092",
        importance=Importance.HIGH,
        doc="Addresses to listen on, NAME://host:port. An empty host means every address; port 0 "
        "picks a free port. By default only this machine can connect.",
        example="PLAINTEXT://0.0.0.0:9092",
    ),
    ConfigKey(
        name="advertised.listeners",
        type=ConfigType.LIST,
        fields=_advertised,
        default_text="",
        importance=Importance.HIGH,
        doc="Addresses that are sent to clients. If not set, each client gets the address that "
        "it connected to, which is right unless there is a proxy or a port mapping in between. "
        "For a listener of controllers: the address that other nodes use.",
        example="PLAINTEXT://kafka.example.com:9092",
    ),
    ConfigKey(
        name="controller.listener.names",
        type=ConfigType.LIST,
        default_text="CONTROLLER",
        doc="Name of the listener of the controller: other controllers and brokers connect to "
        "it, clients are not served there. Only needed when there are other nodes.",
        example="CONTROLLER",
    ),
    ConfigKey(
        name="controller.quorum.voters",
        type=ConfigType.LIST,
        fields=_voters,
        default_text="",
        doc="The controllers that form a new cluster. Later members are in the metadata log. If "
        "neither this nor controller.quorum.bootstrap.servers is set, this node is the only "
        "controller.",
        example="1@host1:9093,2@host2:9093,3@host3:9093",
    ),
    ConfigKey(
        name="controller.quorum.bootstrap.servers",
        type=ConfigType.LIST,
        fields=_bootstrap,
        default_text="",
        doc="Addresses of controllers. Enough for a broker, and for a controller that joins an "
        "existing cluster: it waits until it is added to the quorum.",
        example="host1:9093,host2:9093,host3:9093",
    ),
    ConfigKey(
        name="socket.request.max.bytes",
        type=ConfigType.INT,
        field="network.max_request_bytes",
        valid=_AT_LEAST_1,
        doc="Largest request accepted; a connection that sends a larger one is closed.",
    ),
    ConfigKey(
        name="connections.max.idle.ms",
        type=ConfigType.LONG,
        field="network.connection_idle_max_ms",
        valid=_AT_LEAST_1,
        doc="A connection without a request for this long is closed.",
    ),
    ConfigKey(
        name="max.connections",
        type=ConfigType.INT,
        field="network.max_connections",
        valid=_AT_LEAST_1,
        doc="Connections that the node has open at the same time; further ones are closed "
        "immediately. Of the descriptors that the process may have, 1024 (of few, half) are not "
        "used for connections.",
    ),
    ConfigKey(
        name="max.connections.per.ip",
        type=ConfigType.INT,
        field="network.max_connections_per_ip",
        valid=_AT_LEAST_0,
        doc="Connections from one address at the same time; further ones are closed immediately.",
    ),
    ConfigKey(
        name="max.connections.per.ip.overrides",
        type=ConfigType.STRING,
        fields=_connections_per_ip,
        default_text="",
        doc="The same for certain hosts or addresses; a name is looked up at the start.",
        example="10.0.0.7:500,backup.example.org:10",
    ),
)

METADATA = (
    ConfigKey(
        name="metadata.log.dir",
        type=ConfigType.STRING,
        fields=_metadata_log_dir,
        default_text="metadata",
        doc="Directory of the metadata log.",
        example="/var/lib/headrace/metadata",
    ),
    ConfigKey(
        name="controller.quorum.election.timeout.ms",
        type=ConfigType.INT,
        field="metadata.election_timeout_ms",
        valid=Between(100, 60_000),
        doc="How long a controller waits for a sign of the leader before it starts an election: "
        "a random time between this and twice this. The leader sends heartbeats five times as "
        "often.",
    ),
    ConfigKey(
        name="broker.heartbeat.interval.ms",
        type=ConfigType.INT,
        field="metadata.broker_heartbeat_interval_ms",
        valid=Between(100),
        doc="How often a broker renews its lease.",
    ),
    ConfigKey(
        name="broker.session.timeout.ms",
        type=ConfigType.INT,
        field="metadata.broker_session_timeout_ms",
        valid=Between(500, 3_600_000),
        doc="How long a lease lasts. A broker that is silent for longer is fenced, and others "
        "take over its partitions. The longer of the broker's and the controller's setting is "
        "used.",
    ),
    ConfigKey(
        name="initial.broker.registration.timeout.ms",
        type=ConfigType.INT,
        field="metadata.registration_timeout_ms",
        valid=_AT_LEAST_1,
        importance=Importance.LOW,
        doc="How long a start waits for the end of the session of another process with the same "
        "node id, before it gives up. It waits for a controller without a limit.",
    ),
    ConfigKey(
        name="metadata.log.max.record.bytes.between.snapshots",
        type=ConfigType.LONG,
        field="metadata.snapshot_log_bytes",
        valid=_AT_LEAST_1,
        importance=Importance.LOW,
        doc="Growth of the metadata log after which a snapshot is taken at the latest: it is taken "
        "before when the log is as large as the last snapshot, and has 2 MiB.",
    ),
    ConfigKey(
        name="request.timeout.ms",
        type=ConfigType.INT,
        field="metadata.request_timeout_ms",
        valid=_AT_LEAST_1,
        importance=Importance.LOW,
        doc="How long a broker waits for a response of the controller.",
    ),
    ConfigKey(
        name="headrace.balance.enable",
        type=ConfigType.BOOLEAN,
        field="metadata.balance",
        doc="Whether the leading controller moves partitions so that brokers have equal shares of "
        "traffic and of partitions, and whether a broker measures its traffic for that. Give all "
        "nodes the same value. The topic setting of the same name keeps one topic where it is.",
    ),
    ConfigKey(
        name="headrace.balance.interval.ms",
        type=ConfigType.INT,
        field="metadata.balance_interval_ms",
        valid=Between(100, 3_600_000),
        importance=Importance.LOW,
        doc="How often the leading controller looks whether partitions should move.",
    ),
    ConfigKey(
        name="headrace.balance.window.ms",
        type=ConfigType.INT,
        field="metadata.balance_window_ms",
        valid=Between(1_000, 3_600_000),
        importance=Importance.LOW,
        doc="Over how long brokers average the traffic of partitions. A new leading controller "
        "moves nothing for so long, and no partition moves again within twice this. Give all "
        "nodes the same value, at least ten times broker.heartbeat.interval.ms.",
    ),
)

TOPICS = (
    ConfigKey(
        name="num.partitions",
        type=ConfigType.INT,
        field="log.partitions_default",
        valid=_AT_LEAST_1,
        doc="Partitions of a topic that is created without a partition count.",
    ),
    ConfigKey(
        name="auto.create.topics.enable",
        type=ConfigType.BOOLEAN,
        field="log.auto_create_topics",
        importance=Importance.HIGH,
        doc="Whether a topic is created when a client asks for it by name.",
    ),
    ConfigKey(
        name="fetch.max.bytes",
        type=ConfigType.INT,
        field="log.max_fetch_bytes",
        valid=Between(1024),
        doc="Most bytes in one fetch response, whatever the client asks for.",
    ),
    ConfigKey(
        name="max.incremental.fetch.session.cache.slots",
        type=ConfigType.INT,
        field="log.fetch_session_slots",
        valid=_AT_LEAST_0,
        importance=Importance.LOW,
        doc="Fetch sessions kept at once; clients without one send full fetch requests.",
    ),
    ConfigKey(
        name="producer.id.expiration.ms",
        type=ConfigType.INT,
        field="log.producer_id_expiration_ms",
        valid=_AT_LEAST_1,
        importance=Importance.LOW,
        doc="How long an idle producer is remembered for the detection of duplicates.",
    ),
    ConfigKey(
        name="log.retention.check.interval.ms",
        type=ConfigType.LONG,
        field="log.retention_check_interval_ms",
        valid=_AT_LEAST_1,
        doc="How often each partition is checked for records to delete (retention.ms, "
        "retention.bytes). The first check comes at most 30 seconds after the start.",
    ),
)


def _milliseconds(name: str, field: str, doc: str, low: int = 1) -> ConfigKey:
    return ConfigKey(name=name, type=ConfigType.INT, field=field, valid=Between(low), doc=doc)


GROUPS = (
    _milliseconds(
        "group.min.session.timeout.ms",
        "groups.session_timeout_min_ms",
        "Shortest session timeout that a member may ask for.",
    ),
    _milliseconds(
        "group.max.session.timeout.ms",
        "groups.session_timeout_max_ms",
        "Longest session timeout that a member may ask for.",
    ),
    _milliseconds(
        "group.initial.rebalance.delay.ms",
        "groups.initial_rebalance_delay_ms",
        "How long a new group waits for further members before its first assignment.",
        0,
    ),
    ConfigKey(
        name="group.max.size",
        type=ConfigType.INT,
        field="groups.max_group_size",
        valid=_AT_LEAST_1,
        doc="Members that a classic group may have.",
    ),
    ConfigKey(
        name="offset.metadata.max.bytes",
        type=ConfigType.INT,
        field="groups.max_offset_metadata_bytes",
        valid=_AT_LEAST_0,
        doc="Largest text that a client may store with a committed offset.",
    ),
    ConfigKey(
        name="offsets.retention.minutes",
        type=ConfigType.INT,
        field="groups.offsets_retention_ms",
        scale=60_000,
        valid=_AT_LEAST_1,
        doc="How long the offsets of a group without members are kept.",
    ),
    ConfigKey(
        name="offsets.retention.check.interval.ms",
        type=ConfigType.LONG,
        field="groups.offsets_retention_check_ms",
        valid=_AT_LEAST_1,
        importance=Importance.LOW,
        doc="How often expired offsets are removed.",
    ),
    ConfigKey(
        name="offsets.topic.num.partitions",
        type=ConfigType.INT,
        field="groups.offsets_topic_partitions",
        valid=_AT_LEAST_1,
        doc="Partitions of __consumer_offsets; do not change it once groups exist.",
    ),
)


def _one_copy(value: object) -> str | None:
    assert isinstance(value, int)
    return None if value == -1 or value >= 1 else "must be -1 or at least 1"


# Accepted with any valid value, because every Kafka set-up has them; the value that counts is 1.
REPLICATION = tuple(
    ConfigKey(
        name=name,
        type=ConfigType.INT if name.endswith("isr") or name[0] == "d" else ConfigType.SHORT,
        valid=Matches(f"-1, or 1 to {INT_MAX}", _one_copy),
        default_text="1",
        importance=Importance.LOW,
        doc="Accepted, and reported as 1: a partition has one owner, and the WAL device and the "
        "bucket keep its records safe.",
    )
    for name in (
        "default.replication.factor",
        "offsets.topic.replication.factor",
        "transaction.state.log.replication.factor",
        "transaction.state.log.min.isr",
    )
)

KAFKA_KEYS = IDENTITY + NETWORK + METADATA + TOPICS + GROUPS + REPLICATION
