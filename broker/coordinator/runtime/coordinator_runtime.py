"""Shards of one kind: one for each partition of the kind's topic that this broker leads.

A request goes to the shard of its key's partition. The error is NOT_COORDINATOR if this broker does not lead that
partition or its lease is not valid, and COORDINATOR_LOAD_IN_PROGRESS while the partition is being loaded. The lease
is checked when a request arrives. An append to the log is acknowledged only under a valid lease; who has parked a
request checks the lease again before it is answered.

Source: `CoordinatorRuntime` of Apache Kafka.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Final, Generic

from headrace.broker.coordinator.runtime.driver import ShardDriver, ShardState
from headrace.broker.coordinator.runtime.ports import CoordinatorLogs
from headrace.broker.coordinator.runtime.shard import DeletedTopic, Instant, R, S, ShardKind
from headrace.broker.coordinator.runtime.statistics import CoordinatorStatistics
from headrace.protocol.errors import ErrorCode, KafkaError
from headrace.turns import Work, turns_of

MAX_LOAD_WAIT_MS: Final = 2_000  # of a request, until its partition is here and loaded


class CoordinatorRuntime(Generic[S, R]):
    """Drives the shards, and finds that of a request."""

    def __init__(
        self,
        kind: ShardKind[S, R],
        logs: CoordinatorLogs,
        *,
        wall_clock_ms: Callable[[], int],
    ) -> None:
        self._kind = kind
        self._logs = logs
        self._wall_clock_ms = wall_clock_ms
        self._drivers: dict[int, ShardDriver[S, R]] = {}
        self._running: dict[int, asyncio.Task[None]] = {}
        self._tasks: asyncio.TaskGroup | None = None
        self.turns = turns_of(Work.COORDINATORS)  # of the loads and rewrites of all partitions
        self.statistics = CoordinatorStatistics()

    @property
    def topic(self) -> str:
        """The topic whose partitions are the logs."""
        return self._kind.topic

    @property
    def live_records(self) -> int:
        """Live records of the partitions that this broker leads."""
        return sum(driver.live_count for driver in self._drivers.values())

    @property
    def log_bytes(self) -> int:
        """Bytes of their logs."""
        return sum(driver.log_bytes for driver in self._drivers.values())

    # Running

    async def run(self) -> None:
        """Drive all shards until cancelled; `on_election` may be called before and after."""
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            for partition, driver in self._drivers.items():
                self._running[partition] = tasks.create_task(driver.run())
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                self._tasks = None

    def on_election(self, partition: int) -> None:
        """This broker leads a partition now, or leads it at a new epoch: load it."""
        self.on_resignation(partition)
        log = self._logs.log(partition)
        if log is None:
            return
        driver = ShardDriver(
            self._kind,
            partition,
            log,
            image=lambda: self._logs.image,
            clock=self._now,
            turns=self.turns,
            statistics=self.statistics,
        )
        self._drivers[partition] = driver
        if self._tasks is not None:
            self._running[partition] = self._tasks.create_task(driver.run())

    def on_resignation(self, partition: int) -> None:
        """This broker does not lead a partition any more: its waiting requests fail with NOT_COORDINATOR."""
        self._drivers.pop(partition, None)
        running = self._running.pop(partition, None)
        if running is not None:
            running.cancel()

    def on_new_image(self, deleted: Sequence[DeletedTopic]) -> None:
        """Topics have changed, and some of them may be deleted: every shard hears of it."""
        for driver in self._drivers.values():
            driver.new_image(deleted)

    # Requests

    def settled(self, key: str) -> ShardDriver[S, R] | None:
        """Give the driver of a key's shard, as `driver`; None if it is worth while to wait for it: see `arrived`."""
        driver = self._drivers.get(self._logs.partition_for(key))
        if driver is None or driver.state is ShardState.LOADING:
            return None
        driver.count_request()
        if not self._logs.is_lease_valid():
            raise _no_lease()
        return driver

    async def arrived(self, key: str) -> ShardDriver[S, R]:
        """Give the driver of a key's shard once it is here and loaded, if it is about to be.

        Raises:
            KafkaError: as `driver`.
        """
        await self.loaded(key)
        return self.driver(key)

    async def loaded(self, key: str) -> None:
        """Wait until the partition of a key is here and loaded, if it is about to be: at most `MAX_LOAD_WAIT_MS`."""
        partition = self._logs.partition_for(key)
        driver = self._drivers.get(partition)
        if driver is not None and driver.state is not ShardState.LOADING:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(MAX_LOAD_WAIT_MS / 1000):
                if driver is None:
                    await self._logs.arrived(partition)
                    driver = self._drivers.get(partition)
                if driver is not None:
                    await driver.loaded()

    def driver(self, key: str) -> ShardDriver[S, R]:
        """Give the driver of a key's shard, for a request.

        Raises:
            KafkaError: NOT_COORDINATOR.
        """
        driver = self._drivers.get(self._logs.partition_for(key))
        if driver is None:
            raise KafkaError(ErrorCode.NOT_COORDINATOR)
        driver.count_request()
        self.require_valid_lease()
        return driver

    def drivers(self) -> Iterator[ShardDriver[S, R]]:
        """Give the drivers of all partitions, for a request, except those whose log cannot be read.

        Raises:
            KafkaError: NOT_COORDINATOR when this broker's lease is not valid; there may be others then.
        """
        self.require_valid_lease()
        for driver in list(self._drivers.values()):
            if driver.state is not ShardState.FAILED:
                yield driver

    def require_valid_lease(self) -> None:
        """KafkaError NOT_COORDINATOR unless this broker certainly leads its partitions."""
        if not self._logs.is_lease_valid():
            raise _no_lease()

    def _now(self) -> Instant:
        elapsed_ms = int(asyncio.get_running_loop().time() * 1_000)
        return Instant(elapsed_ms, self._wall_clock_ms())


def _no_lease() -> KafkaError:
    return KafkaError(ErrorCode.NOT_COORDINATOR, "the lease of this broker is not valid")
