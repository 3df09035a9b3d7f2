from uuid import UUID

import pytest

from headrace.metadata.images.topics import TopicsDelta
from headrace.metadata.records.topics import (
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from headrace.persistent_map import PersistentMap

A, B = UUID(int=0xA), UUID(int=0xB)


def empty():
    return TopicsDelta(PersistentMap(), PersistentMap(), PersistentMap())


@pytest.fixture
def delta():
    delta = empty()
    delta.add_topic(TopicRecord(A, "a.a"))
    delta.add_partition(PartitionRecord(A, 0, 1, 0, 10, 11))
    return delta


def test_a_topic_grows_and_goes(delta):
    delta.add_partition(PartitionRecord(A, 1, 1, 0, 12, 13))
    delta.change_partition(PartitionChangeRecord(A, 1, 2, 1))
    topics, ids, colliding = delta.finish()
    assert dict(ids) == {"a.a": A}
    assert dict(colliding) == {"a_a": "a.a"}
    assert [(it.partition, it.leader, it.leader_epoch) for it in topics[A].partitions] == [
        (0, 1, 0),
        (1, 2, 1),
    ]
    assert topics[A].partitions[1].data_stream_id == 12

    later = TopicsDelta(topics, ids, colliding)
    assert later.remove(RemoveTopicRecord(A)) == "a.a"
    assert later.finish() == (PersistentMap(), PersistentMap(), PersistentMap())


def test_the_replication_factor_stays_while_a_topic_grows(delta):
    delta.add_topic(TopicRecord(B, "b", 3))
    topics, ids, colliding = delta.finish()
    later = TopicsDelta(topics, ids, colliding)
    later.add_partition(PartitionRecord(B, 0, 1, 0, 20, 21))
    topics, _, _ = later.finish()
    assert (topics[A].replication_factor, topics[B].replication_factor) == (1, 3)
    assert len(topics[B].partitions) == 1


def test_a_topic_created_and_removed_in_one_batch_leaves_nothing(delta):
    delta.remove(RemoveTopicRecord(A))

    assert not any(delta.finish())


@pytest.mark.parametrize(
    "replay",
    [
        lambda delta: delta.add_topic(TopicRecord(A, "other")),
        lambda delta: delta.add_topic(TopicRecord(B, "a.a")),
        lambda delta: delta.add_topic(TopicRecord(B, "a_a")),
        lambda delta: delta.add_partition(PartitionRecord(A, 0, 1, 0, 1, 2)),
        lambda delta: delta.add_partition(PartitionRecord(A, 2, 1, 0, 1, 2)),
        lambda delta: delta.change_partition(PartitionChangeRecord(A, 0, 1, 0)),
        lambda delta: delta.remove(RemoveTopicRecord(B)),
    ],
)
def test_records_that_do_not_fit(delta, replay):
    with pytest.raises(AssertionError):
        replay(delta)


def test_untouched_maps_stay_the_same_objects(delta):
    maps = delta.finish()

    for old, new in zip(maps, TopicsDelta(*maps).finish(), strict=True):
        assert old is new
