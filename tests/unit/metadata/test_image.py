import pytest

from headrace.metadata.image import MetadataImage
from tests.unit.metadata.pure_controller import stream_range


@pytest.fixture
def stream_id(controller):
    """Objects at [0, 10), [10, 20), [20, 30), trimmed to 5."""
    stream_id = controller.opened_stream()
    for start in (0, 10, 20):
        controller.upload(stream_range(stream_id, start, start + 10))
    controller.trim(stream_id, 5)
    return stream_id


@pytest.mark.parametrize(
    ("start", "end", "limit", "starts"),
    [
        (5, 30, 9, [0, 10, 20]),
        (5, 10, 9, [0]),
        (5, 11, 9, [0, 10]),
        (12, 13, 9, [10]),
        (5, 30, 2, [0, 10]),
        (5, 30, 0, []),
        (30, 99, 9, []),
        (4, 30, 9, []),
        (10, 10, 9, []),
    ],
)
def test_objects_of_offsets(controller, stream_id, start, end, limit, starts):
    found = controller.image.object_ranges(stream_id, start, end, limit)

    assert [it.start_offset for it in found] == starts


def test_an_unknown_stream_has_no_objects(controller):
    assert controller.image.object_ranges(99, 0, 10, 5) == ()


def test_look_ups_in_an_empty_image():
    image = MetadataImage()

    assert image.topic("a") is None
    assert not image.topic_config("a")
    assert not image.broker_config("")
