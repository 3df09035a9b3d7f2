"""Which of the published snapshots the metadata are rebuilt from."""

import asyncio
from types import SimpleNamespace

import pytest

from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.metadata.rebuild import _newest
from headrace.metadata.image import MetadataImage
from headrace.metadata.levels import METADATA_FEATURE, NEWEST, OLDEST
from headrace.metadata.log.snapshot_format import encode_snapshot
from headrace.metadata.records.entry import SnapshotId
from headrace.persistent_map import PersistentMap


def bucket(*images):
    """A bucket with these snapshots: a reader of it, and what is listed."""
    files = {f"metadata/{it.index}": b"".join(encode_snapshot(it)) for it in images}

    async def get_range(key, start, end):
        return files[key][start:end]

    listed = {
        SnapshotId(it.index, it.term): SimpleNamespace(
            key=f"metadata/{it.index}", size_bytes=len(files[f"metadata/{it.index}"])
        )
        for it in images
    }
    return SimpleNamespace(reader=SimpleNamespace(get_range=get_range)), SimpleNamespace(
        snapshots=listed
    )


def image(index, level):
    features = PersistentMap({METADATA_FEATURE: level})
    return MetadataImage(cluster_id="c", index=index, term=1, features=features)


def test_the_newest_one_is_taken():
    chosen = asyncio.run(_newest(*bucket(image(7, OLDEST), image(9, NEWEST)), "c"))
    assert chosen.image == image(9, NEWEST)


def test_one_of_a_later_release_is_not_passed_over_for_an_older_one():
    """The older one lacks what was committed since."""
    with pytest.raises(CommandFailedError, match=r"metadata/9 cannot be read: .*upgrade this node"):
        asyncio.run(_newest(*bucket(image(7, NEWEST), image(9, NEWEST + 1)), "c"))
