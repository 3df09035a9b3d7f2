"""A real controller on a real directory, in this process, with clocks that only the test moves."""

import asyncio
import inspect
import random
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from uuid import UUID

from headrace.config.node import Endpoint, MetadataConfig
from headrace.links.errors import NotSentError
from headrace.metadata.controller.decision import ConfigRules
from headrace.metadata.controller.sessions import tick_interval_ms
from headrace.metadata.follower.client import BrokerIdentity, MetadataClient
from headrace.metadata.leader.driver import ControllerNode
from headrace.metadata.levels import READ_HERE
from headrace.metadata.log.os_directory import OsDirectory
from headrace.metadata.records.brokers import BrokerEndpoint
from headrace.metadata.rpc.frames import decode_answer, encode_request
from headrace.metadata.rpc.requests import BrokerGoal, Heartbeat, RegisterBroker
from headrace.metadata.transport import LocalTransport
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.pure_controller import validate

ENDPOINTS = (Endpoint("PLAINTEXT", "localhost", 9092),)


class Clock:
    """Milliseconds that pass when the test says so."""

    def __init__(self, now_ms=1_000_000):
        self.now_ms = now_ms

    def __call__(self):
        return self.now_ms


class FaultyTransport:
    """Does to each frame what is planned: "pass", "unreachable", "refuse", "lose request", "lose reply"."""

    def __init__(self, handle):
        self._handle = handle
        self.plan = []
        self.hold = None  # an event: nothing is handed over before it is set

    async def request(self, frame, *, within_ms=None):
        async with asyncio.timeout(within_ms and within_ms / 1000):
            return await self._request(frame)

    async def _request(self, frame):
        fate = self.plan.pop(0) if self.plan else "pass"
        if fate == "unreachable":
            raise NotSentError("nobody is there")
        if fate == "refuse":
            raise ConnectionRefusedError("nobody listens")
        if fate == "lose request":
            raise ConnectionResetError("lost on the way there")
        if self.hold is not None:
            await self.hold.wait()
        answer = await self._handle(frame)
        if fate == "lose reply":
            raise ConnectionResetError("lost on the way back")
        return answer

    def redirect(self, leader):
        """There is nobody else to ask."""


class Cluster:
    """One controller and any number of clients."""

    def __init__(self, directory, **config):
        self.config = MetadataConfig(log_dir=str(directory), **config)
        self.open_directory = OsDirectory
        self.wall = Clock()
        self.boot = Clock(5_000_000)
        self.seed = 0
        self.node = None

    def new_node(self, **options):
        self.seed += 1
        return ControllerNode(
            self.config,
            self.open_directory(Path(self.config.log_dir)),
            **{
                "node_id": 1,
                "rng": random.Random(self.seed),
                "wall_clock_ms": self.wall,
                "boot_clock_ms": self.boot,
                "configs": ConfigRules(validate_topic=validate),
                **options,
            },
        )

    @asynccontextmanager
    async def controller(self, **options):
        """Run a controller; what it leaves on disk is there for the next."""
        self.node = self.new_node(**options)
        try:
            await self.node.start()
            async with running(self.node.run()):
                yield self.node
        finally:
            await self.node.shutdown()

    def new_client(self, node_id=1, *, transport=None, **options):
        self.seed += 1
        identity = {
            "node_id": node_id,
            "endpoints": ENDPOINTS,
            "locks": (f"wal of {node_id}",),  # of this start as of the one before
        }
        for name in ("cluster_id", "rack", "locks"):
            if name in options:
                identity[name] = options.pop(name)
        return MetadataClient(
            self.config,
            transport or LocalTransport(self.handle),
            BrokerIdentity(**identity),
            boot_clock_ms=self.boot,
            rng=random.Random(self.seed),
            **options,
        )

    @asynccontextmanager
    async def client(self, node_id=1, *, serve=True, **options):
        """Start and run a broker's client."""
        client = self.new_client(node_id, **options)
        await client.start()
        async with running(client.run()):
            if serve:
                await client.serve()
            yield client

    async def handle(self, frame):
        """Whichever controller runs now."""
        return await self.node.handle(frame)

    async def pass_time(self, duration_ms):
        """Move the boot clock on, with the controller awake all the while."""
        tick_ms = tick_interval_ms(self.config.broker_session_timeout_ms)
        end_ms = self.boot.now_ms + duration_ms
        while self.boot.now_ms < end_ms:
            self.boot.now_ms = min(self.boot.now_ms + tick_ms, end_ms)
            await self.node.check_deadlines()


@asynccontextmanager
async def running(coroutine):
    """Run a component until the block ends; its failure is raised there."""
    task = asyncio.ensure_future(coroutine)
    try:
        yield task
    finally:
        failed = task.done() and not task.cancelled() and task.exception() is not None
        task.cancel()
        with suppress(asyncio.CancelledError):
            if not failed:
                await task


async def eventually(condition):
    """Let the loop turn until a condition holds."""
    for _ in range(10_000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never came to pass")


def scenario(test):
    """Run an `async def` test to its end."""

    def run(**fixtures):
        asyncio.run(test(**fixtures))

    run.__name__ = test.__name__
    run.__doc__ = test.__doc__
    run.__signature__ = inspect.signature(test)
    return run


async def ask(node, request):
    """Send a request as a frame; return the answer."""
    return decode_answer(await node.handle(encode_request(9, request)), 9)


async def ask_well(node, request):
    answer = await ask(node, request)
    assert answer.error == ErrorCode.NONE, answer.message
    return answer


async def register(node, node_id=1, incarnation=1, *, serve=True):
    endpoints = (BrokerEndpoint("PLAINTEXT", "h", 1),)
    request = RegisterBroker(
        "", node_id, UUID(int=incarnation), endpoints, "", 0, (f"wal of {node_id}",), READ_HERE
    )
    answer = await ask_well(node, request)
    epoch = answer.body.node_epoch
    if serve:
        await ask_well(node, Heartbeat(node_id, epoch, answer.log_index, BrokerGoal.SERVE))
    return epoch


def heartbeat(epoch, goal=BrokerGoal.SERVE, node_id=1, applied=1_000_000):
    return Heartbeat(node_id, epoch, applied, goal, reads=READ_HERE)
