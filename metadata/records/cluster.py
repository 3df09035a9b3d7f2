"""Records about the cluster as a whole. Fields are encoded in this order; only append."""

import msgspec


class ClusterIdRecord(msgspec.Struct, frozen=True, array_like=True, tag=1, gc=False):
    """Names the cluster. The first one of its log counts."""

    cluster_id: str


class LeaderChangeRecord(msgspec.Struct, frozen=True, array_like=True, tag=2, gc=False):
    """Opens a term: the no-op that a new leader makes durable before it serves anything."""

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
    """Gives every producer id below `next_producer_id` that nobody had to this broker."""

    broker_id: int
    broker_epoch: int
    next_producer_id: int


class NextIdsRecord(msgspec.Struct, frozen=True, array_like=True, tag=7, gc=False):
    """Counters that only grow, so that ids of what has been removed are not used again."""

    next_stream_id: int
    next_object_id: int
