"""Brokers in the metadata image, and the effect of their records. Pure."""

from enum import IntEnum
from typing import ClassVar
from uuid import UUID

import msgspec

from headrace.config.node import Endpoint
from headrace.invariants import InvariantError, require
from headrace.metadata.records.brokers import (
    FenceBrokerRecord,
    FenceReason,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)
from headrace.metadata.records.logs import BrokerReachRecord, LogReach
from headrace.persistent_map import PersistentMap


class BrokerState(IntEnum):
    """States of one broker epoch: STARTING -> ACTIVE -> EXPIRED or SHUT_DOWN (also from STARTING)."""

    STARTING = 0
    ACTIVE = 1
    EXPIRED = 2
    SHUT_DOWN = 3


class BrokerImage(msgspec.Struct, frozen=True, gc=False):
    """One broker in its newest epoch."""

    node_id: int
    epoch: int
    incarnation_id: UUID
    endpoints: tuple[Endpoint, ...]
    rack: str
    state: BrokerState
    registered_ms: int
    replaced_incarnation_id: UUID | None  # the process whose epoch this one ended
    session_timeout_ms: int  # its leases are derived from it; 0: the controller's setting
    locks: tuple[str, ...] = ()  # that its process holds until it ends
    reach: tuple[LogReach, ...] = ()  # logs of other brokers that it can drain
    ended_ms: int = 0  # when its epoch has ended; 0: it has not, or that is not known

    @property
    def fenced(self) -> bool:
        """Whether it is hidden from clients and gets no new partitions."""
        return self.state != BrokerState.ACTIVE

    @property
    def epoch_ended(self) -> bool:
        """Whether requests with this epoch are refused."""
        return self.state in (BrokerState.EXPIRED, BrokerState.SHUT_DOWN)


Brokers = PersistentMap[int, BrokerImage]


def active_brokers(brokers: Brokers) -> list[int]:
    """Ids of the active brokers, in order."""
    return sorted(it.node_id for it in brokers.values() if not it.fenced)


def has_ended(brokers: Brokers, node_id: int, epoch: int | None = None) -> bool:
    """Whether a broker's registration has ended: this one, or without an epoch its newest."""
    broker = brokers.get(node_id)
    return broker is None or broker.epoch_ended or epoch not in (None, broker.epoch)


def adopter(brokers: Brokers, node_id: int) -> int | None:
    """Return the adopter of a node's objects: the node that compacts them and deletes the dead ones.

    It is the node itself while its epoch lasts, starting included. The objects of a node whose
    epoch has ended, or that is not registered any more, are adopted by the active broker with the
    lowest id. None: there is no active broker, and the objects can wait.

    Every broker computes the same adopter from the same image. With different images two brokers
    may both take themselves for the adopter: the second commit is refused, as its sources are gone.
    """
    owner = brokers.get(node_id)
    if owner is not None and not owner.epoch_ended:
        return node_id
    return next(iter(active_brokers(brokers)), None)


class BrokersDelta:
    """Replays the records about brokers on top of an image."""

    _ENDED: ClassVar = {
        FenceReason.SESSION_EXPIRED: BrokerState.EXPIRED,
        FenceReason.SHUT_DOWN: BrokerState.SHUT_DOWN,
    }

    def __init__(self, brokers: Brokers) -> None:
        self._brokers = brokers

    def register(self, record: RegisterBrokerRecord) -> None:
        """Start a new epoch of a broker."""
        old = self._brokers.get(record.node_id)
        require(old is None or old.epoch < record.epoch, "broker epochs only grow")
        self._set(
            BrokerImage(
                record.node_id,
                record.epoch,
                record.incarnation_id,
                tuple(Endpoint(it.name, it.host, it.port) for it in record.endpoints),
                record.rack,
                BrokerState.STARTING,
                record.timestamp_ms,
                record.replaced_incarnation_id,
                record.session_timeout_ms,
                record.locks,
            )
        )

    def unfence(self, record: UnfenceBrokerRecord) -> None:
        """Mark a starting broker active."""
        broker = self._at_epoch(record.node_id, record.epoch)
        require(not broker.epoch_ended, "an epoch that has ended does not come back")
        self._set(msgspec.structs.replace(broker, state=BrokerState.ACTIVE))

    def fence(self, record: FenceBrokerRecord) -> None:
        """End a broker's epoch."""
        broker = self._at_epoch(record.node_id, record.epoch)
        ended = self._ENDED[record.reason]
        self._set(msgspec.structs.replace(broker, state=ended, ended_ms=record.timestamp_ms))

    def unregister(self, record: UnregisterBrokerRecord) -> None:
        """Remove a broker."""
        self._at_epoch(record.node_id, record.epoch)
        self._brokers = self._brokers.delete(record.node_id)

    def set_reach(self, record: BrokerReachRecord) -> None:
        """Note which logs of other brokers this one can drain."""
        broker = self._at_epoch(record.node_id, record.epoch)
        self._set(msgspec.structs.replace(broker, reach=record.reach))

    def finish(self) -> Brokers:
        """Return the new map; the old one when nothing has changed."""
        return self._brokers

    def _at_epoch(self, node_id: int, epoch: int) -> BrokerImage:
        broker = self._brokers.get(node_id)
        if broker is None:
            raise InvariantError(f"broker {node_id} is registered")
        require(broker.epoch == epoch, f"broker {node_id} is at epoch {epoch}")
        return broker

    def _set(self, broker: BrokerImage) -> None:
        self._brokers = self._brokers.set(broker.node_id, broker)
