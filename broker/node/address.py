"""The addresses of a node that is ready, with its bucket and its WAL."""

import msgspec

from headrace.wal.port import Medium


class BrokerAddress(msgspec.Struct, frozen=True):
    """Addresses of a node that serves clients, with its bucket and its WAL."""

    kafka_host: str
    kafka_port: int
    bucket: str
    wal: str
    wal_medium: Medium


class NodeAddress(msgspec.Struct, frozen=True):
    """Addresses of any node."""

    node_id: int
    roles: tuple[str, ...]
    cluster_id: str  # empty: a controller that does not know its cluster yet
    admin_url: str  # empty when there is no admin endpoint
    controller: str = ""  # host:port of the controller's listener; empty without one
    broker: BrokerAddress | None = None  # None: it is only a controller
