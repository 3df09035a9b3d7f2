"""The ids of topics: one that is deleted and created again has another id, under the same name."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final
from uuid import UUID

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient

from headrace.pipeline.source.bucket import open_bucket
from headrace.pipeline.source.errors import SourceError
from headrace.pipeline.source.snapshots import newest_catalog
from headrace.pipeline.tables.configuration import SourceConfig
from headrace.pipeline.tables.end_offsets import NoEndsError, admin_client

TIMEOUT_S: Final = 10.0
ATTEMPTS: Final = 3
_WAIT_S: Final = 1.0
_MASK: Final = 2**64 - 1
_UNKNOWN: Final = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC)  # noqa: SLF001 - its public spelling


def topic_ids(
    source: SourceConfig, topics: Sequence[str], sleep: Callable[[float], None] = time.sleep
) -> Mapping[str, str]:
    """The ids of topics as the source sees them now; none of those that are not there, or from brokers without ids.

    Raises:
        NoEndsError: neither brokers nor bucket give it.
    """
    if source.format != "headrace":
        return _of_brokers(source, topics, sleep)
    try:
        catalog = newest_catalog(open_bucket(source.bucket), source.options.get("cluster", ""))
    except SourceError as error:
        raise NoEndsError(str(error)) from error
    return {it: catalog.topic_id(it) for it in topics if catalog.has_topic(it)}


def _of_brokers(
    source: SourceConfig, topics: Sequence[str], sleep: Callable[[float], None]
) -> Mapping[str, str]:
    try:
        client = admin_client(source)
    except KafkaException as error:  # a setting of `client` is wrong: it is no better the next time
        raise NoEndsError(f"{source.bootstrap_servers}: {error.args[0].str()}") from error
    why = ""
    for attempt in range(ATTEMPTS):
        if attempt:
            sleep(_WAIT_S)
        try:
            return _described(client, topics)
        except KafkaException as error:
            why = error.args[0].str()
    raise NoEndsError(f"{source.bootstrap_servers}: {why}")


def _described(client: AdminClient, topics: Sequence[str]) -> dict[str, str]:
    asked = client.describe_topics(TopicCollection(list(topics)), request_timeout=TIMEOUT_S)
    found = {}
    for name, answer in asked.items():
        try:
            told = answer.result().topic_id
        except KafkaException as error:
            if error.args[0].code() in _UNKNOWN:
                continue
            raise
        high = told.get_most_significant_bits() & _MASK
        topic_id = UUID(int=high << 64 | told.get_least_significant_bits() & _MASK)
        if topic_id.int:
            found[name] = str(topic_id)
    return found
