import asyncio
import dataclasses
import logging
import random
from uuid import UUID

from headrace.metadata.controller.moves import MOVE_MS, SLOWEST_BYTES_PER_S
from headrace.metadata.errors import ControllerUnavailableError
from headrace.metadata.follower.client import BrokerIdentity, MetadataClient
from headrace.metadata.image import BrokerState
from headrace.metadata.leader import supervision
from headrace.metadata.levels import READ_HERE
from headrace.metadata.records.brokers import BrokerEndpoint
from headrace.metadata.records.logs import LogMedium
from headrace.metadata.rpc.requests import (
    AlterReassignments,
    BeginLog,
    BrokerGoal,
    CreateTopics,
    FinishDrain,
    Heartbeat,
    PrepareObjects,
    Reassignment,
    RegisterBroker,
    ReportEnd,
)
from headrace.metadata.transport import LocalTransport
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.pure_controller import EVERY_FILE, topic_creation
from tests.unit.metadata.running_cluster import (
    ENDPOINTS,
    ask,
    ask_well,
    eventually,
    heartbeat,
    register,
    scenario,
)


def begin_log(node_id, epoch, reach=EVERY_FILE):
    place = f"/wals/{node_id}"
    return BeginLog(node_id, epoch, node_id, "00", LogMedium.FILE, (place,), reach)


@scenario
async def test_a_broker_is_shown_when_it_asks_and_has_applied_its_registration(cluster):
    async with cluster.controller() as node:
        epoch = await register(node, serve=False)

        for request in (
            heartbeat(epoch, BrokerGoal.STAY_FENCED),
            heartbeat(epoch, BrokerGoal.SERVE, applied=epoch - 1),
        ):
            assert (await ask_well(node, request)).body.fenced
            assert node.image.brokers[1].state == BrokerState.STARTING
        answer = await ask_well(node, heartbeat(epoch, applied=epoch))

        assert not answer.body.fenced
        assert node.image.brokers[1].state == BrokerState.ACTIVE
        assert answer.log_index == node.image.index


@scenario
async def test_a_heartbeat_writes_nothing(cluster):
    async with cluster.controller() as node:
        epoch = await register(node)
        index = node.image.index
        for _ in range(20):
            await ask_well(node, heartbeat(epoch))

        assert node.image.index == index


@scenario
async def test_an_outcome_that_nobody_knows_does_not_end_the_controller(cluster, monkeypatch):
    monkeypatch.setattr(supervision, "tick_interval_ms", lambda session_timeout_ms: 1)
    async with cluster.controller() as node:
        await register(node)
        committer = node._leadership.committer
        propose, tries = committer.propose, []

        async def fail_once(decide):
            tries.append(decide)
            if len(tries) == 1:
                raise ControllerUnavailableError("it stopped leading meanwhile")
            return await propose(decide)

        committer.propose = fail_once
        async with asyncio.timeout(5):
            while not node.image.brokers[1].epoch_ended:
                cluster.boot.now_ms += 50
                await asyncio.sleep(0.001)


@scenario
async def test_a_silent_broker_is_fenced_and_stays_so(cluster):
    async with cluster.controller() as node:
        epoch = await register(node)
        await cluster.pass_time(8_900)
        assert not node.image.brokers[1].fenced
        await ask_well(node, heartbeat(epoch))
        await cluster.pass_time(8_900)
        assert not node.image.brokers[1].fenced
        await cluster.pass_time(200)

        assert node.image.brokers[1].state == BrokerState.EXPIRED
        assert (await ask(node, heartbeat(epoch))).error == ErrorCode.STALE_BROKER_EPOCH
        answer = await ask(node, PrepareObjects(1, epoch, 1, 1_000))
        assert answer.error == ErrorCode.STALE_BROKER_EPOCH
        again = await register(node, incarnation=2)
        assert again > epoch


@scenario
async def test_the_log_of_a_broker_that_has_ended_is_assigned_in_the_same_round(cluster):
    async with cluster.controller() as node:
        epochs = {it: await register(node, it) for it in (1, 2)}
        for node_id, epoch in epochs.items():
            await ask_well(node, begin_log(node_id, epoch))
        await cluster.pass_time(8_900)
        await ask_well(node, heartbeat(epochs[2], node_id=2))
        await cluster.pass_time(200)

        assert node.image.brokers[1].state == BrokerState.EXPIRED
        drain = node.image.logs[1].drain
        assert (drain.node_id, drain.node_epoch) == (2, epochs[2])
        assert node.image.logs[2].drain is None


@scenario
async def test_a_log_that_waits_for_a_drainer_is_assigned_as_soon_as_one_is_free(
    cluster, monkeypatch
):
    """Not at the next look at the deadlines."""
    async with cluster.controller() as node:
        epochs = {it: await register(node, it) for it in (1, 2, 3, 4)}
        for node_id, epoch in epochs.items():
            reach = EVERY_FILE if node_id == 1 else ()
            await ask_well(node, begin_log(node_id, epoch, reach=reach))
        monkeypatch.setattr(node._leadership.supervision, "_tick_ms", 3_600_000)
        looks = asyncio.create_task(node._leadership.supervision.run())
        for node_id in (2, 3, 4):
            await ask_well(node, heartbeat(epochs[node_id], BrokerGoal.SHUT_DOWN, node_id=node_id))
        await eventually(lambda: node.image.logs[3].drain is not None)
        assert node.image.logs[4].drain is None

        drain = node.image.logs[2].drain
        await ask_well(node, FinishDrain(1, epochs[1], 2, drain.epoch, 0, ()))
        await eventually(lambda: node.image.logs[4].drain is not None)
        looks.cancel()


@scenario
async def test_the_log_of_a_broker_that_was_reported_is_assigned_without_a_round(
    cluster, monkeypatch
):
    monkeypatch.setattr(supervision, "tick_interval_ms", lambda session_timeout_ms: 3_600_000)
    async with cluster.controller() as node:
        epochs = {it: await register(node, it) for it in (1, 2)}
        for node_id, epoch in epochs.items():
            await ask_well(node, begin_log(node_id, epoch))
        await ask_well(node, ReportEnd(2, epochs[2], 1, epochs[1], "wal of 1"))
        await eventually(lambda: node.image.logs[1].drain is not None)

        assert node.image.logs[1].drain.node_id == 2


@scenario
async def test_a_broker_that_drains_nothing_costs_no_entries(cluster):
    async with cluster.controller() as node:
        epochs = {it: await register(node, it) for it in (1, 2)}
        for node_id, epoch in epochs.items():
            await ask_well(node, begin_log(node_id, epoch, reach=()))
        await cluster.pass_time(9_100)
        index = node.image.index
        await cluster.pass_time(1_000)

        assert node.image.index == index
        assert node.image.logs[1].drain is None


@scenario
async def test_no_heartbeat_is_answered_once_fencing_has_begun(cluster):
    """Else the lease would be extended while the entry that ends it is being written."""
    async with cluster.controller() as node:
        epoch = await register(node)
        await cluster.pass_time(8_900)
        cluster.boot.now_ms += 200
        fencing = asyncio.ensure_future(node.check_deadlines())
        await asyncio.sleep(0)
        assert not node.image.brokers[1].fenced

        answer = await ask(node, heartbeat(epoch))

        assert answer.error == ErrorCode.STALE_BROKER_EPOCH
        await fencing


@scenario
async def test_a_new_leader_fences_nobody_before_a_whole_session(cluster):
    async with cluster.controller() as node:
        epoch = await register(node)
        await cluster.pass_time(8_000)
    async with cluster.controller() as node:
        await cluster.pass_time(8_900)
        assert not node.image.brokers[1].fenced
        await ask_well(node, heartbeat(epoch))
        await cluster.pass_time(9_100)
        assert node.image.brokers[1].fenced


@scenario
async def test_nobody_is_fenced_within_a_lease_that_its_own_setting_makes_longer(cluster):
    """The controllers' setting was made shorter; brokers follow one after the other."""
    longer = dataclasses.replace(cluster.config, broker_session_timeout_ms=9_000)
    cluster.config = dataclasses.replace(cluster.config, broker_session_timeout_ms=3_000)
    async with cluster.controller() as node:
        client = MetadataClient(
            longer,
            LocalTransport(cluster.handle),
            BrokerIdentity(node_id=1, endpoints=ENDPOINTS),
            boot_clock_ms=cluster.boot,
            rng=random.Random(1),
        )
        await client.start()
        await node.take_snapshot()  # another leader may know it from there
    async with cluster.controller() as node:
        assert client.is_lease_valid()
        for _ in range(2):
            assert await client._session.heartbeat(client.image.index)
            while client.is_lease_valid():
                assert not node.image.brokers[1].epoch_ended
                await cluster.pass_time(100)
            await cluster.pass_time(900)
            assert not node.image.brokers[1].epoch_ended, "clocks may differ"
        await cluster.pass_time(300)
        assert node.image.brokers[1].state == BrokerState.EXPIRED


@scenario
async def test_a_session_has_a_bound(cluster):
    async with cluster.controller() as node:
        endpoints = (BrokerEndpoint("PLAINTEXT", "h", 1),)
        for_ever = RegisterBroker("", 1, UUID(int=1), endpoints, "", 3_600_001, reads=READ_HERE)

        assert (await ask(node, for_ever)).error == ErrorCode.INVALID_REGISTRATION
        assert not node.image.brokers


@scenario
async def test_a_controlled_shutdown_ends_the_epoch(cluster):
    async with cluster.controller() as node:
        epoch = await register(node)
        await ask_well(node, heartbeat(epoch, BrokerGoal.SHUT_DOWN))

        assert node.image.brokers[1].state == BrokerState.SHUT_DOWN
        assert (await ask(node, heartbeat(epoch))).error == ErrorCode.STALE_BROKER_EPOCH
        await cluster.pass_time(20_000)
        assert node.image.brokers[1].state == BrokerState.SHUT_DOWN


@scenario
async def test_the_replaced_process_is_told(cluster):
    async with cluster.controller() as node:
        old = await register(node, incarnation=1)
        new = await register(node, incarnation=2)

        assert (await ask(node, heartbeat(old))).error == ErrorCode.STALE_BROKER_EPOCH
        await ask_well(node, heartbeat(new))
        assert (await ask(node, heartbeat(1, node_id=8))).error == (
            ErrorCode.BROKER_ID_NOT_REGISTERED
        )


@scenario
async def test_expired_objects_are_marked_by_the_clock_of_the_wall(cluster):
    async with cluster.controller() as node:
        epoch = await register(node)
        await ask_well(node, PrepareObjects(1, epoch, 2, 1_000))
        await node.check_deadlines()
        assert len(node.image.objects.prepared) == 2
        cluster.wall.now_ms += 1_000
        await node.check_deadlines()

        assert not node.image.objects.prepared
        assert set(node.image.objects.destroyed.values()) == {cluster.wall.now_ms}


@scenario
async def test_a_broker_that_cannot_open_partitions_gets_none_until_it_can(cluster):
    async with cluster.controller() as node:
        epochs = {it: await register(node, it) for it in (1, 2)}

        async def tell(is_able):
            told = Heartbeat(
                2, epochs[2], 1_000_000, BrokerGoal.SERVE, reads=READ_HERE, is_able=is_able
            )
            await ask_well(node, told)

        async def leaders_of(topic):
            await ask_well(node, CreateTopics((topic_creation(topic, 4),), False))
            return sorted(it.leader for it in node.image.topic(topic).partitions)

        await tell(is_able=False)
        assert await leaders_of("while") == [1] * 4
        await tell(is_able=True)
        assert 2 in await leaders_of("after")


@scenario
async def test_a_move_has_more_time_while_its_source_uploads_what_comes_before(cluster):
    async with cluster.controller() as node:
        epochs = {it: await register(node, it) for it in (1, 2)}
        topic = topic_creation("t", -1, assignments=((0, (1,)),))
        await ask_well(node, CreateTopics((topic,), False))
        await ask_well(node, AlterReassignments((Reassignment("t", 0, (2,)),)))

        async def pass_time(bytes_before, total_ms):
            for _ in range(0, total_ms, 2_000):
                await cluster.pass_time(2_000)
                for it, epoch in epochs.items():
                    told = Heartbeat(
                        it,
                        epoch,
                        1_000_000,
                        BrokerGoal.SERVE,
                        reads=READ_HERE,
                        bytes_before_moves=bytes_before if it == 1 else 0,
                    )
                    await ask_well(node, told)

        await pass_time(30 * SLOWEST_BYTES_PER_S, MOVE_MS + 20_000)
        assert node.image.moves
        await pass_time(0, MOVE_MS - 2_000)
        assert node.image.moves
        await pass_time(0, 6_000)
        assert not node.image.moves


@scenario
async def test_the_log_tells_which_moves_are_taken_back_and_why(cluster):
    told = []
    handler = logging.Handler()
    handler.emit = told.append
    supervision.logger.addHandler(handler)
    try:
        async with cluster.controller() as node:
            epochs = {it: await register(node, it) for it in (1, 2, 3)}
            topic = topic_creation("t", -1, assignments=((0, (1,)), (1, (1,))))
            await ask_well(node, CreateTopics((topic,), False))
            moves = (Reassignment("t", 0, (2,)), Reassignment("t", 1, (3,)))
            await ask_well(node, AlterReassignments(moves))
            await ask_well(node, heartbeat(epochs[3], BrokerGoal.SHUT_DOWN, node_id=3))
            for _ in range(0, MOVE_MS + 1_000, 1_000):
                await cluster.pass_time(1_000)
                for it in (1, 2):
                    await ask_well(node, heartbeat(epochs[it], node_id=it))
            assert not node.image.moves
    finally:
        supervision.logger.removeHandler(handler)

    found = [it for it in told if "taking back" in it.getMessage()]
    # Each at least once: here two look at the deadlines at the same time.
    assert list(dict.fromkeys((it.topic, it.partition, it.target, it.reason) for it in found)) == [
        ("t", 1, 3, "broker 3 has ended"),
        ("t", 0, 2, "it does not get on"),
    ]
