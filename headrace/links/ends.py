"""The two ends of a link: where a node listens, and who it says it is. Pure."""

from typing import NamedTuple
from uuid import UUID


class Address(NamedTuple):
    """Where a node listens."""

    host: str
    port: int


class Party(NamedTuple):
    """The identity of one end of a link."""

    cluster_id: str  # empty: not known yet
    node_id: int
    directory_id: UUID
