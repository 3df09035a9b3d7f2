"""Bounds of a batch that contradict each other."""

import json

import pytest

from headrace.pipeline.source.errors import DataLossError, OptionError
from headrace.pipeline.source.offsets import batch_ranges
from headrace.pipeline.source.options import read_options
from headrace.pipeline.source.snapshots import newest_catalog
from tests.unit.pipeline.source.stored_topics import TOPIC, StoredTopics
from tests.unit.pipeline.source.test_stream import BucketEnds


def ranges(
    bounds: dict[str, tuple[int, int]], *, fails_on_loss: bool = True
) -> list[tuple[int, int, int]]:
    """What is read of a partition of offsets 5 to 19, and of one of offsets 0 to 9."""
    bucket = StoredTopics()
    bucket.publish({1: [(0, 5, 20), (2, 0, 10)]}, (5, 0))
    starts = {partition: start for partition, (start, _) in bounds.items()}
    ends = {partition: end for partition, (_, end) in bounds.items()}
    options = read_options(
        {
            "bucket": "file:///b",
            "subscribe": TOPIC,
            "startingOffsets": json.dumps({TOPIC: starts}),
            "endingOffsets": json.dumps({TOPIC: ends}),
            "failOnDataLoss": str(fails_on_loss).lower(),
        }
    )
    catalog = newest_catalog(bucket)
    found = batch_ranges(catalog, options, BucketEnds(catalog))
    return [(it.name.partition, it.start_offset, it.end_offset) for it in found]


def test_a_start_behind_an_end_is_an_error() -> None:
    for fails_on_loss in (True, False):
        with pytest.raises(OptionError, match=f"{TOPIC}-1 would be read from offset 7 to 4"):
            ranges({"0": (5, 20), "1": (7, 4)}, fails_on_loss=fails_on_loss)
    assert ranges({"0": (5, 20), "1": (7, 7)}) == [(0, 5, 20)]


def test_a_start_that_retention_has_raised_is_none() -> None:
    with pytest.raises(DataLossError, match="begins at offset 5; 0 to 4 are deleted"):
        ranges({"0": (0, 3), "1": (0, 10)})
    assert ranges({"0": (0, 3), "1": (0, 10)}, fails_on_loss=False) == [(1, 0, 10)]
