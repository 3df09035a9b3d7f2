"""Requests of the stream engine to the controller, and what refusals of them mean to it."""

from typing import Final, TypeVar

from headrace.metadata.errors import MetadataError, NodeFencedError, RefusedError
from headrace.metadata.follower.client import MetadataClient
from headrace.metadata.image import MetadataImage
from headrace.metadata.records import objects as records
from headrace.metadata.rpc.requests import (
    CommitStreamSetObject,
    CommittedStreamObject,
    NodeMutation,
    PrepareObjects,
    TrimStream,
)
from headrace.metadata.rpc.responses import ObjectsPrepared, Response, StreamOutcome
from headrace.protocol.errors import ErrorCode
from headrace.storage.errors import (
    CommitRefusedError,
    FencedError,
    ObjectNotPreparedError,
    RetriableStorageError,
    StorageError,
)
from headrace.storage.ports import StreamMetadata, StreamObject, StreamRange, StreamSetCommit

_FENCED: Final = frozenset(
    {
        ErrorCode.STALE_BROKER_EPOCH,
        ErrorCode.BROKER_ID_NOT_REGISTERED,
        ErrorCode.FENCED_LEADER_EPOCH,
    }
)
_PASSING: Final = frozenset(
    {
        ErrorCode.REASSIGNMENT_IN_PROGRESS,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.NOT_CONTROLLER,
        ErrorCode.THROTTLING_QUOTA_EXCEEDED,
    }
)
_Answered = TypeVar("_Answered", bound=Response)


def open_streams_of(image: MetadataImage, node_id: int) -> list[StreamMetadata]:
    """Streams that a node has open, and what is committed of them."""
    return [
        StreamMetadata(stream.stream_id, stream.epoch, stream.start_offset, stream.end_offset)
        for stream in image.streams.values()
        if stream.node_id == node_id and stream.opened
    ]


async def prepare_objects(client: MetadataClient, count: int, ttl_ms: int) -> int:
    """Reserve consecutive object ids for this broker; return the first.

    Raises:
        StorageError: as `send`.
    """
    request = PrepareObjects(client.node_id, client.node_epoch, count, ttl_ms)
    return (await send(client, request, ObjectsPrepared)).first_object_id


def commit_request(
    client: MetadataClient, commit: StreamSetCommit, log_id: int, log_epoch: int
) -> CommitStreamSetObject:
    """Return a commit in the name of a log: this broker's at its epoch, or one that it drains at the drain's epoch."""
    sender = client.node_id, client.node_epoch
    return CommitStreamSetObject(
        *sender,
        commit.object_id,
        commit.size_bytes,
        tuple(map(_range, commit.ranges)),
        tuple(map(committed_object, commit.stream_objects)),
        tuple(commit.compacted_object_ids),
        log_id=log_id,
        log_epoch=log_epoch,
        wal_end_offset=commit.wal_end_offset,
    )


async def send(
    client: MetadataClient, request: NodeMutation, answered: type[_Answered]
) -> _Answered:
    """Send a change to the controller; return when the local image includes it.

    Raises:
        FencedError: another node has the stream or the log by now, or this process must stop.
        ObjectNotPreparedError, CommitRefusedError: the request contradicts the metadata.
        RetriableStorageError: no controller answers; the change may have taken effect.
    """
    try:
        return await client.change(request, answered)
    except RefusedError as error:
        is_of_stream = isinstance(request, TrimStream)
        raise _storage_error(error.code, error.message, is_of_stream=is_of_stream) from error
    except MetadataError as error:
        raise unanswered(error) from error


def require_done(outcome: StreamOutcome) -> None:
    """Check the outcome for one of many streams."""
    if outcome.error_code != ErrorCode.NONE:
        code = ErrorCode(outcome.error_code)
        raise _storage_error(code, outcome.message or "", is_of_stream=True)


def unanswered(error: MetadataError) -> StorageError:
    """Translate a failure other than a refusal."""
    if isinstance(error, NodeFencedError):
        return FencedError(str(error))
    return RetriableStorageError(str(error))


def _storage_error(code: ErrorCode, message: str, *, is_of_stream: bool) -> StorageError:
    """Translate a refusal; of a request about one stream, that stream may be what does not exist (any more)."""
    if code in _FENCED or (is_of_stream and code == ErrorCode.RESOURCE_NOT_FOUND):
        return FencedError(message)
    if code in _PASSING:
        return RetriableStorageError(message)
    if code == ErrorCode.INVALID_RECORD_STATE:
        return ObjectNotPreparedError(message)
    return CommitRefusedError(message)


def _range(piece: StreamRange) -> records.RecordedRange:
    return records.RecordedRange(piece.stream_id, piece.epoch, piece.start_offset, piece.end_offset)


def committed_object(stream_object: StreamObject) -> CommittedStreamObject:
    """Return a Stream Object as a request names it."""
    return CommittedStreamObject(
        stream_object.object_id, stream_object.size_bytes, _range(stream_object.range)
    )
