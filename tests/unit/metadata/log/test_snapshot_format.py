import msgspec
import pytest

from headrace.checksums import crc32c
from headrace.metadata.errors import (
    MetadataFormatError,
    MetadataLogCorruptError,
    MetadataVersionError,
    RefusedError,
)
from headrace.metadata.image import MetadataImage
from headrace.metadata.levels import METADATA_FEATURE, NEWEST, OLDEST
from headrace.metadata.log import snapshot_format
from headrace.metadata.log.snapshot_format import decode_snapshot, encode_snapshot
from headrace.metadata.records.streams import StreamRecord
from headrace.persistent_map import PersistentMap
from tests.unit.metadata.pure_controller import PureController, stream_range

GOLDEN_HEADER = bytes.fromhex("48524d53 0001 0002 0000000000000003 0000000000000002")


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


def test_the_header_tells_the_level():
    image = MetadataImage(index=3, term=2, features=PersistentMap({METADATA_FEATURE: 3}))
    assert encoded(image)[4:8].hex() == "00010003"


def test_a_snapshot_of_level_1_says_what_to_do():
    """Its header has 0, and what follows is not read."""
    header = GOLDEN_HEADER.replace(bytes.fromhex("00010002"), bytes.fromhex("00010000"))
    data = header + crc32c(header).to_bytes(4, "big") + bytes(4)

    with pytest.raises(MetadataVersionError, match="the cluster is at 1: start it with an earlier"):
        decode_snapshot(data)


def test_a_snapshot_of_a_later_level_says_what_to_do(monkeypatch):
    image = MetadataImage(
        index=3, term=2, features=PersistentMap({METADATA_FEATURE: NEWEST + 1, "f": 1})
    )
    data = encoded(image)

    def unknown(payload):
        raise MetadataFormatError("a record of a later level")

    monkeypatch.setattr(snapshot_format, "decode_records", unknown)
    with pytest.raises(MetadataVersionError, match="upgrade this node"):
        decode_snapshot(data)


def test_what_is_above_the_level_of_an_image_is_not_written(image, monkeypatch):
    features = PersistentMap({METADATA_FEATURE: OLDEST})
    monkeypatch.setattr(StreamRecord, "LEVEL", 3)

    assert encoded(image)  # it is at the newest level
    with pytest.raises(RefusedError, match=r"StreamRecord needs headrace\.metadata\.version 3"):
        encoded(msgspec.structs.replace(image, features=features))


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
