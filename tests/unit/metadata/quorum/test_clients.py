"""Brokers go on while controllers fail over, or stop in time when they cannot know."""

import asyncio
import random
from contextlib import asynccontextmanager

import pytest

from headrace.config.node import Endpoint
from headrace.metadata.errors import NodeFencedError
from headrace.metadata.follower.client import BrokerIdentity, MetadataClient, NewTopic
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.quorum.three_controllers import (
    HOP_S,
    ClientTransport,
    controllers,
    now_ms,
    scenario,
    until,
)


@asynccontextmanager
async def broker(scene, transport, node_id=11):
    """A broker's client that runs and serves."""
    client = MetadataClient(
        scene.config(1),
        transport,
        BrokerIdentity(node_id=node_id, endpoints=(Endpoint("PLAINTEXT", "h", 9092),)),
        boot_clock_ms=now_ms,
        rng=random.Random(5),
    )
    await client.start()
    run = asyncio.create_task(client.run())
    try:
        await client.serve()
        yield client
    finally:
        run.cancel()
        await asyncio.wait([run])


async def watched(lapses, client):
    """Note each moment at which the lease does not hold."""
    while True:
        if not client.is_lease_valid():
            lapses.append(now_ms())
        await asyncio.sleep(0.01)


@scenario
async def test_a_broker_keeps_its_lease_while_every_leader_dies_in_turn(tmp_path):
    async with controllers(tmp_path) as scene:
        lapses = []
        async with broker(scene, ClientTransport(scene.network, (1, 2, 3))) as client:
            watch = asyncio.create_task(watched(lapses, client))
            for turn in range(4):
                leader_id = scene.id_of(await scene.leader())
                await scene.kill(leader_id)
                (result,) = await client.create_topics([NewTopic(f"t{turn}", 1)])
                assert result.error == ErrorCode.NONE
                assert client.image.topic(f"t{turn}") is not None
                await asyncio.sleep(5)
                await scene.start(leader_id)
            watch.cancel()
            assert lapses == []
            await scene.equal()
            assert client.image == scene.nodes[1].image


@scenario
async def test_a_change_that_was_under_way_is_answered_or_its_outcome_left_open(tmp_path):
    """What may not be repeated is not; what was answered is there."""
    async with controllers(tmp_path) as scene:
        transport = ClientTransport(scene.network, (1, 2, 3))
        async with broker(scene, transport) as client:
            results = {}

            async def create(name):
                (results[name],) = await client.create_topics([NewTopic(name, 1)])

            async with asyncio.TaskGroup() as tasks:
                for number in range(40):
                    tasks.create_task(create(f"t{number}"))
                    await asyncio.sleep(HOP_S)
                    if number in (10, 25):
                        await scene.kill(scene.id_of(await scene.leader()))
                        if number == 10:
                            await scene.start(*({1, 2, 3} - set(scene.nodes)))
            codes = {name: result.error for name, result in results.items()}
            assert set(codes.values()) <= {ErrorCode.NONE, ErrorCode.REQUEST_TIMED_OUT}
            await scene.equal()
            there = set((await scene.leader()).image.topic_ids)
            assert {it for it, code in codes.items() if code == ErrorCode.NONE} <= there
            assert len(there) >= 30


@scenario
async def test_a_broker_that_reaches_only_a_deposed_leader_stops_before_it_is_fenced(tmp_path):
    async with controllers(tmp_path) as scene:
        old_id = scene.id_of(await scene.leader())
        transport = ClientTransport(scene.network, (old_id,))
        async with broker(scene, transport) as client:
            await scene.equal()
            await asyncio.sleep(3)
            cut_ms = now_ms()
            scene.network.isolate(old_id)
            new = await scene.leader(among={1, 2, 3} - {old_id})
            await until(lambda: not client.is_lease_valid())
            stopped_ms = now_ms()
            assert not new.image.brokers[11].epoch_ended
            await until(lambda: new.image.brokers[11].epoch_ended)

            assert stopped_ms - cut_ms <= 8_000, "no heartbeat after the cut was answered"
            assert now_ms() - stopped_ms >= 1_000
            assert not client.fenced, "nobody could tell it"
            transport._node_ids = [1, 2, 3]
            await until(lambda: client.fenced)
            with pytest.raises(NodeFencedError):
                await client.allocate_producer_ids()
            assert not client.is_lease_valid()


@scenario
async def test_one_heartbeat_finds_the_leader_even_while_it_is_elected(tmp_path):
    async with controllers(tmp_path) as scene:
        transport = ClientTransport(scene.network, (1, 2, 3))
        async with broker(scene, transport) as client:
            leader = await scene.leader()
            transport.target = scene.id_of(scene.others(leader)[0])
            assert await client._session.heartbeat(client.image.index)
            assert transport.target == scene.id_of(leader)

            await scene.kill(scene.id_of(leader))
            began_ms = now_ms()
            assert await client._session.heartbeat(client.image.index)
            assert now_ms() - began_ms < 2_000
            assert scene.serving() == [transport.target]
