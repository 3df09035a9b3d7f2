"""Avro, JSON Schema and Protobuf by a registry, in streams: schemas that change, ids that nobody knows, no registry."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import message_factory
from google.protobuf.descriptor_pool import DescriptorPool
from pyspark.sql import SparkSession

from headrace.pipeline.tables.protobuf_format import compiled
from headrace.pipeline.tables.registry import SchemaRegistry
from tests.e2e.tables_world import TablesWorld, place
from tests.unit.pipeline.tables.registry_server import RegistryServer, framed
from tests.unit.pipeline.tables.test_registry_formats import avro

pytestmark = [pytest.mark.spark, pytest.mark.java, pytest.mark.timeout(300)]

FORMATS = ("avro", "json_schema", "protobuf")
UNKNOWN_ID = 999
NOTE = {"name": "note", "type": ["null", "string"], "default": None}
AVRO: list[dict[str, Any]] = [
    {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}, *more]}
    for more in ([], [NOTE])
]
OBJECTS: list[dict[str, Any]] = [
    {"type": "object", "properties": {"id": {"type": "integer"}, **more}}
    for more in ({}, {"note": {"type": "string"}})
]
MESSAGES = [
    f'syntax = "proto3"; message Order {{ int64 id = 1; {more} }}'
    for more in ("", "optional string note = 2;")
]


@pytest.fixture
def registry() -> Iterator[RegistryServer]:
    with RegistryServer() as server:
        yield server


def message(registry: RegistryServer, schema_id: int, document: dict[str, Any]) -> bytes:
    """A Protobuf message of a schema, with the index of its first message."""
    pool = DescriptorPool()
    for it in compiled(SchemaRegistry(registry.url).schema(schema_id)).file:
        pool.Add(it)
    kind = message_factory.GetMessageClass(pool.FindMessageTypeByName("Order"))
    return b"\0" + bytes(kind(**document).SerializeToString())


def values(registry: RegistryServer, kind: str, version: int, ids: range) -> list[bytes]:
    """Records of one version of a format's schema, which is registered."""
    documents = [{"id": it} | ({"note": f"n{it}"} if version else {}) for it in ids]
    if kind == "avro":
        number = registry.register(kind, json.dumps(AVRO[version]))
        payloads = [avro(AVRO[version], it) for it in documents]
    elif kind == "json_schema":
        number = registry.register(kind, json.dumps(OBJECTS[version]), "JSON")
        payloads = [json.dumps(it).encode() for it in documents]
    else:
        number = registry.register(kind, MESSAGES[version], "PROTOBUF")
        payloads = [message(registry, number, it) for it in documents]
    return [framed(number, it) for it in payloads]


def test_schemas_that_change_in_mid_stream(
    spark: SparkSession,
    bootstrap: str,
    create_topic: Callable[..., str],
    registry: RegistryServer,
    tmp_path: Path,
) -> None:
    """Two micro-batches of each topic: the second begins among records of the first schema."""
    world = TablesWorld(bootstrap, tmp_path)
    topics, dead = {it: create_topic(it) for it in FORMATS}, create_topic("dead")
    tables = [
        {"name": f"shop.{it}", "topics": [topics[it]], "format": it, "registry": registry.url}
        for it in FORMATS
    ]
    source = {"bootstrap_servers": bootstrap, "max_offsets_per_trigger": 8}
    config = world.config(tables, source=source, dead_letters={"topic": dead})
    for it in FORMATS:
        older, newer = values(registry, it, 0, range(10)), values(registry, it, 1, range(10, 15))
        world.produce(topics[it], [*older, framed(UNKNOWN_ID, b"\0"), *newer])
    assert world.run(spark, config) == {}
    wanted = [(it, None) for it in range(10)] + [(it, f"n{it}") for it in range(10, 15)]
    for it in FORMATS:
        rows = world.rows(config, f"shop.{it}")
        assert sorted((row["id"], row["note"]) for row in rows) == wanted, it
        assert len(list(world.table(config, f"shop.{it}").snapshots())) == 2
    letters = {place(it): it[2]["headrace.reason"] for it in world.letters(dead)}
    reason = f"the registry has no schema {UNKNOWN_ID}".encode()
    assert letters == {f"{topics[it]}-0-10": reason for it in FORMATS}


def test_a_registry_that_is_away_stops_its_table_only(
    spark: SparkSession,
    bootstrap: str,
    create_topic: Callable[..., str],
    registry: RegistryServer,
    tmp_path: Path,
) -> None:
    world = TablesWorld(bootstrap, tmp_path)
    topic, other, dead = (create_topic(it) for it in ("away", "here", "dead"))
    tables = [
        {"name": "shop.away", "topics": [topic], "format": "avro", "registry": registry.url},
        {"name": "shop.here", "topics": [other]},
    ]
    config = world.config(tables, dead_letters={"topic": dead})
    sent = values(registry, "avro", 0, range(5))
    world.produce(topic, sent)
    world.produce(other, [{"id": 1}])
    registry.fails = 1_000
    stopped = world.run(spark, config)
    assert set(stopped) == {"shop.away"}
    path = f"/schemas/ids/{int.from_bytes(sent[0][1:5], 'big')}"
    assert stopped["shop.away"].startswith(
        f"the registry {registry.url} does not answer {path}: 500"
    )
    assert registry.asked == [path] * 3
    assert [it["id"] for it in world.rows(config, "shop.here")] == [1]
    registry.fails = 0
    assert world.run(spark, config) == {}
    assert sorted(it["id"] for it in world.rows(config, "shop.away")) == [*range(5)]
    assert world.letters(dead) == []
