"""Produce and Fetch by hand against the message classes: the same fields, the same bytes."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.protocol import fetch, messages, produce
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ProtocolError
from headrace.protocol.headers import RequestHeader, parse_request_header
from headrace.protocol.leader_discovery import CurrentLeader, NodeEndpoint
from headrace.steps import completed
from tests.fuzz.random_messages import MessageMaker

SEEDS = st.integers(0, 2**32)
PRODUCE_VERSIONS = st.integers(3, 13)
FETCH_VERSIONS = st.integers(4, 18)


def body_of(key: ApiKey, version: int, request: messages.KafkaMessage) -> memoryview:
    encoded = memoryview(messages.encode_request(request, RequestHeader(key, version, 7, "c")))
    return encoded[parse_request_header(encoded)[1] :]


def optional(result_class: Any, source: Any, *names: str) -> Any:
    """What a tagged struct says; one with its defaults is not sent."""
    if source == type(source)():
        return None
    return result_class(*[getattr(source, name) for name in names])


def leader(source: Any) -> CurrentLeader | None:
    return optional(CurrentLeader, source, "leader_id", "leader_epoch")


def endpoints(response: Any) -> list[NodeEndpoint]:
    return [NodeEndpoint(e.node_id, e.host, e.port, e.rack) for e in response.node_endpoints]


@given(PRODUCE_VERSIONS, SEEDS)
@settings(max_examples=150, deadline=None)
def test_produce_requests(version: int, seed: int) -> None:
    expected = MessageMaker(random.Random(seed)).make(messages.ProduceRequest, version)
    request = produce.decode_produce(version, body_of(ApiKey.PRODUCE, version, expected))
    assert request[:3] == (expected.transactional_id, expected.acks, expected.timeout_ms)
    assert [tuple(topic) for topic in request.topics] == [
        (topic.name, topic.topic_id, [(p.index, p.records) for p in topic.partition_data])
        for topic in expected.topic_data
    ]


@given(PRODUCE_VERSIONS, SEEDS)
@settings(max_examples=150, deadline=None)
def test_produce_responses(version: int, seed: int) -> None:
    expected = MessageMaker(random.Random(seed)).make(messages.ProduceResponse, version)
    topics = [
        produce.ProduceTopicResponse(
            topic.name,
            topic.topic_id,
            [
                produce.ProducePartitionResponse(
                    partition.index,
                    partition.error_code,
                    partition.base_offset,
                    partition.log_append_time_ms,
                    partition.log_start_offset,
                    [
                        produce.RecordError(error.batch_index, error.batch_index_error_message)
                        for error in partition.record_errors
                    ],
                    partition.error_message,
                    leader(partition.current_leader),
                )
                for partition in topic.partition_responses
            ],
        )
        for topic in expected.responses
    ]
    steps = produce.encode_produce_response(
        version,
        7,
        topics,
        throttle_time_ms=expected.throttle_time_ms,
        node_endpoints=endpoints(expected),
    )
    encoded = completed(steps)
    assert encoded == messages.encode_response(expected, version, 7)


@given(FETCH_VERSIONS, SEEDS)
@settings(max_examples=150, deadline=None)
def test_fetch_requests(version: int, seed: int) -> None:
    expected = MessageMaker(random.Random(seed)).make(messages.FetchRequest, version)
    request = fetch.decode_fetch(version, body_of(ApiKey.FETCH, version, expected))
    replica_id = expected.replica_id
    if version >= 15:
        replica_id = -1 if expected.replica_state is None else expected.replica_state.replica_id
    assert request == fetch.FetchRequest(
        replica_id,
        expected.max_wait_ms,
        expected.min_bytes,
        expected.max_bytes,
        expected.isolation_level,
        expected.session_id,
        expected.session_epoch,
        [
            fetch.FetchTopic(
                topic.topic,
                topic.topic_id,
                [
                    fetch.FetchPartition(
                        partition.partition,
                        partition.current_leader_epoch,
                        partition.fetch_offset,
                        partition.last_fetched_epoch,
                        partition.log_start_offset,
                        partition.partition_max_bytes,
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in expected.topics
        ],
        [
            fetch.ForgottenTopic(topic.topic, topic.topic_id, topic.partitions)
            for topic in expected.forgotten_topics_data
        ],
        expected.rack_id,
        expected.cluster_id,
    )


def fetch_partition(partition: Any, batch_bytes: int) -> fetch.FetchPartitionResponse:
    records = partition.records
    aborted = partition.aborted_transactions
    return fetch.FetchPartitionResponse(
        partition.partition_index,
        partition.error_code,
        partition.high_watermark,
        partition.last_stable_offset,
        partition.log_start_offset,
        aborted and [fetch.AbortedTransaction(a.producer_id, a.first_offset) for a in aborted],
        partition.preferred_read_replica,
        records
        and [
            memoryview(records)[start : start + batch_bytes]
            for start in range(0, len(records), batch_bytes)
        ],
        optional(fetch.EpochEndOffset, partition.diverging_epoch, "epoch", "end_offset"),
        leader(partition.current_leader),
        optional(fetch.SnapshotId, partition.snapshot_id, "end_offset", "epoch"),
    )


@given(FETCH_VERSIONS, SEEDS, st.integers(1, 600))
@settings(max_examples=150, deadline=None)
def test_fetch_responses(version: int, seed: int, batch_bytes: int) -> None:
    expected = MessageMaker(random.Random(seed)).make(messages.FetchResponse, version)
    topics = [
        fetch.FetchTopicResponse(
            topic.topic,
            topic.topic_id,
            [fetch_partition(partition, batch_bytes) for partition in topic.partitions],
        )
        for topic in expected.responses
    ]
    buffers = fetch.encode_fetch_response(
        version,
        7,
        expected.throttle_time_ms,
        expected.error_code,
        expected.session_id,
        topics,
        endpoints(expected),
    )
    payload = messages.encode_response(expected, version, 7)
    assert b"".join(buffers) == len(payload).to_bytes(4, "big") + payload


@given(st.sampled_from(["produce", "fetch"]), st.integers(3, 18), SEEDS)
@settings(max_examples=100, deadline=None)
def test_truncated_requests_are_refused_and_bytes_behind_passed_over(
    which: str, version: int, seed: int
) -> None:
    rng = random.Random(seed)
    if which == "produce":
        version = min(version, 13)
        request = MessageMaker(rng).make(messages.ProduceRequest, version)
        body, decode = body_of(ApiKey.PRODUCE, version, request), produce.decode_produce
    else:
        version = max(version, 4)
        request = MessageMaker(rng).make(messages.FetchRequest, version)
        body, decode = body_of(ApiKey.FETCH, version, request), fetch.decode_fetch
    cuts = range(len(body)) if len(body) < 200 else rng.sample(range(len(body)), 200)
    for cut in cuts:
        with pytest.raises(ProtocolError):
            decode(version, body[:cut])
    assert decode(version, memoryview(bytes(body) + rng.randbytes(3))) == decode(version, body)
