"""Columns by the newest schemas of a registry, as a check tells them."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headrace.pipeline.tables.configuration import TableConfig
from headrace.pipeline.tables.registered_columns import RegisteredColumns
from tests.unit.pipeline.tables.registry_server import RegistryServer
from tests.unit.pipeline.tables.table_scene import config_of
from tests.unit.pipeline.tables.test_registry_formats import AVRO, JSON_SCHEMA, OTHER

PROTO = 'syntax = "proto3"; package shop; message First { string name = 1; } message Order { int32 n = 1; }'


@pytest.fixture
def registry() -> Iterator[RegistryServer]:
    with RegistryServer() as server:
        yield server


def table_of(directory: Path, registry: RegistryServer, kind: str, **changes: Any) -> TableConfig:
    text = f'format = "{kind}"\nregistry = "{registry.url}"\n'
    (table,) = config_of(directory, text).tables
    return replace(table, **changes)


def test_each_format_gives_its_columns(tmp_path: Path, registry: RegistryServer) -> None:
    registry.register("orders-value", json.dumps({**AVRO, "fields": []}))
    registry.register("orders-value", json.dumps(AVRO))  # the newest counts
    registry.register("objects", json.dumps(JSON_SCHEMA), "JSON")
    registry.register("messages", PROTO, "PROTOBUF")
    ask = RegisteredColumns().columns
    columns, problems = ask(table_of(tmp_path, registry, "avro"))
    assert ([*columns], problems) == (["id", "price", "at", "kind", "tags", "sizes", "count"], [])
    assert columns["count"] == "long"  # as a new column has it
    by_objects = table_of(tmp_path, registry, "json_schema", subjects=("objects",))
    assert set(ask(by_objects)[0]) == {"id", "at", "sizes", "tags"}
    by_messages = table_of(tmp_path, registry, "protobuf", subjects=("messages",))
    assert ask(by_messages) == ({"name": "string"}, [])
    named = replace(by_messages, message="shop.Order")
    assert ask(named) == ({"n": "long"}, [])


def test_all_problems_of_subjects_are_told(tmp_path: Path, registry: RegistryServer) -> None:
    registry.register("objects", "{}", "JSON")
    registry.register("messages", OTHER, "PROTOBUF", [{"name": "x", "subject": "x", "version": 1}])
    wanted = ("nobody", "objects", "messages")
    columns, problems = RegisteredColumns().columns(
        table_of(tmp_path, registry, "protobuf", subjects=wanted)
    )
    assert columns == {}
    assert problems == [
        f"the registry {registry.url} has no subject nobody: register its schema, or name other subjects by "
        "`subjects`",
        "subject objects: its newest schema is of the format JSON, not PROTOBUF",
        "subject messages: the registry has no subject x",
    ]


def test_a_silent_registry_is_asked_once(tmp_path: Path, registry: RegistryServer) -> None:
    registry.fails = 9
    ask = RegisteredColumns().columns
    table = table_of(tmp_path, registry, "avro", subjects=("a", "b"))
    for _ in range(2):
        columns, (problem,) = ask(table)
        assert columns == {}
        assert problem.startswith(
            f"the registry {registry.url} does not answer /subjects/a/versions/latest: 500"
        )
    assert len(registry.asked) == 3
