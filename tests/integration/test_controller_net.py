"""Controllers and brokers over real sockets: what is lost, what is noticed, and what nobody can do to them."""

import asyncio
import contextlib
import logging
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import time
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from uuid import UUID

import pytest
import uvloop

from headrace.config.node import Endpoint
from headrace.links import accepted, dialling, listener, requests
from headrace.links import messages as link_messages
from headrace.links.ends import Address, Party
from headrace.links.errors import NotSentError
from headrace.links.framing import (
    KEEPALIVE,
    MAX_BODY_BYTES,
    MAX_HELLO_BYTES,
    Hello,
    decode_hello,
    decode_numbered,
    encode_hello,
    encode_numbered,
)
from headrace.links.kinds import REFUSED
from headrace.links.listener import LinkListener
from headrace.links.services import RequestService
from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.levels import READ_HERE
from headrace.metadata.net import peer_service, quorum_transport
from headrace.metadata.net.kinds import MAX_REQUEST_BODY_BYTES, PEER, RPC
from headrace.metadata.net.peer_links import PeerLinks
from headrace.metadata.net.peer_messages import encode_message
from headrace.metadata.net.peer_service import PeerService
from headrace.metadata.net.quorum_transport import LocalController, QuorumTransport
from headrace.metadata.raft.messages import AppendRequest, TimeoutNow
from headrace.metadata.records.entry import LogEntry
from headrace.metadata.rpc.frames import (
    Answer,
    LeaderAddress,
    decode_correlation,
    decode_request,
    encode_answer,
    kind_of,
)
from headrace.metadata.rpc.requests import Relay
from headrace.metadata.rpc.responses import LevelsTold, Relayed
from headrace.metadata.transport import LocalTransport
from headrace.network import SocketNetwork
from headrace.protocol.errors import ErrorCode
from tests.environment.ports import free_port

CLUSTER = "a-cluster"
LOOPS = {"uvloop": uvloop.new_event_loop, "asyncio": asyncio.new_event_loop}


def scenario(test, loops=tuple(LOOPS)):
    """Run an `async def` test on the loop that production uses, and on asyncio's own."""

    @pytest.mark.parametrize("loop", loops)
    def run(loop, monkeypatch, caplog):
        caplog.set_level(logging.INFO, "headrace.metadata")
        arguments = {"monkeypatch": monkeypatch, "caplog": caplog}
        wanted = test.__code__.co_varnames[: test.__code__.co_argcount]
        with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
            runner.run(
                asyncio.wait_for(test(**{name: arguments[name] for name in wanted}), timeout=20)
            )

    run.__name__ = test.__name__
    run.__doc__ = test.__doc__
    return run


slow_scenario = partial(scenario, loops=("uvloop",))


def party(node_id, cluster_id=CLUSTER):
    return Party(cluster_id, node_id, UUID(int=node_id))


def message(source, target, term=1):
    return TimeoutNow(source=source, target=target, term=term, source_directory=UUID(int=source))


def append(source, target, size_bytes):
    return AppendRequest(
        source=source,
        target=target,
        term=1,
        source_directory=UUID(int=source),
        previous_index=1,
        previous_term=1,
        entries=(LogEntry(2, 1, bytes(size_bytes)),),
        commit_index=0,
        round=0,
    )


async def until(condition, within_s=5.0):
    """Let real time pass until a condition holds."""
    async with asyncio.timeout(within_s):
        while not condition():
            await asyncio.sleep(0.005)


class Controller:
    """A listener on a port that stays the same, with what it has received."""

    def __init__(self, node_id, *, cluster_id=CLUSTER, port=0, kind=RPC):
        self.kind = kind
        self.peers = None
        self.party = party(node_id, cluster_id)
        self.address = Address("127.0.0.1", port or free_port())
        self.messages = []
        self.frames = []
        self.links = None
        self.release = asyncio.Event()
        self.listener = None

    async def handle(self, frame):
        self.frames.append(frame)
        if frame == b"fail":
            raise ValueError("a bug")
        if frame.startswith(b"wait"):
            await self.release.wait()
        if frame.startswith(b"size "):
            return bytes(int(frame[5:]))
        return b"%d:" % self.party.node_id + frame

    @asynccontextmanager
    async def running(self, late=None):
        """Serve; with an event, listen and accept nobody before it is set."""
        self.peers = PeerService(
            self.messages.append,
            lambda: self.party,
            on_peer=lambda node_id: self.links and self.links.dial_now(node_id),
        )
        self.listener = LinkListener(
            Endpoint("CONTROLLER", *self.address),
            (RequestService(self.kind, self.handle), self.peers),
            lambda: self.party,
            network=SocketNetwork(),
        )
        await self.listener.bind()

        async def run():
            if late is not None:
                await late.wait()
            await self.listener.run()

        task = asyncio.create_task(run())
        try:
            yield self
        finally:
            task.cancel()
            await self.listener.shutdown()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    @asynccontextmanager
    async def linked(self, *others):
        """Keep links to other controllers."""
        self.links = PeerLinks(
            lambda: self.party, SocketNetwork(), random.Random(self.party.node_id)
        )
        self.links.set_addresses({other.party.node_id: other.address for other in others})
        task = asyncio.create_task(self.links.run())
        try:
            yield self.links
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


def transport_to(*controllers, **options):
    bootstrap = [controller.address for controller in controllers]
    return QuorumTransport(bootstrap, lambda: party(9), SocketNetwork(), **options)


class RawConnection:
    """A connection that the test itself drives, byte by byte."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    @classmethod
    async def to(cls, address, kind=None, who=None):
        raw = cls(*await asyncio.open_connection(*address))
        if kind is not None:
            raw.writer.write(encode_hello(Hello(kind, who or party(8))))
            raw.hello = decode_hello(await raw.read_body())
        return raw

    async def read_body(self):
        length = int.from_bytes(await self.reader.readexactly(4), "big")
        return await self.reader.readexactly(length)

    async def read_answer(self):
        """The next answer that is no beat."""
        while True:
            answer = decode_numbered(await self.read_body())
            if answer.number != KEEPALIVE:
                return answer

    async def ended(self):
        """Wait until the other end closes it."""
        with contextlib.suppress(ConnectionError):
            while await self.reader.read(1 << 16):
                pass
        self.writer.close()


# Requests


@scenario
async def test_requests_share_a_connection_and_are_answered_as_they_are_done():
    async with Controller(1).running() as controller:
        transport = transport_to(controller)
        waiting = asyncio.create_task(transport.request(b"wait for me"))
        await until(lambda: controller.frames)

        answers = await asyncio.gather(*(transport.request(b"%d" % n) for n in range(1000)))

        assert answers == [b"1:%d" % n for n in range(1000)]
        assert not waiting.done()
        assert controller.listener.statistics.connections == 1
        controller.release.set()
        assert await waiting == b"1:wait for me"
        assert transport.statistics.dials == 1
        transport.close()


@scenario
async def test_a_large_frame_passes_both_ways():
    async with Controller(1).running() as controller:
        transport = transport_to(controller)
        frame = bytes(range(256)) * (1 << 15)  # 8 MiB

        assert await transport.request(frame) == b"1:" + frame
        assert await transport.request(b"size 40000000") == bytes(40_000_000)
        transport.close()


@scenario
async def test_requests_beyond_the_bound_wait_in_the_socket():
    async with Controller(1, kind=RPC._replace(max_inflight=3)).running() as controller:
        raw = await RawConnection.to(controller.address, RPC.number)
        raw.writer.write(b"".join(encode_numbered(n, b"wait") for n in range(1, 11)))
        await until(lambda: len(controller.frames) == 3)
        other = await RawConnection.to(controller.address, RPC.number)
        other.writer.write(encode_numbered(1, b"a"))
        await other.read_answer()  # whatever was to come has come
        assert controller.listener.statistics.requests_inflight == 3

        controller.release.set()

        assert sorted([(await raw.read_answer()).number for _ in range(10)]) == [*range(1, 11)]


@scenario
async def test_bytes_under_way_are_bounded_over_all_connections(monkeypatch):
    monkeypatch.setattr(listener, "MAX_REQUEST_BYTES", 100)
    monkeypatch.setattr(accepted, "SMALL_FRAME_BYTES", 16)
    async with Controller(1).running() as controller:
        first = await RawConnection.to(controller.address, RPC.number)
        second = await RawConnection.to(controller.address, RPC.number)
        first.writer.write(encode_numbered(1, b"wait" + bytes(50)))
        await until(lambda: controller.frames)
        second.writer.write(encode_numbered(1, bytes(50)))
        small = await RawConnection.to(controller.address, RPC.number)
        small.writer.write(encode_numbered(1, b"a"))
        await small.read_answer()
        assert len(controller.frames) == 2  # the large one waits

        controller.release.set()

        assert (await second.read_answer()).payload == b"1:" + bytes(50)


@scenario
async def test_who_is_kept_waiting_does_not_run_out_of_time(monkeypatch):
    monkeypatch.setattr(listener, "MAX_REQUEST_BYTES", 100)
    monkeypatch.setattr(accepted, "SMALL_FRAME_BYTES", 16)
    monkeypatch.setattr(listener, "KEEPALIVE_MS", 20)
    monkeypatch.setattr(accepted, "FRAME_MS", 100)
    async with Controller(1).running() as controller:
        first = await RawConnection.to(controller.address, RPC.number)
        second = await RawConnection.to(controller.address, RPC.number)
        first.writer.write(encode_numbered(1, b"wait" + bytes(50)))
        await until(lambda: controller.frames)
        frame = encode_numbered(1, bytes(50))
        second.writer.write(frame[:2])
        connections = controller.listener._connections
        await until(lambda: any(it._reader.pending_bytes for it in connections))
        second.writer.write(frame[2:])
        await asyncio.sleep(0.2)
        assert controller.listener.statistics.connections == 2

        controller.release.set()

        assert (await second.read_answer()).payload == b"1:" + bytes(50)


@scenario
async def test_what_was_being_read_is_counted_out_when_its_connection_ends(monkeypatch):
    monkeypatch.setattr(listener, "MAX_REQUEST_BYTES", 100)
    monkeypatch.setattr(accepted, "SMALL_FRAME_BYTES", 16)
    async with Controller(1).running() as controller:
        broken = await RawConnection.to(controller.address, RPC.number)
        broken.writer.write(encode_numbered(1, bytes(80))[:-1])
        await until(lambda: controller.listener._request_bytes.total)
        waits = await RawConnection.to(controller.address, RPC.number)
        waits.writer.write(encode_numbered(1, bytes(50)))
        broken.writer.close()

        assert (await waits.read_answer()).payload == b"1:" + bytes(50)


async def hold_frames(address, number, came_bytes=0):
    """Connections that each begin a frame of the greatest length."""
    held = [await RawConnection.to(address, RPC.number) for _ in range(number)]
    for raw in held:
        raw.writer.write(struct.pack(">I", MAX_REQUEST_BODY_BYTES) + bytes(came_bytes))
    return held


@scenario
async def test_frames_that_are_declared_and_not_sent_hold_nobody_up():
    async with Controller(1).running() as controller:
        held = await hold_frames(controller.address, 40)
        await until(
            lambda: sum(it._reader.pending_bytes == 4 for it in controller.listener._connections)
        )
        transport = transport_to(controller)

        assert await transport.request(b"heartbeat") == b"1:heartbeat"
        assert await transport.request(bytes(1 << 20)) == b"1:" + bytes(1 << 20)

        assert controller.listener.statistics.connections == 41
        transport.close()
        for raw in held:
            raw.writer.close()


@scenario
async def test_small_requests_pass_while_incomplete_ones_hold_all_bytes(monkeypatch):
    monkeypatch.setattr(listener, "MAX_REQUEST_BYTES", 1 << 20)
    monkeypatch.setattr(listener, "KEEPALIVE_MS", 20)
    async with Controller(1).running() as controller:
        held = await hold_frames(controller.address, 4, came_bytes=300_000)
        await until(lambda: controller.listener._waiting)
        monkeypatch.setattr(accepted, "FRAME_MS", 100)
        small, large = transport_to(controller), transport_to(controller)
        waiting = asyncio.create_task(large.request(bytes(100_000)))

        assert await small.request(b"heartbeat") == b"1:heartbeat"
        assert await waiting == b"1:" + bytes(100_000)
        assert len(held) > len(controller.listener._connections) - 2, "who does not go on is closed"
        small.close()
        large.close()


@scenario
async def test_incomplete_requests_do_not_block_each_other(monkeypatch):
    monkeypatch.setattr(listener, "MAX_REQUEST_BYTES", 1 << 20)
    frame = encode_numbered(1, bytes(700_000))
    async with Controller(1).running() as controller:
        raws = [await RawConnection.to(controller.address, RPC.number) for _ in range(4)]
        for raw in raws:
            raw.writer.write(frame[:300_000])
        await until(lambda: controller.listener._waiting)
        for raw in raws:
            raw.writer.write(frame[300_000:])

        answers = await asyncio.gather(*(raw.read_answer() for raw in raws))

        assert [len(answer.payload) for answer in answers] == [700_002] * 4
        assert controller.listener._request_bytes.total == 0


@scenario
async def test_one_connection_does_not_hold_what_others_need():
    async with Controller(1, kind=RPC._replace(max_inflight_bytes=1 << 20)).running() as controller:
        greedy = await RawConnection.to(controller.address, RPC.number)
        for number in range(1, 6):
            greedy.writer.write(encode_numbered(number, b"wait" + bytes(500_000)))
        await until(lambda: len(controller.frames) == 2)
        other = transport_to(controller)
        await other.request(b"heartbeat")
        assert controller.listener.statistics.requests_inflight == 2

        controller.release.set()

        assert sorted([(await greedy.read_answer()).number for _ in range(5)]) == [*range(1, 6)]
        other.close()


@scenario
async def test_a_frame_that_gets_on_is_given_time(monkeypatch):
    monkeypatch.setattr(listener, "KEEPALIVE_MS", 10)
    monkeypatch.setattr(accepted, "FRAME_MS", 100)
    monkeypatch.setattr(accepted, "PROGRESS_BYTES", 1_000)
    frame = encode_numbered(1, bytes(100_000))
    async with Controller(1).running() as controller:
        raw = await RawConnection.to(controller.address, RPC.number)
        (connection,) = controller.listener._connections
        for start in range(0, len(frame), 4_000):
            now_s = asyncio.get_running_loop().time()
            raw.writer.write(frame[start : start + 4_000])
            await until(lambda: connection._deadline_s != now_s)  # noqa: B023
            connection.look(now_s + 0.05)

        assert (await raw.read_answer()).number == 1


@pytest.mark.unexpected_errors
@scenario
async def test_a_failure_of_the_service_ends_its_connection_only(caplog):
    async with Controller(1).running() as controller:
        transport, other = transport_to(controller), transport_to(controller)
        await other.request(b"a")
        with pytest.raises(ConnectionError):
            await transport.request(b"fail")

        assert await transport.request(b"b") == b"1:b"
        assert await other.request(b"c") == b"1:c"
        assert other.statistics.dials == 1
        assert "unexpected error while serving a request of another node" in caplog.text
        transport.close()
        other.close()


@scenario
async def test_a_client_that_does_not_read_its_answers_is_let_go(monkeypatch, caplog):
    monkeypatch.setattr(accepted, "MAX_UNREAD_BYTES", 1 << 20)
    async with Controller(1).running() as controller:
        raw = await RawConnection.to(controller.address, RPC.number)
        raw.writer.transport.pause_reading()
        for number in range(1, 101):
            raw.writer.write(encode_numbered(number, b"size 1000000"))

        await until(lambda: controller.listener.statistics.connections == 0, within_s=10)

        assert len(controller.frames) < 100
        raw.writer.close()


# Who leads


@scenario
async def test_a_redirect_is_followed():
    async with Controller(1).running() as one, Controller(2).running() as two:
        transport = transport_to(one)
        await transport.request(b"a")

        transport.redirect(LeaderAddress(2, *two.address))

        assert await transport.request(b"b") == b"2:b"
        await until(lambda: one.listener.statistics.connections == 0)
        assert transport.statistics.redirects == 1
        transport.close()


@scenario
async def test_one_that_does_not_answer_in_time_is_left_though_its_connection_lives():
    async with Controller(1).running() as one, Controller(2).running() as two:
        transport = transport_to(one, two)
        owed = asyncio.create_task(transport.request(b"wait"))
        await until(lambda: one.frames)

        with pytest.raises(TimeoutError, match="no answer in 50 ms"):
            await transport.request(b"wait", within_ms=50)

        assert await transport.request(b"b", within_ms=5_000) == b"2:b"
        one.release.set()
        assert await owed == b"1:wait", "whoever did not say for how long still gets the answer"
        assert transport.statistics.failures == 1
        transport.close()


class Relaying(Controller):
    """Passes on what it is asked to, to a leader without a socket."""

    refusal = None

    async def handle(self, frame):
        if frame[:1] != b"\x01":
            return await super().handle(frame)
        if self.refusal is None and kind_of(frame) is Relay:
            body = Relayed(b"leader:" + decode_request(frame).request.frame)
            return encode_answer(decode_correlation(frame), Answer(ErrorCode.NONE, None, -1, body))
        refusal = self.refusal or ErrorCode.NOT_CONTROLLER
        return encode_answer(decode_correlation(frame), Answer(refusal, "because", -1, None))


@asynccontextmanager
async def detour():
    """Two controllers, a leader that is not reached, and a transport that has found it out."""
    async with Relaying(1).running() as one, Relaying(2).running() as two:
        three = Controller(3)
        leader = LeaderAddress(3, *three.address)
        transport = transport_to(three, one, two)
        with pytest.raises(NotSentError):
            await transport.request(b"a")
        transport.redirect(leader)
        yield one, two, leader, transport
        transport.close()


@scenario
async def test_a_leader_that_is_not_reached_gets_requests_through_another_controller():
    async with detour() as (one, two, leader, transport):
        assert await transport.request(b"b") == b"leader:b"
        one.refusal = ErrorCode.INVALID_REQUEST  # as one of an earlier release
        with pytest.raises(NotSentError, match="does not pass requests on"):
            await transport.request(b"c")
        transport.redirect(leader)
        assert await transport.request(b"d") == b"leader:d"
        two.refusal = ErrorCode.REQUEST_TIMED_OUT
        with pytest.raises(ConnectionResetError, match="does not pass requests on"):
            await transport.request(b"e")
        assert transport.statistics.relayed == 2


@scenario
async def test_a_controller_that_has_no_room_to_pass_requests_on_is_asked_again():
    async with detour() as (one, two, leader, transport):
        one.refusal = ErrorCode.THROTTLING_QUOTA_EXCEEDED

        with pytest.raises(RefusedError) as refused:
            await transport.request(b"b")

        assert refused.value.code == ErrorCode.THROTTLING_QUOTA_EXCEEDED
        one.refusal = None
        assert await transport.request(b"c") == b"leader:c"
        assert not two.frames
        one.refusal = ErrorCode.THROTTLING_QUOTA_EXCEEDED
        with pytest.raises(NotSentError):  # a heartbeat cannot wait
            await transport.request(b"d", within_ms=5_000)
        transport.redirect(leader)
        assert await transport.request(b"d", within_ms=5_000) == b"leader:d"


class Answering(Controller):
    """Tells its levels to a probe."""

    async def handle(self, frame):
        if frame[:1] != b"\x01":
            return await super().handle(frame)
        answer = Answer(ErrorCode.NONE, None, -1, LevelsTold(READ_HERE))
        return encode_answer(decode_correlation(frame), answer)


@scenario
async def test_a_leader_that_is_reached_again_is_asked_itself():
    three = Answering(3)
    async with Relaying(1).running() as one:
        transport = transport_to(three, one)
        with pytest.raises(NotSentError):
            await transport.request(b"a")
        transport.redirect(LeaderAddress(3, *three.address))
        async with three.running():
            answers = {await transport.request(b"b")}
            while b"3:b" not in answers:
                await asyncio.sleep(0.01)
                answers.add(await transport.request(b"b"))
            assert answers == {b"leader:b", b"3:b"}
            transport.close()


@scenario
async def test_what_a_leader_owes_is_still_waited_for_when_it_is_reached_again():
    async with Relaying(1).running() as one, Answering(3).running() as three:
        transport = transport_to(three, one)
        owed = asyncio.create_task(transport.request(b"wait"))
        await until(lambda: three.frames)
        with pytest.raises(TimeoutError):
            await transport.request(b"wait", within_ms=50)
        transport.redirect(LeaderAddress(3, *three.address))
        answers = {await transport.request(b"b")}
        while b"3:b" not in answers:
            await asyncio.sleep(0.01)
            answers.add(await transport.request(b"b"))
        assert answers == {b"leader:b", b"3:b"}
        assert not owed.done()

        three.release.set()

        assert await owed == b"3:wait"
        assert await transport.request(b"c") == b"3:c"
        assert transport.statistics.failures == 1
        await until(lambda: three.listener.statistics.connections == 1)
        transport.close()


@scenario
async def test_what_the_last_leader_owes_is_still_waited_for():
    async with Controller(1).running() as one, Controller(2).running() as two:
        transport = transport_to(one)
        owed = asyncio.create_task(transport.request(b"wait"))
        await until(lambda: one.frames)

        transport.redirect(LeaderAddress(2, *two.address))
        assert await transport.request(b"b") == b"2:b"
        one.release.set()

        assert await owed == b"1:wait"
        await until(lambda: one.listener.statistics.connections == 0)
        transport.close()


@scenario
async def test_the_answer_to_who_has_gone_is_dropped():
    async with Controller(1).running() as one:
        transport = transport_to(one)
        given_up = asyncio.create_task(transport.request(b"wait"))
        await until(lambda: one.frames)
        given_up.cancel()
        one.release.set()

        assert await transport.request(b"a") == b"1:a"
        assert await transport.request(b"b") == b"1:b"
        assert transport.statistics.dials == 1
        transport.close()


@scenario
async def test_a_controller_that_leads_again_keeps_its_connection():
    async with Controller(1).running() as one, Controller(2).running() as two:
        transport = transport_to(one)
        owed = asyncio.create_task(transport.request(b"wait"))
        await until(lambda: one.frames)
        transport.redirect(LeaderAddress(2, *two.address))
        transport.redirect(LeaderAddress(1, *one.address))
        one.release.set()
        await owed

        for _ in range(3):
            assert await transport.request(b"a") == b"1:a"
        assert transport.statistics.dials <= 2
        transport.close()


@scenario
async def test_nothing_is_left_of_a_controller_that_was_left_while_it_owed_an_answer():
    async with Controller(1).running() as one, Controller(2).running() as two:
        transport = transport_to(one)
        given_up = asyncio.create_task(transport.request(b"wait"))
        await until(lambda: one.frames)
        transport.redirect(LeaderAddress(2, *two.address))

        given_up.cancel()
        one.release.set()

        await until(lambda: one.listener.statistics.connections == 0)
        transport.close()


@scenario
async def test_nothing_is_left_of_a_controller_that_was_left_while_it_was_dialled():
    one, late = Controller(1), asyncio.Event()
    async with one.running(late), Controller(2).running() as two:
        transport = transport_to(one)
        dialling_it = asyncio.create_task(transport.request(b"a"))
        await asyncio.sleep(0.05)
        transport.redirect(LeaderAddress(2, *two.address))
        late.set()

        assert await dialling_it == b"1:a"

        await until(lambda: one.listener.statistics.connections == 0)
        transport.close()


@scenario
async def test_one_that_knows_no_leader_is_given_time_before_another_is_asked(monkeypatch):
    async with Controller(1).running() as one, Controller(2).running() as two:
        transport = transport_to(one, two)
        transport.redirect(None)
        assert await transport.request(b"a") == b"2:a"

        transport.redirect(None)  # late, from the one before
        assert await transport.request(b"b") == b"2:b"

        await asyncio.sleep(0.11)
        transport.redirect(None)
        assert await transport.request(b"c") == b"1:c"
        transport.close()


@scenario
async def test_the_controller_in_this_process_is_asked_without_a_socket():
    async with Controller(2).running() as two:
        one = Controller(1)
        local = LocalController(1, LocalTransport(one.handle), MetadataImage)
        transport = QuorumTransport(
            [one.address, two.address], lambda: party(1), SocketNetwork(), local=local
        )
        assert await transport.request(b"a") == b"1:a"

        transport.redirect(LeaderAddress(2, *two.address))
        assert await transport.request(b"b") == b"2:b"
        transport.redirect(LeaderAddress(1, *one.address))
        assert await transport.request(b"c") == b"1:c"
        assert one.frames == [b"a", b"c"]
        transport.close()


@scenario
async def test_nobody_there_is_certain_and_the_next_is_asked():
    async with Controller(3).running() as three:
        transport = transport_to(Controller(1), Controller(2), three)
        for _ in range(2):
            with pytest.raises(NotSentError):
                await transport.request(b"a")

        assert await transport.request(b"a") == b"3:a"
        assert transport.statistics.failures == 2
        transport.close()


@scenario
async def test_a_long_search_for_a_leader_does_not_flood_the_log(monkeypatch, caplog):
    transport = transport_to(Controller(1), Controller(2))

    async def search(attempts):
        for _ in range(attempts):
            with pytest.raises(NotSentError):
                await transport.request(b"a")
        return [it for it in caplog.records if it.message == "switching to another controller"]

    assert len(await search(20)) == quorum_transport.MAX_REPORTS
    monkeypatch.setattr(quorum_transport, "REPORTS_S", 0)
    told = await search(1)
    assert int(told[-1].not_reported_before) == 20 - quorum_transport.MAX_REPORTS


@scenario
async def test_members_that_were_not_in_the_configuration_are_asked_too():
    async with Controller(4).running() as four:
        transport = transport_to(Controller(1))
        transport.set_addresses({4: four.address})
        with pytest.raises(NotSentError):
            await transport.request(b"a")

        assert await transport.request(b"a") == b"4:a"
        transport.close()


@scenario
async def test_many_requests_to_nobody_fail_together(monkeypatch):
    monkeypatch.setattr(dialling, "DIAL_MS", 200)
    with _mute_server() as address:
        transport = QuorumTransport([address], lambda: party(9), SocketNetwork())
        began = time.monotonic()

        outcomes = await asyncio.gather(
            *(transport.request(b"%d" % n) for n in range(100)), return_exceptions=True
        )

        assert all(isinstance(outcome, NotSentError) for outcome in outcomes)
        assert time.monotonic() - began < 1
        transport.close()


@scenario
async def test_a_controller_killed_in_the_middle_of_a_request_leaves_its_outcome_unknown():
    one = Controller(1)
    async with Controller(2).running() as two:
        async with one.running():
            transport = transport_to(one, two)
            waiting = asyncio.create_task(transport.request(b"wait"))
            await until(lambda: one.frames)
        with pytest.raises(OSError) as raised:
            await waiting
        assert not isinstance(raised.value, NotSentError)
        assert await transport.request(b"b") == b"2:b"
        transport.close()


@scenario
async def test_what_becomes_of_the_last_leader_says_nothing_of_this_one():
    one = Controller(1)
    async with Controller(2).running() as two:
        async with one.running():
            transport = transport_to(one, Controller(3), two)
            waiting = asyncio.create_task(transport.request(b"wait"))
            await until(lambda: one.frames)
            transport.redirect(LeaderAddress(2, *two.address))
        with pytest.raises(ConnectionError):
            await waiting
        assert await transport.request(b"b") == b"2:b"
        transport.close()


@scenario
async def test_a_slow_answer_is_no_silence(monkeypatch):
    monkeypatch.setattr(requests, "SILENCE_MS", 200)
    monkeypatch.setattr(listener, "KEEPALIVE_MS", 20)
    async with Controller(1).running() as controller:
        transport = transport_to(controller)
        waiting = asyncio.create_task(transport.request(b"wait"))
        await asyncio.sleep(0.6)

        controller.release.set()

        assert await waiting == b"1:wait"
        assert transport.statistics.failures == 0
        transport.close()


@scenario
async def test_a_process_that_was_stopped_itself_does_not_blame_its_controller(monkeypatch):
    monkeypatch.setattr(requests, "SILENCE_MS", 200)
    monkeypatch.setattr(listener, "KEEPALIVE_MS", 20)
    async with Controller(1).running() as controller:
        transport = transport_to(controller)
        waiting = asyncio.create_task(transport.request(b"wait"))
        await until(lambda: controller.frames)

        time.sleep(0.6)  # as if stopped: nothing is read, and no timer runs
        await asyncio.sleep(0.1)
        controller.release.set()

        assert await waiting == b"1:wait"
        assert transport.statistics.failures == 0
        transport.close()


@pytest.mark.unexpected_errors  # of the server of the test, which is cancelled
@scenario
async def test_an_answer_that_does_not_get_on_is_silence(monkeypatch):
    monkeypatch.setattr(requests, "SILENCE_MS", 200)
    drips = []

    async def drip(reader, writer):
        hello = decode_hello((await reader.readexactly(32 + len(CLUSTER)))[4:])
        writer.write(encode_hello(Hello(hello.kind, party(1))))
        writer.write(struct.pack(">I", MAX_BODY_BYTES))
        with contextlib.suppress(ConnectionError):
            while True:
                writer.write(b"x")
                await writer.drain()
                drips.append(None)
                await asyncio.sleep(0.02)

    async with await asyncio.start_server(drip, "127.0.0.1", 0) as server:
        address = Address(*server.sockets[0].getsockname())
        transport = QuorumTransport([address], lambda: party(9), SocketNetwork())
        with pytest.raises(OSError, match="sent nothing"):
            await transport.request(b"heartbeat")
        assert len(drips) > 1
        transport.close()


@scenario
async def test_a_peer_is_sent_to_and_sends_nothing(caplog):
    """What a controller sends on a connection for messages to it is refused before it is kept."""
    begun = asyncio.Event()

    async def declare(reader, writer):
        await reader.readexactly(32 + len(CLUSTER))
        writer.write(encode_hello(Hello(PEER.number, party(2))))
        writer.write(struct.pack(">I", MAX_BODY_BYTES))
        assert await reader.read() == b""
        begun.set()
        writer.close()

    async with (
        await asyncio.start_server(declare, "127.0.0.1", 0) as server,
        Controller(1).running() as one,
    ):
        two = Controller(2, port=server.sockets[0].getsockname()[1])
        async with one.linked(two):
            await begun.wait()


@scenario
async def test_a_given_up_request_still_counts_for_the_silence(monkeypatch):
    """A broker gives each heartbeat up before it is known that its controller is gone."""
    monkeypatch.setattr(requests, "SILENCE_MS", 300)
    async with Controller(2).running() as two:
        with _mute_server(says_hello=True) as address:
            transport = QuorumTransport([address, two.address], lambda: party(9), SocketNetwork())
            answers = []
            while b"2:heartbeat" not in answers:
                with contextlib.suppress(OSError):
                    async with asyncio.timeout(0.1):
                        answers.append(await transport.request(b"heartbeat"))
            transport.close()


_STOPPED = """
import asyncio, sys
from uuid import UUID
from headrace.config.node import Endpoint
from headrace.links.ends import Party
from headrace.links.listener import LinkListener
from headrace.links.services import RequestService
from headrace.metadata.net.kinds import RPC
from headrace.network import SocketNetwork

async def main():
    async def handle(frame):
        return b"child:" + frame
    listener = LinkListener(
        Endpoint("C", "127.0.0.1", 0), [RequestService(RPC, handle)], lambda: Party("a-cluster", 1, UUID(int=1)),
        network=SocketNetwork())
    print((await listener.bind()).port, flush=True)
    await listener.run()

asyncio.run(main())
"""


@slow_scenario
async def test_a_stopped_controller_costs_two_seconds():
    child = subprocess.Popen([sys.executable, "-c", _STOPPED], stdout=subprocess.PIPE, text=True)
    try:
        address = Address("127.0.0.1", int(child.stdout.readline()))
        async with Relaying(2).running() as two:
            transport = QuorumTransport([address, two.address], lambda: party(9), SocketNetwork())
            while True:  # it listens before it accepts
                with contextlib.suppress(NotSentError):
                    assert await transport.request(b"a") in (b"child:a", b"2:a")
                    if transport._routes.route.target == address:
                        break
                transport.redirect(LeaderAddress(1, *address))
            os.kill(child.pid, signal.SIGSTOP)
            began = time.monotonic()
            with pytest.raises(OSError) as raised:
                await transport.request(b"b")
            assert not isinstance(raised.value, NotSentError)
            assert await transport.request(b"c") == b"2:c"
            assert 1.5 < time.monotonic() - began < 2.6

            transport.redirect(LeaderAddress(1, *address))  # who does not know yet names it
            assert await transport.request(b"d") == b"leader:d", "it is to find out"
            assert time.monotonic() - began < 2.6
            transport.close()
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


# Peers


@scenario
async def test_messages_travel_both_ways_and_in_order():
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        one, two = await enter(Controller(1).running()), await enter(Controller(2).running())
        from_one, from_two = await enter(one.linked(two)), await enter(two.linked(one))
        for term in range(200):
            from_one.send(message(1, 2, term))
            from_two.send(message(2, 1, term))
        from_one.send(append(1, 2, 5 << 20))
        await until(lambda: len(two.messages) == 201 and len(one.messages) == 200)

        assert [it.term for it in two.messages[:200]] == [*range(200)]
        assert two.messages[200] == append(1, 2, 5 << 20)
        assert one.messages == [message(2, 1, term) for term in range(200)]
        assert from_one.statistics.connected == 1
        assert from_one.statistics.messages_sent == 201
        assert from_one.statistics.bytes_sent > 5 << 20


@scenario
async def test_a_peer_that_comes_back_is_dialled_at_once(monkeypatch):
    monkeypatch.setattr(link_messages, "MIN_BACKOFF_MS", 60_000)
    monkeypatch.setattr(link_messages, "MAX_BACKOFF_MS", 60_000)
    one, two = Controller(1), Controller(2)
    async with one.running(), one.linked(two) as links:
        async with two.running(), two.linked(one):
            links.send(message(1, 2, 0))
            await until(lambda: two.messages)
        links.send(message(1, 2, 1))
        await until(lambda: links.statistics.connected == 0)
        links.send(message(1, 2, 2))
        async with two.running(), two.linked(one):
            await until(lambda: message(1, 2, 2) in two.messages, within_s=2)
            assert links.statistics.dials == 2
            assert links.statistics.disconnects == 1


@scenario
async def test_a_peer_that_is_not_there_costs_nothing_but_its_messages(monkeypatch):
    monkeypatch.setattr(link_messages, "MAX_QUEUE_MESSAGES", 10)
    monkeypatch.setattr(link_messages, "STALE_MS", 60_000)
    one, two = Controller(1), Controller(2)
    async with one.linked(two) as links:
        for term in range(100):
            links.send(message(1, 2, term))
        links.send(message(1, 3))  # nobody knows it
        assert links.statistics.messages_dropped == 91
        async with two.running():
            await until(lambda: two.messages)
            await until(lambda: len(two.messages) == 10)
            assert [it.term for it in two.messages] == [*range(90, 100)]


@scenario
async def test_an_address_that_cannot_be_one_ends_nobody(caplog):
    """A member's address is in the log: what it does to one process it does to all, at each start."""
    one, two = Controller(1), Controller(2)
    impossible = [Address(host, 9_093) for host in ("a..b", "x" * 64, "a\0b")]
    impossible.append(Address("127.0.0.1", 70_000))
    async with two.running(), one.linked(two) as links:
        strange = dict(enumerate(impossible, start=3))
        links.set_addresses({2: two.address, **strange})
        await until(
            lambda: caplog.text.count("cannot reach another node, trying again") == len(strange)
        )
        links.send(message(1, 2))
        await until(lambda: two.messages)

        transport = QuorumTransport(impossible, lambda: party(9), SocketNetwork())
        for _ in impossible:
            with pytest.raises(NotSentError):
                await transport.request(b"a")


@scenario
async def test_the_queue_is_bounded_in_bytes(monkeypatch):
    monkeypatch.setattr(link_messages, "MAX_QUEUE_BYTES", 1_000)
    one, two = Controller(1), Controller(2)
    async with one.linked(two) as links:
        for _ in range(3):
            links.send(append(1, 2, 400))
        assert links.statistics.messages_dropped == 1
        links.send(append(1, 2, 5_000))  # larger than the bound, and the newest
        assert links.statistics.messages_dropped == 3
        async with two.running():
            await until(lambda: two.messages)
            assert two.messages == [append(1, 2, 5_000)]


@scenario
async def test_old_messages_are_not_sent_to_a_peer_that_comes_late(monkeypatch):
    monkeypatch.setattr(link_messages, "STALE_MS", 100)
    one, two = Controller(1), Controller(2)
    async with one.linked(two) as links:
        links.send(message(1, 2, 1))
        await asyncio.sleep(0.15)
        async with two.running():
            # Again and again: on a busy machine one may be old, too, before it has gone out.
            for newer in (message(1, 2, 2), message(1, 2, 3)):
                async with asyncio.timeout(20):
                    while newer not in two.messages:
                        links.send(newer)
                        await asyncio.sleep(0.01)
            assert message(1, 2, 1) not in two.messages
            assert links.statistics.messages_dropped >= 1


@slow_scenario
async def test_a_peer_that_never_reads_is_noticed_and_holds_nobody_up(monkeypatch):
    monkeypatch.setattr(link_messages, "MAX_QUEUE_BYTES", 8 << 20)
    one, three = Controller(1), Controller(3)
    with _mute_server(says_hello=True, node_id=2) as address:
        async with three.running(), one.linked(three) as links:
            links.set_addresses({2: address, 3: three.address})
            await until(lambda: links.statistics.connected == 2)
            began = time.monotonic()
            while links.statistics.disconnects == 0:
                links.send(append(1, 2, 1 << 20))
                links.send(message(1, 3))
                received = len(three.messages)
                await until(lambda seen=received: len(three.messages) > seen, within_s=1)
                await asyncio.sleep(0.02)
                assert time.monotonic() - began < 8
            assert links.statistics.messages_dropped > 0


@scenario
async def test_addresses_change(monkeypatch):
    one = Controller(1)
    async with (
        Controller(2).running() as two,
        Controller(2).running() as moved,
        one.linked(two) as links,
    ):
        links.send(message(1, 2, 1))
        await until(lambda: two.messages)

        links.set_addresses({2: moved.address})
        links.send(message(1, 2, 2))
        await until(lambda: moved.messages)
        await until(lambda: two.peers.connected == 0)

        links.set_addresses({})
        links.send(message(1, 2, 3))
        await until(lambda: moved.listener.statistics.connections == 0)
        assert (two.messages, moved.messages) == ([message(1, 2, 1)], [message(1, 2, 2)])
        assert links.statistics.peers == 0


@scenario
async def test_another_node_at_the_address_of_a_peer_is_told_nothing(caplog):
    async with Controller(3).running() as three, Controller(1).linked() as links:
        links.set_addresses({2: three.address})
        links.send(message(1, 2))
        await until(
            lambda: "is node 3, expected node 2" in str([vars(it) for it in caplog.records])
        )
        assert links.statistics.connected == 0
        assert not three.messages


@scenario
async def test_one_controller_can_be_asked_whether_it_leads_or_not():
    async with Controller(2).running() as two, Controller(1).linked(two) as links:
        assert await links.request(2, b"snapshot") == b"2:snapshot"
        with pytest.raises(NotSentError):
            await links.request(3, b"snapshot")

        links.set_addresses({})
        await until(lambda: two.listener.statistics.connections == 0)


@scenario
async def test_the_newest_connection_of_a_peer_stays():
    async with Controller(1).running() as one:
        older = await RawConnection.to(one.address, PEER.number, party(2))
        newer = await RawConnection.to(one.address, PEER.number, party(2))
        await older.ended()

        newer.writer.write(encode_message(message(2, 1)))
        await until(lambda: one.messages)
        assert one.peers.connected == 1


@scenario
async def test_a_second_controller_with_a_node_id_does_not_cut_the_first_one_off(caplog):
    async with Controller(1).running() as one:
        first = await RawConnection.to(one.address, PEER.number, party(2))
        other = Party(CLUSTER, 2, UUID(int=22))
        for _ in range(3):
            second = await RawConnection.to(one.address, PEER.number, other)
            assert second.hello.kind == REFUSED
            await second.ended()

        first.writer.write(encode_message(message(2, 1)))
        await until(lambda: one.messages)
        assert one.peers.connected == 1
        (logged,) = [it for it in caplog.records if "closed a connection" in it.message]
        for named in (UUID(int=2), UUID(int=22), "127.0.0.1"):
            assert str(named) in logged.reason

        first.writer.close()
        await until(lambda: one.peers.connected == 0)
        assert (await RawConnection.to(one.address, PEER.number, other)).hello.kind == PEER.number


@scenario
async def test_the_member_takes_the_place_of_one_that_is_none():
    async with Controller(1).running() as one:
        one.peers._is_member = lambda node_id, directory: (node_id, directory.int) == (2, 2)
        stranger = await RawConnection.to(one.address, PEER.number, Party(CLUSTER, 2, UUID(int=22)))
        assert stranger.hello.kind == PEER.number

        member = await RawConnection.to(one.address, PEER.number, party(2))

        assert member.hello.kind == PEER.number
        await stranger.ended()
        refused = await RawConnection.to(one.address, PEER.number, Party(CLUSTER, 2, UUID(int=22)))
        assert refused.hello.kind == REFUSED


# Strangers


@pytest.mark.parametrize("kind", [RPC.number, PEER.number])
def test_another_cluster_is_refused_and_both_sides_say_so(kind, caplog):
    @scenario
    async def run(caplog):
        async with Controller(1).running() as one:
            raw = await RawConnection.to(one.address, kind, party(2, "other"))
            assert raw.hello == Hello(REFUSED, one.party)
            await raw.ended()
            assert "belongs to cluster other, this node to a-cluster" in str(
                vars(caplog.records[-1])
            )

            stranger = QuorumTransport([one.address], lambda: party(2, "other"), SocketNetwork())
            with pytest.raises(
                NotSentError, match="belongs to cluster a-cluster, this node to other"
            ):
                await stranger.request(b"a")
            assert not one.frames
            newcomer = QuorumTransport([one.address], lambda: party(2, ""), SocketNetwork())
            assert await newcomer.request(b"a") == b"1:a"
            newcomer.close()

    for loop in LOOPS:
        run(loop, pytest.MonkeyPatch(), caplog)


@pytest.mark.parametrize("kind", [RPC.number, PEER.number])
def test_another_cluster_is_let_go_by_who_did_not_know_its_own_when_it_came(kind, caplog):
    frame = encode_numbered(1, b"a") if kind == RPC.number else encode_message(message(2, 1))

    @scenario
    async def run(caplog):
        async with Controller(1, cluster_id="").running() as one:
            ours = await RawConnection.to(one.address, kind, party(8, "a-cluster"))
            theirs = await RawConnection.to(one.address, kind, party(2, "other"))
            one.party = party(1, "a-cluster")
            theirs.writer.write(frame)

            await asyncio.wait_for(theirs.ended(), 2)

            assert "the client belongs to another cluster, other" in str(vars(caplog.records[-1]))
            assert not one.frames
            assert not one.messages
            assert one.listener.statistics.connections == 1
            ours.writer.close()

    for loop in LOOPS:
        run(loop, pytest.MonkeyPatch(), caplog)


RPC_HELLO = encode_hello(Hello(RPC.number, party(8)))
PEER_HELLO = encode_hello(Hello(PEER.number, party(8)))
HOSTILE = {
    "http": b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "oversize hello": struct.pack(">I", MAX_HELLO_BYTES + 1),
    "no hello": encode_numbered(1, b"a"),
    "refused": encode_hello(Hello(REFUSED, party(8))),
    "a kind that is not known": encode_hello(Hello(7, party(8))),
    "our own node": encode_hello(Hello(PEER.number, party(1))),
    "oversize request": RPC_HELLO + struct.pack(">I", MAX_REQUEST_BODY_BYTES + 1),
    "oversize message": PEER_HELLO + b"\xff\xff\xff\xff",
    "empty request": RPC_HELLO + struct.pack(">I", 0),
    "beat": RPC_HELLO + encode_numbered(KEEPALIVE, b""),
    "no message": PEER_HELLO + struct.pack(">I", 3) + b"abc",
    "a request to a peer": PEER_HELLO + encode_numbered(1, b"a"),
    "for another": PEER_HELLO + encode_message(message(7, 1)),
}


@pytest.mark.parametrize("sent", HOSTILE.values(), ids=HOSTILE)
def test_hostile_bytes_end_their_connection_only(sent, caplog):
    @scenario
    async def run(caplog):
        async with Controller(1).running() as one:
            transport = transport_to(one)
            await transport.request(b"a")
            raw = await RawConnection.to(one.address)
            raw.writer.write(sent)

            await raw.ended()

            assert one.listener.statistics.rejected == 1
            assert "closed a connection to this node" in caplog.text
            assert await transport.request(b"b") == b"1:b"
            assert transport.statistics.dials == 1
            assert not one.messages
            transport.close()

    run("uvloop", pytest.MonkeyPatch(), caplog)


@scenario
async def test_the_log_is_not_flooded(caplog):
    async with Controller(1).running() as one:
        for _ in range(30):
            raw = await RawConnection.to(one.address)
            raw.writer.write(b"GET / HTTP/1.1\r\n")
            await raw.ended()

        assert one.listener.statistics.rejected == 30
        assert caplog.text.count("closed a connection to this node") == 1


@scenario
async def test_who_says_nothing_or_stops_in_the_middle_is_ended(monkeypatch):
    monkeypatch.setattr(listener, "KEEPALIVE_MS", 20)
    monkeypatch.setattr(accepted, "HELLO_MS", 100)
    monkeypatch.setattr(accepted, "FRAME_MS", 100)
    async with Controller(1).running() as one:
        mute = await RawConnection.to(one.address)
        halves = [
            await RawConnection.to(one.address, kind, party(number))
            for number, kind in ((2, RPC.number), (3, PEER.number))
        ]
        idle = await RawConnection.to(one.address, RPC.number)
        for raw in halves:
            raw.writer.write(b"\x00\x00\x10\x00and so on")
        await asyncio.gather(mute.ended(), *(raw.ended() for raw in halves))

        idle.writer.write(encode_numbered(1, b"a"))
        assert (await idle.read_answer()).payload == b"1:a"


@scenario
async def test_connections_beyond_the_bound_are_closed(monkeypatch):
    monkeypatch.setattr(listener, "MAX_CONNECTIONS", 2)
    monkeypatch.setattr(peer_service, "MAX_PEERS", 1)
    async with Controller(1).running() as one:
        first = await RawConnection.to(one.address, PEER.number, party(2))
        other = await RawConnection.to(one.address, PEER.number, party(3))
        assert other.hello.kind == REFUSED
        await other.ended()
        await until(lambda: one.listener.statistics.connections == 1)
        await RawConnection.to(one.address)
        await until(lambda: one.listener.statistics.connections == 2)
        await (await RawConnection.to(one.address)).ended()
        first.writer.write(encode_message(message(2, 1)))
        await until(lambda: one.messages)


@scenario
async def test_shutdown_ends_connections_and_requests():
    one = Controller(1)
    async with one.running():
        peer = await RawConnection.to(one.address, PEER.number, party(2))
        client = await RawConnection.to(one.address, RPC.number)
        client.writer.write(encode_numbered(1, b"wait"))
        await until(lambda: one.frames)
    await asyncio.gather(peer.ended(), client.ended())
    assert one.listener.statistics.connections == 0
    assert one.listener.statistics.requests_inflight == 0
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection(*one.address)


@contextlib.contextmanager
def _mute_server(*, says_hello=False, node_id=1):
    """Somebody who accepts, at most says hello, and then neither reads nor writes."""
    kept = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        loop = asyncio.get_running_loop()

        def accept():
            connection, _ = server.accept()
            kept.append(connection)
            loop.add_reader(connection, greet, connection)

        def greet(connection):
            loop.remove_reader(connection)
            hello = decode_hello(connection.recv(1 << 10)[4:])
            connection.sendall(encode_hello(Hello(hello.kind, party(node_id))))

        if says_hello:
            loop.add_reader(server, accept)
        try:
            yield Address(*server.getsockname())
        finally:
            loop.remove_reader(server)
            for connection in kept:
                loop.remove_reader(connection)
                connection.close()
