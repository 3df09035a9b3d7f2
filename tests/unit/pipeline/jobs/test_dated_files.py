"""Files by day: each record once, and what a file says of itself is so."""

import io
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headrace.pipeline.columns.selection import WantedRows
from headrace.pipeline.jobs import dated_files
from headrace.pipeline.jobs.dated_files import COLUMNS, DatedFiles, WrittenFile
from headrace.pipeline.jobs.manifest import date_text

DAY_US = 86_400_000_000
Row = tuple[int, int, int]  # partition, offset, day


class Shelf:
    """Files in memory."""

    def __init__(self) -> None:
        self.files: dict[str, io.BytesIO] = {}
        self.finished: set[str] = set()

    def begin(self, day: str, number: int) -> tuple[str, io.BytesIO]:
        name = f"{day}/{number}"
        self.files[name] = io.BytesIO()
        return name, self.files[name]

    def finish(self, name: str, file: io.BytesIO) -> int:
        self.finished.add(name)
        return len(file.getvalue())

    def rows(self, name: str) -> list[Row]:
        table = pq.read_table(io.BytesIO(self.files[name].getvalue()))
        times = table["timestamp"].cast(pa.int64()).to_pylist()
        places = zip(table["partition"].to_pylist(), table["offset"].to_pylist(), strict=True)
        return [(*place, time // DAY_US) for place, time in zip(places, times, strict=True)]


def batch(rows: list[Row]) -> pa.RecordBatch:
    schema = WantedRows(topic="t", partition=0, columns=COLUMNS).schema
    values = {
        "partition": [it[0] for it in rows],
        "offset": [it[1] for it in rows],
        "timestamp": [it[2] * DAY_US + 5 for it in rows],
        "timestampType": [0] * len(rows),
        "key": [None] * len(rows),
        "value": [b"v" * 50] * len(rows),
        "headers": [None] * len(rows),
    }
    return pa.record_batch([pa.array(values[it.name], it.type) for it in schema], schema=schema)


def write(
    rows: list[Row], ranges: list[tuple[int, int, int]], step: int, **options: object
) -> tuple[Shelf, list[WrittenFile]]:
    shelf = Shelf()
    files = DatedFiles(ranges, begin=shelf.begin, finish=shelf.finish, **options)  # type: ignore[arg-type]
    for partition, low, high in ranges:
        some = [it for it in rows if it[0] == partition and low <= it[1] < high]
        for start in range(0, len(some), step):
            files.add(batch(some[start : start + step]))
    written = files.finish()
    assert shelf.finished == {it.name for it in written}
    return shelf, written


@pytest.mark.parametrize("seed", range(5))
def test_each_record_is_in_one_file_that_says_so(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    monkeypatch.setattr(dated_files, "MAX_OPEN_FILES", rng.choice([1, 2, 32]))
    monkeypatch.setattr(dated_files, "ROW_GROUP_BYTES", rng.choice([1, 500, 1 << 20]))
    monkeypatch.setattr(dated_files, "MAX_WAITING_BYTES", rng.choice([1, 2_000, 1 << 20]))
    days = rng.choice([1, 3, 12])
    rows = [
        (partition, offset, offset // 20 + rng.randrange(days))
        for partition in range(2)
        for offset in range(100)
        if rng.random() < 0.8  # a compacted topic has gaps
    ]
    ranges = [(0, 0, 40), (1, 0, 50), (0, 40, 100), (1, 50, 90)]
    wanted = [it for it in rows if any(r[0] == it[0] and r[1] <= it[1] < r[2] for r in ranges)]
    shelf, written = write(
        rows, ranges, rng.randrange(1, 30), max_file_bytes=rng.choice([1, 4_000, 1 << 30])
    )
    found = [row for it in written for row in shelf.rows(it.name)]
    assert sorted(found) == sorted(wanted)
    for it in written:
        said = [
            row
            for row in wanted
            if date_text(row[2]) == it.date
            and any(r[0] == row[0] and r[1] <= row[1] < r[2] for r in it.ranges)
        ]
        assert sorted(shelf.rows(it.name)) == sorted(said)
        assert (it.rows, it.bytes) == (len(said), len(shelf.files[it.name].getvalue()))


def test_days_that_are_not_wanted_are_left_out() -> None:
    rows = [(0, offset, offset // 10) for offset in range(30)]
    shelf, written = write(rows, [(0, 0, 30)], 7, dates=frozenset({date_text(1)}))
    (file,) = written
    assert shelf.rows(file.name) == rows[10:20]
    assert (file.date, file.ranges) == (date_text(1), ((0, 0, 30),))


def test_files_do_not_outgrow_their_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dated_files, "ROW_GROUP_BYTES", 1_000)
    rng = random.Random(1)
    rows = [(0, offset, rng.randrange(2)) for offset in range(2_000)]
    _, written = write(rows, [(0, 0, 2_000)], 10, max_file_bytes=10_000)
    assert len(written) > 4
    assert max(it.bytes for it in written) < 30_000  # a footer of many row groups on top


def test_nothing_makes_no_file() -> None:
    assert write([], [(0, 0, 30)], 7)[1] == []


@pytest.mark.parametrize("compression", dated_files.COMPRESSIONS)
def test_files_are_compressed_as_asked(compression: str) -> None:
    rows = [(0, offset, 1) for offset in range(100)]
    shelf, (file,) = write(rows, [(0, 0, 100)], 50, compression=compression)
    assert shelf.rows(file.name) == rows
    metadata = pq.ParquetFile(io.BytesIO(shelf.files[file.name].getvalue())).metadata
    found = {metadata.row_group(0).column(it).compression for it in range(metadata.num_columns)}
    assert found == {"UNCOMPRESSED" if compression == "none" else compression.upper()}
