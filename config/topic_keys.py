"""The table of Kafka 4's topic-level settings, with the server keys that set their defaults. Pure.

Nothing but data: how values are checked and resolved is `headrace.config.topic`. Names, types, defaults
and ranges are Kafka's (`LogConfig`, `ServerTopicConfigSynonyms` of 4.4); the documentation is
ours, because what a key does here differs.
"""

import re
from dataclasses import dataclass, replace

from headrace.config.definition import (
    ANYTHING,
    INT_MAX,
    LONG_MAX,
    Between,
    ConfigType,
    ConfigValue,
    ListOf,
    Matches,
    OneOf,
    Valid,
)

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS

COMPRESSION_TYPES = ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")
CLEANUP_POLICIES = ("compact", "delete")
TIMESTAMP_TYPES = ("CreateTime", "LogAppendTime")


@dataclass(frozen=True, slots=True)
class ServerName:
    """A server key that sets a topic-level default; one of its units is `scale` of the topic's."""

    name: str
    scale: int = 1
    type: ConfigType | None = None  # where it differs from the topic-level type


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicConfig:
    """One topic-level setting. Among its server keys the first that is set wins."""

    name: str
    type: ConfigType
    default: str
    doc: str
    valid: Valid = ANYTHING
    server_keys: tuple[ServerName, ...] = ()
    has_effect: bool = True  # False: stored and shown for compatibility, nothing reads it


def _hours(name: str) -> ServerName:
    return ServerName(name, HOUR_MS, ConfigType.INT)


def _no_tiers(value: ConfigValue) -> str | None:
    return (
        "must be false: there is no tiered storage, since all data is in the bucket"
        if value
        else None
    )


def _throttled(value: ConfigValue) -> str | None:
    assert isinstance(value, tuple)
    if value == ("*",) or all(re.fullmatch(r"[0-9]+:[0-9]+", it) for it in value):
        return None
    return f"must be {_THROTTLED.description}"


_THROTTLED = Matches("* or a list of PARTITION:BROKER", _throttled)
_LOCAL = "Accepted for compatibility: all data is in the bucket, there is no local tier to size."
_FILES = "Accepted for compatibility: partitions are streams, not segment files."

_TABLE = (
    TopicConfig(
        name="cleanup.policy",
        type=ConfigType.LIST,
        default="delete",
        valid=ListOf(CLEANUP_POLICIES),
        server_keys=(ServerName("log.cleanup.policy"),),
        doc="What happens to old records: delete them by age and size, compact them to the last "
        "record of each key, both, or (empty list) keep everything.",
    ),
    TopicConfig(
        name="compression.gzip.level",
        type=ConfigType.INT,
        default="-1",
        valid=Between(-1, 9),
        server_keys=(ServerName("compression.gzip.level"),),
        doc="Level used when compression.type is gzip; -1 is the library's own default.",
    ),
    TopicConfig(
        name="compression.lz4.level",
        type=ConfigType.INT,
        default="9",
        valid=Between(1, 17),
        server_keys=(ServerName("compression.lz4.level"),),
        doc="Level used when compression.type is lz4.",
    ),
    TopicConfig(
        name="compression.type",
        type=ConfigType.STRING,
        default="producer",
        valid=OneOf(COMPRESSION_TYPES),
        server_keys=(ServerName("compression.type"),),
        doc="How stored batches are compressed; producer keeps what was sent, untouched.",
    ),
    TopicConfig(
        name="compression.zstd.level",
        type=ConfigType.INT,
        default="3",
        valid=Between(-131_072, 22),
        server_keys=(ServerName("compression.zstd.level"),),
        doc="Level used when compression.type is zstd.",
    ),
    TopicConfig(
        name="delete.retention.ms",
        type=ConfigType.LONG,
        default=str(DAY_MS),
        valid=Between(0),
        server_keys=(ServerName("log.cleaner.delete.retention.ms"),),
        doc="How long a compacted topic keeps tombstones after they were first cleaned, so that a slow "
        "consumer still sees them. Transaction markers stay.",
    ),
    TopicConfig(
        name="errors.deadletterqueue.group.enable",
        type=ConfigType.BOOLEAN,
        default="false",
        doc="Accepted for compatibility: there are no share groups, whose undeliverable records it would take.",
        has_effect=False,
    ),
    TopicConfig(
        name="file.delete.delay.ms",
        type=ConfigType.LONG,
        default=str(MINUTE_MS),
        valid=Between(0),
        server_keys=(ServerName("log.segment.delete.delay.ms"),),
        doc=_FILES + " Objects leave the bucket after s3.object.delete.retention.minutes.",
        has_effect=False,
    ),
    TopicConfig(
        name="flush.messages",
        type=ConfigType.LONG,
        default=str(LONG_MAX),
        valid=Between(1),
        server_keys=(ServerName("log.flush.interval.messages"),),
        doc="Accepted for compatibility: every acknowledged batch is already durable.",
        has_effect=False,
    ),
    TopicConfig(
        name="flush.ms",
        type=ConfigType.LONG,
        default=str(LONG_MAX),
        valid=Between(0),
        server_keys=(
            ServerName("log.flush.interval.ms"),
            ServerName("log.flush.scheduler.interval.ms"),
        ),
        doc="Accepted for compatibility: every acknowledged batch is already durable.",
        has_effect=False,
    ),
    TopicConfig(
        name="follower.replication.throttled.replicas",
        type=ConfigType.LIST,
        default="",
        valid=_THROTTLED,
        doc="Accepted for compatibility: there are no followers to throttle.",
        has_effect=False,
    ),
    TopicConfig(
        name="index.interval.bytes",
        type=ConfigType.INT,
        default="4096",
        valid=Between(0),
        server_keys=(ServerName("log.index.interval.bytes"),),
        doc=_FILES + " Object indexes have one entry per data block.",
        has_effect=False,
    ),
    TopicConfig(
        name="leader.replication.throttled.replicas",
        type=ConfigType.LIST,
        default="",
        valid=_THROTTLED,
        doc="Accepted for compatibility: there are no followers to throttle.",
        has_effect=False,
    ),
    TopicConfig(
        name="local.retention.bytes",
        type=ConfigType.LONG,
        default="-2",
        valid=Between(-2),
        server_keys=(ServerName("log.local.retention.bytes"),),
        doc=_LOCAL,
        has_effect=False,
    ),
    TopicConfig(
        name="local.retention.ms",
        type=ConfigType.LONG,
        default="-2",
        valid=Between(-2),
        server_keys=(ServerName("log.local.retention.ms"),),
        doc=_LOCAL,
        has_effect=False,
    ),
    TopicConfig(
        name="headrace.balance.enable",
        type=ConfigType.BOOLEAN,
        default="true",
        doc="Whether the controller may move the topic's partitions to even out the load of brokers. "
        "They still move when their broker stops, and by request.",
    ),
    TopicConfig(
        name="max.compaction.lag.ms",
        type=ConfigType.LONG,
        default=str(LONG_MAX),
        valid=Between(1),
        server_keys=(ServerName("log.cleaner.max.compaction.lag.ms"),),
        doc="The longest that a record of a compacted topic may stay uncompacted, whatever "
        "min.cleanable.dirty.ratio says; it is cleaned in the next round of compaction.",
    ),
    TopicConfig(
        name="max.decompressed.message.bytes",
        type=ConfigType.INT,
        default=str(INT_MAX - 8),
        valid=Between(1, INT_MAX - 8),
        server_keys=(ServerName("max.decompressed.message.bytes"),),
        doc="Largest record of a compressed batch, in bytes as decompressed.",
    ),
    TopicConfig(
        name="max.message.bytes",
        type=ConfigType.INT,
        default="1048588",
        valid=Between(0),
        server_keys=(ServerName("message.max.bytes"),),
        doc="Largest record batch accepted, in bytes as sent (compressed).",
    ),
    TopicConfig(
        name="message.timestamp.after.max.ms",
        type=ConfigType.LONG,
        default=str(HOUR_MS),
        valid=Between(0),
        server_keys=(ServerName("log.message.timestamp.after.max.ms"),),
        doc="How far a CreateTime timestamp may be ahead of the broker's clock.",
    ),
    TopicConfig(
        name="message.timestamp.before.max.ms",
        type=ConfigType.LONG,
        default=str(LONG_MAX),
        valid=Between(0),
        server_keys=(ServerName("log.message.timestamp.before.max.ms"),),
        doc="How far a CreateTime timestamp may be behind the broker's clock.",
    ),
    TopicConfig(
        name="message.timestamp.type",
        type=ConfigType.STRING,
        default="CreateTime",
        valid=OneOf(TIMESTAMP_TYPES),
        server_keys=(ServerName("log.message.timestamp.type"),),
        doc="Which clock sets the timestamps of records: the producer's or the broker's.",
    ),
    TopicConfig(
        name="min.cleanable.dirty.ratio",
        type=ConfigType.DOUBLE,
        default="0.5",
        valid=Between(0, 1),
        server_keys=(ServerName("log.cleaner.min.cleanable.ratio"),),
        doc="Share of a compacted log, in bytes, that must be new since its last cleaning before "
        "the next round of compaction cleans it again.",
    ),
    TopicConfig(
        name="min.compaction.lag.ms",
        type=ConfigType.LONG,
        default="0",
        valid=Between(0),
        server_keys=(ServerName("log.cleaner.min.compaction.lag.ms"),),
        doc="How long a record of a compacted topic stays uncompacted at least.",
    ),
    TopicConfig(
        name="min.insync.replicas",
        type=ConfigType.INT,
        default="1",
        valid=Between(1),
        server_keys=(ServerName("min.insync.replicas"),),
        doc="Accepted for compatibility: a partition has one owner, and durability is the WAL "
        "device's and the bucket's.",
        has_effect=False,
    ),
    TopicConfig(
        name="preallocate",
        type=ConfigType.BOOLEAN,
        default="false",
        server_keys=(ServerName("log.preallocate"),),
        doc=_FILES,
        has_effect=False,
    ),
    TopicConfig(
        name="remote.copy.lag.bytes",
        type=ConfigType.LONG,
        default="-1",
        valid=Between(-1),
        server_keys=(ServerName("log.remote.copy.lag.bytes"),),
        doc=_LOCAL,
        has_effect=False,
    ),
    TopicConfig(
        name="remote.copy.lag.ms",
        type=ConfigType.LONG,
        default="0",
        valid=Between(-1),
        server_keys=(ServerName("log.remote.copy.lag.ms"),),
        doc=_LOCAL,
        has_effect=False,
    ),
    TopicConfig(
        name="remote.log.copy.disable",
        type=ConfigType.BOOLEAN,
        default="false",
        doc=_LOCAL,
        has_effect=False,
    ),
    TopicConfig(
        name="remote.log.delete.on.disable",
        type=ConfigType.BOOLEAN,
        default="false",
        doc=_LOCAL,
        has_effect=False,
    ),
    TopicConfig(
        name="remote.storage.enable",
        type=ConfigType.BOOLEAN,
        default="false",
        valid=Matches("only false", _no_tiers),
        doc="Accepted for compatibility: there is no tiered storage, all data is in the bucket. `true` is refused.",
        has_effect=False,
    ),
    TopicConfig(
        name="retention.bytes",
        type=ConfigType.LONG,
        default="-1",
        valid=Between(-1),
        server_keys=(ServerName("log.retention.bytes"),),
        doc="Size that a partition may reach before its oldest records are deleted; -1 is no "
        "limit. Checked every log.retention.check.interval.ms.",
    ),
    TopicConfig(
        name="retention.ms",
        type=ConfigType.LONG,
        default=str(7 * DAY_MS),
        valid=Between(-1),
        server_keys=(
            ServerName("log.retention.ms"),
            ServerName("log.retention.minutes", MINUTE_MS, ConfigType.INT),
            _hours("log.retention.hours"),
        ),
        doc="How long records are kept; -1 keeps them forever. Checked every "
        "log.retention.check.interval.ms.",
    ),
    TopicConfig(
        name="segment.bytes",
        type=ConfigType.INT,
        default=str(1024**3),
        valid=Between(1024**2, INT_MAX),
        server_keys=(ServerName("log.segment.bytes"),),
        doc="Accepted for compatibility: partitions are streams, not segment files. Retention "
        "deletes in steps of about a megabyte.",
        has_effect=False,
    ),
    TopicConfig(
        name="segment.index.bytes",
        type=ConfigType.INT,
        default=str(10 * 1024**2),
        valid=Between(4),
        server_keys=(ServerName("log.index.size.max.bytes"),),
        doc=_FILES,
        has_effect=False,
    ),
    TopicConfig(
        name="segment.jitter.ms",
        type=ConfigType.LONG,
        default="0",
        valid=Between(0),
        server_keys=(ServerName("log.roll.jitter.ms"), _hours("log.roll.jitter.hours")),
        doc=_FILES,
        has_effect=False,
    ),
    TopicConfig(
        name="segment.ms",
        type=ConfigType.LONG,
        default=str(7 * DAY_MS),
        valid=Between(1),
        server_keys=(ServerName("log.roll.ms"), _hours("log.roll.hours")),
        doc="Granularity of retention and topic compaction in time: records are deleted and compacted in "
        "steps that cover at most this much, or an hour. The newest step is not compacted.",
    ),
    TopicConfig(
        name="unclean.leader.election.enable",
        type=ConfigType.BOOLEAN,
        default="false",
        server_keys=(ServerName("unclean.leader.election.enable"),),
        doc="Accepted for compatibility: a new owner first recovers every acknowledged record, "
        "so there is no unclean election.",
        has_effect=False,
    ),
)

# Kept and shown, as a later version will act on them. Setting their broker-wide default is warned of.
NOT_ACTED_ON_YET = frozenset(
    {
        "compression.gzip.level",
        "compression.lz4.level",
        "compression.zstd.level",
        "max.decompressed.message.bytes",
    }
)


def _told(entry: TopicConfig) -> TopicConfig:
    if entry.name not in NOT_ACTED_ON_YET:
        return entry
    return replace(entry, doc=f"{entry.doc} Stored, but not applied yet.")


TOPIC_CONFIGS: dict[str, TopicConfig] = {entry.name: _told(entry) for entry in _TABLE}
