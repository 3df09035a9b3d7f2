"""Topics to Iceberg tables: what other readers of the table see, whatever happens to the job."""

import random
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import duckdb
import pytest
from pyspark.sql import SparkSession

from headrace.pipeline.tables.table_files import stored_files
from tests.e2e.admin_calls import end_offsets
from tests.e2e.tables_faults import POINTS, DiedError, arm
from tests.e2e.tables_world import TablesWorld, place
from tests.environment.duckdb import provide_duckdb_extensions

pytestmark = [pytest.mark.spark, pytest.mark.java, pytest.mark.timeout(600)]

COLUMNS = {"id": "long", "name": "string", "price": "double", "at": "timestamptz"}
TIDY = {"interval": "1 ms", "remove_orphans_after": "1 ms", "compact_from_files": 1000}


@pytest.fixture
def world(bootstrap: str, tmp_path: Path) -> TablesWorld:
    return TablesWorld(bootstrap, tmp_path)


def documents(start: int, stop: int) -> list[dict[str, object]]:
    return [
        {"id": n, "name": f"n{n}", "price": n / 4, "at": f"2026-11-{n % 3 + 1:02}T10:00:00Z"}
        for n in range(start, stop)
    ]


def digest(rows: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """Count of rows, and sum of their checksums."""
    texts = (f"{it['id']} {it['name']} {it['price']}" for it in rows)
    return len(rows), sum(zlib.crc32(it.encode()) for it in texts)


def read_by_duckdb(metadata: str, home: Path) -> list[tuple[Any, ...]]:
    provide_duckdb_extensions(home)
    connection = duckdb.connect(config={"home_directory": str(home)})
    wanted = "count(*), sum(id), min(name), max(price)"
    return connection.execute(f"select {wanted} from iceberg_scan('{metadata}')").fetchall()


def test_a_topic_becomes_a_table_that_others_read(
    spark: SparkSession, world: TablesWorld, create_topic: Callable[..., str]
) -> None:
    topic = create_topic("orders", partitions=2)
    table = {
        "name": "shop.orders",
        "topics": [topic],
        "columns": COLUMNS,
        "partition_by": ["day(at)"],
    }
    config = world.config(table, maintenance={"remove_orphans_after": "1 ms"})
    world.produce(topic, documents(0, 60))
    for start in (60, 90, 90):  # the last run finds nothing new
        assert world.run(spark, config) == {}
        if start < 90:
            world.produce(topic, documents(start, start + 30))
    rows = world.rows(config, "shop.orders")
    assert digest(rows) == digest(documents(0, 90))
    ends = end_offsets(world.bootstrap, topic, 2)
    for partition in (0, 1):
        offsets = sorted(it["kafka_offset"] for it in rows if it["kafka_partition"] == partition)
        assert offsets == list(range(ends[partition]))
    found = world.table(config, "shop.orders")
    assert {it.file.partition[0] for it in found.scan().plan_files()} == {20758, 20759, 20760}
    assert read_by_duckdb(found.metadata_location, world.directory)[0][:3] == (
        90,
        sum(range(90)),
        "n0",
    )

    frame = spark.read.format("iceberg").load(found.metadata_location)
    assert digest([it.asDict() for it in frame.collect()]) == digest(documents(0, 90))


@pytest.mark.parametrize("point", list(POINTS))
def test_a_driver_that_dies_leaves_nothing_wrong(
    spark: SparkSession,
    world: TablesWorld,
    create_topic: Callable[..., str],
    point: str,
) -> None:
    topic, dead = create_topic("dying"), create_topic("dead")
    table = {"name": "shop.dying", "topics": [topic], "columns": COLUMNS, "new_fields": "ignore"}
    config = world.config(table, dead_letters={"topic": dead}, maintenance=TIDY)
    world.produce(topic, documents(0, 10))
    assert world.run(spark, config) == {}
    world.produce(topic, [*documents(10, 20), b"bad", *documents(20, 30)])
    with pytest.MonkeyPatch.context() as patch:
        arm(point, patch.setattr, died)
        stopped = world.run(spark, config)
        assert "DiedError" in stopped["shop.dying"], stopped
    assert world.run(spark, config) == {}
    assert digest(world.rows(config, "shop.dying")) == digest(documents(0, 30))
    assert [place(it) for it in world.letters(dead)] == [f"{topic}-0-20"]
    assert world.orphans(config, "shop.dying") == []


def died() -> None:
    raise DiedError


def test_a_checkpoint_that_is_lost(
    spark: SparkSession, world: TablesWorld, create_topic: Callable[..., str]
) -> None:
    topic = create_topic("lost", partitions=2)
    config = world.config({"name": "shop.lost", "topics": [topic], "columns": COLUMNS})
    world.produce(topic, documents(0, 50))
    assert world.run(spark, config) == {}
    (world.directory / "checkpoint").rename(world.directory / "gone")
    unfinished = [
        world.directory / "checkpoint" / "shop.lost" / name
        for name in (".metadata.a1.tmp", "offsets/.3.a1.tmp", "commits/..3.a1.tmp.crc")
    ]
    for path in unfinished:  # of a JVM that was killed while it wrote
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    world.produce(topic, documents(50, 60))
    assert world.run(spark, config) == {}
    assert not [it for it in unfinished if it.exists()]
    assert digest(world.rows(config, "shop.lost")) == digest(documents(0, 60))


def test_bad_records_new_columns_and_a_table_that_stops(
    spark: SparkSession, world: TablesWorld, create_topic: Callable[..., str]
) -> None:
    good, other, dead = create_topic("good"), create_topic("other"), create_topic("dead")
    tables = [{"name": "shop.good", "topics": [good]}, {"name": "shop.other", "topics": [other]}]
    config = world.config(tables, dead_letters={"topic": dead, "max_per_batch": 2})
    world.produce(good, [{"id": 1}, b"\xffx", {"id": 2, "more": {"deep": 1.5}}, None])
    world.produce(other, [b"x"] * 4)
    stopped = world.run(spark, config)
    assert set(stopped) == {"shop.other"}
    assert "more than 2 bad records in one micro-batch" in stopped["shop.other"]
    assert "it is no JSON" in stopped["shop.other"]
    rows = sorted(world.rows(config, "shop.good"), key=lambda it: it["id"])
    assert [(it["id"], it["more"], it["kafka_offset"]) for it in rows] == [
        (1, None, 0),
        (2, {"deep": 1.5}, 2),
    ]
    first, second = world.letters(dead)
    assert (place(first), first[1]) == (f"{good}-0-1", b"\xffx")
    assert first[2]["headrace.topic"] == good.encode()
    assert (first[2]["headrace.partition"], first[2]["headrace.offset"]) == (b"0", b"1")
    assert first[2]["headrace.reason"].startswith(b"it is no JSON")
    assert (second[1], second[2]["headrace.reason"]) == (None, b"it has no value")


def test_an_upsert_of_a_compacted_topic(
    spark: SparkSession, world: TablesWorld, create_topic: Callable[..., str]
) -> None:
    topic = create_topic("customers", partitions=2)
    table = {
        "name": "shop.customers",
        "topics": [topic],
        "mode": "upsert",
        "key": "id",
        "partition_by": ["bucket(2, id)"],
    }
    config = world.config(table, maintenance=TIDY)
    expected: dict[str, Any] = {}
    random_ = random.Random(3)
    for number in range(3):
        sent = []
        for _ in range(40):
            key = f"c{random_.randrange(25)}"
            value = (
                None if random_.random() < 0.2 else {"n": random_.randrange(1000), "run": number}
            )
            sent.append((key, value))
            expected[key] = value
        for key, value in sent:
            world.produce(topic, [value], key=key.encode(), partition=zlib.crc32(key.encode()) % 2)
        assert world.run(spark, config) == {}
        rows = world.rows(config, "shop.customers")
        found = {it["id"]: {"n": it["n"], "run": it["run"]} for it in rows}
        assert len(found) == len(rows)
        assert found == {key: value for key, value in expected.items() if value is not None}
    assert world.orphans(config, "shop.customers") == []


def test_copies_are_left_out(
    spark: SparkSession, world: TablesWorld, create_topic: Callable[..., str]
) -> None:
    topic, dead = create_topic("copies"), create_topic("dead")
    table = {
        "name": "shop.copies", "topics": [topic], "columns": {"id": "long", "at": "timestamptz"},
        "deduplicate_by": ["id"], "event_time": "at", "watermark": "10 minutes",
    }  # fmt: skip
    config = world.config(table, dead_letters={"topic": dead})
    once = [{"id": n, "at": f"2026-11-27T10:{n:02}:00Z"} for n in range(5)]
    world.produce(topic, [*once, *once, b"bad", {"id": 9}])
    assert world.run(spark, config) == {}
    world.produce(topic, [*once, {"id": 7, "at": "2026-11-27T10:05:00Z"}])
    assert world.run(spark, config) == {}
    assert sorted(it["id"] for it in world.rows(config, "shop.copies")) == [0, 1, 2, 3, 4, 7]
    reasons = [it[2]["headrace.reason"] for it in world.letters(dead)]
    assert reasons[0].startswith(b"it is no JSON")
    assert reasons[1:] == [b"at is missing, by which copies are left out"]


def test_small_files_are_merged_and_snapshots_expire(
    spark: SparkSession, world: TablesWorld, create_topic: Callable[..., str]
) -> None:
    topic = create_topic("small")
    table = {"name": "shop.small", "topics": [topic], "columns": COLUMNS}
    tidy = {**TIDY, "compact_from_files": 3, "expire_snapshots_after": "1 ms", "min_snapshots": 1}
    config = world.config(table, maintenance=tidy)
    for number in range(4):
        world.produce(topic, documents(number * 10, number * 10 + 10))
        assert world.run(spark, config) == {}
    found = world.table(config, "shop.small")
    assert digest(world.rows(config, "shop.small")) == digest(documents(0, 40))
    assert len(list(found.scan().plan_files())) <= 2
    assert len(found.snapshots()) <= 2
    assert world.orphans(config, "shop.small") == []
    files = [it for it in stored_files(found) if "/data/" in urlparse(it.path).path]
    assert len(files) <= 4
