"""Looks into the nodes: who leads what at a moment, and whether all hold the same metadata.

A node gives nothing of this away, so it is found where its coroutine keeps it.
"""

import asyncio
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any
from uuid import UUID

from headrace.broker.node.broker_role import BrokerRole
from headrace.broker.node.controller_role import ControllerRole
from headrace.metadata.errors import RefusedError
from headrace.metadata.follower.lease import BrokerLease
from headrace.metadata.follower.log_admin import LogAdmin
from headrace.metadata.image import MetadataImage
from headrace.metadata.images.brokers import BrokerState
from headrace.metadata.images.logs import Drain, LogImage, LogState
from headrace.metadata.images.objects import ObjectState
from headrace.storage.audit.inventory import KeyKind, meaning_of
from headrace.storage.objects.keys import object_key
from tests.simulation.cluster.balance_judge import uneven
from tests.simulation.cluster.cluster import Cluster, Host
from tests.simulation.cluster.entries import JudgedLog
from tests.simulation.cluster.leaseless import LeaselessAnswers
from tests.simulation.cluster.nature import CLIENT_FAULTS
from tests.simulation.cluster.records import Place

LOOK_S = 0.05
MAX_FAILURES = 5  # then the run is over
EQUAL_S = 20.0
EVEN_S = 60.0  # some rests of a partition or a broker, one after the other
SWEPT_S = 240.0


def broker_of(host: Host) -> BrokerRole | None:
    """Return the broker that runs on a host."""
    found = _local(host, "broker")
    return found if isinstance(found, BrokerRole) else None


def controller_of(host: Host) -> ControllerRole | None:
    """Return the controller that runs on a host."""
    found = _local(host, "controller")
    return found if isinstance(found, ControllerRole) else None


def image_of(host: Host) -> MetadataImage | None:
    """Return the metadata as a node has them."""
    controller, broker = controller_of(host), broker_of(host)
    if controller is not None:
        try:
            return controller.node.image
        except RefusedError:
            return None  # it is starting
    parts = None if broker is None else broker._parts
    return None if parts is None else parts._client.image


def newest_image(cluster: Cluster) -> MetadataImage | None:
    """Return the newest metadata of a running controller."""
    found = _newest(cluster)
    return None if found is None else found[0]


def leader_epoch(cluster: Cluster, place: Place) -> int:
    """Return the newest leader epoch of a partition; -1: there is none."""
    return _epoch_in(newest_image(cluster), place)


def leads_now(cluster: Cluster, place: Place, node_id: int) -> bool:
    """Return whether a broker leads a partition, by the newest metadata."""
    image = newest_image(cluster)
    topic = None if image is None else image.topic(place[0])
    return topic is not None and topic.partitions[place[1]].leader == node_id


def known_epoch(host: Host, place: Place) -> int:
    """Return the leader epoch of a partition as a node knows it; -1: it knows none."""
    return _epoch_in(image_of(host), place)


def _epoch_in(image: MetadataImage | None, place: Place) -> int:
    topic = None if image is None else image.topic(place[0])
    return -1 if topic is None else topic.partitions[place[1]].leader_epoch


def _newest(cluster: Cluster) -> tuple[MetadataImage, Host] | None:
    """The newest metadata of a running controller, and its host."""
    images = [(image_of(host), host) for host in cluster.controllers if host.is_running]
    found = [(image, host) for image, host in images if image is not None]
    return max(found, key=lambda it: it[0].index, default=None)


def _wrong_entries(image: MetadataImage, host: Host, log: JudgedLog) -> list[str]:
    """What is wrong with the entries of the metadata log since the last look."""
    role = controller_of(host)
    if role is None or role.node._member is None:
        return []
    return log.follow(image, role.node._member.applied.entries)


def balance_moves(cluster: Cluster) -> int:
    """Return how many moves the balance of the leading controller has begun in its term."""
    roles = map(controller_of, cluster.controllers)
    balances = [it.node.balance for it in roles if it is not None and it.node.balance is not None]
    return sum(it.moves_total.total() for it in balances)


def log_of(cluster: Cluster, host: Host) -> LogImage | None:
    """Return a broker's log as the controllers know it."""
    image = newest_image(cluster)
    return None if image is None else image.logs.get(host.node_id)


async def drainer_of(cluster: Cluster, owner: Host, within_s: float) -> Host | None:
    """Wait until a broker's log is drained by another one, and return that one; None: it takes longer."""
    until_s = cluster.loop.time() + within_s
    while cluster.loop.time() < until_s:
        log = log_of(cluster, owner)
        if log is not None and log.state == LogState.DRAINING and log.drain is not None:
            found = log.drain.node_id
            return next(it for it in cluster.brokers if it.node_id == found)
        await asyncio.sleep(LOOK_S / 5)
    return None


def log_admin_of(host: Host) -> LogAdmin | None:
    """Return what operators ask a node for with its admin endpoint."""
    role = broker_of(host) or controller_of(host)
    return None if role is None else role._admin.server.logs


def served(host: Host, *, frozen_too: bool = True) -> set[tuple[UUID, int]]:
    """Return the partitions that a broker serves at this moment; those that are frozen take no records."""
    role = broker_of(host)
    if not host.is_running or role is None or role._parts is None:
        return set()
    partitions = role._parts.partitions
    return (
        {(it.topic_id, it.index) for it in partitions.all() if frozen_too or not it.is_frozen}
        if partitions.is_lease_valid()
        else set()
    )


def led_by(cluster: Cluster, host: Host) -> set[tuple[UUID, int]]:
    """Return the partitions that a broker leads, by the newest metadata."""
    image = newest_image(cluster)
    topics = () if image is None else image.topics.values()
    return {
        (topic.topic_id, it.partition)
        for topic in topics
        for it in topic.partitions
        if it.leader == host.node_id
    }


def places_led_by(cluster: Cluster, node_id: int, topic: str) -> list[tuple[Place, int]]:
    """Return the partitions of a topic that a broker leads, with their leader epochs, by the newest metadata."""
    image = newest_image(cluster)
    found = None if image is None else image.topic(topic)
    partitions = () if found is None else found.partitions
    return [((topic, it.partition), it.leader_epoch) for it in partitions if it.leader == node_id]


async def unserved(
    cluster: Cluster, wanted: set[tuple[UUID, int]], within_s: float
) -> set[tuple[UUID, int]]:
    """Wait until others serve partitions whose broker has died; return those that nobody serves by then.

    Topics may be deleted meanwhile.
    """
    until_s = cluster.loop.time() + within_s
    while True:
        image = newest_image(cluster)
        left = {
            it
            for it in wanted.difference(*map(served, cluster.brokers))
            if image is None or it[0] in image.topics
        }
        if not left or cluster.loop.time() >= until_s:
            return left
        await asyncio.sleep(LOOK_S)


def led_twice(cluster: Cluster) -> list[str]:
    """Return the partitions that two brokers serve at this moment.

    Not counted is one that is frozen at its old leader, which has not heard yet that the new one has taken over: who
    fetches there gets what is in both.
    """
    leaders: dict[tuple[UUID, int], list[str]] = {}
    for host in cluster.brokers + cluster.twins:
        for key in served(host, frozen_too=False):
            leaders.setdefault(key, []).append(host.name)
    return [f"{it} is led by {leaders[it]}" for it in sorted(leaders) if len(leaders[it]) > 1]


def lease_of(host: Host) -> BrokerLease | None:
    """Return the lease of the broker that runs on a host."""
    role = broker_of(host)
    if not host.is_running or role is None or role._parts is None:
        return None
    return role._parts._client._session.lease


def judge_of_leases(cluster: Cluster) -> LeaselessAnswers:
    """Return who judges what brokers without a lease tell."""
    hosts = {it.node_id: it for it in cluster.brokers}
    nature = cluster.nature

    def is_reached(node_id: int) -> bool:
        process = hosts[node_id].process
        return process is not None and not process.is_stopped

    return LeaselessAnswers(
        lambda node_id: lease_of(hosts[node_id]),
        is_reached,
        cluster.loop.time,
        refuses_soon=nature.is_calm
        and nature.has_much_room
        and nature.move_pause_s is None
        and not nature.balances
        and not CLIENT_FAULTS.intersection(nature.faults),
    )


def served_too_long(cluster: Cluster, newest: MetadataImage | None) -> list[str]:
    """Return the brokers whose lease holds although a controller has ended their epoch: another may lead."""
    found = []
    for host in cluster.brokers + cluster.twins:
        role = broker_of(host)
        if newest is None or not host.is_running or role is None or role._parts is None:
            continue
        known, epoch = newest.brokers.get(host.node_id), role._parts._client.node_epoch
        is_over = known is not None and (
            known.epoch > epoch or (known.epoch == epoch and known.state > BrokerState.ACTIVE)
        )
        if is_over and role._parts.partitions.is_lease_valid():
            found.append(f"{host.name} has a lease in epoch {epoch}, which has ended")
    return found


async def watch_leaders(
    cluster: Cluster, metadata_log: JudgedLog, gaps: Callable[[], list[str]]
) -> None:
    """Look for two leaders, long leases and gaps, and wrong entries, until much is found; count drains."""
    drains: set[tuple[Drain | None, LogState]] = set()
    while len(cluster.failures) < MAX_FAILURES:
        await asyncio.sleep(LOOK_S)
        cluster.loop.leaseless.look([it.node_id for it in cluster.brokers])
        newest = _newest(cluster)
        image = None if newest is None else newest[0]
        for log in () if image is None else image.logs.values():
            if log.drain is not None and (log.drain, log.state) not in drains:
                drains.add((log.drain, log.state))
                cluster.counts[f"log {log.state.name.lower()}"] += 1
        found = led_twice(cluster) + served_too_long(cluster, image) + gaps()
        found += [] if newest is None else _wrong_entries(*newest, metadata_log)
        now_s = cluster.loop.time()
        cluster.failures += [f"at {now_s:.2f} s {it}" for it in found]


async def uneven_brokers(cluster: Cluster) -> list[str]:
    """Wait until brokers lead about as many partitions each; return which do not."""
    until_s = cluster.loop.time() + EVEN_S
    while True:
        image = newest_image(cluster)
        found = [] if image is None else uneven(image)
        if not found or cluster.loop.time() > until_s:
            return found
        await asyncio.sleep(LOOK_S)


async def unequal_metadata(cluster: Cluster) -> list[str]:
    """Wait until all nodes are at the same entry; return what differs."""
    until_s = cluster.loop.time() + EQUAL_S
    while True:
        images = {host.name: image_of(host) for host in cluster.hosts}
        indexes = {name: image.index if image else -1 for name, image in images.items()}
        if len(set(indexes.values())) == 1:
            break
        if cluster.loop.time() > until_s:
            return [f"nodes are at different entries of the metadata log: {indexes}"]
        await asyncio.sleep(0.01)
    first, *others = images
    return [f"{it} has other metadata than {first}" for it in others if images[it] != images[first]]


async def orphans(cluster: Cluster) -> list[str]:
    """Let the sweep do its work; return what is in the bucket for nobody, or is missing there."""
    for host in cluster.hosts:
        host.wall_clock_ahead_ms = (
            0  # a clock that is behind makes everything young, for as long as it is
        )
    until_s = cluster.loop.time() + SWEPT_S
    while True:
        image = image_of(cluster.controllers[0])
        assert image is not None
        missing = _missing(cluster, image)
        left = [it for it in sorted(cluster.bucket.objects) if not _is_known(it, image)]
        if missing or not left:
            return missing
        if cluster.loop.time() > until_s:
            return [f"{it} belongs to nothing" for it in left]
        await asyncio.sleep(2)


def _missing(cluster: Cluster, image: MetadataImage) -> list[str]:
    wrong = []
    for found in image.objects.by_id.values():
        if found.state == ObjectState.COMMITTED:
            content = cluster.bucket.objects.get(object_key(image.cluster_id, found.object_id))
            if content is None or len(content) != found.size_bytes:
                size = None if content is None else len(content)
                wrong.append(f"object {found.object_id} of {found.size_bytes} bytes has {size}")
    return wrong


def _is_known(key: str, image: MetadataImage) -> bool:
    meaning = meaning_of(key)
    return meaning.kind is not KeyKind.OBJECT or meaning.object_id in image.objects.by_id


def _local(host: Host, name: str) -> object:
    for frame in _frames(host):
        if frame.f_code.co_qualname.startswith("Node.") and frame.f_locals.get(name) is not None:
            return frame.f_locals[name]
    return None


def _frames(host: Host) -> Iterator[FrameType]:
    coroutine: Any = host.task.get_coro() if host.task is not None else None
    while coroutine is not None and getattr(coroutine, "cr_frame", None) is not None:
        yield coroutine.cr_frame
        coroutine = coroutine.cr_await
