"""The options of Spark's Kafka connector, and the table of docs/spark.md that says what each does with this broker.

The names are those of Spark 4.0's integration guide for Kafka, and `maxRecordsPerPartition`, which only the code of
4.0 has. `test_the_list_of_options_is_that_of_the_connector` compares them with that code.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.documentation.pages import page
from tests.environment.paths import ROOT

HEADING = "## Options of the connector"
TESTS = "test_spark_connector_*.py"  # of tests/e2e

SOURCE = (
    "assign", "subscribe", "subscribePattern", "startingTimestamp", "startingOffsetsByTimestamp", "startingOffsets",
    "endingTimestamp", "endingOffsetsByTimestamp", "endingOffsets", "startingOffsetsByTimestampStrategy",
    "failOnDataLoss", "kafkaConsumer.pollTimeoutMs", "fetchOffset.numRetries", "fetchOffset.retryIntervalMs",
    "maxOffsetsPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay", "minPartitions", "maxRecordsPerPartition",
    "groupIdPrefix", "includeHeaders",
)  # fmt: skip
SINK = ("topic",)
COLUMNS = ("key", "value", "headers", "topic", "partition")  # of the sink
OF_KAFKA = (
    "kafka.bootstrap.servers", "kafka.group.id", "kafka.auto.offset.reset", "kafka.key.deserializer",
    "kafka.value.deserializer", "kafka.key.serializer", "kafka.value.serializer", "kafka.enable.auto.commit",
    "kafka.interceptor.classes", "kafka.partitioner.class",
)  # fmt: skip
# Kafka's own, which matter most when Spark reads.
OF_CONSUMERS = (
    "kafka.max.poll.records", "kafka.max.partition.fetch.bytes", "kafka.fetch.max.bytes", "kafka.isolation.level",
)  # fmt: skip
SECURITY = (
    "kafka.security.protocol", "kafka.sasl.*", "kafka.ssl.*", "spark.kafka.clusters.*",
    "spark.security.credentials.kafka.enabled",
)  # fmt: skip
SESSION = (
    "spark.sql.streaming.kafka.useDeprecatedOffsetFetching", "spark.kafka.consumer.cache.capacity",
    "spark.kafka.consumer.cache.timeout", "spark.kafka.consumer.cache.evictorThreadRunInterval",
    "spark.kafka.consumer.cache.jmx.enable", "spark.kafka.consumer.fetchedData.cache.timeout",
    "spark.kafka.consumer.fetchedData.cache.evictorThreadRunInterval", "spark.kafka.producer.cache.timeout",
    "spark.kafka.producer.cache.evictorThreadRunInterval",
)  # fmt: skip
DOCUMENTED = frozenset((*SOURCE, *SINK, *COLUMNS, *OF_KAFKA, *OF_CONSUMERS, *SECURITY, *SESSION))


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table: options, and the tests that show what they do."""

    options: tuple[str, ...]
    tests: tuple[str, ...]


def rows() -> list[Row]:
    """Return the rows of the section's tables, without their headings."""
    text = page("docs/spark.md").text
    section = text[text.index(HEADING) + len(HEADING) :].partition("\n## ")[0]
    lines = [it.strip("|").split(" | ") for it in section.splitlines() if it.startswith("| `")]
    return [Row(_names(cells[0]), _names(cells[-1])) for cells in lines]


def _names(cell: str) -> tuple[str, ...]:
    return tuple(re.findall(r"`([^`]+)`", cell))


def spark_tests() -> dict[str, str]:
    """Return the source of each test of Spark by its name, with what it uses of its module."""
    found: dict[str, str] = {}
    for path in sorted((ROOT / "tests/e2e").glob(TESTS)):
        text = path.read_text()
        parts = dict(_parts(text))
        for name in parts:
            if name.startswith("test_"):
                assert name not in found, f"two tests are named {name}"
                found[name] = _with_what_it_uses(name, parts)
    return found


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of a module's functions and constants."""
    lines = text.splitlines()
    for node in ast.parse(text).body:
        first = node.lineno
        if isinstance(node, ast.FunctionDef):
            names = [node.name]
            first = min([first, *(it.lineno for it in node.decorator_list)])
        elif isinstance(node, ast.Assign):
            names = [it.id for it in node.targets if isinstance(it, ast.Name)]
        else:
            continue
        for name in names:
            yield name, "\n".join(lines[first - 1 : node.end_lineno])


def _with_what_it_uses(name: str, parts: dict[str, str]) -> str:
    seen: dict[str, str] = {}
    todo = [name]
    while todo:
        part = todo.pop()
        if part not in seen:
            seen[part] = parts[part]
            todo += {*re.findall(r"\w+", parts[part])} & parts.keys()
    return "\n".join(seen.values())
