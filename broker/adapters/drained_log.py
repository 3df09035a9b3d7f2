"""The control plane of one drain: streams, uploads and commits in the name of a log that this broker drains."""

from collections.abc import Mapping

import msgspec

from headrace.broker.adapters.storage_requests import (
    commit_request,
    open_streams_of,
    prepare_objects,
    send,
)
from headrace.metadata.follower.client import MetadataClient
from headrace.metadata.images.logs import LogImage
from headrace.metadata.rpc.requests import FinishDrain, RefuseDrain
from headrace.metadata.rpc.responses import Done
from headrace.storage.ports import StreamMetadata, StreamSetCommit

MAX_REASON_CHARACTERS = 1024


class DrainStatistics(msgspec.Struct):
    """Totals since the process started, and what is under way."""

    running: int = 0
    finished: int = 0
    refused: int = 0  # logs that this broker could not read
    ended: int = 0  # taken away before they were finished
    records: int = 0  # uploaded by drains that were finished
    bytes: int = 0
    last_ms: int = 0  # of the last that was finished


class DrainedLog:
    """`headrace.storage.ports.UploadedObjects` of one drain, and what begins and ends it."""

    def __init__(self, client: MetadataClient, log: LogImage) -> None:
        """Take a log whose drain is assigned to this registration."""
        assert log.drain is not None
        self._client = client
        self._log = log
        self._epoch = log.drain.epoch

    def streams(self) -> list[StreamMetadata]:
        """Streams that the owner has open; the local image includes the entry that assigned the drain."""
        return open_streams_of(self._client.image, self._log.owner)

    async def prepare_objects(self, count: int, ttl_ms: int) -> int:
        """See `headrace.storage.ports.UploadedObjects`: the ids are this broker's."""
        return await prepare_objects(self._client, count, ttl_ms)

    async def commit_stream_set_object(self, commit: StreamSetCommit) -> None:
        """Commit in the name of the log.

        Raises:
            FencedError: the drain has ended, or this process must stop.
            StorageError: see `headrace.broker.adapters.storage_requests.send`.
        """
        request = commit_request(self._client, commit, self._log.log_id, self._epoch)
        await send(self._client, request, Done)

    async def finish(self, position: int, ends: Mapping[int, int]) -> None:
        """Record that all of the log is committed: its partitions get new leaders.

        Raises:
            RefusedError: FENCED_LEADER_EPOCH: the drain has ended.
            MetadataError: no controller answers, or this process must stop.
        """
        request = FinishDrain(
            *self._sender(), self._log.log_id, self._epoch, position, tuple(sorted(ends.items()))
        )
        await self._client.change(request, Done)

    async def refuse(self, reason: str) -> None:
        """Record that this broker cannot read the log.

        Raises:
            MetadataError: as `finish`.
        """
        request = RefuseDrain(
            *self._sender(), self._log.log_id, self._epoch, reason[:MAX_REASON_CHARACTERS]
        )
        await self._client.change(request, Done)

    def _sender(self) -> tuple[int, int]:
        return self._client.node_id, self._client.node_epoch
