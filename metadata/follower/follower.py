"""A broker's copy of the metadata: it reads the log of the controller and replays it.

What the controller in the same process has replayed already is taken over: committed entries are the same for all,
and images are immutable. So a start with 10,000 partitions replays its log once, not twice.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from headrace.daemon_threads import in_own_thread
from headrace.metadata.errors import (
    ControllerUnavailableError,
    MetadataDivergedError,
    MetadataFormatError,
    MetadataVersionError,
    RefusedError,
)
from headrace.metadata.follower.freeing import PartsFreeing
from headrace.metadata.follower.requester import Requester
from headrace.metadata.follower.snapshot_download import SnapshotDownload
from headrace.metadata.image import MetadataImage
from headrace.metadata.levels import READ_HERE
from headrace.metadata.log.snapshot_format import decode_snapshot
from headrace.metadata.records.codec import decode_records_steps
from headrace.metadata.records.entry import LogEntry
from headrace.metadata.replay import replay_steps
from headrace.metadata.rpc.requests import FetchEntries
from headrace.metadata.rpc.responses import Entries
from headrace.protocol.errors import ErrorCode
from headrace.steps import Steps
from headrace.turns import Work, turns_of

logger = logging.getLogger("headrace.metadata")

FETCH_BYTES: Final = 8 << 20
LONG_POLL_MS: Final = 2_000
RETRY_MS: Final = 200  # after a refusal, which arrives at once

Listener = Callable[[MetadataImage, MetadataImage], None]
Preparation = Callable[[MetadataImage, MetadataImage], Steps[None]]


class LogFollower:
    """Holds the newest image, notifies subscribers, and wakes those who wait for an index."""

    def __init__(
        self,
        requester: Requester,
        request_timeout_ms: int,
        replayed: Callable[[], MetadataImage] = MetadataImage,
    ) -> None:
        """Begin with an empty image; `replayed` is the newest that this process has made, of committed entries only."""
        self._requester = requester
        self._timeout_ms = request_timeout_ms
        self._replayed = replayed
        self.image = MetadataImage()  # the newest; the same object until the next batch is applied
        self._end_index = 0
        self._listeners: list[Listener] = []
        self._preparing: list[Preparation] = []
        self._freeing = PartsFreeing()
        self._advanced = asyncio.Event()

    @property
    def lag(self) -> int:
        """Entries that were committed when the controller last answered and are not applied yet."""
        return max(0, self._end_index - self.image.index)

    def subscribe(self, listener: Listener, prepare: Preparation | None = None) -> None:
        """Call `listener(old, new)` on the loop after each batch that is applied.

        Args:
            listener: runs in one step of the loop with the change of the image.
            prepare: gives steps to run before that, with others in between: what takes long and may come early.
        """
        self._listeners.append(listener)
        if prepare is not None:
            self._preparing.append(prepare)

    async def wait_until(self, satisfied: Callable[[MetadataImage], bool]) -> None:
        """Wait until an image satisfies a condition; errors of the condition are passed on."""
        while not satisfied(self.image):
            await self._advanced.wait()

    def wake(self) -> None:
        """Have every awaited condition checked again."""
        self._advanced.set()
        self._advanced = asyncio.Event()

    async def run(self) -> None:
        """Follow until cancelled; outages of the controller are retried.

        Raises:
            MetadataDivergedError: the controller's log does not continue the log of this node.
            MetadataFormatError: the controller sends data that this version cannot read.
        """
        while True:
            try:
                await self.advance(LONG_POLL_MS)
            except ControllerUnavailableError as error:
                logger.warning(
                    "cannot read the metadata log, trying again", extra={"reason": str(error)}
                )
                await asyncio.sleep(RETRY_MS / 1000)

    async def catch_up(self) -> None:
        """Read and apply everything that is committed now.

        Raises:
            ControllerUnavailableError, MetadataDivergedError, MetadataFormatError: as `advance`.
        """
        await self.advance(0)
        while self.lag:
            await self.advance(0)

    async def advance(self, wait_ms: int) -> None:
        """Read and apply the next entries, waiting at most `wait_ms` for the first.

        Raises:
            ControllerUnavailableError: the controller does not answer.
            MetadataDivergedError: the controller's log does not continue the log of this node.
            MetadataFormatError: the controller sends data that this version cannot read, or would.
        """
        request = FetchEntries(self.image.index + 1, FETCH_BYTES, wait_ms, READ_HERE)
        try:
            answer = await self._requester.call(request, wait_ms + self._timeout_ms)
        except RefusedError as error:
            if error.code == ErrorCode.POSITION_OUT_OF_RANGE:
                raise MetadataDivergedError(
                    f"this node has applied the metadata log up to entry {self.image.index}, but the "
                    f"controller's log is shorter: {error.message}"
                ) from error
            if error.code == ErrorCode.UNSUPPORTED_VERSION:
                raise MetadataVersionError(error.message) from error
            raise ControllerUnavailableError(str(error)) from error
        entries = answer.body
        if not isinstance(entries, Entries):
            raise MetadataFormatError(
                f"unexpected answer of the controller to FetchEntries: {type(entries).__name__}"
            )
        self._end_index = entries.end_index
        if entries.snapshot_index >= 0:
            await self._load_snapshot(entries.snapshot_index)
        elif entries.entries:
            await self._replay(entries.entries)

    def _replayed_to(self, index: int) -> MetadataImage | None:
        """An image of this process that has this entry, and is newer than that of this broker."""
        replayed = self._replayed()
        return replayed if replayed.index >= max(index, self.image.index + 1) else None

    async def _replay(self, entries: tuple[LogEntry, ...]) -> None:
        turns = turns_of(Work.METADATA)
        image = self.image
        _require_next(image, entries[0])
        replayed = self._replayed_to(entries[-1].index)
        if replayed is not None:
            return await self._take_over(replayed)
        for entry in entries:
            _require_next(image, entry)
            records = await turns.run(decode_records_steps(entry.payload))
            image = await turns.run(
                replay_steps(image, records, index=entry.index, term=entry.term)
            )
            await turns.pause()
        return await self._change(image, still_used=image)

    async def _take_over(self, image: MetadataImage) -> None:
        """Change to an image of the controller, which frees what that one lacks."""
        await self._change(image, still_used=self.image)

    async def _change(self, image: MetadataImage, *, still_used: MetadataImage) -> None:
        turns = turns_of(Work.METADATA)
        for prepare in self._preparing:
            await turns.run(prepare(self.image, image))
        await self._freeing.collect(self.image, still_used)
        self._publish(image)

    async def _load_snapshot(self, snapshot_index: int) -> None:
        """Read a whole snapshot. If it is replaced meanwhile, the next round reads the newer one."""
        replayed = self._replayed_to(snapshot_index)
        if replayed is not None:
            return await self._take_over(replayed)
        download = SnapshotDownload(snapshot_index)
        data = None
        while data is None:
            try:
                answer = await self._requester.call(download.next_request, self._timeout_ms)
            except RefusedError as error:
                logger.info(
                    "cannot read the metadata snapshot, trying again",
                    extra={"reason": error.message},
                )
                return await asyncio.sleep(RETRY_MS / 1000)
            data = download.add(answer.body)
        image = await _decoded(data)
        if image.index <= self.image.index:
            raise MetadataDivergedError(
                f"the controller sent snapshot {image.index}, which is older than this node's "
                f"{self.image.index}"
            )
        return await self._change(image, still_used=MetadataImage())  # nothing is the same object

    def _publish(self, image: MetadataImage) -> None:
        old, self.image = self.image, image
        self.wake()
        for listener in self._listeners:
            listener(old, image)


def _require_next(image: MetadataImage, entry: LogEntry) -> None:
    if entry.index != image.index + 1 or entry.term < image.term:
        raise MetadataDivergedError(
            f"entry {entry.index} of term {entry.term} does not follow entry "
            f"{image.index} of term {image.term}"
        )


async def _decoded(data: bytes) -> MetadataImage:
    """Decode in a thread: 10,000 partitions take 100 ms, and heartbeats continue meanwhile."""
    return await in_own_thread("metadata-snapshot", decode_snapshot, data)
