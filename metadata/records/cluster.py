"""Records about the cluster as a whole. Fields are encoded in this order; only append.

Tags 4 and 5 were of level 1 of the metadata, and stay unused.
"""

from headrace.metadata.records.record import MetadataRecord


class ClusterIdRecord(MetadataRecord, frozen=True, tag=1):
    """Sets the cluster id. The first one in the log counts."""

    cluster_id: str


class LeaderChangeRecord(MetadataRecord, frozen=True, tag=2):
    """Opens a term: the no-op that a new leader commits before it serves any request."""

    term: int
    leader_id: int
    timestamp_ms: int  # wall clock of the leader


class FeatureRecord(MetadataRecord, frozen=True, tag=3):
    """Sets the level of a cluster-wide feature; 0 removes it."""

    name: str
    level: int


class ProducerIdsRecord(MetadataRecord, frozen=True, tag=6):
    """Assigns all free producer ids below `next_producer_id` to this broker."""

    broker_id: int
    broker_epoch: int
    next_producer_id: int


class NextIdsRecord(MetadataRecord, frozen=True, tag=7):
    """Counters that only grow, so that ids of removed items are not reused."""

    next_stream_id: int
    next_object_id: int
