"""The first batches to a new topic of a cluster: no broker refuses them, whichever told the client of it."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

from headrace.protocol.api_keys import ApiKey
from headrace.protocol.messages import MetadataRequest, ProduceRequest
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from tests.integration.test_cluster_nodes import Scene, client, create_topic, in_scene
from tests.integration.test_node import Client

TOPICS = 30
BATCH = bytes(encode_batch([Record(0, 1_000, None, b"first")], BatchOptions()))


async def hear_of(connection: Client, topic: str) -> None:
    """Ask until this broker tells the leader; nobody creates the topic by asking."""
    asked = MetadataRequest.MetadataRequestTopic(name=topic)
    request = MetadataRequest(topics=[asked], allow_auto_topic_creation=False)
    while (await connection.ask(ApiKey.METADATA, 9, request)).topics[0].error_code:  # type: ignore[attr-defined]
        await asyncio.sleep(0)


async def produce_once(connection: Client, topic: str) -> int:
    """Send the first batch at once; return the error code."""
    data = ProduceRequest.TopicProduceData
    partition = data.PartitionProduceData(index=0, records=BATCH)
    request = ProduceRequest(
        acks=-1, timeout_ms=1_000, topic_data=[data(name=topic, partition_data=[partition])]
    )
    answer = await connection.ask(ApiKey.PRODUCE, 9, request)
    return int(answer.responses[0].partition_responses[0].error_code)  # type: ignore[attr-defined]


def test_no_first_batch_is_refused_by_a_leader_that_hears_of_its_topic_last(tmp_path: Path) -> None:
    async def test(scene: Scene) -> None:
        controllers = map(scene.controller, (101, 102, 103))
        brokers = map(scene.broker, (1, 2, 3))
        addresses = (await scene.start(*controllers, *brokers))[3:]
        async with AsyncExitStack() as stack:
            told, *leaders = [await stack.enter_async_context(client(it)) for it in addresses]
            codes = []
            for number in range(TOPICS):
                topic, leader = f"new-{number}", number % 2
                made = asyncio.create_task(create_topic(addresses[0], topic, leader + 2))
                await hear_of(told, topic)
                codes.append(await produce_once(leaders[leader], topic))
                await made
        assert codes == [0] * TOPICS

    in_scene(test, tmp_path)
