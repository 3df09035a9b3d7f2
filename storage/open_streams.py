"""The streams that a node has open: at most one handle each, the one of the newest epoch."""

from collections.abc import Sequence

from headrace.shrinking_dict import ShrinkingDict
from headrace.storage.append_path import AppendPath
from headrace.storage.cache.log_cache import LogCache
from headrace.storage.errors import FencedError, RetriableStorageError
from headrace.storage.ports import StreamManager, StreamRange
from headrace.storage.stream import BlockReader, Stream
from headrace.storage.upload.pipeline import UploadPipeline


class OpenStreams:
    """Opens streams and keeps their handles until they are closed."""

    def __init__(
        self,
        *,
        path: AppendPath,
        cache: LogCache,
        blocks: BlockReader,
        pipeline: UploadPipeline,
        streams: StreamManager,
    ) -> None:
        self._path = path
        self._cache = cache
        self._blocks = blocks
        self._pipeline = pipeline
        self._streams = streams
        self._open: ShrinkingDict[int, Stream] = ShrinkingDict()
        self._opening: set[int] = set()

    def __len__(self) -> int:
        return len(self._open)

    def ids_and_epochs(self) -> Sequence[tuple[int, int]]:
        """(stream id, epoch) of every open stream."""
        return [(stream.stream_id, stream.epoch) for stream in self._open.values()]

    def note_committed(self, ranges: Sequence[StreamRange]) -> None:
        """Move the committed offsets of the streams that are still open."""
        for committed in ranges:
            stream = self._open.get(committed.stream_id)
            if stream is not None:
                stream.committed_offset = committed.end_offset

    async def open(self, stream_id: int, epoch: int) -> Stream:
        """Open a stream; see `StorageEngine.open_stream`.

        Raises:
            FencedError: the stream is open at a newer epoch.
            RetriableStorageError: it is being opened, or the control plane does not answer.
            EngineFailedError: the engine has failed or is shut down.
        """
        self._require_running()
        if stream_id in self._opening:
            raise RetriableStorageError(f"stream {stream_id} is already being opened")
        self._opening.add(stream_id)
        try:
            return await self._open_stream(stream_id, epoch)
        finally:
            self._opening.discard(stream_id)

    async def _open_stream(self, stream_id: int, epoch: int) -> Stream:
        previous = self._open.get(stream_id)
        if previous is not None:
            if previous.epoch > epoch:
                raise FencedError(
                    f"stream {stream_id} is open at epoch {previous.epoch}, newer than {epoch}"
                )
            if previous.epoch == epoch and not previous.is_closed:
                return previous
            await previous.supersede()
        # The control plane must know the end of what was appended under older epochs.
        pending_wal_end = self._cache.unuploaded_wal_end(stream_id)
        if pending_wal_end is not None:
            await self._pipeline.committed(pending_wal_end)
        metadata = await self._streams.open_stream(stream_id, epoch)
        self._require_running()
        stream = Stream(
            metadata,
            path=self._path,
            cache=self._cache,
            blocks=self._blocks,
            pipeline=self._pipeline,
            streams=self._streams,
            on_closed=self._forget,
        )
        self._open[stream_id] = stream
        return stream

    def _forget(self, stream: Stream) -> None:
        if self._open.get(stream.stream_id) is stream:
            del self._open[stream.stream_id]

    def _require_running(self) -> None:
        failure = self._path.failure
        if failure is not None:
            raise type(failure)(*failure.args)
