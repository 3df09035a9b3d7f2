"""Merges a group of Stream Objects of one stream: by copies within the bucket, or by rewriting them."""

import logging
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from headrace.config.node import StorageConfig
from headrace.storage.compaction.copy import Composition, compose_stream_object
from headrace.storage.compaction.plan import (
    GroupLimits,
    Piece,
    Run,
    is_worth_copying,
    stream_object_limits,
)
from headrace.storage.compaction.rewrite import Rewriter, Spend
from headrace.storage.compaction.source import SourceObject
from headrace.storage.errors import CopyUnsupportedError
from headrace.storage.objects.keys import object_key
from headrace.storage.ports import (
    ObjectManager,
    ObjectRange,
    ObjectStore,
    StreamObject,
    StreamRange,
)

logger = logging.getLogger("headrace.storage.compaction")

MAX_SOURCES: Final = 64


class Merged(msgspec.Struct, frozen=True):
    """A new Stream Object that is not committed yet."""

    stream_object: StreamObject
    copied_bytes: int


class StreamObjectMerger:
    """Makes one Stream Object out of several; commits nothing."""

    def __init__(
        self,
        config: StorageConfig,
        store: ObjectStore,
        objects: ObjectManager,
        cluster_id: str,
        spend: Spend,
        advance: Callable[[int], None],
    ) -> None:
        """Prepare; `advance` is called for bytes that the bucket has copied, `spend` for all others."""
        self._config = config
        self._store = store
        self._objects = objects
        self._cluster_id = cluster_id
        self._spend = spend
        self._advance = advance
        self._may_copy = True

    @property
    def limits(self) -> GroupLimits:
        """What may be merged at a time, as far as is known of this bucket."""
        return stream_object_limits(
            max_objects=MAX_SOURCES,
            max_block_bytes=self._config.object_block_bytes,
            copies=self._may_copy and self._store.copies_remotely,
        )

    async def merge(
        self, offsets: StreamRange, group: Sequence[ObjectRange], sources: Sequence[SourceObject]
    ) -> Merged | None:
        """Write the merged object.

        Args:
            offsets: of the whole group, and the epoch of the new object.
            group: adjacent Stream Objects.
            sources: the same, opened.

        Returns:
            None when the bucket turns out not to copy: choose again, by the new limits.

        Raises:
            DamagedSourceError, RewriteError, ValueError: sources are not what the metadata say.
            StorageError: bucket or control plane do not answer, or refuse.
        """
        lives = [
            StreamRange(offsets.stream_id, offsets.epoch, it.start_offset, it.end_offset)
            for it in group
        ]
        indexes = [it.index for it in sources]
        if self._may_copy and is_worth_copying(indexes, self._config.object_block_bytes):
            made = await compose_stream_object(list(zip(sources, lives, strict=True)))
            return await self._copy(offsets, made)
        size_bytes = sum(it.size_bytes for it in group)
        pieces = [Piece(ordinal, live) for ordinal, live in enumerate(lives)]
        run = Run(offsets, size_bytes, pieces, to_stream_object=True)
        rewriter = Rewriter(
            self._store,
            self._objects,
            self._cluster_id,
            sources,
            max_block_bytes=self._config.object_block_bytes,
            prepare_ttl_ms=self._config.object_prepare_ttl_ms,
            spend=self._spend,
            read_once=True,
        )
        await rewriter.write(iter((run,)))
        (merged,) = rewriter.stream_objects
        return Merged(merged, 0)

    async def _copy(self, offsets: StreamRange, made: Composition) -> Merged | None:
        object_id = await self._objects.prepare_objects(1, self._config.object_prepare_ttl_ms)
        progress = self._advance
        if not self._store.copies_remotely:
            await self._spend(made.size_bytes)
            progress = _ignore_progress
        try:
            await self._store.compose(
                object_key(self._cluster_id, object_id), made.pieces, progress
            )
        except CopyUnsupportedError as error:
            self._may_copy = False
            logger.warning(
                "the bucket does not support copies of parts of objects; Stream Objects are read "
                "and rewritten instead, and stay smaller",
                extra={"reason": str(error)},
            )
            return None
        return Merged(StreamObject(object_id, made.size_bytes, offsets), made.size_bytes)


def _ignore_progress(size_bytes: int) -> None:
    del size_bytes
