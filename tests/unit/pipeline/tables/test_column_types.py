"""Types of columns: their texts, what documents show, and what a table adds."""

import itertools
from typing import Any

import pytest

from headrace.pipeline.tables.column_types import (
    additions,
    column_fields,
    parse_type,
    schema_of_shape,
)
from headrace.pipeline.tables.rows import decode_shape, encode_shape
from headrace.pipeline.tables.shapes import ListShape, MapShape, merged_fields, shape_of

TEXTS = [
    "long",
    "decimal(9, 2)",
    "list<string>",
    "map<string, double>",
    "struct<id: long, at: list<timestamptz>>",
    "list<struct<a: map<string, list<int>>, b: decimal(3, 0)>>",
]


@pytest.mark.parametrize("text", TEXTS)
def test_texts_of_types(text: str) -> None:
    kind = parse_type(text, itertools.count(1))
    again = parse_type(str(kind) if kind.is_primitive else text, itertools.count(1))
    assert again == kind


@pytest.mark.parametrize(
    "text",
    ["", "number", "list", "list<", "list<long", "list<long>>", "struct<>", "decimal(50, 2)", "decimal(2, 3)",
     "map<long>", "struct<a long>", "list<" * 40 + "long" + ">" * 40, "lo;ng"],
)  # fmt: skip
def test_what_is_no_type(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no type|more than one"):
        parse_type(text, itertools.count(1))


@pytest.mark.parametrize(
    ("documents", "shape"),
    [
        ([{"a": 1}, {"a": 1 << 40}], {"a": "long"}),
        ([{"a": 1}, {"a": 0.5}], {"a": "float"}),
        ([{"a": 1}, {"a": "x"}], {"a": "string"}),
        ([{"a": True}, {"a": 1}], {"a": "string"}),
        ([{"a": None}, {}], {"a": None}),
        ([{"a": []}, {"a": [1, None]}], {"a": ListShape("int")}),
        ([{"a": {"b": 1}}, {"a": {"c": "x"}}], {"a": {"b": "int", "c": "string"}}),
        ([{"a": "2026-01-02"}, {"a": "2026-01-03"}], {"a": "date"}),
        ([{"a": "2026-01-02T10:00:00Z"}], {"a": "timestamptz"}),
        ([{"a": "2026-01-02T10:00:00"}, {"a": "later"}], {"a": "string"}),
    ],
)
def test_what_documents_show(documents: list[dict[str, Any]], shape: dict[str, Any]) -> None:
    found: dict[str, Any] = {}
    for it in documents:
        one = shape_of(it, with_times=True)
        found = merged_fields(found, one if isinstance(one, dict) else {})
    assert found == shape
    assert decode_shape(encode_shape(found)) == found


def test_what_a_table_adds() -> None:
    from pyiceberg.schema import Schema

    texts = {
        "a": "int",
        "b": "float",
        "c": "struct<d: int>",
        "e": "decimal(5, 2)",
        "f": "list<int>",
        "g": "string",
    }
    struct = Schema(*column_fields(texts, itertools.count(1))).as_struct()
    same = {
        "a": "int",
        "b": "float",
        "c": {"d": "int"},
        "e": "decimal(4, 2)",
        "f": ListShape("int"),
        "g": "long",
    }
    assert additions(struct, same) == {}
    more = {
        "a": "long",
        "b": "double",
        "c": {"d": "long", "e": "int"},
        "e": "decimal(9, 2)",
        "f": ListShape("long"),
        "h": "int",
        "i": MapShape("string", "float"),
        "j": None,
    }
    found = additions(struct, more)
    assert found == {
        "a": "long",
        "b": "double",
        "c": {"d": "long", "e": "long"},
        "e": "decimal(9, 2)",
        "f": ListShape("long"),
        "h": "long",
        "i": MapShape("string", "double"),
    }
    assert len(schema_of_shape(found).fields) == 7
