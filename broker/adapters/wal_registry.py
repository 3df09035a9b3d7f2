"""Records in the metadata which registration of this node wrote to its WAL last; see `headrace.wal.registry`.

A key of the cluster-wide store for each node whose WAL may hold records that are not in the bucket:
`wal/<node id>`, with the node epoch of the registration and the generation that it began.

| the WAL that a start finds                  | streams open here | key  | then                      |
|---------------------------------------------|-------------------|------|---------------------------|
| of the registration in the key, or newer    | any               | any  | start                     |
| none, or of an older registration           | any               | none | start                     |
| the same                                    | none              | set  | start: nothing is missing |
| the same                                    | some              | set  | refuse, or accept         |

The WAL is newer when a start died after it had reset the WAL and before it wrote the key. Only the loss of the
one generation that the key names can be accepted; the start that accepts it replaces the key.

A second key, `wal/<node id>/uploaded`, tells up to which WAL offset that registration has uploaded everything.
Each commit of an upload sets it, in the same entry. A WAL of that registration that ends before is an old copy: it
is refused as one that is missing. Versions that do not know the key leave that of an older registration behind,
which is not looked at.
"""

import asyncio
import logging
from typing import Final

from headrace.metadata.client import MetadataClient
from headrace.metadata.errors import ControllerUnavailableError, MetadataError
from headrace.metadata.image import MetadataImage
from headrace.metadata.rpc.requests import PutKeyValues
from headrace.metadata.rpc.responses import Done
from headrace.storage.ports import NO_WAL_OFFSET
from headrace.wal.errors import WalMissingError, WalOutdatedError
from headrace.wal.registry import LogEnd

logger = logging.getLogger("headrace.wal")

ASK_AGAIN_S: Final = 0.5
EMPTIED_TIMEOUT_S: Final = 5.0


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
    value = image.key_values.get(f"wal/{node_id}")
    if value is None:
        return None
    epoch_text, _, generation = value.decode().partition(" ")
    if node_epoch is not None and node_epoch >= int(epoch_text):
        return None
    streams = _open_streams(image, node_id)
    if not streams:
        return None
    missing = WalMissingError(place, generation, found_epoch=node_epoch, streams=streams)
    if accepted != generation:
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
    value = image.key_values.get(_uploaded_key(node_id))
    if value is None:
        return None
    epoch_text, _, offset_text = value.decode().partition(" ")
    uploaded_offset = int(offset_text)
    if end.node_epoch != int(epoch_text) or end.offset >= uploaded_offset:
        return None
    streams = _open_streams(image, node_id)
    if not streams:
        return None
    outdated = WalOutdatedError(
        place,
        f"{end.generation_id:016x}",
        end_offset=end.offset,
        uploaded_offset=uploaded_offset,
        streams=streams,
    )
    if accepted != outdated.generation:
        raise outdated
    return outdated


def uploaded_from_wal(
    node_id: int, node_epoch: int, wal_end_offset: int
) -> tuple[tuple[str, bytes], ...]:
    """Return the key that a commit sets, with its value; nothing without a WAL offset."""
    if wal_end_offset == NO_WAL_OFFSET:
        return ()
    return ((_uploaded_key(node_id), f"{node_epoch} {wal_end_offset}".encode()),)


def _uploaded_key(node_id: int) -> str:
    return f"wal/{node_id}/uploaded"


def _open_streams(image: MetadataImage, node_id: int) -> int:
    return sum(it.opened and it.node_id == node_id for it in image.streams.values())


class WalRegistry:
    """The `headrace.wal.registry.LogRegistry` of one registration."""

    def __init__(self, client: MetadataClient, *, accept_loss_generation: str) -> None:
        """Use the client's registration.

        Args:
            client: registered.
            accept_loss_generation: generation id of the log that may be missing, 16 hexadecimal digits.
        """
        self._client = client
        self._accept_loss_generation = accept_loss_generation
        self._key = f"wal/{client.node_id}"

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
        node_epoch = self._client.node_epoch
        value = f"{node_epoch} {generation_id:016x}".encode()
        uploaded = uploaded_from_wal(self._client.node_id, node_epoch, 0)
        while True:
            try:
                return await self._put((self._key, value), *uploaded)
            except ControllerUnavailableError as error:
                logger.info("no controller answers; trying again", extra={"reason": str(error)})
            await asyncio.sleep(ASK_AGAIN_S)

    async def emptied(self) -> None:
        """See `headrace.wal.registry.LogRegistry`; where no controller answers, the key stays."""
        if not self._client.is_lease_valid():
            return
        try:
            async with asyncio.timeout(EMPTIED_TIMEOUT_S):
                await self._put((self._key, None), (_uploaded_key(self._client.node_id), None))
        except (MetadataError, TimeoutError) as error:
            logger.warning(
                "could not record in the metadata that the WAL is empty: the next start needs this WAL",
                extra={"reason": repr(error)},
            )

    async def _put(self, *items: tuple[str, bytes | None]) -> None:
        client = self._client
        await client.change(PutKeyValues(client.node_id, client.node_epoch, items), Done)
