"""Decisions about streams: who may write, from which offset, and what is still needed. Pure.

A stream has one writer: the node that opened it last, at the epoch of that opening. The leader of
its partition opens it, at the partition's leader epoch, after the previous writer has closed it.
The exception is the same node after a restart: the previous process left its streams open, and the
new one has recovered its WAL by then.

An epoch of a stream is opened once: each registration of the leader, and each move, gives the partition
its next epoch. So a request to open or close that arrives late finds its epoch over, and changes nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from headrace.metadata.controller.acting import acting_writer
from headrace.metadata.controller.brokers import require_broker
from headrace.metadata.controller.decision import Decision, DecisionSteps, Inputs
from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.images.objects import ObjectState
from headrace.metadata.images.streams import ObjectRangeImage, StreamImage, object_index
from headrace.metadata.records.objects import ObjectsDestroyedRecord
from headrace.metadata.records.record import MetadataRecord
from headrace.metadata.records.streams import (
    RangeRecord,
    RemoveStreamRecord,
    StreamState,
    StreamStateRecord,
    StreamTrimmedRecord,
)
from headrace.metadata.rpc.requests import (
    CloseStreamBatch,
    OpenStreamBatch,
    StreamToClose,
    StreamToOpen,
    TrimStream,
)
from headrace.metadata.rpc.responses import (
    Done,
    StreamOutcome,
    StreamsClosed,
    StreamsOpened,
)
from headrace.protocol.errors import ErrorCode
from headrace.steps import Steps

MAX_STREAMS_OF_A_REQUEST = 1_000  # opened or closed by it
STEP_STREAMS = 1_000  # removed at once: less than a millisecond
STEP_DECISIONS = 128  # about streams to open or to close, likewise

_OneStream = TypeVar("_OneStream", StreamToOpen, StreamToClose)
_Outcome = tuple[tuple[MetadataRecord, ...], StreamOutcome]


def open_streams(request: OpenStreamBatch, image: MetadataImage, inputs: Inputs) -> DecisionSteps:
    """Open each of several streams that can be opened; the others have their errors in the answer."""
    del inputs
    require_broker(image, request.node_id, request.node_epoch)
    records, outcomes = yield from _decide_each(
        request.streams, lambda it: _open(it, request.node_id, image)
    )
    return Decision(records, StreamsOpened(outcomes))


def _open(it: StreamToOpen, node_id: int, image: MetadataImage) -> _Outcome:
    """Open a stream. A repeated request changes nothing; once the stream is closed, its epoch has ended."""
    stream = _existing(it.stream_id, image)
    _require_leadership(it, node_id, stream, image)
    outcome = StreamOutcome(ErrorCode.NONE, None, stream.start_offset, stream.end_offset)
    if stream.opened and stream.node_id != node_id:
        raise RefusedError(
            ErrorCode.REASSIGNMENT_IN_PROGRESS,
            f"stream {stream.stream_id} is still open on node {stream.node_id} "
            f"at epoch {stream.epoch}",
        )
    if stream.epoch == it.stream_epoch and stream.opened:
        return (), outcome
    if stream.epoch >= it.stream_epoch:  # or it was closed at this one
        raise _fenced(stream, it.stream_epoch)
    index = stream.ranges[-1].range_index + 1 if stream.ranges else 0
    return (
        RangeRecord(stream.stream_id, index, it.stream_epoch, node_id, stream.end_offset),
        StreamStateRecord(stream.stream_id, it.stream_epoch, StreamState.OPENED, node_id),
    ), outcome


def close_streams(request: CloseStreamBatch, image: MetadataImage, inputs: Inputs) -> DecisionSteps:
    """Close each of several streams that can be closed; the others have their errors in the answer."""
    del inputs
    writer = acting_writer(request, image)
    records, outcomes = yield from _decide_each(
        request.streams, lambda it: _close(it, writer, image)
    )
    return Decision(records, StreamsClosed(outcomes))


def _close(it: StreamToClose, writer: int, image: MetadataImage) -> _Outcome:
    """Close a stream once all of it is committed; no change if it is already closed or removed."""
    done = StreamOutcome(ErrorCode.NONE, None)
    if _is_removed(it.stream_id, image):
        return (), done
    stream = _existing(it.stream_id, image)
    require_writer(stream, writer, it.stream_epoch)
    if not stream.opened:
        return (), done
    if it.end_offset != stream.end_offset:
        raise RefusedError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"stream {stream.stream_id} cannot be closed at offset {it.end_offset}: "
            f"it is committed up to {stream.end_offset}",
        )
    return (_state(stream, StreamState.CLOSED),), done


def _decide_each(
    streams: Sequence[_OneStream], decide: Callable[[_OneStream], _Outcome]
) -> Steps[tuple[tuple[MetadataRecord, ...], tuple[StreamOutcome, ...]]]:
    """Decide, in steps, on distinct streams: a refusal is the outcome of its stream alone."""
    _require_distinct([it.stream_id for it in streams])
    records: list[MetadataRecord] = []
    outcomes: list[StreamOutcome] = []
    for number, stream in enumerate(streams, start=1):
        try:
            decided, outcome = decide(stream)
        except RefusedError as error:
            outcomes.append(StreamOutcome(error.code, error.message))
        else:
            records += decided
            outcomes.append(outcome)
        if number % STEP_DECISIONS == 0:
            yield
    return tuple(records), tuple(outcomes)


def _require_distinct(stream_ids: Sequence[int]) -> None:
    """Check the streams of a request: each is decided on the image before it."""
    if len(set(stream_ids)) < len(stream_ids):
        raise RefusedError(ErrorCode.INVALID_REQUEST, "a stream is named twice")
    if len(stream_ids) > MAX_STREAMS_OF_A_REQUEST:
        raise RefusedError(
            ErrorCode.INVALID_REQUEST,
            f"the request names {len(stream_ids)} streams, at most {MAX_STREAMS_OF_A_REQUEST} are allowed",
        )


def trim_stream(request: TrimStream, image: MetadataImage, inputs: Inputs) -> Decision:
    """Raise the start offset; no change if it is already there or beyond."""
    require_broker(image, request.node_id, request.node_epoch)
    stream = _existing(request.stream_id, image)
    require_writer(stream, request.node_id, request.stream_epoch)
    if not stream.opened:
        raise RefusedError(ErrorCode.INVALID_REQUEST, f"stream {stream.stream_id} is closed")
    if request.new_start_offset <= stream.start_offset:
        return Decision((), Done())
    if request.new_start_offset > stream.end_offset:
        raise RefusedError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"stream {stream.stream_id} cannot be trimmed to offset {request.new_start_offset}: "
            f"it is committed up to {stream.end_offset}",
        )
    dropped = stream.objects[: object_index(stream, request.new_start_offset)]
    records: list[MetadataRecord] = [
        StreamTrimmedRecord(stream.stream_id, request.new_start_offset)
    ]
    records += destroy_unused(dropped, image, inputs.now_ms)
    return Decision(tuple(records), Done())


def remove_streams(
    stream_ids: Sequence[int], image: MetadataImage, now_ms: int
) -> Steps[list[MetadataRecord]]:
    """Give, in steps, records that remove streams and mark objects destroyed that only they used."""
    records: list[MetadataRecord] = []
    counts: Counter[int] = Counter()
    for number, stream_id in enumerate(stream_ids, start=1):
        records.append(RemoveStreamRecord(stream_id))
        for piece in image.streams[stream_id].objects:
            counts[piece.object_id] += 1
        if number % STEP_STREAMS == 0:
            yield
    records += _destroy_unused(counts, image, now_ms)
    return records


def destroy_unused(
    dropped: Iterable[ObjectRangeImage], image: MetadataImage, now_ms: int
) -> list[MetadataRecord]:
    """Mark destroyed the objects all of whose live ranges are dropped."""
    return _destroy_unused(Counter(piece.object_id for piece in dropped), image, now_ms)


def _destroy_unused(
    counts: Counter[int], image: MetadataImage, now_ms: int
) -> list[MetadataRecord]:
    unused = tuple(
        object_id
        for object_id, count in sorted(counts.items())
        if image.objects.by_id[object_id].state == ObjectState.COMMITTED
        and image.objects.by_id[object_id].live_ranges == count
    )
    return [ObjectsDestroyedRecord(unused, now_ms)] if unused else []


def require_writer(stream: StreamImage, node_id: int, stream_epoch: int) -> None:
    """Refuse any node that is not the stream's writer.

    Raises:
        RefusedError: FENCED_LEADER_EPOCH, when the stream has a newer epoch or another node;
            UNKNOWN_LEADER_EPOCH, when it has not been opened at this epoch.
    """
    if stream.epoch < stream_epoch:
        raise RefusedError(
            ErrorCode.UNKNOWN_LEADER_EPOCH,
            f"stream {stream.stream_id} is at epoch {stream.epoch}, not yet at {stream_epoch}",
        )
    if stream.epoch > stream_epoch or stream.node_id != node_id:
        raise _fenced(stream, stream_epoch)


def _require_leadership(
    request: StreamToOpen, node_id: int, stream: StreamImage, image: MetadataImage
) -> None:
    topic = image.topics[stream.topic_id]
    partition = topic.partitions[stream.partition]
    where = f"partition {topic.name}-{partition.partition} is led by broker {partition.leader}"
    if request.stream_epoch > partition.leader_epoch:
        raise RefusedError(
            ErrorCode.UNKNOWN_LEADER_EPOCH,
            f"{where} at epoch {partition.leader_epoch}, not yet at {request.stream_epoch}",
        )
    if partition.leader != node_id or partition.leader_epoch != request.stream_epoch:
        raise RefusedError(
            ErrorCode.FENCED_LEADER_EPOCH, f"{where} at epoch {partition.leader_epoch}"
        )


def _existing(stream_id: int, image: MetadataImage) -> StreamImage:
    stream = image.streams.get(stream_id)
    if stream is None:
        reason = "was removed" if _is_removed(stream_id, image) else "never existed"
        raise RefusedError(ErrorCode.RESOURCE_NOT_FOUND, f"stream {stream_id} {reason}")
    return stream


def _is_removed(stream_id: int, image: MetadataImage) -> bool:
    return stream_id not in image.streams and 0 <= stream_id < image.next_stream_id


def _state(stream: StreamImage, state: StreamState) -> StreamStateRecord:
    return StreamStateRecord(stream.stream_id, stream.epoch, state, stream.node_id)


def _fenced(stream: StreamImage, stream_epoch: int) -> RefusedError:
    return RefusedError(
        ErrorCode.FENCED_LEADER_EPOCH,
        f"stream {stream.stream_id} is at epoch {stream.epoch} on node {stream.node_id}; "
        f"epoch {stream_epoch} has ended",
    )
