"""Topic-level settings: checking them, and what is in force for one topic. Pure.

A value comes from the topic's own overrides, else from the broker-wide default (a server key such
as `log.retention.ms`, set dynamically or in the file), else from the table. Functions over
plain mappings: overrides come from the metadata image, broker defaults from
`NodeConfig.log.topic_defaults` and the dynamic broker configs.

Source: kafka-protocol `LogConfig`, KIP-1030 (ranges), KIP-937 (timestamp bounds).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from headrace.config.definition import ConfigValue, parse_value, problem_with
from headrace.config.suggest import nearest
from headrace.config.topic_keys import NOT_ACTED_ON_YET, TOPIC_CONFIGS, TopicConfig

__all__ = [
    "TOPIC_CONFIGS",
    "EffectiveTopicConfig",
    "TopicConfig",
    "contradiction",
    "not_applied",
    "topic_defaults",
    "validate_topic_config",
    "validate_topic_configs",
]


def validate_topic_config(name: str, value: str) -> str | None:
    """Say what is wrong with one setting, or None. Unknown names are wrong."""
    entry = TOPIC_CONFIGS.get(name)
    if entry is None:
        close = nearest(name, TOPIC_CONFIGS)
        hint = f"; did you mean {close}?" if close else ""
        return f"unknown topic config name: {name}{hint}"
    problem = problem_with(entry.type, entry.valid, value)
    return f"invalid value {value!r} for {name}: it {problem}" if problem else None


def validate_topic_configs(
    overrides: Mapping[str, str], broker_defaults: Mapping[str, str] | None = None
) -> str | None:
    """Say what is wrong with a topic's whole set of overrides, relations included, or None."""
    for name, value in overrides.items():
        problem = validate_topic_config(name, value)
        if problem:
            return problem
    return contradiction(overrides, broker_defaults)


def contradiction(
    overrides: Mapping[str, str], broker_defaults: Mapping[str, str] | None = None
) -> str | None:
    """Say which settings of a topic, valid one by one, do not go together, or None."""
    effective = EffectiveTopicConfig.resolve(overrides, broker_defaults)
    if effective.min_compaction_lag_ms > effective.max_compaction_lag_ms:
        return (
            f"min.compaction.lag.ms ({effective.min_compaction_lag_ms}) must not exceed "
            f"max.compaction.lag.ms ({effective.max_compaction_lag_ms})"
        )
    return None


def not_applied(name: str, value: str) -> str | None:
    """Say what a valid setting asks for that this version does not do, or None."""
    if name in NOT_ACTED_ON_YET and value != TOPIC_CONFIGS[name].default:
        return "is stored, but not applied yet"
    return None


def topic_defaults(*layers: Mapping[str, str]) -> dict[str, str]:
    """Translate server keys into topic-level defaults, in the topic's own units.

    Args:
        layers: server key to value, the most specific layer first (dynamic of this broker,
        dynamic of
            the cluster, static). Values must have been validated.

    Returns:
        topic-level name to value; only what some layer sets.
    """
    defaults: dict[str, str] = {}
    for entry in TOPIC_CONFIGS.values():
        for server in entry.server_keys:
            found = next((layer[server.name] for layer in layers if server.name in layer), None)
            if found is not None:
                defaults[entry.name] = scaled(found, server.scale)
                break
    return defaults


def scaled(text: str, scale: int) -> str:
    """Convert a server key's value into the topic's units; negative ones mean "no limit"."""
    if scale == 1:
        return text
    number = int(text)
    return str(number * scale if number > 0 else number)


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveTopicConfig:
    """Every setting of a topic that the broker acts on, parsed; named after their keys."""

    cleanup_policy: frozenset[str]  # subset of {"delete", "compact"}
    compression_type: str
    compression_gzip_level: int
    compression_lz4_level: int
    compression_zstd_level: int
    delete_retention_ms: int
    max_compaction_lag_ms: int
    max_decompressed_message_bytes: int
    max_message_bytes: int
    message_timestamp_type: str  # CreateTime | LogAppendTime
    timestamp_after_max_ms: int
    timestamp_before_max_ms: int
    min_cleanable_dirty_ratio: float
    min_compaction_lag_ms: int
    min_insync_replicas: int
    retention_bytes: int  # -1: no limit
    retention_ms: int  # -1: no limit
    segment_bytes: int
    segment_ms: int
    # What follows from them, and is asked for each batch.
    compacts: bool = field(init=False)  # only the last record of each key is kept
    deletes: bool = field(init=False)  # records are deleted by age and size
    stamps_append_time: bool = field(init=False)  # the broker's clock stamps records
    segment_span_ms: int = field(init=False)  # the longest time that a segment covers

    def __post_init__(self) -> None:
        object.__setattr__(self, "compacts", "compact" in self.cleanup_policy)
        object.__setattr__(self, "deletes", "delete" in self.cleanup_policy)
        stamps = self.message_timestamp_type == "LogAppendTime"
        object.__setattr__(self, "stamps_append_time", stamps)
        # What is to be cleaned in time must not be in the active segment for longer.
        span_ms = (
            min(self.segment_ms, self.max_compaction_lag_ms) if self.compacts else self.segment_ms
        )
        object.__setattr__(self, "segment_span_ms", span_ms)

    @classmethod
    def resolve(
        cls, overrides: Mapping[str, str], broker_defaults: Mapping[str, str] | None = None
    ) -> "EffectiveTopicConfig":
        """Resolve overrides over broker defaults (both by topic-level names) over the table.

        Raises:
            ValueError: a value is not of its type; validated settings never do that.
        """
        defaults = broker_defaults or {}

        def value(name: str) -> ConfigValue:
            entry = TOPIC_CONFIGS[name]
            text = overrides.get(name, defaults.get(name, entry.default))
            return parse_value(entry.type, text)

        def whole(name: str) -> int:
            found = value(name)
            assert isinstance(found, int)
            return found

        policy, ratio = value("cleanup.policy"), value("min.cleanable.dirty.ratio")
        assert isinstance(policy, tuple)
        assert isinstance(ratio, float)
        return cls(
            cleanup_policy=frozenset(policy),
            compression_type=str(value("compression.type")),
            compression_gzip_level=whole("compression.gzip.level"),
            compression_lz4_level=whole("compression.lz4.level"),
            compression_zstd_level=whole("compression.zstd.level"),
            delete_retention_ms=whole("delete.retention.ms"),
            max_compaction_lag_ms=whole("max.compaction.lag.ms"),
            max_decompressed_message_bytes=whole("max.decompressed.message.bytes"),
            max_message_bytes=whole("max.message.bytes"),
            message_timestamp_type=str(value("message.timestamp.type")),
            timestamp_after_max_ms=whole("message.timestamp.after.max.ms"),
            timestamp_before_max_ms=whole("message.timestamp.before.max.ms"),
            min_cleanable_dirty_ratio=ratio,
            min_compaction_lag_ms=whole("min.compaction.lag.ms"),
            min_insync_replicas=whole("min.insync.replicas"),
            retention_bytes=whole("retention.bytes"),
            retention_ms=whole("retention.ms"),
            segment_bytes=whole("segment.bytes"),
            segment_ms=whole("segment.ms"),
        )
