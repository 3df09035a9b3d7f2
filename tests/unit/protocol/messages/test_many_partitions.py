"""No request of a client with 100,000 partitions is refused."""

from collections.abc import Callable
from typing import Any

import pytest

from headrace.config.node import NetworkConfig
from headrace.protocol import messages
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import VERSIONS
from headrace.protocol.fetch.request import decode_fetch
from headrace.protocol.headers import RequestHeader, parse_request_header
from headrace.protocol.messages.registry import REQUESTS
from headrace.protocol.produce import decode_produce

pytestmark = pytest.mark.slow

MANY = 100_000
NAME = "a-topic-of-usual-length"


def named(array: str, struct: str, partitions: str, **more: Any) -> Callable[[Any, int], Any]:
    """Make a request with an array of topics, each with an array of structs or numbers of partitions."""

    def make(request: Any, topics: int) -> Any:
        topic_class = getattr(request, struct)
        inner = next((it for it in vars(topic_class).values() if isinstance(it, type)), None)
        one = [0] if inner is None else [inner()]
        names = set(topic_class.__struct_fields__)
        name = {key: NAME for key in ("name", "topic") if key in names}
        topic = topic_class(**name, **{partitions: one})
        return request(**{array: [topic] * topics}, **more)

    return make


def in_a_group(request: Any, topics: int) -> Any:
    group = request.OffsetFetchRequestGroup
    topic = group.OffsetFetchRequestTopics(name=NAME, partition_indexes=[0])
    flat = request.OffsetFetchRequestTopic(name=NAME, partition_indexes=[0])
    return request(
        group_id="g",
        topics=[flat] * topics,
        groups=[group(group_id="g", topics=[topic] * topics)],
    )


def of_names(array: str, struct: str, **fields: Any) -> Callable[[Any, int], Any]:
    """Make a request that names topics only."""

    def make(request: Any, topics: int) -> Any:
        return request(**{array: [getattr(request, struct)(**fields)] * topics})

    return make


def fetched(request: Any, topics: int) -> Any:
    topic = request.FetchTopic
    forgotten = request.ForgottenTopic
    return request(
        topics=[topic(topic=NAME, partitions=[topic.FetchPartition()])] * topics,
        forgotten_topics_data=[forgotten(topic=NAME, partitions=[0])] * topics,
    )


REQUESTS_OF_MANY = {
    ApiKey.METADATA: of_names("topics", "MetadataRequestTopic", name=NAME),
    ApiKey.LIST_OFFSETS: named("topics", "ListOffsetsTopic", "partitions"),
    ApiKey.OFFSET_COMMIT: named("topics", "OffsetCommitRequestTopic", "partitions"),
    ApiKey.OFFSET_FETCH: in_a_group,
    ApiKey.OFFSET_FOR_LEADER_EPOCH: named("topics", "OffsetForLeaderTopic", "partitions"),
    ApiKey.OFFSET_DELETE: named("topics", "OffsetDeleteRequestTopic", "partitions"),
    ApiKey.DELETE_RECORDS: named("topics", "DeleteRecordsTopic", "partitions"),
    ApiKey.DESCRIBE_LOG_DIRS: named("topics", "DescribableLogDirTopic", "partitions"),
    ApiKey.ELECT_LEADERS: named("topic_partitions", "TopicPartitions", "partitions"),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: named(
        "topics", "ListPartitionReassignmentsTopics", "partition_indexes"
    ),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: named("topics", "ReassignableTopic", "partitions"),
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: of_names("topics", "TopicRequest", name=NAME),
    ApiKey.DESCRIBE_CONFIGS: of_names("resources", "DescribeConfigsResource", resource_name=NAME),
    ApiKey.CREATE_TOPICS: of_names("topics", "CreatableTopic", name=NAME),
    ApiKey.PRODUCE: named("topic_data", "TopicProduceData", "partition_data"),
    ApiKey.FETCH: fetched,
}


@pytest.mark.parametrize("key", REQUESTS_OF_MANY, ids=lambda key: key.name)
def test_a_client_of_100_000_partitions_is_served(key: ApiKey) -> None:
    """Each in a topic of its own: there are no more elements for as many partitions."""
    version = VERSIONS[key].max_version
    request = REQUESTS_OF_MANY[key](REQUESTS[key], MANY)
    whole = memoryview(messages.encode_request(request, RequestHeader(key, version, 1, "c")))
    assert len(whole) < NetworkConfig().max_request_bytes
    body = whole[parse_request_header(whole)[1] :]
    if key is ApiKey.PRODUCE:
        assert len(decode_produce(version, body).topics) == MANY
    elif key is ApiKey.FETCH:
        assert len(decode_fetch(version, body).topics) == MANY
    else:
        messages.decode_request(key, version, body)
        assert messages.is_large(key, body)
