"""Faults in the middle of a move: what its source, its target, or both of them do not live to see, or hear of late."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Final
from uuid import UUID

from headrace.metadata.images.moves import MoveImage
from tests.simulation.cluster import inspection
from tests.simulation.cluster.cluster import Cluster, Host
from tests.simulation.cluster.settings import SESSION_MS

LOOK_S: Final = 0.005  # a partition is frozen for some hundredths of a second
WAIT_S: Final = 1.5  # for a move
FROZEN: Final = 0.7  # probability that it is waited for until its partition is frozen
DEAF_S: Final = (
    0.2,
    2.2,
)  # shorter than a session: the partition may have been moved back meanwhile
STOPPED_S: Final = (0.05, 1.5)
GONE_S: Final = SESSION_MS / 1000 + 1.0


async def disturb(cluster: Cluster, rng: random.Random) -> None:
    """Wait for a move, and let something happen to one of its brokers."""
    found = await _move(cluster, is_frozen=rng.random() < FROZEN)
    if found is None:
        return
    source, target, key = found
    kinds: dict[str, Callable[[], Awaitable[None]]] = {
        "answer lost": lambda: _reset(cluster, source),
        "source deaf": lambda: _deaf(cluster, source, key, rng.uniform(*DEAF_S)),
        "source stopped": lambda: _stopped(cluster, source, rng.uniform(*STOPPED_S)),
        "source killed": lambda: _gone(cluster, [source], rng.random()),
        "target killed": lambda: _gone(cluster, [target], rng.random()),
        "both lost": lambda: _gone(cluster, [source, target], GONE_S),
    }
    kind = rng.choice([*kinds])
    cluster.tell(f"move disturbed: {kind}")
    await kinds[kind]()


async def _move(cluster: Cluster, *, is_frozen: bool) -> tuple[Host, Host, tuple[UUID, int]] | None:
    """Wait for a move from a broker that runs; return source, target, and which partition moves."""
    hosts = {it.node_id: it for it in cluster.brokers}
    until_s = cluster.loop.time() + WAIT_S
    while cluster.loop.time() < until_s:
        image = inspection.newest_image(cluster)
        moves: list[MoveImage] = [] if image is None else [*image.moves.values()]
        for move in moves:
            assert image is not None
            topic = image.topics[move.topic_id]
            source = hosts[topic.partitions[move.partition].leader]
            key = (move.topic_id, move.partition)
            frozen = inspection.served(source) - inspection.served(source, frozen_too=False)
            if source.is_running and (not is_frozen or key in frozen):
                return source, hosts[move.target], key
        await asyncio.sleep(LOOK_S)
    return None


async def _reset(cluster: Cluster, host: Host) -> None:
    """All its connections end, with the answers that are on their way."""
    cluster.network.reset(host.name)


async def _deaf(cluster: Cluster, host: Host, key: tuple[UUID, int], for_s: float) -> None:
    """What it asks for is carried out, and it is not told: not before its partition has been moved back, perhaps."""
    until_s = cluster.loop.time() + for_s
    links = [(it.name, host.name) for it in cluster.controllers]
    for link in links:
        cluster.network.cut(*link)
    await _led(cluster, key, until_s, lambda leader: leader != host.node_id)
    image = inspection.newest_image(cluster)
    topic = None if image is None else image.topic_by_id(key[0])
    if topic is not None:
        cluster.wanted_back.append(((topic.name, key[1]), host.node_id))
    await _led(cluster, key, until_s, lambda leader: leader == host.node_id)
    for link in links:
        cluster.network.heal(*link)


async def _led(
    cluster: Cluster, key: tuple[UUID, int], until_s: float, by: Callable[[int], bool]
) -> None:
    """Wait until a partition has such a leader, or until a moment."""
    while cluster.loop.time() < until_s:
        image = inspection.newest_image(cluster)
        topic = None if image is None else image.topic_by_id(key[0])
        if topic is not None and by(topic.partitions[key[1]].leader):
            return
        await asyncio.sleep(LOOK_S)


async def _stopped(cluster: Cluster, host: Host, for_s: float) -> None:
    process = host.process
    if process is None:
        return
    process.stop()
    await asyncio.sleep(for_s)
    if process.is_alive and process.is_stopped:
        process.resume(cluster.loop)


async def _gone(cluster: Cluster, hosts: list[Host], for_s: float) -> None:
    for host in hosts:
        cluster.kill(host)
        host.keep_down = True
    await asyncio.sleep(for_s)
    for host in hosts:
        host.keep_down = False
