"""Environment variables as settings: which ones count, and the key that each stands for. Pure.

`KAFKA_` names map as in Apache Kafka's image: `_` is a dot, `__` an underscore, `___` a dash.
`KAFKA_CFG_` names are Bitnami's, and `CONFLUENT_` and `STRIMZI_` names those of their images.
`HEADRACE_` names map the same way, to any key or, without repeating the prefix, to a `headrace.*`
one: HEADRACE_LOG_LEVEL is headrace.log.level. CLUSTER_ID is cluster.id. The variables come in
as a mapping.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from headrace.config.protection import asks_for
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

# What Bitnami's image takes for itself, apart from what asks for protection.
_NOT_SETTINGS |= frozenset(
    "KAFKA_" + name
    for name in (
        "ENABLE_KRAFT",
        "KRAFT_VERSION",
        "SKIP_KRAFT_STORAGE_INIT",
        "MOUNTED_CONF_DIR",
        "BASE_DIR",
        "VOLUME_DIR",
        "DATA_DIR",
        "CONF_DIR",
        "CONF_FILE",
        "CERTS_DIR",
        "INITSCRIPTS_DIR",
        "DAEMON_USER",
        "DAEMON_GROUP",
    )
)
# Of Confluent's command line and of its distribution, which are no brokers.
_OF_CLIENTS = ("CONFLUENT_HOME", "CONFLUENT_CURRENT", "CONFLUENT_CLOUD_", "CONFLUENT_PLATFORM_")
# Variables that have a key without a rule.
_NAMED = {
    "ALLOW_PLAINTEXT_LISTENER": "allow.plaintext.listener",
    "KAFKA_KRAFT_CLUSTER_ID": "cluster.id",
    "CLUSTER_ID": "cluster.id",
}
# Prefixes, weakest first, and what the keys begin with that they stand for. In Bitnami's image, too,
# KAFKA_ beats KAFKA_CFG_.
_PREFIXES = {
    "CONFLUENT_": "confluent.",
    "STRIMZI_": "strimzi.",
    "KAFKA_CFG_": "",
    "KAFKA_": "",
    "HEADRACE_": "",
}
# How the JVM of a broker gets its logins and certificates.
_JVM_OPTIONS = (
    "KAFKA_OPTS",
    "KAFKA_HEAP_OPTS",
    "KAFKA_JVM_PERFORMANCE_OPTS",
    "KAFKA_LOG4J_OPTS",
    "KAFKA_JMX_OPTS",
    "JAVA_TOOL_OPTIONS",
)
_JVM_SECURITY = re.compile(
    r"-D(java\.security\.(?:auth|krb5)\.[\w.]+|javax\.net\.ssl\.[\w.]+)=(\S+)"
)

# Whole files, or arguments of Kafka's own command, which nothing here acts on: what they ask for is refused.
_TEXTS = ("KAFKA_EXTRA_ARGS", "KAFKA_SERVER_PROPERTIES", "KAFKA_CONFIG")
_LINES = re.compile(r"\r|\n|\\n|--override")
_LINE = re.compile(r"[\s=\"']*([A-Za-z][\w.-]*)\s*[=:\s](.*)")

# What Kubernetes and Docker links put into every container beside a service called kafka, headrace,
# confluent-... or strimzi-...: KAFKA_SERVICE_HOST, KAFKA_PORT=tcp://..., KAFKA_PORT_9092_TCP_ADDR.
_SERVICE_LINK = re.compile(
    r"^(KAFKA|HEADRACE|CONFLUENT|STRIMZI)_([A-Z0-9_]+_)?(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|"
    r"PORT(_\d+_(TCP|UDP)(_(ADDR|PORT|PROTO))?)?)$"
)


class Variable(NamedTuple):
    """One variable that is a setting."""

    name: str
    key: str
    value: str


def settings_from(environment: Mapping[str, str]) -> list[Variable]:
    """List the variables that are settings, weakest first: CLUSTER_ID, KAFKA_CFG_, KAFKA_, HEADRACE_."""
    found = [
        Variable(name, key, environment[name])
        for name, key in _NAMED.items()
        if environment.get(name)
    ]
    for name in _JVM_OPTIONS:
        options = _JVM_SECURITY.findall(environment.get(name, ""))
        found += [Variable(name, key, value) for key, value in options]
    for name in _TEXTS:
        found += _asking_lines(name, environment.get(name, ""))
    for prefix, family in _PREFIXES.items():
        for name in sorted(environment):
            if _prefix_of(name) == prefix and _is_setting(name):
                key = family + key_of(name.removeprefix(prefix))
                if prefix == "HEADRACE_" and find_key("headrace." + key):
                    key = "headrace." + key
                found.append(Variable(name, key, environment[name]))
    return found


def _asking_lines(name: str, text: str) -> Iterator[Variable]:
    """List the lines of a text that ask for protection."""
    for line in _LINES.split(text):
        found = _LINE.match(line)
        value = found[2].strip(" \t\"'") if found else ""
        if found and asks_for(found[1], value):
            yield Variable(name, found[1], value)


def _prefix_of(name: str) -> str | None:
    """Find the longest prefix that a name has, and something behind it."""
    found = [prefix for prefix in _PREFIXES if name.startswith(prefix) and name != prefix]
    return max(found, key=len, default=None)


def _is_setting(name: str) -> bool:
    return not (
        name in _NOT_SETTINGS
        or name in _NAMED
        or name.startswith(_OF_CLIENTS)
        or _SERVICE_LINK.match(name)
    )


def key_of(name: str) -> str:
    """Turn a variable's name, prefix removed, into a key.

    >>> key_of("LOG_RETENTION_MS")
    'log.retention.ms'
    """
    replacements = {"___": "-", "__": "_", "_": "."}
    return re.sub(r"_{1,3}", lambda match: replacements[match.group()], name.lower())
