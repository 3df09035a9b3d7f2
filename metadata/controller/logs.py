"""Decisions about logs: which one a broker uses, and whether its loss is accepted. Pure.

A broker registers its log once that is open, before it acknowledges anything. Who drains the log of a
broker whose epoch has ended is decided in `headrace.metadata.controller.drains`.
"""

from typing import Final

from headrace.metadata.controller.brokers import require_broker
from headrace.metadata.controller.decision import Decision, DecisionSteps, Inputs
from headrace.metadata.controller.handover import hand_over
from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.images.brokers import active_brokers, has_ended
from headrace.metadata.images.logs import UNKNOWN_GENERATION, LogImage, LogState, log_of, log_record
from headrace.metadata.records.logs import (
    BrokerReachRecord,
    LogEmptiedRecord,
    LogLostRecord,
    LogMedium,
    LogRecord,
    LogUploadedRecord,
)
from headrace.metadata.records.record import MetadataRecord
from headrace.metadata.rpc.requests import (
    AcceptLogLoss,
    BeginLog,
    CommitStreamSetObject,
    EndLog,
)
from headrace.metadata.rpc.responses import Done
from headrace.protocol.errors import ErrorCode

MAX_PLACES: Final = 8
MAX_REACH: Final = 64
NO_OFFSET: Final = -1


def begin_log(request: BeginLog, image: MetadataImage, inputs: Inputs) -> Decision:
    """Record which log a broker uses from now on. A repeated request changes nothing."""
    del inputs
    broker = require_broker(image, request.node_id, request.node_epoch)
    if request.generation in ("", UNKNOWN_GENERATION):
        raise RefusedError(ErrorCode.INVALID_REQUEST, "a log in use has a generation")
    if len(request.places) > MAX_PLACES or len(request.reach) > MAX_REACH:
        raise RefusedError(
            ErrorCode.INVALID_REQUEST,
            f"a log has at most {MAX_PLACES} places, and a broker reaches at most {MAX_REACH}",
        )
    known = image.logs.get(request.log_id)
    of_node = log_of(image.logs, request.node_id)
    if of_node is not known or (known is not None and known.owner != request.node_id):
        raise RefusedError(
            ErrorCode.INVALID_REQUEST,
            f"log {request.log_id} is not the log of broker {request.node_id}",
        )
    same_epoch = known is not None and known.epoch == request.node_epoch
    begun = LogRecord(
        request.log_id,
        request.node_id,
        request.node_epoch,
        request.generation,
        request.medium,
        request.places,
        known.uploaded_offset if known is not None and same_epoch else 0,
    )
    records: list[MetadataRecord] = []
    # A broker begins nothing once it has ended its log: then this is a late copy.
    is_late = same_epoch and known is not None and known.state == LogState.EMPTY
    if not is_late and (
        known is None or known.state != LogState.ACTIVE or log_record(known) != begun
    ):
        records.append(begun)
    if broker.reach != request.reach:
        records.append(BrokerReachRecord(broker.node_id, broker.epoch, request.reach))
    return Decision(tuple(records), Done())


def end_log(request: EndLog, image: MetadataImage, inputs: Inputs) -> Decision:
    """Record that nothing in a log is needed, if it is the one that this registration has begun."""
    del inputs
    require_broker(image, request.node_id, request.node_epoch)
    records: list[MetadataRecord] = []
    log = image.logs.get(request.log_id)
    if log is None and request.log_id == request.node_id:
        # Registered now, as one that has ended: else it would not be known that nothing waits for this broker.
        records += [_ended_log(request), LogEmptiedRecord(request.log_id)]
    if (
        log is not None
        and (log.owner, log.epoch) == (request.node_id, request.node_epoch)
        and log.state == LogState.ACTIVE
    ):
        records.append(LogEmptiedRecord(log.log_id))
    return Decision(tuple(records), Done())


def uploaded(request: CommitStreamSetObject, image: MetadataImage) -> list[MetadataRecord]:
    """Records of a commit: up to where its sender's own log is in the bucket."""
    log = image.logs.get(request.log_id)
    if (
        log is None
        or (log.owner, log.epoch) != (request.node_id, request.node_epoch)
        or request.wal_end_offset <= log.uploaded_offset
    ):
        return []
    return [LogUploadedRecord(log.log_id, request.wal_end_offset)]


def accept_log_loss(
    request: AcceptLogLoss, image: MetadataImage, inputs: Inputs
) -> Decision | DecisionSteps:
    """Give a log up, or what is damaged in it. A repeated request changes nothing.

    A log is given up only when a broker can lead its partitions: they would not be looked at later.
    """
    log = image.logs.get(request.log_id)
    if log is None:
        raise RefusedError(ErrorCode.RESOURCE_NOT_FOUND, f"there is no log {request.log_id}")
    if log.generation != request.generation:
        raise RefusedError(
            ErrorCode.INVALID_REQUEST,
            f"log {log.log_id} is in generation {log.generation}, not {request.generation}",
        )
    if log.state == LogState.LOST or (request.damaged_only and log.damage_accepted):
        return Decision((), Done())
    _require_losable(log, image, damaged_only=request.damaged_only)
    if request.damaged_only:
        return Decision((LogLostRecord(log.log_id, damaged_only=True),), Done())
    return _lose(log, image, inputs)


def _ended_log(request: EndLog) -> LogRecord:
    sender = request.node_id, request.node_epoch
    return LogRecord(request.log_id, *sender, UNKNOWN_GENERATION, LogMedium.UNKNOWN, (), NO_OFFSET)


def _require_losable(log: LogImage, image: MetadataImage, *, damaged_only: bool) -> None:
    if log.settled:
        raise RefusedError(ErrorCode.INVALID_REQUEST, f"nothing in log {log.log_id} is needed")
    if not has_ended(image.brokers, log.owner):
        raise RefusedError(
            ErrorCode.INVALID_REQUEST, f"log {log.log_id} is in use by broker {log.owner}"
        )
    if log.state == LogState.DRAINING and log.drain is not None and not damaged_only:
        raise RefusedError(
            ErrorCode.INVALID_REQUEST,
            f"log {log.log_id} is being drained by broker {log.drain.node_id}",
        )
    if not damaged_only and not active_brokers(image.brokers):
        raise RefusedError(
            ErrorCode.INVALID_REQUEST,
            f"no broker is active that could lead the partitions of log {log.log_id}: start one first; or start "
            f"broker {log.owner}, with headrace.wal.accept.loss={log.generation}",
        )


def _lose(log: LogImage, image: MetadataImage, inputs: Inputs) -> DecisionSteps:
    moved = yield from hand_over(log, image, inputs)
    return Decision((LogLostRecord(log.log_id, damaged_only=False), *moved), Done())
