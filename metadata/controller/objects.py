"""Decisions about objects outside of commits: prepare, expire, remove. Pure."""

from typing import Final

from headrace.metadata.controller.brokers import require_broker
from headrace.metadata.controller.decision import Decision, Inputs
from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.images.objects import ObjectState
from headrace.metadata.records.objects import (
    ObjectsDestroyedRecord,
    ObjectsPreparedRecord,
    ObjectsRemovedRecord,
)
from headrace.metadata.rpc.requests import ForgetObjects, PrepareObjects
from headrace.metadata.rpc.responses import Done, ObjectsPrepared
from headrace.protocol.errors import ErrorCode

MAX_PREPARED_PER_REQUEST: Final = 10_000
MAX_PREPARE_TTL_MS: Final = 24 * 3_600_000
MAX_EXPIRED_PER_DECISION: Final = 1_000


def prepare_objects(request: PrepareObjects, image: MetadataImage, inputs: Inputs) -> Decision:
    """Reserve ids. A repeated request reserves others; ids that are never committed expire."""
    require_broker(image, request.node_id, request.node_epoch)
    if not 1 <= request.count <= MAX_PREPARED_PER_REQUEST:
        raise RefusedError(
            ErrorCode.INVALID_REQUEST,
            f"the number of objects to prepare is {request.count}, it must be 1 to "
            f"{MAX_PREPARED_PER_REQUEST}",
        )
    if not 1 <= request.ttl_ms <= MAX_PREPARE_TTL_MS:
        raise RefusedError(
            ErrorCode.INVALID_REQUEST,
            f"the time to live is {request.ttl_ms} ms, it must be 1 to {MAX_PREPARE_TTL_MS} ms",
        )
    first = image.objects.next_object_id
    return Decision(
        (
            ObjectsPreparedRecord(
                first,
                request.count,
                request.node_id,
                inputs.now_ms,
                inputs.now_ms + request.ttl_ms,
            ),
        ),
        ObjectsPrepared(first),
    )


def forget_objects(request: ForgetObjects, image: MetadataImage, inputs: Inputs) -> Decision:
    """Remove destroyed objects from the metadata; those already removed are skipped."""
    del inputs
    require_broker(image, request.node_id, request.node_epoch)
    present: list[int] = []
    for object_id in sorted(set(request.object_ids)):
        found = image.objects.by_id.get(object_id)
        if found is None:
            continue
        if found.state != ObjectState.MARK_DESTROYED:
            raise RefusedError(
                ErrorCode.INVALID_REQUEST,
                f"object {object_id} is {found.state.name}: only destroyed objects can be removed",
            )
        present.append(object_id)
    return Decision((ObjectsRemovedRecord(tuple(present)),) if present else (), Done())


def expire_objects(image: MetadataImage, now_ms: int) -> Decision:
    """Mark objects destroyed that were prepared and not committed in time: they can no longer be committed."""
    expired = sorted(
        object_id
        for object_id, expires_ms in image.objects.prepared.items()
        if expires_ms <= now_ms
    )[:MAX_EXPIRED_PER_DECISION]
    if not expired:
        return Decision((), Done())
    return Decision((ObjectsDestroyedRecord(tuple(expired), now_ms),), Done())
