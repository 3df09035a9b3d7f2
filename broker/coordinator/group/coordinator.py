"""The group coordinator: classic groups and committed offsets, in shards that the runtime drives.

Members and commits wait a moment for a partition that is about to come, or is being loaded: not all clients repeat a
commit that was answered with an error.

Source: `GroupCoordinatorService` of Apache Kafka.
"""

import logging
import random
import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from headrace.broker.cluster.topic_creation import CoordinatorTopic
from headrace.broker.coordinator.group.classic.membership import LeaveResult
from headrace.broker.coordinator.group.record_runs import decode_records
from headrace.broker.coordinator.group.records import CoordinatorRecord, encode_record
from headrace.broker.coordinator.group.requests import (
    CommitRequest,
    CommittedOffset,
    DescribedGroup,
    GroupDecision,
    HeartbeatRequest,
    JoinRequest,
    JoinResult,
    LeavingMember,
    ListedGroup,
    OffsetQuery,
    SyncRequest,
    SyncResult,
)
from headrace.broker.coordinator.group.shard import OFFSETS_AT_ONCE, GroupShard
from headrace.broker.coordinator.runtime.coordinator_runtime import CoordinatorRuntime
from headrace.broker.coordinator.runtime.driver import ParkedOperation, ShardDriver, Submitted
from headrace.broker.coordinator.runtime.ports import CoordinatorLogs
from headrace.broker.coordinator.runtime.record_fields import fits_string
from headrace.broker.coordinator.runtime.shard import Instant, ShardEvent, ShardKind
from headrace.broker.partition.internal_topics import OFFSETS_TOPIC
from headrace.config.node import GroupConfig
from headrace.protocol.errors import ErrorCode, KafkaError

OFFSETS_TOPIC_CONFIGS: Final = {
    "cleanup.policy": "compact",
    "compression.type": "producer",
    "segment.bytes": "104857600",
}
GROUPS_AT_ONCE: Final = 256  # listed
MAX_SHORT_CHARACTERS: Final = 8_000  # of a group id that certainly fits

T = TypeVar("T")
_Driver = ShardDriver[GroupShard, CoordinatorRecord]
_Operation = Callable[[GroupShard, Instant], GroupDecision[T]]
_Deleted = tuple[ErrorCode, list[ErrorCode]]  # an error of the group, or one per partition

logger = logging.getLogger("headrace.coordinator")


def offsets_topic(config: GroupConfig) -> CoordinatorTopic:
    """Give the topic that holds groups and offsets."""
    return CoordinatorTopic(OFFSETS_TOPIC, config.offsets_topic_partitions, OFFSETS_TOPIC_CONFIGS)


def group_kind(config: GroupConfig) -> ShardKind[GroupShard, CoordinatorRecord]:
    """Give what the runtime has to know of groups."""
    return ShardKind(
        topic=OFFSETS_TOPIC,
        new_shard=lambda: GroupShard(config),
        encode=encode_record,
        decode=decode_records,
        on_event=_log_event,
    )


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
    ) -> None:
        self.runtime = CoordinatorRuntime(group_kind(config), logs, wall_clock_ms=wall_clock_ms)
        self._rng = rng
        self._deleting: set[str] = set()  # groups of many offsets that are being deleted

    # Members

    def new_member_id(self, prefix: str) -> str:
        """Make a member id: the client id, or a static member's instance id, and a random UUID."""
        return f"{prefix}-{uuid.UUID(int=self._rng.getrandbits(128), version=4)}"

    async def join(self, request: JoinRequest) -> JoinResult:
        """JoinGroup; returns when the join phase has ended, if it must."""
        return await self._park(
            request.group_id,
            lambda shard, token, now: shard.join(token, request, now),
            JoinResult,
        )

    async def sync(self, request: SyncRequest) -> SyncResult:
        """SyncGroup; returns when the leader has synced."""
        return await self._park(
            request.group_id,
            lambda shard, token, now: shard.sync(token, request, now),
            SyncResult,
        )

    def heartbeat(self, request: HeartbeatRequest) -> Submitted[ErrorCode] | None:
        """Heartbeat; None if the group's partition is about to come, or is being loaded."""
        if not request.group_id:
            raise KafkaError(ErrorCode.INVALID_GROUP_ID)
        driver = self._settled(request.group_id)
        if driver is None:
            return None
        return driver.submit(lambda shard, now: shard.heartbeat(request, now))

    async def heartbeat_when_loaded(self, request: HeartbeatRequest) -> ErrorCode:
        """Heartbeat."""
        driver = await self._arrived(_of_members(request.group_id))
        return await driver.submit(lambda shard, now: shard.heartbeat(request, now)).wait()

    async def leave(self, group_id: str, members: Sequence[LeavingMember]) -> list[LeaveResult]:
        """LeaveGroup."""
        driver = await self._arrived(_of_members(group_id))
        return await driver.submit(lambda shard, now: shard.leave(group_id, members, now)).wait()

    # Offsets

    def commit(self, request: CommitRequest) -> Submitted[list[ErrorCode]] | None:
        """OffsetCommit; one error per entry. None if the group's partition is about to come, or is being loaded."""
        driver = self._settled(request.group_id)
        if driver is None:
            return None
        return driver.submit_write(lambda shard, now: shard.commit_offsets(request, now))

    async def commit_offsets(self, request: CommitRequest) -> list[ErrorCode]:
        """OffsetCommit; one error per entry."""
        driver = await self._arrived(request.group_id)
        submitted = driver.submit_write(lambda shard, now: shard.commit_offsets(request, now))
        return await submitted.wait()

    async def fetch_offsets(
        self, groups: Sequence[tuple[str, Sequence[OffsetQuery] | None]]
    ) -> list[Iterable[CommittedOffset] | KafkaError]:
        """OffsetFetch of several groups; None asks for all partitions of a group."""
        if len(groups) == 1 and fits_string(groups[0][0]):  # of several each has its own answer
            await self.runtime.loaded(groups[0][0])

        def fetch(
            group_id: str, queries: Sequence[OffsetQuery] | None
        ) -> _Operation[Iterable[CommittedOffset]]:
            return lambda shard, now: shard.fetch_offsets(group_id, queries, now)

        return await self._for_each(
            ShardDriver.submit,
            [(group_id, fetch(group_id, queries)) for group_id, queries in groups],
        )

    async def delete_offsets(
        self, group_id: str, partitions: Sequence[tuple[str, int]]
    ) -> tuple[ErrorCode, list[ErrorCode]]:
        """OffsetDelete; an error of the group, or one per partition."""

        def delete(part: Sequence[tuple[str, int]]) -> _Operation[_Deleted]:
            return lambda shard, now: shard.delete_offsets(group_id, part, now)

        submitted = []
        parts = range(0, max(1, len(partitions)), OFFSETS_AT_ONCE)
        async for start in self.runtime.turns.each(parts, 1):
            part = partitions[start : start + OFFSETS_AT_ONCE]
            submitted.append(self._driver(_of_members(group_id)).submit_write(delete(part)))
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

        def describe(group_id: str) -> _Operation[DescribedGroup | None]:
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
        submitted = []
        for driver in self.runtime.drivers():
            group_ids = driver.submit(_group_ids)
            submitted.append(driver.submit(_list_groups(())))  # waits for a deletion of all
            submitted += [
                driver.submit(_list_groups(some))
                async for some in self.runtime.turns.batches(group_ids.response, GROUPS_AT_ONCE)
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
            await self.runtime.turns.pause()
        return [result for result in await _outcomes(submitted) if result is not None]

    async def _delete_group(self, group_id: str) -> Submitted[ErrorCode | None]:
        def delete(shard: GroupShard, now: Instant) -> GroupDecision[ErrorCode | None]:
            return shard.delete_group(group_id, now)

        while (submitted := self._driver(group_id).submit_write(delete)).response is None:
            self._deleting.add(group_id)
            try:
                await self.runtime.turns.pause()
            finally:
                self._deleting.discard(group_id)
        return submitted

    async def _for_each(
        self,
        submit: Callable[[_Driver, _Operation[T]], Submitted[T]],
        operations: Sequence[tuple[str, _Operation[T]]],
    ) -> list[T | KafkaError]:
        """Decide on all, then wait for all: groups of one shard share its appends."""
        submitted: list[Submitted[T] | KafkaError] = []
        for group_id, operation in operations:
            try:
                submitted.append(submit(self._driver(group_id), operation))
            except KafkaError as error:
                submitted.append(error)
        return await _outcomes(submitted)

    async def _park(
        self,
        group_id: str,
        operation: ParkedOperation[GroupShard, CoordinatorRecord],
        result: type[T],
    ) -> T:
        """Wait for an answer that may come with a later decision."""
        driver = await self._arrived(_of_members(group_id))
        answer = await driver.park(operation, result)
        self.runtime.require_valid_lease()
        return answer

    def _settled(self, group_id: str) -> _Driver | None:
        """As `_driver`; None if the group's partition is about to come, or is being loaded."""
        driver = self.runtime.settled(_checked(group_id))
        if group_id in self._deleting:
            raise _being_deleted()
        return driver

    async def _arrived(self, group_id: str) -> _Driver:
        """As `_driver`, after a moment if the group's partition is about to come, or is being loaded."""
        driver = await self.runtime.arrived(_checked(group_id))
        return self._unless_deleted(group_id, driver)

    def _driver(self, group_id: str) -> _Driver:
        return self._unless_deleted(group_id, self.runtime.driver(_checked(group_id)))

    def _unless_deleted(self, group_id: str, driver: _Driver) -> _Driver:
        if group_id in self._deleting:
            raise _being_deleted()
        return driver


def _being_deleted() -> KafkaError:
    return KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "the group is being deleted")


def _checked(group_id: str) -> str:
    if len(group_id) > MAX_SHORT_CHARACTERS and not fits_string(group_id):
        raise KafkaError(ErrorCode.INVALID_GROUP_ID, "the group id is longer than 32,767 bytes")
    return group_id


def _of_members(group_id: str) -> str:
    """Refuse an empty group id. Operations on offsets do not: old simple consumers had none (KIP-289)."""
    if not group_id:
        raise KafkaError(ErrorCode.INVALID_GROUP_ID)
    return group_id


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


def _log_event(event: ShardEvent) -> None:
    logger.info("consumer group changed", extra={"group": event.owner, "reason": event.text})


def _group_ids(shard: GroupShard, now: Instant) -> GroupDecision[list[str]]:
    return shard.group_ids(now)


def _list_groups(group_ids: Sequence[str]) -> _Operation[list[ListedGroup]]:
    return lambda shard, now: shard.list_groups(group_ids, now)
