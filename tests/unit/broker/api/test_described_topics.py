"""Descriptions of topics: made once for all who ask, anew when something has changed, and bounded."""

import asyncio
from typing import Any

import pytest

from headrace.broker.api.described_topics import DescribedTopics
from headrace.broker.cluster.cluster_view import ClusterView
from headrace.broker.network.client import Client
from headrace.broker.network.request_context import RequestContext
from headrace.config.node import NetworkConfig
from headrace.metadata.records.brokers import FenceBrokerRecord, FenceReason
from headrace.protocol.headers import RequestHeader
from headrace.protocol.messages import MetadataResponse, decode_response, encode_response
from headrace.turns import Turns
from tests.unit.broker.cluster_scene import (
    FakeClient,
    broker_records,
    topic_id,
    topic_records,
)

VERSION = 12


class Cluster:
    """Two brokers, of which one has a second listener, and two topics."""

    def __init__(self, max_bytes: int = 1_000_000) -> None:
        self.client = FakeClient(
            *broker_records(1, ("PLAINTEXT", "one", 9092), ("OTHER", "one", 9192)),
            *broker_records(2, ("PLAINTEXT", "two", 9092)),
            *topic_records("a", 1, 3, leader=1),
            *topic_records("b", 2, 3, leader=2),
        )
        self.view = ClusterView(lambda: self.client.image, 1, NetworkConfig())
        self.topics = DescribedTopics(max_bytes)

    async def describe(
        self, number: int, *, version: int = VERSION, listener: str = "PLAINTEXT"
    ) -> Any:
        header = RequestHeader(3, version, 1, "test")
        turns = Turns(lambda: 0.0, share_s=0.0)  # every step waits for a turn of its own
        context = RequestContext(header, Client(listener, local_host="one", local_port=9092), turns)
        seen = self.view.seen_by(context.client)
        topic = seen.image.topic_by_id(topic_id(number))
        assert topic is not None
        element = await self.topics.describe(context, seen, topic)
        answer = MetadataResponse(
            throttle_time_ms=0, brokers=[], cluster_id="c", controller_id=1, topics=[element]
        )
        encoded = encode_response(answer, version, 7)
        return decode_response(3, version, memoryview(encoded))[1].topics[0]

    def leaders(self, number: int, **client: Any) -> list[tuple[int, int]]:
        described = asyncio.run(self.describe(number, **client))
        return [(it.error_code, it.leader_id) for it in described.partitions]


def test_a_topic_that_many_ask_for_is_described_once() -> None:
    async def test() -> None:
        cluster = Cluster()
        described = await asyncio.gather(*(cluster.describe(1) for _ in range(5)))
        assert {(it.name, it.topic_id, len(it.partitions)) for it in described} == {
            ("a", topic_id(1), 3)
        }
        assert cluster.topics.made == 1

    asyncio.run(test())


def test_one_that_is_given_up_keeps_nobody_waiting() -> None:
    async def test() -> None:
        cluster = Cluster()
        first, second = (asyncio.create_task(cluster.describe(1)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        async with asyncio.timeout(10):
            assert (await second).name == "a"

    asyncio.run(test())


def test_clients_of_other_versions_and_listeners_get_their_own() -> None:
    cluster = Cluster()
    assert cluster.leaders(2) == [(0, 2)] * 3
    assert cluster.leaders(2, listener="OTHER") == [(72, -1)] * 3  # LISTENER_NOT_FOUND
    assert cluster.leaders(2, version=5, listener="OTHER") == [(5, -1)] * 3  # LEADER_NOT_AVAILABLE
    assert cluster.leaders(2) == [(0, 2)] * 3
    assert cluster.topics.made == 3


def test_a_topic_that_has_changed_is_described_anew_and_others_are_not() -> None:
    cluster = Cluster()
    assert cluster.leaders(1) == [(0, 1)] * 3
    assert cluster.leaders(2) == [(0, 2)] * 3
    more = topic_records("a", 1, 4, leader=1)[-1]
    cluster.client.apply(more)
    assert cluster.leaders(1) == [(0, 1)] * 4
    assert cluster.leaders(2) == [(0, 2)] * 3
    assert cluster.topics.made == 3


@pytest.mark.parametrize("listener", ["PLAINTEXT", "OTHER"])
def test_partitions_of_a_broker_that_was_fenced_lose_their_leader(listener: str) -> None:
    cluster = Cluster()
    before = cluster.leaders(2, listener=listener)
    cluster.client.apply(FenceBrokerRecord(2, 2, FenceReason.SESSION_EXPIRED))
    assert cluster.leaders(2, listener=listener) == [(5, -1)] * 3 != before


def test_what_is_kept_is_bounded_and_the_least_recently_used_goes() -> None:
    cluster = Cluster(max_bytes=1_500)
    cluster.leaders(1)
    cluster.leaders(2)
    cluster.leaders(1)
    made = cluster.topics.made
    cluster.leaders(2, version=11)  # takes the place of topic 2
    assert 0 < cluster.topics.kept_bytes <= 1_500
    cluster.leaders(1)
    assert cluster.topics.made == made + 1
    cluster.leaders(2)
    assert cluster.topics.made == made + 2


def test_many_small_topics_are_described_in_many_turns() -> None:
    async def test() -> None:
        cluster = Cluster()
        turns = 0
        task = asyncio.create_task(describe_all(cluster))
        while not task.done():
            await asyncio.sleep(0)
            turns += 1
        assert turns > 100

    async def describe_all(cluster: Cluster) -> None:
        for number in range(10, 60):
            cluster.client.apply(*topic_records(f"t{number}", number))
            await cluster.describe(number)

    asyncio.run(test())
