"""A client's Metadata, against the message classes."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.protocol import messages
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.client.metadata import (
    METADATA_VERSION,
    TopicMetadata,
    decode_metadata_response,
    encode_metadata_request,
)
from headrace.protocol.errors import ProtocolError
from headrace.protocol.headers import parse_response_header

NAMES = st.text(max_size=8)
PARTITIONS = st.dictionaries(st.integers(0, 99), st.integers(-1, 5), max_size=4)


def answer(
    brokers: dict[int, tuple[str, int]], topics: list[TopicMetadata], replicas: list[int]
) -> memoryview:
    response = messages.MetadataResponse
    topic = response.MetadataResponseTopic
    sent = response(
        throttle_time_ms=0,
        brokers=[
            response.MetadataResponseBroker(node_id=it, host=host, port=port, rack="r")
            for it, (host, port) in brokers.items()
        ],
        cluster_id="c",
        controller_id=1,
        topics=[
            topic(
                error_code=it.error_code,
                name=it.name,
                topic_id=it.topic_id,
                is_internal=False,
                partitions=[
                    topic.MetadataResponsePartition(
                        error_code=0,
                        partition_index=index,
                        leader_id=leader,
                        leader_epoch=3,
                        replica_nodes=replicas,
                        isr_nodes=replicas,
                        offline_replicas=[],
                    )
                    for index, leader in it.leaders.items()
                ],
            )
            for it in topics
        ],
    )
    payload = memoryview(messages.encode_response(sent, METADATA_VERSION, 7))
    return payload[parse_response_header(ApiKey.METADATA, METADATA_VERSION, payload)[1] :]


@given(st.lists(NAMES, max_size=5))
def test_a_broker_reads_the_request(names: list[str]) -> None:
    body = memoryview(encode_metadata_request(names))
    found = messages.decode_request(ApiKey.METADATA, METADATA_VERSION, body)
    assert [(it.name, it.topic_id) for it in found.topics] == [(it, None) for it in names]
    assert not found.allow_auto_topic_creation


@given(
    st.dictionaries(st.integers(0, 9), st.tuples(NAMES, st.integers(1, 65535)), max_size=3),
    st.lists(
        st.builds(
            TopicMetadata,
            NAMES,
            st.uuids().filter(lambda it: it.int),
            st.integers(0, 99),
            PARTITIONS,
        ),
        max_size=3,
    ),
    st.lists(st.integers(0, 9), max_size=3),
)
def test_the_answer_of_a_broker_is_read(
    brokers: dict[int, tuple[str, int]], topics: list[TopicMetadata], replicas: list[int]
) -> None:
    found = decode_metadata_response(answer(brokers, topics, replicas))
    assert (found.cluster_id, found.brokers, found.topics) == ("c", brokers, topics)


def test_bytes_that_are_cut_off_are_refused() -> None:
    whole = answer({1: ("a", 9092)}, [TopicMetadata("t", UUID(int=1), 0, {0: 1})], [1])
    for size in range(len(whole)):
        with pytest.raises(ProtocolError):
            decode_metadata_response(whole[:size])
