"""What DescribeConfigs shows: every setting with its value, its source, and what it overrides. Pure.

Plain data from plain mappings; the API handler turns it into a response. Static values come from
`NodeConfig.static`, dynamic ones from the metadata image.

Difference to Apache Kafka: where a topic default was set through a coarser server key
(`log.retention.hours`), the chain of synonyms names that key and its source; Kafka leaves it out.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from headrace.config.definition import ConfigKey, ConfigSource, ConfigType
from headrace.config.dynamic_keys import DRAIN_DOC, DRAIN_KEY, DYNAMIC_KEYS
from headrace.config.server_keys import SERVER_KEYS, default_text
from headrace.config.topic import scaled
from headrace.config.topic_keys import TOPIC_CONFIGS, TopicConfig
from headrace.config.uris import redacted


@dataclass(frozen=True, slots=True)
class BrokerLayers:
    """Broker-level values by server key, from the most to the least specific."""

    dynamic_broker: Mapping[str, str] = field(default_factory=dict)  # set for this broker
    dynamic_default: Mapping[str, str] = field(default_factory=dict)  # set for all brokers
    static: Mapping[str, str] = field(default_factory=dict)  # file, environment, command line

    def ordered(self) -> tuple[tuple[ConfigSource, Mapping[str, str]], ...]:
        """List the layers, most specific first."""
        return (
            (ConfigSource.DYNAMIC_BROKER, self.dynamic_broker),
            (ConfigSource.DYNAMIC_DEFAULT_BROKER, self.dynamic_default),
            (ConfigSource.STATIC_BROKER, self.static),
        )


@dataclass(frozen=True, slots=True)
class ConfigSynonym:
    """One source of a value, or the default."""

    name: str
    value: str | None
    source: ConfigSource


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigEntry:
    """One setting as DescribeConfigs has it. `synonyms[0]`, where there is one, is in force."""

    name: str
    value: str | None  # None: not set and without a default, or sensitive
    source: ConfigSource
    type: ConfigType
    documentation: str
    read_only: bool
    sensitive: bool
    synonyms: tuple[ConfigSynonym, ...]

    @property
    def is_default(self) -> bool:
        """Whether it is not set."""
        return self.source is ConfigSource.DEFAULT


def describe_topic(
    overrides: Mapping[str, str],
    layers: BrokerLayers,
    names: Collection[str] | None = None,
) -> list[ConfigEntry]:
    """Describe every setting of a topic, or those of `names` that exist.

    Args:
        overrides: the topic's own settings.
        layers: broker-level values, for the defaults.
        names: topic-level names; None for all.
    """
    return [
        _topic_entry(entry, overrides, layers)
        for entry in TOPIC_CONFIGS.values()
        if names is None or entry.name in names
    ]


def _topic_entry(
    entry: TopicConfig, overrides: Mapping[str, str], layers: BrokerLayers
) -> ConfigEntry:
    chain = []
    if entry.name in overrides:
        own = ConfigSynonym(entry.name, overrides[entry.name], ConfigSource.DYNAMIC_TOPIC)
        chain.append((own, own.value))
    for server in entry.server_keys:
        for source, values in layers.ordered():
            if server.name in values:
                text = values[server.name]
                chain.append((ConfigSynonym(server.name, text, source), scaled(text, server.scale)))
    if entry.server_keys:
        last = entry.server_keys[-1]
        text = default_text(SERVER_KEYS[last.name])
        chain.append((ConfigSynonym(last.name, text, ConfigSource.DEFAULT), entry.default))
    value, source = (
        (chain[0][1], chain[0][0].source) if chain else (entry.default, ConfigSource.DEFAULT)
    )
    return ConfigEntry(
        name=entry.name,
        value=value,
        source=source,
        type=entry.type,
        documentation=entry.doc,
        read_only=False,
        sensitive=False,
        synonyms=tuple(synonym for synonym, _ in chain),
    )


def describe_broker(
    layers: BrokerLayers, names: Collection[str] | None = None
) -> list[ConfigEntry]:
    """Describe every server-level setting, or those of `names` that exist."""
    entries = [
        _server_entry(key, layers)
        for key in SERVER_KEYS.values()
        if names is None or key.name in names
    ]
    if names is None or DRAIN_KEY in names:
        entries.append(_drain_entry(layers))
    return entries


def describe_broker_defaults(
    dynamic_default: Mapping[str, str], names: Collection[str] | None = None
) -> list[ConfigEntry]:
    """Describe what is set for all brokers (the resource with the empty name), and nothing else."""
    layers = BrokerLayers(dynamic_default=dynamic_default)
    return [
        replace(entry, synonyms=entry.synonyms[:1])  # not what it overrides, as in Kafka
        for entry in describe_broker(layers, names)
        if not entry.is_default
    ]


def _drain_entry(layers: BrokerLayers) -> ConfigEntry:
    chain = [ConfigSynonym(DRAIN_KEY, "false", ConfigSource.DEFAULT)]
    if DRAIN_KEY in layers.dynamic_broker:
        value = layers.dynamic_broker[DRAIN_KEY]
        chain.insert(0, ConfigSynonym(DRAIN_KEY, value, ConfigSource.DYNAMIC_BROKER))
    return ConfigEntry(
        name=DRAIN_KEY,
        value=chain[0].value,
        source=chain[0].source,
        type=ConfigType.BOOLEAN,
        documentation=DRAIN_DOC,
        read_only=False,
        sensitive=False,
        synonyms=tuple(chain),
    )


def _server_entry(key: ConfigKey, layers: BrokerLayers) -> ConfigEntry:
    chain = [
        ConfigSynonym(key.name, None if key.sensitive else redacted(values[key.name]), source)
        for source, values in layers.ordered()
        if key.name in values
    ]
    default = default_text(key)
    if default:
        chain.append(ConfigSynonym(key.name, default, ConfigSource.DEFAULT))
    return ConfigEntry(
        name=key.name,
        value=chain[0].value if chain else None,
        source=chain[0].source if chain else ConfigSource.DEFAULT,
        type=key.type,
        documentation=key.doc,
        read_only=key.name not in DYNAMIC_KEYS,
        sensitive=key.sensitive,
        synonyms=tuple(chain),
    )
