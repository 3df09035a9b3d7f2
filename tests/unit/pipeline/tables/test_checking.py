"""What a check says of a table that is there and the newest schema of its registry."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from headrace.pipeline.tables import checking
from headrace.pipeline.tables.checking import checked_table
from headrace.pipeline.tables.configuration import TableConfig
from headrace.pipeline.tables.registered_columns import RegisteredColumns
from tests.unit.pipeline.tables.registry_server import RegistryServer
from tests.unit.pipeline.tables.table_scene import TableScene, records

OWN_COLUMNS = 4  # where a record was


@pytest.fixture
def registry() -> Iterator[RegistryServer]:
    with RegistryServer() as server:
        yield server


def problems(
    directory: Path, registry: RegistryServer, kinds: dict[str, object], **changes: object
) -> tuple[int, list[str]]:
    """Columns and problems of a table with `id` as int and `name` as string, whose newest schema has fields."""
    fields = [{"name": name, "type": kind} for name, kind in kinds.items()]
    registry.register("orders-value", json.dumps({"type": "record", "name": "R", "fields": fields}))
    given = 'columns = { id = "int", name = "string" }\n'
    scene = TableScene(directory, f'{given}format = "avro"\nregistry = "{registry.url}"\n')
    table: TableConfig = replace(scene.configured, **changes)  # type: ignore[arg-type]
    row, told = checked_table(table, scene.table, RegisteredColumns())
    assert row is not None
    assert scene.catalog.load_table(table.name).schema() == scene.table.schema()  # as it was
    return row["columns"] - OWN_COLUMNS, told  # type: ignore[operator,return-value]


@pytest.mark.parametrize("kind", ["int", "long", ["null", "long"]])
def test_a_schema_that_fits(tmp_path: Path, registry: RegistryServer, kind: object) -> None:
    assert problems(tmp_path, registry, {"id": kind, "more": "double"}) == (3, [])


def test_a_schema_that_does_not_fit(tmp_path: Path, registry: RegistryServer) -> None:
    inner = {"type": "record", "name": "I", "fields": [{"name": "x", "type": "int"}]}
    count, (problem,) = problems(tmp_path, registry, {"id": inner})
    assert count == 2
    assert problem.startswith("column id cannot take the newest schema: ")


def test_more_columns_than_it_may_have(tmp_path: Path, registry: RegistryServer) -> None:
    _, told = problems(tmp_path, registry, {"id": "int", "more": "int"}, max_columns=6)
    assert told == ["it would have 7 columns, and max_columns is 6"]


def test_new_fields_that_are_not_added(tmp_path: Path, registry: RegistryServer) -> None:
    assert problems(tmp_path, registry, {"more": "int"}, new_fields="ignore") == (2, [])


def test_tables_that_share_a_topic_ask_for_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clients refuse to ask for one twice, and then no table would notice another topic."""
    scene = TableScene(tmp_path, "columns = { id = 'long' }\n")
    told = scene.told(records([{"id": 1}]))
    scene.commit(told, 1, topic_ids={"orders": "old"})
    more = replace(scene.configured, name="shop.copy")
    asked: list[list[str]] = []

    def ask(_: object, topics: Sequence[str]) -> dict[str, str]:
        asked.append(list(topics))
        return {"orders": "new"}

    monkeypatch.setattr(checking, "topic_ids", ask)
    monkeypatch.setattr(checking, "missing_topics", lambda *_: [])
    _, wrong = checking.check_tables(replace(scene.config, tables=(scene.configured, more)))
    assert asked == [["orders"]]
    assert any("topic orders was deleted and created again" in it for it in wrong)
