"""Topics to Iceberg tables: what other readers of the table see, whatever happens to the job."""

import json
import random
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import duckdb
import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField
from pyspark.sql import SparkSession

from headrace.pipeline.tables.catalogs import open_catalog
from headrace.pipeline.tables.checking import check_tables
from headrace.pipeline.tables.errors import TableError
from headrace.pipeline.tables.mending import TopicsNow, mended
from headrace.pipeline.tables.status import status_rows
from headrace.pipeline.tables.table_files import stored_files
from headrace.pipeline.tables.topic_ids import topic_ids
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


@pytest.mark.parametrize("partition_by", [[], ["bucket(2, id)"]])
def test_an_upsert_makes_few_files_whatever_spark_is_set_to(
    spark: SparkSession,
    world: TablesWorld,
    create_topic: Callable[..., str],
    partition_by: list[str],
) -> None:
    """Without a setting for shuffles: Spark's own is 200 tasks, each of which would write files."""
    topic = create_topic("many", partitions=3)
    table = {"name": "shop.many", "topics": [topic], "mode": "upsert", "key": "id"}
    config = world.config({**table, "partition_by": partition_by})
    number = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "200")
    try:
        for run in range(3):
            for partition in range(3):
                keys = [b"c%d" % it for it in range(300) if it % 3 == partition]
                sent = [(it, json.dumps({"n": run}).encode()) for it in keys]
                world.produce_records(topic, partition, sent)
            assert world.run(spark, config) == {}
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", str(number))
    assert sorted(world.added_files(config, "shop.many")) == [max(1, len(partition_by) * 2)] * 3
    rows = world.rows(config, "shop.many")
    assert sorted((it["id"], it["n"]) for it in rows) == sorted((f"c{it}", 2) for it in range(300))


def test_names_that_spark_cannot_tell_apart(
    spark: SparkSession, world: TablesWorld, create_topic: Callable[..., str]
) -> None:
    topic, other = create_topic("names"), create_topic("both")
    tables = [
        {"name": "shop.names", "topics": [topic], "columns": {"id": "long", "note": "string"}},
        {"name": "shop.both", "topics": [other], "similar_names": "add"},
    ]
    config = world.config(tables)
    odd = {"id": 2, "Note": "upper", "kafka_offset": 77, "a-b": 1, "a_x2Db": 2, "x.y": 3}
    for it in (topic, other):
        world.produce(it, [{"id": 1, "note": "lower"}, odd])
    assert world.run(spark, config) == {}
    frame = spark.read.format("iceberg").load(world.table(config, "shop.names").metadata_location)
    rows = frame.selectExpr("id", "note", "kafka_offset", "`a-b`", "`x.y`").orderBy("id").collect()
    assert [tuple(it) for it in rows] == [(1, "lower", 0, None, None), (2, None, 1, 1, 3)]
    said = {
        it["table"]: it["ignored_fields"]
        for it in status_rows(config, open_catalog(config.catalog), {})
    }
    assert said == {
        "shop.names": ["Note", "a_x2Db", "kafka_offset"],
        "shop.both": ["a_x2Db", "kafka_offset"],
    }
    both = spark.read.format("iceberg").load(world.table(config, "shop.both").metadata_location)
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        rows = both.selectExpr("id", "note", "Note").orderBy("id").collect()
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
    assert [tuple(it) for it in rows] == [(1, "lower", None), (2, None, "upper")]


def test_a_table_with_a_column_that_no_file_can_have_is_mended(
    spark: SparkSession, world: TablesWorld, create_topic: Callable[..., str]
) -> None:
    """As an older version may have left it: the schema has the column, and no file could be written."""
    topic = create_topic("broken")
    config = world.config({"name": "shop.broken", "topics": [topic], "columns": {"id": "long"}})
    world.produce(topic, [{"id": 1}])
    assert world.run(spark, config) == {}
    with world.table(config, "shop.broken").update_schema() as update:
        update.union_by_name(Schema(NestedField(1, "", LongType(), required=False)))
    world.produce(topic, [{"id": 2}])
    why = (
        "no data file can be written with its column `` (it has an empty name): "
        "`headrace pipeline mend FILE` drops it"
    )
    stopped = world.run(spark, config)
    assert stopped == {"shop.broken": f"table shop.broken: {why}"}
    catalog = open_catalog(config.catalog)
    (row,) = status_rows(config, catalog, {topic: {0: 2}})
    assert (row["stopped"], row["lag"]) == (stopped["shop.broken"], 1)
    rows, problems = check_tables(config)
    assert rows[0]["stopped"] == stopped["shop.broken"]
    assert problems == [f"table shop.broken: {why}"]
    for is_sure in (False, True):
        (done,) = mended(config, catalog, "", TopicsNow({}, {}), is_sure=is_sure)
        assert (done["what"], done["name"], done["done"]) == ("drop column", "", is_sure)
        assert (world.run(spark, config) == {}) == is_sure
    assert sorted(it["id"] for it in world.rows(config, "shop.broken")) == [1, 2]
    (row,) = status_rows(config, catalog, {topic: {0: 2}})
    assert (row["stopped"], row["lag"]) == (None, 0)


def test_a_topic_that_is_deleted_and_created_again_stops_its_table_until_it_is_begun_again(
    spark: SparkSession, world: TablesWorld, create_topic: Callable[..., str]
) -> None:
    topic, stays, dead = create_topic("again"), create_topic("stays"), create_topic("dead")
    table = {"name": "shop.again", "topics": [topic, stays], "columns": {"id": "long"}}
    config = world.config(table, dead_letters={"topic": dead})
    world.produce(topic, [{"id": 1}, b"bad", {"id": 2}])
    world.produce(stays, [{"id": 3}])
    assert world.run(spark, config) == {}
    admin = AdminClient({"bootstrap.servers": world.bootstrap})
    for futures in (
        admin.delete_topics([topic]),
        admin.create_topics([NewTopic(topic, 1)]),
    ):
        futures[topic].result(30)
    world.produce(topic, [{"id": 11}, b"worse", {"id": 12}, {"id": 13}])
    stopped = world.run(spark, config)["shop.again"]
    assert f"topic {topic} was deleted and created again" in stopped
    catalog = open_catalog(config.catalog)
    ends = {topic: {0: 4}, stays: {0: 1}}
    assert {it["stopped"] for it in status_rows(config, catalog, ends)} == {stopped}
    assert check_tables(config)[1] == [stopped]
    assert sorted(it["id"] for it in world.rows(config, "shop.again")) == [1, 2, 3]

    found = TopicsNow(topic_ids(config.source, [topic]), ends)
    for is_sure in (False, True):
        (done,) = mended(config, catalog, topic, found, is_sure=is_sure)
        assert (done["what"], done["name"], done["done"]) == ("begin topic again", topic, is_sure)
        assert (world.run(spark, config) == {}) == is_sure
    with pytest.raises(TableError, match="would be added once more"):
        list(mended(config, catalog, topic, found, is_sure=True))
    assert sorted(it["id"] for it in world.rows(config, "shop.again")) == [1, 2, 3, 11, 12, 13]
    letters = world.letters(dead)
    assert [place(it) for it in letters] == [f"{topic}-0-1"] * 2
    assert len({it[2]["headrace.topic-id"] for it in letters}) == 2
    assert [it[1] for it in letters] == [b"bad", b"worse"]
    world.produce(topic, [{"id": 14}])
    assert world.run(spark, config) == {}
    assert len(world.rows(config, "shop.again")) == 7
    left = sorted(it.name for it in (world.directory / "checkpoint").iterdir())
    assert left == ["shop.again@1"]


def test_a_table_that_is_dropped_and_created_again_is_not_filled_from_the_middle(
    spark: SparkSession, world: TablesWorld, create_topic: Callable[..., str]
) -> None:
    topic = create_topic("dropped")
    config = world.config({"name": "shop.dropped", "topics": [topic], "columns": COLUMNS})
    world.produce(topic, documents(0, 10))
    assert world.run(spark, config) == {}
    open_catalog(config.catalog).drop_table("shop.dropped")
    world.produce(topic, documents(10, 20))
    stopped = world.run(spark, config)["shop.dropped"]
    place_ = f"file://{world.directory}/checkpoint/shop.dropped"
    assert f"has the records of {topic}-0 up to offset 0 only" in stopped
    assert f"remove {place_}" in stopped
    (world.directory / "checkpoint").rename(world.directory / "gone")
    assert world.run(spark, config) == {}
    assert digest(world.rows(config, "shop.dropped")) == digest(documents(0, 20))
