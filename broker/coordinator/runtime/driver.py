"""Drives one shard, of any kind: loads it, makes its decisions durable, wakes it at its deadlines.

An operation is decided on and replayed at once; its answer waits until every record decided on so
far is durable, so no answer depends on records that could still be lost. One append carries all
records that were decided on during the previous append. If an append fails, its outcome is unknown and
memory may be ahead of the log: all waiting requests fail with NOT_COORDINATOR, so that clients look for
the coordinator again, and the shard is loaded again before it answers anything. The same after an exception
of an operation that was not expected, which belongs to its client; one at a deadline or in a load ends the node.

Between two appends the log may be written again, see `rewriting`.
"""

import asyncio
import itertools
import logging
import math
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Final, Generic, NamedTuple, TypeVar

from headrace.broker.coordinator.runtime.batching import (
    DecisionTooLargeError,
    Outcome,
    PendingBatches,
)
from headrace.broker.coordinator.runtime.loading import replay_log
from headrace.broker.coordinator.runtime.ports import LOG_ERRORS, CoordinatorLog
from headrace.broker.coordinator.runtime.record_fields import CorruptRecordError
from headrace.broker.coordinator.runtime.rewriting import LogRewriter
from headrace.broker.coordinator.runtime.shard import (
    NO_PRODUCER_EPOCH,
    DeletedTopic,
    Instant,
    ParkedAnswer,
    R,
    S,
    Shard,
    ShardDecision,
    ShardKind,
)
from headrace.broker.coordinator.runtime.statistics import CoordinatorStatistics
from headrace.broker.partition.damage import DamagedRange
from headrace.metadata.image import MetadataImage
from headrace.protocol.errors import ErrorCode, KafkaError
from headrace.protocol.records.batch import NO_PRODUCER_ID
from headrace.protocol.records.errors import RecordsError
from headrace.task_failures import report_error
from headrace.turns import Turns

T = TypeVar("T")
Operation = Callable[[S, Instant], ShardDecision[R, T]]
ParkedOperation = Callable[[S, int, Instant], ShardDecision[R, Any]]  # is given a token

MAX_UNSHARED_BYTES: Final = 32 * 1024  # fewer are written at once
MAX_DELETED_TOPICS: Final = 100  # given to a shard at once
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


class ShardDriver(Generic[S, R]):
    """One partition of a coordinator's topic while this broker leads it."""

    def __init__(
        self,
        kind: ShardKind[S, R],
        partition: int,
        log: CoordinatorLog,
        *,
        image: Callable[[], MetadataImage],
        clock: Callable[[], Instant],
        turns: Turns,
        statistics: CoordinatorStatistics,
    ) -> None:
        self._kind = kind
        self._where: dict[str, str | int] = {"topic": kind.topic, "partition": partition}
        self._log = log
        # A request for this shard has come: the balance counts it as load of the partition.
        self.count_request = log.count_request
        self._image = image
        self._clock = clock
        self._turns = turns
        self._statistics = statistics
        self._shard = kind.new_shard()
        self._pending = PendingBatches(kind.encode)
        self._tokens = itertools.count()
        self._parked: dict[int, asyncio.Future[object]] = {}
        self._has_new_image = False
        self._deleted_topics: dict[DeletedTopic, None] = {}  # the shard is not done with them
        self._wake = asyncio.Event()
        self._rewriter = LogRewriter(self._where, log, self._pending, statistics, self._wake.set)
        self._sleeps_until_ms: float | None = (
            None  # `run` does, for this deadline or, infinite, for none
        )
        self._must_reload = False
        self._settled = asyncio.Event()  # it is not being loaded
        self.state = ShardState.LOADING

    # Operations

    @property
    def _name(self) -> str:
        return "{topic}-{partition}".format_map(self._where)

    async def loaded(self) -> None:
        """Wait until the log is loaded, or cannot be, or this broker does not lead the partition any more."""
        if self.state is ShardState.LOADING:
            await self._settled.wait()

    def submit(self, operation: Operation[S, R, T]) -> Submitted[T]:
        """Decide on an operation now.

        Raises:
            KafkaError: COORDINATOR_LOAD_IN_PROGRESS or NOT_COORDINATOR; MESSAGE_TOO_LARGE of an atomic
                decision that one batch cannot hold: then nothing has changed.
        """
        if self.state is not ShardState.ACTIVE or self._must_reload:
            raise self._not_active()
        try:
            now = self._clock()
            return self._absorb(operation(self._shard, now), now)
        except DecisionTooLargeError:
            raise
        except Exception:
            self._must_reload = True
            self._wake.set()
            raise

    def submit_write(self, operation: Operation[S, R, T]) -> Submitted[T]:
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

    async def park(self, operation: ParkedOperation[S, R], result: type[T]) -> T:
        """Decide on an operation whose answer, of the type `result`, comes with this decision or a later one.

        Cancellation: it stays parked in the shard, as in Kafka when its connection is lost.

        Raises:
            KafkaError: as `submit`; NOT_COORDINATOR also when the shard is unloaded before it answers.
        """
        token = next(self._tokens)
        parked: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._parked[token] = parked
        try:
            self.submit(lambda shard, now: operation(shard, token, now))
            answer = await parked
        finally:
            self._parked.pop(token, None)
        if not isinstance(answer, result):
            raise TypeError(f"an answer is {type(answer).__name__}, and not {result.__name__}")
        return answer

    def new_image(self, deleted: Sequence[DeletedTopic]) -> None:
        """Topics have changed: the shard takes it in, some of the work at a time; does not wait.

        A shard that is being loaded begins with the image of then, and is given the deleted topics afterwards. If
        that fails, what it has of them stays until it expires: a new topic of the same name has another id.
        """
        if self.state is not ShardState.FAILED:
            self._has_new_image = True
            self._deleted_topics.update(dict.fromkeys(deleted))
            self._wake.set()

    # Running

    async def run(self) -> None:
        """Load and serve until cancelled, or until the log cannot be decoded."""
        try:
            while await self._load():
                await self._serve()
                self._unload()
        finally:
            self._unload()
            self._settled.set()

    async def _load(self) -> bool:
        """Read the log, with retries; False when it can never be read."""
        backoff_ms = RELOAD_BACKOFF_MS
        while True:
            self.state = ShardState.LOADING
            self._settled.clear()
            self._must_reload = False
            shard = self._kind.new_shard()
            started = self._clock()
            try:
                loaded = await replay_log(self._log, shard, self._kind.decode, self._turns)
            except LOG_ERRORS as error:
                logger.warning(
                    "cannot read a coordinator partition, trying again",
                    extra={**self._where, "delay_ms": backoff_ms, "reason": str(error)},
                )
                await asyncio.sleep(backoff_ms / 1_000)
                backoff_ms = min(2 * backoff_ms, MAX_RELOAD_BACKOFF_MS)
                continue
            except (CorruptRecordError, RecordsError):
                # Reading it again would fail the same way; the other partitions continue.
                logger.exception(
                    "cannot decode a coordinator partition; it is not served until its leadership changes",
                    extra=self._where,
                )
                self.state = ShardState.FAILED
                self._settled.set()
                return False
            except Exception as error:  # noqa: BLE001 - handed to the one place that decides
                report_error(f"load of coordinator partition {self._name}", error)
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
                    **self._where,
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
            "coordinator partition loaded past damage; it has what the rest of the log says: "
            "groups may consume records again",
            extra={
                **self._where,
                "offsets": sum(it.end_offset - it.start_offset for it in damage),
                "ranges": len(damage),
                "first_start": first.start_offset,
                "first_end": first.end_offset,
                "reason": first.reason,
            },
        )

    def _activate(self, shard: S) -> None:
        now = self._clock()
        self._shard = shard
        self._pending.next_offset = self._log.end_offset
        self.state = ShardState.ACTIVE
        self._settled.set()
        self._has_new_image = bool(self._deleted_topics)
        self._absorb(shard.loaded(self._image(), now), now)

    async def _serve(self) -> None:
        """Write pending batches, run due deadlines; return when the shard must be loaded again."""
        while True:
            if self._rewriter.has_work(self._shard.live, self._clock):
                await self._rewrite()
            if self._has_new_image:
                await self._hand_image()
            if self._must_reload:
                return
            if self._pending.size_bytes > MAX_UNSHARED_BYTES:
                await self._turns.pause()  # all partitions may have as much to write
            batch = self._pending.next()
            if batch is not None:
                encoded = batch.encode()
                size_bytes = len(encoded)
                try:
                    await self._log.append(encoded)
                except LOG_ERRORS:
                    logger.exception(
                        "failed to append to a coordinator partition; loading it again",
                        extra=self._where,
                    )
                    return
                self._rewriter.appended(batch.records_count, size_bytes)
                self._pending.written()
            now, deadline_ms = self._clock(), self._shard.next_deadline_ms()
            if deadline_ms is not None and deadline_ms <= now.elapsed_ms:
                self._expire(now)
                await self._turns.pause()  # the next may be due by now
            elif batch is None:
                await self._sleep(now, deadline_ms)

    async def _hand_image(self) -> None:
        """Have the shard take in what has changed, up to records that are to be written."""
        while self._has_new_image and not self._pending.is_full:
            await self._turns.pause()  # all partitions have some of the work
            if self._must_reload:
                return
            image = self._image()
            deleted = tuple(itertools.islice(self._deleted_topics, MAX_DELETED_TOPICS))
            try:
                done = self.submit(_new_image(image, deleted)).response
            except Exception as error:  # noqa: BLE001 - handed to the one place that decides
                report_error(f"metadata in coordinator partition {self._name}", error)
                return
            for topic in deleted[:done]:
                del self._deleted_topics[topic]
            self._has_new_image = bool(self._deleted_topics)
            if self._pending.size_bytes:
                return

    async def _rewrite(self) -> None:
        """Queue a part of a rewrite."""
        await self._turns.pause()
        if not self._must_reload:  # else memory may be ahead of what is queued
            self._rewriter.add_slice(self._shard.live, self._clock())

    async def _sleep(self, now: Instant, deadline_ms: int | None) -> None:
        """Wait until there is something to do, or a deadline, which is not due."""
        self._wake.clear()
        self._sleeps_until_ms = math.inf if deadline_ms is None else deadline_ms
        timeout_s = None if deadline_ms is None else (deadline_ms - now.elapsed_ms) / 1_000
        try:
            async with asyncio.timeout(timeout_s):
                await self._wake.wait()
        except TimeoutError:
            pass
        finally:
            self._sleeps_until_ms = None

    def _expire(self, now: Instant) -> None:
        if self._must_reload:
            return
        try:
            self._absorb(self._shard.expire(now), now)
        except Exception as error:  # noqa: BLE001 - handed to the one place that decides
            report_error(f"deadline of coordinator partition {self._name}", error)
            self._must_reload = True

    # Answers

    def _absorb(self, decision: ShardDecision[R, T], now: Instant) -> Submitted[T]:
        """Queue a decision's records; answer at once if no record is pending."""
        if decision.records:
            offset = self._pending.add(decision.records, now.wall_ms, is_atomic=decision.is_atomic)
            if decision.is_atomic:
                for position, record in enumerate(decision.records, offset):
                    self._shard.replay(position, NO_PRODUCER_ID, NO_PRODUCER_EPOCH, record)
            self._wake.set()
        for event in decision.events:
            self._kind.on_event(event)
        if self._sleeps_until_ms is not None:
            next_ms = self._shard.next_deadline_ms()
            if next_ms is not None and next_ms < self._sleeps_until_ms:
                self._wake.set()
        batch = self._pending.newest()
        if batch is None:
            if decision.answers:
                self._answer(decision.answers)
            return Submitted(decision.response, None)
        if decision.answers:
            batch.when_durable(lambda: self._answer(decision.answers))
        return Submitted(decision.response, batch.wait())

    def _answer(self, answers: Sequence[ParkedAnswer]) -> None:
        for token, result in answers:
            parked = self._parked.pop(token, None)
            if parked is not None and not parked.done():
                parked.set_result(result)

    def _unload(self) -> None:
        """Fail all waiting requests: the state in memory may differ from the log."""
        if self.state is ShardState.ACTIVE:
            self.state = ShardState.LOADING
            self._shard.unloaded()
        error = KafkaError(ErrorCode.NOT_COORDINATOR)
        self._rewriter.abandon(self._clock())
        self._pending.fail(error)
        for parked in self._parked.values():
            if not parked.done():
                parked.set_exception(error)
        self._parked.clear()

    @property
    def live_count(self) -> int:
        """Records that a load of a log without anything superseded would read."""
        return self._shard.live.count

    @property
    def log_bytes(self) -> int:
        """Bytes that a load would read."""
        return self._rewriter.size.size_bytes

    def _not_active(self) -> KafkaError:
        if self.state is ShardState.FAILED:
            return KafkaError(
                ErrorCode.NOT_COORDINATOR, "the log of this coordinator partition cannot be read"
            )
        return KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)


def _new_image(
    image: MetadataImage, deleted: Sequence[DeletedTopic]
) -> Callable[[Shard[R], Instant], ShardDecision[R, int]]:
    return lambda shard, now: shard.new_image(image, deleted, now)
