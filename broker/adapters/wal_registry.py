"""Registers the WAL of this node in the metadata, and asks which one it used last; see `headrace.wal.registry`.

The metadata have a log for each node (`headrace.metadata.images.logs`): where its WAL lies, which registration began
which generation of it, and whether it may hold records that are not in the bucket.

| the WAL that a start finds                  | streams open here | log  | then                      |
|---------------------------------------------|-------------------|------|---------------------------|
| of the registration in the log, or newer    | any               | any  | start                     |
| none, or of an older registration           | any               | none | start                     |
| the same                                    | none              | set  | start: nothing is missing |
| the same                                    | some              | set  | refuse, or accept         |

The WAL is newer when a start died after it had reset the WAL and before it said so. A log counts as none once its
owner has emptied it. Only the loss of the one generation that the log names can be accepted; the start that accepts it
begins another.

The log also has up to which offset of its generation everything is uploaded. Each commit of an upload has it, in the
same entry. A WAL of that registration that ends before is an old copy: it is refused as one that is missing.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final, NamedTuple

from headrace.metadata.errors import ControllerUnavailableError, MetadataError
from headrace.metadata.follower.client import MetadataClient
from headrace.metadata.image import MetadataImage
from headrace.metadata.images.logs import LogImage, LogState
from headrace.metadata.records.logs import LogMedium, LogReach
from headrace.metadata.rpc.requests import BeginLog, EndLog
from headrace.metadata.rpc.responses import Done
from headrace.wal.errors import WalMissingError, WalOutdatedError
from headrace.wal.registry import LogEnd

logger = logging.getLogger("headrace.wal")

ASK_AGAIN_S: Final = 0.5
EMPTIED_TIMEOUT_S: Final = 5.0


class LogAddress(NamedTuple):
    """Where a WAL lies, as other brokers may reach it."""

    medium: LogMedium
    places: tuple[str, ...]


def reach_below(prefixes: Sequence[str]) -> tuple[LogReach, ...]:
    """Return the logs of other brokers that this one can open: all in buckets, others below these paths."""
    on_paths = (LogMedium.FILE, LogMedium.DEVICE)
    shared = [LogReach(medium, prefix) for prefix in prefixes for medium in on_paths]
    return (LogReach(LogMedium.BUCKET, ""), *shared)


def require_known_wal(
    image: MetadataImage, node_id: int, place: str, node_epoch: int | None, *, accepted: str
) -> WalMissingError | None:
    """Check a WAL by the table above; return what was accepted, if a loss was.

    Args:
        image: the metadata.
        node_id: of this node.
        place: of the WAL, for messages.
        node_epoch: of the registration that wrote to it last; None: there is no WAL.
        accepted: generation id of the log that may be missing.

    Raises:
        WalMissingError: it is not the one that this node used last.
    """
    log = _log_in_use(image, node_id)
    if log is None or (node_epoch is not None and node_epoch >= log.epoch):
        return None
    streams = _open_streams(image, node_id)
    if not streams:
        return None
    missing = WalMissingError(place, log.generation, found_epoch=node_epoch, streams=streams)
    if not accepted or accepted != log.generation:
        raise missing
    return missing


def require_whole_wal(
    image: MetadataImage, node_id: int, place: str, end: LogEnd, *, accepted: str
) -> WalOutdatedError | None:
    """Check that a WAL reaches as far as it was uploaded; return what was accepted, if a loss was.

    Args:
        image: the metadata.
        node_id: of this node.
        place: of the WAL, for messages.
        end: of the WAL that was found.
        accepted: generation id of the log that may be an old copy.

    Raises:
        WalOutdatedError: it is an old copy.
    """
    log = _log_in_use(image, node_id)
    if log is None or end.node_epoch != log.epoch or end.offset >= log.uploaded_offset:
        return None
    streams = _open_streams(image, node_id)
    if not streams:
        return None
    outdated = WalOutdatedError(
        place,
        f"{end.generation_id:016x}",
        end_offset=end.offset,
        uploaded_offset=log.uploaded_offset,
        streams=streams,
    )
    if accepted != outdated.generation:
        raise outdated
    return outdated


def _log_in_use(image: MetadataImage, node_id: int) -> LogImage | None:
    """The log that a node used last; None: nothing in it is needed."""
    log = image.logs.get(node_id)
    return None if log is None or log.state == LogState.EMPTY else log


def _open_streams(image: MetadataImage, node_id: int) -> int:
    return sum(it.opened and it.node_id == node_id for it in image.streams.values())


class WalRegistry:
    """The `headrace.wal.registry.LogRegistry` of one registration."""

    def __init__(
        self,
        client: MetadataClient,
        address: LogAddress,
        *,
        reach: tuple[LogReach, ...] = (),
        accept_loss_generation: str,
    ) -> None:
        """Use the client's registration.

        Args:
            client: registered.
            address: of the WAL.
            reach: logs of other brokers that this one can drain.
            accept_loss_generation: generation id of the log that may be missing, 16 hexadecimal digits.
        """
        self._client = client
        self._address = address
        self._reach = reach
        self._accept_loss_generation = accept_loss_generation
        self._generation = ""  # in use; empty: none
        self._untold = asyncio.Event()
        self._telling = asyncio.Lock()  # an end follows the beginning that is under way
        client.subscribe(self._follow)

    async def run(self) -> None:
        """Register the log again whenever the metadata have another one, until cancelled.

        Raises:
            MetadataError: this node is fenced, or was refused.
        """
        while True:
            await self._untold.wait()
            self._untold.clear()
            if not self._is_told(self._client.image):
                await self._tell()

    def leave(self) -> None:
        """Report that this broker takes nothing over any more: it is about to end. `run` does so."""
        self._reach = ()
        self._untold.set()

    def require(self, place: str, node_epoch: int | None) -> None:
        """See `headrace.wal.registry.LogRegistry`; the image includes this process's registration."""
        missing = require_known_wal(
            self._client.image,
            self._client.node_id,
            place,
            node_epoch,
            accepted=self._accept_loss_generation,
        )
        if missing is not None:
            logger.critical(
                "the WAL that this node used last is missing; its loss was accepted (headrace.wal.accept.loss): "
                "acknowledged records that were not in the bucket are lost. Remove the setting.",
                extra={
                    "place": place,
                    "generation": missing.generation,
                    "streams": missing.streams,
                },
            )

    def require_end(self, place: str, end: LogEnd) -> None:
        """See `headrace.wal.registry.LogRegistry`."""
        client = self._client
        accepted = self._accept_loss_generation
        outdated = require_whole_wal(client.image, client.node_id, place, end, accepted=accepted)
        if outdated is not None:
            logger.critical(
                "the WAL is an old copy; the loss was accepted (headrace.wal.accept.loss): acknowledged records "
                "that were not in the bucket are lost. Remove the setting.",
                extra={"place": place, "generation": outdated.generation, "end_offset": end.offset},
            )

    async def begun(self, generation_id: int) -> None:
        """See `headrace.wal.registry.LogRegistry`; waits for a controller.

        Raises:
            MetadataError: this node is fenced, or was refused.
        """
        self._generation = f"{generation_id:016x}"
        await self._tell()

    async def emptied(self) -> None:
        """See `headrace.wal.registry.LogRegistry`; where no controller answers, the log counts as needed."""
        self._generation = ""
        if not self._client.is_lease_valid():
            return
        try:
            async with asyncio.timeout(EMPTIED_TIMEOUT_S):
                async with self._telling:
                    node_id, node_epoch = self._client.node_id, self._client.node_epoch
                    await self._client.change(EndLog(node_id, node_epoch, node_id), Done)
        except (MetadataError, TimeoutError) as error:
            logger.warning(
                "could not record in the metadata that the WAL is empty: the next start needs this WAL",
                extra={"reason": repr(error)},
            )

    async def _tell(self) -> None:
        """Register the log until that is committed, or the log is no longer in use."""
        async with self._telling:
            while self._generation:
                try:
                    await self._client.change(self._begin_request(), Done)
                    if self._is_told(self._client.image):
                        return
                except ControllerUnavailableError as error:
                    logger.info("no controller answers; trying again", extra={"reason": str(error)})
                    await asyncio.sleep(ASK_AGAIN_S)

    def _is_told(self, image: MetadataImage) -> bool:
        """Whether the metadata have the log that is in use."""
        node_id = self._client.node_id
        log, broker = image.logs.get(node_id), image.brokers.get(node_id)
        if not self._generation:
            return True
        return (
            log is not None
            and (broker is None or broker.reach == self._reach)
            and (log.epoch, log.generation) == (self._client.node_epoch, self._generation)
            and (log.medium, log.places) == self._address
        )

    def _begin_request(self) -> BeginLog:
        client = self._client
        return BeginLog(
            client.node_id,
            client.node_epoch,
            client.node_id,
            self._generation,
            *self._address,
            self._reach,
        )

    def _follow(self, old: MetadataImage, new: MetadataImage) -> None:
        if old.logs is not new.logs and not self._is_told(new):
            self._untold.set()
