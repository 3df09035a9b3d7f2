"""Moves partitions that this broker leads to other brokers, and holds those that are about to come.

The controller notes that a partition moves (`headrace.metadata.controller.moves`). Its leader

  1. uploads what it has of the partition, and only that, while it serves it, until little is left;
  2. freezes it: who produces waits, who fetches is served. It writes a checkpoint, and uploads the remainder;
  3. asks for the entry that closes both streams and makes the target the leader. When that entry is here, everybody
     who waits is answered with the new leader.

A freeze ends after `MAX_FREEZE_MS` unless step 3 has begun, and whenever the metadata say that the move has been taken
back. Once step 3 has begun only the metadata end it: a request that was given up could still arrive, and close the
streams before records that were acknowledged here meanwhile.
"""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from headrace.broker.partition.opening_queue import PartitionKey
from headrace.broker.partition.partition import Partition
from headrace.broker.partition.registry import PartitionRegistry
from headrace.loop_clock import loop_ms
from headrace.metadata.errors import ControllerUnavailableError, NodeFencedError, RefusedError
from headrace.metadata.follower.client import MetadataClient
from headrace.metadata.image import MetadataImage, MoveImage
from headrace.metadata.images.logs import about_to_end
from headrace.metadata.images.moves import MOVES_AT_ONCE, ended_moves
from headrace.metadata.levels import MOVES_LEVEL, level_of
from headrace.metadata.rpc.requests import FinishMove, StreamToClose
from headrace.metadata.rpc.responses import MoveFinished
from headrace.storage.engine import StorageEngine
from headrace.storage.errors import FencedError, StorageError
from headrace.task_failures import report_unexpected

logger = logging.getLogger("headrace.partition")

MAX_FREEZE_MS: Final = 2_000  # until the target may be asked for as the leader
# Uploads while the partition is served: until one is done in so short a time, or hardly shorter than the one before.
SHORT_UPLOAD_MS: Final = 200
MAX_UPLOADS: Final = 5
MAX_LAST_UPLOAD_MS: Final = (
    1_800  # of the last one: the remainder would take longer than a freeze may
)
PAUSE_MS: Final = 250  # before the next attempt
MAX_LEAVE_MS: Final = 30_000  # that a broker waits before it ends
LOOK_MS: Final = 20


class MoveStatistics(msgspec.Struct):
    """Counters since the start."""

    moved_total: int = 0  # partitions that have left this broker
    taken_back_total: int = 0  # that this broker has begun to move, and kept
    last_freeze_ms: int = 0  # of the last one that has left


class _Freeze(msgspec.Struct):
    """A partition that is frozen, and when each step of its move was over, in loop_ms."""

    partition: Partition
    begun_ms: int  # the uploads while it was served
    frozen_ms: int
    checkpoint_ms: int = 0
    uploaded_ms: int = 0

    def steps(self, now_ms: int) -> dict[str, int]:
        """How long each step has taken, for the log; one that was not over has taken the rest."""
        checkpoint_ms = self.checkpoint_ms or now_ms
        uploaded_ms = self.uploaded_ms or now_ms
        return {
            "upload_ms": self.frozen_ms - self.begun_ms,
            "checkpoint_ms": checkpoint_ms - self.frozen_ms,
            "remainder_ms": uploaded_ms - checkpoint_ms,
            "finish_ms": now_ms - uploaded_ms,
            "freeze_ms": now_ms - self.frozen_ms,
        }


class PartitionMoves:
    """The moves from and to one broker."""

    def __init__(
        self,
        *,
        client: MetadataClient,
        engine: StorageEngine,
        registry: PartitionRegistry,
        node_id: int,
    ) -> None:
        self._client = client
        self._engine = engine
        self._registry = registry
        self._node_id = node_id
        self._changed = asyncio.Event()
        self._is_fenced = False  # then nothing begins any more
        self._running: dict[MoveImage, asyncio.Task[None]] = {}
        self._frozen: dict[PartitionKey, _Freeze] = {}
        self.statistics = MoveStatistics()

    async def run(self) -> None:
        """Carry out moves until cancelled."""
        self._client.subscribe(self._image_changed)
        self._registry.subscribe(opened=self._opened, closed=lambda _partition: None)
        self._hold_arriving(self._client.image)
        self._changed.set()
        async with asyncio.TaskGroup() as tasks:
            while True:
                await self._changed.wait()
                self._changed.clear()
                self._begin_due(tasks)

    async def emptied(self) -> None:
        """Wait until others lead all that this broker serves: at most `MAX_LEAVE_MS`, and only while one can.

        The controller moves the partitions of a broker that has told that it is about to end, see
        `headrace.metadata.controller.leaving`.
        """
        end_ms = loop_ms() + MAX_LEAVE_MS
        while loop_ms() < end_ms:
            if not (len(self._registry) and self._client.is_lease_valid() and self._can_leave()):
                return
            await asyncio.sleep(LOOK_MS / 1000)
        logger.warning(
            "partitions have not moved away in time; others take them over once this broker has ended",
            extra={"partitions": len(self._registry)},
        )

    def _can_leave(self) -> bool:
        """Whether another broker may take partitions, which is not about to end itself."""
        image = self._client.image
        ending = about_to_end(image.brokers, image.logs)
        return level_of(image.features) >= MOVES_LEVEL and any(
            not it.fenced and it.node_id != self._node_id and it.node_id not in ending
            for it in image.brokers.values()
        )

    def _opened(self, partition: Partition) -> None:
        del partition
        if self._client.image.moves:
            self._changed.set()

    def _image_changed(self, old: MetadataImage, new: MetadataImage) -> None:
        """Let a partition go, or serve it again, with the entry that ends its move."""
        if old.moves is new.moves:
            return
        for key, move in ended_moves(old.moves, new.moves):
            if move.target == self._node_id and _leader(new, key) != self._node_id:
                self._registry.transit.release(key)
            elif key in self._frozen:
                if self._leads(new, key, self._frozen[key].partition):
                    self._thaw(key)
                else:
                    self._let_go(key)
        self._hold_arriving(new)
        self._changed.set()

    def _hold_arriving(self, image: MetadataImage) -> None:
        for key, move in image.moves.items():
            if move.target == self._node_id and self._registry.get(key) is None:
                self._registry.transit.hold(key)

    def _leads(self, image: MetadataImage, key: PartitionKey, partition: Partition) -> bool:
        """Whether this broker leads a partition at the epoch at which it is open.

        It may have left and come back in one batch of entries: then it is to be opened again.
        """
        topic = image.topic_by_id(key[0])
        if topic is None:
            return False
        led = topic.partitions[key[1]]
        return (led.leader, led.leader_epoch) == (self._node_id, partition.leader_epoch)

    def _let_go(self, key: PartitionKey) -> None:
        """Stop serving a partition whose streams are closed, also if it is led elsewhere by now."""
        freeze = self._frozen.pop(key)
        partition, now_ms = freeze.partition, loop_ms()
        if self._registry.get(key) is not partition:
            return  # it was closed in another way
        self.statistics.moved_total += 1
        self.statistics.last_freeze_ms = now_ms - freeze.frozen_ms
        logger.info(
            "partition moved to another broker",
            extra={
                "topic": partition.topic,
                "partition": partition.index,
                "leader": _leader(self._client.image, key),
                **freeze.steps(now_ms),
            },
        )
        self._registry.remove(partition)
        partition.discard()

    def _thaw(self, key: PartitionKey) -> None:
        partition = self._frozen.pop(key).partition
        partition.set_frozen(frozen=False)
        self._registry.transit.release(key)

    def _freeze(self, key: PartitionKey, partition: Partition, begun_ms: int) -> _Freeze:
        partition.set_frozen(frozen=True)
        freeze = self._frozen[key] = _Freeze(partition, begun_ms, loop_ms())
        self._registry.transit.hold(key)
        return freeze

    def _begin_due(self, tasks: asyncio.TaskGroup) -> None:
        """Begin the oldest of the moves from here, as many as may be under way."""
        image = self._client.image
        # A client may begin thousands of others'.
        here = [it for it in image.moves.items() if self._registry.get(it[0]) is not None]
        for key, move in sorted(here, key=lambda it: (it[1].epoch, it[0])):
            if self._is_fenced or len(self._running) >= MOVES_AT_ONCE:
                return
            partition = self._registry.get(key)
            if (
                partition is None
                or move in self._running
                or any((it.topic_id, it.partition) == key for it in self._running)
                or _leader(image, key) != self._node_id
            ):
                continue
            task = tasks.create_task(self._move(key, move, partition), name="partition-move")
            self._running[move] = task
            task.add_done_callback(report_unexpected)

    async def _move(self, key: PartitionKey, move: MoveImage, partition: Partition) -> None:
        try:
            while self._is_under_way(key, move, partition):
                try:
                    await self._attempt(key, move, partition)
                except (FencedError, NodeFencedError):
                    self._is_fenced = True  # somebody else decides about this broker's partitions
                    return
                except (StorageError, RefusedError, TimeoutError) as error:
                    self._note_failure(partition, move, error)
                    await asyncio.sleep(PAUSE_MS / 1000)
        finally:
            del self._running[move]
            self.statistics.taken_back_total += self._leads(self._client.image, key, partition)
            self._changed.set()

    def _is_under_way(self, key: PartitionKey, move: MoveImage, partition: Partition) -> bool:
        return self._client.image.moves.get(key) == move and self._registry.get(key) is partition

    async def _attempt(self, key: PartitionKey, move: MoveImage, partition: Partition) -> None:
        """Move a partition; it is served here again in the end, unless it may have moved."""
        with self._leaving(partition) as stream_ids:
            begun_ms = loop_ms()
            took_ms = await self._upload_most(stream_ids)
            if took_ms > MAX_LAST_UPLOAD_MS:
                raise TimeoutError(
                    f"an upload takes {took_ms} ms, and appends may wait for {MAX_FREEZE_MS} only"
                )
            if not self._is_under_way(key, move, partition):
                return
            freeze = self._freeze(key, partition, begun_ms)
            try:
                async with asyncio.timeout(MAX_FREEZE_MS / 1000):
                    ends = await partition.checkpoints.settle()
                    freeze.checkpoint_ms = loop_ms()
                    await self._engine.leaving.upload(stream_ids)
                    freeze.uploaded_ms = loop_ms()
            except BaseException:
                if key in self._frozen:
                    self._thaw(key)
                raise
            await self._finish(key, move, partition, ends)

    @contextmanager
    def _leaving(self, partition: Partition) -> Iterator[tuple[int, ...]]:
        """Upload the streams of a partition by themselves."""
        stream_ids = tuple(stream_id for stream_id, _ in partition.streams)
        self._engine.leaving.begin(stream_ids)
        try:
            yield stream_ids
        finally:
            self._engine.leaving.end(stream_ids)

    async def _upload_most(self, stream_ids: tuple[int, ...]) -> int:
        """Upload until little is left; return how long the last upload took, in ms."""
        took_ms = 0
        for number in range(MAX_UPLOADS):
            begin_ms, before_ms = loop_ms(), took_ms
            await self._engine.leaving.upload(stream_ids)
            took_ms = loop_ms() - begin_ms
            if took_ms <= SHORT_UPLOAD_MS or (number and 4 * took_ms > 3 * before_ms):
                break
        return took_ms

    async def _finish(
        self, key: PartitionKey, move: MoveImage, partition: Partition, ends: tuple[int, int]
    ) -> None:
        """Ask until the metadata say what has become of the move; it stays frozen until then.

        An answer that says no is not enough: the request may have been sent twice, and the other one arrive later.

        Raises:
            NodeFencedError: this process must stop.
        """
        streams = tuple(
            StreamToClose(stream_id, epoch, end)
            for (stream_id, epoch), end in zip(partition.streams, ends, strict=True)
        )
        client = self._client
        request = FinishMove(
            client.node_id,
            client.node_epoch,
            *key,
            partition.leader_epoch,
            move.epoch,
            streams,
        )
        while key in self._frozen:  # until `_image_changed`
            try:
                answer = await client.change(request, MoveFinished)
            except (ControllerUnavailableError, RefusedError) as error:
                self._note_failure(partition, move, error)
                await asyncio.sleep(PAUSE_MS / 1000)
            else:
                if answer.taken_back is not None:
                    logger.warning(
                        "partition not moved",
                        extra={
                            "topic": partition.topic,
                            "partition": partition.index,
                            "target": move.target,
                            "reason": answer.taken_back,
                        },
                    )

    def _note_failure(self, partition: Partition, move: MoveImage, error: Exception) -> None:
        logger.warning(
            "partition not moved; trying again while its move is under way",
            extra={
                "topic": partition.topic,
                "partition": partition.index,
                "target": move.target,
                "reason": repr(error),
            },
        )


def _leader(image: MetadataImage, key: PartitionKey) -> int | None:
    """Who leads a partition; None once its topic is deleted."""
    topic = image.topic_by_id(key[0])
    return None if topic is None else topic.partitions[key[1]].leader
