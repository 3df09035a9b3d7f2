"""The story of one run: which faults happen when, drawn from the seed."""

import asyncio
import random
from collections.abc import Awaitable, Callable

from headrace.metadata.follower.lease import LEASE_MARGIN_DIVISOR
from tests.simulation.cluster import inspection
from tests.simulation.cluster.cluster import Cluster, Host
from tests.simulation.cluster.hasty_drains import finish_early, finish_for_another
from tests.simulation.cluster.load import CLIENTS
from tests.simulation.cluster.losses import give_up_twins_log, lose_wal
from tests.simulation.cluster.lost_bucket import lose_bucket
from tests.simulation.cluster.move_faults import disturb
from tests.simulation.cluster.nature import (
    BUCKET_LOST,
    DRAINED,
    EACH_WAY_LONG,
    LOSSES,
    MOVE_DISTURBED,
    ONE_WAY_LONG,
)
from tests.simulation.cluster.one_way_cuts import cut_each, cut_one
from tests.simulation.cluster.operators import drain, raise_level, replace_disk
from tests.simulation.cluster.settings import SESSION_MS

SESSION_S = SESSION_MS / 1000
FAILOVER_S = 3.0  # behind the end of the session
SEEN_FAILOVER_S = 2.7  # before it: behind the end of a process, where others see its lock
# In natures of one kind of fault only.
CUT_OFF = "cut off beyond the session"
HASTY_DRAINER = "drainer hasty"
SECOND_DRAINER = "second drainer"
LONG_DRAIN = "log drained, however long it takes"
LEVEL_RAISED = "level raised"
LEASES_END = "leases end"
STOPPED_IN_ORDER = "broker stopped in order"
STOP_S = 40.0
DRAINED_S = 10.0
LONG_DRAIN_S = 15.0
MAX_LEASELESS_S = SESSION_S / LEASE_MARGIN_DIVISOR / 2  # then the session would end soon
MAX_AHEAD_MS = 600_000  # of a wall clock; records more than an hour ahead are refused


class Story:
    """Lets faults happen one after the other, some of them while others last."""

    def __init__(self, cluster: Cluster, rng: random.Random) -> None:
        self.cluster = cluster
        self.rng = rng
        self.begun = 0
        self.lasting = 0  # faults
        self._kinds: dict[str, Callable[[], Awaitable[None]]] = {
            "kill": self._kill,
            "power cut": self._power_cut,
            "stop": self._stop,
            "stop beyond the session": self._stop_long,
            "cut": self._cut,
            "one-way cut": self._cut_one_way,
            "isolate": self._isolate,
            CUT_OFF: self._cut_off,
            "all controllers": self._all_controllers,
            "leader and another": self._leader_and_another,
            "bucket down": self._bucket_down,
            "empty controller": self._empty_controller,
            "second process": self._second_process,
            "connections reset": self._connections_reset,
            "client cut": self._client_cut,
            "slow host": self._slow_host,
            "wall clock set": self._wall_clock_set,
            "volume away": self._volume_away,
            "empty WAL": self._empty_wal,
            "broker lost": self._broker_lost,
            "most brokers lost": self._most_brokers_lost,
            "owner back in its drain": self._owner_back,
            "drainer killed": self._drainer_killed,
            HASTY_DRAINER: self._hasty_drainer,
            SECOND_DRAINER: self._second_drainer,
            LONG_DRAIN: self._long_drain,
            LEVEL_RAISED: self._level_raised,
            LEASES_END: self._leases_end,
            STOPPED_IN_ORDER: self._stopped_in_order,
            DRAINED: self._drained_by_operator,
            MOVE_DISTURBED: lambda: disturb(cluster, rng),
            BUCKET_LOST: lambda: lose_bucket(cluster, rng.choice(cluster.brokers)),
            ONE_WAY_LONG: lambda: cut_one(cluster, rng, is_judged=False),
            EACH_WAY_LONG: lambda: cut_each(cluster, rng),
        }

    async def tell(self, until_s: float) -> None:
        """Let faults happen until a moment."""
        cluster, rng = self.cluster, self.rng
        kinds = [it for it in cluster.nature.faults if it in self._kinds]
        if not kinds:
            return
        async with asyncio.TaskGroup() as lasting:
            while True:
                await asyncio.sleep(rng.uniform(*cluster.nature.pause_s))
                if cluster.loop.time() >= until_s:
                    break
                kind = rng.choice(kinds)
                cluster.tell(kind)
                fault = self._happen(kind)
                if rng.random() < 0.3:
                    lasting.create_task(fault)
                else:
                    await fault

    async def _happen(self, kind: str) -> None:
        self.begun += 1
        self.lasting += 1
        await self._kinds[kind]()
        self.lasting -= 1

    def _any(self) -> Host:
        return self.rng.choice(self.cluster.hosts)

    async def _down(self, host: Host, *, power_cut: bool) -> None:
        self.cluster.kill(host, power_cut=power_cut)
        host.keep_down = True
        await asyncio.sleep(self.rng.choice((0.0, 0.5, 2.0)) * self.rng.random())
        host.keep_down = False

    async def _kill(self) -> None:
        await self._down(self._any(), power_cut=False)

    async def _power_cut(self) -> None:
        await self._down(self._any(), power_cut=True)

    async def _stopped(self, host: Host, for_s: float) -> None:
        process = host.process
        if process is None:
            return
        process.stop()
        await asyncio.sleep(for_s)
        if process.is_alive and process.is_stopped:
            process.resume(self.cluster.loop)

    async def _stop(self) -> None:
        await self._stopped(self._any(), self.rng.uniform(0.1, 1.5))

    async def _stop_long(self) -> None:
        host = self.rng.choice(self.cluster.brokers)
        await self._stopped(host, SESSION_S * self.rng.uniform(1.0, 1.8))

    async def _cut_links(self, links: list[tuple[str, str]]) -> None:
        network = self.cluster.network
        for link in links:
            network.cut(*link)
        await asyncio.sleep(self.rng.choice((0.5, 2.0, 5.0)) * self.rng.random())
        for link in links:
            network.heal(*link)

    def _two(self) -> tuple[str, str]:
        one, other = self.rng.sample(self.cluster.hosts, 2)
        return one.name, other.name

    async def _cut(self) -> None:
        one, other = self._two()
        await self._cut_links([(one, other), (other, one)])

    async def _cut_one_way(self) -> None:
        await self._cut_links([self._two()])

    async def _isolate(self) -> None:
        one = self._any()
        others = [it.name for it in self.cluster.hosts if it is not one]
        links = [(one.name, it) for it in others]
        if self.rng.random() < 0.7:
            links += [(it, one.name) for it in others]
        await self._cut_links(links)

    async def _cut_off(self) -> None:
        """A broker reaches clients and the bucket, and no controller, until its session has ended."""
        cluster = self.cluster
        name = self.rng.choice(cluster.brokers).name
        links = [(name, it.name) for it in cluster.controllers]
        links += [(there, here) for here, there in links]
        for link in links:
            cluster.network.cut(*link)
        await asyncio.sleep(SESSION_S * self.rng.uniform(1.0, 1.3))
        for link in links:
            cluster.network.heal(*link)

    async def _leases_end(self) -> None:
        """No broker reaches a controller until its lease ends; its session goes on."""
        async with asyncio.TaskGroup() as all_of_them:
            for host in self.cluster.brokers:
                all_of_them.create_task(self._lease_ends(host))

    async def _stopped_in_order(self) -> None:
        """A broker is asked to stop, and is started again when it has: it leaves nothing that others can lead."""
        cluster, host = self.cluster, self.rng.choice(self.cluster.brokers)
        process = host.process
        if process is None or host.address is None or not host.is_running:
            return
        begun, is_alone = self.begun, self.lasting == 1
        led = len(inspection.led_by(cluster, host))
        host.stop.set()
        until_s = cluster.loop.time() + STOP_S
        while host.process is process and not host.has_ended and cluster.loop.time() < until_s:
            await asyncio.sleep(inspection.LOOK_S)
        left = inspection.led_by(cluster, host)
        if host.process is process and is_alone and begun == self.begun:
            cluster.counts["partitions moved before an end"] += led - len(left)
            if cluster.nature.is_calm and set(cluster.nature.faults) == {STOPPED_IN_ORDER}:
                cluster.failures += [f"{it} is left behind by {host.name}" for it in sorted(left)]
        while host.process is process and cluster.loop.time() < until_s:
            await asyncio.sleep(inspection.LOOK_S)
        await cluster.serving([host])

    async def _drained_by_operator(self) -> None:
        """An operator drains a broker, and later takes it back; meanwhile it leads nothing."""
        cluster, host = self.cluster, self.rng.choice(self.cluster.brokers)
        begun, is_alone = self.begun, self.lasting == 1
        if not await drain(cluster, host):
            return
        until_s = cluster.loop.time() + DRAINED_S
        while inspection.led_by(cluster, host) and cluster.loop.time() < until_s:
            await asyncio.sleep(inspection.LOOK_S)
        left = inspection.led_by(cluster, host)
        await asyncio.sleep(self.rng.choice((0.0, 0.5, 2.0)) * self.rng.random())
        left |= inspection.led_by(cluster, host)
        cluster.counts["brokers drained"] += not left
        is_undisturbed = is_alone and begun == self.begun
        if is_undisturbed and cluster.nature.is_calm and set(cluster.nature.faults) == {DRAINED}:
            cluster.failures += [f"{it} is led by {host.name}, which is drained" for it in left]
        await drain(cluster, host, undo=True)

    async def _lease_ends(self, host: Host) -> None:
        cluster, until_s = self.cluster, self.cluster.loop.time() + SESSION_S
        links = [(host.name, it.name) for it in cluster.controllers]
        links += [(there, here) for here, there in links]
        for link in links:
            cluster.network.cut(*link)
        while inspection.served(host) and cluster.loop.time() < until_s:
            await asyncio.sleep(inspection.LOOK_S / 5)
        await asyncio.sleep(self.rng.uniform(0, MAX_LEASELESS_S))
        for link in links:
            cluster.network.heal(*link)

    async def _all_controllers(self) -> None:
        async with asyncio.TaskGroup() as all_of_them:
            for host in self.cluster.controllers:
                all_of_them.create_task(self._down(host, power_cut=self.rng.random() < 0.5))

    async def _leader_and_another(self) -> None:
        if len(self.cluster.controllers) < 2:
            return
        one, other = self.rng.sample(self.cluster.controllers, 2)
        async with asyncio.TaskGroup() as both:
            both.create_task(self._stopped(one, self.rng.uniform(0.5, 3)))
            both.create_task(self._down(other, power_cut=False))

    async def _bucket_down(self) -> None:
        bucket = self.cluster.bucket
        bucket.is_down = True
        await asyncio.sleep(self.rng.uniform(0.5, 4.0))
        bucket.is_down = False

    async def _empty_controller(self) -> None:
        """A controller loses its disk; one at a time, and only where a majority keeps theirs."""
        cluster = self.cluster
        if len(cluster.controllers) >= 3 and all(it.done() for it in cluster.repairs):
            host = self.rng.choice(cluster.controllers)
            cluster.repairs.append(asyncio.create_task(replace_disk(cluster, host)))

    async def _second_process(self) -> None:
        """A second process has a broker's node id, on another host with empty disks."""
        cluster = self.cluster
        host = self.rng.choice(cluster.brokers)
        twin = cluster.twin(host.node_id)
        cluster.start(twin)
        await asyncio.sleep(self.rng.uniform(0.5, 6.0))
        cluster.kill(twin)
        rng = cluster.rng("twin's loss", cluster.loop.time())
        giving_up = give_up_twins_log(cluster, host, twin, rng)
        cluster.repairs.append(asyncio.create_task(giving_up))

    async def _connections_reset(self) -> None:
        """All connections of a broker end, with the answers that are on their way."""
        self.cluster.network.reset(self.rng.choice(self.cluster.brokers).name)

    def _client(self) -> str:
        return self.rng.choice(CLIENTS)

    async def _client_cut(self) -> None:
        """A client and a broker do not hear each other, or only one of them does."""
        client, broker = self._client(), self.rng.choice(self.cluster.brokers).name
        links = [(client, broker), (broker, client)]
        await self._cut_links(self.rng.choice((links, links[:1], links[1:])))

    async def _slow_host(self) -> None:
        """All that a node or a client sends and gets is late."""
        slow = self.cluster.network.slow
        name = self.rng.choice((self._any().name, self._client()))
        slow[name] = self.rng.choice((0.05, 0.3, 1.0)) * self.rng.random()
        await asyncio.sleep(self.rng.uniform(0.5, 4.0))
        slow.pop(name, None)

    async def _wall_clock_set(self) -> None:
        """Somebody sets a node's time of day."""
        self._any().wall_clock_ahead_ms = round(self.rng.uniform(-1, 1) * MAX_AHEAD_MS)

    async def _volume_away(self) -> None:
        """Nobody can read the WAL of another broker."""
        volume = self.cluster.volume
        volume.is_away = True
        await asyncio.sleep(self.rng.uniform(0.5, 4.0))
        volume.is_away = False

    async def _empty_wal(self) -> None:
        """A broker loses its WAL, and an operator accepts it; one at a time."""
        cluster = self.cluster
        host = self.rng.choice(cluster.brokers)
        if host.disks.has_wal and all(it.done() for it in cluster.repairs):
            rng = cluster.rng("loss", cluster.loop.time())
            cluster.repairs.append(asyncio.create_task(lose_wal(cluster, host, rng)))

    async def _broker_lost(self) -> None:
        await self._lost(1)

    async def _most_brokers_lost(self) -> None:
        """Three of five, two of three."""
        await self._lost((len(self.cluster.brokers) + 1) // 2)

    async def _lost(self, count: int) -> None:
        """Brokers are gone and stay away until others serve their partitions."""
        cluster = self.cluster
        if count >= len(cluster.brokers):
            return
        watch = _Watch(self, self.rng.sample(cluster.brokers, count))
        await watch.end(SEEN_FAILOVER_S if cluster.nature.sees_ends else SESSION_S + FAILOVER_S)
        await cluster.serving(watch.hosts)

    async def _drained(self, host: Host) -> Host | None:
        """Wait until a broker's log is drained; return by whom."""
        drainer = await inspection.drainer_of(self.cluster, host, SESSION_S + FAILOVER_S)
        await asyncio.sleep(self.rng.choice((0.0, 0.05, 0.3)) * self.rng.random())
        return drainer

    async def _owner_back(self) -> None:
        """A broker comes back while its log is drained."""
        host = self.rng.choice(self.cluster.brokers)
        self.cluster.kill(host, power_cut=self.rng.random() < 0.5)
        host.keep_down = True
        await self._drained(host)
        host.keep_down = False
        if not host.is_repaired:
            self.cluster.start(host)

    async def _drainer_killed(self) -> None:
        """Who drains a log dies over it, and a third broker drains it."""
        watch = _Watch(self, [self.rng.choice(self.cluster.brokers)])
        drainer = await self._drained(watch.hosts[0])
        if drainer is not None:
            self.cluster.kill(drainer, power_cut=self.rng.random() < 0.5)
        await watch.end(SESSION_S + FAILOVER_S)

    async def _hasty_drainer(self) -> None:
        """Who drains a log says that it is done before it is, as one with a mistake would."""
        watch = _Watch(self, [self.rng.choice(self.cluster.brokers)])
        if await self._drained(watch.hosts[0]) is not None:
            await finish_early(self.cluster, watch.hosts[0])
        await watch.end(SESSION_S + FAILOVER_S)

    async def _second_drainer(self) -> None:
        """A broker takes a drain for its own that another one has by now."""
        watch = _Watch(self, [self.rng.choice(self.cluster.brokers)])
        if await self._drained(watch.hosts[0]) is not None:
            await finish_for_another(self.cluster, watch.hosts[0])
        await watch.end(SESSION_S + FAILOVER_S)

    async def _long_drain(self) -> None:
        """A broker that has much in its log is gone until others have brought it to the bucket."""
        cluster = self.cluster
        host = self.rng.choice(cluster.brokers)
        cluster.kill(host, power_cut=self.rng.random() < 0.5)
        host.keep_down = True
        until_s = cluster.loop.time() + LONG_DRAIN_S
        while cluster.loop.time() < until_s:
            await asyncio.sleep(inspection.LOOK_S)
            log = inspection.log_of(cluster, host)
            if log is not None and log.settled:
                break
        host.keep_down = False

    async def _level_raised(self) -> None:
        """An operator raises the level of the cluster, once every node reads the newest one; once."""
        if self.cluster.counts[LEVEL_RAISED] == 1:
            self.cluster.repairs.append(asyncio.create_task(raise_level(self.cluster)))


class _Watch:
    """Brokers that are gone: others must serve their partitions, in time where nothing else is wrong."""

    def __init__(self, story: Story, hosts: list[Host]) -> None:
        """Kill them, and keep them down until the end."""
        cluster, rng = story.cluster, story.rng
        self._story = story
        self._begun, self._is_alone = story.begun, story.lasting == 1
        self._wanted = set().union(*map(inspection.served, hosts))
        self.hosts = hosts
        for host in hosts:
            cluster.kill(host, power_cut=rng.random() < 0.5)
            host.keep_down = True

    async def end(self, within_s: float) -> None:
        """Wait for the others, and let the brokers come back."""
        cluster, nature = self._story.cluster, self._story.cluster.nature
        left = await inspection.unserved(cluster, self._wanted, within_s)
        cluster.counts["partitions served by others"] += len(self._wanted) - len(left)
        is_alone = self._is_alone and self._story.begun == self._begun
        if is_alone and nature.is_calm and LOSSES.issuperset(nature.faults):
            cluster.failures += [f"{it} is served by nobody" for it in sorted(left)]
        for host in self.hosts:
            host.keep_down = False
