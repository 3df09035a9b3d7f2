"""The image at the last committed entry, made by replaying committed entries in their order.

What the leader has decided on it has already replayed: those images are *foreseen*, and become the
image when their entries are committed. (Index and term name an entry: what was foreseen for them
is right, whatever has happened in between.)
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from headrace.metadata.entry_buffer import EntryBuffer
from headrace.metadata.errors import MetadataFormatError
from headrace.metadata.image import MetadataImage
from headrace.metadata.records.codec import decode_records
from headrace.metadata.records.entry import LogEntry
from headrace.metadata.replay import replay

LOOP_SLICE_S: Final = 0.005  # replaying goes on for so long before others get their turn

OnChange = Callable[[MetadataImage, MetadataImage], None]


class AppliedLog:
    """Entries go in by `committed`; `compute` and `publish` take them up, one batch at a time.

    What waits is bounded by the log in memory, whose entries these are.
    """

    def __init__(self, image: MetadataImage, on_change: OnChange) -> None:
        self._image = image
        self._on_change = on_change
        self._foreseen: Mapping[int, MetadataImage] = {}
        self._batches: deque[Sequence[LogEntry]] = deque()
        self._arrived = asyncio.Event()
        self.entries: Final = EntryBuffer(image.index)

    @property
    def image(self) -> MetadataImage:
        """The newest image of committed entries only."""
        return self._image

    def foresee(self, images: Mapping[int, MetadataImage]) -> None:
        """Keep what replaying will lead to, by index; in place of what was foreseen before."""
        self._foreseen = images

    def committed(self, entries: Sequence[LogEntry]) -> None:
        """Take committed entries that follow those before."""
        self._batches.append(entries)
        self._arrived.set()

    async def wait_for_batch(self) -> None:
        """Wait until there are entries that are not applied yet."""
        while not self._batches:
            self._arrived.clear()
            await self._arrived.wait()

    @property
    def next_batch(self) -> Sequence[LogEntry] | None:
        """The next entries to apply; None when all are."""
        return self._batches[0] if self._batches else None

    async def compute(self, batch: Sequence[LogEntry]) -> MetadataImage:
        """Replay the next batch, with turns for others; nothing shows yet.

        Raises:
            MetadataFormatError: an entry is not of this version.
        """
        foreseen = self._foreseen.get(batch[-1].index)
        if foreseen is not None and foreseen.term == batch[-1].term:
            return foreseen
        loop = asyncio.get_running_loop()
        pause_at = loop.time() + LOOP_SLICE_S
        image = self._image
        for entry in batch:
            try:
                records = decode_records(entry.payload)
            except MetadataFormatError as error:
                raise MetadataFormatError(f"entry {entry.index}: {error}") from error
            image = replay(image, records, index=entry.index, term=entry.term)
            if loop.time() > pause_at:
                await asyncio.sleep(0)
                pause_at = loop.time() + LOOP_SLICE_S
        return image

    def publish(self, batch: Sequence[LogEntry], image: MetadataImage) -> bool:
        """Show a batch and its image; False when a snapshot has overtaken it."""
        if not self._batches or self._batches[0] is not batch:
            return False
        self._batches.popleft()
        self.entries.extend(batch)
        old, self._image = self._image, image
        self._on_change(old, image)
        return True

    def install(self, image: MetadataImage) -> None:
        """Put a snapshot's image in the place of everything."""
        self._batches.clear()
        self._foreseen = {}
        self.entries.restart(image.index)
        old, self._image = self._image, image
        self._on_change(old, image)
