"""Three controllers of one quorum: they elect, replicate, fail over, and say so."""

import asyncio
from functools import partial

import pytest

from headrace.metadata.controller.decision import Decision
from headrace.metadata.errors import MetadataIdentityError, MetadataLogFailedError, RefusedError
from headrace.metadata.leader import driver
from headrace.metadata.leader.startup import opening_records
from headrace.metadata.levels import READ_HERE
from headrace.metadata.raft.effects import RaftSettings, Role
from headrace.metadata.raft.messages import VoteResponse
from headrace.metadata.records.cluster import FeatureRecord
from headrace.metadata.records.entry import LogEntry
from headrace.metadata.rpc.frames import LeaderAddress
from headrace.metadata.rpc.requests import BrokerGoal, DescribeQuorum, FetchEntries, Heartbeat
from headrace.metadata.rpc.responses import Done
from headrace.protocol.errors import ErrorCode
from tests.simulation.directory import SimulatedDirectoryDisk
from tests.unit.metadata.quorum.three_controllers import (
    ELECTION_TIMEOUT_MS,
    HOP_S,
    ask,
    controllers,
    now_ms,
    registration,
    scenario,
    until,
    write,
    written,
)

# By then a leader that reaches nobody knows it: the others have begun to look for another.
DEPOSED_MS = 2 * ELECTION_TIMEOUT_MS + ELECTION_TIMEOUT_MS // 5 + 10


@scenario
async def test_one_leads_and_all_have_the_same_image(tmp_path):
    async with controllers(tmp_path) as scene:
        leader = await scene.leader()
        await write(leader, 11, 12)
        await scene.equal()

        assert len(scene.serving()) == 1
        for node in scene.nodes.values():
            assert written(node) == [11, 12]
            assert node.image.cluster_id == node.cluster_id == leader.cluster_id != ""
            assert {it.node_id: it.directory_id for it in node.image.members} == {
                node_id: it.directory_id for node_id, it in scene.nodes.items()
            }


@scenario
async def test_a_leader_that_dies_is_replaced_and_nothing_is_lost(tmp_path):
    async with controllers(tmp_path) as scene:
        leader = await scene.leader()
        await write(leader, 11)
        dead = scene.id_of(leader)
        killed_ms = now_ms()
        await scene.kill(dead)
        leader = await scene.leader()
        await write(leader, 12)
        assert now_ms() - killed_ms < 2_000

        await scene.start(dead)
        await scene.equal()
        assert written(scene.nodes[dead]) == [11, 12]
        assert not scene.nodes[dead].status().serving


def noted_openings(monkeypatch):
    """The leaders of the terms, each with the cluster id that it writes or None, as they begin."""
    openings = []

    def records(term, *, leader_id, cluster_id, now_ms):
        openings.append((leader_id, cluster_id))
        return opening_records(term, leader_id=leader_id, cluster_id=cluster_id, now_ms=now_ms)

    monkeypatch.setattr(driver, "opening_records", records)
    return openings


@scenario
async def test_a_cluster_that_a_log_names_is_not_founded_again(tmp_path, monkeypatch):
    """The founder dies when its first entries are in another log, where nobody knows whether they are committed."""
    openings = noted_openings(monkeypatch)
    async with controllers(tmp_path) as scene:
        await until(lambda: openings)
        founder, cluster_id = openings[0]
        others = [it for node_id, it in scene.nodes.items() if node_id != founder]
        await until(lambda: any(it.status().last_index >= 2 for it in others))
        assert not any(it.image.cluster_id for it in others)
        await scene.kill(founder)
        leader = await scene.leader()

        assert leader.image.cluster_id == cluster_id
        assert [named for _, named in openings[1:]] == [None]


@scenario
async def test_a_cluster_whose_founder_died_before_anyone_heard_of_it_is_founded(
    tmp_path, monkeypatch
):
    openings = noted_openings(monkeypatch)
    async with controllers(tmp_path) as scene:
        await until(lambda: openings)
        founder, lost = openings[0]
        await scene.kill(founder)
        leader = await scene.leader()
        await scene.start(founder)
        await scene.equal()

        assert openings[1] == (scene.id_of(leader), leader.image.cluster_id)
        assert scene.nodes[founder].image.cluster_id == leader.image.cluster_id != lost
        assert leader.image.features


@scenario
async def test_who_does_not_lead_says_who_does(tmp_path):
    async with controllers(tmp_path) as scene:
        leader = await scene.leader()
        leader_id = scene.id_of(leader)
        address = LeaderAddress(leader_id, f"host{leader_id}", 9090 + leader_id)
        requests = (
            registration(11),
            Heartbeat(11, 1, 1, BrokerGoal.SERVE),
            FetchEntries(1, 1, 1, READ_HERE),
            DescribeQuorum(),
        )
        for node in scene.others(leader):
            for request in requests:
                answer = await ask(node, request)
                assert answer.error == ErrorCode.NOT_CONTROLLER
                assert answer.leader == address


@scenario
async def test_a_leader_without_a_majority_promises_nothing(tmp_path):
    """Neither that a lease goes on, nor that a change is made, nor that one is refused."""
    async with controllers(tmp_path) as scene:
        old = await scene.leader()
        await write(old, 11)
        epoch = old.image.brokers[11].epoch
        old_id = scene.id_of(old)
        scene.network.isolate(old_id)
        cut_ms = now_ms()

        async def timed(request, after_s=0.0):
            await asyncio.sleep(after_s)
            answer = await ask(old, request)
            return answer, now_ms() - cut_ms

        answers = await asyncio.gather(
            timed(Heartbeat(11, epoch, 1, BrokerGoal.SERVE)),
            timed(Heartbeat(11, epoch - 1, 1, BrokerGoal.SERVE)),  # which would be refused
            timed(FetchEntries(1_000, 1, 0, READ_HERE)),  # likewise
            timed(DescribeQuorum()),
            timed(registration(12)),
            timed(registration(13), after_s=HOP_S),
        )

        *reads, written_one, waiting = answers
        for answer, duration_ms in (*reads, waiting):
            assert answer.error == ErrorCode.NOT_CONTROLLER
            assert duration_ms <= DEPOSED_MS
        # It has been written here, and the next leader might have had it.
        assert written_one[0].error == ErrorCode.REQUEST_TIMED_OUT
        assert written(old) == [11]

        new = await scene.leader(among=set(scene.nodes) - {old_id})
        await write(new, 14)
        scene.network.heal()
        await scene.equal()
        assert written(old) == [11, 14]


@scenario
async def test_a_leader_serves_nothing_before_its_own_entry_is_committed(tmp_path):
    """Before, it may lack what its predecessor has answered."""
    async with controllers(tmp_path) as scene:
        old = await scene.leader()
        await write(old, 11)
        await scene.equal()
        new_id = scene.id_of(scene.others(old)[0])
        scene.network.cut |= {(new_id, it) for it in (1, 2, 3)}  # it is heard by nobody
        new = scene.nodes[new_id]
        votes = [
            VoteResponse(
                source=scene.id_of(node),
                target=new_id,
                term=new.status().term + 1,
                source_directory=node.directory_id,
                pre=pre,
                granted=True,
            )
            for pre in (True, False)
            for node in scene.others(new)
        ]
        await scene.kill(scene.id_of(old))
        await until(lambda: new.status().role is Role.PRE_CANDIDATE)
        for vote in votes:
            new.receive(vote)
        await until(lambda: new.status().role is Role.LEADER)
        for _ in range(50):
            answer = await ask(new, FetchEntries(1, 1_000, 0, READ_HERE))
            assert answer.error == ErrorCode.NOT_CONTROLLER
            await asyncio.sleep(HOP_S)


@scenario
async def test_nothing_is_said_before_it_is_durable(tmp_path):
    """A vote or an acknowledgement that a crash takes back could elect two, or lose what was answered."""
    async with controllers(tmp_path) as scene:
        leader = await scene.leader()
        await scene.equal()
        follower = scene.others(leader)[0]
        await scene.kill(scene.id_of(scene.others(leader)[1]))
        goes_on = asyncio.Event()
        persist = follower._store.persist

        async def stalling(step):
            await goes_on.wait()
            await persist(step)

        follower._store.persist = stalling
        change = asyncio.ensure_future(ask(leader, registration(11)))
        await asyncio.sleep(ELECTION_TIMEOUT_MS / 1000)
        assert not change.done(), "the majority has it in its memory only"
        goes_on.set()
        assert (await change).error == ErrorCode.NONE


@scenario
async def test_an_entry_is_put_nowhere_but_where_it_was_decided_for(tmp_path):
    """An entry of the members may have come first, or another term."""
    async with controllers(tmp_path) as scene:
        leader = await scene.leader()
        await scene.equal()
        quorum, image = leader._member.quorum, leader.image

        assert not await quorum.replicate([LogEntry(image.index, image.term, b"")], {})
        with pytest.raises(RefusedError):
            await quorum.replicate([LogEntry(image.index + 1, image.term - 1, b"")], {})
        assert leader.status().last_index == image.index


@scenario
async def test_a_follower_that_reads_ahead_of_a_deposed_leader_is_not_told_that_it_diverged(
    tmp_path,
):
    """A broker that has read from the new leader asks the old one, which does not know yet."""
    async with controllers(tmp_path) as scene:
        old = await scene.leader()
        scene.network.isolate(scene.id_of(old))

        answer = await ask(old, FetchEntries(old.image.index + 5, 1, 0, READ_HERE))

        assert answer.error == ErrorCode.NOT_CONTROLLER


@scenario
async def test_readers_that_wait_for_entries_are_told_that_the_leader_has_gone(tmp_path):
    async with controllers(tmp_path) as scene:
        old = await scene.leader()
        await scene.equal()
        waiting = asyncio.ensure_future(
            ask(old, FetchEntries(old.image.index + 1, 1, 30_000, READ_HERE))
        )
        await asyncio.sleep(HOP_S)
        scene.network.isolate(scene.id_of(old))
        cut_ms = now_ms()

        assert (await waiting).error == ErrorCode.NOT_CONTROLLER
        assert now_ms() - cut_ms <= DEPOSED_MS


@scenario
async def test_a_new_leader_fences_nobody_before_a_whole_session(tmp_path):
    async with controllers(tmp_path) as scene:
        old = await scene.leader()
        await write(old, 11)
        await asyncio.sleep(8)
        await scene.kill(scene.id_of(old))
        new = await scene.leader()
        elected_ms = now_ms()
        await until(lambda: new.image.brokers[11].epoch_ended)

        assert 9_000 <= now_ms() - elected_ms < 9_000 + 1_500


@scenario
async def test_a_deposed_leader_fences_nobody(tmp_path):
    """Its sessions run out while it is cut off; the broker lives, with the new leader."""
    async with controllers(tmp_path) as scene:
        old = await scene.leader()
        await write(old, 11)
        epoch = old.image.brokers[11].epoch
        await scene.equal()
        old_id = scene.id_of(old)
        scene.network.isolate(old_id)
        new = await scene.leader(among=set(scene.nodes) - {old_id})
        for _ in range(15):
            await asyncio.sleep(1)
            answer = await ask(new, Heartbeat(11, epoch, 1, BrokerGoal.STAY_FENCED))
            assert answer.error == ErrorCode.NONE
        scene.network.heal()
        await scene.equal()

        assert not old.image.brokers[11].epoch_ended


@scenario
async def test_a_member_that_was_away_for_long_catches_up_by_a_snapshot(tmp_path, monkeypatch):
    monkeypatch.setattr(driver, "RaftSettings", partial(RaftSettings, compaction_slack_bytes=200))
    async with controllers(tmp_path, snapshot_log_bytes=2_000) as scene:
        leader = await scene.leader()
        away = scene.id_of(scene.others(leader)[0])
        await write(leader, 10)
        await scene.equal()
        await scene.kill(away)
        await write(leader, *range(11, 51))
        await until(lambda: leader._member.applied.entries.snapshot_index > 10)
        await scene.start(away)
        await scene.equal()

        for other in scene.nodes.values():
            assert other._member.applied.entries.snapshot_index > 10, "each takes its own"
        node = scene.nodes[away]
        assert node.status().counters.snapshots_installed == 1
        assert written(node) == list(range(10, 51))
        await write(leader, 51)
        await scene.kill(away)
        await scene.start(away)
        await scene.equal()
        assert scene.nodes[away].status().counters.snapshots_installed == 0
        assert written(scene.nodes[away]) == list(range(10, 52))


@scenario
async def test_a_snapshot_that_cannot_be_had_is_asked_for_once_a_second(
    tmp_path, monkeypatch, caplog
):
    """Each heartbeat offers it again: its bytes, or the lines of the log, would flood."""
    monkeypatch.setattr(driver, "RaftSettings", partial(RaftSettings, compaction_slack_bytes=200))
    async with controllers(tmp_path, snapshot_log_bytes=2_000) as scene:
        leader = await scene.leader()
        away = scene.id_of(scene.others(leader)[0])
        await scene.kill(away)
        await write(leader, *range(11, 51))
        await until(lambda: leader._member.applied.entries.snapshot_index > 10)
        read_snapshot = leader._store.read_snapshot

        async def no_snapshot(index, position, max_size):
            del index, position, max_size

        leader._store.read_snapshot = no_snapshot
        await scene.start(away)
        await asyncio.sleep(10)
        failed = "cannot install a metadata snapshot of another controller, trying again"
        assert 5 <= caplog.text.count(failed) <= 12

        leader._store.read_snapshot = read_snapshot
        await scene.equal()


@scenario
async def test_a_leader_keeps_leading_while_its_majority_catches_up_over_a_slow_link(tmp_path):
    """Heartbeats stand behind the entries that are under way."""
    async with controllers(tmp_path) as scene:
        leader = await scene.leader()
        away, gone = map(scene.id_of, scene.others(leader))
        await scene.kill(away)
        value = FeatureRecord("f" * 100_000, 1)
        for _ in range(200):
            await leader.propose(lambda image, inputs: Decision((value,), Done()))
        before = leader.status()
        scene.network.bytes_per_s = 50e6 / 8
        await scene.start(away)
        await scene.kill(gone)
        await until(lambda: scene.nodes[away].image.index >= before.last_index)

        assert leader.status().serving
        assert leader.status().term == before.term


@pytest.mark.parametrize("hears", [False, True])
def test_a_leader_that_is_cut_off_one_way_is_replaced_and_disturbs_nobody(hears, tmp_path):
    @scenario
    async def run():
        async with controllers(tmp_path) as scene:
            old = await scene.leader()
            cut_off = scene.id_of(old)
            others = [it for it in scene.nodes if it != cut_off]
            links = [(cut_off, it) if hears else (it, cut_off) for it in others]
            scene.network.cut.update(links)
            new = await scene.leader(among=others)
            await write(new, 12)
            term = new.status().term
            await asyncio.sleep(10)

            assert scene.serving() == [scene.id_of(new)]
            assert new.status().term == term
            scene.network.heal()
            await scene.equal()
            assert new.status().term == term

    run()


@scenario
async def test_each_member_can_be_restarted_in_turn(tmp_path):
    async with controllers(tmp_path) as scene:
        await scene.leader()
        expected = []
        for broker_id, node_id in enumerate((1, 2, 3, 1, 2, 3), start=11):
            leader = await scene.leader()
            led = scene.id_of(leader) == node_id
            began_ms = now_ms()
            await scene.stop(node_id)
            leader = await scene.leader()
            if led:
                assert now_ms() - began_ms < 100, "leadership was handed over"
            await write(leader, broker_id)
            expected.append(broker_id)
            await scene.start(node_id)
            await scene.equal()
            assert written(scene.nodes[node_id]) == expected


@scenario
async def test_a_leader_that_goes_answers_what_is_under_way(tmp_path):
    async with controllers(tmp_path) as scene:
        leader = await scene.leader()
        await scene.equal()
        change = asyncio.ensure_future(ask(leader, registration(11)))
        await asyncio.sleep(HOP_S / 2)
        stopping = asyncio.ensure_future(scene.stop(scene.id_of(leader)))
        await asyncio.sleep(0)
        late = asyncio.ensure_future(ask(leader, registration(12)))

        assert (await change).error == ErrorCode.NONE
        assert (await late).error == ErrorCode.NOT_CONTROLLER
        await stopping
        assert written(await scene.leader()) == [11]


@scenario
async def test_a_leader_that_goes_gives_its_vote_first_where_it_is_needed(tmp_path, monkeypatch):
    async with controllers(tmp_path) as scene:
        leader = scene.id_of(await scene.leader())
        store = scene.nodes[leader]._store
        persist = store.persist

        async def persist_slowly(what):
            await asyncio.sleep(0.005)
            await persist(what)

        monkeypatch.setattr(store, "persist", persist_slowly)
        away, successor = (node_id for node_id in (1, 2, 3) if node_id != leader)
        await scene.kill(away)
        await asyncio.sleep(ELECTION_TIMEOUT_MS / 2 / 1000)  # the leader sees who answers
        await scene.stop(leader)
        assert scene.nodes[successor].status().role is Role.LEADER


@scenario
async def test_the_last_two_may_go_without_waiting_for_long(tmp_path):
    async with controllers(tmp_path) as scene:
        await scene.leader()
        began_ms = now_ms()
        for node_id in (1, 2, 3):
            await scene.stop(node_id)

        assert now_ms() - began_ms <= 2 * ELECTION_TIMEOUT_MS


@scenario
async def test_a_disk_that_fails_under_the_leader_ends_it_and_nobody_else(tmp_path):
    async with controllers(tmp_path) as scene:
        old = await scene.leader()
        old_id = scene.id_of(old)

        async def failing(persist):
            raise MetadataLogFailedError("No space left on device")

        old._store.persist = failing
        answer = await ask(old, registration(11))

        assert answer.error == ErrorCode.REQUEST_TIMED_OUT
        (failed,), _ = await asyncio.wait([scene.tasks[old_id]])
        with pytest.raises(ExceptionGroup) as error:
            await failed
        assert error.group_contains(MetadataLogFailedError)
        answer = await ask(old, registration(11))
        assert answer.error == ErrorCode.NOT_CONTROLLER
        await scene.kill(old_id)
        await write(await scene.leader(), 12)


@scenario
async def test_a_disk_that_hangs_under_the_leader_costs_it_the_quorum(tmp_path):
    async with controllers(tmp_path) as scene:
        old = await scene.leader()
        await write(old, 11)
        epoch = old.image.brokers[11].epoch
        old_id = scene.id_of(old)
        answers_again = asyncio.Event()
        persist = old._store.persist

        async def hanging(step):
            await answers_again.wait()
            await persist(step)

        old._store.persist = hanging
        hung_ms = now_ms()
        change = asyncio.ensure_future(ask(old, registration(12)))
        await asyncio.sleep(0)
        heartbeat = await ask(old, Heartbeat(11, epoch, 1, BrokerGoal.SERVE))
        assert heartbeat.error == ErrorCode.NOT_CONTROLLER
        assert (await change).error == ErrorCode.REQUEST_TIMED_OUT
        assert now_ms() - hung_ms <= DEPOSED_MS
        new = await scene.leader(among=set(scene.nodes) - {old_id})
        await write(new, 13)

        answers_again.set()
        await scene.equal()
        assert written(old) == [11, 13]


@scenario
async def test_a_member_whose_disk_was_lost_counts_for_nothing(tmp_path):
    """With one of the others gone, the wiped one must not make a majority of what it has forgotten."""
    async with controllers(tmp_path) as scene:
        leader = await scene.leader()
        await write(leader, 11)
        await scene.equal()
        wiped = scene.id_of(scene.others(leader)[0])
        gone = scene.id_of(scene.others(leader)[1])
        await scene.wipe(wiped)
        await scene.kill(gone)
        await scene.start(wiped)
        await asyncio.sleep(10)

        assert not leader.status().serving
        assert scene.nodes[wiped].image.index == 0
        await scene.start(gone)
        await write(await scene.leader(among={gone, scene.id_of(leader)}), 12)


@scenario
async def test_a_member_of_another_cluster_ends(tmp_path):
    async with controllers(tmp_path, 1, 2) as scene:
        leader = await scene.leader()
        await scene.start(3, cluster_id="another")
        (failed,), _ = await asyncio.wait([scene.tasks[3]])

        with pytest.raises(ExceptionGroup) as error:
            await failed
        assert error.group_contains(MetadataIdentityError)
        assert leader.status().serving


@scenario
async def test_what_a_member_shows_of_itself(tmp_path):
    async with controllers(tmp_path) as scene:
        leader = await scene.leader()
        await write(leader, 11)
        await scene.equal()
        status = leader.status()
        follower = scene.others(leader)[0].status()

        assert status.role.value == "leader"
        assert status.leader_id == follower.leader_id == scene.id_of(leader)
        assert status.voters == follower.voters == (1, 2, 3)
        assert status.commit_index == status.applied_index == leader.image.index
        assert status.counters.elections_started == 1
        assert status.counters.leader_changes == follower.counters.leader_changes == 1
        assert status.counters.appends >= 2
        assert status.counters.commits == 1
        assert status.counters.commit_ms_total >= 2
        assert status.leader_silent_ms == 0
        assert 0 <= follower.leader_silent_ms <= ELECTION_TIMEOUT_MS


async def end_of(scene, node_id):
    """Wait until a node has ended by itself; the text of its reason."""
    (done, _) = await asyncio.wait([scene.tasks[node_id]], timeout=60)
    assert done, f"node {node_id} goes on"
    error = done.pop().exception()
    while isinstance(error, ExceptionGroup):
        (error,) = error.exceptions
    return str(error)


async def kill_all(scene, *node_ids):
    for node_id in node_ids:
        await scene.kill(node_id)


@scenario
async def test_a_directory_that_was_put_back_from_a_copy_ends_its_controller(tmp_path):
    """A backup of a stopped controller; who was away when it acknowledged heard of its later start."""
    async with controllers(tmp_path) as scene:
        await scene.leader()
        await scene.equal()
        await scene.stop(3)
        backup = scene.disks[3].contents()
        await scene.start(3)
        await scene.leader()
        await asyncio.sleep(1)
        await scene.kill(2)
        await write(await scene.leader(), 11)
        await kill_all(scene, 1, 3)
        scene.disks[3] = SimulatedDirectoryDisk.of(backup)

        await scene.start(2, 3)
        reason = await end_of(scene, 3)
        assert "is an old copy" in reason
        assert "docs/operations.md" in reason
        assert scene.serving() == []

        await scene.kill(3)
        with pytest.raises(MetadataIdentityError, match="is an old copy"):
            await scene.start(3)  # as its supervisor does: it would be one start further
        await scene.start(1)
        leader = await scene.leader()
        assert written(leader) == [11]


@scenario
async def test_a_copy_of_a_running_controllers_directory_ends_its_controller(tmp_path):
    async with controllers(tmp_path) as scene:
        leader = await scene.leader()
        await scene.equal()
        await asyncio.sleep(2)
        copied = 3 if scene.id_of(leader) != 3 else 2
        copy = scene.disks[copied].contents()
        await write(leader, 11, 12)
        await scene.equal()
        await asyncio.sleep(2)
        await scene.kill(copied)
        scene.disks[copied] = SimulatedDirectoryDisk.of(copy)
        await scene.start(copied)
        assert "it held all entries up to" in await end_of(scene, copied)
        await scene.kill(copied)
        await write(await scene.leader(), 13)
