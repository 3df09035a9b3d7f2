"""Which broker a new partition goes to. Pure.

Replication factor is one by design: of a manual assignment's replicas the first that is active
leads.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from metadata.errors import RefusedError
from metadata.image import MetadataImage
from protocol.errors import ErrorCode

if TYPE_CHECKING:
    from random import Random


def active_brokers(image: MetadataImage) -> list[int]:
    """Brokers that may be given partitions, by id.

    Raises:
        RefusedError: there is none.
    """
    found = sorted(broker.node_id for broker in image.brokers.values() if not broker.fenced)
    if not found:
        raise RefusedError(
            ErrorCode.INVALID_REPLICATION_FACTOR, "no broker is active: all are fenced or starting"
        )
    return found


def place(count: int, brokers: Sequence[int], rng: "Random") -> list[int]:
    """Spread partitions evenly, starting at a random broker."""
    first = rng.randrange(len(brokers))
    return [brokers[(first + index) % len(brokers)] for index in range(count)]


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
    leader = None
    for node_id in replicas:
        broker = image.brokers.get(node_id)
        if broker is None:
            raise RefusedError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"the manual assignment names broker {node_id}, which is not registered",
            )
        if leader is None and not broker.fenced:
            leader = node_id
    if leader is None:
        raise RefusedError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"no broker of the manual assignment {list(replicas)} is active",
        )
    return leader
