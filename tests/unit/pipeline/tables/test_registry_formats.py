"""Avro, JSON Schema and Protobuf by a registry: rows, new columns, and what is refused."""

import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import fastavro
import pytest
from google.protobuf import message_factory
from google.protobuf.descriptor_pool import DescriptorPool

from headrace.pipeline.tables.avro_format import AvroSchema
from headrace.pipeline.tables.errors import BadRecordError, TableError
from headrace.pipeline.tables.protobuf_format import compiled, read_indexes
from headrace.pipeline.tables.registry import RegisteredSchema, SchemaRegistry
from headrace.pipeline.tables.write_task import FILE
from tests.unit.pipeline.tables.registry_server import RegistryServer, framed
from tests.unit.pipeline.tables.table_scene import TableScene, records
from tests.unit.pipeline.tables.test_tables import bad

AVRO = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "price", "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}]},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "sizes", "type": {"type": "map", "values": "double"}},
        {"name": "count", "type": "int"},
    ],
}  # fmt: skip
AT = datetime(2026, 11, 27, 12, tzinfo=UTC)
ORDER = {
    "id": 1, "price": Decimal("1.25"), "at": AT, "kind": "B", "tags": ["x"], "sizes": {"w": 0.5}, "count": 3,
}  # fmt: skip
PROTO = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
import "other.proto";
message Envelope { message Inner { string text = 1; } Inner inner = 1; }
message Order {
  enum Kind { NONE = 0; BIG = 1; }
  int64 id = 1; Kind kind = 2; google.protobuf.Timestamp at = 3; repeated string tags = 4;
  map<string, double> sizes = 5; Other other = 6; optional string note = 7; bytes raw = 8; uint64 large = 9;
}
"""
OTHER = 'syntax = "proto3"; package shop; message Other { int32 n = 1; }'
JSON_SCHEMA = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "at": {"type": "string", "format": "date-time"},
        "sizes": {"type": "object", "additionalProperties": {"type": "number"}},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["id"],
}


@pytest.fixture
def registry() -> Iterator[RegistryServer]:
    with RegistryServer() as server:
        yield server


def scene_of(directory: Path, registry: RegistryServer, kind: str) -> TableScene:
    return TableScene(directory, f'format = "{kind}"\nregistry = "{registry.url}"\n')


def written(scene: TableScene, values: list[bytes]) -> list[tuple[str, bytes]]:
    """What a task tells of values, once the table has the columns that they need."""
    scene.evolve(scene.told(records(values)))
    told = scene.told(records(values))
    assert FILE in {kind for kind, _ in told}
    scene.commit(told, len(values))
    return told


def avro(schema: object, document: object) -> bytes:
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, schema, document)  # type: ignore[arg-type]
    return stream.getvalue()


def test_avro(tmp_path: Path, registry: RegistryServer) -> None:
    first = registry.register("orders-value", json.dumps(AVRO))
    wider = {
        **AVRO,
        "fields": [
            *AVRO["fields"][:-1],
            {"name": "count", "type": "long"},
            {"name": "more", "type": ["null", "string"]},
        ],
    }  # type: ignore[misc]
    second = registry.register("orders-value", json.dumps(wider))
    values = [
        framed(first, avro(AVRO, ORDER)),
        framed(second, avro(wider, {**ORDER, "id": 2, "count": 1 << 40, "more": "m"})),
        framed(9, b""),
        framed(first, b"\x02"),
        framed(first, avro(AVRO, ORDER) + b"x"),
        b"{}",
    ]
    scene = scene_of(tmp_path, registry, "avro")
    reasons = [it.reason for it in bad(written(scene, values))]
    assert reasons[0] == "the registry has no schema 9"
    assert reasons[1].startswith("it is no Avro of its schema")
    assert reasons[2] == "it is longer than its Avro schema says"
    assert reasons[3] == "it does not begin with the id of a schema in the registry"
    one, two = scene.rows()
    assert {it: one[it] for it in ("id", "price", "at", "kind", "tags", "count")} == {
        it: ORDER[it] for it in ("id", "price", "at", "kind", "tags", "count")
    }
    assert one["sizes"] == [("w", 0.5)]
    assert one["more"] is None
    assert (two["count"], two["more"]) == (1 << 40, "m")
    assert str(scene.catalog.load_table("shop.orders").schema().find_type("count")) == "long"


def proto_values(schema: RegisteredSchema) -> tuple[bytes, bytes]:
    pool = DescriptorPool()
    for it in compiled(schema).file:
        pool.Add(it)
    order = message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Order"))()
    order.id, order.kind, order.large = 7, 1, 1 << 63
    order.at.FromDatetime(AT)
    order.tags.extend(["x", "y"])
    order.sizes["w"] = 0.5
    order.other.n = 4
    order.raw = b"\xff"
    inner = message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Envelope.Inner"))()
    inner.text = "in"
    return order.SerializeToString(), inner.SerializeToString()


def test_protobuf(tmp_path: Path, registry: RegistryServer) -> None:
    registry.register("other", OTHER, "PROTOBUF")
    reference = {"name": "other.proto", "subject": "other", "version": 1}
    number = registry.register("orders-value", PROTO, "PROTOBUF", [reference])
    order, inner = proto_values(SchemaRegistry(registry.url).schema(number))
    values = [
        framed(number, b"\x02\x02" + order),  # one index: 1
        framed(number, b"\x04\x00\x00" + inner),  # two indexes: 0, 0
        framed(number, b"\x02\x08" + order),  # there is no message 4
        framed(number, b"\x02\x02" + order[:-1]),
    ]
    scene = scene_of(tmp_path, registry, "protobuf")
    assert [it.reason.split(":")[0] for it in bad(written(scene, values))] == [
        "its schema has no message at [4]",
        "it is no message shop.Order",
    ]
    one, two = scene.rows()
    assert (one["id"], one["kind"], one["at"], one["tags"]) == (7, "BIG", AT, ["x", "y"])
    assert (one["sizes"], one["other"], one["note"], one["raw"]) == (
        [("w", 0.5)],
        {"n": 4},
        None,
        b"\xff",
    )
    assert int(one["large"]) == 1 << 63
    assert two["text"] == "in"


@pytest.mark.parametrize(
    ("payload", "indexes", "start"),
    [(b"\x00rest", [0], 1), (b"\x02\x02rest", [1], 2), (b"\x04\x00\x80\x01r", [0, 64], 4)],
)
def test_message_indexes(payload: bytes, indexes: list[int], start: int) -> None:
    assert read_indexes(payload) == (indexes, start)


@pytest.mark.parametrize("payload", [b"", b"\x02", b"\x80" * 9, b"\x01", b"\xfe\xff\x7f"])
def test_message_indexes_that_are_none(payload: bytes) -> None:
    with pytest.raises(BadRecordError, match="message indexes"):
        read_indexes(payload)


def test_json_schema(tmp_path: Path, registry: RegistryServer) -> None:
    number = registry.register("orders-value", json.dumps(JSON_SCHEMA), "JSON")
    documents = [
        {"id": 1, "at": "2026-11-27T12:00:00Z", "sizes": {"w": 0.5}, "tags": [], "own": 3},
        {"id": "x"},
    ]
    values = [framed(number, json.dumps(it).encode()) for it in documents]
    scene = scene_of(tmp_path, registry, "json_schema")
    (only,) = bad(written(scene, values))
    assert only.reason == "it does not fit its schema: $.id: 'x' is not of type 'integer'"
    (row,) = scene.rows()
    assert (row["id"], row["at"], row["sizes"], row["tags"], row["own"]) == (
        1,
        AT,
        [("w", 0.5)],
        [],
        3,
    )


def test_a_registry_is_asked_once_for_a_schema_and_again_after_a_failure(
    registry: RegistryServer,
) -> None:
    number = registry.register("s", '"string"')
    registry.fails = 1
    client = SchemaRegistry(registry.url)
    assert (
        client.schema(number) == client.schema(number) == RegisteredSchema("AVRO", '"string"', ())
    )
    assert registry.asked == [f"/schemas/ids/{number}"] * 2
    registry.fails = 9
    with pytest.raises(TableError, match=r"does not answer /schemas/ids/5: 500"):
        client.schema(5)


TREE = """
syntax = "proto3";
message Node { int64 id = 1; Node left = 2; repeated Node right = 3; map<string, Node> more = 4; Chain chain = 5; }
message Chain { int64 n = 1; Chain next = 2; }
"""


def test_types_that_contain_each_other_end(tmp_path: Path, registry: RegistryServer) -> None:
    """A chain becomes columns 32 deep, and a tree does not become 3 to the power of that."""
    branch = ["null", "Node"]
    avro_tree = {
        "type": "record",
        "name": "Node",
        "fields": [
            {"name": "id", "type": "long"},
            *({"name": it, "type": branch} for it in ("left", "right")),
        ],
    }
    ids = [
        registry.register("avro", json.dumps(avro_tree)),
        registry.register("proto", TREE, "PROTOBUF"),
    ]
    pool = DescriptorPool()
    for it in compiled(SchemaRegistry(registry.url).schema(ids[1])).file:
        pool.Add(it)
    node = message_factory.GetMessageClass(pool.FindMessageTypeByName("Node"))(id=7)
    node.left.id, node.chain.next.n = 8, 9
    leaf = {"id": 8, "left": None, "right": None}
    values = {
        "avro": framed(ids[0], avro(avro_tree, {"id": 7, "left": leaf, "right": None})),
        "protobuf": framed(ids[1], b"\0" + node.SerializeToString()),
    }
    for kind, value in values.items():
        directory = tmp_path / kind
        directory.mkdir()
        scene = scene_of(directory, registry, kind)
        written(scene, [value])
        (row,) = scene.rows()
        assert row["id"] == 7
        assert json.loads(row["left"])["id"] == 8


NOTHING = {"type": "record", "name": "Nothing", "fields": [{"name": "n", "type": "null"}]}


@pytest.mark.parametrize(
    "items",
    ["null", NOTHING, {"type": "null"}, {"type": "fixed", "name": "F", "size": 0},
     {"type": "record", "name": "Other", "fields": []}],
)  # fmt: skip
def test_avro_whose_items_take_no_bytes_is_refused(items: object) -> None:
    """A record of four bytes would become as many items as it says."""
    array = {"type": "array", "items": items}
    for kind in (array, ["null", array], {"type": "map", "values": array}, {"type": "array", "items": array},
                 {"type": "record", "name": "In", "fields": [{"name": "a", "type": array}]}):  # fmt: skip
        schema = {"type": "record", "name": "R", "fields": [{"name": "a", "type": kind}]}
        with pytest.raises(BadRecordError, match="an array whose items take no bytes"):
            AvroSchema(RegisteredSchema("AVRO", json.dumps(schema), ()), "")
    earlier = {"type": "record", "name": "R", "fields": [
        {"name": "once", "type": items},
        {"name": "a", "type": {"type": "array", "items": items["name"]}},
    ]} if isinstance(items, dict) and "name" in items else None  # fmt: skip
    if earlier is not None:
        with pytest.raises(BadRecordError, match="an array whose items take no bytes"):
            AvroSchema(RegisteredSchema("AVRO", json.dumps(earlier), ()), "")


def test_avro_whose_items_take_bytes_is_read_however_its_types_refer_to_each_other() -> None:
    """Also where the ways through them are very many."""
    last = {
        "type": "record",
        "name": "T0",
        "fields": [{"name": "e", "type": NOTHING}, {"name": "x", "type": "int"}],
    }
    for number in range(1, 8):
        before = f"T{number - 1}"
        fields = [{"name": "a", "type": last}, {"name": "b", "type": before}]
        last = {"type": "record", "name": f"T{number}", "fields": fields}
    schema = {"type": "record", "name": "R", "fields": [
        {"name": "l", "type": {"type": "array", "items": last}},
        {"name": "u", "type": {"type": "array", "items": ["null"]}},
        {"name": "k", "type": {"type": "array", "items": {"type": "enum", "name": "E", "symbols": ["A"]}}},
        {"name": "m", "type": {"type": "map", "values": "null"}},
    ]}  # fmt: skip
    AvroSchema(RegisteredSchema("AVRO", json.dumps(schema), ()), "")
