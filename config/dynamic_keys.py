"""Settings of a broker that are changed while it runs, by IncrementalAlterConfigs and AlterConfigs. Pure.

They are in the metadata, for one broker or for all of them (the resource with the empty name), and win over files. The
rest of `headrace.config.server_keys` is read at the start.

Source: DynamicBrokerConfig.java; of its keys those that this broker has, but for listeners and what needs names looked
up.
"""

from typing import Final

from headrace.config.server_keys import SERVER_KEYS, value_problem
from headrace.config.topic_keys import TOPIC_CONFIGS

DRAIN_KEY: Final = "headrace.drain"
DRAIN_DOC: Final = (
    "Whether this broker is drained: its partitions move to the others, and it gets none. It lasts until it is taken "
    "back or the broker's process starts again."
)
MAX_CONNECTIONS_KEY: Final = "max.connections"
MAX_CONNECTIONS_PER_IP_KEY: Final = "max.connections.per.ip"
PRODUCER_EXPIRATION_KEY: Final = "producer.id.expiration.ms"

# Of the names for a topic's default only the first one: it wins over the others.
DYNAMIC_KEYS: Final = frozenset(
    {
        *(entry.server_keys[0].name for entry in TOPIC_CONFIGS.values() if entry.server_keys),
        MAX_CONNECTIONS_KEY,
        MAX_CONNECTIONS_PER_IP_KEY,
        PRODUCER_EXPIRATION_KEY,
    }
)


def dynamic_broker_problem(name: str, value: str) -> str | None:
    """Why a broker's setting cannot be changed to this value while it runs; None: it can."""
    if name == DRAIN_KEY:
        return None if value in ("true", "false") else f"{name} is true or false, not {value!r}"
    if name not in DYNAMIC_KEYS:
        return (
            f"{name} cannot be changed while brokers run: set it in server.properties and restart"
        )
    problem = value_problem(SERVER_KEYS[name], value)
    if problem is None and name == MAX_CONNECTIONS_PER_IP_KEY and int(value) == 0:
        problem = "must be at least 1: no client could take it back"
    return f"invalid value {value!r} for {name}: it {problem}" if problem else None
