"""Drives one group shard: loads it, makes its decisions durable, wakes it at its deadlines.

An operation is decided on and replayed at once; its answer waits until every record decided on so
far is durable, so no answer depends on records that could still be lost. One append carries all
records that were decided on during the previous append. If an append fails, its outcome is unknown and
memory may be ahead of the log: all waiting requests fail with NOT_COORDINATOR, so that clients look for
the coordinator again, and the shard is loaded again before it answers anything. The same after an exception
that nobody expected of an operation, which belongs to its client; one at a deadline or in a load ends the node.

Between two appends the log may be written again, see `rewriting`.
"""

import asyncio
import itertools
import logging
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Final, Generic, NamedTuple, TypeVar

from headrace.broker.coordinator.batching import Outcome, PendingBatches
from headrace.broker.coordinator.group.decision import GroupDecision
from headrace.broker.coordinator.group.requests import (
    DeletedTopic,
    Instant,
    JoinRequest,
    JoinResult,
    SyncRequest,
    SyncResult,
)
from headrace.broker.coordinator.group.shard import GroupShard
from headrace.broker.coordinator.loading import replay_log
from headrace.broker.coordinator.ports import LOG_ERRORS, CoordinatorLog
from headrace.broker.coordinator.record_fields import CorruptRecordError
from headrace.broker.coordinator.rewriting import LogRewriter
from headrace.broker.coordinator.statistics import CoordinatorStatistics
from headrace.broker.network.turn_share import TurnShare
from headrace.broker.partition.damage import DamagedRange
from headrace.config.node import GroupConfig
from headrace.protocol.errors import ErrorCode, KafkaError
from headrace.protocol.records.errors import RecordsError
from headrace.task_failures import report_error

T = TypeVar("T")
Operation = Callable[[GroupShard, Instant], GroupDecision[T]]

MAX_UNSHARED_BYTES: Final = 32 * 1024  # fewer are written at once
RELOAD_BACKOFF_MS: Final = 100  # doubled after each failed attempt to read the log
MAX_RELOAD_BACKOFF_MS: Final = 5_000

logger = logging.getLogger("headrace.coordinator")


class ShardState(Enum):
    """What the driver is doing."""

    LOADING = "loading"
    ACTIVE = "active"
    FAILED = "failed"  # the log cannot be decoded; stays failed until leadership changes


class Submitted(NamedTuple, Generic[T]):
    """A decision's response, and what to wait for before it may be sent (None: nothing)."""

    response: T
    durable: asyncio.Future[Outcome] | None

    async def wait(self) -> T:
        """Return the response once it is durable; KafkaError when that failed."""
        if self.durable is not None:
            error = await self.durable
            if error is not None:
                raise error
        return self.response


class ShardDriver:
    """One partition of `__consumer_offsets` while this broker leads it."""

    def __init__(
        self,
        partition: int,
        log: CoordinatorLog,
        config: GroupConfig,
        clock: Callable[[], Instant],
        *,
        turns: TurnShare,
        statistics: CoordinatorStatistics,
    ) -> None:
        self._partition = partition
        self._log = log
        self._config = config
        self._clock = clock
        self._turns = turns
        self._statistics = statistics
        self._shard = GroupShard(config)
        self._pending = PendingBatches()
        self._tokens = itertools.count()
        self._joins: dict[int, asyncio.Future[JoinResult]] = {}
        self._syncs: dict[int, asyncio.Future[SyncResult]] = {}
        self._deleted_topics: dict[DeletedTopic, None] = {}  # their offsets are to be removed
        self._wake = asyncio.Event()
        self._rewriter = LogRewriter(partition, log, self._pending, statistics, self._wake.set)
        self._wakes_at_ms: int | None = None  # deadline that `run` sleeps for
        self._must_reload = False
        self._settled = asyncio.Event()  # it is not being loaded
        self.state = ShardState.LOADING

    # Operations

    async def loaded(self) -> None:
        """Wait until the log is loaded, or cannot be, or this broker does not lead the partition any more."""
        if self.state is ShardState.LOADING:
            await self._settled.wait()

    def count_request(self) -> None:
        """A request for a group of this shard has come: the balance counts it as load of the partition."""
        self._log.count_request()

    def submit(self, operation: Operation[T]) -> Submitted[T]:
        """Decide on an operation now.

        Raises:
            KafkaError: COORDINATOR_LOAD_IN_PROGRESS or NOT_COORDINATOR.
        """
        self._check_active()
        try:
            now = self._clock()
            return self._absorb(operation(self._shard, now), now)
        except Exception:
            self._must_reload = True
            self._wake.set()
            raise

    def submit_write(self, operation: Operation[T]) -> Submitted[T]:
        """Decide on an operation that adds records, unless `MAX_PENDING_BYTES` are waiting for the log.

        Raises:
            KafkaError: as `submit`; COORDINATOR_LOAD_IN_PROGRESS also at the bound, so that the
                client tries again here.
        """
        if self._pending.is_full:
            raise KafkaError(
                ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "too many records are waiting to be written"
            )
        return self.submit(operation)

    async def join(self, request: JoinRequest) -> JoinResult:
        """JoinGroup; may take as long as the rebalance.

        Cancellation: the member stays parked, as it does in Kafka when its connection is lost.
        """
        token = next(self._tokens)
        answer: asyncio.Future[JoinResult] = asyncio.get_running_loop().create_future()
        self._joins[token] = answer
        try:
            self.submit(lambda shard, now: shard.join(token, request, now))
            return await answer
        finally:
            self._joins.pop(token, None)

    async def sync(self, request: SyncRequest) -> SyncResult:
        """SyncGroup; may take until the leader has synced.

        Cancellation: the member stays parked.
        """
        token = next(self._tokens)
        answer: asyncio.Future[SyncResult] = asyncio.get_running_loop().create_future()
        self._syncs[token] = answer
        try:
            self.submit(lambda shard, now: shard.sync(token, request, now))
            return await answer
        finally:
            self._syncs.pop(token, None)

    def forget_topics(self, topics: Sequence[DeletedTopic]) -> None:
        """Remove the offsets of deleted topics, some at a time; does not wait.

        If that fails, the offsets stay until they expire: a new topic of the same name has another
        id, so they are not taken for its offsets.
        """
        if self.state is not ShardState.FAILED:
            self._deleted_topics.update(dict.fromkeys(topics))
            self._wake.set()

    # Running

    async def run(self) -> None:
        """Load and serve until cancelled, or until the log cannot be decoded."""
        try:
            while await self._load():
                await self._serve()
                self._abandon()
        finally:
            if self.state is not ShardState.FAILED:
                self.state = ShardState.LOADING
            self._settled.set()
            self._abandon()

    async def _load(self) -> bool:
        """Read the log, with retries; False when it can never be read."""
        backoff_ms = RELOAD_BACKOFF_MS
        while True:
            self.state = ShardState.LOADING
            self._settled.clear()
            self._must_reload = False
            shard = GroupShard(self._config)
            started = self._clock()
            try:
                loaded = await replay_log(self._log, shard.replay, self._turns)
            except LOG_ERRORS as error:
                logger.warning(
                    "cannot read a coordinator partition, trying again",
                    extra={
                        "partition": self._partition,
                        "delay_ms": backoff_ms,
                        "reason": str(error),
                    },
                )
                await asyncio.sleep(backoff_ms / 1_000)
                backoff_ms = min(2 * backoff_ms, MAX_RELOAD_BACKOFF_MS)
                continue
            except (CorruptRecordError, RecordsError):
                # Reading it again would fail the same way; the other partitions continue.
                logger.exception(
                    "cannot decode a coordinator partition; its groups are not served until its leadership changes",
                    extra={"partition": self._partition},
                )
                self.state = ShardState.FAILED
                self._settled.set()
                return False
            except Exception as error:  # noqa: BLE001 - handed to the one place that decides
                report_error(f"load of coordinator partition {self._partition}", error)
                self.state = ShardState.FAILED
                self._settled.set()
                return False
            self._rewriter.loaded(loaded)
            self._statistics.loads_total += 1
            self._statistics.loaded_records_total += loaded.records
            self._tell_damage(loaded.damage)
            self._activate(shard)
            logger.info(
                "coordinator partition loaded",
                extra={
                    "partition": self._partition,
                    "records": loaded.records,
                    "live_records": shard.live.count,
                    "duration_ms": self._clock().elapsed_ms - started.elapsed_ms,
                },
            )
            return True

    def _tell_damage(self, damage: Sequence[DamagedRange]) -> None:
        if not damage:
            return
        self._statistics.loads_past_damage_total += 1
        first = damage[0]
        logger.error(
            "coordinator partition loaded past damage; its groups have what the rest of the log says, and may consume "
            "records again",
            extra={
                "partition": self._partition,
                "offsets": sum(it.end_offset - it.start_offset for it in damage),
                "ranges": len(damage),
                "first_start": first.start_offset,
                "first_end": first.end_offset,
                "reason": first.reason,
            },
        )

    def _activate(self, shard: GroupShard) -> None:
        now = self._clock()
        self._shard = shard
        self.state = ShardState.ACTIVE
        self._settled.set()
        self._absorb(shard.loaded(now), now)

    async def _serve(self) -> None:
        """Write pending batches, run due deadlines; return when the shard must be loaded again."""
        while True:
            await self._rewrite()
            await self._forget()
            if self._must_reload:
                return
            if self._pending.size_bytes > MAX_UNSHARED_BYTES:
                await self._turns.pause()  # all partitions may have as much to write
            batch = self._pending.next()
            if batch is None:
                await self._sleep()
            else:
                encoded = batch.encode()
                size_bytes = len(encoded)
                try:
                    await self._log.append(encoded)
                except LOG_ERRORS:
                    logger.exception(
                        "failed to append to a coordinator partition; loading it again",
                        extra={"partition": self._partition},
                    )
                    return
                self._rewriter.appended(batch.records_count, size_bytes)
                self._pending.written()
            if not self._must_reload:
                self._expire()

    async def _forget(self) -> None:
        """Queue the removal of some offsets of deleted topics, if there are any."""
        while self._deleted_topics and not self._pending.is_full:
            await self._turns.pause()  # all partitions have some to remove
            if self._must_reload:
                return
            topic = next(iter(self._deleted_topics))
            try:
                if not self.submit(_forget_topic(topic)).response:
                    del self._deleted_topics[topic]
            except Exception as error:  # noqa: BLE001 - handed to the one place that decides
                report_error(f"deleted topics in coordinator partition {self._partition}", error)
                return
            if self._pending.size_bytes:
                return

    async def _rewrite(self) -> None:
        """Queue a part of a rewrite, if one is due or under way."""
        if self._rewriter.has_work(self._shard, self._clock()):
            await self._turns.pause()
            if not self._must_reload:  # else memory may be ahead of what is queued
                self._rewriter.add_slice(self._shard, self._clock())

    async def _sleep(self) -> None:
        self._wake.clear()
        deadline_ms = self._shard.next_deadline_ms()
        self._wakes_at_ms = deadline_ms
        timeout_s = (
            None if deadline_ms is None else max(0, deadline_ms - self._clock().elapsed_ms) / 1_000
        )
        try:
            async with asyncio.timeout(timeout_s):
                await self._wake.wait()
        except TimeoutError:
            pass
        finally:
            self._wakes_at_ms = None

    def _expire(self) -> None:
        now = self._clock()
        try:
            self._absorb(self._shard.expire(now), now)
        except Exception as error:  # noqa: BLE001 - handed to the one place that decides
            report_error(f"deadline of coordinator partition {self._partition}", error)
            self._must_reload = True

    # Answers

    def _absorb(self, decision: GroupDecision[T], now: Instant) -> Submitted[T]:
        """Queue a decision's records; answer at once if no record is pending."""
        for event in decision.events:
            logger.info(
                "consumer group changed", extra={"group": event.group_id, "reason": event.text}
            )
        if decision.records:
            self._pending.add(decision.records, now.wall_ms)
            self._wake.set()
        batch = self._pending.newest()
        next_ms = self._shard.next_deadline_ms()
        if self._wakes_at_ms is None or (next_ms is not None and next_ms < self._wakes_at_ms):
            self._wake.set()
        if batch is None:
            self._answer(decision)
            return Submitted(decision.response, None)
        if decision.joins or decision.syncs:
            batch.when_durable(lambda: self._answer(decision))
        return Submitted(decision.response, batch.wait())

    def _answer(self, decision: GroupDecision[T]) -> None:
        for joined in decision.joins:
            join = self._joins.pop(joined.token, None)
            if join is not None and not join.done():
                join.set_result(joined.result)
        for synced in decision.syncs:
            sync = self._syncs.pop(synced.token, None)
            if sync is not None and not sync.done():
                sync.set_result(synced.result)

    def _abandon(self) -> None:
        """Fail all waiting requests: the state in memory may differ from the log."""
        error = KafkaError(ErrorCode.NOT_COORDINATOR)
        self._rewriter.abandon(self._clock())
        self._pending.fail(error)
        for join in self._joins.values():
            if not join.done():
                join.set_exception(error)
        for sync in self._syncs.values():
            if not sync.done():
                sync.set_exception(error)
        self._joins.clear()
        self._syncs.clear()

    @property
    def live_count(self) -> int:
        """Records that a load of a log without anything superseded would read."""
        return self._shard.live.count

    @property
    def log_bytes(self) -> int:
        """Bytes that a load would read."""
        return self._rewriter.size.size_bytes

    def _check_active(self) -> None:
        if self.state is ShardState.FAILED:
            raise KafkaError(
                ErrorCode.NOT_COORDINATOR, "the log of this coordinator partition cannot be read"
            )
        if self.state is ShardState.LOADING or self._must_reload:
            raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)


def _forget_topic(topic: DeletedTopic) -> Operation[bool]:
    return lambda shard, now: shard.forget_topic(topic, now)
