import asyncio
import random

import pytest

from metadata import commits
from metadata.commits import Committer
from metadata.controller.decision import ConfigRules, Decision, Inputs
from metadata.entry_buffer import EntryBuffer
from metadata.errors import (
    ControllerUnavailableError,
    MetadataLogFailedError,
    RefusedError,
)
from metadata.image import MetadataImage
from metadata.records.cluster import KeyValueRecord
from metadata.rpc.responses import Done
from protocol.errors import ErrorCode
from tests.unit.metadata.running_cluster import eventually, running, scenario

INPUTS = Inputs(0, random.Random(1), ConfigRules(validate_topic=lambda name, value: None))


class Store:
    """A log whose writes end when the test says so."""

    def __init__(self):
        self.groups = []
        self.open_writes = asyncio.Event()
        self.open_writes.set()
        self.failure = None

    async def append(self, entries):
        self.groups.append([it.index for it in entries])
        await self.open_writes.wait()
        if self.failure is not None:
            raise self.failure


class Scene:
    def __init__(self):
        self.store = Store()
        self.entries = EntryBuffer(0)
        self.seen = []
        self.committer = Committer(
            self.store,
            self.entries,
            MetadataImage(term=1),
            inputs=lambda: INPUTS,
            on_commit=lambda old, new: self.seen.append((old.index, new.index)),
        )

    def set(self, key, *, on=None):
        """Propose to set a key; `on` gets the image that it is decided on."""

        def decide(image, inputs):
            if on is not None:
                on.append(image)
            return Decision((KeyValueRecord(key, b""),), Done())

        return asyncio.ensure_future(self.committer.propose(decide))

    @property
    def keys(self):
        return set(self.committer.image.key_values)


@scenario
async def test_a_proposal_is_answered_when_it_is_durable():
    scene = Scene()
    async with running(scene.committer.run()):
        committed = await scene.set("a")

    assert committed == (Done(), 1)
    assert scene.keys == {"a"}
    assert scene.entries.end_index == 1
    assert scene.seen == [(0, 1)]


@scenario
async def test_nothing_shows_before_it_is_durable():
    """M-8."""
    scene = Scene()
    scene.store.open_writes.clear()
    async with running(scene.committer.run()):
        answer = scene.set("a")
        await eventually(lambda: scene.store.groups)

        assert scene.keys == set()
        assert scene.entries.end_index == 0
        assert not answer.done()
        scene.store.open_writes.set()
        await answer

    assert scene.keys == {"a"}


@scenario
async def test_what_comes_during_a_write_shares_the_next():
    scene = Scene()
    scene.store.open_writes.clear()
    images = []
    async with running(scene.committer.run()):
        first = scene.set("a")
        await eventually(lambda: scene.store.groups)
        rest = [scene.set(key, on=images) for key in "bcd"]
        await eventually(lambda: len(scene.committer._proposals) == 3)
        scene.store.open_writes.set()
        committed = await asyncio.gather(first, *rest)

    assert scene.store.groups == [[1], [2, 3, 4]]
    assert [it.log_index for it in committed] == [1, 2, 3, 4]
    assert [set(it.key_values) for it in images] == [{"a"}, {"a", "b"}, {"a", "b", "c"}]


@scenario
async def test_a_group_is_bounded(monkeypatch):
    monkeypatch.setattr(commits, "GROUP_PROPOSALS_MAX", 2)
    scene = Scene()
    answers = [scene.set(key) for key in "abcde"]
    await asyncio.sleep(0)
    async with running(scene.committer.run()):
        await asyncio.gather(*answers)

    assert scene.store.groups == [[1, 2], [3, 4], [5]]


@scenario
async def test_a_refusal_costs_no_write():
    scene = Scene()

    def refuse(image, inputs):
        raise RefusedError(ErrorCode.INVALID_REQUEST, "no")

    async with running(scene.committer.run()):
        with pytest.raises(RefusedError):
            await scene.committer.propose(refuse)

    assert scene.store.groups == []


@scenario
async def test_a_decision_without_records_rests_on_what_was_decided_before_it():
    """Its answer may tell of an entry of the same group: not before that is durable."""
    scene = Scene()
    scene.store.open_writes.clear()
    writing = scene.set("a")
    reading = asyncio.ensure_future(
        scene.committer.propose(lambda image, inputs: Decision((), Done()))
    )
    await asyncio.sleep(0)
    async with running(scene.committer.run()):
        await eventually(lambda: scene.store.groups)
        await asyncio.sleep(0)
        assert not reading.done()
        scene.store.open_writes.set()
        await writing
        assert (await reading).log_index == 1


@scenario
async def test_an_entry_too_large_for_the_log_is_refused(monkeypatch):
    monkeypatch.setattr(commits, "PAYLOAD_BYTES_MAX", 100)
    scene = Scene()
    async with running(scene.committer.run()):
        with pytest.raises(RefusedError) as error:
            await scene.set("k" * 200)
        await scene.set("a")

    assert error.value.code == ErrorCode.RECORD_LIST_TOO_LARGE
    assert scene.keys == {"a"}


@scenario
async def test_too_many_proposals_are_refused(monkeypatch):
    monkeypatch.setattr(commits, "PROPOSALS_MAX", 2)
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
    scene.store.open_writes.clear()
    async with running(scene.committer.run()):
        gone, stays = scene.set("gone"), scene.set("stays")
        await eventually(lambda: scene.store.groups)
        gone.cancel()
        scene.store.open_writes.set()
        await stays

    assert scene.keys == {"gone", "stays"}


@scenario
async def test_a_failed_log_ends_it_and_leaves_the_outcome_open():
    scene = Scene()
    scene.store.open_writes.clear()
    scene.store.failure = MetadataLogFailedError("broken")
    run = asyncio.ensure_future(scene.committer.run())
    writing = scene.set("a")
    await eventually(lambda: scene.store.groups)
    waiting = scene.set("b")
    await asyncio.sleep(0)
    scene.store.open_writes.set()

    with pytest.raises(MetadataLogFailedError):
        await run
    with pytest.raises(ControllerUnavailableError):
        await writing
    with pytest.raises(RefusedError) as refused:
        await waiting
    assert refused.value.code == ErrorCode.NOT_CONTROLLER
    with pytest.raises(RefusedError):
        await scene.set("c")
    assert scene.keys == set()


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
    for unknown in (before, fault):
        with pytest.raises(ControllerUnavailableError):
            await unknown
    with pytest.raises(RefusedError):
        await after
    assert scene.store.groups == []
    assert scene.keys == set()


@scenario
async def test_long_work_lets_others_have_their_turn(monkeypatch):
    monkeypatch.setattr(commits, "LOOP_SLICE_S", 0)
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
        await eventually(lambda: scene.store.groups)
        assert turns >= 50
        await asyncio.gather(*answers)
