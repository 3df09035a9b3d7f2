"""Rules for topic names: which are valid, and which collide in metric names. Pure.

Source: Topic.java of Apache Kafka (metrics cannot distinguish a `.` from a `_` at the same
position).
"""

import re

MAX_TOPIC_NAME_LENGTH = 249

_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")


def topic_name_problem(name: str) -> str | None:
    """Return what is wrong with a topic name, or None."""
    if not name:
        return "topic name must not be empty"
    if name in (".", ".."):
        return f"topic name must not be '{name}'"
    if len(name) > MAX_TOPIC_NAME_LENGTH:
        return f"topic name has {len(name)} characters, at most {MAX_TOPIC_NAME_LENGTH} are allowed"
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
