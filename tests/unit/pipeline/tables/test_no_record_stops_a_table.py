"""Records of all kinds make rows or bad records, each exactly one, and never an exception."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from headrace.pipeline.tables import deduplication, rows, write_task
from headrace.pipeline.tables.decoding import JsonDecoder
from headrace.pipeline.tables.errors import TableError
from headrace.pipeline.tables.events import event_of
from headrace.pipeline.tables.evolution import evolution
from headrace.pipeline.tables.rows import RowMaker
from headrace.pipeline.tables.write_task import IGNORED
from headrace.pipeline.tables.writing import collected
from tests.unit.pipeline.tables.table_scene import AT, RECORDS, TableScene, records
from tests.unit.pipeline.tables.test_tables import bad

COLUMNS = (
    "columns = { id = 'long', at = 'timestamptz', price = 'decimal(9, 2)', large = 'decimal(38, 0)', d = 'double', "
    "s = 'string', f = 'float', dt = 'date', ts = 'timestamp', b = 'binary', m = 'map<string, long>' }\n"
)
DIGITS = b"9" * 400
YEAR_30000_US = 884_541_340_800_000_000


def outcome(scene: TableScene, batch: pa.RecordBatch) -> tuple[int, list[str]]:
    """Rows that the table has of records, in as many runs as a micro-batch has, and the reasons of bad ones."""
    written = scene.run(batch)
    scene.commit(written.told, 1 << 40)
    return len(scene.rows()), [it.reason for it in bad(written.told)]


HOSTILE = [
    (b'{"at": "0001-01-01T00:00:00+14:00"}', "is not in the years 1 to 9999 of UTC"),
    (b'{"at": "9999-12-31T23:59:59-14:00"}', "is not in the years 1 to 9999 of UTC"),
    (b'{"at": 999999999999999999}', "is no time in milliseconds"),
    (b'{"d": ' + DIGITS + b"}", "is out of range"),
    (b'{"f": ' + DIGITS + b"}", "is out of range"),
    (b'{"price": "1e999999999"}', "is out of the range"),
    (b'{"price": "sNaN"}', "is out of the range"),
    (b'{"large": "' + b"9" * 39 + b'"}', "is out of the range"),
    (b'{"": 1}', "a field has an empty name"),
    (b'{"e": {"": 1}}', "a field in e has an empty name"),
    (b'{"e": [{"x": {"": 1}}]}', "a field in e.element.x has an empty name"),
    (b'{"\\ud800": 1}', "half of a surrogate pair"),
    (b'{"s": "\\ud83dx"}', "half of a surrogate pair"),
    (b'\xef\xbb\xbf{"id": 1}', "byte order mark"),
    ('{"id": 1}'.encode("utf-16"), "byte order mark"),
    (b'{"n": ' + b"[" * 5000 + b"]" * 5000 + b"}", "it is no JSON"),
    (b'{"id": ' + b"9" * 5000 + b"}", "out of range"),
]
ODD = [
    b'{"large": "' + b"9" * 38 + b'"}',
    b'{"deep": ' + b'{"a":' * 200 + b"1" + b"}" * 200 + b"}",
    b'{"new": ' + DIGITS + b"}",
    b'{"a\\u0000b": 1, "\\"": 2, " ": 3, "%s\\n": 4}',
    b'{"element": [{"element": 1}], "key": {"value": 1}}',
    b'{"e": {}, "l": [], "n": [null], "x": [1, "a", {"x": 1}]}',
    '{"größe 🙂": 1, "٣": 2, "²": 3}'.encode(),
    '{"s": "aaaaaaaaaaaaaaa\ud7ff and more"}'.encode(),
    '{"s": "' + "\U0010ffff" * 20 + '"}',
    b'{"m": {"": 1}}',
    b'{"dt": "0001-01-01", "ts": "9999-12-31T23:59:59.999999", "at": "0001-01-01T00:00:00Z"}',
]


def test_values_that_no_column_can_have_are_dead_letters(tmp_path: Path) -> None:
    scene = TableScene(tmp_path, COLUMNS)
    values = [value for value, _ in HOSTILE]
    count, reasons = outcome(scene, records([{"id": 1}, *values, {"id": 2}]))
    assert (count, len(reasons)) == (2, len(HOSTILE))
    for (value, wanted), reason in zip(HOSTILE, reasons, strict=True):
        assert wanted in reason, value[:80]


def test_values_that_are_odd_are_rows(tmp_path: Path) -> None:
    values = [it if isinstance(it, bytes) else it.encode() for it in ODD]
    assert outcome(TableScene(tmp_path, COLUMNS), records(values)) == (len(ODD), [])


@pytest.mark.parametrize(
    ("more", "documents", "kept", "left_out"),
    [
        ("", [{"note": 1, "Note": 2}], {"note": 1}, {"Note"}),
        ("", [{"Note": 1}, {"note": 2}], {"Note": 1}, {"note"}),
        ("columns = { note = 'int' }", [{"NOTE": 1}], {}, {"NOTE"}),
        ("columns = { n = 'struct<x: int>' }", [{"n": {"X": 1, "x": 2}}], {"n": {"x": 2}}, {"n.X"}),
        ("", [{"a.b": 1, "a": {"b": 2}}], {"a.b": 1}, {"a.b"}),
        ("", [{"a": {"b": 2}, "a.b": 1}], {"a": {"b": 2}}, {"a.b"}),
        ("", [{"t": [1], "t.element": 2}], {"t": [1]}, {"t.element"}),
        ("", [{"a-b": 1, "a_x2Db": 2}], {"a-b": 1}, {"a_x2Db"}),
        ("", [{"kafka_offset": "x", "Kafka_Topic": 1, "_pos": 1}], {}, {"kafka_offset", "Kafka_Topic", "_pos"}),
        ("key = 'k'", [{"k": 1, "K": 2}], {}, {"k", "K"}),
        ("columns = { at = 'timestamptz' }\npartition_by = ['day(at)']", [{"at_day": 1}], {}, {"at_day"}),
        ("similar_names = 'add'", [{"note": 1, "Note": 2}], {"note": 1, "Note": 2}, set()),
        ("similar_names = 'add'", [{"a-b": 1, "a_x2Db": 2}], {"a-b": 1}, {"a_x2Db"}),
    ],
)  # fmt: skip
def test_fields_that_readers_cannot_tell_apart_are_left_out_and_said(
    tmp_path: Path,
    more: str,
    documents: list[dict[str, Any]],
    kept: dict[str, Any],
    left_out: set[str],
) -> None:
    scene = TableScene(tmp_path, more + "\n")
    written = scene.run(records(documents))
    scene.commit(written.told, len(documents))
    row, *_ = scene.rows()
    assert {k: v for k, v in row.items() if v is not None and not k.startswith("kafka_")} == kept
    assert set(written.ignored) == left_out
    assert len(scene.rows()) == len(documents)
    assert bad(written.told) == []


@pytest.mark.parametrize(
    ("document", "reason"),
    [({"note": 1, "Note": 2}, "Note: readers cannot"), ({"kafka_offset": 1}, "kafka_offset: the pipeline fills")],
)  # fmt: skip
def test_such_fields_can_be_refused(tmp_path: Path, document: object, reason: str) -> None:
    scene = TableScene(tmp_path, "similar_names = 'reject'\n")
    count, (why,) = outcome(scene, records([document, {"id": 1}]))
    assert count == 1
    assert why.startswith(reason)


def test_a_field_that_is_left_out_costs_no_second_look(tmp_path: Path) -> None:
    """Its documents are as quick as others from the second one on."""
    scene = TableScene(tmp_path, "columns = { id = 'long' }\n")
    looked = []

    class Looking(JsonDecoder):
        def shape(self, document: Any) -> Any:
            looked.append(document)
            return super().shape(document)

    maker = RowMaker(scene.configured, scene.table.metadata, Looking())
    made = maker.make(records([{"id": it, "ID": it} for it in range(10)]))
    assert (len(made.rows), len(looked)) == (10, 1)


def test_one_record_with_more_fields_than_a_table_may_have(tmp_path: Path) -> None:
    scene = TableScene(tmp_path, COLUMNS)
    wide = {f"f{it}": it for it in range(1001)}
    deep = {"x": [{f"f{it}": it for it in range(10_001)}]}
    count, reasons = outcome(scene, records([{"id": 1, "new": 1}, wide, deep, {"id": 2}]))
    assert count == 2
    assert "would have 1017 columns, and max_columns is 1000" in reasons[0]
    assert "and 10000 are allowed, 10 times max_columns" in reasons[1]
    assert "new" in scene.rows()[0]


def test_records_that_fill_a_table_together(tmp_path: Path) -> None:
    """Each fits alone: the first ones get their columns, and the others are bad records."""
    scene = TableScene(tmp_path, "max_columns = 10\n")
    documents = [{f"f{it}": 1, f"g{it}": 1} for it in range(5)]
    count, reasons = outcome(scene, records(documents))
    assert (count, len(reasons)) == (3, 2)
    assert all("max_columns is 10" in it for it in reasons)


def test_columns_of_several_tasks_that_do_not_go_together(tmp_path: Path) -> None:
    scene = TableScene(tmp_path, "")
    count, reasons = outcome(scene, records([{"a.b": 1}]))
    assert (count, reasons) == (1, [])
    told = [*scene.told(records([{"Note": 1}])), *scene.told(records([{"note": 1}]))]
    found = evolution(scene.table, scene.configured, collected(told).lacking)
    assert found.transaction is not None
    names = {it.name for it in found.transaction.table_metadata.schema().fields}
    assert "Note" in names
    assert "note" not in names


@pytest.mark.parametrize("us", [YEAR_30000_US, -90_000_000_000_000_000])
def test_a_record_of_a_time_that_readers_cannot_show(tmp_path: Path, us: int) -> None:
    scene = TableScene(tmp_path, "columns = { id = 'long' }\n")
    times = pa.array([us, us, 1_764_000_000_000_000]).cast(pa.timestamp("us", "UTC"))
    batch = records([{"id": 1}, b"{bad", {"id": 2}])
    written = scene.run(batch.set_column(5, RECORDS.field("timestamp"), times))
    assert [(it.reason.split(":")[0], it.timestamp_ms) for it in bad(written.told)] == [
        ("its timestamp is not in the years 1 to 9999", us // 1000),
        ("it is no JSON", us // 1000),
    ]
    scene.commit(written.told, 3)
    assert [it["id"] for it in scene.rows()] == [2]
    assert scene.rows()[0]["kafka_timestamp"] == datetime.fromtimestamp(1_764_000_000, AT.tzinfo)


@pytest.mark.parametrize(
    ("kind", "key", "is_row"),
    [
        ("string", b"\xff\xfe", False),
        ("long", b"9" * 23, False),
        ("long", b"-9223372036854775808", True),
        ("long", b"x", False),
        ("long", b"0", True),
        ("binary", b"\xff\xfe", True),
    ],
)
def test_keys(tmp_path: Path, kind: str, key: bytes, is_row: bool) -> None:
    for mode in ("append", "upsert"):
        directory = tmp_path / mode
        directory.mkdir()
        scene = TableScene(directory, f"key = 'k'\nkey_type = '{kind}'\nmode = '{mode}'\n")
        count, reasons = outcome(scene, records([{"id": 1}, {"id": 2}], keys=[key, b"7"]))
        assert (count, len(reasons)) == (2, 0) if is_row else (1, 1)


@pytest.mark.parametrize("key", [b"01", b" 1", b"1 ", b"1_0", b"+1", b"-0", "\u0661".encode()])
def test_keys_that_are_another_number_s_in_an_upsert(tmp_path: Path, key: bytes) -> None:
    """Records of one key are in one partition and one task: those of `1` and `01` need not be."""
    for mode, count in (("append", 1), ("upsert", 0)):
        directory = tmp_path / mode
        directory.mkdir()
        scene = TableScene(directory, f"key = 'k'\nkey_type = 'long'\nmode = '{mode}'\n")
        made, reasons = outcome(scene, records([{"id": 1}], keys=[key]))
        assert (made, len(reasons)) == (count, 1 - count)
        assert all(it.startswith("its key ") for it in reasons)


@pytest.mark.parametrize("kind", ["double", "float"])
def test_a_table_that_is_partitioned_by_floating_point_numbers(tmp_path: Path, kind: str) -> None:
    """No new one can be; in one that is there, each row is in one file."""
    columns = f"columns = {{ n = '{kind}' }}\n"
    refused = tmp_path / "new"
    refused.mkdir()
    with pytest.raises(TableError, match=f"n: a column of type {kind} cannot be partitioned by"):
        TableScene(refused, f"{columns}partition_by = ['n']\n")
    scene = TableScene(tmp_path, columns)
    with scene.table.update_spec() as update:
        update.add_identity("n")
    values = [b'{"n": %s}' % it for it in (b"0.0", b"-0.0", b"1.0", b"null")]
    count, reasons = outcome(scene, records(values))
    assert (count, reasons) == (4, [])
    assert sorted(str(it["n"]) for it in scene.rows()) == ["0.0", "0.0", "1.0", "None"]
    maker = RowMaker(scene.configured, scene.table.metadata, JsonDecoder())
    maker._documents.fit = lambda _: {"n": float("nan")}  # type: ignore[method-assign]
    (only,) = maker.make(records([{}])).bad
    assert only.reason == "n: the table is partitioned by it, and it is no number"


def test_files_with_another_number_of_rows_are_not_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = TableScene(tmp_path, "columns = { id = 'long' }\n")
    from headrace.pipeline.tables import data_files

    written = data_files._dataframe_to_data_files

    def twice(metadata: Any, rows: pa.Table, io: Any) -> Any:
        return [*written(metadata, rows, io), *written(metadata, rows, io)]

    monkeypatch.setattr(data_files, "_dataframe_to_data_files", twice)
    with pytest.raises(TableError, match="2 rows became data files with 4"):
        scene.run(records([{"id": 1}, {"id": 2}]))


def test_more_bad_records_than_memory_is_for_stop_their_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that no task has told would be neither rows nor letters."""
    monkeypatch.setattr(write_task, "MAX_BAD_BYTES", 50_000)
    scene = TableScene(tmp_path, "columns = { id = 'long' }\n")
    large = [b"x" * 20_000] * 5
    with pytest.raises(
        TableError, match=r"3 bad records in one .*, and more than a task keeps in memory"
    ):
        scene.run(records(large), max_bad=10)
    assert len(bad(scene.run(records(large), max_bad=50).told)) == 5
    assert len(bad(scene.run(records(large[:3]), max_bad=10).told)) == 3
    with pytest.raises(TableError, match="more than 2 bad records in one micro-batch"):
        scene.run(records(large[:3]), max_bad=2)


def test_a_value_that_makes_no_name_of_a_directory(tmp_path: Path) -> None:
    columns = "columns = { s = 'string' }\npartition_by = ['s']\n"
    odd = ["x/y=z%", "..", "", "\0", "ä" * 40, "a" * 250]
    scene = TableScene(tmp_path, columns)
    count, reasons = outcome(scene, records([{"s": it} for it in [*odd, "a" * 300]]))
    assert count == len(odd)
    assert reasons == ["s: the table is partitioned by it, and it is too long"]


def test_any_exception_of_one_record_is_its_own(tmp_path: Path) -> None:
    scene = TableScene(tmp_path, "columns = { id = 'long' }\n")

    class Failing(JsonDecoder):
        def decode(self, value: bytes) -> Any:
            if value == b"1":
                raise ArithmeticError("\ud800")
            if value == b"2":
                raise MemoryError
            return super().decode(value)

    maker = RowMaker(scene.configured, scene.table.metadata, Failing())
    made = maker.make(records([{"id": 1}, b"1"]))
    assert [it.reason for it in made.bad] == ["ArithmeticError: \\ud800"]
    assert len(made.rows) == 1
    with pytest.raises(MemoryError):
        maker.make(records([b"2"]))


def test_rows_that_cannot_become_arrow_data_or_files_leave_the_others_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever rows do to the libraries below: found by halves."""
    monkeypatch.delattr(pa, "concat_batches", raising=False)  # as before its version 19
    scene = TableScene(tmp_path, "columns = { id = 'long' }\n")
    maker = RowMaker(scene.configured, scene.table.metadata, JsonDecoder())
    monkeypatch.setattr(maker._documents, "fit", lambda it: {"id": it["id"]})
    made = maker.make(records([{"id": it if it % 7 else "text"} for it in range(50)]))
    assert [it.offset for it in made.bad] == [0, 7, 14, 21, 28, 35, 42, 49]
    assert made.rows.column("id").to_pylist() == [it for it in range(50) if it % 7]
    assert made.places.column("offset").to_pylist() == [it for it in range(50) if it % 7]

    from headrace.pipeline.tables import data_files

    written = data_files._dataframe_to_data_files

    def writing(metadata: Any, rows: pa.Table, io: Any) -> Any:
        if 13 in rows.column("id").to_pylist():
            raise LookupError("thirteen")
        return written(metadata, rows, io)

    monkeypatch.setattr(data_files, "_dataframe_to_data_files", writing)
    run = scene.run(records([{"id": it} for it in range(20)]))
    assert [(it.offset, it.reason) for it in bad(run.told)] == [
        (13, "no data file can have it: LookupError: thirteen")
    ]
    scene.commit(run.told, 20)
    assert len(scene.rows()) == 19


def test_new_columns_are_committed_only_if_a_file_can_have_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is the matter with a name: its records are bad, and the other columns are added."""
    scene = TableScene(tmp_path, "columns = { id = 'long' }\n")
    from headrace.pipeline.tables import trials

    tried = trials.TableFiles.write

    def trying(files: Any, rows: pa.Table) -> Any:
        if any("odd" in it for it in rows.column_names):
            raise LookupError("odd")
        return tried(files, rows)

    monkeypatch.setattr(trials.TableFiles, "write", trying)
    documents = [{"a": 1}, {"odd": 1}, {"b": 1, "odd2": 1}, {"c": 1}, {"id": 5}]
    count, reasons = outcome(scene, records(documents))
    assert count == 3
    assert reasons == [
        f"{it}: the table cannot have it as a column: LookupError: odd" for it in ("odd", "odd2")
    ]
    names = {it.name for it in scene.catalog.load_table("shop.orders").schema().fields}
    assert {it for it in names if not it.startswith("kafka")} == {"id", "a", "b", "c"}


def test_a_table_with_other_rules_for_its_keys(tmp_path: Path) -> None:
    """A tombstone of a key that is none is a bad record, too."""
    scene = TableScene(tmp_path, "mode = 'upsert'\nkey_type = 'long'\n")
    written = scene.run(records([None, None, {"a": 1}], keys=[b"x", b"1", None]))
    assert [it.reason for it in bad(written.told)] == ["its key is no long", "it has no key"]


def test_fields_that_are_left_out_are_bounded(tmp_path: Path) -> None:
    scene = TableScene(tmp_path, "columns = { id = 'long' }\n")
    scene.configured = replace(scene.configured, max_columns=1000)
    document = {"id": 1, **{f"{'x' * it}": {"a": 1, "A": 2} for it in range(1, 150)}}
    told = scene.run(records([document])).told
    assert [kind for kind, _ in told].count(IGNORED) == 1
    assert len(scene.run(records([document])).ignored) == 100


def test_a_record_that_copies_are_looked_for_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it does to the search is done again where rows are made, and makes it a bad record there."""
    more = "deduplicate_by = ['id']\nevent_time = 'at'\nwatermark = '1 minute'\n"
    scene = TableScene(tmp_path, COLUMNS + more)
    fine = {"id": 1, "at": "2026-01-31T12:00:00Z"}
    batch = records([fine, {**fine, "at": "0001-01-01T00:00:00+14:00"}, b"{", None])

    def failing(document: Any, table: Any) -> Any:
        if document["at"].startswith("0001"):
            raise LookupError("odd")
        return event_of(document, table)

    for module in (deduplication, rows):
        monkeypatch.setattr(module, "event_of", failing)
    (keyed,) = deduplication.KeyTask(scene.configured)([batch])
    identities = keyed.column("_event_key").to_pylist()
    assert identities == ["[1]", "orders-0-1", "orders-0-2", "orders-0-3"]
    count, reasons = outcome(scene, batch)
    assert (count, reasons[0]) == (1, "LookupError: odd")
