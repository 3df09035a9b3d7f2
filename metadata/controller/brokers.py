"""Decisions about brokers: who is registered, at which epoch, and who is fenced. Pure.

A registration is a new epoch, numbered by the index of the entry that holds it. While an earlier
process of the broker may still act, another one is refused: its epoch lasts until its session ends or
it leaves. A newcomer that holds a lock which the earlier process registered with need not wait, since
the kernel gives such a lock to no other before that process has ended. It sends the lock's name, of which
the metadata have a digest (`headrace.metadata.proof`). For the same reason an epoch ends
as soon as another broker finds such a lock free. In the registration's entry
every partition that the broker leads gets its next leader epoch, a drain of its log by another
broker ends, and so does its own being drained by an operator. Streams that the previous process left
open stay open by this node at their old epoch: the
new process finds them, commits what its WAL still holds under the old stream epoch, and only then
opens them at the new one. A process that comes back with the old node epoch gets every request refused.
"""

from headrace.config.dynamic_keys import DRAIN_KEY
from headrace.metadata.controller.decision import Decision, Inputs
from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.images.brokers import BrokerImage, BrokerState
from headrace.metadata.images.configs import BROKER_RESOURCE
from headrace.metadata.images.draining import is_drained
from headrace.metadata.images.logs import LogState, log_of
from headrace.metadata.levels import cannot_read, level_of
from headrace.metadata.proof import is_lock_known, shown_locks
from headrace.metadata.records.brokers import (
    FenceBrokerRecord,
    FenceReason,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)
from headrace.metadata.records.logs import LogReleasedRecord, RemoveLogRecord
from headrace.metadata.records.record import MetadataRecord
from headrace.metadata.records.topics import ConfigRecord, PartitionChangeRecord
from headrace.metadata.rpc.requests import RegisterBroker, ReportEnd, UnregisterBroker
from headrace.metadata.rpc.responses import BrokerRegistered, Done, HeartbeatAnswer
from headrace.protocol.errors import ErrorCode

MAX_ENDPOINTS = 64
MAX_LOCKS = 8
MAX_SESSION_TIMEOUT_MS = 3_600_000  # a broker that died is not fenced for so long


def require_broker(image: MetadataImage, node_id: int, node_epoch: int) -> BrokerImage:
    """Return the sender of a request.

    Raises:
        RefusedError: it is not registered, has a newer epoch, or its epoch has ended.
    """
    broker = image.brokers.get(node_id)
    if broker is None:
        raise RefusedError(
            ErrorCode.BROKER_ID_NOT_REGISTERED, f"broker {node_id} is not registered"
        )
    if broker.epoch != node_epoch or broker.epoch_ended:
        raise RefusedError(
            ErrorCode.STALE_BROKER_EPOCH,
            f"epoch {node_epoch} of broker {node_id} has ended: the broker is {broker.state.name} at epoch "
            f"{broker.epoch}",
        )
    return broker


def register_broker(request: RegisterBroker, image: MetadataImage, inputs: Inputs) -> Decision:
    """Start a new epoch. A repeated request of the same process gets the epoch that it has."""
    if request.cluster_id and request.cluster_id != image.cluster_id:
        raise RefusedError(
            ErrorCode.INCONSISTENT_CLUSTER_ID,
            f"broker {request.node_id} belongs to cluster {request.cluster_id}, this is "
            f"{image.cluster_id}",
        )
    names = [endpoint.name for endpoint in request.endpoints]
    if not 1 <= len(names) <= MAX_ENDPOINTS or len(set(names)) != len(names):
        raise RefusedError(
            ErrorCode.INVALID_REGISTRATION,
            f"a broker has 1 to {MAX_ENDPOINTS} endpoints with different names, got {names}",
        )
    if request.session_timeout_ms > MAX_SESSION_TIMEOUT_MS:
        raise RefusedError(
            ErrorCode.INVALID_REGISTRATION,
            f"a session timeout of {request.session_timeout_ms} ms is above the limit of "
            f"{MAX_SESSION_TIMEOUT_MS} ms",
        )
    level = level_of(image.features)
    if level not in request.reads:
        raise RefusedError(ErrorCode.UNSUPPORTED_VERSION, cannot_read(request.reads, level))
    if max(len(request.locks), len(request.lock_names)) > MAX_LOCKS:
        raise RefusedError(
            ErrorCode.INVALID_REGISTRATION, f"a broker names at most {MAX_LOCKS} locks"
        )
    known = image.brokers.get(request.node_id)
    if known is not None:
        mine = known.incarnation_id == request.incarnation_id
        if (mine and known.epoch_ended) or (
            known.replaced_incarnation_id == request.incarnation_id
        ):
            raise RefusedError(
                ErrorCode.STALE_BROKER_EPOCH,
                f"another process registered as broker {request.node_id} after this one: its epoch has ended",
            )
        if mine:
            return Decision((), BrokerRegistered(known.epoch, image.cluster_id))
        if not known.epoch_ended and not set(known.locks) & shown_locks(request):
            raise RefusedError(
                ErrorCode.DUPLICATE_BROKER_REGISTRATION,
                f"another process is registered as broker {request.node_id} since epoch {known.epoch}, at "
                f"{_places(known)}, and its session has not ended",
            )
    epoch = image.index + 1
    registration = RegisterBrokerRecord(
        request.node_id,
        epoch,
        request.incarnation_id,
        request.endpoints,
        request.rack,
        inputs.now_ms,
        None if known is None else known.incarnation_id,
        request.session_timeout_ms,
        request.locks,
    )
    return Decision(
        (
            registration,
            *_ended_drain(image, request.node_id),
            *_next_leader_epochs(image, request.node_id),
            *_undrained(image, request.node_id),
        ),
        BrokerRegistered(epoch, image.cluster_id),
    )


def unfence_broker(node_id: int, node_epoch: int, image: MetadataImage) -> Decision:
    """Make a broker active that reports that it is ready."""
    broker = require_broker(image, node_id, node_epoch)
    if broker.state == BrokerState.ACTIVE:
        return Decision((), HeartbeatAnswer(fenced=False))
    return Decision((UnfenceBrokerRecord(node_id, node_epoch),), HeartbeatAnswer(fenced=False))


def fence_broker(
    node_id: int, node_epoch: int, reason: FenceReason, image: MetadataImage, inputs: Inputs
) -> Decision:
    """End an epoch, unless it has ended already."""
    broker = image.brokers.get(node_id)
    if broker is None or broker.epoch != node_epoch or broker.epoch_ended:
        return Decision((), HeartbeatAnswer(fenced=True))
    fence = FenceBrokerRecord(node_id, node_epoch, reason, inputs.now_ms)
    return Decision((fence,), HeartbeatAnswer(fenced=True))


def report_end(request: ReportEnd, image: MetadataImage, inputs: Inputs) -> Decision:
    """End the epoch of a broker whose process has ended, as its lock shows; no change if it has ended already.

    Who shuts down in order empties its log before it releases the lock, and then says that it leaves.
    """
    require_broker(image, request.node_id, request.node_epoch)
    broker, log = image.brokers.get(request.ended_id), log_of(image.logs, request.ended_id)
    if broker is None or broker.epoch != request.ended_epoch:
        return Decision((), Done())
    if log is None or log.epoch != broker.epoch or log.state != LogState.ACTIVE:
        return Decision((), Done())
    if not is_lock_known(request, broker.locks):
        raise RefusedError(
            ErrorCode.INVALID_REQUEST,
            f"broker {broker.node_id} at epoch {broker.epoch} did not register with the lock {request.lock}, "
            "or the report does not show its name",
        )
    fenced = fence_broker(broker.node_id, broker.epoch, FenceReason.SESSION_EXPIRED, image, inputs)
    return Decision(fenced.records, Done())


def unregister_broker(request: UnregisterBroker, image: MetadataImage, inputs: Inputs) -> Decision:
    """Remove a broker that owns nothing any more."""
    del inputs
    broker = image.brokers.get(request.node_id)
    if broker is None:
        raise RefusedError(
            ErrorCode.BROKER_ID_NOT_REGISTERED, f"broker {request.node_id} is not registered"
        )
    if not broker.epoch_ended:
        raise RefusedError(
            ErrorCode.INVALID_REQUEST,
            f"broker {request.node_id} is {broker.state.name}: shut it down first",
        )
    opened = any(it.opened and it.node_id == request.node_id for it in image.streams.values())
    log = log_of(image.logs, request.node_id)
    if opened and log is not None and not log.settled:
        raise RefusedError(
            ErrorCode.INVALID_REQUEST,
            f"log {log.log_id} of broker {log.owner} is not drained, and may hold records that are nowhere else: "
            f"start the broker again, or accept the loss of the log's generation {log.generation} "
            f"(headrace cluster accept-loss {log.log_id} --generation {log.generation})",
        )
    leads = any(
        partition.leader == request.node_id
        for topic in image.topics.values()
        for partition in topic.partitions
    )
    if leads or opened:
        raise RefusedError(
            ErrorCode.INVALID_REQUEST,
            f"broker {request.node_id} still leads partitions, and no other broker takes them over yet: "
            "start it again, or delete their topics first",
        )
    removed = UnregisterBrokerRecord(broker.node_id, broker.epoch)
    forgotten = () if log is None else (RemoveLogRecord(log.log_id),)
    return Decision((removed, *forgotten, *_undrained(image, request.node_id)), Done())


def _places(broker: BrokerImage) -> str:
    return ", ".join(f"{it.host}:{it.port}" for it in broker.endpoints)


def _ended_drain(image: MetadataImage, node_id: int) -> list[MetadataRecord]:
    """End the drain of a log whose owner is back: it recovers what is not committed yet."""
    log = log_of(image.logs, node_id)
    if log is None or log.state != LogState.DRAINING or log.drain is None:
        return []
    return [LogReleasedRecord(log.log_id, log.drain.epoch)]


def _undrained(image: MetadataImage, node_id: int) -> list[MetadataRecord]:
    """Drain a broker no longer: its process has started again, as after the work for which it was drained."""
    if not is_drained(image.configs, node_id):
        return []
    return [ConfigRecord(BROKER_RESOURCE, str(node_id), DRAIN_KEY, None)]


def _next_leader_epochs(image: MetadataImage, node_id: int) -> list[MetadataRecord]:
    return [
        PartitionChangeRecord(
            topic.topic_id, partition.partition, node_id, partition.leader_epoch + 1
        )
        for topic in sorted(image.topics.values(), key=lambda it: it.name)
        for partition in topic.partitions
        if partition.leader == node_id
    ]
