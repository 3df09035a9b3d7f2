"""Drains the logs that the controller assigns to this broker: those of brokers whose epochs have ended.

Several at once, beside what is served, each with its own budgets (`headrace.storage.drain`). A drain ends with the
entry that records it, when the log is given to another broker, or when this broker cannot read it. Then the
controller asks another broker, and this one again after a while.
"""

import asyncio
import logging
import struct
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

from headrace.broker.adapters.drained_log import DrainedLog, DrainStatistics
from headrace.broker.adapters.foreign_log import ForeignLog, ForeignLogs
from headrace.broker.adapters.write_ahead_log import LogLocation
from headrace.broker.node.drained_partitions import checkpoints_of
from headrace.broker.node.environment import NodeEnvironment
from headrace.config.node import NodeConfig
from headrace.invariants import InvariantError
from headrace.loop_clock import loop_ms
from headrace.metadata.errors import (
    ControllerUnavailableError,
    NodeFencedError,
    RefusedError,
)
from headrace.metadata.follower.client import MetadataClient
from headrace.metadata.image import MetadataImage
from headrace.metadata.images.logs import Drain, LogImage, drains_of, reached_places
from headrace.metadata.records.logs import LogReach
from headrace.storage.drain import DrainCheckpoints, DrainReport, WalDrain
from headrace.storage.errors import (
    CommitRefusedError,
    FencedError,
    RetriableStorageError,
    StorageError,
)
from headrace.storage.object_store.retrying import RetryingObjectStore
from headrace.storage.ports import StreamMetadata, UploadedObjects
from headrace.storage.stats import UploadCounters
from headrace.storage.upload.commit import UploadCommitter, make_committer
from headrace.task_failures import report_unexpected
from headrace.wal.errors import WalChangedError, WalError

logger = logging.getLogger("headrace.drain")

# After this of failures that may pass, this broker says that it cannot read a log.
GIVE_UP_MS: Final = 10_000
UPLOAD_GIVE_UP_MS: Final = 60_000  # likewise, of one request to the bucket or to a controller
LEAVING: Final = "this broker is being stopped"
PAUSE_S: Final = 0.5  # before the next attempt, or the next request to a controller
# A commit is refused, too, after an attempt whose own last commit arrived late: then the next begins behind it.
_PASSING: Final = (WalChangedError, RetriableStorageError, CommitRefusedError, OSError)
# What bytes may raise in code that has a mistake: such a log must not end one broker after the other.
_MISTAKES: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    InvariantError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    struct.error,
)
_EXPECTED: Final = (StorageError, WalError, OSError, ValueError)


class LogDrains:
    """The drains of one broker. `run` until it leaves the cluster."""

    def __init__(
        self,
        client: MetadataClient,
        logs: ForeignLogs,
        *,
        reach: tuple[LogReach, ...],
        committer: Callable[[UploadedObjects], UploadCommitter],
        checkpoints: Callable[[Sequence[StreamMetadata]], Awaitable[DrainCheckpoints]],
        max_segment_bytes: int,
        stream_split_bytes: int,
    ) -> None:
        """Nothing is followed before `run`.

        Args:
            client: registered.
            logs: opens them.
            reach: what this broker has registered that it can open.
            committer: makes what uploads and commits, with budgets of its own.
            checkpoints: makes what ends the partitions whose streams a log holds.
            max_segment_bytes: see `WalDrain`.
            stream_split_bytes: see `WalDrain`.
        """
        self._client = client
        self._logs = logs
        self._reach = reach
        self._committer = committer
        self._checkpoints = checkpoints
        self._max_segment_bytes = max_segment_bytes
        self._stream_split_bytes = stream_split_bytes
        self._running: dict[Drain, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()
        self._is_leaving = False
        self._handed_back: set[Drain] = set()  # since it leaves
        self.statistics = DrainStatistics()

    async def run(self) -> None:
        """Drain what is assigned to this registration, until cancelled."""
        self._client.subscribe(self._image_changed)
        self._changed.set()
        async with asyncio.TaskGroup() as tasks:
            while True:
                await self._changed.wait()
                self._changed.clear()
                self._follow(tasks)

    def leave(self) -> None:
        """From now on let others drain what is, or comes to be, assigned to this broker, while `run` lasts."""
        self._is_leaving = True
        self._changed.set()

    def _image_changed(self, old: MetadataImage, new: MetadataImage) -> None:
        if old.logs is not new.logs:
            self._changed.set()

    def _follow(self, tasks: asyncio.TaskGroup) -> None:
        """Begin the drains that are assigned to this broker, and end those that no longer are."""
        image, client = self._client.image, self._client
        known = {log.drain for log in image.logs.values()}
        for drain, task in self._running.items():
            if drain not in known:
                task.cancel()
        for log in drains_of(image.logs, client.node_id, client.node_epoch):
            if log.drain is None:
                continue
            if self._is_leaving and log.drain not in self._handed_back:
                self._handed_back.add(log.drain)
                task = tasks.create_task(self._hand_back(log), name=f"hand-back-{log.log_id}")
                task.add_done_callback(report_unexpected)
            elif not self._is_leaving and log.drain not in self._running:
                task = tasks.create_task(self._drain(log), name=f"drain-{log.log_id}")
                self._running[log.drain] = task
                task.add_done_callback(report_unexpected)
        self.statistics.running = len(self._running)

    async def _hand_back(self, log: LogImage) -> None:
        """Give a log to another broker; its drain here, if it has begun, ends with the entry that says so."""
        try:
            await _until_answered(partial(DrainedLog(self._client, log).refuse, LEAVING))
        except (NodeFencedError, RefusedError) as error:
            logger.info("drain has ended", extra={**_fields(log), "reason": str(error)})

    async def _drain(self, log: LogImage) -> None:
        assert log.drain is not None
        drained = DrainedLog(self._client, log)
        logger.info("draining the log of a broker that has ended", extra=_fields(log))
        has_come_to_end = False
        try:
            await self._attempt(log, drained)
            has_come_to_end = True
        except (FencedError, NodeFencedError, RefusedError) as error:
            # The image says so soon, and cancels this task; else it is tried again.
            logger.info("drain has ended", extra={**_fields(log), "reason": str(error)})
            await asyncio.sleep(PAUSE_S)
            self._changed.set()
        finally:
            del self._running[log.drain]
            self.statistics.ended += not has_come_to_end
            self.statistics.running = len(self._running)

    async def _attempt(self, log: LogImage, drained: DrainedLog) -> None:
        """Drain a log; say that it cannot be read after a failure that will not pass, or has not passed for long."""
        failing_since_ms: int | None = None
        while True:
            try:
                await self._drain_once(log, drained)
            except (FencedError, NodeFencedError, RefusedError):
                raise
            except _PASSING as error:
                now_ms = loop_ms()
                failing_since_ms = now_ms if failing_since_ms is None else failing_since_ms
                if now_ms - failing_since_ms > GIVE_UP_MS:
                    await self._refuse(log, drained, error)
                    return
                logger.warning(
                    "log cannot be drained; trying again",
                    extra={**_fields(log), "reason": repr(error)},
                )
                await asyncio.sleep(PAUSE_S)
            except _EXPECTED as error:
                await self._refuse(log, drained, error)
                return
            except _MISTAKES as error:
                logger.exception("draining a log has failed", extra=_fields(log))
                await self._refuse(log, drained, error)
                return
            else:
                return

    async def _drain_once(self, log: LogImage, drained: DrainedLog) -> None:
        begin_ms = loop_ms()
        report, position = await self._bring(log, drained)
        brought_ms = loop_ms()
        await _until_answered(partial(drained.finish, position, report.ends))
        self._note_finished(log, report, begin_ms, brought_ms)

    async def _bring(self, log: LogImage, drained: DrainedLog) -> tuple[DrainReport, int]:
        """Bring what a log holds to the bucket; return the position up to which it was read."""
        source = await self._open(log)
        try:
            streams = drained.streams()
            drain = WalDrain(
                source,
                streams,
                self._committer(drained),
                clock_ms=loop_ms,
                max_segment_bytes=self._max_segment_bytes,
                stream_split_bytes=self._stream_split_bytes,
                checkpoints=await self._checkpoints(streams),
            )
            report = await drain.run()
        finally:
            await source.close()
        return report, source.position

    async def _open(self, log: LogImage) -> ForeignLog:
        """Open a log at the first of its locations where that is possible."""
        places = reached_places(log, self._reach)
        for place in places[:-1]:
            try:
                return await self._logs.open(log, place)
            except _EXPECTED as error:
                logger.info(
                    "log cannot be opened at one of its places",
                    extra={**_fields(log), "place": place, "reason": repr(error)},
                )
        if not places:
            raise ValueError("none of its places is below headrace.wal.reach of this broker")
        return await self._logs.open(log, places[-1])

    async def _refuse(self, log: LogImage, drained: DrainedLog, error: Exception) -> None:
        self.statistics.refused += 1
        logger.error(
            "log cannot be drained by this broker; another one may be able to",
            extra={**_fields(log), "reason": repr(error)},
        )
        reason = f"{type(error).__name__}: {error}"
        await _until_answered(partial(drained.refuse, reason))

    def _note_finished(
        self, log: LogImage, report: DrainReport, begin_ms: int, brought_ms: int
    ) -> None:
        statistics, end_ms = self.statistics, loop_ms()
        statistics.finished += 1
        statistics.records += report.records
        statistics.bytes += report.bytes
        statistics.last_ms = end_ms - begin_ms
        logger.info(
            "log drained",
            extra={
                **_fields(log),
                **report.fields,
                "bytes": report.bytes,
                "streams": report.streams,
                "read_ms": report.read_ms,
                "upload_ms": report.upload_ms,
                "commit_ms": report.commit_ms,
                "finish_ms": end_ms - brought_ms,
                "drain_ms": statistics.last_ms,
            },
        )


async def _until_answered(ask: Callable[[], Awaitable[None]]) -> None:
    """Repeat a request until a controller answers; cancelled once its answer is not needed."""
    while True:
        try:
            return await ask()
        except ControllerUnavailableError as error:
            logger.info("no controller answers; trying again", extra={"reason": str(error)})
            await asyncio.sleep(PAUSE_S)


def make_log_drains(
    config: NodeConfig,
    environment: NodeEnvironment,
    client: MetadataClient,
    store: RetryingObjectStore,
    log_location: LogLocation,
) -> LogDrains:
    """Join the parts; each drain uploads with budgets of its own."""
    storage, cluster_id, rng = config.storage, client.image.cluster_id, environment.rng
    logs = ForeignLogs(
        config=config.wal,
        cluster_id=cluster_id,
        rng=rng,
        look=environment.look_at_device,
        open_device=environment.open_device,
        fence=log_location.fence,
        open_bucket=environment.open_bucket,
        variables=environment.variables,
    )
    return LogDrains(
        client,
        logs,
        reach=log_location.reach,
        committer=lambda objects: make_committer(
            storage, store, objects, cluster_id, rng, UploadCounters(), UPLOAD_GIVE_UP_MS
        ),
        checkpoints=lambda streams: checkpoints_of(
            client.image, streams, config.log, environment.wall_clock_ms
        ),
        max_segment_bytes=storage.upload_threshold_bytes,
        stream_split_bytes=storage.stream_split_bytes,
    )


def _fields(log: LogImage) -> dict[str, object]:
    assert log.drain is not None
    return {"log_id": log.log_id, "owner": log.owner, "drain_epoch": log.drain.epoch}
