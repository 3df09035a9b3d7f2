"""A partition moves from one broker that lives to another, in whole nodes with the network between them."""

import asyncio
import time
from pathlib import Path
from typing import Any

from headrace.broker.node.node import NodeAddress
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import (
    AlterPartitionReassignmentsRequest,
    ElectLeadersRequest,
    ListPartitionReassignmentsRequest,
    MetadataRequest,
)
from tests.integration.test_cluster_clients import ask, latest, told_by_fetch, told_by_produce
from tests.integration.test_cluster_nodes import (
    Scene,
    client,
    create_topic,
    in_scene,
    produce,
)

TOPIC = AlterPartitionReassignmentsRequest.ReassignableTopic
NODES = (1, 2, 3)
MOVED_S = 20.0  # much less; a machine may be busy


async def brokers_of(scene: Scene) -> dict[int, NodeAddress]:
    """Three controllers, which end last, and three brokers."""
    await scene.start(*(scene.controller(it.node_id) for it in scene.voters))
    return dict(zip(NODES, await scene.start(*map(scene.broker, NODES)), strict=True))


async def alter(address: NodeAddress, topic: str, to: int | None) -> int:
    """Begin to move partition 0 of a topic, or take its move back; return the error."""
    partition = TOPIC.ReassignablePartition(
        partition_index=0, replicas=None if to is None else [to]
    )
    request = AlterPartitionReassignmentsRequest(
        timeout_ms=5_000,
        allow_replication_factor_change=True,
        topics=[TOPIC(name=topic, partitions=[partition])],
    )
    answer = await ask(address, ApiKey.ALTER_PARTITION_REASSIGNMENTS, 1, request)
    assert answer.error_code == 0
    return int(answer.responses[0].partitions[0].error_code)


async def leader(address: NodeAddress, topic: str) -> tuple[int, int]:
    """(leader, leader epoch) of partition 0, as one broker knows it."""
    wanted = [MetadataRequest.MetadataRequestTopic(name=topic)]
    answer = await ask(address, ApiKey.METADATA, 9, MetadataRequest(topics=wanted))
    found = answer.topics[0].partitions[0]
    return found.leader_id, found.leader_epoch


async def moved(address: NodeAddress, topic: str, to: int) -> None:
    async with asyncio.timeout(MOVED_S):
        while (await leader(address, topic))[0] != to:
            await asyncio.sleep(0.01)


async def read_all(address: NodeAddress, topic: str) -> list[bytes | None]:
    """Everything, by as many fetches as it takes."""
    found: list[bytes | None] = []
    async with client(address) as connection:
        while more := await connection.values(len(found), topic=topic):
            found += more
    return found


async def listed(address: NodeAddress) -> Any:
    request = ListPartitionReassignmentsRequest(timeout_ms=1_000, topics=None)
    return (await ask(address, ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, request)).topics


def test_a_partition_moves_with_all_of_its_records(tmp_path: Path) -> None:
    async def test(scene: Scene) -> None:
        brokers = await brokers_of(scene)
        one, two, three = brokers.values()
        await create_topic(one, "t", 2)
        await produce(two, "t", b"a", b"b")
        begun = time.monotonic()
        assert await alter(one, "t", 3) == 0
        await moved(one, "t", 3)
        print(f"moved in {time.monotonic() - begun:.3f} s")
        assert await leader(one, "t") == (3, 1)
        await produce(three, "t", b"c")
        assert await read_all(three, "t") == [b"a", b"b", b"c"]
        while (await latest(two, "t"))[0] == 0:
            await asyncio.sleep(0.01)
        for told, _ in (await told_by_produce(two, "t"), await told_by_fetch(two, "t")):
            assert told.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
            assert (told.current_leader.leader_id, told.current_leader.leader_epoch) == (3, 1)
        assert not await listed(one)
        # And back, and to where it is.
        assert await alter(one, "t", 2) == 0
        await moved(one, "t", 2)
        assert await alter(one, "t", 2) == 0
        await produce(two, "t", b"d")
        assert await read_all(two, "t") == [b"a", b"b", b"c", b"d"]
        assert await latest(two, "t") == (0, 4)

    in_scene(test, tmp_path)


def test_who_asks_while_a_partition_moves_waits_and_is_sent_to_the_new_leader(
    tmp_path: Path,
) -> None:
    """Producers go from one broker to the other; none is refused for another reason, and no record is twice there."""

    async def test(scene: Scene) -> None:
        brokers = await brokers_of(scene)
        one = brokers[1]
        await create_topic(one, "t", 1)
        sent: list[bytes] = []
        leaders = {"t": 1}
        longest_s, stop = 0.0, False

        async def produce_all() -> None:
            nonlocal longest_s
            while not stop:
                value = f"{len(sent)}".encode()
                begun = time.monotonic()
                while True:
                    async with client(brokers[leaders["t"]]) as connection:
                        code, *_ = await connection.produce(value, topic="t")
                    if code == 0:
                        break
                    assert code == ErrorCode.NOT_LEADER_OR_FOLLOWER
                    leaders["t"] = (await leader(brokers[leaders["t"]], "t"))[0]
                longest_s = max(longest_s, time.monotonic() - begun)
                sent.append(value)

        producing = asyncio.create_task(produce_all())
        for to in (2, 3, 1):
            before = len(sent)
            assert await alter(one, "t", to) == 0
            await moved(one, "t", to)
            while len(sent) < before + 5:
                await asyncio.sleep(0.01)
        stop = True
        await producing
        print(f"{len(sent)} records, at most {longest_s:.3f} s for one")
        assert longest_s < MOVED_S
        assert await read_all(brokers[1], "t") == sent

    in_scene(test, tmp_path)


def test_a_move_to_a_broker_that_is_not_there_is_refused_and_an_election_not_needed(
    tmp_path: Path,
) -> None:
    async def test(scene: Scene) -> None:
        one, two, _ = (await brokers_of(scene)).values()
        await create_topic(one, "t", 2)
        assert await alter(one, "t", 9) == ErrorCode.INVALID_REPLICA_ASSIGNMENT
        assert await alter(one, "none", 3) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert await alter(one, "t", None) == ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
        asked = ElectLeadersRequest.TopicPartitions(topic="t", partitions=[0])
        request = ElectLeadersRequest(election_type=0, topic_partitions=[asked], timeout_ms=1_000)
        told = await ask(two, ApiKey.ELECT_LEADERS, 2, request)
        found = told.replica_election_results[0].partition_result[0]
        assert found.error_code == ErrorCode.ELECTION_NOT_NEEDED

    in_scene(test, tmp_path)
