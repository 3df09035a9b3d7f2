import asyncio
import dataclasses

import pytest

from headrace.metadata.errors import NodeFencedError, RefusedError
from headrace.metadata.image import BrokerState
from headrace.metadata.rpc.frames import decode_request
from headrace.metadata.rpc.requests import CreateTopics, FetchEntries
from headrace.metadata.transport import LocalTransport
from tests.unit.metadata.pure_controller import topic_creation
from tests.unit.metadata.running_cluster import (
    FaultyTransport,
    ask_well,
    eventually,
    scenario,
)


@scenario
async def test_a_registered_broker_holds_a_lease_but_is_not_shown(cluster):
    async with cluster.controller() as node, cluster.client(serve=False) as client:
        assert client.is_lease_valid()
        assert client.node_epoch == node.image.brokers[1].epoch
        assert client.image.brokers[1].state == BrokerState.STARTING
        await client.serve()
        assert client.image.brokers[1].state == BrokerState.ACTIVE


@scenario
async def test_what_a_broker_registers(cluster):
    async with cluster.controller() as node, cluster.client(rack="r1") as client:
        broker = node.image.brokers[1]
        assert broker.rack == "r1"
        assert broker.endpoints[0].host == "localhost"
        assert client.image.brokers == node.image.brokers


@scenario
async def test_a_broker_of_another_cluster_is_refused(cluster):
    async with cluster.controller():
        client = cluster.new_client(cluster_id="other")
        with pytest.raises(RefusedError):
            await client.start()


@scenario
async def test_a_registration_whose_answer_is_lost_is_repeated_with_one_epoch(cluster):
    async with cluster.controller() as node:
        transport = FaultyTransport(cluster.handle)
        transport.plan = ["pass", "lose reply", "pass"]  # it reads the log first
        async with cluster.client(transport=transport, serve=False) as client:
            assert client.node_epoch == node.image.brokers[1].epoch == 3


@scenario
async def test_a_log_that_takes_longer_to_read_than_a_session_keeps_no_broker_out(cluster):
    """Its session begins with its registration, and before it has the log it sends no heartbeat."""
    async with cluster.controller() as node:
        await ask_well(node, CreateTopics((topic_creation("a", 3),), False))
        slow = [True]

        async def handle(frame):
            if slow and isinstance(decode_request(frame).request, FetchEntries):
                slow.clear()
                await cluster.pass_time(9_500)
            return await node.handle(frame)

        client = cluster.new_client(transport=LocalTransport(handle))
        await client.start()

        assert not slow
        assert client.is_lease_valid()
        assert client.image.index >= client.node_epoch


@scenario
async def test_a_lease_runs_from_the_sending(cluster):
    async with cluster.controller():
        client = cluster.new_client()
        await client.start()
        sent_ms = cluster.boot.now_ms

        cluster.boot.now_ms = sent_ms + 7_999
        assert client.is_lease_valid()
        assert client.lease_remaining_ms() == 1
        cluster.boot.now_ms = sent_ms + 8_001
        assert not client.is_lease_valid()
        assert client.lease_remaining_ms() == 0


@scenario
async def test_who_waits_for_the_lease_is_told_of_each_extension(cluster):
    async with cluster.controller():
        transport = FaultyTransport(cluster.handle)
        client = cluster.new_client(transport=transport)
        await client.start()
        held = []
        client.on_lease_renewed(lambda: held.append(client.is_lease_valid()))
        cluster.boot.now_ms += 8_000
        transport.plan = ["lose reply"]
        assert not await client._session.heartbeat(client.image.index)
        assert held == []
        assert await client._session.heartbeat(client.image.index)
        assert held == [True]


@scenario
async def test_a_slow_answer_gives_a_shorter_lease(cluster):
    async with cluster.controller():
        transport = FaultyTransport(cluster.handle)
        client = cluster.new_client(transport=transport)
        await client.start()
        cluster.boot.now_ms += 7_000
        sent_ms = cluster.boot.now_ms
        transport.hold = asyncio.Event()
        beating = asyncio.ensure_future(client._session.heartbeat(client.image.index))
        await asyncio.sleep(0)
        cluster.boot.now_ms += 2_000
        assert not client.is_lease_valid()
        transport.hold.set()
        assert await beating

        cluster.boot.now_ms = sent_ms + 7_999
        assert client.is_lease_valid()
        cluster.boot.now_ms = sent_ms + 8_000
        assert not client.is_lease_valid()


@scenario
async def test_an_unanswered_heartbeat_extends_nothing(cluster):
    async with cluster.controller():
        transport = FaultyTransport(cluster.handle)
        client = cluster.new_client(transport=transport)
        await client.start()
        cluster.boot.now_ms += 5_000
        for fate in ("refuse", "lose request", "lose reply"):
            transport.plan = [fate]
            assert not await client._session.heartbeat(client.image.index)
        cluster.boot.now_ms += 3_000

        assert not client.is_lease_valid()
        assert not client.fenced
        assert await client._session.heartbeat(client.image.index)
        assert client.is_lease_valid()


@scenario
async def test_why_a_heartbeat_was_not_answered_is_told(cluster, caplog):
    cluster.config = dataclasses.replace(cluster.config, broker_heartbeat_interval_ms=200)
    async with cluster.controller():
        transport = FaultyTransport(cluster.handle)
        client = cluster.new_client(transport=transport)
        await client.start()
        transport.plan = ["unreachable"] * 100
        assert not await client._session.heartbeat(client.image.index)

    assert "no controller can be reached: nobody is there" in str(vars(caplog.records[-1]))


@scenario
async def test_a_replaced_process_is_fenced_for_good(cluster):
    reasons = []
    async with cluster.controller():
        old = cluster.new_client(on_fenced=reasons.append)
        await old.start()
        run = asyncio.ensure_future(old.run())
        async with cluster.client() as new:
            old._session.aim_to_serve()  # has it send a heartbeat now
            with pytest.raises(ExceptionGroup) as failures:
                await run
            assert failures.group_contains(NodeFencedError)

            assert old.fenced
            assert not old.is_lease_valid()
            assert len(reasons) == 1
            with pytest.raises(NodeFencedError):
                await old.allocate_producer_ids()
            assert new.is_lease_valid()
            assert not new.fenced


@scenario
async def test_a_process_that_sees_in_the_metadata_that_its_epoch_is_over_does_not_wait_to_be_told(
    cluster,
):
    reasons = []
    async with cluster.controller() as node:
        old = cluster.new_client(on_fenced=reasons.append)
        await old.start()
        run = asyncio.ensure_future(old.run())
        await eventually(lambda: node._member.reads._waiting == 1)  # its heartbeat is due in 2 s
        async with asyncio.timeout(1):
            new = cluster.new_client()
            await new.start()
            with pytest.raises(ExceptionGroup) as failures:
                await run

        assert failures.group_contains(NodeFencedError)
        assert old.fenced
        assert not old.is_lease_valid()
        assert reasons == ["epoch 3 of broker 1 has ended: the broker is STARTING at epoch 4"]
        assert new.is_lease_valid()


@scenario
async def test_a_registration_that_was_over_before_its_answer_came_is_a_fencing(cluster):
    """The answer was lost, and the session ended, or another process came, before it was asked for again."""
    reasons = []
    async with cluster.controller():
        old = cluster.new_client(on_fenced=reasons.append)
        await old._session.register()
        async with cluster.client():
            with pytest.raises(NodeFencedError):
                await old._session.register()
        assert old.fenced
        assert len(reasons) == 1


@scenario
async def test_a_refused_write_fences_at_once(cluster):
    reasons = []
    async with cluster.controller():
        old = cluster.new_client(on_fenced=reasons.append)
        await old.start()  # and no `run`, which would find out by itself
        async with cluster.client() as new:
            with pytest.raises(NodeFencedError):
                await old.allocate_producer_ids()
            assert old.fenced
            assert not old.is_lease_valid()
            assert len(reasons) == 1
            assert await new.allocate_producer_ids()


@scenario
async def test_who_waits_for_a_change_is_told_of_the_fencing(cluster):
    async with cluster.controller():
        client = cluster.new_client()
        await client.start()
        waiting = asyncio.ensure_future(client._wait_until(lambda image: False))
        await asyncio.sleep(0)

        client._session.fence("test")

        with pytest.raises(NodeFencedError):
            await waiting


@scenario
async def test_a_process_that_slept_past_its_session_is_fenced(cluster):
    """It acknowledges nothing after waking up, and ends."""
    async with cluster.controller() as node:
        client = cluster.new_client()
        await client.start()
        await cluster.pass_time(9_500)
        assert node.image.brokers[1].state == BrokerState.EXPIRED

        assert not client.is_lease_valid()
        with pytest.raises(NodeFencedError):
            await client._session.heartbeat(client.image.index)
        assert client.fenced


@scenario
async def test_a_controlled_shutdown_ends_lease_and_epoch(cluster):
    reasons = []
    async with cluster.controller() as node:
        async with cluster.client(on_fenced=reasons.append) as client:
            await client.shutdown()
            assert not client.is_lease_valid()
            await eventually(lambda: node.image.brokers[1].state == BrokerState.SHUT_DOWN)
            await eventually(lambda: client.image.brokers[1].state == BrokerState.SHUT_DOWN)
        assert reasons == []


@scenario
async def test_a_shutdown_without_a_controller_ends_all_the_same(cluster):
    async with cluster.controller():
        transport = FaultyTransport(cluster.handle)
        client = cluster.new_client(transport=transport)
        await client.start()
        transport.plan = ["refuse"]

        await client.shutdown()

        assert not client.is_lease_valid()


@scenario
async def test_a_shutdown_before_the_start_does_nothing(cluster):
    await cluster.new_client().shutdown()
