import pytest

from headrace.metadata.image import MetadataImage
from headrace.metadata.images.logs import LogState
from headrace.metadata.records.brokers import FenceReason
from headrace.metadata.records.cluster import FeatureRecord
from headrace.metadata.records.codec import decode_records
from headrace.metadata.replay import replay
from headrace.metadata.rpc.requests import (
    AcceptLogLoss,
    AllocateProducerIds,
    AlterConfigs,
    ConfigChange,
    EndLog,
    RefuseDrain,
)
from headrace.metadata.snapshot import canonical_bytes, image_to_records, records_to_image
from tests.unit.metadata.pure_controller import EVERY_FILE, PureController, stream_range


def reloaded(image):
    return records_to_image(image_to_records(image), index=image.index, term=image.term)


@pytest.fixture
def busy():
    """A controller with something of everything."""
    controller = PureController(level=2)
    for node_id in (1, 2, 3, 4):
        controller.register(node_id)
    controller.fence(2)
    controller.fence(3, FenceReason.SHUT_DOWN)
    controller.register(4, serve=False)
    controller.create("a.b", 3, configs=[("retention.ms", "1")])
    a, b = controller.opened_stream("a"), controller.opened_stream("b")
    gone = controller.opened_stream("gone")
    first = controller.upload(
        stream_range(a, 0, 10), stream_range(b, 0, 10), stream_range(gone, 0, 10)
    )
    second = controller.upload(stream_range(a, 10, 20), stream_objects=[stream_range(b, 10, 20)])
    controller.delete("gone")
    controller.trim(a, 15)
    controller.upload(stream_range(b, 0, 10), compacted=[first.object_id])
    controller.upload(stream_range(a, 20, 30))
    controller.upload(stream_range(a, 10, 20), compacted=[second.object_id])
    controller.close(b, 20)
    controller.prepare(3, ttl_ms=10)
    controller.now_ms += 10
    controller.expire()
    controller.prepare(2)
    controller.register(1)
    controller.open(a, 1)
    controller.do(AllocateProducerIds(*controller.sender()))
    controller.do(AlterConfigs(2, "a", (ConfigChange("retention.ms", 0, "7"),), False))
    add_logs(controller)
    return controller


def add_logs(controller):
    """Logs in each state, and one of each step between them."""
    for node_id in range(11, 18):
        controller.register(node_id)
        controller.begin_log(node_id)
    controller.do(EndLog(*controller.sender(12), 12))
    controller.do(EndLog(*controller.sender(13), 13))
    for node_id in range(13, 18):
        controller.fence(node_id)
    controller.register(17)  # its own log is as before
    controller.begin_log(17)
    controller.fence(17)
    controller.settle()
    controller.finish_drain(14)
    drain = controller.log(15).drain
    refusal = RefuseDrain(drain.node_id, drain.node_epoch, 15, drain.epoch, "not there")
    controller.do(refusal)
    for node_id in (11, 12):
        controller.fence(node_id)
    controller.settle()
    controller.do(AcceptLogLoss(16, controller.log(16).generation, damaged_only=True))
    controller.do(AcceptLogLoss(17, controller.log(17).generation, damaged_only=False))
    for node_id in (18, 19, 20):
        controller.register(node_id)
        controller.begin_log(node_id, reach=EVERY_FILE if node_id == 18 else ())
    controller.do(EndLog(*controller.sender(19), 19))
    controller.fence(20)
    controller.settle()


def test_an_image_survives_its_snapshot(busy):
    assert reloaded(busy.image) == busy.image
    assert busy.image.objects.destroyed
    assert busy.image.objects.prepared
    assert {it.state for it in busy.image.logs.values()} == set(LogState)
    assert any(it.refusals for it in busy.image.logs.values())


def test_every_prefix_of_the_log_has_a_snapshot_to_go_on_from(busy):
    """`load(snapshot k) + replay(k..n) == replay(0..n)`, for every k."""

    def replayed(image, entries):
        for entry in entries:
            image = replay(image, decode_records(entry.payload), index=entry.index, term=entry.term)
        return image

    expected = canonical_bytes(busy.image)
    for k in range(1, len(busy.entries) + 1):
        image = reloaded(replayed(MetadataImage(), busy.entries[:k]))
        assert canonical_bytes(replayed(image, busy.entries[k:])) == expected


def test_ids_that_were_removed_stay_used(busy):
    busy.delete("a", "b", "a.b")
    destroyed = set(busy.image.objects.destroyed)
    busy.forget(*destroyed)
    image = busy.image

    loaded = reloaded(image)

    assert loaded.next_stream_id == image.next_stream_id > 0
    assert loaded.objects.next_object_id == image.objects.next_object_id > 0


def test_equal_images_have_equal_bytes_whatever_the_way_to_them():
    keys = [FeatureRecord(str(it), 1) for it in range(100)]
    empty = MetadataImage()

    one = replay(empty, keys, index=1, term=1)
    other = replay(empty, [FeatureRecord("0", 2), *reversed(keys)], index=1, term=1)

    assert canonical_bytes(one) == canonical_bytes(other)
