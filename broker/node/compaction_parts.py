"""Compaction of a broker's objects, with what cleans compacted topics, wired together."""

from headrace.broker.collectors.cleaning_metrics import CleaningCollector
from headrace.broker.node.environment import NodeEnvironment
from headrace.broker.partition.registry import PartitionRegistry
from headrace.broker.partition.topic_cleaner import TopicCleaner
from headrace.config.node import NodeConfig
from headrace.metadata.follower.client import MetadataClient
from headrace.storage.compaction.executor import Compactor, Streams
from headrace.storage.object_store.budgeted import compaction_view
from headrace.storage.ports import ObjectManager, ObjectStore

KEYS_SHARE = 2  # of the memory of compaction the keys of a log that is cleaned get this fraction


class CompactionParts:
    """Made for one registration; nothing is started."""

    def __init__(
        self,
        config: NodeConfig,
        environment: NodeEnvironment,
        client: MetadataClient,
        store: ObjectStore,
        objects: ObjectManager,
        partitions: PartitionRegistry,
        streams: Streams,
    ) -> None:
        storage = config.storage
        self.cleaner = TopicCleaner(
            partitions,
            client,
            config.log,
            environment.wall_clock_ms,
            memory_bytes=storage.compaction_memory_bytes // KEYS_SHARE,
        )
        bucket = compaction_view(store, storage)
        self.budget = bucket.budget
        self.compactor = Compactor(
            storage,
            bucket,
            objects,
            client.image.cluster_id,
            rng=environment.rng,
            streams=streams,
            cleaner=self.cleaner,
        )

    def collector(self) -> CleaningCollector:
        """Metrics of the cleaning of compacted topics."""
        cleaner = self.cleaner
        return CleaningCollector(cleaner.statistics, lambda: cleaner.dirty_ratio)
