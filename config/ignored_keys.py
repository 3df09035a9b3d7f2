"""Keys of Kafka and AutoMQ that this broker knows and does not act on, each with the reason. Pure.

A properties file written for those brokers starts this one unchanged: such a key costs one warning
line. The exceptions are keys that ask for something that others rely on (`headrace.config.protection`),
and keys that say where data lies: serving without it would be worse than not serving, so such a
value is refused.

A name that ends in "." or "*" stands for its whole family.
"""

from collections.abc import Mapping

_ONE_OWNER = "a partition has one owner; nothing is replicated between brokers"
_NO_FILES = "partitions are streams in the bucket, not segment files"
_NO_TIERS = "all data is in the bucket; there is no second tier"
_CLEANING = "compacted topics are cleaned as objects are compacted, by the settings of that"
_ONE_LOOP = "one event loop serves all connections; add brokers to scale"
_NO_JVM = "there are no JVM classes to load"
_NO_JMX = "metrics are served by the admin listener (headrace.admin.listener)"
_NOT_BUILT = "this broker does not have the feature"
_QUORUM = "the timing of the metadata quorum has one setting, controller.quorum.election.timeout.ms"
_OTHER_KEY = "it is not used here; use {}"
_NO_ZOOKEEPER = "there is no ZooKeeper; the metadata log is kept by the controllers"
_AUTOMATIC = "the broker chooses it itself"
_NO_SETTING = "it is no setting any more"
_NO_SECURITY = "listeners are PLAINTEXT"
_VERSIONS = "message and protocol versions are negotiated with each client"

# How older versions of AutoMQ name the bucket. Without `s3.data.buckets` a node with one of them would
# write to a directory of its own.
BUCKET_KEYS = ("s3.bucket", "s3.region", "s3.endpoint", "s3.path.style")

IGNORED: dict[str, tuple[str, ...]] = {
    _NO_SETTING: (
        "headrace.compaction.request.bytes.max",
        "headrace.compaction.requests.max",
        "headrace.object.prepare.ttl.ms",
        "headrace.produce.inflight.bytes.max",
        "headrace.produce.inflight.requests.max",
        "headrace.read.ahead.bytes.max",
        "headrace.read.bytes.max",
        "headrace.read.requests.max",
        "headrace.upload.bytes.max",
        "headrace.upload.concurrency",
        "headrace.wal.block.bytes",
        "headrace.wal.record.bytes.max",
        "headrace.wal.window.bytes.initial",
    ),
    _ONE_OWNER: (
        "replica.",
        "num.replica.",
        "num.replica.fetchers",
        "replication.quota.",
        "alter.log.dirs.replication.quota.",
        "auto.leader.rebalance.enable",
        "leader.imbalance.",
        "inter.broker.listener.name",
        "controlled.shutdown.",
        "follower.fetch.last.tiered.offset.enable",
    ),
    _NO_FILES: (
        "log.dir.failure.timeout.ms",
        "cordoned.log.dirs",
        "log.flush.offset.checkpoint.interval.ms",
        "log.flush.start.offset.checkpoint.interval.ms",
        "num.recovery.threads.per.data.dir",
        "offsets.topic.segment.bytes",
        "metadata.log.segment.",
        "metadata.max.retention.",
    ),
    _CLEANING: ("log.cleaner.",),
    _NO_TIERS: ("remote.", "log.remote."),
    _ONE_LOOP: (
        "num.network.threads",
        "num.io.threads",
        "background.threads",
        "queued.max.",
        "group.coordinator.threads",
        "group.coordinator.background.threads",
        "fetch.purgatory.purge.interval.requests",
        "producer.purgatory.purge.interval.requests",
        "delete.records.purgatory.purge.interval.requests",
    ),
    _NO_JVM: (
        "alter.config.policy.class.name",
        "create.topic.policy.class.name",
        "client.quota.callback.class",
        "config.providers",
    ),
    _NO_JMX: (
        "metric.reporters",
        "metrics.",
        "kafka.metrics.",
        "auto.include.jmx.reporter",
        "s3.telemetry.",
    ),
    _NOT_BUILT: (
        "errors.deadletterqueue.",
        "group.share.",
        "share.",
        "group.streams.",
        "telemetry.max.bytes",
        "transaction.",
        "transactional.id.expiration.ms",
        "group.consumer.",
        "group.coordinator.rebalance.protocols",
        "max.connection.creation.rate",
        "quota.window.",
        "controller.quota.window.",
        "automq.",
        "confluent.",
        "strimzi.",
        "autobalancer.",
        "s3.stream.object.compaction.",
        "s3.network.",
        "s3.object.log.enable",
        "s3.mock.enable",
        "s3.ops.buckets",
    ),
    _QUORUM: (
        "controller.quorum.",
        "controller.socket.timeout.ms",
        "metadata.max.idle.interval.ms",
        "metadata.log.max.snapshot.interval.ms",
        "early.start.listeners",
        "broker.id.generation.enable",
        "reserved.broker.max.id",
    ),
    _AUTOMATIC: (
        "socket.send.buffer.bytes",
        "socket.receive.buffer.bytes",
        "socket.listen.backlog.size",
        "socket.connection.setup.timeout.",
        "offsets.load.buffer.size",
        "offsets.commit.timeout.ms",
        "offsets.topic.compression.codec",
        "add.partitions.to.txn.retry.backoff.",
        "group.coordinator.append.linger.ms",
        "group.coordinator.cached.buffer.max.bytes",
        "max.request.partition.size.limit",
        "elasticstream.",
        "s3.stream.allocator.policy",
        "s3.stream.set.object.compaction.",
        "s3.max.stream.num.per.stream.set.object",
        "s3.max.stream.object.num.per.commit",
        "s3.controller.request.retry.",
    ),
    _OTHER_KEY.format("s3.data.buckets"): (*BUCKET_KEYS,),
    _OTHER_KEY.format("the options of s3.wal.path"): (
        "s3.wal.capacity",
        "s3.wal.iops",
        "s3.wal.thread",
        "s3.wal.header.flush.interval.seconds",
    ),
    _OTHER_KEY.format("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile or a role"): (
        "s3.access.key",
        "s3.secret.key",
    ),
    _OTHER_KEY.format("listeners"): (
        "port",
        "host.name",
        "advertised.port",
        "advertised.host.name",
    ),
    _NO_ZOOKEEPER: ("zookeeper.",),
    _VERSIONS: (
        "inter.broker.protocol.version",
        "log.message.format.version",
        "log.message.downconversion.enable",
        "message.format.version",
    ),
    "topics can be deleted": ("delete.topic.enable",),
    _NO_SECURITY: (
        "ssl.",
        "sasl.",
        "delegation.token.",
        "security.providers",
        "principal.builder.class",
        "control.plane.listener.name",
        "allow.plaintext.listener",
        "listener.name.",
        "connections.max.reauth.ms",
        "connection.failed.authentication.delay.ms",
        "allow.everyone.if.no.acl.found",
        "super.users",
        "authorizer.class.name",
        "security.inter.broker.protocol",
        "listener.security.protocol.map",
    ),
}

_REASONS = {name: reason for reason, names in IGNORED.items() for name in names}
_FAMILIES = tuple(name for name in _REASONS if name.endswith("."))


def reason_ignored(name: str) -> str | None:
    """Say why a key that we know has no effect; None for a key that we do not know."""
    if name in _REASONS:
        return _REASONS[name]
    family = max((f for f in _FAMILIES if name.startswith(f)), key=len, default=None)
    return _REASONS[family] if family else None


def bucket_uri_of(values: Mapping[str, str]) -> str:
    """Write the values of `BUCKET_KEYS` as a value of `s3.data.buckets`; shown to the user, not used."""
    names = {"s3.region": "region", "s3.endpoint": "endpoint", "s3.path.style": "pathStyle"}
    options = [f"{option}={values[key]}" for key, option in names.items() if values.get(key)]
    return "?".join(
        [f"0@s3://{values.get('s3.bucket') or 'BUCKET'}", *(["&".join(options)] if options else [])]
    )
