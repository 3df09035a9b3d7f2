"""Reads the newest checkpoint of each partition that is about to come to this broker, before it comes.

A partition that moves ends with a checkpoint, so its opening needs that and nothing else of the bucket
(`headrace.broker.partition.opening`). It is read when the move is known, and again when the source has uploaded a
newer one, so that it is in the block cache when the partition is opened.

What cannot be read is left to the opening, which tries again. The cache may have dropped what was read: then the
opening reads it.
"""

import asyncio
import logging
from typing import Final, Protocol

from headrace.broker.partition.opening_queue import PartitionKey
from headrace.metadata.client import MetadataClient
from headrace.metadata.image import MetadataImage
from headrace.storage.errors import StorageError
from headrace.storage.record_batch import StreamRecordBatch
from headrace.task_failures import report_unexpected

logger = logging.getLogger("headrace.partition")

MAX_AHEAD: Final = 256  # partitions; those that come beside them are read when they are opened
MAX_READING: Final = 8  # at once


class CommittedBlocks(Protocol):
    """What is needed of the block cache."""

    async def read(
        self, stream_id: int, start: int, end: int, max_bytes: int
    ) -> list[StreamRecordBatch]:
        """Read committed batches, which stay in the cache for a while."""
        ...


class CheckpointsAhead:
    """The partitions that move to one broker."""

    def __init__(self, *, client: MetadataClient, blocks: CommittedBlocks, node_id: int) -> None:
        self._client = client
        self._blocks = blocks
        self._node_id = node_id
        self._changed = asyncio.Event()
        self._coming: set[PartitionKey] = set()
        self._ends: dict[PartitionKey, int] = {}  # of the meta streams, as they were last read
        self._reading: dict[PartitionKey, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Read ahead until cancelled."""
        self._client.subscribe(self._image_changed)
        self._look_at_moves(self._client.image)
        async with asyncio.TaskGroup() as tasks:
            while True:
                await self._changed.wait()
                self._changed.clear()
                self._begin_due(tasks)

    def _image_changed(self, old: MetadataImage, new: MetadataImage) -> None:
        if old.moves is not new.moves:
            self._look_at_moves(new)
        elif self._coming and old.streams is not new.streams:
            self._changed.set()

    def _look_at_moves(self, image: MetadataImage) -> None:
        self._coming = {key for key, it in image.moves.items() if it.target == self._node_id}
        self._ends = {key: end for key, end in self._ends.items() if key in self._coming}
        if self._coming:
            self._changed.set()

    def _begin_due(self, tasks: asyncio.TaskGroup) -> None:
        image = self._client.image
        for key in sorted(self._coming):
            if len(self._reading) >= MAX_READING:
                return  # the end of each of them looks again
            topic = image.topic_by_id(key[0])
            if topic is None or key in self._reading:
                continue
            if key not in self._ends and len(self._ends) >= MAX_AHEAD:
                continue
            stream = image.streams[topic.partitions[key[1]].meta_stream_id]
            if self._ends.get(key, stream.start_offset) >= stream.end_offset:
                continue
            self._ends[key] = stream.end_offset
            reading = self._read(key, stream.stream_id, stream.end_offset)
            task = self._reading[key] = tasks.create_task(reading, name="checkpoint-ahead")
            task.add_done_callback(report_unexpected)

    async def _read(self, key: PartitionKey, stream_id: int, end_offset: int) -> None:
        try:
            await self._blocks.read(stream_id, end_offset - 1, end_offset, 1)
        except StorageError as error:
            logger.info(
                "checkpoint of a partition that is about to come was not read ahead",
                extra={"stream_id": stream_id, "reason": repr(error)},
            )
        finally:
            del self._reading[key]
            self._changed.set()
