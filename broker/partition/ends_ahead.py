"""Reads the ends of the streams of each partition that is about to come to this broker, before it comes.

A partition that moves ends with a checkpoint, so its opening needs that and nothing else of the bucket
(`headrace.broker.partition.opening`); and consumers at its end need the newest records. Both are read when the move is
known, and again when the source has uploaded newer ones, so that they are in the block cache when the partition is
opened: neither the opening nor those consumers wait for the bucket.

What cannot be read is left to those who need it. The cache may have dropped what was read: then they read it.
"""

import asyncio
import logging
from collections.abc import Sequence
from heapq import nsmallest
from typing import Final, Protocol

from headrace.broker.partition.opening_queue import PartitionKey
from headrace.metadata.follower.client import MetadataClient
from headrace.metadata.image import MetadataImage
from headrace.storage.errors import StorageError
from headrace.storage.record_batch import StreamRecordBatch
from headrace.task_failures import report_unexpected

logger = logging.getLogger("headrace.partition")

MAX_AHEAD: Final = 256  # partitions; those that come beside them are read when they are opened
MAX_RECORDS_AHEAD: Final = 32  # of these, those whose records are read, too: a block may have a MiB
MAX_READING: Final = 8  # at once


class CommittedBlocks(Protocol):
    """What is needed of the block cache."""

    async def read(
        self, stream_id: int, start: int, end: int, max_bytes: int
    ) -> list[StreamRecordBatch]:
        """Read committed batches, which stay in the cache for a while."""
        ...


class EndsAhead:
    """The partitions that move to one broker."""

    def __init__(self, *, client: MetadataClient, blocks: CommittedBlocks, node_id: int) -> None:
        self._client = client
        self._blocks = blocks
        self._node_id = node_id
        self._changed = asyncio.Event()
        self._coming: list[PartitionKey] = []  # in their order, MAX_AHEAD at most
        # Of the meta and data streams, as they were last read.
        self._ends: dict[PartitionKey, tuple[int, int]] = {}
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
        coming = (key for key, it in image.moves.items() if it.target == self._node_id)
        self._coming = nsmallest(MAX_AHEAD, coming)
        self._ends = {key: self._ends[key] for key in self._coming if key in self._ends}
        if self._coming:
            self._changed.set()

    def _begin_due(self, tasks: asyncio.TaskGroup) -> None:
        image = self._client.image
        for key in self._coming:
            if len(self._reading) >= MAX_READING:
                return  # the end of each of them looks again
            topic = image.topic_by_id(key[0])
            if topic is None or key in self._reading:
                continue
            partition = topic.partitions[key[1]]
            meta = image.streams[partition.meta_stream_id]
            data = image.streams[partition.data_stream_id]
            known = self._ends.get(key, (meta.start_offset, data.start_offset))
            is_read_too = len(self._ends) < MAX_RECORDS_AHEAD or known[1] > data.start_offset
            data_end = data.end_offset if is_read_too else known[1]
            due = [
                (stream_id, end)
                for stream_id, end, read in (
                    (meta.stream_id, meta.end_offset, known[0]),
                    (data.stream_id, data_end, known[1]),
                )
                if end > read
            ]
            if not due:
                continue
            self._ends[key] = (meta.end_offset, data_end)
            task = self._reading[key] = tasks.create_task(self._read(key, due), name="ends-ahead")
            task.add_done_callback(report_unexpected)

    async def _read(self, key: PartitionKey, due: Sequence[tuple[int, int]]) -> None:
        """Read the newest record of some streams, given by their ends."""
        try:
            for stream_id, end_offset in due:
                await self._blocks.read(stream_id, end_offset - 1, end_offset, 1)
        except StorageError as error:
            logger.info(
                "the end of a partition that is about to come was not read ahead",
                extra={"topic_id": str(key[0]), "partition": key[1], "reason": repr(error)},
            )
        finally:
            del self._reading[key]
            self._changed.set()
