"""Controllers of one quorum in one process: simulated disks, a network in memory, time that jumps.

Everything takes the virtual time of `tests.simulation.virtual_time`: a message 1 ms, a sync 1 ms at most.
"""

import asyncio
import inspect
import random
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from uuid import UUID

from headrace.config.node import MetadataConfig, Voter
from headrace.links.ends import Address
from headrace.links.errors import NotSentError
from headrace.metadata.controller.decision import ConfigRules
from headrace.metadata.leader.driver import ControllerNode
from headrace.metadata.levels import READ_HERE
from headrace.metadata.net.peer_messages import encode_message
from headrace.metadata.records.brokers import BrokerEndpoint
from headrace.metadata.rpc.frames import decode_answer, encode_request
from headrace.metadata.rpc.requests import RegisterBroker
from headrace.protocol.errors import ErrorCode
from tests.simulation import virtual_time
from tests.simulation.directory import SimulatedDirectoryDisk
from tests.unit.metadata.pure_controller import validate

HOP_S = 0.001
ELECTION_TIMEOUT_MS = 500
MAX_SCENARIO_S = 120


class MemoryNetwork:
    """Carries messages between nodes that run and are not cut off from each other."""

    def __init__(self):
        self.nodes = {}
        self.cut = set()  # (from, to)
        self.addresses = {}  # what each node was told
        self.bytes_per_s = None  # of messages between two nodes, one behind the other
        self._busy_until = {}  # (from, to) -> loop time

    def link(self, node_id):
        return _Link(self, node_id)

    def isolate(self, node_id):
        """Cut one node off, both ways."""
        for other in range(10):
            self.cut |= {(node_id, other), (other, node_id)}

    def heal(self):
        self.cut.clear()

    def reaches(self, source, target):
        return target in self.nodes and (source, target) not in self.cut

    def delay_s(self, message):
        """Until a message that is sent now arrives."""
        if self.bytes_per_s is None:
            return HOP_S
        now, link = asyncio.get_running_loop().time(), (message.source, message.target)
        begin = max(now, self._busy_until.get(link, now))
        self._busy_until[link] = begin + len(encode_message(message)) / self.bytes_per_s
        return self._busy_until[link] - now + HOP_S

    def deliver(self, message):
        if self.reaches(message.source, message.target):
            self.nodes[message.target].receive(message)


class _Link:
    """One node's `PeerNetwork`."""

    def __init__(self, network, node_id):
        self._network = network
        self._node_id = node_id

    def send(self, message):
        if message.target not in self._network.addresses.get(self._node_id, ()):
            return
        delay_s = self._network.delay_s(message)
        asyncio.get_running_loop().call_later(delay_s, self._network.deliver, message)

    async def request(self, node_id, frame):
        assert node_id in self._network.addresses[self._node_id]
        await asyncio.sleep(HOP_S)
        if not self._network.reaches(self._node_id, node_id):
            raise NotSentError(f"node {node_id} cannot be reached")
        answer = await self._network.nodes[node_id].handle(frame)
        await asyncio.sleep(HOP_S)
        if not self._network.reaches(node_id, self._node_id):
            raise ConnectionResetError("lost on the way back")
        return answer

    def set_addresses(self, addresses):
        self._network.addresses[self._node_id] = dict(addresses)


class ClientTransport:
    """A broker's way to the controllers: goes where it is redirected, else to the next."""

    def __init__(self, network, node_ids):
        self._network = network
        self._node_ids = list(node_ids)
        self.target = self._node_ids[0]
        self.reachable = None  # only these, if set

    async def request(self, frame, *, within_ms=None):
        await asyncio.sleep(HOP_S)
        target = self.target
        node = self._network.nodes.get(target)
        if node is None or (self.reachable is not None and target not in self.reachable):
            self._next()
            raise NotSentError(f"node {target} cannot be reached")
        async with asyncio.timeout(within_ms and within_ms / 1000):
            return await node.handle(frame)

    def redirect(self, leader):
        if leader is None:
            self._next()
        else:
            self.target = leader.node_id

    def _next(self):
        position = self._node_ids.index(self.target) + 1
        self.target = self._node_ids[position % len(self._node_ids)]


class Controllers:
    """Controllers by node id; those in `tasks` run. Their disks are simulated: nothing is written to the directory."""

    def __init__(self, directory, founders=(1, 2, 3), **config):
        self.directory = directory
        self.founders = founders
        self.network = MemoryNetwork()
        self.nodes = self.network.nodes
        self.tasks = {}
        self.seed = 0
        self.disks = {}
        self.ports = {}  # of nodes that have moved
        self._config = config

    def config(self, node_id):
        voters = tuple(Voter(it, f"host{it}", 9090 + it) for it in self.founders)
        return MetadataConfig(
            log_dir=str(self.directory / f"node{node_id}"), quorum_voters=voters, **self._config
        )

    def disk(self, node_id):
        if node_id not in self.disks:
            self.disks[node_id] = SimulatedDirectoryDisk(random.Random(node_id), latency_s=HOP_S)
        return self.disks[node_id]

    async def start(self, *node_ids, **options):
        for node_id in node_ids or self.founders:
            self.seed += 1
            node = ControllerNode(
                self.config(node_id),
                self.disk(node_id).open(Path(self.config(node_id).log_dir)),
                node_id=node_id,
                rng=random.Random(self.seed),
                wall_clock_ms=lambda: 1_000_000_000 + now_ms(),
                boot_clock_ms=now_ms,
                configs=ConfigRules(validate_topic=validate),
                network=self.network.link(node_id),
                **options,
            )
            port = self.ports.get(node_id, 9090 + node_id)
            await node.start(Address(f"host{node_id}", port))
            self.nodes[node_id] = node
            self.tasks[node_id] = asyncio.create_task(node.run())

    async def stop(self, node_id):
        """End a process as it is asked to."""
        task = self.tasks.pop(node_id)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await self.nodes.pop(node_id).shutdown()

    async def kill(self, node_id):
        """End a process without a word, and its machine: what was not synced may be lost."""
        node = self.nodes.pop(node_id)
        self.disk(node_id).cut_power()

        async def no_time(timeout_ms):
            del timeout_ms

        node._member.quorum.hand_over = no_time
        task = self.tasks.pop(node_id)
        task.cancel()
        await asyncio.wait([task])
        node._store._is_closed = True  # nothing waits for a disk without power
        await node.shutdown()

    async def wipe(self, node_id):
        """Lose a node with its disk."""
        await self.kill(node_id)
        del self.disks[node_id]

    async def shutdown(self):
        for node_id in list(self.tasks):
            await self.kill(node_id)

    def serving(self):
        """Ids of the nodes that think they lead and serve."""
        return [node_id for node_id, node in self.nodes.items() if node.status().serving]

    async def leader(self, among=None):
        """Wait until one leads that a majority follows; its node."""
        among = self.nodes if among is None else among

        def found():
            leaders = [it for it in self.serving() if it in among]
            return leaders and all(
                self.nodes[it].status().leader_id == leaders[-1] for it in among if it in self.nodes
            )

        await until(found)
        return self.nodes[[it for it in self.serving() if it in among][-1]]

    def id_of(self, node):
        return next(node_id for node_id, it in self.nodes.items() if it is node)

    def others(self, node):
        return [it for it in self.nodes.values() if it is not node]

    async def equal(self):
        """Wait until all that run have the same image, of everything in any log."""

        def same():
            last = max(it.status().last_index for it in self.nodes.values())
            return all(it.image.index == last for it in self.nodes.values())

        await until(same)
        images = [it.image for it in self.nodes.values()]
        assert all(it == images[0] for it in images)


@asynccontextmanager
async def controllers(directory, *started, **options):
    scene = Controllers(directory, **options)
    try:
        await scene.start(*started)
        yield scene
    finally:
        await scene.shutdown()


def now_ms():
    return round(asyncio.get_running_loop().time() * 1000)


async def until(condition, timeout_s=20):
    """Let virtual time pass until a condition holds."""
    async with asyncio.timeout(timeout_s):
        while not condition():
            await asyncio.sleep(HOP_S)


async def ask(node, request):
    return decode_answer(await node.handle(encode_request(9, request)), 9)


def registration(broker_id, incarnation=1):
    endpoints = (BrokerEndpoint("PLAINTEXT", "h", 1),)
    return RegisterBroker("", broker_id, UUID(int=incarnation), endpoints, "", reads=READ_HERE)


async def write(node, *broker_ids):
    """Change the metadata: register brokers, which `written` finds in an image."""
    for broker_id in broker_ids:
        answer = await ask(node, registration(broker_id))
        assert answer.error == ErrorCode.NONE, answer.message


def written(node):
    return sorted(node.image.brokers)


def scenario(test):
    """Run an `async def` test to its end in virtual time."""

    async def bounded(**fixtures):
        async with asyncio.timeout(MAX_SCENARIO_S):
            await test(**fixtures)

    def run(**fixtures):
        virtual_time.run(bounded(**fixtures))

    run.__name__ = test.__name__
    run.__doc__ = test.__doc__
    run.__signature__ = inspect.signature(test)
    return run
