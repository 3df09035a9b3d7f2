"""Decisions about logs: which one a broker uses, and whether its loss is accepted. Pure.

A broker tells its log once that is open, before it acknowledges anything. Who drains the log of a
broker whose epoch has ended is decided in `headrace.metadata.controller.drains`.
"""

from typing import Final

from headrace.metadata.controller.brokers import require_broker
from headrace.metadata.controller.decision import Decision, DecisionSteps, Inputs
from headrace.metadata.controller.handover import hand_over
from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.images.brokers import active_brokers, has_ended
from headrace.metadata.images.log_keys import (
    PREFIX,
    UNKNOWN_GENERATION,
    generation_key,
    read_generation,
    read_uploaded,
    uploaded_key,
)
from headrace.metadata.images.logs import LogImage, LogState, log_of, log_record
from headrace.metadata.records.cluster import RemoveKeyValueRecord
from headrace.metadata.records.logs import (
    BrokerReachRecord,
    LogEmptiedRecord,
    LogLostRecord,
    LogMedium,
    LogRecord,
    LogUploadedRecord,
)
from headrace.metadata.records.record import Record
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
    require_logs(image)
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
    latest = known or _log_of_keys(request.log_id, image)
    same_epoch = latest is not None and latest.epoch == request.node_epoch
    begun = LogRecord(
        request.log_id,
        request.node_id,
        request.node_epoch,
        request.generation,
        request.medium,
        request.places,
        latest.uploaded_offset if latest is not None and same_epoch else 0,
    )
    records: list[Record] = []
    # A broker begins nothing once it has ended its log: then this is a late copy.
    is_late = same_epoch and known is not None and known.state == LogState.EMPTY
    if not is_late and (
        known is None or known.state != LogState.ACTIVE or log_record(known) != begun
    ):
        records.append(begun)
    if broker.reach != request.reach:
        records.append(BrokerReachRecord(broker.node_id, broker.epoch, request.reach))
    keys = generation_key(request.log_id), uploaded_key(request.log_id)
    records += [RemoveKeyValueRecord(it) for it in keys if it in image.key_values]
    return Decision(tuple(records), Done())


def end_log(request: EndLog, image: MetadataImage, inputs: Inputs) -> Decision:
    """Record that nothing in a log is needed, if it is the one that this registration has begun."""
    del inputs
    require_broker(image, request.node_id, request.node_epoch)
    # The level may have been raised, and its keys not been replaced yet: they would become a log that is needed.
    keys = generation_key(request.node_id), uploaded_key(request.node_id)
    records: list[Record] = [RemoveKeyValueRecord(it) for it in keys if it in image.key_values]
    log = image.logs.get(request.log_id)
    if log is None and image.has_logs and request.log_id == request.node_id:
        # Told now, as one that has ended: else nobody would know that nothing waits for this broker.
        records += [_ended_log(request, image), LogEmptiedRecord(request.log_id)]
    if (
        log is not None
        and (log.owner, log.epoch) == (request.node_id, request.node_epoch)
        and log.state == LogState.ACTIVE
    ):
        records.append(LogEmptiedRecord(log.log_id))
    return Decision(tuple(records), Done())


def uploaded(request: CommitStreamSetObject, image: MetadataImage) -> list[Record]:
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

    A log is given up only when somebody can lead its partitions: nobody would look at them later.
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


def require_logs(image: MetadataImage) -> None:
    """Return only if the metadata of this cluster may have logs.

    Raises:
        RefusedError: UNSUPPORTED_VERSION.
    """
    if not image.has_logs:
        raise RefusedError(
            ErrorCode.UNSUPPORTED_VERSION, "at its level, the cluster's metadata have no logs"
        )


def replace_keys(image: MetadataImage) -> Decision:
    """Replace the keys of the level before by logs. Where these lie, their owners tell."""
    records: list[Record] = []
    for log_id in sorted(image.brokers):
        log, known = _log_of_keys(log_id, image), image.logs.get(log_id)
        if log is None or log_of(image.logs, log.owner) is not known:
            continue
        if known is None or known.epoch < log.epoch:
            records.append(log)
    records += [RemoveKeyValueRecord(it) for it in _keys_left(image)]
    return Decision(tuple(records), Done())


def has_keys_left(image: MetadataImage) -> bool:
    """Whether `replace_keys` has something to record."""
    return image.has_logs and bool(_keys_left(image))


def _keys_left(image: MetadataImage) -> list[str]:
    return sorted(it for it in image.key_values if it.startswith(PREFIX))


def _log_of_keys(log_id: int, image: MetadataImage) -> LogRecord | None:
    """The log that a broker's keys stand for; None: it is not registered, or they cannot be right."""
    broker = image.brokers.get(log_id)
    last = read_generation(image.key_values.get(generation_key(log_id)))
    if broker is None or last is None or last[0] > broker.epoch:
        return None
    epoch, generation = last
    uploaded_epoch, offset = read_uploaded(image.key_values.get(uploaded_key(log_id))) or (-1, -1)
    known = offset if uploaded_epoch == epoch else NO_OFFSET
    return LogRecord(log_id, log_id, epoch, generation, LogMedium.UNKNOWN, (), known)


def _ended_log(request: EndLog, image: MetadataImage) -> LogRecord:
    of_keys = _log_of_keys(request.log_id, image)
    if of_keys is not None and of_keys.epoch == request.node_epoch:
        return of_keys
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
