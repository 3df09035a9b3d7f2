"""All server-level settings: `SERVER_KEYS`, by name, and how they are looked up. Pure.

Joins the tables of Kafka's, AutoMQ's and our own names with the server keys that follow from the
topic-level table. Key names are matched exactly, as Kafka does.
"""

from functools import cache

from headrace.config.definition import (
    ConfigKey,
    describe_allowed,
    format_value,
    problem_with,
)
from headrace.config.kafka_keys import KAFKA_KEYS
from headrace.config.node import NodeConfig
from headrace.config.storage_keys import HEADRACE_KEYS, S3_KEYS
from headrace.config.suggest import nearest
from headrace.config.topic_keys import TOPIC_CONFIGS, TopicConfig

# Fields of NodeConfig that repeat a topic default, because request handling needs them too.
_FIELD_BESIDE_TOPIC_DEFAULT = {"message.max.bytes": "log.max_message_bytes"}


def _server_keys_of(topic: TopicConfig) -> list[ConfigKey]:
    """Derive the server keys of one topic-level key; the last name carries the default."""
    keys = []
    for position, server in enumerate(topic.server_keys):
        last = position == len(topic.server_keys) - 1
        default = str(int(topic.default) // server.scale) if server.scale > 1 else topic.default
        keys.append(
            ConfigKey(
                name=server.name,
                type=server.type or topic.type,
                doc=f"Default of the topic setting {topic.name}. {topic.doc}",
                valid=topic.valid,
                topic_config=topic.name,
                scale=server.scale,
                field=_FIELD_BESIDE_TOPIC_DEFAULT.get(server.name, ""),
                default_text=default if last else "",
                example=default,
            )
        )
    return keys


TOPIC_DEFAULT_KEYS = tuple(
    key for topic in TOPIC_CONFIGS.values() for key in _server_keys_of(topic)
)

SERVER_KEYS: dict[str, ConfigKey] = {
    key.name: key for key in KAFKA_KEYS + TOPIC_DEFAULT_KEYS + S3_KEYS + HEADRACE_KEYS
}

_BY_ANY_NAME = {name: key for key in SERVER_KEYS.values() for name in (key.name, *key.also_named)}


def find_key(name: str) -> ConfigKey | None:
    """Find a setting by its name or by another name for it."""
    return _BY_ANY_NAME.get(name)


def nearest_key(name: str) -> str | None:
    """Name the known setting that is closest to an unknown name."""
    return nearest(name, _BY_ANY_NAME)


@cache
def default_text(key: ConfigKey) -> str:
    """Write the value that counts when a key is not set; empty when there is none."""
    if key.default_text is not None:
        return key.default_text
    value: object = NodeConfig()
    for part in key.field.split("."):
        value = getattr(value, part)
    if key.scale > 1:
        assert isinstance(value, int)
        value //= key.scale
    return format_value(value)


def allowed_text(key: ConfigKey) -> str:
    """Name a key's type and range in a few words."""
    return describe_allowed(key.type, key.valid)


def value_problem(key: ConfigKey, text: str) -> str | None:
    """Say what is wrong with a text as the value of a key ("must be ..."), or None."""
    problem = problem_with(key.type, key.valid, text)
    if problem is None and key.fields is not None:
        try:
            key.fields(text)
        except ValueError as error:
            return str(error)
    return problem
