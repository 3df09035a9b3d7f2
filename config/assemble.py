"""Settings, already chosen among their sources, into a NodeConfig. Pure.

Reads each text as its key's type, fills the fields that the key stands for, resolves relative paths
below the data directory, and checks how the values relate. No file, no environment.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import NamedTuple, TypeVar
from urllib.parse import quote, unquote

from headrace.config.definition import ConfigKey, parse_value
from headrace.config.node import Endpoint, NodeConfig, StorageConfig, WalConfig
from headrace.config.problems import Problem
from headrace.config.quorum import has_other_nodes, is_broker
from headrace.config.relations import RelationError
from headrace.config.server_keys import SERVER_KEYS, allowed_text, default_text, value_problem
from headrace.config.topic import not_applied, scaled, topic_defaults, validate_topic_configs

Section = TypeVar("Section")


class Setting(NamedTuple):
    """One key with its text and the source that set it."""

    key: str
    value: str
    source: str


def assemble(
    settings: Mapping[str, Setting], problems: list[Problem], warnings: list[str]
) -> NodeConfig | None:
    """Build the configuration; None when a relation between valid values is broken.

    Args:
        settings: main name of a key to its setting.
        problems: where everything that is wrong is added.
        warnings: where what is odd is added.
    """
    valid: dict[str, Setting] = {}
    for name, setting in settings.items():
        key = SERVER_KEYS[name]
        problem = value_problem(key, setting.value)
        if problem is None:
            valid[name] = setting
        else:
            problems.append(_wrong_value(key, setting, problem))
    fields = _field_values(valid)
    fields["static"] = {name: setting.value for name, setting in valid.items()}
    defaults = topic_defaults({name: setting.value for name, setting in valid.items()})
    fields["log.topic_defaults"] = defaults
    topic_problem = validate_topic_configs({}, defaults)
    if topic_problem:
        problems.append(Problem(f"defaults of topics: {topic_problem}"))
    _split_listeners(fields, valid)
    _resolve_paths(fields)
    _default_upload_threshold(fields)
    _warn_of_replication(valid, warnings)
    _warn_of_what_is_not_acted_on(valid, warnings)
    try:
        config = _build(fields)
    except RelationError as error:
        broken = settings.keys() - valid.keys()
        problems.extend(
            _broken_relation(violation.keys, violation.message, settings)
            for violation in error.violations
            if broken.isdisjoint(violation.keys)
        )
        return None
    if has_other_nodes(config):
        problems.extend(_left_out_in_a_cluster(config, settings))
    return config


def _wrong_value(key: ConfigKey, setting: Setting, problem: str) -> Problem:
    return Problem(
        problem,
        key=setting.key,
        value=setting.value,
        source=setting.source,
        allowed=allowed_text(key),
        example=f"{key.name}={key.example or default_text(key)}",
    )


def _left_out_in_a_cluster(config: NodeConfig, settings: Mapping[str, Setting]) -> list[Problem]:
    """What a node alone may leave out: with others, the defaults would harm or split the cluster."""
    needed = {"node.id": "another node with the default would be fenced by this one"}
    if is_broker(config):
        needed["s3.data.buckets"] = "all brokers share one bucket, and the default is a "
        "directory of this node"
    return [
        Problem(
            f"must be set for a node of a cluster: {reason}",
            key=name,
            example=f"{name}={SERVER_KEYS[name].example}",
        )
        for name, reason in needed.items()
        if name not in settings
    ]


def _broken_relation(
    keys: tuple[str, ...], message: str, settings: Mapping[str, Setting]
) -> Problem:
    """Return the source of each key's value."""
    places = [
        f"{key} is set by {settings[key].source}" if key in settings else f"{key} has its default"
        for key in keys
    ]
    return Problem(f"{message} ({', '.join(places)})")


def _field_values(valid: Mapping[str, Setting]) -> dict[str, object]:
    fields: dict[str, object] = {}
    for name, setting in valid.items():
        key = SERVER_KEYS[name]
        if key.fields is not None:
            fields.update(key.fields(setting.value))
        elif key.field:
            value = parse_value(key.type, setting.value)
            # Not the topic default's scale: a field beside one has the units of its own key.
            if key.scale != 1 and not key.topic_config:
                assert isinstance(value, int)
                value *= key.scale
            fields[key.field] = value
    return fields


def _split_listeners(fields: dict[str, object], valid: Mapping[str, Setting]) -> None:
    """Give controllers their listeners."""
    names_setting = valid.get("controller.listener.names")
    names_text = names_setting.value if names_setting else _default("controller.listener.names")
    controllers = {name.strip().upper() for name in names_text.split(",")}
    roles = fields.get("process_roles", NodeConfig().process_roles)
    assert isinstance(roles, tuple)
    # A node that is only a controller serves no clients: the default is a listener of theirs.
    default_listeners = NodeConfig().network.listeners if "broker" in roles else ()
    listeners = fields.get("network.listeners", default_listeners)
    advertised = fields.get("network.advertised_listeners", ())
    assert isinstance(listeners, tuple)
    assert isinstance(advertised, tuple)
    fields["network.listeners"] = _named(listeners, controllers, wanted=False)
    fields["network.advertised_listeners"] = _named(advertised, controllers, wanted=False)
    fields["metadata.controller_listeners"] = _named(listeners, controllers, wanted=True)
    fields["metadata.controller_advertised_listeners"] = _named(
        advertised, controllers, wanted=True
    )


def _default(name: str) -> str:
    return default_text(SERVER_KEYS[name])


def _named(endpoints: Iterable[Endpoint], names: set[str], *, wanted: bool) -> tuple[Endpoint, ...]:
    return tuple(endpoint for endpoint in endpoints if (endpoint.name in names) is wanted)


def _resolve_paths(fields: dict[str, object]) -> None:
    """Make relative paths start at the data directory."""
    directory = PurePosixPath(str(fields.setdefault("data_dir", _default("log.dirs"))))
    defaults = NodeConfig()
    wal = str(fields.get("wal.path", defaults.wal.path))
    if "://" not in wal:
        fields["wal.path"] = str(directory / wal)
    fields["metadata.log_dir"] = str(
        directory / str(fields.get("metadata.log_dir", defaults.metadata.log_dir))
    )
    bucket = str(fields.get("storage.bucket_uri", defaults.storage.bucket_uri))
    place = bucket.removeprefix("file://")
    if place != bucket:
        fields["storage.bucket_uri"] = f"file://{quote(str(directory / unquote(place)))}"


def _default_upload_threshold(fields: dict[str, object]) -> None:
    """Fit the upload threshold to cache and WAL, when it is not set."""
    storage, wal = StorageConfig(), WalConfig()
    cache = fields.get("storage.log_cache_bytes", storage.log_cache_bytes)
    capacity = fields.get("wal.capacity_bytes", wal.capacity_bytes)
    assert isinstance(cache, int)
    assert isinstance(capacity, int)
    fitting = min(storage.upload_threshold_bytes, cache // 3, capacity // 4)
    fields.setdefault("storage.upload_threshold_bytes", fitting)


def _warn_of_replication(valid: Mapping[str, Setting], warnings: list[str]) -> None:
    for name, setting in valid.items():
        if name.endswith(("replication.factor", "min.isr")) and int(setting.value) > 1:
            warnings.append(
                f"{setting.source}: {name}={setting.value} is treated as 1: the WAL device and "
                "the bucket keep records safe, nothing is replicated between brokers"
            )


def _warn_of_what_is_not_acted_on(valid: Mapping[str, Setting], warnings: list[str]) -> None:
    for name, setting in valid.items():
        key = SERVER_KEYS[name]
        if not key.topic_config:
            continue
        why = not_applied(key.topic_config, scaled(setting.value, key.scale))
        if why is not None:
            warnings.append(f"{setting.source}: {name} {why}")


def _build(fields: Mapping[str, object]) -> NodeConfig:
    """Construct the sections from `section.field` and `field` paths."""
    sections: dict[str, dict[str, object]] = {}
    top: dict[str, object] = {}
    for path, value in fields.items():
        section, separator, name = path.partition(".")
        if separator:
            sections.setdefault(section, {})[name] = value
        else:
            top[path] = value
    defaults = NodeConfig()
    for section, values in sections.items():
        top[section] = _with(getattr(defaults, section), values)
    return _with(defaults, top)


def _with(section: Section, values: Mapping[str, object]) -> Section:
    """Replace fields of a frozen dataclass, whose types the tables vouch for."""
    return dataclasses.replace(section, **values)  # type: ignore[type-var]
