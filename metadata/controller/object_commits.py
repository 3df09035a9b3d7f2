"""Decisions about commits of uploads and compactions. Pure.

A commit is one entry of the log: it takes effect as a whole or not at all. Its rules, in this order:
  1. The sender's registration is the newest of its node. An upload is in the name of a log, by
     somebody who may act for it now; the writer below is the log's owner.
  2. A retry of a commit that took effect succeeds. This check comes before that of offsets, which
     a retry could only fail (by then its ranges end where the streams end). If the objects of an
     upload are already removed (compacted, deleted), the streams' ends decide.
  3. Every object is prepared, by this node, and has not expired.
  4. Upload: each range starts where its stream ends, and carries the stream's epoch. Compaction:
     the new objects hold exactly the live offsets of those that they replace, and are committed by
     their adopter (`headrace.metadata.images.brokers.adopter`), which owns them from then on: for
     Stream Set Objects the adopter of their node, for Stream Objects that of the stream's writer.
Ranges of streams that have been removed are dead: they are neither checked nor used, so that a
topic can be deleted while its last upload is running. In a compaction, offsets below the start of
their stream are dead too.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from headrace.metadata.controller.acting import acting_writer
from headrace.metadata.controller.brokers import require_broker
from headrace.metadata.controller.coverage import LiveOffsets
from headrace.metadata.controller.decision import Decision, Inputs
from headrace.metadata.controller.logs import uploaded
from headrace.metadata.controller.streams import require_writer
from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.images.brokers import adopter
from headrace.metadata.images.objects import ObjectImage, ObjectState, ObjectType
from headrace.metadata.records.objects import (
    ObjectsDestroyedRecord,
    RecordedRange,
    StreamObjectRecord,
    StreamSetObjectRecord,
)
from headrace.metadata.records.record import MetadataRecord
from headrace.metadata.rpc.requests import (
    CommitStreamSetObject,
    CommittedStreamObject,
    CompactStreamObject,
)
from headrace.metadata.rpc.responses import Done
from headrace.protocol.errors import ErrorCode

NO_OBJECT_ID: Final = -1
MAX_SIZE_BYTES: Final = 1 << 50


def commit_stream_set_object(
    request: CommitStreamSetObject, image: MetadataImage, inputs: Inputs
) -> Decision:
    """Commit an upload, or (with `compacted_object_ids`) what replaces Stream Set Objects."""
    writer = acting_writer(request, image)
    outputs = _outputs(request, image, inputs.now_ms)
    if _took_effect(outputs, request.compacted_object_ids, image):
        return Decision((), Done())
    if not request.compacted_object_ids and _upload_took_effect(outputs, writer, image):
        return Decision((), Done())
    _require_prepared(outputs, request.node_id, image)
    if request.compacted_object_ids:
        _require_sources(request.compacted_object_ids, request.node_id, image)
        offsets = LiveOffsets(image)
        offsets.require_same(request.compacted_object_ids, _placed(outputs))
    else:
        _require_continuity(_placed(outputs), writer, image)
    records: list[MetadataRecord] = []
    if request.compacted_object_ids:
        sources = tuple(sorted(set(request.compacted_object_ids)))
        records.append(ObjectsDestroyedRecord(sources, inputs.now_ms))
    records += outputs
    records += _destroy_dead(outputs, image, inputs.now_ms)
    records += uploaded(request, image)
    return Decision(tuple(records), Done())


def compact_stream_object(
    request: CompactStreamObject, image: MetadataImage, inputs: Inputs
) -> Decision:
    """Replace Stream Objects of one stream by one that holds exactly their live offsets."""
    require_broker(image, request.node_id, request.node_epoch)
    output = _stream_object_record(request.stream_object, request.node_id, inputs.now_ms)
    if _took_effect([output], request.source_object_ids, image):
        return Decision((), Done())
    stream = image.streams.get(output.range.stream_id)
    if stream is None:
        raise RefusedError(
            ErrorCode.RESOURCE_NOT_FOUND, f"there is no stream {output.range.stream_id}"
        )
    writer = stream.node_id
    adopted = adopter(image.brokers, writer) == request.node_id
    require_writer(stream, writer if adopted else request.node_id, output.range.epoch)
    _require_prepared([output], request.node_id, image)
    sources = tuple(sorted(set(request.source_object_ids)))
    for object_id in sources:
        source = _committed(object_id, image)
        if source.kind != ObjectType.STREAM:
            raise RefusedError(
                ErrorCode.INVALID_REQUEST, f"object {object_id} is not a Stream Object"
            )
    offsets = LiveOffsets(image)
    offsets.require_same(sources, [(output.object_id, output.range)])
    return Decision((ObjectsDestroyedRecord(sources, inputs.now_ms), output), Done())


_Output = StreamSetObjectRecord | StreamObjectRecord


def _outputs(request: CommitStreamSetObject, image: MetadataImage, now_ms: int) -> list[_Output]:
    """The records of the objects that the commit adds, in the order of their replay."""
    outputs: list[_Output] = []
    if request.object_id != NO_OBJECT_ID:
        orders = [request.object_id]
        for object_id in request.compacted_object_ids:
            source = image.objects.by_id.get(object_id)
            if source is not None:
                orders.append(source.order_id)
        ranges = sorted(request.ranges, key=_by_stream_and_start)
        outputs.append(
            StreamSetObjectRecord(
                request.object_id,
                request.node_id,
                min(orders),
                request.size_bytes,
                now_ms,
                tuple(ranges),
            )
        )
    elif request.ranges:
        raise RefusedError(ErrorCode.INVALID_REQUEST, "the commit has ranges without an object")
    stream_objects = sorted(request.stream_objects, key=lambda it: _by_stream_and_start(it.range))
    outputs += (_stream_object_record(it, request.node_id, now_ms) for it in stream_objects)
    _check_outputs(outputs)
    return outputs


def _check_outputs(outputs: Sequence[_Output]) -> None:
    ids = {output.object_id for output in outputs}
    if len(ids) != len(outputs):
        raise RefusedError(
            ErrorCode.INVALID_REQUEST, "the same object is named twice in one commit"
        )
    for output in outputs:
        if not 0 <= output.size_bytes <= MAX_SIZE_BYTES:
            raise RefusedError(
                ErrorCode.INVALID_REQUEST,
                f"object {output.object_id} has the invalid size {output.size_bytes}",
            )
        for piece in _ranges(output):
            if not 0 <= piece.start_offset < piece.end_offset:
                raise RefusedError(
                    ErrorCode.INVALID_REQUEST,
                    f"object {output.object_id} has the empty range "
                    f"[{piece.start_offset}, {piece.end_offset}) of stream {piece.stream_id}",
                )


def _took_effect(
    outputs: Sequence[_Output], source_ids: Iterable[int], image: MetadataImage
) -> bool:
    """Whether this same commit has been applied before."""
    if outputs:
        return all(_is_committed_as(output, image) for output in outputs)
    sources = [image.objects.by_id.get(object_id) for object_id in source_ids]
    return all(it is None or it.state == ObjectState.MARK_DESTROYED for it in sources)


def _is_committed_as(output: _Output, image: MetadataImage) -> bool:
    found = image.objects.by_id.get(output.object_id)
    return (
        found is not None
        and found.committed_ms > 0
        and found.node_id == output.node_id
        and found.size_bytes == output.size_bytes
        and found.ranges == _ranges(output)
    )


def _upload_took_effect(outputs: Sequence[_Output], writer: int, image: MetadataImage) -> bool:
    """Whether this upload has been applied before, although some of its objects are removed by now.

    Stream ends only grow, by commits of whole uploads. All offsets of an epoch are committed in the name of one
    log, by one node after the other, and each begins at the ends that those before have left. So a range below
    the end of its stream, at the stream's epoch, was committed by this commit.
    """
    return bool(outputs) and all(
        _is_committed_as(output, image) or _is_forgotten(output, writer, image)
        for output in outputs
    )


def _is_forgotten(output: _Output, writer: int, image: MetadataImage) -> bool:
    objects = image.objects
    if output.object_id in objects.by_id or not 0 <= output.object_id < objects.next_object_id:
        return False
    for piece in _ranges(output):
        stream = image.streams.get(piece.stream_id)
        if stream is None:
            if not 0 <= piece.stream_id < image.next_stream_id:
                return False
        elif (
            stream.node_id != writer
            or stream.epoch != piece.epoch
            or stream.end_offset < piece.end_offset
        ):
            return False
    return True


def _require_prepared(outputs: Iterable[_Output], node_id: int, image: MetadataImage) -> None:
    for output in outputs:
        found = image.objects.by_id.get(output.object_id)
        if found is None or found.state != ObjectState.PREPARED or found.node_id != node_id:
            state = "unknown" if found is None else f"{found.state.name} by node {found.node_id}"
            raise RefusedError(
                ErrorCode.INVALID_RECORD_STATE,
                f"object {output.object_id} is {state}, it must be prepared by node {node_id}",
            )


def _require_sources(object_ids: Iterable[int], node_id: int, image: MetadataImage) -> None:
    for object_id in object_ids:
        source = _committed(object_id, image)
        if (
            source.kind != ObjectType.STREAM_SET
            or adopter(image.brokers, source.node_id) != node_id
        ):
            raise RefusedError(
                ErrorCode.INVALID_REQUEST,
                f"object {object_id} is not a Stream Set Object that belongs to node {node_id} or is adopted by it",
            )


def _committed(object_id: int, image: MetadataImage) -> ObjectImage:
    found = image.objects.by_id.get(object_id)
    if found is None or found.state != ObjectState.COMMITTED:
        state = "unknown" if found is None else found.state.name
        raise RefusedError(
            ErrorCode.RESOURCE_NOT_FOUND, f"the compacted object {object_id} is {state}"
        )
    return found


def _require_continuity(
    placed: Iterable[tuple[int, RecordedRange]], writer: int, image: MetadataImage
) -> None:
    ends: dict[int, int] = {}
    streams = image.streams
    for object_id, piece in placed:
        stream = streams.get(piece.stream_id)
        if stream is None:
            if not 0 <= piece.stream_id < image.next_stream_id:
                raise RefusedError(
                    ErrorCode.RESOURCE_NOT_FOUND, f"stream {piece.stream_id} never existed"
                )
            continue
        if not stream.opened:
            raise RefusedError(ErrorCode.INVALID_REQUEST, f"stream {piece.stream_id} is closed")
        require_writer(stream, writer, piece.epoch)
        end = ends.get(piece.stream_id, stream.end_offset)
        if piece.start_offset != end:
            raise RefusedError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"object {object_id} holds stream {piece.stream_id} from offset {piece.start_offset}, "
                f"but the stream ends at {end}",
            )
        ends[piece.stream_id] = piece.end_offset


def _destroy_dead(
    outputs: Iterable[_Output], image: MetadataImage, now_ms: int
) -> list[MetadataRecord]:
    """Mark objects destroyed at once that have no live range any more."""
    dead: list[int] = []
    for output in outputs:
        live = False
        for piece in _ranges(output):
            stream = image.streams.get(piece.stream_id)
            if stream is not None and piece.end_offset > stream.start_offset:
                live = True
                break
        if not live:
            dead.append(output.object_id)
    return [ObjectsDestroyedRecord(tuple(dead), now_ms)] if dead else []


def _placed(outputs: Iterable[_Output]) -> list[tuple[int, RecordedRange]]:
    return [(output.object_id, piece) for output in outputs for piece in _ranges(output)]


def _ranges(output: _Output) -> tuple[RecordedRange, ...]:
    return output.ranges if isinstance(output, StreamSetObjectRecord) else (output.range,)


def _stream_object_record(
    stream_object: CommittedStreamObject, node_id: int, now_ms: int
) -> StreamObjectRecord:
    return StreamObjectRecord(
        stream_object.object_id,
        node_id,
        stream_object.size_bytes,
        now_ms,
        stream_object.range,
    )


def _by_stream_and_start(piece: RecordedRange) -> tuple[int, int]:
    return piece.stream_id, piece.start_offset
