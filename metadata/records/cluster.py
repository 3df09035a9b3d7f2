"""Records about the cluster as a whole. Fields are encoded in this order; only append."""

import msgspec


class ClusterIdRecord(msgspec.Struct, frozen=True, array_like=True, tag=1, gc=False):
    """Sets the cluster id. The first one in the log counts."""

    cluster_id: str


class LeaderChangeRecord(msgspec.Struct, frozen=True, array_like=True, tag=2, gc=False):
    """Opens a term: the no-op that a new leader commits before it serves any request."""

    term: int
    leader_id: int
    timestamp_ms: int  # wall clock of the leader


class FeatureRecord(msgspec.Struct, frozen=True, array_like=True, tag=3, gc=False):
    """Sets the level of a cluster-wide feature; 0 removes it."""

    name: str
    level: int


class KeyValueRecord(msgspec.Struct, frozen=True, array_like=True, tag=4, gc=False):
    """Sets one key of the small cluster-wide store."""

    key: str
    value: bytes


class RemoveKeyValueRecord(msgspec.Struct, frozen=True, array_like=True, tag=5, gc=False):
    """Removes one key of that store."""

    key: str


class ProducerIdsRecord(msgspec.Struct, frozen=True, array_like=True, tag=6, gc=False):
    """Assigns all free producer ids below `next_producer_id` to this broker."""

    broker_id: int
    broker_epoch: int
    next_producer_id: int


class NextIdsRecord(msgspec.Struct, frozen=True, array_like=True, tag=7, gc=False):
    """Counters that only grow, so that ids of removed items are not reused."""

    next_stream_id: int
    next_object_id: int
