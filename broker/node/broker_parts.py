"""The parts of a broker, wired together."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from headrace.broker.adapters.storage_metadata import StorageMetadata
from headrace.broker.adapters.write_ahead_log import LogListener, LogLocation, LogOwner, NodeLog
from headrace.broker.api.dispatch import ApiDispatcher
from headrace.broker.api.registry import build_dispatcher
from headrace.broker.api.services import Services
from headrace.broker.cluster.cluster_view import ClusterView
from headrace.broker.cluster.topic_creation import TopicCreation
from headrace.broker.collectors.background_metrics import BackgroundCollector
from headrace.broker.collectors.block_cache_metrics import BlockCacheCollector
from headrace.broker.collectors.budget_metrics import BudgetCollector
from headrace.broker.collectors.node_metrics import NodeCollector
from headrace.broker.coordinator.group.coordinator import GroupCoordinator, offsets_topic
from headrace.broker.coordinator.runtime.topic_logs import CoordinatorElections, TopicLogs
from headrace.broker.network.listener import Listener
from headrace.broker.node.compaction_parts import CompactionParts
from headrace.broker.node.environment import NodeEnvironment
from headrace.broker.partition.leadership import PartitionLeadership
from headrace.broker.partition.registry import PartitionRegistry
from headrace.broker.partition.retention import Retention
from headrace.broker.partition.taken_back import TakenBackMoves
from headrace.broker.telemetry.readiness import CheckResult
from headrace.broker.telemetry.request_metrics import RequestMetrics
from headrace.config.node import NodeConfig
from headrace.config.wal_capacity import PLACE_KEY, check_wal_capacity, wal_location_text
from headrace.metadata.follower.client import MetadataClient
from headrace.metadata.leader.publishing import newest_published
from headrace.storage.cache.block_cache import BlockCache
from headrace.storage.deletion import ObjectDeleter
from headrace.storage.engine import BackgroundJob, StorageEngine
from headrace.storage.object_store.retrying import RetryingObjectStore
from headrace.storage.object_store.uri import MemoryLocation, parse_bucket_uri
from headrace.storage.sweep.sweeper import Sweeper, SweepStatistics

MAX_DAMAGED_NAMED = 20  # partitions, on the page of readiness


class BrokerParts:
    """Made for one registration; nothing is started."""

    def __init__(
        self,
        config: NodeConfig,
        environment: NodeEnvironment,
        client: MetadataClient,
        store: RetryingObjectStore,
        log_location: LogLocation,
    ) -> None:
        rng, wall_clock_ms = environment.rng, environment.wall_clock_ms
        self._config = config
        self._environment = environment
        self._client = client
        self._store = store
        self._log_location = log_location
        self.wal: NodeLog
        storage = config.storage
        adapter = self._adapter = self._make_adapter()
        cluster_id = client.image.cluster_id
        self.partitions = PartitionRegistry(client=client, node_id=config.node_id)
        self.compaction = CompactionParts(
            config, environment, client, store, adapter, self.partitions, self._streams_to_merge
        )
        self._deleter = ObjectDeleter(
            storage, store, adapter, cluster_id, rng=rng, wall_clock_ms=wall_clock_ms
        )
        self.block_cache = BlockCache(storage, store, adapter, cluster_id)
        self.engine = StorageEngine(
            storage,
            wal_factory=self._make_wal,
            store=store,
            streams=adapter,
            objects=adapter,
            lease=adapter,
            blocks=self.block_cache,
            rng=rng,
            cluster_id=cluster_id,
            background=self._background(adapter),
        )
        self.leadership = PartitionLeadership(
            client=client,
            engine=self.engine,
            registry=self.partitions,
            node_id=config.node_id,
            config=config.log,
            wall_clock_ms=wall_clock_ms,
        )
        self.retention = Retention(self.partitions, config.log, wall_clock_ms)
        offsets = offsets_topic(config.groups)
        self._creation = TopicCreation(client, self.partitions, log=config.log, internal=[offsets])
        self._cluster = ClusterView(lambda: client.image, config.node_id, config.network)
        self._offsets_logs = TopicLogs(
            offsets,
            client=client,
            partitions=self.partitions,
            creation=self._creation,
            engine=self.engine,
            cluster=self._cluster,
            wall_clock_ms=wall_clock_ms,
        )
        self.coordinator = GroupCoordinator(
            config.groups,
            self._offsets_logs,
            wall_clock_ms=wall_clock_ms,
            rng=rng,
        )
        self._subscribe(CoordinatorElections([self.coordinator.runtime]))
        self.requests = RequestMetrics(environment.monotonic_s)

    def _subscribe(self, elections: CoordinatorElections) -> None:
        self.partitions.subscribe(opened=elections.opened, closed=elections.closed)
        self._client.subscribe(elections.image_changed)
        self._client.subscribe(TakenBackMoves(self._config.node_id).image_changed)

    def dispatcher(self) -> ApiDispatcher:
        """Every API handler, wired to these parts."""
        return build_dispatcher(
            Services(
                config=self._config,
                client=self._client,
                engine=self.engine,
                partitions=self.partitions,
                cluster=self._cluster,
                creation=self._creation,
                coordinator=self.coordinator,
                offsets_logs=self._offsets_logs,
                wall_clock_ms=self._environment.wall_clock_ms,
                metrics=self.requests,
                rng=self._environment.rng,
            )
        )

    def collector(self, listener: Listener) -> NodeCollector:
        """Metrics of the broker's parts."""
        return NodeCollector(
            engine=self.engine,
            wal=self.wal,
            store=self._store.statistics,
            partitions=self.partitions,
            listener=listener,
            requests=self.requests,
            loop_clock_s=asyncio.get_running_loop().time,
        )

    async def resize_wal(self, capacity_bytes: int) -> dict[str, object]:
        """Give the WAL another capacity; return the result and the setting for the next start.

        Raises:
            ValueError, ResizeRefusedError: the capacity is not possible; nothing has changed.
            StorageError: the resize was abandoned; nothing has changed, unless the engine has failed.
        """
        check_wal_capacity(self._config, capacity_bytes)
        report = await self.engine.resize_wal(capacity_bytes)
        return {
            "old": report.old_bytes,
            "new": report.new_bytes,
            "pause_ms": report.pause_ms,
            "uploaded_bytes": report.uploaded_bytes,
            "duration_ms": report.duration_ms,
            "configuration": {PLACE_KEY: wal_location_text(self._config, report.new_bytes)},
        }

    def _background(self, adapter: StorageMetadata) -> list[BackgroundJob]:
        """Background jobs of the engine besides its uploads."""
        jobs: list[BackgroundJob] = [self.compaction.compactor, self._deleter]
        storage, environment = self._config.storage, self._environment
        place = environment.open_swept_bucket(storage.bucket_uri, environment.variables)
        self._swept = SweepStatistics()
        if place is not None:
            sweeper = Sweeper(
                storage,
                self._store,
                place,
                adapter,
                rng=environment.rng,
                wall_clock_ms=environment.wall_clock_ms,
            )
            self._swept = sweeper.statistics
            jobs.append(sweeper)
        return jobs

    def background_collector(self) -> BackgroundCollector:
        """Metrics of openings, retention, compaction, deletion and sweep."""
        return BackgroundCollector(
            self.leadership.statistics,
            self.retention.statistics,
            self.compaction.compactor.statistics,
            self._deleter.statistics,
            self._swept,
            lambda: self._adapter.deletable.awaiting_snapshot,
        )

    def budget_collector(self) -> BudgetCollector:
        """Metrics of each class of requests to the bucket."""
        return BudgetCollector(
            {
                "cold_read": self.block_cache.budget,
                "read_ahead": self.block_cache.ahead_budget,
                "upload": self.engine.upload_budget,
                "compaction": self.compaction.budget,
            }
        )

    def block_cache_collector(self) -> BlockCacheCollector:
        """Metrics of cold reads."""
        return BlockCacheCollector(self.block_cache.statistics, self.block_cache.index_statistics)

    def _make_adapter(self) -> StorageMetadata:
        storage, newest_snapshot = self._config.storage, None
        # A bucket in this process ends with it, and nothing is rebuilt from it.
        if not isinstance(parse_bucket_uri(storage.bucket_uri), MemoryLocation):
            newest_snapshot = partial(newest_published, self._store, self._client.image.cluster_id)
        return StorageMetadata(
            self._client,
            object_delete_retention_ms=storage.object_delete_retention_ms,
            boot_clock_ms=self._environment.boot_clock_ms,
            newest_snapshot=newest_snapshot,
        )

    def _streams_to_merge(self) -> Sequence[tuple[int, int]]:
        # The engine is created after the compactor, which calls this.
        return [*self.engine.open_streams(), *self._adapter.get_adopted_streams()]

    def requests_total(self) -> int:
        """Requests of all APIs since the start."""
        return sum(self.requests.requests.values())

    def check_engine(self) -> CheckResult:
        """Readiness: the engine has not failed, and no request waits for room."""
        stats = self.engine.stats()
        if stats.failed:
            return CheckResult(
                "storage",
                ok=False,
                reason="the storage engine has failed; see the log",
            )
        if stats.admission_waiting:
            reason = f"{stats.admission_waiting} requests wait for room in WAL or LogCache"
            return CheckResult("storage", ok=False, reason=reason)
        return CheckResult("storage", ok=True, reason=f"{stats.open_streams} streams open")

    def check_damage(self) -> CheckResult:
        """Readiness, which damage does not end: the ranges that are known to be unreadable."""
        damaged = self.partitions.damaged()
        named = [
            f"{partition.topic}-{partition.index} from offset {found[0].start_offset}"
            for partition, found in damaged[:MAX_DAMAGED_NAMED]
        ]
        if len(damaged) > MAX_DAMAGED_NAMED:
            named.append(f"{len(damaged) - MAX_DAMAGED_NAMED} more")
        reason = f"records cannot be read: {', '.join(named)}" if named else "no known damage"
        return CheckResult("records", ok=True, reason=reason)

    def _make_wal(
        self, on_confirmed: Callable[[int], None], on_failed: Callable[[Exception], None]
    ) -> NodeLog:
        owner = LogOwner(
            cluster_id=self._client.image.cluster_id,
            node_id=self._config.node_id,
            node_epoch=self._client.node_epoch,
        )
        listener = LogListener(
            on_confirmed=on_confirmed,
            on_failed=on_failed,
            on_room=lambda: self.engine.room_freed(),  # noqa: PLW0108  # the engine does not exist yet
        )
        self.wal = self._log_location.log(owner, listener)
        return self.wal
