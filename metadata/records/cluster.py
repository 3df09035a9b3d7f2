"""Records about the cluster as a whole. Fields are encoded in this order; only append."""

from headrace.metadata.records.record import Record


class ClusterIdRecord(Record, frozen=True, tag=1):
    """Sets the cluster id. The first one in the log counts."""

    cluster_id: str


class LeaderChangeRecord(Record, frozen=True, tag=2):
    """Opens a term: the no-op that a new leader commits before it serves any request."""

    term: int
    leader_id: int
    timestamp_ms: int  # wall clock of the leader


class FeatureRecord(Record, frozen=True, tag=3):
    """Sets the level of a cluster-wide feature; 0 removes it."""

    name: str
    level: int


class KeyValueRecord(Record, frozen=True, tag=4):
    """Sets one key of the small cluster-wide store."""

    key: str
    value: bytes


class RemoveKeyValueRecord(Record, frozen=True, tag=5):
    """Removes one key of that store."""

    key: str


class ProducerIdsRecord(Record, frozen=True, tag=6):
    """Assigns all free producer ids below `next_producer_id` to this broker."""

    broker_id: int
    broker_epoch: int
    next_producer_id: int


class NextIdsRecord(Record, frozen=True, tag=7):
    """Counters that only grow, so that ids of removed items are not reused."""

    next_stream_id: int
    next_object_id: int
