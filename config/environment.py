"""Environment variables as settings: which ones count, and the key that each stands for. Pure.

`KAFKA_` names map as in Apache Kafka's image: `_` is a dot, `__` an underscore, `___` a dash.
`HEADRACE_` names map the same way, to any key or, without repeating the prefix, to a `headrace.*`
one: HEADRACE_LOG_LEVEL is headrace.log.level. CLUSTER_ID is cluster.id. The variables come in
as a mapping.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from headrace.config.server_keys import find_key

# Variables of images and start scripts that are not settings (Kafka's KafkaDockerWrapper has the
# first group), and those of this project's own commands.
_NOT_SETTINGS = frozenset(
    "KAFKA_" + name
    for name in (
        "VERSION",
        "HEAP_OPTS",
        "OPTS",
        "LOG4J_OPTS",
        "LOG4J_ROOT_LOGLEVEL",
        "LOG4J_LOGGERS",
        "TOOLS_LOG4J_LOGLEVEL",
        "JMX_OPTS",
        "JMX_PORT",
        "JMX_HOSTNAME",
        "JVM_PERFORMANCE_OPTS",
        "GC_LOG_OPTS",
        "HOME",
        "DEBUG",
        "CLASSPATH",
        "MODE",
    )
) | {
    "HEADRACE_ADMIN_SERVER",
    "HEADRACE_BOOTSTRAP_SERVER",
    "HEADRACE_CONFIG",
    "HEADRACE_DATA_DIR",
    "HEADRACE_VERSION",
}

# What Kubernetes and Docker links put into every container beside a service called kafka or
# headrace: KAFKA_SERVICE_HOST, KAFKA_PORT=tcp://..., KAFKA_PORT_9092_TCP_ADDR.
_SERVICE_LINK = re.compile(
    r"^(KAFKA|HEADRACE)_([A-Z0-9_]+_)?(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|"
    r"PORT(_\d+_(TCP|UDP)(_(ADDR|PORT|PROTO))?)?)$"
)


class Variable(NamedTuple):
    """One variable that is a setting."""

    name: str
    key: str
    value: str


def settings_from(environment: Mapping[str, str]) -> list[Variable]:
    """List the variables that are settings, weakest first: CLUSTER_ID, KAFKA_, HEADRACE_."""
    found = []
    if environment.get("CLUSTER_ID"):
        found.append(Variable("CLUSTER_ID", "cluster.id", environment["CLUSTER_ID"]))
    for prefix in ("KAFKA_", "HEADRACE_"):
        for name in sorted(environment):
            if name.startswith(prefix) and _is_setting(name):
                key = key_of(name.removeprefix(prefix))
                if prefix == "HEADRACE_" and find_key("headrace." + key):
                    key = "headrace." + key
                found.append(Variable(name, key, environment[name]))
    return found


def _is_setting(name: str) -> bool:
    return name not in _NOT_SETTINGS and not _SERVICE_LINK.match(name)


def key_of(name: str) -> str:
    """Turn a variable's name, prefix removed, into a key.

    >>> key_of("LOG_RETENTION_MS")
    'log.retention.ms'
    """
    replacements = {"___": "-", "__": "_", "_": "."}
    return re.sub(r"_{1,3}", lambda match: replacements[match.group()], name.lower())
