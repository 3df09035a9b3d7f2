"""Decides in whose name a request acts: of the sender's own log, or of one that it drains. Pure.

A commit or close names a log and an epoch. The owner of the log acts at the epoch of its newest
registration; a broker that drains it, at the epoch of its drain, and as the owner: the rules for the
writer of a stream then hold as they do for the owner itself. Each right ends in the entry that gives
the next one, and the drainer that gets it has read that entry.
"""

from headrace.metadata.controller.brokers import require_broker
from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.images.logs import Drain, LogImage, LogState
from headrace.metadata.rpc.requests import (
    NO_LOG,
    CloseStreamBatch,
    CommitStreamSetObject,
)
from headrace.protocol.errors import ErrorCode


def acting_writer(request: CommitStreamSetObject | CloseStreamBatch, image: MetadataImage) -> int:
    """Return the node in whose name the sender acts: itself, or the owner of a log that it drains.

    Raises:
        RefusedError: the sender's epoch has ended; FENCED_LEADER_EPOCH: only its right to act for the log has.
    """
    require_broker(image, request.node_id, request.node_epoch)
    if request.log_id == NO_LOG:
        return request.node_id
    log = image.logs.get(request.log_id)
    if log is None or log.owner == request.node_id:
        owns = log is not None or request.log_id == request.node_id
        if owns and request.log_epoch == request.node_epoch:
            return request.node_id
        raise _ended(request.log_id, request.log_epoch)
    require_drain(log, Drain(request.log_epoch, request.node_id, request.node_epoch))
    return log.owner


def require_drain(log: LogImage, drain: Drain) -> None:
    """Return only if this is the drain of the log that is under way.

    Raises:
        RefusedError: FENCED_LEADER_EPOCH: it has ended, or was never assigned.
    """
    if log.state != LogState.DRAINING or log.drain != drain:
        raise _ended(log.log_id, drain.epoch)


def _ended(log_id: int, epoch: int) -> RefusedError:
    return RefusedError(
        ErrorCode.FENCED_LEADER_EPOCH,
        f"no broker acts for log {log_id} at epoch {epoch} any more: its owner has registered, or "
        "another broker drains it",
    )
