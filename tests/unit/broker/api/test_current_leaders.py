"""KIP-951: who leads what was asked of the wrong broker, as Produce and Fetch answer it."""

import random
from typing import Any

import pytest

from headrace.broker.api.current_leaders import name_leaders
from headrace.broker.api.fetch import FetchHandler
from headrace.broker.api.produce import ProduceHandler
from headrace.broker.cluster.cluster_view import ClusterView
from headrace.broker.fetch.reader import FetchReader
from headrace.broker.fetch.session_cache import FetchSessions
from headrace.broker.network.client import Client
from headrace.broker.telemetry.request_metrics import RequestMetrics
from headrace.config.node import Endpoint, LogConfig, NetworkConfig
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.headers import RequestHeader, parse_request_header
from headrace.protocol.leader_discovery import CurrentLeader, NodeEndpoint
from headrace.protocol.messages import FetchRequest, ProduceRequest, encode_request
from headrace.protocol.produce import ProducePartitionResponse, ProduceTopicResponse
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from headrace.steps import completed
from headrace.turns import Turns
from tests.unit.broker.cluster_scene import (
    NODE_ID,
    NOW_MS,
    FakeClient,
    FakeRegistry,
    broker_records,
    context_of,
    topic_id,
    topic_records,
)
from tests.unit.broker.reply_fake import FakeReply

INSIDE = Client("PLAINTEXT", client_host="10.0.0.9", local_host="10.0.0.1", local_port=9092)
OUTSIDE = Client("OUTSIDE", client_host="10.0.0.9", local_host="10.0.0.1", local_port=9092)
NOT_LEADER = ErrorCode.NOT_LEADER_OR_FOLLOWER


class Room:
    def admits(self, body_bytes: int) -> bool:
        del body_bytes
        return True


class Broker:
    """Leads "here" at epoch 3; "there" is led by broker 2, at epoch 7, "gone" by one that is fenced."""

    def __init__(self) -> None:
        client = FakeClient(
            *broker_records(1, ("PLAINTEXT", "one", 9092)),
            *broker_records(2, ("PLAINTEXT", "two", 9093), ("OUTSIDE", "gate", 19093), rack="b"),
            *broker_records(3, ("PLAINTEXT", "three", 9094), active=False),
            *topic_records("here", 1, leader_epoch=3),
            *topic_records("there", 2, 2, leader=2, leader_epoch=7),
            *topic_records("gone", 3, leader=3, leader_epoch=5),
        )
        self.registry = FakeRegistry(client)
        self.registry.serve("here", 1, leader_epoch=3)
        advertised = (Endpoint("PLAINTEXT", "one", 9092),)
        self.cluster = ClusterView(
            lambda: client.image, NODE_ID, NetworkConfig(advertised_listeners=advertised)
        )
        registry: Any = self.registry
        metrics = RequestMetrics(lambda: 0.0)
        self.produce = ProduceHandler(
            partitions=registry,
            cluster=self.cluster,
            engine=Room(),  # type: ignore[arg-type]
            wall_clock_ms=lambda: NOW_MS,
            metrics=metrics,
            config=LogConfig(),
            turns=Turns(lambda: 0.0, 1.0),
        )
        self.fetch = FetchHandler(
            reader=FetchReader(registry, metrics, Turns(lambda: 0.0, 1.0)),
            cluster=self.cluster,
            sessions=FetchSessions(10, random.Random(1)),
            config=LogConfig(),
            metrics=metrics,
            turns=Turns(lambda: 0.0, 1.0),
        )

    def produced(self, version: int, client: Client, topic: str, number: int) -> Any:
        batch = bytes(encode_batch([Record(0, NOW_MS, b"k", b"v")], BatchOptions()))
        data = ProduceRequest.TopicProduceData
        request = ProduceRequest(
            transactional_id=None,
            acks=-1,
            timeout_ms=1_000,
            topic_data=[
                data(
                    name=topic,
                    topic_id=topic_id(number),
                    partition_data=[data.PartitionProduceData(index=0, records=batch)],
                )
            ],
        )
        header = RequestHeader(int(ApiKey.PRODUCE), version, 7, "test")
        reply: Any = FakeReply()
        assert self.produce.start(client, header, body_of(request, header), reply) is None
        return reply.response(ApiKey.PRODUCE, version)

    def fetched(self, version: int, listener: str, topic: str, number: int, epoch: int) -> Any:
        asked = FetchRequest.FetchTopic
        partition = asked.FetchPartition(
            partition=0, fetch_offset=0, current_leader_epoch=epoch, partition_max_bytes=1_000
        )
        request = FetchRequest(
            max_wait_ms=0,
            min_bytes=1,
            max_bytes=1_000,
            session_epoch=-1,
            topics=[asked(topic=topic, topic_id=topic_id(number), partitions=[partition])],
        )
        context = context_of(ApiKey.FETCH, version, listener=listener)
        reply: Any = FakeReply()
        assert self.fetch.start(context, body_of(request, context.header), reply) is None
        return reply.response(ApiKey.FETCH, version)


def body_of(request: Any, header: RequestHeader) -> memoryview:
    frame = memoryview(bytearray(encode_request(request, header)))
    return frame[parse_request_header(frame)[1] :]


def endpoints_of(answer: Any) -> list[tuple[int, str, int, str | None]]:
    return [(it.node_id, it.host, it.port, it.rack) for it in answer.node_endpoints or ()]


@pytest.mark.parametrize("version", range(3, 14))
@pytest.mark.parametrize(
    ("client", "address"), [(INSIDE, ("two", 9093)), (OUTSIDE, ("gate", 19093))]
)
def test_produce_names_the_leader_at_the_listener_of_the_client(
    version: int, client: Client, address: tuple[str, int]
) -> None:
    told = Broker().produced(version, client, "there", 2)
    (partition,) = told.responses[0].partition_responses
    assert partition.error_code == NOT_LEADER
    if version >= 10:
        leader = partition.current_leader
        assert (leader.leader_id, leader.leader_epoch) == (2, 7)
        assert endpoints_of(told) == [(2, *address, "b")]


@pytest.mark.parametrize("version", range(4, 19))
@pytest.mark.parametrize(
    ("listener", "address"), [("PLAINTEXT", ("two", 9093)), ("OUTSIDE", ("gate", 19093))]
)
def test_fetch_names_the_leader_at_the_listener_of_the_client(
    version: int, listener: str, address: tuple[str, int]
) -> None:
    told = Broker().fetched(version, listener, "there", 2, -1)
    (partition,) = told.responses[0].partitions
    assert partition.error_code == NOT_LEADER
    if version >= 16:
        leader = partition.current_leader
        assert (leader.leader_id, leader.leader_epoch) == (2, 7)
        assert endpoints_of(told) == [(2, *address, "b")]


@pytest.mark.parametrize("version", [16, 18])
def test_fetch_at_an_old_epoch_names_the_new_one(version: int) -> None:
    told = Broker().fetched(version, "PLAINTEXT", "here", 1, 2)
    (partition,) = told.responses[0].partitions
    assert partition.error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert (partition.current_leader.leader_id, partition.current_leader.leader_epoch) == (1, 3)
    assert endpoints_of(told) == [(1, "one", 9092, None)]


@pytest.mark.parametrize("error", [ErrorCode.UNKNOWN_LEADER_EPOCH, ErrorCode.NONE])
def test_other_answers_name_nobody(error: ErrorCode) -> None:
    told = Broker().fetched(18, "PLAINTEXT", "here", 1, 4 if error else 3)
    (partition,) = told.responses[0].partitions
    assert partition.error_code == error
    assert endpoints_of(told) == []
    assert partition.current_leader.leader_id == -1  # as where nobody is named


def test_a_leader_that_is_not_alive_is_none() -> None:
    told = Broker().produced(13, INSIDE, "gone", 3)
    leader = told.responses[0].partition_responses[0].current_leader
    assert (leader.leader_id, leader.leader_epoch) == (-1, 5)
    assert endpoints_of(told) == []


def test_each_leader_is_named_once() -> None:
    refused = [ProducePartitionResponse(index, NOT_LEADER) for index in (0, 1)]
    accepted = ProducePartitionResponse(0, 0, 5)
    topics = [
        ProduceTopicResponse("there", None, refused),
        ProduceTopicResponse("here", None, [accepted]),
        ProduceTopicResponse("unknown", None, [ProducePartitionResponse(0, NOT_LEADER)]),
        ProduceTopicResponse("there", None, [ProducePartitionResponse(9, NOT_LEADER)]),
    ]
    named, endpoints = completed(name_leaders(Broker().cluster, INSIDE, topics))
    assert [it.current_leader for it in named[0].partitions] == [CurrentLeader(2, 7)] * 2
    assert named[1:] == topics[1:]
    assert endpoints == [NodeEndpoint(2, "two", 9093, "b")]
