"""Writes docs/configuration.md from the tables: `python -m headrace.config.docs`.

A test compares the committed file with what this makes, so that documentation and behaviour cannot
part ways. Keys are list entries, not rows of tables: what a key does takes more than a cell holds.
"""

import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from headrace.config.definition import ConfigKey, Importance, describe_allowed
from headrace.config.dynamic_keys import DYNAMIC_KEYS
from headrace.config.ignored_keys import BUCKET_KEYS, IGNORED
from headrace.config.kafka_keys import GROUPS, IDENTITY, METADATA, NETWORK, REPLICATION, TOPICS
from headrace.config.presets import DEV_PRESETS
from headrace.config.protection import PROTECTIONS
from headrace.config.relations import relation_texts
from headrace.config.server_keys import SERVER_KEYS, TOPIC_DEFAULT_KEYS, allowed_text, default_text
from headrace.config.storage_keys import HEADRACE_KEYS, S3_KEYS
from headrace.config.topic_keys import TOPIC_CONFIGS, TopicConfig

WIDTH = 110
PATH = Path(__file__).resolve().parents[1] / "docs" / "configuration.md"

_INTRODUCTION = """\
<!-- Written by `python -m headrace.config.docs` from the tables in config/. Do not edit. -->

# Configuration

`headrace server --config server.properties` reads a Kafka properties file. Keys keep Kafka's and
AutoMQ's names and meanings; ours begin with `headrace.`. Nothing is mandatory: every key has a
default, and storage needs no formatting. Keys are read at the start; topic settings change at any
time, and so do those keys of which it is said that they change *while brokers run*.

**Sources**, each beating the one before: defaults, file, environment, `--override KEY=VALUE`. Topic
settings that are set with `headrace topic alter` or any Kafka admin client beat the broker's
defaults.

**Environment.** `KAFKA_LOG_RETENTION_MS` is `log.retention.ms`: the prefix goes, `_` is a dot, `__`
an underscore, `___` a dash. `HEADRACE_` works the same way, and needs no second `headrace`:
`HEADRACE_LOG_LEVEL` is `headrace.log.level`. `CLUSTER_ID` is `cluster.id`. Bitnami's spelling is
read as well: `KAFKA_CFG_LOG_RETENTION_MS` is `log.retention.ms`; `KAFKA_` beats it, and `HEADRACE_`
beats both. Variables are merged over the file; they never replace it. `KAFKA_HEAP_OPTS` and the
like, and what Kubernetes adds for services that are called kafka or headrace, are not settings.

**Mistakes.** A wrong value stops the start with exit code 2, and all mistakes are listed at once,
each with its source, what is allowed, and an example. An unknown key, or a key of Kafka that has no
effect here, causes one warning. `headrace config check FILE` does the same without starting
anything, and shows the values that would be used; `headrace config explain KEY` explains a key.

**Protection.** There is neither TLS nor authentication nor authorization yet, and no setting passes
that asks for it. A key or a variable that this broker does not act on is refused, with exit code 2,
when its name asks for protection (`ssl`, `sasl`, `acl`, `password` and the like), known or not, in
the file, in an `--override`, and in every spelling of a variable: `KAFKA_SSL_CLIENT_AUTH`,
`KAFKA_CFG_SASL_ENABLED_MECHANISMS`, `KAFKA_CLIENT_USERS` and `ALLOW_PLAINTEXT_LISTENER=no` of
Bitnami's image, `CONFLUENT_` and `STRIMZI_` names, a login configuration in `KAFKA_OPTS`,
`KAFKA_LOG4J_OPTS`, `KAFKA_JMX_OPTS` or `JAVA_TOOL_OPTIONS`, a line of `KAFKA_EXTRA_ARGS`,
`KAFKA_SERVER_PROPERTIES` or `KAFKA_CONFIG`. So is a listener with SSL, SASL or TLS in its name, such as
`EXTERNAL_SSL`, unless `listener.security.protocol.map` says that it is `PLAINTEXT`. A stronger source
does not hide it. What asks for nothing passes: an empty value, `ssl.client.auth=none`, a switch that
is off (`KAFKA_ZOOKEEPER_SASL_ENABLED=false`), `security.inter.broker.protocol=PLAINTEXT`,
`allow.everyone.if.no.acl.found=true`. The value of a key that is refused by its name is not shown.

**Secrets.** Bucket URIs carry no credentials: these come from `AWS_ACCESS_KEY_ID` and
`AWS_SECRET_ACCESS_KEY`, profiles, or roles, as in every AWS tool.
"""

_DEV = """\
## Development: `headrace dev`

Listens on 127.0.0.1:9092, or on the next free port if that is taken; the admin endpoint does the
same from 9644. Data is in `$XDG_DATA_HOME/headrace/dev` (by default `~/.local/share/headrace/dev`);
`--data-dir` or `HEADRACE_DATA_DIR` name another directory. It is not the working directory, so
topics are the same wherever the command is started, and no files appear in a project's directory. A
second `headrace dev` needs a `--data-dir` of its own, and says so.

It starts from these values instead of the defaults:
"""

_SECTIONS: tuple[tuple[str, str, Sequence[ConfigKey]], ...] = (
    ("Identity", "", IDENTITY),
    ("Network", "", NETWORK),
    ("Storage", "Sizes are bytes.", S3_KEYS),
    ("Metadata", "", METADATA),
    ("Topics", "", TOPICS),
    ("Defaults of topic settings", "They hold for topics that do not set their own.", ()),
    ("Consumer groups", "", GROUPS),
    ("This broker", "", HEADRACE_KEYS),
    ("Replication", "", REPLICATION),
)


def render() -> str:
    """Write the whole page."""
    parts = [_INTRODUCTION, _essentials(), _DEV, _presets(), "## All keys of a node\n"]
    for title, note, keys in _SECTIONS:
        listed = keys or TOPIC_DEFAULT_KEYS
        parts.append(f"### {title}\n" + (f"\n{note}\n" if note else ""))
        parts.append(_key_list(listed))
    parts += ["## Settings of a topic\n", _topic_list(TOPIC_CONFIGS.values())]
    parts += ["## What must go together\n", _relations()]
    parts += ["## Known keys without effect\n", _ignored()]
    return "\n".join(parts)


def _essentials() -> str:
    lines = ["## The keys to know\n", "```properties"]
    lines += [
        f"{key.name}={key.example or default_text(key)}"
        for key in SERVER_KEYS.values()
        if key.importance is Importance.HIGH
    ]
    return "\n".join([*lines, "```\n"])


def _presets() -> str:
    rows = [(f"`{p.key}`", f"`{p.value}`", p.why) for p in DEV_PRESETS]
    return _table(("key", "value", "why"), rows)


def _key_list(keys: Iterable[ConfigKey]) -> str:
    return _list(
        f"{_names(key)} ({allowed_text(key)}; default {_code(default_text(key))}{_when(key)}): {key.doc}"
        for key in keys
    )


def _when(key: ConfigKey) -> str:
    return "; while brokers run" if key.name in DYNAMIC_KEYS else ""


def _names(key: ConfigKey) -> str:
    return ", ".join([f"**`{key.name}`**", *(f"`{name}`" for name in key.also_named)])


def _topic_list(topics: Iterable[TopicConfig]) -> str:
    return _list(_topic(topic) for topic in topics)


def _topic(topic: TopicConfig) -> str:
    allowed = describe_allowed(topic.type, topic.valid)
    servers = ", ".join(f"`{server.name}`" for server in topic.server_keys)
    source = f" from {servers}" if servers else ""
    return f"**`{topic.name}`** ({allowed}; default {_code(topic.default)}{source}): {topic.doc}"


def _relations() -> str:
    return _list(relation_texts())


def _ignored() -> str:
    intro = (
        "A properties file written for Apache Kafka or AutoMQ may have these. They are accepted, "
        "with a warning. A name that ends in a dot stands for all that begin with it. Those whose "
        "name asks for protection (`ssl.`, `sasl.` and the like) are refused unless they are empty, "
        f"and those that ask for something to rely on ({', '.join(f'`{name}`' for name in sorted(PROTECTIONS))}) "
        "when their value does: this broker does not start without what it was asked to provide. "
        f"Those that name the bucket ({', '.join(f'`{name}`' for name in BUCKET_KEYS)}) are refused where "
        "`s3.data.buckets` is not set, with the value that it needs."
    )
    reasons = _list(
        f"{reason}: {', '.join(f'`{name}`' for name in sorted(names))}"
        for reason, names in IGNORED.items()
    )
    return f"{_wrapped(intro)}\n\n{reasons}"


def _code(text: str) -> str:
    return f"`{text}`" if text else "none"


def _list(entries: Iterable[str]) -> str:
    return "\n".join([*(_wrapped(entry, first="- ", other="  ") for entry in entries), ""])


def _wrapped(text: str, first: str = "", other: str = "") -> str:
    """Break lines between words, but not within a piece of code."""
    glued = re.sub(r"`[^`]*`", lambda code: code[0].replace(" ", "\0"), text)
    lines = textwrap.fill(
        glued,
        WIDTH,
        initial_indent=first,
        subsequent_indent=other,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines.replace("\0", " ")


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").strip() for cell in cells) + " |"

    rule = "|" + "|".join(" --- " for _ in titles) + "|"
    return "\n".join([line(titles), rule, *(line(row) for row in rows), ""])


def main(write: Callable[[str], object] = PATH.write_text) -> None:
    """Write the file."""
    write(render())


if __name__ == "__main__":
    main()
