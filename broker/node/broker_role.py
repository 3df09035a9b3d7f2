"""A node as a broker: registers, recovers its WAL, serves clients, leaves the cluster."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

from headrace.broker.adapters.write_ahead_log import LogLocation
from headrace.broker.api.dispatch import ApiDispatcher
from headrace.broker.collectors.coordinator_metrics import CoordinatorCollector
from headrace.broker.collectors.drain_metrics import DrainCollector
from headrace.broker.collectors.metadata_metrics import MetadataCollector
from headrace.broker.collectors.move_metrics import MoveCollector
from headrace.broker.collectors.relay_metrics import TransportCollector
from headrace.broker.network.listener import Listener
from headrace.broker.node.address import BrokerAddress
from headrace.broker.node.admin import SERVING, NodeAdmin, RoleAdmin
from headrace.broker.node.broker_parts import BrokerParts
from headrace.broker.node.bucket_health import BucketHealth
from headrace.broker.node.connection_settings import ConnectionSettings
from headrace.broker.node.ended_brokers import EndedBrokers
from headrace.broker.node.environment import NodeEnvironment
from headrace.broker.node.lifecycle import (
    StoppedEarlyError,
    ending_with,
    running,
    unless_stopped,
)
from headrace.broker.node.log_drains import make_log_drains
from headrace.broker.node.registration import Registration, answered
from headrace.broker.node.role_ends import reasons, was_fenced
from headrace.broker.partition.ends_ahead import EndsAhead
from headrace.broker.partition.load_meter import LoadMeter
from headrace.broker.partition.moving import PartitionMoves
from headrace.broker.telemetry import runtime_tuning
from headrace.broker.telemetry.readiness import CheckResult
from headrace.config.node import Endpoint, NodeConfig
from headrace.config.quorum import controller_addresses
from headrace.links.ends import Address, Party
from headrace.metadata.errors import NodeFencedError
from headrace.metadata.follower.client import BrokerIdentity, MetadataClient
from headrace.metadata.follower.log_admin import LogAdmin
from headrace.metadata.image import MetadataImage
from headrace.metadata.net.quorum_transport import LocalController, QuorumTransport
from headrace.metadata.records.members import NO_DIRECTORY
from headrace.metadata.rpc.responses import BalanceDescribed, Done
from headrace.storage.object_store.retrying import RetryingObjectStore

logger = logging.getLogger("headrace")

CHECKPOINT_MS: Final = 10_000


class BrokerRole:
    """The broker of one node. `run` once."""

    def __init__(
        self,
        config: NodeConfig,
        environment: NodeEnvironment,
        admin: NodeAdmin,
        *,
        local: LocalController | None,
        on_fenced: Callable[[str], None],
    ) -> None:
        """Make a broker that has not started.

        Args:
            config: of the node.
            environment: of the node.
            admin: the node's admin endpoint.
            local: the controller of this node, if it has one.
            on_fenced: called once, as soon as this broker is fenced.
        """
        self._config = config
        self._environment = environment
        self._admin = admin
        self._added = RoleAdmin(admin)
        self._cluster_id = config.cluster_id  # once known, requests go to this cluster only
        self._transport = self._quorum_transport(local)
        self._replayed = MetadataImage if local is None else local.image
        self._controller_lock = "" if local is None else local.lock_name
        self._on_fenced = on_fenced
        self._bucket = BucketHealth(environment.rng)
        self._parts: BrokerParts | None = None
        self._fenced_because = ""
        self._fenced = asyncio.Event()
        self.bound: tuple[
            Endpoint, ...
        ] = ()  # the listeners with their actual ports, once they are bound
        self.has_log = (
            False  # it holds the WAL: no earlier role, of this process either, writes there
        )
        self.has_served = False
        self._added.check(self._bucket.check)

    async def run(self, ready: Callable[[str, BrokerAddress], None], stop: asyncio.Event) -> None:
        """Start, serve until `stop` is set, leave. Waits for a bucket or a controller that does not answer.

        Args:
            ready: called with the cluster's id once all partitions are open, or were tried; clients are served before.
            stop: ends it, also while it is starting.

        Raises:
            StoppedEarlyError: `stop` was set before any client could be served; also in a group.
            NodeFencedError, FencedError: this broker was fenced; in a group.
            ExceptionGroup: the failure of a part, once the others have been stopped.
            OSError: an address cannot be bound.
            WalError, MetadataError, StorageError, ValueError: a part cannot start.
        """
        try:
            await self._run(ready, stop)
        finally:
            self._added.take_back()

    async def _run(self, ready: Callable[[str, BrokerAddress], None], stop: asyncio.Event) -> None:
        config = self._config
        self._admin.stage = "waiting for the bucket"
        store, log_location = await unless_stopped(stop, self._open_storage())
        environment = self._environment
        listener = Listener(config.network, environment.network, environment.monotonic_s)

        async def end(failure: BaseException | None) -> None:
            self._note_failure(failure)
            await listener.shutdown()
            self._transport.close()
            await log_location.close()
            await store.close()

        async with ending_with(end):
            bound = await listener.bind()
            self.bound = tuple(bound)
            registration = Registration(config, log_location, controller_lock=self._controller_lock)
            self._admin.stage = "waiting for the WAL"
            await unless_stopped(stop, registration.hold_log())
            self.has_log = True
            cluster_id = log_location.claimed_cluster(config.cluster_id, config.node_id)
            client = MetadataClient(
                config.metadata,
                self._transport,
                BrokerIdentity(
                    node_id=config.node_id,
                    endpoints=config.network.advertised_listeners or tuple(bound),
                    rack=config.rack,
                    cluster_id=cluster_id,
                    locks=registration.locks(),
                ),
                boot_clock_ms=self._environment.boot_clock_ms,
                rng=self._environment.rng,
                on_fenced=self._note_fenced,
                replayed=self._replayed,
            )
            client.subscribe(self._follow_quorum)
            client.subscribe(ConnectionSettings(config, listener).follow)
            self._admin.stage = "waiting for a controller"
            await unless_stopped(stop, registration.register(client))
            self._added.answer_logs(
                LogAdmin(lambda: client.image, lambda it: client.change(it, Done)),
                lambda it: client.change(it, BalanceDescribed),
            )
            log_registry = log_location.registry(client)
            others = EndedBrokers(client, environment.free_lock)
            drains = make_log_drains(config, environment, client, store, log_location)
            self._added.expose(DrainCollector(drains.statistics))

            def leave() -> None:
                log_registry.leave()
                drains.leave()

            async with running(
                client.run(),
                log_registry.run(),
                drains.run(),
                others.run(),
                self._end_when_fenced(),
            ):
                self._admin.stage = "taking the WAL"
                await unless_stopped(stop, log_location.take(config.node_id, client.node_epoch))
                parts = BrokerParts(config, self._environment, client, store, log_location)
                self._parts = parts
                client.on_lease_renewed(parts.engine.lease_renewed)
                await self._serve(client, parts, leave, listener, bound[0], ready, stop)
                await client.shutdown()

    def _quorum_transport(self, local: LocalController | None) -> QuorumTransport:
        config = self._config
        bootstrap = [Address(*address) for address in controller_addresses(config)]
        return QuorumTransport(
            bootstrap,
            lambda: Party(self._cluster_id, config.node_id, NO_DIRECTORY),
            self._environment.network,
            local=local,
        )

    async def _open_storage(self) -> tuple[RetryingObjectStore, LogLocation]:
        """Open the bucket, once it answers, and the location of the WAL."""
        config, environment = self._config, self._environment
        store = await self._bucket.answer(self._open_bucket)
        log_location = LogLocation(
            config.wal,
            rng=environment.rng,
            wall_clock_ms=environment.wall_clock_ms,
            open_device=environment.open_device,
            fence=environment.make_fence(config.wal, config.node_id),
            open_bucket=environment.open_bucket,
            monotonic_ns=environment.monotonic_ns,
            wake_timer=environment.wake_timer,
        )
        try:
            await self._bucket.answer(lambda: log_location.open(environment.variables))
        except BaseException:
            await store.close()
            raise
        self._bucket.watch(store.statistics)
        self._added.check(
            lambda: CheckResult("fence", ok=True, reason=f"WAL fence: {log_location.fenced_by}")
        )
        return store, log_location

    async def _open_bucket(self) -> RetryingObjectStore:
        storage, environment = self._config.storage, self._environment
        return await environment.open_bucket(
            storage.bucket_uri,
            rng=environment.rng,
            environment=environment.variables,
            part_bytes=storage.object_part_bytes,
        )

    def _follow_quorum(self, old: MetadataImage, new: MetadataImage) -> None:
        self._cluster_id = new.cluster_id
        if old.members is not new.members:
            members = (it for it in new.members if it.host)
            addresses = {it.node_id: Address(it.host, it.port) for it in members}
            self._transport.set_addresses(addresses)

    async def _serve(
        self,
        client: MetadataClient,
        parts: BrokerParts,
        leave: Callable[[], None],
        listener: Listener,
        bound: Endpoint,
        ready: Callable[[str, BrokerAddress], None],
        stop: asyncio.Event,
    ) -> None:
        """Recover the WAL, open the partitions that this broker leads, and serve requests.

        `leave` is called once it begins to stop: from then on others take over what would be assigned to it.
        """
        admin = self._admin

        end = partial(self._end_serving, client, parts, leave, listener)
        async with ending_with(end):
            admin.stage = "recovering"
            await unless_stopped(stop, parts.engine.start())
            self._show(client, parts, listener)
            await unless_stopped(stop, answered(self._config, client.serve))
            moves = PartitionMoves(
                client=client,
                engine=parts.engine,
                registry=parts.partitions,
                node_id=self._config.node_id,
            )
            client.tell_moves(lambda: parts.engine.leaving.bytes_before)

            def is_able() -> bool:
                return parts.check_engine().ok and self._bucket.is_answering()

            client.tell_ability(is_able)
            self._added.expose(MoveCollector(moves.statistics))
            dispatcher = parts.dispatcher()
            jobs = [
                parts.engine.run(),
                parts.leadership.run(),
                moves.run(),
                EndsAhead(
                    client=client, blocks=parts.block_cache, node_id=self._config.node_id
                ).run(),
                parts.coordinator.runtime.run(),
                self._load_handlers(dispatcher),
                dispatcher.run(),
            ]
            if self._config.metadata.balance:
                jobs.append(self._load_meter(client, parts, is_able).run())
            idle = runtime_tuning.watch_memory(
                parts.requests_total, lambda: parts.engine.cached_records
            )
            async with running(*jobs, parts.retention.run(), listener.run(), idle):
                admin.stage = "opening partitions"
                await listener.serve(dispatcher)  # each partition as soon as it is open
                with suppress(StoppedEarlyError):
                    await unless_stopped(stop, parts.partitions.wait_attempted())
                    admin.stage = SERVING
                    self.has_served = True
                    ready(client.image.cluster_id, self._address(bound, parts))
                    await stop.wait()
                leave()
                admin.stage = "moving partitions away"
                await moves.emptied()
                admin.stage = "stopping"
                await listener.drain()
                if (
                    client.is_lease_valid()
                ):  # else nothing can be made durable; the next start reads the logs
                    await self._checkpoint(parts)

    async def _end_serving(
        self,
        client: MetadataClient,
        parts: BrokerParts,
        leave: Callable[[], None],
        listener: Listener,
        failure: BaseException | None,
    ) -> None:
        """Give back what serving has taken. Whole, though a fencing may come meanwhile: the next role needs it."""
        leave()  # now, if it fails: the uploads below may take long
        self._note_failure(failure)
        await listener.shutdown()
        async with running(self._give_up_without_lease(client, parts)):
            await parts.engine.shutdown()
        await parts.block_cache.shutdown()

    async def _load_handlers(self, dispatcher: ApiDispatcher) -> None:
        """Load what the partitions need not wait for, unless a request has loaded it."""
        await self._admin.serving.wait()
        await dispatcher.load()

    async def _checkpoint(self, parts: BrokerParts) -> None:
        try:
            async with asyncio.timeout(CHECKPOINT_MS / 1000):
                await parts.leadership.checkpoint_all()
        except TimeoutError:
            logger.warning(
                "checkpoints at shutdown were not written in time; the next start reads more of the logs"
            )

    async def _give_up_without_lease(self, client: MetadataClient, parts: BrokerParts) -> None:
        """Give up uploads when the lease ends: without a controller none could be committed."""
        while True:
            left_ms = client.lease_remaining_ms()
            if left_ms == 0:
                break
            await asyncio.sleep(left_ms / 1000)
        parts.engine.give_up_uploads("no controller answers")

    def _show(self, client: MetadataClient, parts: BrokerParts, listener: Listener) -> None:
        added = self._added
        added.name_turns(parts.requests.take_latest)
        added.measure_turns(listener.turns, listener.reads)
        added.expose(
            parts.collector(listener),
            parts.background_collector(),
            parts.compaction.collector(),
            CoordinatorCollector(parts.coordinator.runtime),
            parts.budget_collector(),
            parts.block_cache_collector(),
            MetadataCollector(client),
            TransportCollector(lambda: self._transport.statistics),
        )
        added.answer_storage(parts.compaction.compactor, parts.resize_wal)
        added.check(parts.check_engine, parts.check_damage, lambda: _check_lease(client))

    def _load_meter(
        self, client: MetadataClient, parts: BrokerParts, is_able: Callable[[], bool]
    ) -> LoadMeter:
        meter = LoadMeter(
            parts.partitions,
            self._config.metadata.balance_window_ms,
            self._environment.boot_clock_ms,
            is_alone=lambda: len(client.image.brokers) < 2,
            is_sound=is_able,
        )
        client.tell_loads(meter.take_loads)
        return meter

    def _address(self, bound: Endpoint, parts: BrokerParts) -> BrokerAddress:
        return BrokerAddress(
            kafka_host=bound.host,
            kafka_port=bound.port,
            bucket=self._config.storage.bucket_uri,
            wal=self._config.wal.path,
            wal_medium=parts.wal.medium,
        )

    def _note_failure(self, failure: BaseException | None) -> None:
        """Take note if it is a fencing by another than the controller: by the log, or by its device."""
        if failure is not None and was_fenced(failure):
            self._note_fenced(reasons(failure))

    def _note_fenced(self, reason: str) -> None:
        """Acknowledge, commit and upload nothing from here on; the first who finds it out says why."""
        if self._fenced.is_set():
            return
        self._admin.stage = "fenced"
        self._fenced_because = reason
        self._fenced.set()
        if self._parts is not None:
            self._parts.engine.fence(reason)
        self._on_fenced(reason)

    async def _end_when_fenced(self) -> None:
        await self._fenced.wait()
        raise NodeFencedError(self._fenced_because)


def _check_lease(client: MetadataClient) -> CheckResult:
    valid = client.is_lease_valid()
    return CheckResult("lease", valid, "valid" if valid else "not valid; nothing is acknowledged")
