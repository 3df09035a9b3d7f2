import asyncio
import random
import threading

import pytest

from headrace.metadata.errors import (
    ControllerUnavailableError,
    MetadataDivergedError,
    MetadataFormatError,
    MetadataVersionError,
)
from headrace.metadata.follower import follower as module
from headrace.metadata.follower.follower import LogFollower
from headrace.metadata.follower.requester import Requester
from headrace.metadata.levels import METADATA_FEATURE, NEWEST
from headrace.metadata.log.snapshot_format import encode_snapshot
from headrace.metadata.records.cluster import FeatureRecord
from headrace.metadata.records.codec import encode_records
from headrace.metadata.records.entry import LogEntry
from headrace.metadata.rpc.frames import Answer, decode_correlation, decode_request, encode_answer
from headrace.metadata.rpc.requests import FetchSnapshot
from headrace.metadata.rpc.responses import Done, Entries, SnapshotChunk
from headrace.protocol.errors import ErrorCode
from tests.simulation import virtual_time
from tests.unit.metadata.running_cluster import eventually, running, scenario


class Log:
    """A controller that has nothing but a log; entries below `first` are in its snapshot."""

    def __init__(self, entries):
        self.entries = list(entries)
        self.first = 1
        self.snapshot = None
        self.snapshot_index = 0
        self.answers = []  # instead of the true ones, in turn

    async def request(self, frame, *, within_ms=None):
        await asyncio.sleep(0)
        request = decode_request(frame).request
        answer = self.answers.pop(0) if self.answers else self._answer(request)
        if isinstance(answer, Exception):
            raise answer
        if not isinstance(answer, Answer):
            answer = Answer(ErrorCode.NONE, None, 0, answer)
        return encode_answer(decode_correlation(frame), answer)

    def _answer(self, request):
        if isinstance(request, FetchSnapshot):
            if request.snapshot_index != self.snapshot_index:
                return Answer(ErrorCode.SNAPSHOT_NOT_FOUND, "replaced", -1, None)
            data = self.snapshot[request.position : request.position + 64]
            return SnapshotChunk(self.snapshot_index, request.position, len(self.snapshot), data)
        end = self.entries[-1].index
        if request.from_index > end + 1:
            return Answer(ErrorCode.POSITION_OUT_OF_RANGE, "ahead", -1, None)
        if request.from_index < self.first:
            return Entries((), end, self.snapshot_index)
        found = [it for it in self.entries if it.index >= request.from_index]
        return Entries(tuple(found[:3]), end, -1)

    def take_snapshot(self, image):
        self.snapshot = b"".join(encode_snapshot(image))
        self.snapshot_index = image.index
        self.first = image.index + 1


def following(log, **options):
    return LogFollower(Requester(log, random.Random(1)), 1_000, **options)


async def caught_up(follower, controller):
    while follower.image.index < controller.image.index:
        await follower.advance(0)
    return follower.image


@scenario
async def test_a_node_that_cannot_read_the_level_is_told_so_and_does_not_ask_again(controller):
    log = Log(controller.entries)
    log.answers = [Answer(ErrorCode.UNSUPPORTED_VERSION, "upgrade this node", -1, None)]

    with pytest.raises(MetadataVersionError, match="upgrade this node"):
        await following(log).run()


@scenario
async def test_an_entry_above_what_this_release_reads_ends_the_follower(controller):
    entries = [*controller.entries]
    later = encode_records((FeatureRecord(METADATA_FEATURE, NEWEST + 1),))
    entries.append(LogEntry(entries[-1].index + 1, 1, later))
    entries.append(LogEntry(entries[-1].index + 1, 1, b"\x01\x91\x91\x5a"))  # an unknown record

    with pytest.raises(MetadataVersionError, match=f"the cluster is at {NEWEST + 1}: upgrade"):
        await following(Log(entries)).run()


@scenario
async def test_the_image_is_the_controllers(controller):
    controller.create("a", 3)
    log = Log(controller.entries)

    assert await caught_up(following(log), controller) == controller.image


@scenario
async def test_the_lag_is_what_the_controller_had_more_when_it_answered(controller):
    controller.create("a")
    controller.create("b")
    follower = following(Log(controller.entries))
    assert follower.lag == 0
    await follower.advance(0)
    assert follower.lag == controller.image.index - 3 > 0
    await caught_up(follower, controller)
    assert follower.lag == 0


@scenario
async def test_listeners_hear_of_each_batch(controller):
    controller.create("a")
    controller.create("b")
    follower = following(Log(controller.entries))
    heard = []
    follower.subscribe(lambda old, new: heard.append((old.index, new.index)))

    await caught_up(follower, controller)

    assert heard == [(0, 3), (3, 5)]
    await follower.advance(0)
    assert len(heard) == 2


@scenario
async def test_what_comes_before_a_change_takes_many_steps(controller, monkeypatch):
    """Each lets others have their turn; the image changes after the last, together with the listeners' call."""
    monkeypatch.setattr("headrace.turns.Work.share_s", 0.0)
    controller.create("a")
    follower = following(Log(controller.entries))
    seen = []

    def prepare(old, new):
        for step in range(3 if new.topic("a") else 0):
            seen.append((step, follower.image is old, new.topic("a") is not None))
            asyncio.get_running_loop().call_soon(seen.append, "others")
            yield

    follower.subscribe(lambda _old, new: seen.append(new.topic("a") is not None), prepare)
    await caught_up(follower, controller)
    seen.remove(False)  # the change before
    steps = [entry for entry in seen if isinstance(entry, tuple)]
    assert steps == [(step, True, True) for step in range(3)]
    assert seen[1::2] == ["others"] * 3
    assert seen[-1] is True


@scenario
async def test_what_the_controller_of_this_process_has_replayed_is_taken_over(controller):
    controller.create("a")
    log = Log(controller.entries)
    follower = following(log, replayed=lambda: controller.image)
    heard = []
    follower.subscribe(lambda old, new: heard.append((old.index, new.index)))

    await follower.advance(0)
    assert follower.image is controller.image
    assert follower.lag == 0
    log.take_snapshot(controller.image)  # of which a second broker needs nothing
    log.answers = [Entries((), controller.image.index, log.snapshot_index)]
    second = following(log, replayed=lambda: controller.image)
    await second.advance(0)
    assert second.image is controller.image

    controller.create("b")
    log.entries = controller.entries
    await follower.advance(0)
    assert follower.image is controller.image
    assert [old for old, _ in heard] == [0, heard[0][1]]
    log.answers = [Entries(tuple(controller.entries[:1]), controller.image.index, -1)]
    with pytest.raises(MetadataDivergedError):
        await follower.advance(0)


@scenario
async def test_a_controller_of_this_process_that_is_behind_is_not_waited_for(controller):
    behind = controller.image
    controller.create("a")
    follower = following(Log(controller.entries), replayed=lambda: behind)
    assert await caught_up(follower, controller) == controller.image


@scenario
async def test_who_waits_is_woken(controller):
    controller.create("a")
    follower = following(Log(controller.entries))
    waiting = asyncio.ensure_future(follower.wait_until(lambda image: image.topic("a") is not None))
    await asyncio.sleep(0)
    assert not waiting.done()

    await caught_up(follower, controller)

    await waiting


@scenario
async def test_what_is_gone_from_the_log_is_read_from_the_snapshot(controller):
    controller.create("a", 5)
    log = Log(controller.entries)
    log.take_snapshot(controller.image)
    controller.create("b")
    log.entries = controller.entries
    follower = following(log)
    heard = []
    follower.subscribe(lambda old, new: heard.append((old.index, new.index)))

    assert await caught_up(follower, controller) == controller.image
    assert heard[0] == (0, log.snapshot_index)


@scenario
async def test_a_snapshot_replaced_while_it_is_read_is_begun_anew(controller, monkeypatch):
    monkeypatch.setattr(module, "RETRY_MS", 0)
    controller.create("a", 5)
    log = Log(controller.entries)
    log.take_snapshot(controller.image)
    log.answers = [Entries((), 9, 2)]  # an older snapshot, which is not there any more
    follower = following(log)

    await follower.advance(0)
    assert follower.image.index == 0

    assert await caught_up(follower, controller) == controller.image


@scenario
async def test_long_batches_let_others_have_their_turn(controller, monkeypatch):
    monkeypatch.setattr("headrace.turns.Work.share_s", 0.0)
    controller.create("a")
    follower = following(Log(controller.entries))
    turns = 0

    async def other():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with running(other()):
        await follower.advance(0)

    assert turns >= 3


@scenario
async def test_a_large_snapshot_is_read_beside_the_loop(controller, monkeypatch):
    log = Log(controller.entries)
    log.take_snapshot(controller.image)
    decode, turn = module.decode_snapshot, threading.Event()

    def decode_after_a_turn(data):
        assert turn.wait(10), "the loop has stood still"
        return decode(data)

    async def other():
        while True:
            await asyncio.sleep(0)
            turn.set()

    monkeypatch.setattr(module, "decode_snapshot", decode_after_a_turn)
    follower = following(log)
    async with running(other()):
        await caught_up(follower, controller)


def test_a_controller_that_refuses_at_once_is_not_asked_without_end(controller):
    refusal = Answer(ErrorCode.INVALID_REQUEST, "of another version", -1, None)
    log = Log(controller.entries)

    async def follow(*answers):
        log.answers = list(answers) * 1_000
        follower = following(log)
        async with running(follower.run()):
            await asyncio.sleep(10)
        return len(answers) * 1_000 - len(log.answers)

    assert 20 < virtual_time.run(follow(refusal)) < 100
    assert 20 < virtual_time.run(follow(Entries((), 9, 5), refusal)) < 200


@scenario
async def test_outages_are_survived(controller):
    log = Log(controller.entries)
    log.answers = [ConnectionResetError("gone")] * 3
    follower = following(log)
    async with running(follower.run()):
        await follower.wait_until(lambda image: image.index == controller.image.index)


@scenario
async def test_a_controller_that_stays_away_is_reported(controller):
    log = Log(controller.entries)
    log.answers = [ConnectionResetError("gone")] * 1_000
    follower = LogFollower(Requester(log, random.Random(1)), 30)

    with pytest.raises(ControllerUnavailableError):
        await follower.advance(0)


@scenario
async def test_a_controller_that_has_less_is_not_followed(controller):
    log = Log(controller.entries)
    follower = following(log)
    await caught_up(follower, controller)
    log.entries = log.entries[:-2]

    run = asyncio.ensure_future(follower.run())
    with pytest.raises(MetadataDivergedError):
        await run


@scenario
async def test_entries_that_do_not_follow_are_refused(controller):
    controller.create("a")
    for wrong in (
        (controller.entries[1],),
        (controller.entries[0], controller.entries[2]),
    ):
        log = Log(controller.entries)
        log.answers = [Entries(wrong, 9, -1)]
        with pytest.raises(MetadataDivergedError):
            await following(log).advance(0)


@scenario
async def test_an_older_snapshot_is_refused(controller):
    log = Log(controller.entries)
    log.take_snapshot(controller.image)
    controller.create("a")
    log.entries = controller.entries
    follower = following(log)
    await caught_up(follower, controller)
    log.answers = [Entries((), 9, log.snapshot_index)]

    with pytest.raises(MetadataDivergedError):
        await follower.advance(0)


@pytest.mark.parametrize(
    "answers",
    [
        [Done()],
        [Entries((), 9, 5), Done()],
        [Entries((), 9, 5), SnapshotChunk(5, 0, 10, b"")],
        [Entries((), 9, 5), SnapshotChunk(5, 0, 1 << 60, b"x")],
    ],
)
def test_answers_that_make_no_sense_are_refused(answers, controller):
    @scenario
    async def run():
        log = Log(controller.entries)
        log.answers = list(answers)
        with pytest.raises(MetadataFormatError):
            await following(log).advance(0)

    run()


@scenario
async def test_waiting_ends_with_what_the_condition_raises(controller):
    follower = following(Log(controller.entries))
    fail = False

    def condition(image):
        if fail:
            raise RuntimeError("fenced")
        return False

    waiting = asyncio.ensure_future(follower.wait_until(condition))
    await asyncio.sleep(0)
    fail = True
    follower.wake()
    await eventually(waiting.done)

    with pytest.raises(RuntimeError, match="fenced"):
        await waiting
