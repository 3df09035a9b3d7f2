"""A stranger at the port of the controllers speaks for a broker that serves: it is refused, whatever it asks for."""

import asyncio
import struct
from itertools import count
from pathlib import Path
from typing import get_args

import pytest

from headrace.metadata.net.framing import (
    KEEPALIVE,
    Hello,
    Kind,
    Party,
    decode_numbered,
    encode_hello,
    encode_numbered,
)
from headrace.metadata.records.members import NO_DIRECTORY
from headrace.metadata.rpc.frames import Answer, decode_answer, encode_relay, encode_request
from headrace.metadata.rpc.requests import BrokerGoal, Heartbeat, Request, Speaking
from headrace.metadata.rpc.responses import Relayed
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
        stranger._writer.write(encode_hello(Hello(Kind.RPC, Party("", -1, NO_DIRECTORY))))
        await stranger._frame()
        return stranger

    async def ask(self, request: Request) -> Answer:
        return decode_answer(await self._send(encode_request(1, request)), 1)

    async def ask_through_relay(self, request: Request) -> Answer:
        answer = decode_answer(await self._send(encode_relay(1, encode_request(1, request))), 1)
        assert isinstance(answer.body, Relayed), answer
        return decode_answer(answer.body.frame, 1)

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
            for ask in (stranger.ask, stranger.ask_through_relay):
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
