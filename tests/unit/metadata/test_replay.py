import msgspec
import pytest

from headrace.metadata.image import MetadataImage
from headrace.metadata.records.cluster import (
    ClusterIdRecord,
    FeatureRecord,
    LeaderChangeRecord,
    NextIdsRecord,
    ProducerIdsRecord,
)
from headrace.metadata.records.codec import KINDS, decode_records
from headrace.metadata.records.streams import StreamRecord
from headrace.metadata.replay import _REPLAY, replay
from tests.unit.metadata.pure_controller import stream_range


def replayed(*records, image=None):
    base = image or MetadataImage()
    return replay(base, records, index=base.index + 1, term=1)


def test_every_record_is_replayed():
    assert set(_REPLAY) == set(KINDS)


def test_cluster_records():
    image = replayed(
        ClusterIdRecord("c"),
        LeaderChangeRecord(1, 7, 0),
        FeatureRecord("f", 3),
        FeatureRecord("g", 1),
        ProducerIdsRecord(1, 1, 1_000),
        NextIdsRecord(5, 6),
    )
    image = replayed(FeatureRecord("g", 0), image=image)

    assert (image.cluster_id, image.leader_id, image.index, image.term) == ("c", 7, 2, 1)
    assert dict(image.features) == {"f": 3}
    assert image.next_producer_id == 1_000
    assert (image.next_stream_id, image.objects.next_object_id) == (5, 6)


@pytest.mark.parametrize(
    "record",
    [
        LeaderChangeRecord(0, 1, 0),
        ProducerIdsRecord(1, 1, 999),
        NextIdsRecord(4, 9),
        NextIdsRecord(9, 4),
    ],
)
def test_records_that_do_not_fit(record):
    image = replayed(
        ClusterIdRecord("c"),
        LeaderChangeRecord(1, 7, 0),
        ProducerIdsRecord(1, 1, 1_000),
        NextIdsRecord(5, 5),
    )

    with pytest.raises(AssertionError):
        replayed(record, image=image)


def test_the_first_name_of_a_cluster_counts():
    image = replayed(ClusterIdRecord("c"))

    assert replayed(ClusterIdRecord("d"), image=image).cluster_id == "c"


def test_stream_ids_are_never_reused(controller):
    (stream_id,) = controller.topic_with_streams("a")
    stream = controller.stream(stream_id)
    controller.delete("a")

    with pytest.raises(AssertionError):
        replayed(StreamRecord(stream_id, stream.topic_id, 0, -1, 0, 0), image=controller.image)


def test_index_and_term_only_grow():
    image = replayed(ClusterIdRecord("c"))

    with pytest.raises(AssertionError):
        replay(image, (), index=1, term=1)
    with pytest.raises(AssertionError):
        replay(image, (), index=2, term=0)


def test_an_image_is_not_changed_by_what_follows(controller):
    stream_id = controller.opened_stream()
    before = controller.image
    held = msgspec.structs.asdict(before)

    controller.upload(stream_range(stream_id, 0, 10))
    controller.delete("topic")

    assert msgspec.structs.asdict(before) == held
    assert before.streams[stream_id].end_offset == 0


def test_what_an_entry_does_not_touch_stays_the_same_object(controller):
    stream_id = controller.opened_stream()
    before = controller.image

    controller.upload(stream_range(stream_id, 0, 10))

    after = controller.image
    assert after.streams is not before.streams
    for name in ("topics", "topic_ids", "brokers", "configs", "features"):
        assert getattr(after, name) is getattr(before, name)
    before = controller.image
    controller.create("other")
    assert controller.image.objects is before.objects
    assert controller.image.brokers is before.brokers


def test_replaying_the_log_gives_the_image_that_the_leader_has(controller):
    a, b = controller.opened_stream("a"), controller.opened_stream("b")
    controller.upload(stream_range(a, 0, 10), stream_range(b, 0, 3))
    controller.upload(stream_objects=[stream_range(a, 10, 20)])
    controller.delete("b")

    image = MetadataImage()
    for entry in controller.entries:
        records = decode_records(entry.payload)
        image = replay(image, records, index=entry.index, term=entry.term)

    assert image == controller.image
