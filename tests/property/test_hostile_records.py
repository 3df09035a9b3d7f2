"""No record stops a table: each hostile document, of all formats, becomes exactly one row or one dead letter."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from headrace.pipeline.tables.registry_formats import FORMATS
from tests.environment.rotation import turn_of_today
from tests.property.hostile_documents import PROTO, TYPES, HostileDocuments
from tests.unit.pipeline.tables.registry_server import RegistryServer, framed
from tests.unit.pipeline.tables.table_scene import RECORDS, TableScene
from tests.unit.pipeline.tables.test_tables import bad

SEED = turn_of_today(1)[0]
MICRO_BATCH = 4_000  # records
COLUMNS = "columns = { " + ", ".join(f"{name} = '{kind}'" for name, kind in TYPES.items()) + " }\n"
PARTITIONED = "partition_by = ['day(at)', 's', 'bucket(2, id)', 'truncate(2, price)']\n"
UPSERT = "mode = 'upsert'\nkey = 'k'\nkey_type = 'long'\nmax_columns = 60\n"
Make = Callable[[HostileDocuments], bytes]


@pytest.fixture
def registry() -> Iterator[RegistryServer]:
    with RegistryServer() as server:
        yield server


def hostile_batch(
    documents: HostileDocuments, make: Make, start: int, count: int
) -> pa.RecordBatch:
    """Records of one partition."""
    usual = [
        {
            "key": documents.key(),
            "value": make(documents),
            "topic": "orders",
            "partition": 0,
            "offset": start + it,
        }
        for it in range(count)
    ]
    times = pa.array([documents.time_us() for _ in usual]).cast(pa.timestamp("us", "UTC"))
    return pa.RecordBatch.from_pylist(usual, schema=RECORDS).set_column(
        5, RECORDS.field("timestamp"), times
    )


def feed(scene: TableScene, make: Make, micro_batches: int, count: int = MICRO_BATCH) -> None:
    """Run micro-batches, and look at what has become of each record."""
    documents = HostileDocuments(SEED)
    refused: set[int] = set()
    for number in range(micro_batches):
        batch = hostile_batch(documents, make, number * count, count)
        run = scene.run(batch, max_bad=count)
        found = [it.offset for it in bad(run.told)]
        assert len(set(found)) == len(found)
        refused.update(found)
        assert scene.commit(run.told, (number + 1) * count, ignored=run.ignored)
    rows = scene.catalog.load_table("shop.orders").scan().to_arrow()
    offsets = rows.column("kafka_offset").to_pylist()
    assert refused, "the documents are not hostile"
    assert offsets, "the documents are not documents"
    if scene.configured.mode == "append":
        assert sorted([*offsets, *refused]) == list(range(micro_batches * count))
    else:
        newest = {
            key: it for it, key in enumerate(batch.column("key").to_pylist()) if it not in refused
        }
        assert sorted(offsets) == sorted(newest.values())


def by_registry(directory: Path, registry: RegistryServer, kind: str, more: str = "") -> TableScene:
    text = f"format = '{kind}'\nregistry = '{registry.url}'\nmax_columns = 60\n"
    return TableScene(directory, text + more)


@pytest.mark.parametrize(
    ("more", "micro_batches"),
    [
        pytest.param(COLUMNS + "max_columns = 60\n", 4, marks=pytest.mark.slow),
        pytest.param(COLUMNS + PARTITIONED + "new_fields = 'ignore'\n", 1, marks=pytest.mark.slow),
        pytest.param("max_columns = 200\n", 4, marks=pytest.mark.slow),
        pytest.param("similar_names = 'add'\nmax_columns = 60\n", 4, marks=pytest.mark.slow),
        pytest.param(COLUMNS + "similar_names = 'reject'\nrequired = ['id']\n", 2, marks=pytest.mark.slow),
        pytest.param(COLUMNS + UPSERT, 1, marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_json(tmp_path: Path, more: str, micro_batches: int) -> None:
    feed(TableScene(tmp_path, more), HostileDocuments.json, micro_batches)


def test_a_few_of_all_formats(tmp_path: Path, registry: RegistryServer) -> None:
    """What the slow tests do a hundred times as often."""
    for kind, make in {"json": HostileDocuments.json, **registered(registry)}.items():
        directory = tmp_path / kind
        directory.mkdir()
        more = "max_columns = 60\n"
        scene = (
            TableScene(directory, more)
            if kind == "json"
            else by_registry(directory, registry, kind)
        )
        feed(scene, make, 1, 60)


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(FORMATS))
def test_formats_with_a_registry(tmp_path: Path, registry: RegistryServer, kind: str) -> None:
    feed(by_registry(tmp_path, registry, kind), registered(registry)[kind], 3)


def registered(registry: RegistryServer) -> dict[str, Make]:
    """Values of registered schemas, of each format."""
    documents = HostileDocuments(SEED)
    pairs = [documents.schemas() for _ in range(5)]
    avro = [(registry.register("avro", json.dumps(read)), written) for read, written in pairs]
    objects = {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "": {"type": "string"}, "Id": {}},
    }
    number = registry.register("json_schema", json.dumps(objects), "JSON")
    message = registry.register("protobuf", PROTO, "PROTOBUF")
    turn = iter(range(1 << 40))

    def of_avro(made: HostileDocuments) -> bytes:
        schema_id, written = avro[next(turn) % len(avro)]
        return framed(schema_id, made.avro(written))

    return {
        "avro": of_avro,
        "json_schema": lambda made: framed(number, made.json()),
        "protobuf": lambda made: framed(message, made.protobuf()),
    }
