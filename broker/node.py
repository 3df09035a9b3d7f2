"""Composition root: builds the concrete parts, and knows in which order they start and stop.

A `Node` is an object: several can live in one process, each with the clocks and the entropy that
it is given.
"""

import asyncio
import logging
import os
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry

from broker.api.dispatch import ApiDispatcher
from broker.api.registry import Services, build_dispatcher
from broker.bucket_health import BucketHealth
from broker.cluster_view import ClusterView
from broker.coordinator.runtime import GroupCoordinator
from broker.coordinator_logs import CoordinatorElections, OffsetsTopicLogs
from broker.lifecycle import StoppedEarlyError, running, unless_stopped
from broker.network.listener import Listener
from broker.partition.leadership import PartitionLeadership
from broker.partition.registry import PartitionRegistry
from broker.storage_adapter import StorageMetadata
from broker.telemetry import runtime_tuning
from broker.telemetry.admin_http import AdminServer
from broker.telemetry.background_metrics import BackgroundCollector
from broker.telemetry.collector import NodeCollector
from broker.telemetry.readiness import CheckResult, Readiness
from broker.telemetry.request_metrics import RequestMetrics
from broker.topic_creation import TopicCreation
from broker.write_ahead_log import LogListener, LogOwner, LogPlace, NodeLog
from config.node import Endpoint, NodeConfig
from config.topic import validate_topic_config
from config.wal_capacity import PLACE_KEY, check_wal_capacity, wal_place_text
from metadata.client import BrokerIdentity, MetadataClient
from metadata.controller.decision import ConfigRules
from metadata.driver import ControllerNode
from metadata.transport import LocalTransport
from storage.cache.block_cache import BlockCache
from storage.compaction.executor import Compactor
from storage.deletion import ObjectDeleter
from storage.engine import BackgroundJob, StorageEngine
from storage.object_store.budgeted import compaction_view
from storage.object_store.factory import ensure_bucket, open_object_store
from storage.object_store.retrying import RetryingObjectStore
from storage.recovery import RecoveryReport
from storage.sweep.place import open_swept_place
from storage.sweep.sweeper import Sweeper, SweepStatistics
from wal.open_device import DeviceOpener, open_device
from wal.port import Medium

logger = logging.getLogger("headrace")

NO_ADMIN_ENDPOINT = -1


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a node takes from the world outside it; tests and simulations pass their own."""

    wall_clock_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000
    # Goes on in suspend and never jumps: leases are measured with it.
    boot_clock_ms: Callable[[], int] = lambda: (
        time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000
    )
    monotonic_s: Callable[[], float] = time.perf_counter
    rng: random.Random = field(default_factory=random.SystemRandom)
    open_device: DeviceOpener = open_device  # the WAL's disk
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))


@dataclass(frozen=True, slots=True)
class NodeAddress:
    """Where a node that is ready can be found, and what it stands on."""

    kafka_host: str
    kafka_port: int
    admin_url: str  # empty when there is no admin endpoint
    cluster_id: str
    node_id: int
    bucket: str
    wal: str
    wal_medium: Medium
    recovery: RecoveryReport


class Node:
    """Controller and broker of one node. `run` once."""

    def __init__(self, config: NodeConfig, surroundings: Surroundings | None = None) -> None:
        self._config = config
        self._around = surroundings or Surroundings()
        self._readiness = Readiness()
        self._state = "starting"
        self._metrics_registry = CollectorRegistry()
        self._bucket = BucketHealth(self._around.rng)
        self._readiness.add(lambda: CheckResult("state", self._state == "serving", self._state))
        self._readiness.add(self._bucket.check)

    async def run(self, ready: Callable[[NodeAddress], None], stop: asyncio.Event) -> None:
        """Start, serve until `stop` is set, shut down cleanly; a `stop` while it is starting counts as well.

        A bucket that does not answer is waited for.

        Raises:
            ExceptionGroup: of what made a part fail, once the others have been stopped.
            OSError: an address cannot be bound.
            WalError, MetadataError, StorageError, ValueError: a part cannot start.
        """
        admin = AdminServer(self._metrics_registry, self._readiness)
        try:
            admin_port = await self._start_admin(admin)
            self._state = "waiting for the bucket"
            store, log_place = await unless_stopped(stop, self._open_storage())
            await self._run(store, log_place, (admin, admin_port), ready, stop)
        except StoppedEarlyError:
            logger.info("stopped while starting", extra={"state": self._state})
        finally:
            await admin.shutdown()

    async def _run(
        self,
        store: RetryingObjectStore,
        log_place: LogPlace,
        admin: tuple[AdminServer, int],
        ready: Callable[[NodeAddress], None],
        stop: asyncio.Event,
    ) -> None:
        """Run controller and broker on an open bucket; see `run`."""
        config, around = self._config, self._around
        controller = ControllerNode(
            config.metadata,
            node_id=config.node_id,
            cluster_id=config.cluster_id,
            rng=around.rng,
            wall_clock_ms=around.wall_clock_ms,
            boot_clock_ms=around.boot_clock_ms,
            configs=ConfigRules(validate_topic=validate_topic_config),
        )
        listener = Listener(config.network)
        try:
            await controller.start()
            async with running(controller.run()):
                bound = await listener.bind()
                client = MetadataClient(
                    config.metadata,
                    LocalTransport(controller.handle),
                    BrokerIdentity(
                        node_id=config.node_id,
                        endpoints=config.network.advertised_listeners or tuple(bound),
                        rack=config.rack,
                        cluster_id=config.cluster_id,
                    ),
                    boot_clock_ms=around.boot_clock_ms,
                    rng=around.rng,
                )
                await client.start()
                async with running(client.run()):
                    broker = _Broker(config, around, client, store, log_place)
                    await self._serve(client, broker, listener, bound[0], admin, ready, stop)
                    await client.shutdown()
        finally:
            await listener.shutdown()
            await controller.shutdown()
            await log_place.close()
            await store.close()

    async def _open_storage(self) -> tuple[RetryingObjectStore, LogPlace]:
        """Open the bucket, once it answers, and where the WAL lies."""
        config, around = self._config, self._around
        uri, environment = config.storage.bucket_uri, around.environment
        await self._bucket.answer(lambda: ensure_bucket(uri, environment=environment))
        store = open_object_store(
            uri,
            rng=around.rng,
            environment=environment,
            part_bytes=config.storage.object_part_bytes,
        )
        log_place = LogPlace(
            config.wal,
            rng=around.rng,
            wall_clock_ms=around.wall_clock_ms,
            open_device=around.open_device,
        )
        try:
            await self._bucket.answer(lambda: log_place.open(environment))
        except BaseException:
            await store.close()
            raise
        self._bucket.watch(store.statistics)
        return store, log_place

    async def _serve(
        self,
        client: MetadataClient,
        broker: "_Broker",
        listener: Listener,
        bound: Endpoint,
        admin_at: tuple[AdminServer, int],
        ready: Callable[[NodeAddress], None],
        stop: asyncio.Event,
    ) -> None:
        """Recover what the WAL holds, open what this broker leads, and take requests."""
        config = self._config
        admin, admin_port = admin_at
        try:
            self._state = "recovering"
            recovery = await unless_stopped(stop, broker.engine.start())
            admin.expose(broker.collector(listener))
            self._metrics_registry.register(broker.background_collector())
            admin.compaction.offer(broker.compactor)
            admin.wal_resize.offer(broker.resize_wal)
            self._readiness.add(broker.check_engine)
            self._readiness.add(lambda: _check_lease(client))
            await client.serve()
            jobs = (broker.engine.run(), broker.leadership.run(), broker.coordinator.run())
            idle = runtime_tuning.collect_when_idle(broker.requests_total)
            async with running(*jobs, listener.run(), idle):
                self._state = "opening partitions"
                await unless_stopped(stop, broker.partitions.wait_attempted())
                await listener.serve(broker.dispatcher())
                self._state = "serving"
                admin_url = f"http://{config.telemetry.admin_host}:{admin_port}"
                ready(
                    NodeAddress(
                        kafka_host=bound.host,
                        kafka_port=bound.port,
                        admin_url=admin_url if admin_port else "",
                        cluster_id=client.image.cluster_id,
                        node_id=config.node_id,
                        bucket=config.storage.bucket_uri,
                        wal=config.wal.path,
                        wal_medium=broker.wal.medium,
                        recovery=recovery,
                    )
                )
                await stop.wait()
                self._state = "stopping"
                await listener.drain()
                await broker.leadership.checkpoint_all()
        except* StoppedEarlyError:
            logger.info("stopped while starting", extra={"state": self._state})
        finally:
            await listener.shutdown()
            await broker.engine.shutdown()
            await broker.block_cache.shutdown()

    async def _start_admin(self, admin: AdminServer) -> int:
        """Port of the admin endpoint; 0 without one."""
        telemetry = self._config.telemetry
        if telemetry.admin_port == NO_ADMIN_ENDPOINT:
            return 0
        return await admin.start(telemetry.admin_host, telemetry.admin_port)


class _Broker:
    """The broker's parts, joined; nothing is started."""

    def __init__(
        self,
        config: NodeConfig,
        around: Surroundings,
        client: MetadataClient,
        store: RetryingObjectStore,
        log_place: LogPlace,
    ) -> None:
        self._config = config
        self._around = around
        self._client = client
        self._store = store
        self._log_place = log_place
        self.wal: NodeLog
        adapter = StorageMetadata(
            client, object_delete_retention_ms=config.storage.object_delete_retention_ms
        )
        cluster_id = client.image.cluster_id
        storage = config.storage
        bucket = compaction_view(store, storage)
        self.compactor = Compactor(
            storage, bucket, adapter, cluster_id, rng=around.rng, open_streams=self._open_streams
        )
        self._deleter = ObjectDeleter(
            storage, store, adapter, cluster_id, rng=around.rng, wall_clock_ms=around.wall_clock_ms
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
            rng=around.rng,
            cluster_id=cluster_id,
            background=self._background(adapter),
        )
        self.partitions = PartitionRegistry(client=client, node_id=config.node_id)
        self.leadership = PartitionLeadership(
            client=client,
            engine=self.engine,
            registry=self.partitions,
            node_id=config.node_id,
            config=config.log,
            wall_clock_ms=around.wall_clock_ms,
        )
        self._creation = TopicCreation(
            client, self.partitions, log=config.log, groups=config.groups
        )
        self._cluster = ClusterView(lambda: client.image, config.node_id, config.network)
        self._offsets_logs = OffsetsTopicLogs(
            client=client,
            partitions=self.partitions,
            creation=self._creation,
            engine=self.engine,
            cluster=self._cluster,
            config=config.groups,
            wall_clock_ms=around.wall_clock_ms,
        )
        self.coordinator = GroupCoordinator(
            config.groups, self._offsets_logs, wall_clock_ms=around.wall_clock_ms, rng=around.rng
        )
        elections = CoordinatorElections(self.coordinator)
        self.partitions.subscribe(opened=elections.opened, closed=elections.closed)
        client.subscribe(elections.image_changed)
        self._requests = RequestMetrics(around.monotonic_s)

    def dispatcher(self) -> ApiDispatcher:
        """Every API handler, joined to these parts."""
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
                wall_clock_ms=self._around.wall_clock_ms,
                metrics=self._requests,
                rng=self._around.rng,
            )
        )

    def collector(self, listener: Listener) -> NodeCollector:
        """What the metrics endpoint reads."""
        return NodeCollector(
            engine=self.engine,
            wal=self.wal,
            store=self._store.statistics,
            partitions=self.partitions,
            listener=listener,
            requests=self._requests,
            loop_clock_s=asyncio.get_running_loop().time,
        )

    async def resize_wal(self, capacity_bytes: int) -> dict[str, object]:
        """Give the WAL another capacity, and say what happened and what the next start needs.

        Raises:
            ValueError, ResizeRefusedError: it cannot be; nothing has changed.
            StorageError: it was given up; nothing has changed, unless the engine has failed.
        """
        check_wal_capacity(self._config, capacity_bytes)
        report = await self.engine.resize_wal(capacity_bytes)
        return {
            "old": report.old_bytes,
            "new": report.new_bytes,
            "pause_ms": report.pause_ms,
            "uploaded_bytes": report.uploaded_bytes,
            "duration_ms": report.duration_ms,
            "configuration": {PLACE_KEY: wal_place_text(self._config, report.new_bytes)},
        }

    def _background(self, adapter: StorageMetadata) -> list[BackgroundJob]:
        """What the engine runs beside its uploads."""
        jobs: list[BackgroundJob] = [self.compactor, self._deleter]
        storage, around = self._config.storage, self._around
        place = open_swept_place(storage.bucket_uri, around.environment)
        self._swept = SweepStatistics()
        if place is not None:
            sweeper = Sweeper(
                storage,
                self._store,
                place,
                adapter,
                rng=around.rng,
                wall_clock_ms=around.wall_clock_ms,
            )
            self._swept = sweeper.statistics
            jobs.append(sweeper)
        return jobs

    def background_collector(self) -> BackgroundCollector:
        """What the metrics endpoint reads of compaction, deletion and sweep."""
        return BackgroundCollector(self.compactor.statistics, self._deleter.statistics, self._swept)

    def _open_streams(self) -> Sequence[tuple[int, int]]:
        return self.engine.open_streams()  # made after the compactor that asks for them

    def requests_total(self) -> int:
        """Requests of all APIs since the start."""
        return sum(self._requests.requests.values())

    def check_engine(self) -> CheckResult:
        """Readiness: the engine acknowledges, and the bucket takes what it uploads."""
        stats = self.engine.stats()
        if stats.failed:
            return CheckResult("storage", ok=False, reason="the engine has failed")
        if stats.admission_waiting:
            reason = f"{stats.admission_waiting} requests wait for room in WAL or LogCache"
            return CheckResult("storage", ok=False, reason=reason)
        return CheckResult("storage", ok=True, reason=f"{stats.open_streams} streams open")

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
            on_room=lambda: self.engine.room_freed(),  # noqa: PLW0108  # the engine is being made
        )
        self.wal = self._log_place.log(owner, listener)
        return self.wal


def _check_lease(client: MetadataClient) -> CheckResult:
    held = client.holds()
    return CheckResult("lease", held, "held" if held else "not certain; nothing is acknowledged")
