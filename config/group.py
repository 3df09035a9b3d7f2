"""Settings of one consumer group of KIP-848, and how they are checked.

A group may override the broker's session timeout and heartbeat interval, within the broker's
bounds.
"""

from collections.abc import Mapping

from config.definition import ConfigKey, parse_value
from config.node import GroupConfig
from config.server_keys import SERVER_KEYS, value_problem
from config.suggest import nearest

# Group-level name -> the server key with its default; the range is the server's min and max key.
GROUP_CONFIGS: dict[str, ConfigKey] = {
    name: SERVER_KEYS[f"group.{name}"]
    for name in ("consumer.session.timeout.ms", "consumer.heartbeat.interval.ms")
}


def validate_group_configs(overrides: Mapping[str, str], bounds: GroupConfig) -> str | None:
    """Say what is wrong with a group's whole set of overrides, or None."""
    limits = {
        "consumer.session.timeout.ms": (
            bounds.consumer_session_timeout_min_ms,
            bounds.consumer_session_timeout_max_ms,
        ),
        "consumer.heartbeat.interval.ms": (
            bounds.consumer_heartbeat_interval_min_ms,
            bounds.consumer_heartbeat_interval_max_ms,
        ),
    }
    for name, text in overrides.items():
        key = GROUP_CONFIGS.get(name)
        if key is None:
            close = nearest(name, GROUP_CONFIGS)
            return f"unknown group config name: {name}" + (
                f"; did you mean {close}?" if close else ""
            )
        problem = value_problem(key, text)
        if problem is None:
            value, (low, high) = parse_value(key.type, text), limits[name]
            assert isinstance(value, int)
            if not low <= value <= high:
                problem = f"must be between {low} and {high}"
        if problem is not None:
            return f"invalid value {text!r} for {name}: it {problem}"
    return None
