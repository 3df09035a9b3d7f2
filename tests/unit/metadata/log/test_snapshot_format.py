import msgspec
import pytest

from headrace.metadata.errors import MetadataLogCorruptError
from headrace.metadata.image import MetadataImage
from headrace.metadata.log import snapshot_format
from headrace.metadata.log.snapshot_format import decode_snapshot, encode_snapshot
from tests.unit.metadata.pure_controller import PureController, stream_range

GOLDEN_HEADER = bytes.fromhex("48524d53 0001 0000 0000000000000003 0000000000000002")


@pytest.fixture
def image():
    controller = PureController()
    controller.register()
    stream_id = controller.opened_stream()
    controller.upload(stream_range(stream_id, 0, 10))
    return controller.image


def encoded(image):
    return b"".join(encode_snapshot(image))


def test_an_image_is_read_back(image):
    assert decode_snapshot(encoded(image)) == image


def test_golden_header():
    image = MetadataImage(index=3, term=2)

    assert encoded(image).startswith(GOLDEN_HEADER)


def test_large_images_are_encoded_in_small_pieces(image, monkeypatch):
    monkeypatch.setattr(snapshot_format, "MAX_BLOCK_ITEMS", 3)

    pieces = list(encode_snapshot(image))

    assert len(pieces) > 5
    assert decode_snapshot(b"".join(pieces)) == image


def test_a_snapshot_cut_off_anywhere_is_refused(image):
    data = encoded(image)

    for length in range(len(data)):
        with pytest.raises(MetadataLogCorruptError):
            decode_snapshot(data[:length])


def test_a_flipped_bit_anywhere_is_refused(image):
    data = encoded(image)
    reserved = range(28, 32)

    for position in range(len(data)):
        if position not in reserved:
            spoiled = bytearray(data)
            spoiled[position] ^= 0x10
            with pytest.raises(MetadataLogCorruptError):
                decode_snapshot(bytes(spoiled))


def test_bytes_behind_the_end_are_refused(image):
    with pytest.raises(MetadataLogCorruptError):
        decode_snapshot(encoded(image) + b"\0")


def test_a_missing_block_is_noticed(image, monkeypatch):
    monkeypatch.setattr(snapshot_format, "MAX_BLOCK_ITEMS", 3)
    pieces = list(encode_snapshot(image))
    del pieces[2]

    with pytest.raises(MetadataLogCorruptError):
        decode_snapshot(b"".join(pieces))


def test_blocks_of_another_snapshot_are_refused(image):
    other = msgspec.structs.replace(image, index=image.index + 1)
    pieces, others = list(encode_snapshot(image)), list(encode_snapshot(other))

    with pytest.raises(MetadataLogCorruptError):
        decode_snapshot(b"".join([pieces[0], *others[1:]]))
