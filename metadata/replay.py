"""Replays records on an image: the only way to change metadata. Pure.

Loading after a restart, following the log on a broker and decisions of the controller all use it.
A record that does not fit is corruption or a bug: an assertion fails, and the process should end.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from headrace.invariants import require
from headrace.metadata.image import MetadataImage
from headrace.metadata.images.brokers import BrokersDelta
from headrace.metadata.images.configs import ConfigsDelta
from headrace.metadata.images.logs import LogsDelta
from headrace.metadata.images.moves import MovesDelta
from headrace.metadata.images.objects import ObjectsDelta
from headrace.metadata.images.streams import StreamsDelta
from headrace.metadata.images.topics import TopicsDelta
from headrace.metadata.levels import METADATA_FEATURE, require_read
from headrace.metadata.records import brokers, cluster, logs, members, objects, streams, topics
from headrace.metadata.records.record import MetadataRecord
from headrace.persistent_map import PersistentMap
from headrace.steps import Steps, completed

STEP_RECORDS: Final = 1_000


def replay(
    image: MetadataImage, records: Iterable[MetadataRecord], *, index: int, term: int
) -> MetadataImage:
    """Apply one whole batch at once; see `replay_steps`."""
    return completed(replay_steps(image, records, index=index, term=term))


def replay_steps(
    image: MetadataImage, records: Iterable[MetadataRecord], *, index: int, term: int
) -> Steps[MetadataImage]:
    """Apply one whole batch, in steps of some milliseconds; return the image at its index.

    The entry that deletes a topic of 50,000 partitions has 100,000 records.

    Args:
        image: what the batch is based on; it does not change.
        records: one entry of the log, or a whole snapshot on top of an empty image.
        index: of that entry; above the image's.
        term: of that entry; not below the image's.
    """
    require(index > image.index, "the log grows")
    require(term >= image.term, "terms only grow")
    delta = _Delta(image)
    for number, record in enumerate(records, start=1):
        _REPLAY[type(record)](delta, record)
        if number % STEP_RECORDS == 0:
            yield
    return delta.finish(index, term)


class _Delta:
    """The changes of a batch, with one delta for each large kind of record."""

    def __init__(self, image: MetadataImage) -> None:
        self._image = image
        self.brokers = BrokersDelta(image.brokers)
        self.topics = TopicsDelta(image.topics, image.topic_ids, image.colliding_names)
        self.configs = ConfigsDelta(image.configs)
        self.streams = StreamsDelta(image.streams)
        self.objects = ObjectsDelta(image.objects, self.streams)
        self.logs = LogsDelta(image.logs)
        self.moves = MovesDelta(image.moves)
        self._cluster_id = image.cluster_id
        self._leader_id = image.leader_id
        self._members = image.members
        self._features: PersistentMap[str, int] = image.features
        self._next_stream_id = image.next_stream_id
        self._next_producer_id = image.next_producer_id

    def name_cluster(self, record: cluster.ClusterIdRecord) -> None:
        # The first name counts: a later one is of a leader that did not know the first.
        self._cluster_id = self._cluster_id or record.cluster_id

    def change_leader(self, record: cluster.LeaderChangeRecord) -> None:
        require(record.term >= self._image.term, "terms only grow")
        self._leader_id = record.leader_id

    def change_members(self, record: members.MembersRecord) -> None:
        self._members = record.members

    def set_feature(self, record: cluster.FeatureRecord) -> None:
        if record.name == METADATA_FEATURE:
            require_read(record.level)  # what follows may be unreadable: say why
        if record.level:
            self._features = self._features.set(record.name, record.level)
        else:
            self._features = self._features.delete(record.name)

    def give_producer_ids(self, record: cluster.ProducerIdsRecord) -> None:
        require(record.next_producer_id >= self._next_producer_id, "producer ids only grow")
        self._next_producer_id = record.next_producer_id

    def raise_next_ids(self, record: cluster.NextIdsRecord) -> None:
        require(record.next_stream_id >= self._next_stream_id, "stream ids are never reused")
        self._next_stream_id = record.next_stream_id
        self.objects.raise_next_id(record.next_object_id)

    def change_partition(self, record: topics.PartitionChangeRecord) -> None:
        self.topics.change_partition(record)
        self.moves.leave(record.topic_id, record.partition)

    def remove_topic(self, record: topics.RemoveTopicRecord) -> None:
        self.moves.leave_topic(record.topic_id)
        self.configs.remove_topic(self.topics.remove(record))

    def create_stream(self, record: streams.StreamRecord) -> None:
        require(record.stream_id >= self._next_stream_id, "stream ids are never reused")
        self._next_stream_id = record.stream_id + 1
        self.streams.create(record)

    def trim_stream(self, record: streams.StreamTrimmedRecord) -> None:
        self.objects.release(self.streams.trim(record))

    def remove_stream(self, record: streams.RemoveStreamRecord) -> None:
        self.objects.release(self.streams.remove(record))

    def finish(self, index: int, term: int) -> MetadataImage:
        by_id, by_name, colliding_names = self.topics.finish()
        return MetadataImage(
            cluster_id=self._cluster_id,
            index=index,
            term=term,
            leader_id=self._leader_id,
            members=self._members,
            brokers=self.brokers.finish(),
            topics=by_id,
            topic_ids=by_name,
            colliding_names=colliding_names,
            configs=self.configs.finish(),
            streams=self.streams.finish(),
            objects=self.objects.finish(),
            logs=self.logs.finish(),
            moves=self.moves.finish(),
            features=self._features,
            next_stream_id=self._next_stream_id,
            next_producer_id=self._next_producer_id,
        )


_Kind = TypeVar("_Kind", bound=MetadataRecord)


def _row(
    kind: type[_Kind], by: Callable[[_Delta, _Kind], None]
) -> tuple[type[MetadataRecord], Callable[[_Delta, Any], None]]:
    """One row of the table below: the kind of a record determines what its function takes."""
    return kind, by


# What each kind of record does; a kind that is not here cannot be replayed.
_REPLAY: Final = dict(
    (
        _row(cluster.ClusterIdRecord, _Delta.name_cluster),
        _row(cluster.LeaderChangeRecord, _Delta.change_leader),
        _row(members.MembersRecord, _Delta.change_members),
        _row(cluster.FeatureRecord, _Delta.set_feature),
        _row(cluster.ProducerIdsRecord, _Delta.give_producer_ids),
        _row(cluster.NextIdsRecord, _Delta.raise_next_ids),
        _row(brokers.RegisterBrokerRecord, lambda delta, record: delta.brokers.register(record)),
        _row(brokers.UnfenceBrokerRecord, lambda delta, record: delta.brokers.unfence(record)),
        _row(brokers.FenceBrokerRecord, lambda delta, record: delta.brokers.fence(record)),
        _row(
            brokers.UnregisterBrokerRecord, lambda delta, record: delta.brokers.unregister(record)
        ),
        _row(topics.TopicRecord, lambda delta, record: delta.topics.add_topic(record)),
        _row(topics.PartitionRecord, lambda delta, record: delta.topics.add_partition(record)),
        _row(topics.PartitionChangeRecord, _Delta.change_partition),
        _row(topics.PartitionMoveRecord, lambda delta, record: delta.moves.begin(record)),
        _row(topics.PartitionMoveEndedRecord, lambda delta, record: delta.moves.end(record)),
        _row(topics.RemoveTopicRecord, _Delta.remove_topic),
        _row(topics.ConfigRecord, lambda delta, record: delta.configs.change(record)),
        _row(streams.StreamRecord, _Delta.create_stream),
        _row(streams.RangeRecord, lambda delta, record: delta.streams.start_range(record)),
        _row(streams.StreamStateRecord, lambda delta, record: delta.streams.change_state(record)),
        _row(streams.StreamTrimmedRecord, _Delta.trim_stream),
        _row(streams.RemoveStreamRecord, _Delta.remove_stream),
        _row(objects.ObjectsPreparedRecord, lambda delta, record: delta.objects.prepare(record)),
        _row(
            objects.StreamSetObjectRecord,
            lambda delta, record: delta.objects.commit_stream_set(record),
        ),
        _row(objects.StreamObjectRecord, lambda delta, record: delta.objects.commit_stream(record)),
        _row(
            objects.ObjectsDestroyedRecord,
            lambda delta, record: delta.objects.mark_destroyed(record),
        ),
        _row(objects.ObjectsRemovedRecord, lambda delta, record: delta.objects.remove(record)),
        _row(logs.LogRecord, lambda delta, record: delta.logs.begin(record)),
        _row(logs.LogUploadedRecord, lambda delta, record: delta.logs.raise_uploaded(record)),
        _row(logs.LogEmptiedRecord, lambda delta, record: delta.logs.empty(record)),
        _row(logs.LogAssignedRecord, lambda delta, record: delta.logs.assign(record)),
        _row(logs.LogReleasedRecord, lambda delta, record: delta.logs.release(record)),
        _row(logs.LogRefusedRecord, lambda delta, record: delta.logs.refuse(record)),
        _row(logs.LogDrainedRecord, lambda delta, record: delta.logs.finish_drain(record)),
        _row(logs.LogLostRecord, lambda delta, record: delta.logs.lose(record)),
        _row(logs.RemoveLogRecord, lambda delta, record: delta.logs.remove(record)),
        _row(logs.BrokerReachRecord, lambda delta, record: delta.brokers.set_reach(record)),
    )
)
