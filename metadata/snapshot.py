"""Converts an image to the records of a snapshot, and back. Pure.

The records of a snapshot are replayed on an empty image by the same code as those of the log, with
every assertion active. Their order makes that possible: destroyed objects come before the streams,
so that no stream refers to them; committed ones come after, so that each finds its streams at their
final offsets. Everything is sorted: equal images give the same bytes (`canonical_bytes`).
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

from headrace.metadata.image import MetadataImage
from headrace.metadata.images.brokers import BrokerImage, BrokerState
from headrace.metadata.images.logs import LogImage, LogState, log_record
from headrace.metadata.images.objects import ObjectImage, ObjectState, ObjectType
from headrace.metadata.images.streams import NO_EPOCH, StreamImage
from headrace.metadata.records.brokers import (
    BrokerEndpoint,
    FenceBrokerRecord,
    FenceReason,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
)
from headrace.metadata.records.cluster import (
    ClusterIdRecord,
    FeatureRecord,
    LeaderChangeRecord,
    NextIdsRecord,
    ProducerIdsRecord,
)
from headrace.metadata.records.codec import encode_records
from headrace.metadata.records.logs import (
    BrokerReachRecord,
    LogAssignedRecord,
    LogDrainedRecord,
    LogEmptiedRecord,
    LogLostRecord,
    LogRefusedRecord,
)
from headrace.metadata.records.members import MembersRecord
from headrace.metadata.records.objects import (
    ObjectsDestroyedRecord,
    ObjectsPreparedRecord,
    StreamObjectRecord,
    StreamSetObjectRecord,
)
from headrace.metadata.records.record import MetadataRecord
from headrace.metadata.records.streams import RangeRecord, StreamRecord, StreamStateRecord
from headrace.metadata.records.topics import (
    ConfigRecord,
    PartitionMoveRecord,
    PartitionRecord,
    TopicRecord,
)
from headrace.metadata.replay import replay

NO_BROKER = -1

_FENCE_REASONS = {
    BrokerState.EXPIRED: FenceReason.SESSION_EXPIRED,
    BrokerState.SHUT_DOWN: FenceReason.SHUT_DOWN,
}


def image_to_records(image: MetadataImage) -> Iterator[MetadataRecord]:
    """Yield the records that turn an empty image into this one."""
    if image.cluster_id:
        yield ClusterIdRecord(image.cluster_id)
    yield LeaderChangeRecord(image.term, image.leader_id, 0)
    if image.members:
        yield MembersRecord(image.members)
    for name, level in sorted(image.features.items()):
        yield FeatureRecord(name, level)
    yield ProducerIdsRecord(NO_BROKER, NO_BROKER, image.next_producer_id)
    for _, broker in sorted(image.brokers.items()):
        yield from _broker_records(broker)
    for _, log in sorted(image.logs.items()):
        yield from _log_records(log)
    yield from _topic_records(image)
    yield from _move_records(image)
    for (resource_type, resource_name), overrides in sorted(image.configs.items()):
        for key, text in sorted(overrides.items()):
            yield ConfigRecord(resource_type, resource_name, key, text)
    objects = sorted(image.objects.by_id.values(), key=lambda it: it.object_id)
    yield from _prepared_records(objects)
    yield from _destroyed_records(objects)
    for _, stream in sorted(image.streams.items()):
        yield from _stream_records(stream)
    for found in objects:
        if found.state == ObjectState.COMMITTED:
            yield _commit_record(found)
    yield NextIdsRecord(image.next_stream_id, image.objects.next_object_id)


def records_to_image(records: Iterable[MetadataRecord], *, index: int, term: int) -> MetadataImage:
    """Return the image of a snapshot's records."""
    return replay(MetadataImage(), records, index=index, term=term)


def canonical_bytes(image: MetadataImage) -> bytes:
    """The canonical encoding: equal for equal images, however they were made."""
    return encode_records(tuple(image_to_records(image)))


def _broker_records(broker: BrokerImage) -> Iterator[MetadataRecord]:
    yield RegisterBrokerRecord(
        broker.node_id,
        broker.epoch,
        broker.incarnation_id,
        tuple(BrokerEndpoint(it.name, it.host, it.port) for it in broker.endpoints),
        broker.rack,
        broker.registered_ms,
        broker.replaced_incarnation_id,
        broker.session_timeout_ms,
        broker.locks,
    )
    if broker.state == BrokerState.ACTIVE:
        yield UnfenceBrokerRecord(broker.node_id, broker.epoch)
    elif broker.epoch_ended:
        reason = _FENCE_REASONS[broker.state]
        yield FenceBrokerRecord(broker.node_id, broker.epoch, reason, broker.ended_ms)
    if broker.reach:
        yield BrokerReachRecord(broker.node_id, broker.epoch, broker.reach)


def _log_records(log: LogImage) -> Iterator[MetadataRecord]:
    yield log_record(log)
    if log.damage_accepted:
        yield LogLostRecord(log.log_id, damaged_only=True)
    for it in log.refusals:
        yield LogRefusedRecord(log.log_id, it.node_id, it.node_epoch, it.reason, it.refused_ms)
    if log.drain is not None:
        drain = log.drain
        yield LogAssignedRecord(
            log.log_id, drain.epoch, drain.node_id, drain.node_epoch, log.assigned_ms
        )
    elif log.state in (LogState.EMPTY, LogState.DRAINED):
        yield LogEmptiedRecord(log.log_id)
    if log.state == LogState.DRAINED:
        yield LogDrainedRecord(log.log_id, log.position)
    elif log.state == LogState.LOST:
        yield LogLostRecord(log.log_id, damaged_only=False)


def _topic_records(image: MetadataImage) -> Iterator[MetadataRecord]:
    for topic in sorted(image.topics.values(), key=lambda it: it.name):
        yield TopicRecord(topic.topic_id, topic.name, topic.replication_factor)
        for partition in topic.partitions:
            yield PartitionRecord(
                topic.topic_id,
                partition.partition,
                partition.leader,
                partition.leader_epoch,
                partition.data_stream_id,
                partition.meta_stream_id,
            )


def _move_records(image: MetadataImage) -> Iterator[MetadataRecord]:
    for _, move in sorted(image.moves.items()):
        yield PartitionMoveRecord(move.topic_id, move.partition, move.epoch, move.target)


def _prepared_records(objects: Iterable[ObjectImage]) -> Iterator[MetadataRecord]:
    """Reserve all ids, run by run: a run has consecutive ids with the same node and times."""
    ordinal = enumerate(objects)
    for (_, node_id, prepared_ms, expires_ms), run in groupby(
        ordinal,
        key=lambda it: (
            it[1].object_id - it[0],
            it[1].node_id,
            it[1].prepared_ms,
            it[1].expires_ms,
        ),
    ):
        members = [it for _, it in run]
        yield ObjectsPreparedRecord(
            members[0].object_id, len(members), node_id, prepared_ms, expires_ms
        )


def _destroyed_records(objects: Iterable[ObjectImage]) -> Iterator[MetadataRecord]:
    for found in objects:
        if found.state == ObjectState.MARK_DESTROYED:
            if found.kind != ObjectType.UNKNOWN:
                yield _commit_record(found)
            yield ObjectsDestroyedRecord((found.object_id,), found.destroyed_ms)


def _commit_record(found: ObjectImage) -> MetadataRecord:
    if found.kind == ObjectType.STREAM:
        return StreamObjectRecord(
            found.object_id, found.node_id, found.size_bytes, found.committed_ms, found.ranges[0]
        )
    return StreamSetObjectRecord(
        found.object_id,
        found.node_id,
        found.order_id,
        found.size_bytes,
        found.committed_ms,
        found.ranges,
    )


def _stream_records(stream: StreamImage) -> Iterator[MetadataRecord]:
    yield StreamRecord(
        stream.stream_id,
        stream.topic_id,
        stream.partition,
        stream.epoch,
        stream.start_offset,
        stream.end_offset,
    )
    for piece in stream.ranges:
        yield RangeRecord(
            stream.stream_id, piece.range_index, piece.epoch, piece.node_id, piece.start_offset
        )
    if stream.epoch != NO_EPOCH:
        yield StreamStateRecord(stream.stream_id, stream.epoch, stream.state, stream.node_id)
