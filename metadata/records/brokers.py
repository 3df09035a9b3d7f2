"""Records about brokers. Fields are encoded in this order; only append."""

from enum import IntEnum
from uuid import UUID

import msgspec

from headrace.metadata.records.numbers import Count, ShortText
from headrace.metadata.records.record import MetadataRecord


class FenceReason(IntEnum):
    """Why a broker's epoch has ended."""

    SESSION_EXPIRED = 1  # or its process was seen to have ended
    SHUT_DOWN = 2


class BrokerEndpoint(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A listener as advertised to clients."""

    name: ShortText
    host: ShortText
    port: Count


class RegisterBrokerRecord(MetadataRecord, frozen=True, tag=10):
    """Starts a new epoch of a broker, fenced until it reports that it is ready."""

    node_id: int
    epoch: int
    # Of the process; a repeated request carries the same. Of version 8: the digest of a secret of its process.
    incarnation_id: UUID
    endpoints: tuple[BrokerEndpoint, ...]
    rack: str
    timestamp_ms: int
    # The process whose epoch this ends; None: there was none. A late retry of its request must not
    # take the node over again.
    replaced_incarnation_id: UUID | None
    session_timeout_ms: int = 0  # every leader uses at least this session timeout
    locks: tuple[ShortText, ...] = ()  # that the process holds until it ends; see `RegisterBroker`


class UnfenceBrokerRecord(MetadataRecord, frozen=True, tag=11):
    """The broker is ready: clients see it, and it may get partitions."""

    node_id: int
    epoch: int


class FenceBrokerRecord(MetadataRecord, frozen=True, tag=12):
    """Ends an epoch: requests with it are refused from now on."""

    node_id: int
    epoch: int
    reason: FenceReason
    timestamp_ms: int = 0  # wall clock of the leading controller; 0: not known


class UnregisterBrokerRecord(MetadataRecord, frozen=True, tag=13):
    """Removes a broker."""

    node_id: int
    epoch: int
