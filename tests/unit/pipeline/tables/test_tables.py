"""What becomes of records in a table: rows, bad records, new columns, and one commit for each micro-batch."""

from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path

import msgspec
import pytest

from headrace.pipeline.tables.catalogs import open_table
from headrace.pipeline.tables.errors import TableError
from headrace.pipeline.tables.rows import BadRecord
from headrace.pipeline.tables.write_task import BAD, FILE, IGNORED, LACKING
from tests.unit.pipeline.tables.table_scene import AT, TableScene, records

COLUMNS = 'columns = { id = "int", name = "string", price = "decimal(9, 2)", at = "timestamptz" }\n'
DOCUMENT = {"id": 7, "name": "screw", "price": "0.25", "at": "2026-11-27T13:00:00+01:00"}


def bad(told: list[tuple[str, bytes]]) -> list[BadRecord]:
    return [msgspec.msgpack.decode(body, type=BadRecord) for kind, body in told if kind == BAD]


def test_documents_become_rows(tmp_path: Path) -> None:
    scene = TableScene(tmp_path, COLUMNS + 'partition_by = ["bucket(2, id)"]\n')
    told = scene.told(records([DOCUMENT, {"id": 8}]))
    assert {kind for kind, _ in told} == {FILE}
    assert scene.commit(told, 2)
    first, second = scene.rows()
    assert (first["id"], first["name"], str(first["price"]), first["at"]) == (
        7,
        "screw",
        "0.25",
        AT,
    )
    assert (
        first["kafka_topic"],
        first["kafka_partition"],
        first["kafka_offset"],
        first["kafka_timestamp"],
    ) == (
        "orders",
        0,
        0,
        AT,
    )
    assert (second["id"], second["name"], second["price"]) == (8, None, None)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"{", "it is no JSON"),
        (b"\xff", "it is no JSON"),
        ([1], "no object"),
        (None, "it has no value"),
        ({"id": "7"}, "id: '7' is no whole number"),
        ({"id": 7, "price": "0.255"}, "price: '0.255' has more than 2 digits"),
        ({"id": 7, "at": "2026-11-27T13:00:00"}, "at: '2026-11-27T13:00:00' has no time zone"),
        ({"id": 7, "at": "soon"}, "at: 'soon' is no time"),
        ({"name": "x"}, "id is missing"),
        ({"id": 1 << 70}, "does not fit into 32 bits"),
    ],
)
def test_what_does_not_fit_is_told_with_a_reason(
    tmp_path: Path, value: object, reason: str
) -> None:
    scene = TableScene(tmp_path, COLUMNS + 'required = ["id"]\n')
    told = scene.told(records([DOCUMENT, value], start=5))
    (only,) = bad(told)
    assert reason in only.reason
    assert (only.topic, only.partition, only.offset) == ("orders", 0, 6)
    scene.commit(told, 7)
    assert [it["kafka_offset"] for it in scene.rows()] == [5]


def test_new_fields_become_columns(tmp_path: Path) -> None:
    scene = TableScene(tmp_path, COLUMNS)
    more = {
        "_partition": 1,
        "id": 1 << 40,
        "tags": ["a"],
        "size": {"w": 1, "h": 1.5},
        "nothing": None,
    }
    told = scene.told(
        records([DOCUMENT, more]), records([{"id": 3, "size": {"depth": 9}}], start=2)
    )
    assert [kind for kind, _ in told] == [LACKING]
    scene.evolve(told)
    told = scene.told(
        records([DOCUMENT, more]), records([{"id": 3, "size": {"depth": 9}}], start=2)
    )
    assert {kind for kind, _ in told} == {FILE, IGNORED}  # `_partition`
    scene.commit(told, 3)
    rows = scene.rows()
    assert [it["id"] for it in rows] == [7, 1 << 40, 3]
    assert rows[1]["tags"] == ["a"]
    assert rows[1]["size"] == {"w": 1, "h": 1.5, "depth": None}
    assert rows[2]["size"]["depth"] == 9
    assert "nothing" not in rows[0]
    assert "_partition" not in rows[0]


@pytest.mark.parametrize(("choice", "kept"), [("ignore", 1), ("reject", 0)])
def test_new_fields_that_are_not_wanted(tmp_path: Path, choice: str, kept: int) -> None:
    scene = TableScene(tmp_path, f'{COLUMNS}new_fields = "{choice}"\n')
    told = scene.told(records([{"id": 1, "more": 2}]))
    scene.commit(told, 1)
    assert len(scene.rows()) == kept
    assert [it.reason for it in bad(told)] == ["there is no column for more"] * (1 - kept)


def test_a_micro_batch_is_committed_once(tmp_path: Path) -> None:
    scene = TableScene(tmp_path, COLUMNS)
    # A second run of the same micro-batch, which has looked at the table before the first one has committed.
    other = scene.catalog.load_table("shop.orders")
    assert scene.commit(scene.told(records([DOCUMENT])), 1)
    assert not scene.commit(scene.told(records([DOCUMENT])), 1, other)
    assert not scene.commit(scene.told(records([DOCUMENT])), 1)
    assert len(scene.rows()) == 1


def test_two_jobs_with_micro_batches_of_other_sizes_add_nothing_twice(tmp_path: Path) -> None:
    scene = TableScene(tmp_path, COLUMNS)
    other = scene.catalog.load_table("shop.orders")
    known = scene.known(other)
    first, second = scene.told(records([DOCUMENT] * 2)), scene.told(records([DOCUMENT] * 3))
    assert scene.commit(first, 2)
    with pytest.raises(TableError, match="another job has added records of its topics"):
        scene.commit(second, 3, other, known=known)
    with pytest.raises(TableError, match="another job has added records of its topics"):
        scene.commit(second, 3, known=known)
    assert len(scene.rows()) == 2


def test_another_writer_is_no_obstacle(tmp_path: Path) -> None:
    scene = TableScene(tmp_path, COLUMNS)
    other = scene.catalog.load_table("shop.orders")
    with other.transaction() as transaction, transaction.update_snapshot().fast_append():
        pass
    assert scene.commit(scene.told(records([DOCUMENT])), 1)
    assert len(scene.rows()) == 1


def test_bad_records_are_bounded(tmp_path: Path) -> None:
    scene = TableScene(tmp_path, COLUMNS)
    assert len(bad(scene.told(records([b"x"] * 50), max_bad=10))) == 11


def test_a_table_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    TableScene(tmp_path, COLUMNS)
    with pytest.raises(TableError, match="has no column kafka_key of type string"):
        TableScene(tmp_path, f'{COLUMNS}mode = "upsert"\n')
    with pytest.raises(TableError, match="there is no column day; "):
        TableScene(new(tmp_path), 'partition_by = ["day(day)"]\n')


def new(directory: Path) -> Path:
    path = directory / "new"
    path.mkdir()
    return path


def test_another_query_creates_the_namespace_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQL catalogs look first and write then; tables of a job are created by threads of their own."""
    scene = TableScene(tmp_path, COLUMNS)
    told = chain([False], repeat(True))
    monkeypatch.setattr(scene.catalog, "namespace_exists", lambda _: next(told))
    other = replace(scene.configured, name="shop.customers")
    assert open_table(scene.catalog, other).name() == ("shop", "customers")
