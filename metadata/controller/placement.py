"""Chooses the broker of each new partition. Pure.

The replication factor is one by design: of a manual assignment's replicas the first active one
leads. Racks make no difference, since there is no second replica.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import heapify, heapreplace
from types import MappingProxyType
from typing import TYPE_CHECKING

from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.images.draining import closed_brokers, is_drained
from headrace.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from random import Random


def active_brokers(image: MetadataImage, unable: frozenset[int] = frozenset()) -> list[int]:
    """Brokers that may get partitions, sorted by id: not those that are drained or about to end, unless all are.

    Nor those that cannot open any now, unless no other stays. Those that have said that they can drain logs come first:
    another may have begun to stop before its first report.

    Raises:
        RefusedError: there is none.
    """
    found = sorted(broker.node_id for broker in image.brokers.values() if not broker.fenced)
    if not found:
        raise RefusedError(
            ErrorCode.INVALID_REPLICATION_FACTOR, "no broker is active: all are fenced or starting"
        )
    closed = closed_brokers(image.brokers, image.logs, image.configs)
    staying = [it for it in found if it not in closed]
    some = [it for it in staying if it not in unable] or staying
    return [it for it in some if image.brokers[it].reach] or some or found


def able_brokers(image: MetadataImage, unable: frozenset[int]) -> list[int]:
    """Those of `active_brokers` that can open partitions now; none if no broker that stays can.

    Raises:
        RefusedError: no broker is active.
    """
    return [it for it in active_brokers(image, unable) if it not in unable]


def partitions_led(image: MetadataImage) -> Counter[int]:
    """How many partitions each broker leads, fenced brokers included. Iterates over all partitions."""
    led: Counter[int] = Counter()
    for topic in image.topics.values():
        led.update([partition.leader for partition in topic.partitions])
    return led


def place(
    count: int,
    brokers: Sequence[int],
    led: Mapping[int, int],
    rng: "Random",
    *,
    of_topic: Mapping[int, int] = MappingProxyType({}),
) -> list[int]:
    """Spread the new partitions of one topic over brokers.

    Each goes to the broker that leads fewest of this topic; among equals to the one that leads
    fewest of all topics; among equals to a random one. So a topic's traffic is spread even when a
    new broker has no partitions yet, and the remainder goes to the brokers with the fewest.

    Args:
        count: of partitions to place.
        brokers: those that may get some.
        led: partitions of all topics that each broker leads now; absent: none.
        rng: breaks ties.
        of_topic: those among them that the topic has already.
    """
    loads = [
        (of_topic.get(broker, 0), led.get(broker, 0), rng.random(), broker) for broker in brokers
    ]
    heapify(loads)
    leaders = []
    for _ in range(count):
        mine, all_led, rank, broker = loads[0]
        leaders.append(broker)
        heapreplace(loads, (mine + 1, all_led + 1, rank, broker))
    return leaders


def assigned_leader(replicas: Sequence[int], image: MetadataImage) -> int:
    """The leader of a manually assigned partition.

    Raises:
        RefusedError: INVALID_REPLICA_ASSIGNMENT with the reason.
    """
    if not replicas:
        raise RefusedError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT, "a manual assignment names no broker"
        )
    if len(set(replicas)) != len(replicas):
        raise RefusedError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"the manual assignment {list(replicas)} names a broker twice",
        )
    for node_id in replicas:
        broker = image.brokers.get(node_id)
        if broker is None:
            raise RefusedError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"the manual assignment names broker {node_id}, which is not registered",
            )
    unfenced = [it for it in replicas if not image.brokers[it].fenced]
    if not unfenced:
        raise RefusedError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"none of the brokers {list(replicas)} of the manual assignment is active",
        )
    closed = closed_brokers(image.brokers, image.logs, image.configs)
    if all(it in closed and is_drained(image.configs, it) for it in unfenced):
        raise RefusedError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"brokers {unfenced} of the manual assignment are drained: name others, or take that back "
            f"(headrace cluster drain {unfenced[0]} --undo)",
        )
    if len(unfenced) == 1:
        return unfenced[0]
    staying = active_brokers(image)
    return next((it for it in unfenced if it in staying), unfenced[0])
