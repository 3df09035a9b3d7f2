"""What one node sends to another one gets lost for longer than a session: nobody is fenced, and leases come back soon.

By role: the leading controller, the others, and brokers. Beside the pairs, all brokers are cut from the leader, and the
leader from all brokers.
"""

import asyncio
import random
from collections.abc import Iterator

from tests.simulation.cluster import inspection
from tests.simulation.cluster.cluster import Cluster, Host
from tests.simulation.cluster.nature import EACH_WAY_LONG
from tests.simulation.cluster.settings import SESSION_MS

SESSION_S = SESSION_MS / 1000
LASTS = (1.1, 1.3)  # in sessions
# Of a broker, at once: a lost leader is replaced, and the new one is found, or who passes requests on to the old one.
MAX_LEASELESS_S = 1.0
AFTERWARDS_S = 0.4

Links = list[tuple[str, str]]


def leading(cluster: Cluster) -> Host | None:
    """Return the controller that leads."""
    for host in cluster.controllers:
        role = inspection.controller_of(host)
        if host.is_running and role is not None and role.node._leadership is not None:
            return host
    return None


def each_cut(cluster: Cluster, leader: Host) -> Iterator[tuple[str, Links]]:
    """Yield all cuts in one direction, with what they are called."""
    others = [it for it in cluster.controllers if it is not leader]
    roles = {"leader": leader}
    roles |= {f"follower {number}": it for number, it in enumerate(others)}
    roles |= {f"broker {number}": it for number, it in enumerate(cluster.brokers)}
    for source, here in roles.items():
        for target, there in roles.items():
            if here is not there and not (here in cluster.brokers and there in cluster.brokers):
                yield f"{source} to {target}", [(here.name, there.name)]
    brokers = [it.name for it in cluster.brokers]
    yield "brokers to leader", [(it, leader.name) for it in brokers]
    yield "leader to brokers", [(leader.name, it) for it in brokers]
    for number, follower in enumerate(others):
        # The leader hears no broker, and one of the others does not hear the leader.
        yield (
            f"brokers to leader, leader to follower {number}",
            [(it, leader.name) for it in brokers] + [(leader.name, follower.name)],
        )


async def cut_one(cluster: Cluster, rng: random.Random, *, is_judged: bool) -> None:
    """Cut one drawn way; by the nature alone it is judged or not."""
    leader = leading(cluster)
    if leader is not None:
        what, links = rng.choice(list(each_cut(cluster, leader)))
        await _cut(cluster, rng, what, links, is_judged=is_judged)


async def cut_each(cluster: Cluster, rng: random.Random) -> None:
    """Cut each way once, one after the other; once in a run."""
    if cluster.counts[EACH_WAY_LONG] > 1:
        return
    done: set[str] = set()
    while True:
        while (leader := leading(cluster)) is None:
            await asyncio.sleep(inspection.LOOK_S)
        left = [it for it in each_cut(cluster, leader) if it[0] not in done]
        if not left:
            return
        what, links = left[0]
        await _cut(cluster, rng, what, links, is_judged=True)
        done.add(what)
        await asyncio.sleep(AFTERWARDS_S)


async def _cut(
    cluster: Cluster, rng: random.Random, what: str, links: Links, *, is_judged: bool
) -> None:
    epochs = _epochs(cluster)
    leaseless_since_s: dict[str, float] = {}
    longest_s = 0.0
    for link in links:
        cluster.network.cut(*link)
    until_s = cluster.loop.time() + SESSION_S * rng.uniform(*LASTS)
    while cluster.loop.time() < until_s:
        await asyncio.sleep(inspection.LOOK_S)
        now_s = cluster.loop.time()
        for host in cluster.brokers:
            if inspection.served(host):
                leaseless_since_s.pop(host.name, None)
            else:
                longest_s = max(longest_s, now_s - leaseless_since_s.setdefault(host.name, now_s))
    for link in links:
        cluster.network.heal(*link)
    if not is_judged:
        return
    cluster.tell(f"cut judged: {what}")
    if cluster.says:
        print(f"{what}: {longest_s:.2f} s without a lease", flush=True)
    if _epochs(cluster) != epochs:
        cluster.failures.append(f"{what}: a broker was fenced")
    if longest_s > MAX_LEASELESS_S:
        cluster.failures.append(f"{what}: a broker had no lease for {longest_s:.2f} s")


def _epochs(cluster: Cluster) -> dict[int, tuple[int, int]]:
    """Return the epochs of all brokers, and their states."""
    image = inspection.newest_image(cluster)
    brokers = () if image is None else image.brokers.values()
    return {it.node_id: (it.epoch, it.state) for it in brokers}
