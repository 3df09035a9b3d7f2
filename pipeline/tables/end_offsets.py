"""Where topics end now, and which of them are there: by brokers, or by the metadata in the bucket."""

from collections.abc import Sequence
from typing import Final

from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from headrace.pipeline.source.bucket import open_bucket
from headrace.pipeline.source.errors import SourceError
from headrace.pipeline.source.snapshots import newest_catalog
from headrace.pipeline.tables.configuration import SourceConfig
from headrace.pipeline.tables.table_state import Counts

TIMEOUT_S: Final = 10.0
_ERRORS_ONLY: Final = 3  # syslog level


class NoEndsError(Exception):
    """The end offset cannot be found; the message says why."""


def end_offsets(source: SourceConfig, topics: Sequence[str]) -> Counts:
    """The offset behind the last record of each partition, as far as the source sees it.

    Raises:
        NoEndsError: neither brokers nor bucket give it.
    """
    try:
        if source.format == "headrace":
            return _of_bucket(source, topics)
        return _of_brokers(source, topics)
    except SourceError as error:
        raise NoEndsError(str(error)) from error
    except KafkaException as error:
        raise _no_ends(source, error) from error


def missing_topics(source: SourceConfig, topics: Sequence[str]) -> list[str]:
    """Those of some topics that the source has not.

    Raises:
        NoEndsError: neither brokers nor bucket give it.
    """
    if source.format != "headrace":
        return missing_at_brokers(source, topics)
    try:
        catalog = newest_catalog(open_bucket(source.bucket), source.options.get("cluster", ""))
    except SourceError as error:
        raise NoEndsError(str(error)) from error
    return [it for it in topics if not catalog.has_topic(it)]


def missing_at_brokers(source: SourceConfig, topics: Sequence[str]) -> list[str]:
    """Those of some topics that the brokers have not; none is created by the question.

    Raises:
        NoEndsError: the brokers do not answer.
    """
    try:
        known = admin_client(source).list_topics(timeout=TIMEOUT_S).topics
    except KafkaException as error:
        raise _no_ends(source, error) from error
    return [it for it in topics if it not in known]


def admin_client(source: SourceConfig) -> AdminClient:
    """A client that asks brokers."""
    return AdminClient(
        {
            **source.client,
            "bootstrap.servers": source.bootstrap_servers,
            "log_level": _ERRORS_ONLY,
        }
    )


def _no_ends(source: SourceConfig, error: KafkaException) -> NoEndsError:
    return NoEndsError(f"{source.bootstrap_servers}: {error.args[0].str()}")


def _of_bucket(source: SourceConfig, topics: Sequence[str]) -> Counts:
    catalog = newest_catalog(open_bucket(source.bucket), source.options.get("cluster", ""))
    found: dict[str, dict[int, int]] = {}
    for it in catalog.subscribed([topic for topic in topics if catalog.has_topic(topic)]):
        stored = catalog.stored(it)
        if stored is not None:
            found.setdefault(it.topic, {})[it.partition] = stored.end_offset
    return found


def _of_brokers(source: SourceConfig, topics: Sequence[str]) -> Counts:
    consumer = Consumer(
        {
            **source.client,
            "bootstrap.servers": source.bootstrap_servers,
            "group.id": "headrace-pipeline-status",
            "log_level": _ERRORS_ONLY,
        }
    )
    try:
        found: dict[str, dict[int, int]] = {}
        for topic in topics:
            told = consumer.list_topics(topic, timeout=TIMEOUT_S).topics[topic]
            for partition in told.partitions if told.error is None else ():
                bounds = consumer.get_watermark_offsets(
                    TopicPartition(topic, partition), timeout=TIMEOUT_S
                )
                if bounds is not None:
                    found.setdefault(topic, {})[partition] = bounds[1]
        return found
    finally:
        consumer.close()
