"""Which topic names are legal, and which collide in metric names. Pure.

Source: Topic.java of Apache Kafka (a `.` and a `_` at the same place cannot be told apart in
metrics).
"""

import re

MAX_TOPIC_NAME_LENGTH = 249

_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")


def topic_name_problem(name: str) -> str | None:
    """Say what is wrong with a topic name, or None."""
    if not name:
        return "topic name must not be empty"
    if name in (".", ".."):
        return f"topic name must not be '{name}'"
    if len(name) > MAX_TOPIC_NAME_LENGTH:
        return f"topic name has {len(name)} characters, more than {MAX_TOPIC_NAME_LENGTH}"
    if _LEGAL.fullmatch(name) is None:
        return f"topic name {name!r} has a character other than a-z, A-Z, 0-9, '.', '_' and '-'"
    return None


def is_valid_topic_name(name: str) -> bool:
    """Whether a topic may have this name."""
    return topic_name_problem(name) is None


def collision_key(name: str) -> str | None:
    """What two colliding names have in common; None for a name that cannot collide."""
    if "." not in name and "_" not in name:
        return None
    return name.replace(".", "_")
