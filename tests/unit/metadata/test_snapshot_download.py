import pytest

from headrace.metadata.errors import MetadataFormatError
from headrace.metadata.follower.snapshot_download import (
    CHUNK_BYTES,
    MAX_SNAPSHOT_BYTES,
    SnapshotDownload,
)
from headrace.metadata.levels import READ_HERE
from headrace.metadata.rpc.requests import FetchSnapshot
from headrace.metadata.rpc.responses import Done, SnapshotChunk


def test_a_snapshot_comes_part_by_part():
    download = SnapshotDownload(7)
    assert download.next_request == FetchSnapshot(7, 0, CHUNK_BYTES, READ_HERE)
    assert download.add(SnapshotChunk(7, 0, 5, b"abc")) is None
    assert download.next_request == FetchSnapshot(7, 3, CHUNK_BYTES, READ_HERE)
    assert download.add(SnapshotChunk(7, 3, 5, b"de")) == b"abcde"


@pytest.mark.parametrize(
    "answer",
    [
        Done(),
        SnapshotChunk(7, 0, MAX_SNAPSHOT_BYTES + 1, b"abc"),
        SnapshotChunk(7, 3, 5, b"de"),
        SnapshotChunk(7, 0, 5, b""),
    ],
)
def test_parts_that_make_no_sense_are_refused(answer):
    with pytest.raises(MetadataFormatError):
        SnapshotDownload(7).add(answer)
