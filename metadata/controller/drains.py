"""Decisions about drains: who brings to the bucket what a broker has left in its log. Pure.

When the epoch of a log's owner has ended, the log is assigned to an active broker that can open it.
The index of that entry is the drain's epoch; commits in the log's name carry it. The drain ends

  * with the entry that records up to where the log was read. The same entry closes the log's streams
    and gives its owner's partitions to active brokers;
  * with the next registration of the owner: it recovers what is left;
  * with the drainer: when its epoch ends, or it says that it cannot read the log, another one is assigned.

While no broker has reported that it can drain logs, nothing is assigned.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from headrace.metadata.controller.acting import require_drain
from headrace.metadata.controller.brokers import require_broker
from headrace.metadata.controller.decision import Decision, DecisionSteps, Inputs
from headrace.metadata.controller.handover import hand_over
from headrace.metadata.errors import RefusedError
from headrace.metadata.image import BrokerImage, MetadataImage
from headrace.metadata.images.brokers import Brokers, active_brokers, has_ended
from headrace.metadata.images.logs import (
    NO_POSITION,
    Drain,
    LogImage,
    LogState,
    about_to_end,
    is_reached,
)
from headrace.metadata.records.logs import (
    LogAssignedRecord,
    LogDrainedRecord,
    LogRefusedRecord,
    LogReleasedRecord,
)
from headrace.metadata.records.record import MetadataRecord
from headrace.metadata.rpc.requests import FinishDrain, RefuseDrain
from headrace.metadata.rpc.responses import Done
from headrace.protocol.errors import ErrorCode

MAX_DRAINS_PER_BROKER: Final = 2  # each may keep 200 MiB in memory
REFUSED_MS: Final = 15_000  # a broker that could not read a log is asked again after this time


def due_logs(image: MetadataImage, now_ms: int) -> list[int]:
    """Logs for which `settle_log` has something to record, by id."""
    return [
        log_id
        for log_id, log in sorted(image.logs.items())
        if _waits(log, image.brokers) and _has_step(log, image, now_ms)
    ]


def settle_log(log_id: int, image: MetadataImage, inputs: Inputs) -> Decision | DecisionSteps:
    """Assign a log that waits to a broker, or take it back from one that has ended."""
    log = image.logs.get(log_id)
    if log is None or not _waits(log, image.brokers) or not _has_step(log, image, inputs.now_ms):
        return Decision((), Done())
    if log.state == LogState.EMPTY:
        return _drained(log, NO_POSITION, image, inputs)
    return Decision((_next(log, image, inputs.now_ms),), Done())


def finish_drain(
    request: FinishDrain, image: MetadataImage, inputs: Inputs
) -> Decision | DecisionSteps:
    """Record the end of a drain, and hand the owner's partitions over. A repeated request changes nothing."""
    require_broker(image, request.node_id, request.node_epoch)
    log = _existing(request.log_id, image)
    drain = Drain(request.drain_epoch, request.node_id, request.node_epoch)
    if log.state == LogState.DRAINED and log.drain == drain:
        return Decision((), Done())
    require_drain(log, drain)
    _require_committed(request.ends, image)
    return _drained(log, request.position, image, inputs)


def refuse_drain(request: RefuseDrain, image: MetadataImage, inputs: Inputs) -> Decision:
    """Record that a broker cannot read a log, and assign it to another one; no change if it has that already."""
    require_broker(image, request.node_id, request.node_epoch)
    log = _existing(request.log_id, image)
    drain = Drain(request.drain_epoch, request.node_id, request.node_epoch)
    if log.state != LogState.DRAINING or log.drain != drain:
        return Decision((), Done())
    refusal = LogRefusedRecord(
        log.log_id, request.node_id, request.node_epoch, request.reason, inputs.now_ms
    )
    then = _next(log, image, inputs.now_ms, refusing=request.node_id)
    return Decision((refusal, then), Done())


def is_drain_over(old: MetadataImage, new: MetadataImage) -> bool:
    """Whether a drain has ended from one image to the next: its broker can take another log."""
    return old.logs is not new.logs and any(
        it.state == LogState.DRAINING and new.logs.get(log_id) is not it
        for log_id, it in old.logs.items()
    )


def _waits(log: LogImage, brokers: Brokers) -> bool:
    """Whether no broker acts for the log, and one should."""
    if not has_ended(brokers, log.owner):
        return False
    if log.state == LogState.DRAINING:
        return log.drain is None or has_ended(brokers, log.drain.node_id, log.drain.node_epoch)
    return log.state in (LogState.ACTIVE, LogState.EMPTY)


def _has_step(log: LogImage, image: MetadataImage, now_ms: int) -> bool:
    if log.state == LogState.EMPTY:
        return any(image.brokers[it].reach for it in active_brokers(image.brokers))
    return log.state == LogState.DRAINING or _drainer(log, image, now_ms) is not None


def _next(
    log: LogImage, image: MetadataImage, now_ms: int, *, refusing: int | None = None
) -> MetadataRecord:
    """Assign the log to the next broker; without one, take it back."""
    drainer = _drainer(log, image, now_ms, refusing=refusing)
    if drainer is not None:
        epoch = image.index + 1
        return LogAssignedRecord(log.log_id, epoch, drainer.node_id, drainer.epoch, now_ms)
    assert log.drain is not None
    return LogReleasedRecord(log.log_id, log.drain.epoch)


def _drainer(
    log: LogImage, image: MetadataImage, now_ms: int, *, refusing: int | None = None
) -> BrokerImage | None:
    """Choose the broker to drain a log: the one with the fewest drains, who has not refused it lately."""
    refused = {(it.node_id, it.node_epoch): it.refused_ms for it in log.refusals}
    drains = Counter(
        it.drain.node_id
        for it in image.logs.values()
        if it.state == LogState.DRAINING and it.drain is not None and it.log_id != log.log_id
    )
    # Not those that are about to end: they would hand it back.
    ending = about_to_end(image.brokers, image.logs)
    ranked = [
        (drains[it.node_id], refused.get((it.node_id, it.epoch), 0), it.node_id)
        for it in image.brokers.values()
        if not it.fenced
        and it.node_id not in ending
        and it.node_id != refusing
        and drains[it.node_id] < MAX_DRAINS_PER_BROKER
        and not 0 <= now_ms - refused.get((it.node_id, it.epoch), -REFUSED_MS) < REFUSED_MS
        and is_reached(log, it.reach)
    ]
    return image.brokers[min(ranked)[-1]] if ranked else None


def _drained(log: LogImage, position: int, image: MetadataImage, inputs: Inputs) -> DecisionSteps:
    moved = yield from hand_over(log, image, inputs)
    return Decision((LogDrainedRecord(log.log_id, position), *moved), Done())


def _require_committed(ends: Iterable[tuple[int, int]], image: MetadataImage) -> None:
    for stream_id, end_offset in ends:
        stream = image.streams.get(stream_id)
        if stream is not None and stream.end_offset < end_offset:
            raise RefusedError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"the log holds stream {stream_id} up to offset {end_offset}, but only "
                f"{stream.end_offset} is committed",
            )


def _existing(log_id: int, image: MetadataImage) -> LogImage:
    log = image.logs.get(log_id)
    if log is None:
        raise RefusedError(ErrorCode.RESOURCE_NOT_FOUND, f"there is no log {log_id}")
    return log
