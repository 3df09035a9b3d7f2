"""Tables that stopped: why is kept, what a check says of them, and how they are mended."""

from pathlib import Path

import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import (
    IcebergType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
)

from headrace.broker.cli.root import run
from headrace.pipeline.tables.catalogs import refuse_unwritable
from headrace.pipeline.tables.checking import checked_table
from headrace.pipeline.tables.errors import TableError
from headrace.pipeline.tables.mending import TopicsNow, mended
from headrace.pipeline.tables.notes import note_running, note_stopped
from headrace.pipeline.tables.registered_columns import RegisteredColumns
from headrace.pipeline.tables.status import status_rows
from headrace.pipeline.tables.table_state import MAX_IGNORED_FIELDS, table_state
from tests.unit.pipeline.tables.table_scene import (
    TableScene,
    config_of,
    config_text,
    records,
)

COLUMNS = "columns = { id = 'long' }\n"
OLD, NEW = "11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"


def broken(scene: TableScene, *fields: NestedField) -> None:
    """Give the table columns that an older version may have added."""
    with scene.table.update_schema() as update:
        update.union_by_name(Schema(*fields))
    scene.table = scene.catalog.load_table("shop.orders")


def column(name: str, kind: IcebergType | None = None) -> NestedField:
    return NestedField(100 + len(name), name, kind or LongType(), required=False)


INNER = StructType(NestedField(201, "", LongType(), required=False))
BOTH = StructType(*INNER.fields, NestedField(202, "x", StringType(), required=False))
MAP = MapType(302, StringType(), 303, INNER, value_required=False)


def struct(name: str, kind: IcebergType, **more: IcebergType) -> StructType:
    kinds = {name: kind, **more}
    return StructType(
        *(
            NestedField(210 + at, it, of, required=False)
            for at, (it, of) in enumerate(kinds.items())
        )
    )


@pytest.mark.parametrize(
    ("fields", "dropped", "left"),
    [
        ([column("")], [""], {"id"}),
        ([column("e", BOTH), column("more")], ["e."], {"id", "e", "more"}),
        ([column("e", INNER)], ["e"], {"id"}),
        ([column("a", struct("b", INNER, c=LongType()))], ["a.b"], {"id", "a"}),
        ([column("a", struct("b", INNER))], ["a"], {"id"}),
        ([column("a", struct("b", INNER)), column("e", BOTH)], ["a", "e."], {"id", "e"}),
        ([column("l", ListType(301, INNER, element_required=False))], ["l"], {"id"}),
        ([column("l", ListType(301, BOTH, element_required=False))], ["l.element."], {"id", "l"}),
        ([column("a", struct("m", MAP, c=LongType()))], ["a.m"], {"id", "a"}),
        ([column("a-b"), column("a_x2Db")], ["a_x2Db"], {"id", "a-b"}),
    ],
)
def test_columns_that_no_file_can_have_are_dropped(
    tmp_path: Path, fields: list[NestedField], dropped: list[str], left: set[str]
) -> None:
    scene = TableScene(tmp_path, COLUMNS)
    broken(scene, *fields)
    with pytest.raises(TableError, match="headrace pipeline mend FILE"):
        refuse_unwritable("shop.orders", scene.table.metadata)
    _, problems = checked_table(scene.configured, scene.table, RegisteredColumns())
    assert len(problems) == 1
    assert "no data file can be written with its column" in problems[0]
    before = scene.table.metadata_location
    for is_sure in (False, True):
        assert scene.catalog.load_table("shop.orders").metadata_location == before
        done = list(mended(scene.config, scene.catalog, "", TopicsNow({}, {}), is_sure=is_sure))
        assert [(it["name"], it["done"]) for it in done] == [(it, is_sure) for it in dropped]
    scene.table = scene.catalog.load_table("shop.orders")
    refuse_unwritable("shop.orders", scene.table.metadata)
    assert {it.name for it in scene.table.schema().fields if "kafka" not in it.name} == left
    scene.commit(scene.run(records([{"id": 1}])).told, 1)
    assert [it["id"] for it in scene.rows()] == [1]
    assert list(mended(scene.config, scene.catalog, "", TopicsNow({}, {}), is_sure=True)) == []


def test_a_topic_is_begun_again_only_if_it_is_another_one(tmp_path: Path) -> None:
    scene = TableScene(tmp_path, COLUMNS)
    told = scene.told(records([{"id": 1}, {"id": 2}]))
    scene.commit(told, 2, topic_ids={"orders": OLD})

    def mend(topic_id: str, end: int) -> list[dict[str, object]]:
        found = TopicsNow({"orders": topic_id}, {"orders": {0: end}})
        return list(mended(scene.config, scene.catalog, "orders", found, is_sure=True))

    with pytest.raises(TableError, match="would be added once more"):
        mend(OLD, 5)
    with pytest.raises(TableError, match="would be added once more"):
        mend(OLD, 1)  # fewer records, as after an unclean end, but the same topic
    with pytest.raises(TableError, match="no table of the configuration has the topic x"):
        list(mended(scene.config, scene.catalog, "x", TopicsNow({}, {}), is_sure=True))
    with pytest.raises(TableError, match="there is no topic orders"):
        list(mended(scene.config, scene.catalog, "orders", TopicsNow({}, {}), is_sure=True))
    assert [it["what"] for it in mend(NEW, 5)] == ["begin topic again"]
    scene.table = scene.catalog.load_table("shop.orders")
    state = table_state(scene.table.properties, ["orders"])
    assert (state.offsets, state.topic_ids, state.checkpoint) == (
        {"orders": {}},
        {"orders": NEW},
        1,
    )
    # A job that has not noticed adds nothing: neither what it read of the earlier topic, nor by its old checkpoint.
    with pytest.raises(TableError, match="was deleted and created again"):
        scene.commit(told, 3, topic_ids={"orders": OLD}, checkpoint=1)
    with pytest.raises(TableError, match="begun again while this job ran"):
        scene.commit(told, 3)
    again = scene.told(records([{"id": 3}]))
    assert scene.commit(again, 1, topic_ids={"orders": NEW}, checkpoint=1)
    assert sorted(it["id"] for it in scene.rows()) == [1, 2, 3]


def test_a_topic_of_unknown_id_that_is_shorter_than_its_table_is_another_one(
    tmp_path: Path,
) -> None:
    """As in tables of older versions."""
    scene = TableScene(tmp_path, COLUMNS)
    scene.commit(scene.told(records([{"id": 1}, {"id": 2}])), 2)
    same = TopicsNow({"orders": NEW}, {"orders": {0: 2}})
    with pytest.raises(TableError, match="would be added once more"):
        list(mended(scene.config, scene.catalog, "orders", same, is_sure=True))
    found = TopicsNow({}, {"orders": {0: 1}})
    assert len(list(mended(scene.config, scene.catalog, "orders", found, is_sure=True))) == 1
    scene.table = scene.catalog.load_table("shop.orders")
    scene.commit(scene.told(records([{"id": 1}, {"id": 2}])), 2, checkpoint=1)
    found = TopicsNow({}, {"orders": {0: 2}})
    with pytest.raises(TableError, match="would be added once more"):
        list(mended(scene.config, scene.catalog, "orders", found, is_sure=True))


def test_why_a_table_stopped_is_kept_until_it_goes_on(tmp_path: Path) -> None:
    scene = TableScene(tmp_path, COLUMNS)

    def reason() -> object:
        (row,) = status_rows(scene.config, scene.catalog, {"orders": {0: 1}})
        return row["stopped"]

    assert reason() is None
    note_stopped(scene.table, "a reason", 7)
    assert reason() == "a reason"
    row, _ = checked_table(scene.configured, scene.table, RegisteredColumns())
    assert row is not None
    assert row["stopped"] == "a reason"
    note_running(scene.table)
    assert reason() is None
    note_stopped(scene.table, "x" * 10_000, 8)
    assert reason() == "x" * 2_000
    scene.commit(scene.told(records([{"id": 1}])), 1, scene.catalog.load_table("shop.orders"))
    assert reason() is None


def test_fields_that_are_left_out_are_kept_up_to_a_number(tmp_path: Path) -> None:
    scene = TableScene(tmp_path, COLUMNS)
    for number in range(3):
        ignored = {f"f{number}-{it}": "why" for it in range(60)}
        told = scene.told(records([{"id": number}], start=number))
        scene.commit(told, number + 1, scene.catalog.load_table("shop.orders"), ignored=ignored)
    (row,) = status_rows(scene.config, scene.catalog, {"orders": {0: 3}})
    kept = row["ignored_fields"]
    assert isinstance(kept, list)
    assert len(kept) == MAX_IGNORED_FIELDS
    assert {f"f0-{it}" for it in range(60)} < set(kept)


@pytest.mark.parametrize(
    ("partition_by", "told"),
    [
        ('["truncate(10, id)", "bucket(4, id)"]', "bucket(4, id): id is there twice"),
        ('["day(at)"]', "day(at): it is called at_day, as a column is: rename that column"),
    ],
)
def test_a_check_tells_of_partitions_that_cannot_be_written(
    tmp_path: Path, partition_by: str, told: str
) -> None:
    columns = "columns = { id = 'long', at = 'timestamptz', at_day = 'int' }\n"
    config = config_of(tmp_path, f"{columns}partition_by = {partition_by}\n")
    row, (problem,) = checked_table(config.tables[0], None, RegisteredColumns())
    assert row is None
    assert told in problem


def test_a_table_whose_columns_come_with_its_records_may_have_none(tmp_path: Path) -> None:
    assert TableScene(tmp_path, "record_columns = false\n").table.schema().fields == ()


def test_the_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    scene = TableScene(tmp_path, COLUMNS)
    broken(scene, column(""))
    file = tmp_path / "shop.toml"
    file.write_text(config_text(tmp_path, COLUMNS))
    assert run(["pipeline", "mend", str(file), "--yes"]) == 0
    assert "drop column" in capfd.readouterr().out
    refuse_unwritable("shop.orders", scene.catalog.load_table("shop.orders").metadata)
