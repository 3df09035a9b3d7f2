"""A stranger at the port of the controllers speaks for a broker that serves: it is refused, whatever it asks for."""

import asyncio
import struct
from itertools import count
from pathlib import Path
from typing import get_args

import pytest

from headrace.links.ends import Party
from headrace.links.framing import KEEPALIVE, Hello, decode_numbered, encode_hello, encode_numbered
from headrace.metadata.levels import READ_HERE
from headrace.metadata.net.kinds import RPC
from headrace.metadata.proof import SECRET_BYTES, incarnation_of
from headrace.metadata.records.brokers import BrokerEndpoint, RegisterBrokerRecord
from headrace.metadata.records.codec import decode_records
from headrace.metadata.records.members import NO_DIRECTORY
from headrace.metadata.rpc.frames import Answer, decode_answer, encode_relay, encode_request
from headrace.metadata.rpc.requests import (
    BrokerGoal,
    FetchEntries,
    Heartbeat,
    RegisterBroker,
    ReportEnd,
    Request,
    Speaking,
)
from headrace.metadata.rpc.responses import BrokerRegistered, Entries, Relayed
from headrace.protocol.errors import ErrorCode
from tests.integration.test_cluster_nodes import Scene, create_topic, in_scene, produce, read
from tests.unit.metadata.test_proof import sample

NOT_HERS = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
EPOCHS = 40


class Stranger:
    """A connection without an identity."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._numbers = count(KEEPALIVE + 1)

    @classmethod
    async def at(cls, host: str, port: int) -> "Stranger":
        stranger = cls(*await asyncio.open_connection(host, port))
        stranger._writer.write(encode_hello(Hello(RPC.number, Party("", -1, NO_DIRECTORY))))
        await stranger._frame()
        return stranger

    async def ask(self, request: Request, proof: bytes | None = None) -> Answer:
        return decode_answer(await self._send(encode_request(1, request, proof)), 1)

    async def ask_leader(self, request: Request, proof: bytes | None = None) -> Answer:
        """Ask through whichever controller this is: it passes the request on, if it does not lead."""
        relay = encode_relay(1, encode_request(1, request, proof))
        answer = decode_answer(await self._send(relay), 1)
        assert isinstance(answer.body, Relayed), answer
        return decode_answer(answer.body.frame, 1)

    async def registrations(self) -> dict[int, RegisterBrokerRecord]:
        """Read in the metadata log who is registered, by node id."""
        read = (await self.ask_leader(FetchEntries(1, 1 << 20, 0, READ_HERE))).body
        assert isinstance(read, Entries)
        records = [each for it in read.entries if it.payload for each in decode_records(it.payload)]
        return {it.node_id: it for it in records if isinstance(it, RegisterBrokerRecord)}

    def close(self) -> None:
        self._writer.close()

    async def _send(self, frame: bytes) -> bytes:
        number = next(self._numbers)
        self._writer.write(encode_numbered(number, frame))
        while True:
            found = decode_numbered(await self._frame())
            if found.number == number:
                return found.payload

    async def _frame(self) -> bytes:
        (length,) = struct.unpack(">I", await self._reader.readexactly(4))
        return await self._reader.readexactly(length)


@pytest.mark.timeout(60)
def test_nobody_else_speaks_for_a_broker_that_serves(tmp_path: Path) -> None:
    async def test(scene: Scene) -> None:
        await scene.start(*map(scene.controller, (101, 102, 103)))
        (broker,) = await scene.start(scene.broker(1))
        await create_topic(broker, "topic", 1)
        await produce(broker, "topic", b"before")
        refused = 0
        for voter in scene.voters:
            stranger = await Stranger.at(voter.host, voter.port)
            for ask in (stranger.ask, stranger.ask_leader):
                for epoch in range(EPOCHS):
                    tried = [Heartbeat(1, epoch, 0, goal) for goal in BrokerGoal]
                    # In the only epoch that lasts, everything else as well.
                    answers = {(await ask(it)).error for it in tried}
                    if answers == {NOT_HERS}:
                        others = [sample(kind, 1, epoch) for kind in get_args(Speaking)]
                        assert {(await ask(it)).error for it in others} == {NOT_HERS}
                        refused += 1
                    else:
                        assert answers <= {
                            ErrorCode.STALE_BROKER_EPOCH,
                            ErrorCode.NOT_CONTROLLER,
                        }
            stranger.close()
        assert refused >= 4, "by the leader, and through each of the others"
        await produce(broker, "topic", b"after")
        assert await read(broker, "topic") == [b"before", b"after"]
        assert not scene.task(1).done()

    in_scene(test, tmp_path)


@pytest.mark.timeout(60)
def test_a_stranger_that_registers_a_broker_of_its_own_ends_nobody(tmp_path: Path) -> None:
    """It has a registration then, and it has read what is recorded of the locks of the others."""
    secret = bytes(range(SECRET_BYTES))

    async def test(scene: Scene) -> None:
        await scene.start(*map(scene.controller, (101, 102, 103)))
        (broker,) = await scene.start(scene.broker(1))
        await create_topic(broker, "topic", 1)
        await produce(broker, "topic", b"before")
        stranger = await Stranger.at(scene.voters[0].host, scene.voters[0].port)
        endpoints = (BrokerEndpoint("PLAINTEXT", "127.0.0.1", 1),)
        own = RegisterBroker("", 99, incarnation_of(secret), endpoints, "", reads=READ_HERE)
        registered = (await stranger.ask_leader(own, secret)).body
        assert isinstance(registered, BrokerRegistered)
        victim = (await stranger.registrations())[1]
        assert victim.locks
        for lock in victim.locks:
            for name in ("", lock, lock.partition(":")[2]):
                report = ReportEnd(99, registered.node_epoch, 1, victim.epoch, lock, name)
                answer = await stranger.ask_leader(report, secret)
                assert answer.error == ErrorCode.INVALID_REQUEST, answer
        stranger.close()
        await produce(broker, "topic", b"after")
        assert await read(broker, "topic") == [b"before", b"after"]
        assert not scene.task(1).done()

    in_scene(test, tmp_path)
