import asyncio

from metadata.image import BrokerState
from metadata.rpc.requests import (
    BrokerGoal,
    PrepareObjects,
)
from protocol.errors import ErrorCode
from tests.unit.metadata.running_cluster import (
    ask,
    ask_well,
    heartbeat,
    register,
    scenario,
)


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
