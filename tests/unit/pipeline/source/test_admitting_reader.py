"""The stream reader of Spark 4.2 and newer, called as Spark calls it; an older Spark has none of the names it needs."""

import json
import sys
from collections.abc import Iterator
from dataclasses import make_dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from headrace.pipeline.source.catalog import Catalog
from headrace.pipeline.source.ends import PartitionEnds
from headrace.pipeline.source.offsets import Offsets
from headrace.pipeline.source.options import read_options
from tests.unit.pipeline.source.stored_topics import TOPIC, StoredTopics
from tests.unit.pipeline.source.test_stream import checked_ranges

NAMES = "pyspark.sql.streaming.datasource"
READER = "headrace.pipeline.source.admitting_reader"
LIMITS = {"ReadAllAvailable": [], "ReadMaxRows": ["max_rows"], "ReadMaxBytes": ["max_bytes"]}


@pytest.fixture
def admitting(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module, with Spark's names or ones of their shape."""
    if find_spec(NAMES) is None:
        names = ModuleType(NAMES)
        for name in ("ReadLimit", "SupportsTriggerAvailableNow"):
            setattr(names, name, type(name, (), {}))
        for name, fields in LIMITS.items():
            setattr(names, name, make_dataclass(name, fields))
        monkeypatch.setitem(sys.modules, NAMES, names)
    yield import_module(READER)
    sys.modules.pop(READER)


class Query:
    """What Spark keeps of a query, and how it runs one with `availableNow`."""

    def __init__(self, admitting: Any, bucket: str, *committed: dict[str, Any]) -> None:
        self._admitting = admitting
        self._bucket = bucket
        self.offsets = list(committed)

    def begin(self, **options: str) -> Any:
        given = {"bucket": self._bucket, "subscribe": TOPIC, "startingOffsets": "earliest"}
        read = read_options({**given, **options}, is_stream=True)
        reader = self._admitting.AdmittingStreamReader(read)
        reader.prepareForTriggerAvailableNow()
        return reader

    def run(self, reader: Any) -> list[list[tuple[str, int, int]]]:
        """What each micro-batch reads, until there is nothing new."""
        # Spark 4.3 does not plan an empty range before it asks for the latest offset, as 4.0 does.
        start = self.offsets[-1] if self.offsets else reader.initialOffset()
        batches = []
        limit = reader.getDefaultReadLimit()
        while (end := json.loads(json.dumps(reader.latestOffset(start, limit)))) != start:
            batches.append(checked_ranges(reader, start, end))
            self.offsets.append(end)
            start = end
        return batches


def test_a_run_has_micro_batches_by_its_limit_and_ends_where_it_began(
    admitting: Any, tmp_path: Path
) -> None:
    bucket = StoredTopics()
    bucket.publish({1: [(0, 0, 20)], 2: [(2, 0, 4)]}, (0, 0))
    query = Query(admitting, bucket.write_to(tmp_path))
    first = query.begin(maxOffsetsPerTrigger="12")
    bucket.publish({1: [(0, 0, 20)], 2: [(2, 0, 4)], 3: [(0, 20, 30)], 4: [(4, 0, 7)]}, (0, 0, 0))
    bucket.write_to(tmp_path)
    first._fresh = None  # a second has passed
    assert query.run(first) == [
        [(f"{TOPIC}-0", 0, 10), (f"{TOPIC}-1", 0, 2)],
        [(f"{TOPIC}-0", 10, 20), (f"{TOPIC}-1", 2, 4)],
    ]
    assert query.run(query.begin()) == [[(f"{TOPIC}-0", 20, 30), (f"{TOPIC}-2", 0, 7)]]
    assert query.run(query.begin(maxOffsetsPerTrigger="12")) == []


def test_a_run_that_goes_on_for_spark_s_kafka_source_does_not_go_back(
    admitting: Any, tmp_path: Path
) -> None:
    bucket = StoredTopics()
    bucket.publish({1: [(0, 0, 30)], 2: [(2, 0, 20)]}, (0, 0))
    query = Query(admitting, bucket.write_to(tmp_path), {TOPIC: {"0": 25, "1": 24}})
    assert query.run(query.begin()) == [[(f"{TOPIC}-0", 25, 30)]]
    assert query.offsets[-1][TOPIC] == {"0": 30, "1": 24}


def test_a_limit_in_bytes_is_told(admitting: Any, tmp_path: Path) -> None:
    bucket = StoredTopics()
    bucket.publish({1: [(0, 0, 30)]})
    query = Query(admitting, bucket.write_to(tmp_path))
    assert query.begin(maxBytesPerTrigger="1k").getDefaultReadLimit().max_bytes == 1_024
    assert query.run(query.begin()) == [[(f"{TOPIC}-0", 0, 30)]]


def test_a_run_that_goes_on_looks_at_no_transaction_before_its_place(
    admitting: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = []
    decided = PartitionEnds.decided

    def looking(ends: PartitionEnds, catalog: Catalog, begins: Offsets, until: Offsets) -> Offsets:
        looked.append(sorted(begins.values()))
        return decided(ends, catalog, begins, until)

    monkeypatch.setattr(PartitionEnds, "decided", looking)
    bucket = StoredTopics()
    bucket.publish({1: [(0, 0, 30)], 2: [(2, 0, 20)]}, (0, 0))
    query = Query(admitting, bucket.write_to(tmp_path), {TOPIC: {"0": 25, "1": 20}})
    reader = query.begin(**{"kafka.isolation.level": "read_committed"})
    assert query.run(reader) == [[(f"{TOPIC}-0", 25, 30)]]
    assert looked
    assert min(map(min, looked)) == 20
