"""Whatever order bytes, answers, turns, pauses and throttling come in, a connection serves every request."""

import asyncio
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.simulation import virtual_time
from tests.unit.broker.network.test_session import (
    OTHER,
    PRODUCE,
    Connection,
    FakeSessions,
    request,
)

THROTTLED_WAIT = 0.05  # how often a client that has nothing else to do lets time pass
SIZES = (0, 1_000, 70_000, 300_000, 300_000, 300_000)


class Client:
    """Sends requests, and reads answers or not; the loop reads its socket as uvloop does."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.sessions = FakeSessions()
        self.connection = Connection(self.sessions, receive_buffer_bytes=rng.choice((256, 8_192)))
        self.keys = [
            rng.choice((PRODUCE, PRODUCE, PRODUCE, PRODUCE, OTHER))
            for _ in range(rng.randint(2, 30))
        ]
        self.unsent = memoryview(
            b"".join(
                request(key, number, bytes(rng.choice(SIZES)))
                for number, key in enumerate(self.keys)
            )
        )
        self.unanswered: list[int] = []
        self.begun = 0

    def pass_time(self) -> None:
        self.sessions.clock.now_s += self.rng.choice((0.0, 0.3, 1.0, 1.0))

    def poll(self) -> None:
        session, transport = self.connection.session, self.connection.transport
        for _ in range(32):
            if not transport.reading or not self.unsent:
                return
            room = session.get_buffer(-1)
            assert len(room) > 0, "what has come was not taken"
            count = min(len(room), len(self.unsent), self.rng.choice((1, 70_000, 1 << 20)))
            room[:count] = self.unsent[:count]
            self.unsent = self.unsent[count:]
            session.buffer_updated(count)
            self.look()
            self.pass_time()

    def look(self) -> None:
        """What is in service: one request, or only produces."""
        started = self.connection.dispatcher.started
        assert list(started) == list(range(len(started))), "in order, each once"
        self.unanswered += range(self.begun, len(started))
        self.begun = len(started)
        if len(self.unanswered) > 1:
            assert {self.keys[number] for number in self.unanswered} == {PRODUCE}

    def answer(self) -> None:
        self.look()
        if self.unanswered:
            number = self.unanswered.pop(self.rng.randrange(len(self.unanswered)))
            self.connection.dispatcher.started[number].throttle(self.rng.choice((0, 0, 0, 10, 50)))
            self.connection.dispatcher.answer(number)
        self.look()

    async def act(self) -> None:
        match self.rng.randrange(8):
            case 0 | 1:
                self.poll()
            case 2:
                self.answer()
            case 3:
                self.pass_time()
            case 4:
                await asyncio.sleep(0)
            case 5:
                session = self.connection.session
                self.rng.choice((session.pause_writing, session.resume_writing))()
            case 6:  # another connection has something to do
                share = self.rng.choice((self.sessions.turns, self.sessions.reads))
                share.call_later(self.pass_time)
            case 7:
                await asyncio.sleep(self.rng.choice((0.005, 0.02)))
        self.look()

    async def finish(self) -> None:
        self.connection.session.resume_writing()
        for _ in range(2_000):
            if not self.unsent and self.begun == len(self.keys) and not self.unanswered:
                break
            self.poll()
            self.answer()
            await asyncio.sleep(0)
            if self.rng.random() < THROTTLED_WAIT:
                await asyncio.sleep(0.05)
        await asyncio.sleep(0)  # what was answered last is written
        await asyncio.sleep(0.05)


@given(st.integers(0, 2**32))
@settings(max_examples=80, deadline=None)
def test_every_request_is_served_and_answered_in_order(seed: int) -> None:
    rng = random.Random(seed)

    async def test() -> None:
        asyncio.get_running_loop().set_exception_handler(
            lambda _, context: failures.append(context)
        )
        client = Client(rng)
        for _ in range(rng.randint(0, 200)):
            await client.act()
        await client.finish()
        assert not client.unsent
        answers = [str(number).encode() for number in range(len(client.keys))]
        assert b"".join(client.connection.transport.written) == b"".join(answers)
        left_bytes = client.sessions.claims.left_bytes
        client.connection.session.connection_lost(None)
        assert client.sessions.claims.left_bytes == left_bytes, "nothing was claimed any more"

    failures: list[object] = []
    virtual_time.run(test())
    assert not failures
