"""The level of a cluster is raised while its controllers and brokers run."""

import asyncio
from functools import partial

from headrace.metadata.errors import MetadataVersionError
from headrace.metadata.follower import snapshot_download
from headrace.metadata.leader import driver, service
from headrace.metadata.levels import (
    METADATA_FEATURE,
    NEWEST,
    OLDEST,
    READ_HERE,
    LevelRange,
    level_of,
)
from headrace.metadata.quorum import told_levels
from headrace.metadata.raft.effects import RaftSettings
from headrace.metadata.records.cluster import ClusterIdRecord, FeatureRecord, LeaderChangeRecord
from headrace.metadata.rpc import frames
from headrace.metadata.rpc.requests import (
    AddVoter,
    BrokerGoal,
    FeatureUpdate,
    FetchEntries,
    FetchSnapshot,
    Heartbeat,
    TellLevels,
    UpdateFeatures,
)
from headrace.metadata.rpc.responses import Done, LevelsTold
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.quorum.three_controllers import (
    ClientTransport,
    ask,
    controllers,
    registration,
    scenario,
    until,
    write,
)

OLD = LevelRange(OLDEST, OLDEST)  # of a node of the last release
UPGRADE = UpdateFeatures((FeatureUpdate(METADATA_FEATURE, NEWEST, 1),), validate_only=False)


def founded_at_the_oldest_level(monkeypatch):
    """As the last release founds a cluster."""

    def records(term, *, leader_id, cluster_id, now_ms):
        named = (
            ()
            if cluster_id is None
            else (ClusterIdRecord(cluster_id), FeatureRecord(METADATA_FEATURE, OLDEST))
        )
        return (LeaderChangeRecord(term, leader_id, now_ms), *named)

    monkeypatch.setattr(driver, "opening_records", records)


def level(node):
    return level_of(node.image.features)


async def registered(node, broker_id, reads):
    answer = await ask(node, registration(broker_id))
    await beat(node, broker_id, answer.body.node_epoch, reads)
    return answer.body.node_epoch


async def beat(node, broker_id, epoch, reads):
    heartbeat = Heartbeat(broker_id, epoch, 0, BrokerGoal.STAY_FENCED, -1, reads)
    assert (await ask(node, heartbeat)).error == ErrorCode.NONE


@scenario
async def test_the_level_is_raised_once_every_node_reads_it(tmp_path, monkeypatch):
    founded_at_the_oldest_level(monkeypatch)
    async with controllers(tmp_path) as scene:
        leader = await scene.leader()
        epoch = await registered(leader, 11, OLD)
        assert level(leader) == OLDEST

        refused = await ask(leader, UPGRADE)
        assert refused.error == ErrorCode.INVALID_UPDATE_VERSION
        assert "broker 11 reads 2..2" in refused.message

        await beat(leader, 11, epoch, READ_HERE)
        assert (await ask(leader, UPGRADE)).body == Done()
        await scene.equal()
        assert [level(it) for it in scene.nodes.values()] == [NEWEST] * 3


@scenario
async def test_a_controller_that_is_away_keeps_the_level_where_it_is(tmp_path, monkeypatch):
    founded_at_the_oldest_level(monkeypatch)
    async with controllers(tmp_path) as scene:
        leader = await scene.leader()
        away = next(it for it in scene.nodes if it != scene.id_of(leader))
        await scene.kill(away)

        refused = await ask(leader, UPGRADE)

        assert refused.error == ErrorCode.INVALID_UPDATE_VERSION
        assert f"controller {away} does not say what it reads" in refused.message


@scenario
async def test_a_controller_that_does_not_know_the_question_tells_nothing(tmp_path, monkeypatch):
    founded_at_the_oldest_level(monkeypatch)
    async with controllers(tmp_path) as scene:
        leader = await scene.leader()
        monkeypatch.setattr(told_levels, "encode_request", encode_as_no_one_knows)

        refused = await ask(leader, UPGRADE)

        assert "does not say what it reads" in refused.message


def encode_as_no_one_knows(correlation, request):
    """With a tag that no release has."""
    assert isinstance(request, TellLevels)
    return frames.encode_request(correlation, request)[:-1] + b"\x7f"


@scenario
async def test_a_new_leader_learns_from_heartbeats_what_brokers_read(tmp_path, monkeypatch):
    founded_at_the_oldest_level(monkeypatch)
    async with controllers(tmp_path) as scene:
        leader = await scene.leader()
        epoch = await registered(leader, 11, READ_HERE)
        old = scene.id_of(leader)
        await scene.kill(old)
        leader = await scene.leader()
        await scene.start(old)
        await until(lambda: scene.nodes[old].status().leader_id == scene.id_of(leader))

        refused = await ask(leader, UPGRADE)
        assert "broker 11 has not said what it reads yet" in refused.message
        waiting = asyncio.ensure_future(ask(leader, UPGRADE))
        await asyncio.sleep(2)
        assert not waiting.done()
        await beat(leader, 11, epoch, READ_HERE)
        assert (await waiting).body == Done()


@scenario
async def test_controllers_are_asked_after_the_wait_for_brokers(tmp_path, monkeypatch):
    """One of them may go back to the last release meanwhile, or be added."""
    founded_at_the_oldest_level(monkeypatch)
    async with controllers(tmp_path) as scene:
        leader = await scene.leader()
        epoch = (await ask(leader, registration(11))).body.node_epoch
        waiting = asyncio.ensure_future(ask(leader, UPGRADE))
        await asyncio.sleep(1)
        monkeypatch.setattr(service, "READ_HERE", OLD)
        await beat(leader, 11, epoch, READ_HERE)

        refused = await waiting

        assert refused.error == ErrorCode.INVALID_UPDATE_VERSION
        assert "reads 2..2: upgrade it" in refused.message
        assert level(leader) == OLDEST


@scenario
async def test_a_controller_that_does_not_read_the_level_gets_no_vote(tmp_path, monkeypatch):
    async with controllers(tmp_path) as scene:
        leader = await scene.leader()
        scene.founders = ()
        await scene.start(4, bootstrap=ClientTransport(scene.network, (1, 2, 3)))
        adding = AddVoter("", 4, scene.nodes[4].directory_id, "host4", 9094)
        monkeypatch.setattr(service, "READ_HERE", OLD)

        refused = await ask(leader, adding)
        assert refused.error == ErrorCode.UNSUPPORTED_VERSION
        assert "node 4 says: this node reads headrace.metadata.version 2..2" in refused.message
        assert {it.node_id: it.voter for it in leader.image.members}[4] is False

        monkeypatch.setattr(service, "READ_HERE", READ_HERE)
        assert (await ask(leader, adding)).error == ErrorCode.NONE


@scenario
async def test_any_controller_tells_what_it_reads(tmp_path):
    async with controllers(tmp_path) as scene:
        await scene.leader()
        told = [(await ask(it, TellLevels())).body for it in scene.nodes.values()]

    assert told == [LevelsTold(READ_HERE)] * 3


@scenario
async def test_only_the_leader_raises_the_level(tmp_path):
    async with controllers(tmp_path) as scene:
        leader = await scene.leader()
        for other in scene.others(leader):
            assert (await ask(other, UPGRADE)).error == ErrorCode.NOT_CONTROLLER


@scenario
async def test_nothing_is_sent_to_a_reader_of_lower_levels(tmp_path):
    async with controllers(tmp_path) as scene:
        leader = await scene.leader()
        await leader.take_snapshot()
        index = leader.image.index
        for request in (FetchEntries(1, 1_000, 0), FetchSnapshot(index, 0, 1_000)):
            refused = await ask(leader, request)
            assert refused.error == ErrorCode.UNSUPPORTED_VERSION
            told = f"reads headrace.metadata.version 1..1, the cluster is at {NEWEST}"
            assert told in refused.message


@scenario
async def test_a_controller_that_may_not_have_the_snapshot_ends_and_says_why(tmp_path, monkeypatch):
    monkeypatch.setattr(driver, "RaftSettings", partial(RaftSettings, compaction_slack_bytes=200))
    async with controllers(tmp_path, snapshot_log_bytes=2_000) as scene:
        leader = await scene.leader()
        away = scene.id_of(scene.others(leader)[0])
        await scene.kill(away)
        await write(leader, *range(11, 51))
        await until(lambda: leader._member.applied.entries.snapshot_index > 10)

        monkeypatch.setattr(snapshot_download, "READ_HERE", OLD)
        await scene.start(away)
        ended = scene.tasks.pop(away)
        await asyncio.wait([ended], timeout=10)

        _, others = ended.exception().split(MetadataVersionError)
        assert others is None
        assert f"the cluster is at {NEWEST}: upgrade this node" in str(leaf(ended.exception()))
        await scene.nodes.pop(away).shutdown()


def leaf(error):
    return leaf(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error
