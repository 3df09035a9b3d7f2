"""A controller that does not lead passes requests of brokers on to the leader."""

import asyncio
from contextlib import asynccontextmanager

import msgspec
import pytest

from headrace.links.errors import NotSentError
from headrace.metadata.errors import ControllerUnavailableError, RefusedError
from headrace.metadata.leader import relays as module
from headrace.metadata.leader.relays import Relays
from headrace.metadata.leader.service import ControllerService
from headrace.metadata.rpc.frames import (
    MAX_REQUEST_BYTES,
    decode_answer,
    decode_request,
    encode_relay,
    encode_request,
    kind_of,
)
from headrace.metadata.rpc.requests import (
    BrokerGoal,
    FetchEntries,
    FetchSnapshot,
    ForgetObjects,
    Heartbeat,
    Relay,
    TellLevels,
    UnregisterBroker,
)
from headrace.metadata.rpc.responses import Relayed
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.quorum.three_controllers import controllers
from tests.unit.metadata.quorum.three_controllers import scenario as virtual
from tests.unit.metadata.running_cluster import eventually, scenario
from tests.unit.metadata.test_service import Controller

FRAME = encode_request(3, UnregisterBroker(1))


class Leader:
    """The network to it: answers when it is told to, or fails."""

    def __init__(self, failure=None):
        self.failure = failure
        self.frames = []
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def request(self, node_id, frame):
        self.frames.append((node_id, frame))
        await self.may_answer.wait()
        if self.failure is not None:
            raise self.failure
        return b"answer to " + frame


@scenario
async def test_the_answer_is_the_leader_s():
    leader = Leader()
    relays = Relays(leader)

    assert await relays.pass_on(7, FRAME) == b"answer to " + FRAME

    assert leader.frames == [(7, FRAME)]
    assert relays.statistics.passed_on == 1


@scenario
async def test_every_answer_is_asked_for():
    leader = Leader()
    relays = Relays(leader)
    heartbeat = encode_request(1, Heartbeat(1, 1, 1, BrokerGoal.SERVE))

    for _ in range(3):
        await relays.pass_on(7, heartbeat)

    assert len(leader.frames) == 3, "an answer extends a lease: none is used twice"


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (NotSentError("nobody"), RefusedError),
        (ConnectionResetError("lost"), ControllerUnavailableError),
    ],
)
def test_what_was_not_sent_is_told_from_what_may_have_taken_effect(failure, error):
    @scenario
    async def run():
        relays = Relays(Leader(failure))
        with pytest.raises(error) as raised:
            await relays.pass_on(7, FRAME)
        if error is RefusedError:
            assert raised.value.code == ErrorCode.NOT_CONTROLLER
        assert relays.statistics.failures == 1

    run()


@pytest.mark.parametrize("bound", ["MAX_RELAYED", "MAX_RELAYED_BYTES"])
def test_what_waits_is_bounded(monkeypatch, bound):
    monkeypatch.setattr(module, bound, 2 if bound == "MAX_RELAYED" else 2 * len(FRAME))

    @scenario
    async def run():
        leader = Leader()
        leader.may_answer.clear()
        relays = Relays(leader)
        waiting = [asyncio.create_task(relays.pass_on(7, FRAME)) for _ in range(2)]
        await eventually(lambda: len(leader.frames) == 2)

        with pytest.raises(RefusedError, match="being passed on") as refused:
            await asyncio.wait_for(relays.pass_on(7, FRAME), 5)
        assert refused.value.code == ErrorCode.THROTTLING_QUOTA_EXCEEDED
        assert relays.statistics.refused == 1

        waiting[0].cancel()
        leader.may_answer.set()
        await asyncio.gather(*waiting, return_exceptions=True)
        await relays.pass_on(7, FRAME)

    run()


@asynccontextmanager
async def filled(monkeypatch, kind, count):
    """Relays of which `count` requests of a kind are not answered yet, at bounds that are small; then all are."""
    monkeypatch.setattr(module, "MAX_RELAYED", 4)
    monkeypatch.setattr(module, "MAX_RELAYED_READS", 2)
    monkeypatch.setattr(module, "HEARTBEAT_RESERVE", 2)
    leader = Leader()
    leader.may_answer.clear()
    relays = Relays(leader)
    waiting = [asyncio.create_task(relays.pass_on(7, FRAME, kind)) for _ in range(count)]
    await eventually(lambda: len(leader.frames) == count)
    yield leader, relays, waiting
    leader.may_answer.set()
    await asyncio.gather(*waiting)


async def refused(relays, kind):
    with pytest.raises(RefusedError) as raised:
        await asyncio.wait_for(relays.pass_on(7, FRAME, kind), 5)
    return raised.value.code == ErrorCode.THROTTLING_QUOTA_EXCEEDED


def test_heartbeats_have_room_that_others_do_not_use_up(monkeypatch):
    @scenario
    async def run():
        async with filled(monkeypatch, None, 4) as (leader, relays, waiting):
            assert await refused(relays, None)
            monkeypatch.setattr(module, "MAX_RELAYED_BYTES", 1)
            waiting += [asyncio.create_task(relays.pass_on(7, FRAME, Heartbeat)) for _ in range(2)]
            await eventually(lambda: len(leader.frames) == 6)
            assert await refused(relays, Heartbeat)

    run()


def test_reads_that_wait_for_entries_leave_half_for_others(monkeypatch):
    @scenario
    async def run():
        async with filled(monkeypatch, FetchEntries, 2) as (leader, relays, waiting):
            assert await refused(relays, FetchEntries)
            assert await refused(relays, FetchSnapshot)
            waiting.append(asyncio.create_task(relays.pass_on(7, FRAME)))
            await eventually(lambda: len(leader.frames) == 3)
        await relays.pass_on(7, FRAME, FetchEntries)

    run()


@pytest.mark.parametrize(
    "request_",
    [
        Heartbeat(1, 1, 1, BrokerGoal.SERVE),
        FetchEntries(1, 1, 1),
        FetchSnapshot(1, 1, 1),
        UnregisterBroker(1),
    ],
)
def test_what_a_request_is_counts_for_the_room_that_it_gets(request_):
    class Noting(Relays):
        async def pass_on(self, leader_id, frame, kind=None):
            kinds.append(kind)
            return await super().pass_on(leader_id, frame, kind)

    kinds = []

    @scenario
    async def run():
        follower = Controller()
        follower.relays = Noting(Leader())
        await ControllerService(follower).handle(encode_relay(1, encode_request(3, request_)))
        assert kinds == [None if isinstance(request_, UnregisterBroker) else type(request_)]

    run()


@scenario
async def test_a_request_is_passed_on_once():
    leader = Leader()
    follower = Controller()
    follower.relays = Relays(leader)
    service = ControllerService(follower)

    answer = decode_answer(await service.handle(encode_relay(1, FRAME)), 1)
    assert answer.body == Relayed(b"answer to " + FRAME)
    assert leader.frames == [(3, FRAME)]

    for again in (encode_relay(2, FRAME), encode_relay(2, encode_relay(3, FRAME)), b"", FRAME[:5]):
        answer = decode_answer(await service.handle(encode_relay(1, again)), 1)
        assert answer.error == ErrorCode.INVALID_REQUEST
    assert len(leader.frames) == 1


HEADER = encode_relay(9, b"")[:9]
ARRAYS = (b"\x92", b"\xdc\x00\x02", b"\xdd\x00\x00\x00\x02")
TAGS = (
    *(b"\x41", b"\xcc\x41", b"\xcd\x00\x41", b"\xce" + bytes(3) + b"\x41"),
    *(b"\xcf" + bytes(7) + b"\x41", b"\xd0\x41", b"\xd1\x00\x41"),
    *(b"\xd2" + bytes(3) + b"\x41", b"\xd3" + bytes(7) + b"\x41"),
)


@pytest.mark.parametrize("leads", [True, False])
def test_a_relay_in_a_relay_is_refused_however_it_is_encoded(leads):
    @scenario
    async def run():
        network, controller = Leader(), Controller()
        controller.relays = Relays(network)
        if leads:
            controller.leader_address = None
        service = ControllerService(controller)
        for array in ARRAYS:
            for tag in TAGS:
                held = msgspec.msgpack.encode(FRAME)
                relay = HEADER + array + tag + held
                assert decode_request(relay).request == Relay(FRAME)
                assert kind_of(relay) is Relay
                answer = decode_answer(await service.handle(encode_relay(1, relay)), 1)
                assert answer.error == ErrorCode.INVALID_REQUEST
        assert network.frames == []

    run()


@pytest.mark.parametrize("tag", [b"\x41", b"\xcd\x00\x41"])
@pytest.mark.parametrize("leads", [True, False])
def test_relays_in_each_other_as_deep_as_a_frame_has_room_cost_an_answer(leads, tag):
    @scenario
    async def run():
        network, controller = Leader(), Controller()
        controller.relays = Relays(network)
        if leads:
            controller.leader_address = None
        frame = FRAME
        for _ in range(2_000):
            frame = HEADER + b"\x92" + tag + msgspec.msgpack.encode(frame)
        answer = decode_answer(await ControllerService(controller).handle(frame), 9)
        assert answer.error == ErrorCode.INVALID_REQUEST
        assert network.frames == []

    run()


@scenario
async def test_what_is_nested_too_deep_to_be_read_is_answered():
    for deep in (b"\x91" * 100_000 + b"\x41", b"\x92\x41" + b"\x91" * 100_000 + b"\x41"):
        frame = HEADER + deep
        service = ControllerService(Controller())
        assert decode_answer(await service.handle(frame), 9).error == ErrorCode.INVALID_REQUEST
        answer = decode_answer(await service.handle(encode_relay(1, frame)), 1)
        assert answer.error == ErrorCode.INVALID_REQUEST


def test_the_largest_request_can_be_passed_on():
    ids = (1 << 40,) * (MAX_REQUEST_BYTES // 9 - 10)  # of nine bytes each
    frame = encode_request(1, ForgetObjects(1, 1, ids), bytes(16))

    relay = encode_relay(2, frame)

    assert kind_of(relay) is Relay
    assert kind_of(frame) is not Relay
    assert decode_request(relay).request.frame == frame


@virtual
async def test_who_leads_meanwhile_answers_itself(tmp_path):
    async with controllers(tmp_path) as cluster:
        leader = await cluster.leader()
        others = cluster.others(leader)
        for node in (leader, *others):
            relayed = decode_answer(await node.handle(encode_relay(1, FRAME)), 1)
            assert decode_answer(relayed.body.frame, 3).error == ErrorCode.BROKER_ID_NOT_REGISTERED
        assert [it.relays.statistics.passed_on for it in others] == [1, 1]
        assert leader.relays.statistics.passed_on == 0


def test_a_relay_of_nothing_is_none():
    assert kind_of(encode_request(1, TellLevels())) is None
