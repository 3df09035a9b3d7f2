import asyncio
import gc
import random
from uuid import UUID

import pytest

from headrace.metadata.controller.decision import ConfigRules, Decision, Inputs
from headrace.metadata.errors import (
    ControllerUnavailableError,
    LeadershipLostError,
    RefusedError,
)
from headrace.metadata.image import MetadataImage
from headrace.metadata.leader import commits
from headrace.metadata.leader.commits import Committer
from headrace.metadata.levels import METADATA_FEATURE, OLDEST
from headrace.metadata.records.cluster import FeatureRecord
from headrace.metadata.records.members import MembersRecord
from headrace.metadata.records.topics import PartitionMoveEndedRecord
from headrace.metadata.replay import STEP_RECORDS, replay
from headrace.metadata.rpc.responses import Done
from headrace.persistent_map import PersistentMap
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.running_cluster import eventually, running, scenario

INPUTS = Inputs(0, random.Random(1), ConfigRules(validate_topic=lambda name, value: None))


class Log:
    """A quorum of which the test says when it commits, and how it fails."""

    def __init__(self):
        self.image = MetadataImage(term=1)
        self.groups = []
        self.open_writes = asyncio.Event()
        self.open_writes.set()
        self.failure = None
        self.members_entries = 0  # that come first, unexpected
        self.confirmations = 0

    async def image_at_end(self):
        return self.image

    async def replicate(self, entries, images):
        if self.members_entries:
            self.members_entries -= 1
            index = self.image.index + 1
            self.image = replay(self.image, (MembersRecord(()),), index=index, term=1)
            return False
        self.groups.append([it.index for it in entries])
        assert entries[0].index == self.image.index + 1
        assert list(images) == self.groups[-1]
        await self.open_writes.wait()
        if self.failure is not None:
            raise self.failure
        self.image = images[entries[-1].index]
        return True

    async def confirm_leadership(self):
        self.confirmations += 1
        await self.open_writes.wait()
        if self.failure is not None:
            raise self.failure


class Scene:
    def __init__(self):
        self.log = Log()
        self.committer = Committer(self.log, inputs=lambda: INPUTS)

    def set(self, key, *, on=None):
        """Propose to set a key; `on` gets the image that it is decided on."""

        def decide(image, inputs):
            if on is not None:
                on.append(image)
            return Decision((FeatureRecord(key, 1),), Done())

        return asyncio.ensure_future(self.committer.propose(decide))

    @property
    def keys(self):
        return set(self.log.image.features)


@scenario
async def test_a_proposal_is_answered_when_it_is_durable():
    scene = Scene()
    async with running(scene.committer.run()):
        committed = await scene.set("a")

    assert committed == (Done(), 1)
    assert scene.keys == {"a"}


@scenario
async def test_nothing_shows_before_it_is_durable():
    scene = Scene()
    scene.log.open_writes.clear()
    async with running(scene.committer.run()):
        answer = scene.set("a")
        await eventually(lambda: scene.log.groups)

        assert scene.keys == set()
        assert not answer.done()
        scene.log.open_writes.set()
        await answer

    assert scene.keys == {"a"}


@scenario
async def test_a_record_above_the_clusters_level_is_refused_and_nothing_else():
    scene = Scene()
    scene.log.image = MetadataImage(term=1, features=PersistentMap({METADATA_FEATURE: OLDEST}))
    early = PartitionMoveEndedRecord(UUID(int=1), 0, 1)

    async with running(scene.committer.run()):
        with pytest.raises(RefusedError, match=r"needs headrace\.metadata\.version 3") as refusal:
            await scene.committer.propose(lambda *_: Decision((early,), Done()))
        await scene.set("later")

    assert refusal.value.code == ErrorCode.UNSUPPORTED_VERSION
    assert scene.keys == {METADATA_FEATURE, "later"}


@scenario
async def test_what_comes_during_a_write_shares_the_next():
    scene = Scene()
    scene.log.open_writes.clear()
    images = []
    async with running(scene.committer.run()):
        first = scene.set("a")
        await eventually(lambda: scene.log.groups)
        rest = [scene.set(key, on=images) for key in "bcd"]
        await eventually(lambda: len(scene.committer._proposals) == 3)
        scene.log.open_writes.set()
        committed = await asyncio.gather(first, *rest)

    assert scene.log.groups == [[1], [2, 3, 4]]
    assert [it.log_index for it in committed] == [1, 2, 3, 4]
    assert [set(it.features) for it in images] == [{"a"}, {"a", "b"}, {"a", "b", "c"}]


@scenario
async def test_a_group_is_bounded(monkeypatch):
    monkeypatch.setattr(commits, "MAX_GROUP_PROPOSALS", 2)
    scene = Scene()
    answers = [scene.set(key) for key in "abcde"]
    await asyncio.sleep(0)
    async with running(scene.committer.run()):
        await asyncio.gather(*answers)

    assert scene.log.groups == [[1, 2], [3, 4], [5]]


@scenario
async def test_a_refusal_costs_no_write_but_the_certainty_that_we_lead():
    """Who was deposed without knowing it must not say that a name is taken, or free."""
    scene = Scene()

    def refuse(image, inputs):
        raise RefusedError(ErrorCode.INVALID_REQUEST, "no")

    async with running(scene.committer.run()):
        with pytest.raises(RefusedError):
            await scene.committer.propose(refuse)
        assert scene.log.confirmations == 1
        scene.log.failure = RefusedError(ErrorCode.NOT_CONTROLLER, "deposed")
        with pytest.raises(RefusedError) as error:
            await scene.committer.propose(refuse)

    assert error.value.code == ErrorCode.NOT_CONTROLLER
    assert scene.log.groups == []


@scenario
async def test_a_refusal_leaves_no_cycle_of_references():
    """Only the collector would free it, and with it the image that was decided on."""
    scene = Scene()

    def refuse(image, inputs):
        raise RefusedError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "no such topic")

    async def ask():
        with pytest.raises(RefusedError, match="no such topic"):
            await scene.committer.propose(refuse)

    async with running(scene.committer.run()):
        await ask()
        gc.collect()
        for _ in range(10):
            await ask()
        gc.set_debug(gc.DEBUG_SAVEALL)
        try:
            gc.collect()
            left = [it for it in gc.garbage if isinstance(it, RefusedError)]
        finally:
            gc.set_debug(0)
            gc.garbage.clear()
    assert left == []


@scenario
async def test_a_decision_without_records_rests_on_what_was_decided_before_it():
    """Its answer may tell of an entry of the same group: not before that is durable."""
    scene = Scene()
    scene.log.open_writes.clear()
    writing = scene.set("a")
    reading = asyncio.ensure_future(
        scene.committer.propose(lambda image, inputs: Decision((), Done()))
    )
    await asyncio.sleep(0)
    async with running(scene.committer.run()):
        await eventually(lambda: scene.log.groups)
        await asyncio.sleep(0)
        assert not reading.done()
        scene.log.open_writes.set()
        await writing
        assert (await reading).log_index == 1


@scenario
async def test_an_entry_too_large_for_the_log_is_refused(monkeypatch):
    monkeypatch.setattr(commits, "MAX_PAYLOAD_BYTES", 100)
    scene = Scene()
    async with running(scene.committer.run()):
        with pytest.raises(RefusedError) as error:
            await scene.set("k" * 200)
        await scene.set("a")

    assert error.value.code == ErrorCode.RECORD_LIST_TOO_LARGE
    assert scene.keys == {"a"}


@scenario
async def test_too_many_proposals_are_refused(monkeypatch):
    monkeypatch.setattr(commits, "MAX_PROPOSALS", 2)
    scene = Scene()
    waiting = [scene.set("a"), scene.set("b")]
    await asyncio.sleep(0)

    with pytest.raises(RefusedError) as error:
        await scene.set("c")

    assert error.value.code == ErrorCode.THROTTLING_QUOTA_EXCEEDED
    async with running(scene.committer.run()):
        await asyncio.gather(*waiting)


@scenario
async def test_who_has_gone_is_not_decided_for():
    scene = Scene()
    gone, stays = scene.set("gone"), scene.set("stays")
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.sleep(0)
    async with running(scene.committer.run()):
        await stays

    assert scene.keys == {"stays"}


@scenario
async def test_who_goes_during_the_write_does_not_disturb():
    scene = Scene()
    scene.log.open_writes.clear()
    async with running(scene.committer.run()):
        gone, stays = scene.set("gone"), scene.set("stays")
        await eventually(lambda: scene.log.groups)
        gone.cancel()
        scene.log.open_writes.set()
        await stays

    assert scene.keys == {"gone", "stays"}


@scenario
async def test_lost_leadership_ends_it_and_leaves_open_what_was_written():
    scene = Scene()
    scene.log.open_writes.clear()
    scene.log.failure = LeadershipLostError("deposed")
    run = asyncio.ensure_future(scene.committer.run())
    writing = scene.set("a")
    reading = asyncio.ensure_future(
        scene.committer.propose(lambda image, inputs: Decision((), Done()))
    )
    await eventually(lambda: scene.log.groups)
    waiting = scene.set("b")
    await asyncio.sleep(0)
    scene.log.open_writes.set()

    await run
    with pytest.raises(ControllerUnavailableError):
        await writing
    for unchanged in (reading, waiting, scene.set("c")):
        with pytest.raises(RefusedError) as refused:
            await unchanged
        assert refused.value.code == ErrorCode.NOT_CONTROLLER
    assert scene.keys == set()


@scenario
async def test_what_could_not_be_written_has_not_taken_effect():
    scene = Scene()
    scene.log.failure = RefusedError(ErrorCode.NOT_CONTROLLER, "another term has begun")
    async with running(scene.committer.run()):
        with pytest.raises(RefusedError) as refused:
            await scene.set("a")
        assert refused.value.code == ErrorCode.NOT_CONTROLLER
        scene.log.failure = None
        await scene.set("b")

    assert scene.keys == {"b"}


@scenario
async def test_an_entry_of_the_members_that_comes_first_has_the_group_decided_again():
    """A registration's epoch is the index of its entry: it cannot be moved."""
    scene = Scene()
    scene.log.members_entries = 2
    images = []
    first, second = scene.set("a", on=images), scene.set("b", on=images)
    async with running(scene.committer.run()):
        committed = await asyncio.gather(first, second)

    assert [it.log_index for it in committed] == [3, 4]
    assert scene.log.groups == [[3, 4]]
    assert [it.index for it in images] == [0, 1, 1, 2, 2, 3]


@scenario
async def test_what_was_put_back_for_an_entry_of_the_members_has_not_taken_effect():
    scene = Scene()
    scene.log.members_entries = 1
    deposed = asyncio.Event()

    async def image_at_end():
        if not scene.log.members_entries:
            await deposed.wait()
            raise LeadershipLostError("deposed")
        return scene.log.image

    scene.log.image_at_end = image_at_end
    answer = scene.set("a")
    await asyncio.sleep(0)
    async with running(scene.committer.run()):
        await eventually(lambda: not scene.log.members_entries)
        deposed.set()
        with pytest.raises(RefusedError) as refused:
            await answer

    assert refused.value.code == ErrorCode.NOT_CONTROLLER


@scenario
async def test_a_fault_in_a_decision_ends_it_without_a_trace():
    """A bug in what owns the state: better restart than go on."""
    scene = Scene()

    def faulty(image, inputs):
        raise AssertionError("impossible")

    run = asyncio.ensure_future(scene.committer.run())
    before, fault, after = (
        scene.set("a"),
        asyncio.ensure_future(scene.committer.propose(faulty)),
        scene.set("b"),
    )

    with pytest.raises(AssertionError, match="impossible"):
        await run
    with pytest.raises(ControllerUnavailableError):
        await fault
    for unchanged in (before, after):
        with pytest.raises(RefusedError):
            await unchanged
    assert scene.log.groups == []
    assert scene.keys == set()


@scenario
async def test_long_work_lets_others_have_their_turn(monkeypatch):
    monkeypatch.setattr("headrace.turns.Work.share_s", 0.0)
    scene = Scene()
    turns = 0

    async def other():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    answers = [scene.set(str(it)) for it in range(50)]
    await asyncio.sleep(0)
    async with running(other()), running(scene.committer.run()):
        await eventually(lambda: scene.log.groups)
        assert turns >= 50
        await asyncio.gather(*answers)


async def turns_until(scene, reached):
    """Propose a change of many records; return its answer, and the turns that others had until `reached`."""
    turns = 0

    async def other():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    records = tuple(FeatureRecord(str(it), 1) for it in range(10 * STEP_RECORDS))
    change = asyncio.ensure_future(
        scene.committer.propose(lambda image, inputs: Decision(records, Done()))
    )
    await asyncio.sleep(0)
    async with running(other()), running(scene.committer.run()):
        await eventually(lambda: reached(turns))
    return change, turns


@scenario
async def test_a_change_of_many_records_lets_others_have_their_turn(monkeypatch):
    """As the deletion of a topic of 50,000 partitions."""
    monkeypatch.setattr("headrace.turns.Work.share_s", 0.0)
    scene = Scene()
    change, turns = await turns_until(scene, lambda _turns: scene.keys)
    assert len(scene.keys) == 10 * STEP_RECORDS
    assert turns >= 10
    await change


@scenario
async def test_who_stops_while_a_change_is_decided_has_written_nothing_of_it(monkeypatch):
    monkeypatch.setattr("headrace.turns.Work.share_s", 0.0)
    scene = Scene()
    change, _ = await turns_until(scene, lambda turns: turns >= 3)
    with pytest.raises(ControllerUnavailableError):
        await change
    assert scene.log.groups == []
    assert scene.keys == set()
