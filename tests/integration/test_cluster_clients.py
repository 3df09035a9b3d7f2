"""What clients are told by brokers that do not lead, do not coordinate, or are not certain of it."""

import asyncio
from pathlib import Path
from typing import Any

from headrace.broker.node.node import NodeAddress
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import (
    FetchRequest,
    FindCoordinatorRequest,
    HeartbeatRequest,
    InitProducerIdRequest,
    ListOffsetsRequest,
    MetadataRequest,
    OffsetFetchRequest,
    ProduceRequest,
)
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from tests.integration.test_cluster_nodes import Scene, client, create_topic, in_scene, produce

LATEST = -1
GROUPS = [f"group-{number}" for number in range(8)]
SHORT_LEASE = {"broker_session_timeout_ms": 900, "broker_heartbeat_interval_ms": 200}


async def ask(address: NodeAddress, key: ApiKey, version: int, request: Any) -> Any:
    async with client(address) as connection:
        return await connection.ask(key, version, request)


async def metadata(address: NodeAddress, *topics: str) -> Any:
    wanted = [MetadataRequest.MetadataRequestTopic(name=topic) for topic in topics]
    return await ask(address, ApiKey.METADATA, 9, MetadataRequest(topics=wanted))


async def told_by_produce(address: NodeAddress, topic: str) -> tuple[Any, Any]:
    """The partition of an answer of version 11, and the answer."""
    data = ProduceRequest.TopicProduceData
    batch = bytes(encode_batch([Record(0, 1_000, None, b"v")], BatchOptions()))
    partition = data.PartitionProduceData(index=0, records=batch)
    request = ProduceRequest(
        transactional_id=None,
        acks=-1,
        timeout_ms=1_000,
        topic_data=[data(name=topic, partition_data=[partition])],
    )
    answer = await ask(address, ApiKey.PRODUCE, 11, request)
    return answer.responses[0].partition_responses[0], answer


async def told_by_fetch(address: NodeAddress, topic: str) -> tuple[Any, Any]:
    """The same of Fetch, version 16; topics go by id there."""
    topic_id = next(
        it.topic_id
        for it in (await ask(address, ApiKey.METADATA, 12, MetadataRequest(topics=None))).topics
        if it.name == topic
    )
    asked = FetchRequest.FetchTopic
    partition = asked.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1_000)
    request = FetchRequest(
        max_wait_ms=0,
        min_bytes=1,
        session_epoch=-1,
        topics=[asked(topic_id=topic_id, partitions=[partition])],
    )
    answer = await ask(address, ApiKey.FETCH, 16, request)
    return answer.responses[0].partitions[0], answer


async def latest(address: NodeAddress, topic: str) -> tuple[int, int]:
    """(error, offset) of ListOffsets."""
    asked = ListOffsetsRequest.ListOffsetsTopic
    partition = asked.ListOffsetsPartition(partition_index=0, timestamp=LATEST)
    request = ListOffsetsRequest(replica_id=-1, topics=[asked(name=topic, partitions=[partition])])
    answer = await ask(address, ApiKey.LIST_OFFSETS, 7, request)
    found = answer.topics[0].partitions[0]
    return found.error_code, found.offset


async def coordinators(address: NodeAddress) -> dict[str, tuple[int, int]]:
    """(error, node id) by group, once none is being looked for."""
    request = FindCoordinatorRequest(key_type=0, coordinator_keys=GROUPS)
    answer = await ask(address, ApiKey.FIND_COORDINATOR, 4, request)
    return {it.key: (it.error_code, it.node_id) for it in answer.coordinators}


async def told_by_group(address: NodeAddress, group: str) -> tuple[int, int]:
    """Errors of a heartbeat of nobody, and of OffsetFetch."""
    beat = await ask(
        address,
        ApiKey.HEARTBEAT,
        3,
        HeartbeatRequest(group_id=group, generation_id=1, member_id="nobody"),
    )
    wanted = OffsetFetchRequest.OffsetFetchRequestGroup(group_id=group, topics=None)
    offsets = await ask(address, ApiKey.OFFSET_FETCH, 8, OffsetFetchRequest(groups=[wanted]))
    return beat.error_code, offsets.groups[0].error_code


def test_clients_are_sent_to_the_broker_that_leads(tmp_path: Path) -> None:
    async def test(scene: Scene) -> None:
        one, two, _ = await scene.start(scene.both(101), scene.both(102), scene.both(103))
        await create_topic(one, "there", 102)
        await produce(two, "there", b"v")
        told = await metadata(one, "there")
        assert {broker.node_id for broker in told.brokers} == {101, 102, 103}
        assert told.topics[0].partitions[0].leader_id == 102
        assert two.broker is not None
        for partition, answer in (
            await told_by_produce(one, "there"),
            await told_by_fetch(one, "there"),
        ):
            assert partition.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
            assert (partition.current_leader.leader_id, partition.current_leader.leader_epoch) == (
                102,
                0,
            )
            endpoints = [(it.node_id, it.host, it.port) for it in answer.node_endpoints]
            assert endpoints == [(102, "127.0.0.1", two.broker.kafka_port)]
        assert await latest(one, "there") == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)
        assert await latest(two, "there") == (0, 1)
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1_000)
        ids = [
            (await ask(address, ApiKey.INIT_PRODUCER_ID, 2, request)).producer_id
            for address in (one, two)
        ]
        assert len(set(ids)) == 2
        assert min(ids) >= 0

    in_scene(test, tmp_path)


def test_groups_are_coordinated_by_the_brokers_that_all_of_them_name(tmp_path: Path) -> None:
    async def test(scene: Scene) -> None:
        ids = (101, 102, 103)
        brokers = dict(zip(ids, await scene.start(*map(scene.both, ids)), strict=True))
        # The first look-ups create the topic; who is told so by another has not heard of it for a moment.
        named = [await coordinators(address) for address in brokers.values()]
        while named[0] != named[1] or named[1] != named[2]:
            named = [await coordinators(address) for address in brokers.values()]
        assert {error for error, _ in named[0].values()} == {0}
        assert len({node_id for _, node_id in named[0].values()}) == 2  # of two partitions
        for group, (_, coordinator) in named[0].items():
            for node_id, address in brokers.items():
                expected = (ErrorCode.NOT_COORDINATOR,) * 2
                if node_id == coordinator:
                    expected = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.NONE)
                    while await told_by_group(address, group) != expected:
                        await asyncio.sleep(0.01)  # its partition is being opened
                assert await told_by_group(address, group) == expected

    in_scene(test, tmp_path)


def test_without_a_certain_lease_nothing_is_read_and_nobody_coordinates(tmp_path: Path) -> None:
    async def test(scene: Scene) -> None:
        controllers = [scene.controller(it.node_id) for it in scene.voters]
        await scene.start(*controllers)
        (one,) = await scene.start(scene.broker(1))
        await create_topic(one, "here", 1)
        await produce(one, "here", b"v")
        while set((await coordinators(one)).values()) != {(0, 1)}:
            await asyncio.sleep(0.01)
        while (await told_by_group(one, "g"))[1]:
            await asyncio.sleep(0.01)
        for settings in controllers:
            await scene.stop(settings.node_id)
        while (await latest(one, "here"))[0] == 0:  # the lease goes on for a while
            await asyncio.sleep(0.01)
        not_leader = ErrorCode.NOT_LEADER_OR_FOLLOWER
        assert await latest(one, "here") == (not_leader, -1)
        fetched, _ = await told_by_fetch(one, "here")
        assert (fetched.error_code, fetched.high_watermark) == (not_leader, -1)
        assert not fetched.records
        assert (await told_by_produce(one, "here"))[0].error_code == not_leader
        assert await told_by_group(one, "g") == (ErrorCode.NOT_COORDINATOR,) * 2
        unavailable = (ErrorCode.COORDINATOR_NOT_AVAILABLE, -1)
        assert set((await coordinators(one)).values()) == {unavailable}
        await scene.start(*controllers)
        while (await latest(one, "here"))[0]:
            await asyncio.sleep(0.01)
        assert await latest(one, "here") == (0, 1)
        assert (await told_by_group(one, "g"))[1] == 0

    in_scene(test, tmp_path, **SHORT_LEASE)
