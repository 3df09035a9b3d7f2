"""Controllers come and go while the others serve (KIP-853)."""

import asyncio
from itertools import count
from uuid import UUID

from headrace.metadata.records.members import NO_DIRECTORY
from headrace.metadata.rpc.requests import (
    AddVoter,
    BrokerGoal,
    DescribeQuorum,
    Heartbeat,
    RemoveVoter,
)
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.quorum.three_controllers import (
    ClientTransport,
    Controllers,
    ask,
    controllers,
    now_ms,
    registration,
    scenario,
    until,
    write,
    written,
)


def adding(node_id, directory_id, cluster_id=""):
    return AddVoter(cluster_id, node_id, directory_id, f"host{node_id}", 9090 + node_id)


async def start_joining(scene, node_id):
    """Start a controller that is told no more than where others are."""
    scene.founders = ()
    await scene.start(node_id, bootstrap=ClientTransport(scene.network, (1, 2, 3)))
    return scene.nodes[node_id]


def members(node):
    return {it.node_id: it.voter for it in node.image.members}


@scenario
async def test_a_new_controller_learns_the_log_and_then_counts(tmp_path):
    async with controllers(tmp_path) as scene:
        leader = await scene.leader()
        await write(leader, 11, 12)
        joining = await start_joining(scene, 4)
        await asyncio.sleep(5)
        assert joining.image.index == 0
        assert not joining.status().serving, "it founds nothing"

        answer = await ask(leader, adding(4, joining.directory_id))
        assert answer.error == ErrorCode.NONE
        assert members(leader) == {1: True, 2: True, 3: True, 4: True}
        assert answer.log_index == leader.image.index
        repeated = await ask(leader, adding(4, joining.directory_id))
        assert repeated.error == ErrorCode.NONE
        await scene.equal()
        assert written(joining) == [11, 12]
        assert joining.cluster_id == leader.cluster_id

        # Three of four decide, so two without the new one do not.
        others = [scene.id_of(it) for it in scene.others(leader) if it is not joining]
        await scene.kill(others[0])
        await write(leader, 13)
        await scene.kill(4)
        await until(lambda: not scene.serving())


@scenario
async def test_a_controller_that_is_never_heard_of_does_not_count(tmp_path):
    async with controllers(tmp_path) as scene:
        leader = await scene.leader()
        began_ms = now_ms()

        answer = await ask(leader, adding(4, UUID(int=4)))

        assert answer.error == ErrorCode.REQUEST_TIMED_OUT
        assert 19_000 <= now_ms() - began_ms <= 21_000
        assert members(leader) == {1: True, 2: True, 3: True, 4: False}
        await write(leader, 11)
        assert (await ask(leader, RemoveVoter("", 4, UUID(int=4)))).error == ErrorCode.NONE
        assert members(leader) == {1: True, 2: True, 3: True}


@scenario
async def test_a_lost_disk_is_replaced_by_removing_and_adding_the_node(tmp_path):
    async with controllers(tmp_path) as scene:
        leader = await scene.leader()
        await write(leader, 11)
        lost = scene.id_of(scene.others(leader)[0])
        old_directory = scene.nodes[lost].directory_id
        await scene.equal()
        await scene.wipe(lost)
        await scene.start(lost)
        new_directory = scene.nodes[lost].directory_id
        assert new_directory != old_directory

        refused = await ask(leader, adding(lost, new_directory))
        assert refused.error == ErrorCode.DUPLICATE_VOTER
        assert (await ask(leader, RemoveVoter("", lost, old_directory))).error == ErrorCode.NONE
        assert (await ask(leader, adding(lost, new_directory))).error == ErrorCode.NONE
        await scene.equal()
        assert written(scene.nodes[lost]) == [11]
        # It counts: without the third node it makes the majority.
        third = next(it for it in (1, 2, 3) if it not in (lost, scene.id_of(leader)))
        await scene.kill(third)
        await write(leader, 12)


@scenario
async def test_a_leader_can_be_removed(tmp_path):
    async with controllers(tmp_path) as scene:
        old = await scene.leader()
        old_id = scene.id_of(old)
        await scene.equal()
        began_ms = now_ms()

        assert (await ask(old, RemoveVoter("", old_id, old.directory_id))).error == ErrorCode.NONE

        new = await scene.leader(among=set(scene.nodes) - {old_id})
        assert now_ms() - began_ms < 200, "it hands over"
        await write(new, 11)
        assert old_id not in members(new)
        await asyncio.sleep(5)
        assert scene.serving() == [scene.id_of(new)]


@scenario
async def test_members_change_while_there_are_always_writes_under_way(tmp_path):
    async with controllers(tmp_path) as scene:
        leader = await scene.leader()
        gone = scene.others(leader)[0]

        async def keep_writing(broker_id):
            for incarnation in count(1):
                await ask(leader, registration(broker_id, incarnation))

        writers = []
        for broker_id in range(11, 15):
            writers.append(asyncio.create_task(keep_writing(broker_id)))
            await asyncio.sleep(0.0007)  # each comes while another is being committed
        answer = await ask(leader, RemoveVoter("", scene.id_of(gone), gone.directory_id))
        for writer in writers:
            assert not writer.done()
            writer.cancel()
        assert answer.error == ErrorCode.NONE, answer.message


@scenario
async def test_what_cannot_be_is_refused(tmp_path):
    async with controllers(tmp_path) as scene:
        leader = await scene.leader()
        await scene.equal()
        own = leader.directory_id
        own_id = scene.id_of(leader)
        before = leader.image.members
        for request, code in (
            (adding(4, UUID(int=4), cluster_id="other"), ErrorCode.INCONSISTENT_CLUSTER_ID),
            (RemoveVoter("other", own_id, own), ErrorCode.INCONSISTENT_CLUSTER_ID),
            (adding(4, NO_DIRECTORY), ErrorCode.INVALID_REQUEST),
            (AddVoter("", 4, UUID(int=4), "", 1), ErrorCode.INVALID_REQUEST),
            (AddVoter("", 4, UUID(int=4), "h", 0), ErrorCode.INVALID_REQUEST),
            (AddVoter("", 4, UUID(int=4), "h", 65_536), ErrorCode.INVALID_REQUEST),
            (AddVoter("", 4, UUID(int=4), "a..b", 1), ErrorCode.INVALID_REQUEST),
            (AddVoter("", 4, UUID(int=4), "a\0b", 1), ErrorCode.INVALID_REQUEST),
            (adding(own_id, UUID(int=4)), ErrorCode.DUPLICATE_VOTER),
            (RemoveVoter("", 4, UUID(int=4)), ErrorCode.VOTER_NOT_FOUND),
            (RemoveVoter("", own_id, UUID(int=4)), ErrorCode.VOTER_NOT_FOUND),
        ):
            answer = await ask(leader, request)
            assert answer.error == code, request
            assert answer.message

        assert leader.image.members == before


@scenario
async def test_the_last_voter_stays(tmp_path):
    async with controllers(tmp_path, 1, founders=()) as scene:
        node = scene.nodes[1]
        answer = await ask(node, RemoveVoter("", 1, node.directory_id))

        assert answer.error == ErrorCode.INVALID_REQUEST
        assert node.status().serving


@scenario
async def test_one_controller_becomes_three(tmp_path):
    """What began alone says where it is found, and others are added to it."""
    scene = Controllers(tmp_path, founders=())
    try:
        await scene.start(1)
        first = scene.nodes[1]
        await write(first, 11)
        for node_id in (2, 3):
            joining = await start_joining(scene, node_id)
            answer = await ask(first, adding(node_id, joining.directory_id))
            assert answer.error == ErrorCode.NONE
        await scene.equal()
        await scene.kill(1)
        await write(await scene.leader(), 12)
    finally:
        await scene.shutdown()


@scenario
async def test_a_member_that_has_moved_is_found_once_it_leads(tmp_path):
    scene = Controllers(tmp_path, founders=())
    try:
        await scene.start(1)
        assert [(it.host, it.port) for it in scene.nodes[1].image.members] == [("host1", 9091)]
        await scene.stop(1)
        scene.ports = {1: 19_091}
        await scene.start(1)
        node = scene.nodes[1]
        await until(lambda: node.image.members[0].port == 19_091)
    finally:
        await scene.shutdown()


@scenario
async def test_the_quorum_as_its_leader_describes_it(tmp_path):
    async with controllers(tmp_path) as scene:
        leader = await scene.leader()
        await write(leader, 11)
        epoch = leader.image.brokers[11].epoch
        adding_4 = asyncio.ensure_future(ask(leader, adding(4, UUID(int=4))))
        await until(lambda: 4 in members(leader))
        await asyncio.sleep(0.3)
        beat = Heartbeat(11, epoch, leader.image.index, BrokerGoal.STAY_FENCED)
        assert (await ask(leader, beat)).error == ErrorCode.NONE
        described = (await ask(leader, DescribeQuorum())).body
        wall_ms = 1_000_000_000 + now_ms()

        assert described.leader_id == scene.id_of(leader)
        assert described.term == leader.image.term
        assert described.commit_index == leader.image.index
        assert [it.node_id for it in described.voters] == [1, 2, 3]
        for voter in described.voters:
            assert voter.directory_id == scene.nodes[voter.node_id].directory_id
            assert (voter.host, voter.port) == (f"host{voter.node_id}", 9090 + voter.node_id)
            assert voter.log_end_index == leader.image.index
            assert wall_ms - 300 <= voter.last_fetch_ms <= wall_ms
            assert wall_ms - 300 <= voter.last_caught_up_ms <= wall_ms
        learner, broker = described.observers
        assert (learner.node_id, learner.log_end_index, learner.last_caught_up_ms) == (4, 0, -1)
        assert broker.node_id == 11
        assert broker.log_end_index == beat.applied_index
        assert broker.last_fetch_ms == broker.last_caught_up_ms
        assert wall_ms - 10 <= broker.last_fetch_ms <= wall_ms
        assert (await adding_4).error == ErrorCode.REQUEST_TIMED_OUT
