"""Settings of a broker that are not in its file: they are changed while it runs, by IncrementalAlterConfigs. Pure."""

from typing import Final

DRAIN_KEY: Final = "headrace.drain"
DRAIN_DOC: Final = (
    "Whether this broker is drained: its partitions move to the others, and it gets none. It lasts until it is taken "
    "back or the broker's process starts again."
)


def dynamic_broker_problem(name: str, value: str) -> str | None:
    """Why a broker's setting cannot be changed to this value while it runs; None: it can."""
    if name != DRAIN_KEY:
        return f"{name} cannot be changed while brokers run"
    return None if value in ("true", "false") else f"{name} is true or false, not {value!r}"
