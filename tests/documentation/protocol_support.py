"""Writes docs/protocol-support.md from the modules: `python -m tests.documentation.protocol_support`.

What an API does and where it deviates is said by the header of its module, and only there. What differs from Apache
Kafka in single answers is the list with which `tests/e2e/test_beside_kafka.py` compares them.
"""

import importlib
import re
from importlib.metadata import version
from typing import Final, NamedTuple

from headrace.broker.api.registry import FIRST_KEYS, LATER_KEYS
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import VERSIONS
from tests.e2e.kafka_differences import DIFFERENCES, METHODS_THAT_DIFFER
from tests.environment.kafka import KAFKA_VERSION
from tests.environment.paths import ROOT
from tests.environment.spark import SPARK_VERSION

PATH: Final = ROOT / "docs" / "protocol-support.md"
WIDTH: Final = 120
SERVED: Final = tuple(sorted({*FIRST_KEYS, *LATER_KEYS}))

# Keys of a broker of Apache Kafka's that are not served, and what a client makes of that.
NOT_SERVED: Final = (
    (
        (24, 25, 26, 27, 28),
        "Transactions: producers with a transactional id fail at once, with a message.",
    ),
    (
        (68, 69),
        "Groups of the protocol `consumer` (KIP-848): clients that ask for them say that the broker has none; by "
        "default they use classic groups. Admin clients describe groups by DescribeGroups.",
    ),
    (
        (76, 77, 78, 79, 83, 84, 85, 86, 87, 90, 91, 92),
        "Share groups (KIP-932): share consumers say that the broker has none.",
    ),
    (
        (88, 89, 93),
        "Groups of the protocol `streams` (KIP-1071): Kafka Streams uses classic groups.",
    ),
    (
        (71, 72),
        "Metrics of clients (KIP-714): Kafka does not advertise them either where nobody receives them.",
    ),
)


class Tool(NamedTuple):
    """A tool of Apache Kafka's: its script, its class as tests run it, and what is to be said of it."""

    script: str
    main_class: str
    remark: str = ""


RUN: Final = (
    Tool("kafka-acls", "AclCommand", "says that there is no authorizer, as with Kafka"),
    Tool("kafka-broker-api-versions", "BrokerApiVersionsCommand"),
    Tool(
        "kafka-client-metrics",
        "ClientMetricsCommand",
        "`--list`; there are none, and none are taken",
    ),
    Tool("kafka-cluster", "ClusterTool"),
    Tool(
        "kafka-configs",
        "ConfigCommand",
        "topics, brokers, all brokers, loggers; users, clients and groups have nothing to alter",
    ),
    Tool("kafka-console-consumer", "ConsoleConsumer"),
    Tool("kafka-consumer-groups", "ConsumerGroupCommand"),
    Tool("kafka-delete-records", "DeleteRecordsCommand"),
    Tool("kafka-e2e-latency", "EndToEndLatency"),
    Tool("kafka-features", "FeatureCommand"),
    Tool("kafka-get-offsets", "GetOffsetShell"),
    Tool("kafka-groups", "GroupsCommand"),
    Tool("kafka-leader-election", "LeaderElectionCommand"),
    Tool("kafka-log-dirs", "LogDirsCommand"),
    Tool("kafka-metadata-quorum", "MetadataQuorumCommand"),
    Tool("kafka-producer-perf-test", "ProducerPerformance"),
    Tool("kafka-reassign-partitions", "ReassignPartitionsCommand", "throttles are refused"),
    Tool("kafka-share-groups", "ShareGroupCommand", "`--list`; the rest needs share groups"),
    Tool("kafka-streams-groups", "StreamsGroupCommand", "`--list`; the rest needs streams groups"),
    Tool("kafka-topics", "TopicCommand"),
    Tool(
        "kafka-transactions",
        "TransactionsCommand",
        "`list` and `find-hanging`; the rest needs transactions",
    ),
    Tool("kafka-verifiable-consumer", "VerifiableConsumer"),
    Tool("kafka-verifiable-producer", "VerifiableProducer"),
)
NOT_RUN: Final = (
    Tool(
        "kafka-console-producer, kafka-consumer-perf-test",
        "",
        "not in the tests; worked when tried by hand",
    ),
    Tool(
        "kafka-delegation-tokens",
        "",
        "not in the tests; fails as with Kafka on a PLAINTEXT listener",
    ),
    Tool("kafka-streams-application-reset", "", "not in the tests; worked when tried by hand"),
    Tool(
        "kafka-console-share-consumer, kafka-share-consumer-perf-test",
        "",
        "fail: there are no share groups",
    ),
    Tool("kafka-verifiable-share-consumer", "", "fails: there are no share groups"),
    Tool("kafka-storage", "", "not needed: storage needs no formatting"),
    Tool(
        "kafka-dump-log, kafka-metadata-shell", "", "see `headrace bucket` and `headrace metadata`"
    ),
    Tool(
        "kafka-jmx, kafka-replica-verification", "", "there is neither a JVM nor a second replica"
    ),
)

# Distributions of Python whose clients the tests drive.
PYTHON_CLIENTS: Final = ("confluent-kafka", "kafka-python", "aiokafka")


def header(key: ApiKey) -> str:
    """The first docstring of an API's module."""
    module = importlib.import_module(f"headrace.broker.api.{key.name.lower()}")
    assert module.__doc__
    return module.__doc__


def deviations(docstring: str) -> list[str]:
    """The list below "Deviations from Apache Kafka" of a module's header."""
    found = re.search(
        r"^Deviations from Apache Kafka:\n(.*?)(?=^\S|\Z)", docstring, re.MULTILINE | re.DOTALL
    )
    items = re.split(r"^  \* ", found[1], flags=re.MULTILINE)[1:] if found else []
    return [" ".join(it.split()) for it in items]


def name_of(docstring: str) -> str:
    """What an API is called, by its module's header."""
    return docstring.split(" (API key ", 1)[0]


def wrapped(text: str, first: str = "", rest: str = "") -> list[str]:
    """Lines of a paragraph, or of an item."""
    lines, line = [], first
    for word in text.split():
        if len(line) + len(word) + 1 > WIDTH and line.strip():
            lines.append(line.rstrip())
            line = rest
        line += ("" if line.endswith(" ") or not line else " ") + word
    return [*lines, line]


def render() -> str:
    """Write the page."""
    lines = [
        "# What of Kafka's protocol is served",
        "",
        "<!-- Written by `python -m tests.documentation.protocol_support`. -->",
        "",
        *wrapped(
            f"The reference is Apache Kafka {KAFKA_VERSION}. `tests/e2e/test_beside_kafka.py` sends more than 700 "
            "requests to it and to Headrace: of the APIs below in all their versions, but for some whose answers wait "
            "or change what others see. Java's Admin client calls each of its methods on both, `test_bad_batches.py` "
            "sends 300 batches of records, and `test_first_errors.py` has requests that are wrong in two ways. What "
            "differs is below, with the reason; anything else fails these tests."
        ),
        "",
        "## APIs",
        "",
        "| key | API | versions |",
        "|---|---|---|",
    ]
    for key in SERVED:
        low, high, _ = VERSIONS[key]
        versions = f"{low}" if low == high else f"{low} to {high}"
        lines.append(f"| {int(key)} | {name_of(header(key))} | {versions} |")
    lines += [
        "",
        *wrapped(
            "Versions are Kafka's, with two exceptions: of Produce 0 to 2 are advertised and refused, as in Kafka, and "
            "InitProducerId ends before version 6, which is not stable. Not served, and not advertised:"
        ),
        "",
    ]
    for keys, what in NOT_SERVED:
        lines += wrapped(f"{', '.join(map(str, keys))}: {what}", "- ", "  ")
    lines += ["", "## Deviations", ""]
    for key in SERVED:
        items = deviations(header(key))
        if not items:
            continue
        lines += [f"**{name_of(header(key))}**", ""]
        for item in items:
            lines += wrapped(item, "- ", "  ")
        lines.append("")
    lines += ["Of single answers:", ""]
    reasons = dict.fromkeys((it.requests.split(" ")[0], it.reason) for it in DIFFERENCES)
    for api, reason in reasons:
        lines += wrapped(f"{'All' if api == '*' else api}: {reason}.", "- ", "  ")
    lines += ["", "Of methods of Java's Admin client:", ""]
    by_reason: dict[str, list[str]] = {}
    for method, (_, _, reason) in METHODS_THAT_DIFFER.items():
        by_reason.setdefault(reason, []).append(f"`{method}`")
    for reason, methods in by_reason.items():
        lines += wrapped(f"{', '.join(methods)}: {reason}.", "- ", "  ")
    lines += [
        "",
        "## Clients and programs",
        "",
        "With these the tests write, read, use groups or administrate:",
        "",
        "| client | version |",
        "|---|---|",
        f"| Java: Kafka's clients and tools | {KAFKA_VERSION} |",
        *(f"| Python: {name} | {_pinned(name)} |" for name in PYTHON_CLIENTS),
        "| kcat | that of Debian |",
        f"| Spark's Kafka source and sink | {SPARK_VERSION} |",
        "",
        "Kafka's command-line tools:",
        "",
        "| tool | what is to be said of it |",
        "|---|---|",
        *(f"| {it.script} | {it.remark or 'works'} |" for it in RUN),
        *(f"| {it.script} | {it.remark} |" for it in NOT_RUN),
        "",
    ]
    return "\n".join(lines)


def _pinned(name: str) -> str:
    """The versions of a distribution that the tests are run with, as pyproject.toml has them."""
    text = (ROOT / "pyproject.toml").read_text()
    found = re.findall(rf'"{name}([=<>][^"]*)"', text)
    assert found, name
    assert version(name)
    return str(found[-1].removeprefix("=="))


if __name__ == "__main__":
    PATH.write_text(render())
