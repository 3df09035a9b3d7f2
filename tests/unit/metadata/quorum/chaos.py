"""Controllers on simulated disks and brokers' clients, while everything around them fails, from one seed.

`python -m tests.unit.metadata.quorum.chaos 0 100` tries seeds 0 to 99. Each must hold:

- what a client was told exists is there in the end, on every controller, and what was deleted is not;
- a broker that any controller has fenced for silence holds no lease, though its clock is 2 % fast
  or slow, its setting is another than the controllers', and what it is told is old when it comes;
- no controller ends but those that are ended, and no broker takes its log for diverged;
- when all has healed a leader is found, and all images are equal.
"""

import asyncio
import logging
import random
import sys
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from headrace.config.node import Endpoint
from headrace.metadata.errors import MetadataError
from headrace.metadata.follower.client import BrokerIdentity, MetadataClient, NewTopic
from headrace.metadata.image import BrokerState
from headrace.metadata.rpc.requests import AddVoter, RemoveVoter
from headrace.protocol.errors import ErrorCode
from tests.simulation import virtual_time
from tests.unit.metadata.quorum.three_controllers import (
    ClientTransport,
    Controllers,
    ask,
    now_ms,
    until,
)

NODES = (1, 2, 3)
BROKERS = (11, 12)
PATH = Path("/simulated")
LOOK_S = 0.01
SESSION_MS = 3_000  # of the controllers
# What may become of a change whose outcome is not known, or that came from a fenced broker.
EXCUSED = {
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.STALE_BROKER_EPOCH,
    ErrorCode.INVALID_REPLICATION_FACTOR,  # no broker lives
}


def clock_ms(rate):
    """A clock that is not quite right."""
    return round(now_ms() * rate)


class SlowTransport(ClientTransport):
    """Requests and answers take their time now and then, and answers get lost."""

    def __init__(self, network, node_ids, rng):
        super().__init__(network, node_ids)
        self._rng = rng

    async def request(self, frame, *, within_ms=None):
        async with asyncio.timeout(within_ms and within_ms / 1000):
            await self._linger()
            answer = await super().request(frame)
            await self._linger()
        if self._rng.random() < 0.02:
            raise ConnectionResetError("lost on the way back")
        return answer

    def heal(self):
        self.reachable = None

    async def _linger(self):
        if self._rng.random() < 0.02:
            await asyncio.sleep(self._rng.choice((0.1, 1, 5, 12)) * self._rng.random())


class Chaos:
    """One run."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.scene = Controllers(
            PATH,
            snapshot_log_bytes=2_500,
            broker_session_timeout_ms=SESSION_MS,
            broker_heartbeat_interval_ms=SESSION_MS // 5,
        )
        self.clients = {}
        self.transports = {}  # of the brokers
        self.exists = {}  # topics whose fate was told: whether they exist
        self.unknown = set()
        self.hung = {}  # node id -> the event that lets its disk go on
        self.swapping = None
        self.wiped = None  # the node whose disk is being changed
        self.counts = {}

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    # Clients

    async def broker(self, node_id):
        """One process of a broker after the other."""
        number = 0
        while True:
            config = self.scene.config(1)
            session_ms = self.rng.choice((SESSION_MS // 2, SESSION_MS, 2 * SESSION_MS))
            rate = self.rng.choice((0.98, 1, 1.02))
            transport_rng = random.Random(self.rng.random())
            transport = SlowTransport(self.scene.network, NODES, transport_rng)
            self.transports[node_id] = transport
            client = MetadataClient(
                replace(config, broker_session_timeout_ms=session_ms),
                transport,
                BrokerIdentity(node_id=node_id, endpoints=(Endpoint("PLAINTEXT", "h", 1),)),
                boot_clock_ms=partial(clock_ms, rate),
                rng=random.Random(self.rng.random()),
            )
            run = None
            try:
                await client.start()
                run = asyncio.create_task(client.run())
                self.clients[node_id] = client
                await client.serve()
                while not client.fenced and not run.done():
                    number += 1
                    await self.change(client, f"b{node_id}-{number}")
                    await asyncio.sleep(self.rng.random() * 0.1)
            except MetadataError as error:
                self.count(type(error).__name__)
            finally:
                if run is not None:
                    assert not run.done() or "Diverged" not in repr(run.exception())
                    run.cancel()
                    await asyncio.wait([run])
                if client.fenced:
                    self.count("fenced")
            await asyncio.sleep(0.5)

    async def change(self, client, name):
        self.unknown.add(name)  # until it is told; this may be cancelled
        (created,) = await client.create_topics([NewTopic(name, 1)])
        if not self.told(name, created.error, exists=True) or self.rng.random() > 0.3:
            return
        self.unknown.add(name)
        (deleted,) = await client.delete_topics([name])
        self.told(name, deleted.error, exists=False)

    def told(self, name, code, *, exists):
        self.count(code.name)
        if code == ErrorCode.NONE:
            self.exists[name] = exists
            self.unknown.discard(name)
            return True
        assert code in EXCUSED, code.name
        return False

    # What must hold at every moment

    async def watch(self):
        while True:
            for client in self.clients.values():
                for node in self.scene.nodes.values():
                    broker = node.image.brokers.get(client.node_id)
                    if broker is not None and broker.epoch == client.node_epoch:
                        assert broker.state != BrokerState.EXPIRED or not client.is_lease_valid()
            for task in self.scene.tasks.values():
                assert not task.done(), repr(task)
            await asyncio.sleep(LOOK_S)

    # Faults

    async def go_on(self, seconds):
        """One fault after the other, then none any more."""
        faults = (
            *(self.kill, self.stop, self.cut, self.cut_one_way, self.isolate, self.hang, self.swap),
            *(self.cut_off_broker, self.cut_off_broker),
            *(self.start, self.start, self.heal, self.heal, self.let_go_on, self.rest),
        )
        end_ms = now_ms() + seconds * 1000
        while now_ms() < end_ms:
            await asyncio.sleep(self.rng.choice((0.05, 0.3, 1, 3, 12)) * self.rng.random())
            fault = self.rng.choice(faults)
            self.count(fault.__name__)
            await fault()
        await self.rest()
        if self.swapping is not None:
            await self.swapping

    async def kill(self):
        await self.end(self.scene.kill)

    async def stop(self):
        await self.end(self.scene.stop)

    async def end(self, how):
        if self.scene.nodes:
            node_id = self.rng.choice(list(self.scene.nodes))
            self.release(node_id)
            await how(node_id)

    async def start(self):
        missing = self.missing()
        if missing:
            await self.scene.start(self.rng.choice(missing))

    def missing(self):
        return [it for it in NODES if it not in self.scene.nodes and it != self.wiped]

    async def cut(self):
        one, other = self.rng.sample(NODES, 2)
        self.scene.network.cut |= {(one, other), (other, one)}

    async def cut_one_way(self):
        one, other = self.rng.sample(NODES, 2)
        self.scene.network.cut.add((one, other))

    async def isolate(self):
        self.scene.network.isolate(self.rng.choice(NODES))

    async def cut_off_broker(self):
        """It reaches one of the controllers, or none, for so long that it may be fenced."""
        transport = self.transports.get(self.rng.choice(BROKERS))
        if transport is not None:
            transport.reachable = self.rng.choice(((), (), (self.rng.choice(NODES),)))
            asyncio.get_running_loop().call_later(self.rng.random() * 10, transport.heal)

    async def heal(self):
        self.scene.network.heal()

    async def hang(self):
        """A disk does not answer."""
        if not self.scene.nodes:
            return
        node_id = self.rng.choice(list(self.scene.nodes))
        if node_id in self.hung:
            return
        goes_on = self.hung[node_id] = asyncio.Event()
        store = self.scene.nodes[node_id]._store
        persist = store.persist

        async def hanging(step):
            await goes_on.wait()
            await persist(step)

        store.persist = hanging

    def release(self, node_id):
        goes_on = self.hung.pop(node_id, None)
        if goes_on is not None:
            goes_on.set()

    async def let_go_on(self):
        for node_id in list(self.hung):
            self.release(node_id)

    async def rest(self):
        """Everything heals, for a while."""
        await self.heal()
        await self.let_go_on()
        for node_id in self.missing():
            await self.scene.start(node_id)
        await asyncio.sleep(self.rng.random() * 5)

    async def swap(self):
        """A member loses its disk: it is removed first, and added with its new one."""
        if self.swapping is None or self.swapping.done():
            self.swapping = asyncio.create_task(self.swap_disk(self.rng.choice(NODES)))

    async def swap_disk(self, node_id):
        if node_id not in self.scene.nodes:
            return
        old = self.scene.nodes[node_id].directory_id
        if not await self.ask_leader(RemoveVoter("", node_id, old), ErrorCode.VOTER_NOT_FOUND):
            return
        await until(lambda: node_id in self.scene.nodes, timeout_s=600)
        self.wiped = node_id
        self.release(node_id)
        await self.scene.wipe(node_id)
        await self.scene.start(node_id)
        self.wiped = None
        new = self.scene.nodes[node_id].directory_id
        adding = AddVoter("", node_id, new, f"host{node_id}", 9090 + node_id)
        while not await self.ask_leader(adding):
            await asyncio.sleep(1)
        self.count("swapped")

    async def ask_leader(self, request, *also):
        """Ask until the outcome is known; whether it is as wanted."""
        while True:
            for node in list(self.scene.nodes.values()):
                answer = await ask(node, request)
                if answer.error in (ErrorCode.NONE, *also):
                    return True
                if answer.error not in (ErrorCode.NOT_CONTROLLER, ErrorCode.REQUEST_TIMED_OUT):
                    self.count(answer.error.name)
                    return False
            await asyncio.sleep(0.2)

    # One run

    async def run(self, seconds):
        scene = self.scene
        try:
            await scene.start()
            works = [asyncio.create_task(self.broker(it)) for it in BROKERS]
            works.append(asyncio.create_task(self.watch()))
            faults = asyncio.create_task(self.go_on(seconds))
            done, _ = await asyncio.wait([*works, faults], return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            await scene.leader()
            await asyncio.sleep(2)
            for task in works:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            await scene.equal()
            topics = scene.nodes[1].image.topic_ids
            for name in self.exists.keys() - self.unknown:
                assert (name in topics) == self.exists[name], name
            assert scene.nodes[1].image.cluster_id
            nodes = scene.nodes.values()
            installed = sum(it.status().counters.snapshots_installed for it in nodes)
            self.counts |= {"terms": scene.nodes[1].image.term, "installed": installed}
        finally:
            await scene.shutdown()


def run(seed, seconds):
    """Run one seed; return what happened how often."""
    chaos = Chaos(seed)

    async def bounded():
        async with asyncio.timeout(20 * seconds + 2_000):
            await chaos.run(seconds)

    virtual_time.run(bounded())
    return chaos.counts


def main(first, end, seconds=60):
    logging.disable(logging.CRITICAL)
    for seed in range(first, end):
        print(seed, run(seed, seconds), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
