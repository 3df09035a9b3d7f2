"""The image at the last committed entry, made by replaying committed entries in their order.

The leader has already replayed the entries that it decided: those images are *precomputed*, and are
published when their entries are committed. (Index and term identify an entry, so an image that was
precomputed for them is right, whatever happened in between.)
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from headrace.metadata.errors import MetadataFormatError
from headrace.metadata.follower.entry_buffer import EntryBuffer
from headrace.metadata.follower.freeing import PartsFreeing
from headrace.metadata.image import MetadataImage
from headrace.metadata.records.codec import decode_records_steps
from headrace.metadata.records.entry import LogEntry
from headrace.metadata.replay import replay_steps
from headrace.turns import Work, turns_of

OnChange = Callable[[MetadataImage, MetadataImage], None]


class AppliedLog:
    """`committed` adds entries; `compute` and `publish` process them, one batch at a time.

    Waiting entries are bounded by the log in memory, to which they belong.
    """

    def __init__(self, image: MetadataImage, on_change: OnChange) -> None:
        self._image = image
        self._on_change = on_change
        self._precomputed: Mapping[int, MetadataImage] = {}
        self._batches: deque[Sequence[LogEntry]] = deque()
        self._arrived = asyncio.Event()
        self._freeing = PartsFreeing()
        self.entries: Final = EntryBuffer(image.index)

    @property
    def image(self) -> MetadataImage:
        """The newest image of committed entries only."""
        return self._image

    def keep_precomputed(self, images: Mapping[int, MetadataImage]) -> None:
        """Keep the images that replay will lead to, by index; replaces those of the previous call."""
        self._precomputed = images

    def committed(self, entries: Sequence[LogEntry]) -> None:
        """Add committed entries that follow the previous ones."""
        self._batches.append(entries)
        self._arrived.set()

    async def wait_for_batch(self) -> None:
        """Wait until there are entries to apply."""
        while not self._batches:
            self._arrived.clear()
            await self._arrived.wait()

    @property
    def next_batch(self) -> Sequence[LogEntry] | None:
        """The next entries to apply; None when all are applied."""
        return self._batches[0] if self._batches else None

    async def compute(self, batch: Sequence[LogEntry]) -> MetadataImage:
        """Replay the next batch, yielding to the event loop; nothing is published yet.

        Raises:
            MetadataFormatError: an entry is not of this version.
        """
        precomputed = self._precomputed.get(batch[-1].index)
        if precomputed is not None and precomputed.term == batch[-1].term:
            return precomputed
        turns = turns_of(Work.METADATA)
        image = self._image
        for entry in batch:
            try:
                records = await turns.run(decode_records_steps(entry.payload))
            except MetadataFormatError as error:
                raise MetadataFormatError(f"entry {entry.index}: {error}") from error
            image = await turns.run(
                replay_steps(image, records, index=entry.index, term=entry.term)
            )
            await turns.pause()
        return image

    async def collect_gone(self, image: MetadataImage) -> None:
        """Have what the next image lacks freed in steps; to be called before it is published."""
        await self._freeing.collect(self._image, image)

    def publish(self, batch: Sequence[LogEntry], image: MetadataImage) -> bool:
        """Publish a batch and its image; False when a snapshot has replaced them."""
        if not self._batches or self._batches[0] is not batch:
            return False
        self._batches.popleft()
        self.entries.extend(batch)
        old, self._image = self._image, image
        self._on_change(old, image)
        return True

    def install(self, image: MetadataImage) -> None:
        """Replace everything by a snapshot's image."""
        self._batches.clear()
        self._precomputed = {}
        self.entries.restart(image.index)
        old, self._image = self._image, image
        self._on_change(old, image)
