"""The group coordinator: one shard for each partition of `__consumer_offsets` that this broker leads.

A request goes to the shard of its group's partition. The error is NOT_COORDINATOR if this broker does
not lead that partition or its lease is not valid, and COORDINATOR_LOAD_IN_PROGRESS while the partition
is being loaded. Members and commits wait a moment for a partition that is about to come, or is being loaded: not all
clients repeat a commit that was answered with an error. The lease is checked when a request arrives. An append to the
log is acknowledged only under a valid lease; parked joins and syncs check the lease again before they are answered.

Source: `GroupCoordinatorService`, `CoordinatorRuntime` of Apache Kafka.
"""

import asyncio
import random
import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Final, TypeVar

from headrace.broker.coordinator.group.decision import GroupDecision
from headrace.broker.coordinator.group.membership import LeaveResult
from headrace.broker.coordinator.group.requests import (
    CommitRequest,
    CommittedOffset,
    DeletedTopic,
    DescribedGroup,
    HeartbeatRequest,
    Instant,
    JoinRequest,
    JoinResult,
    LeavingMember,
    ListedGroup,
    OffsetQuery,
    SyncRequest,
    SyncResult,
)
from headrace.broker.coordinator.group.shard import OFFSETS_AT_ONCE, GroupShard
from headrace.broker.coordinator.ports import CoordinatorLogs
from headrace.broker.coordinator.record_fields import fits_string
from headrace.broker.coordinator.shard_driver import Operation, ShardDriver, ShardState, Submitted
from headrace.broker.coordinator.statistics import CoordinatorStatistics
from headrace.broker.network.turn_share import TurnShare
from headrace.config.node import GroupConfig
from headrace.protocol.errors import ErrorCode, KafkaError

GROUPS_AT_ONCE: Final = 256  # listed
MAX_LOAD_WAIT_MS: Final = 2_000  # of a request, until its partition is here and loaded

T = TypeVar("T")
_Deleted = tuple[ErrorCode, list[ErrorCode]]  # an error of the group, or one per partition


class GroupCoordinator:
    """Serves classic groups and committed offsets.

    Every operation may raise KafkaError: INVALID_GROUP_ID, NOT_COORDINATOR,
    COORDINATOR_LOAD_IN_PROGRESS. Those that take several groups return an error instead of that
    group's result.
    """

    def __init__(
        self,
        config: GroupConfig,
        logs: CoordinatorLogs,
        *,
        wall_clock_ms: Callable[[], int],
        rng: random.Random,
        clock_s: Callable[[], float],
    ) -> None:
        self._config = config
        self._logs = logs
        self._wall_clock_ms = wall_clock_ms
        self._rng = rng
        self._drivers: dict[int, ShardDriver] = {}
        self._running: dict[int, asyncio.Task[None]] = {}
        self._tasks: asyncio.TaskGroup | None = None
        self._deleting: set[str] = set()  # groups of many offsets that are being deleted
        self._turns = TurnShare(clock_s)  # of the loads and rewrites of all partitions
        self.statistics = CoordinatorStatistics()

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
            partition,
            log,
            self._config,
            self._now,
            turns=self._turns,
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

    def on_topics_deleted(self, topics: Sequence[DeletedTopic]) -> None:
        """Remove the offsets that groups have committed in deleted topics."""
        for driver in self._drivers.values():
            driver.forget_topics(topics)

    # Members

    def new_member_id(self, prefix: str) -> str:
        """Make a member id: the client id, or a static member's instance id, and a random UUID."""
        return f"{prefix}-{uuid.UUID(int=self._rng.getrandbits(128), version=4)}"

    async def join(self, request: JoinRequest) -> JoinResult:
        """JoinGroup; returns when the join phase has ended, if it must."""
        await self._loaded(request.group_id)
        joined = await self._member_driver(request.group_id).join(request)
        self._require_valid_lease()
        return joined

    async def sync(self, request: SyncRequest) -> SyncResult:
        """SyncGroup; returns when the leader has synced."""
        await self._loaded(request.group_id)
        synced = await self._member_driver(request.group_id).sync(request)
        self._require_valid_lease()
        return synced

    async def heartbeat(self, request: HeartbeatRequest) -> ErrorCode:
        """Heartbeat."""
        await self._loaded(request.group_id)
        submitted = self._member_driver(request.group_id).submit(
            lambda shard, now: shard.heartbeat(request, now)
        )
        return await submitted.wait()

    async def leave(self, group_id: str, members: Sequence[LeavingMember]) -> list[LeaveResult]:
        """LeaveGroup."""
        await self._loaded(group_id)
        submitted = self._member_driver(group_id).submit(
            lambda shard, now: shard.leave(group_id, members, now)
        )
        return await submitted.wait()

    # Offsets

    async def commit_offsets(self, request: CommitRequest) -> list[ErrorCode]:
        """OffsetCommit; one error per entry."""
        await self._loaded(request.group_id)
        submitted = self._driver(request.group_id).submit_write(
            lambda shard, now: shard.commit_offsets(request, now)
        )
        return await submitted.wait()

    async def fetch_offsets(
        self, groups: Sequence[tuple[str, Sequence[OffsetQuery] | None]]
    ) -> list[Iterable[CommittedOffset] | KafkaError]:
        """OffsetFetch of several groups; None asks for all partitions of a group."""
        if len(groups) == 1:  # of several each has its own answer
            await self._loaded(groups[0][0])

        def fetch(
            group_id: str, queries: Sequence[OffsetQuery] | None
        ) -> Operation[Iterable[CommittedOffset]]:
            return lambda shard, now: shard.fetch_offsets(group_id, queries, now)

        return await self._for_each(
            ShardDriver.submit,
            [(group_id, fetch(group_id, queries)) for group_id, queries in groups],
        )

    async def delete_offsets(
        self, group_id: str, partitions: Sequence[tuple[str, int]]
    ) -> tuple[ErrorCode, list[ErrorCode]]:
        """OffsetDelete; an error of the group, or one per partition."""

        def delete(part: Sequence[tuple[str, int]]) -> Operation[_Deleted]:
            return lambda shard, now: shard.delete_offsets(group_id, part, now)

        submitted = []
        parts = range(0, max(1, len(partitions)), OFFSETS_AT_ONCE)
        async for start in self._turns.each(parts, 1):
            part = partitions[start : start + OFFSETS_AT_ONCE]
            submitted.append(self._member_driver(group_id).submit_write(delete(part)))
        errors: list[ErrorCode] = []
        for one in submitted:
            error, some = await one.wait()
            if error is not ErrorCode.NONE:
                return error, []
            errors += some
        return ErrorCode.NONE, errors

    # Groups

    async def describe_groups(
        self, group_ids: Sequence[str]
    ) -> list[DescribedGroup | KafkaError | None]:
        """DescribeGroups; None where there is no such group."""

        def describe(group_id: str) -> Operation[DescribedGroup | None]:
            return lambda shard, now: shard.describe(group_id, now)

        return await self._for_each(
            ShardDriver.submit, [(group_id, describe(group_id)) for group_id in group_ids]
        )

    async def list_groups(self) -> list[ListedGroup]:
        """ListGroups: the groups of the partitions that this broker leads.

        Raises:
            KafkaError: COORDINATOR_LOAD_IN_PROGRESS when one of them is being loaded, NOT_COORDINATOR
                when this broker's lease is not valid; the list would be incomplete.
        """
        self._require_valid_lease()
        submitted = []
        for driver in list(self._drivers.values()):
            if driver.state is ShardState.FAILED:
                continue
            group_ids = driver.submit(_group_ids)
            submitted.append(driver.submit(_list_groups(())))  # waits for a deletion of all
            submitted += [
                driver.submit(_list_groups(some))
                async for some in self._turns.batches(group_ids.response, GROUPS_AT_ONCE)
            ]
        return [group for some in submitted for group in await some.wait()]

    async def delete_groups(self, group_ids: Sequence[str]) -> list[ErrorCode | KafkaError]:
        """DeleteGroups.

        A group with very many offsets is deleted in several steps; meanwhile it answers COORDINATOR_LOAD_IN_PROGRESS.
        """
        submitted: list[Submitted[ErrorCode | None] | KafkaError] = []
        for group_id in group_ids:
            try:
                submitted.append(await self._delete_group(group_id))
            except KafkaError as error:
                submitted.append(error)
            await self._turns.pause()
        return [result for result in await _outcomes(submitted) if result is not None]

    async def _delete_group(self, group_id: str) -> Submitted[ErrorCode | None]:
        def delete(shard: GroupShard, now: Instant) -> GroupDecision[ErrorCode | None]:
            return shard.delete_group(group_id, now)

        while (submitted := self._driver(group_id).submit_write(delete)).response is None:
            self._deleting.add(group_id)
            try:
                await self._turns.pause()
            finally:
                self._deleting.discard(group_id)
        return submitted

    async def _for_each(
        self,
        submit: Callable[[ShardDriver, Operation[T]], Submitted[T]],
        operations: Sequence[tuple[str, Operation[T]]],
    ) -> list[T | KafkaError]:
        """Decide on all, then wait for all: groups of one shard share its appends."""
        submitted: list[Submitted[T] | KafkaError] = []
        for group_id, operation in operations:
            try:
                submitted.append(submit(self._driver(group_id), operation))
            except KafkaError as error:
                submitted.append(error)
        return await _outcomes(submitted)

    async def _loaded(self, group_id: str) -> None:
        """Wait until the partition of a group is here and loaded, if it is about to be: at most `MAX_LOAD_WAIT_MS`."""
        if not fits_string(group_id):
            return
        partition = self._logs.partition_for(group_id)
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

    def _member_driver(self, group_id: str) -> ShardDriver:
        """As `_driver`, for operations that need a group id that is not empty.

        Operations on offsets do not: old simple consumers had no group id (KIP-289).
        """
        if not group_id:
            raise KafkaError(ErrorCode.INVALID_GROUP_ID)
        return self._driver(group_id)

    def _driver(self, group_id: str) -> ShardDriver:
        if not fits_string(group_id):
            raise KafkaError(ErrorCode.INVALID_GROUP_ID, "the group id is longer than 32,767 bytes")
        driver = self._drivers.get(self._logs.partition_for(group_id))
        if driver is None:
            raise KafkaError(ErrorCode.NOT_COORDINATOR)
        driver.count_request()
        if group_id in self._deleting:
            raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "the group is being deleted")
        self._require_valid_lease()
        return driver

    def _require_valid_lease(self) -> None:
        if not self._logs.is_lease_valid():
            raise KafkaError(ErrorCode.NOT_COORDINATOR, "the lease of this broker is not valid")

    def _now(self) -> Instant:
        elapsed_ms = int(asyncio.get_running_loop().time() * 1_000)
        return Instant(elapsed_ms, self._wall_clock_ms())


async def _outcomes(submitted: Iterable[Submitted[T] | KafkaError]) -> list[T | KafkaError]:
    results: list[T | KafkaError] = []
    for one in submitted:
        if isinstance(one, KafkaError):
            results.append(one)
            continue
        try:
            results.append(await one.wait())
        except KafkaError as error:
            results.append(error)
    return results


def _group_ids(shard: GroupShard, now: Instant) -> GroupDecision[list[str]]:
    return shard.group_ids(now)


def _list_groups(group_ids: Sequence[str]) -> Operation[list[ListedGroup]]:
    return lambda shard, now: shard.list_groups(group_ids, now)
