"""Rows of real transactions under both levels of isolation: the same batches in Apache Kafka and in our objects."""

import random
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import SparkSession

from headrace.pipeline.source.catalog import TopicPartition
from headrace.pipeline.source.tail.brokers import BrokerAccess, Brokers, ask_metadata
from headrace.pipeline.source.tail.connection import BrokerConnection
from headrace.protocol.records.batch import split_batches
from tests.e2e.admin_calls import end_offsets
from tests.e2e.spark_buckets import CODECS, START_MS, rows
from tests.environment.kafka import ApacheKafka, kafka_jars
from tests.unit.pipeline.source.stored_topics import TOPIC, StoredTopics
from tests.unit.pipeline.source.transactional_log import TransactionalLog

pytestmark = [pytest.mark.spark, pytest.mark.java, pytest.mark.timeout(600)]

PARTITIONS = 2
ROUNDS = 25
LEVELS = ("read_uncommitted", "read_committed")


@dataclass
class World:
    """A topic of Apache Kafka, its rows by Spark's Kafka source, and buckets with its batches."""

    bootstrap: str
    seed: int
    by_kafka: dict[str, list[tuple[Any, ...]]]  # by level
    logs: list[TransactionalLog]
    whole: str  # URI of the bucket that has all
    half: str


def produce(bootstrap: str, rng: random.Random) -> list[Producer]:
    """Interleave transactions of three producers, and records without; return what must stay open."""
    common = {"bootstrap.servers": bootstrap, "linger.ms": "0"}
    plain = Producer({**common, "enable.idempotence": "true"})
    longest = {"transaction.timeout.ms": "900000"}  # what is open stays open
    producers = [
        Producer(
            {
                **common,
                **longest,
                "transactional.id": f"t{it}",
                "compression.type": rng.choice(CODECS),
            }
        )
        for it in range(3)
    ]
    for it in producers:
        it.init_transactions(30)
    is_open = [False] * len(producers)
    for _ in range(ROUNDS):
        which = rng.randrange(len(producers))
        chosen = producers[which]
        if not is_open[which]:
            chosen.begin_transaction()
            is_open[which] = True
        for it in (chosen, plain):
            for _ in range(rng.randrange(4)):
                it.produce(
                    TOPIC,
                    key=rng.choice([None, b"", b"key"]),
                    value=rng.choice([None, b"", rng.randbytes(20)]),
                    headers=rng.choice([[], [("h", None), ("h", b"1")]]),
                    partition=rng.randrange(PARTITIONS),
                    timestamp=START_MS + rng.randrange(10**6),
                )
            it.flush(30)
        if rng.random() < 0.5:
            chosen.abort_transaction(30) if rng.random() < 0.5 else chosen.commit_transaction(30)
            is_open[which] = False
    for which, it in enumerate(producers):
        if is_open[which]:
            it.commit_transaction(30)
    producers[0].begin_transaction()
    for it in (producers[0], plain):  # open to the end, with records of others behind it
        it.produce(TOPIC, value=b"end", partition=0, timestamp=START_MS)
        it.flush(30)
    return producers


def fetched(bootstrap: str) -> tuple[str, Any, list[TransactionalLog]]:
    """Cluster id, topic id and the batches of each partition, by Fetch as the tail is read."""
    host, _, port = bootstrap.rpartition(":")
    with closing(BrokerConnection(host, int(port))) as connection:
        found = ask_metadata(connection, [TOPIC])
    topic_id = found.topics[0].topic_id
    logs = []
    with closing(Brokers(BrokerAccess((bootstrap,), found.cluster_id, False))) as brokers:
        for partition, end in end_offsets(bootstrap, TOPIC, PARTITIONS).items():
            log = TransactionalLog()
            while log.end_offset < end:
                name = TopicPartition(TOPIC, partition)
                it = brokers.fetch(name, topic_id, log.end_offset, is_read_committed=False)
                for header, batch in split_batches(it.records):
                    log.batches.append(bytes(batch))
                    log.end_offset = header.next_offset
            logs.append(log)
    return found.cluster_id, topic_id, logs


def stored(
    directory: Path, cluster: str, topic_id: Any, logs: list[TransactionalLog], part: float
) -> str:
    """Write a bucket with the first part of the batches, in objects that end anywhere."""
    bucket = StoredTopics(
        lambda stream, *bounds: logs[stream // 2].stored(stream, *bounds), cluster
    )
    layout = {}
    for number, log in enumerate(logs):
        bounds = log.bounds()[: 1 + int(len(log.batches) * part)]
        for start, end in pairwise(sorted({*bounds[::7], bounds[-1]})):
            layout[len(layout)] = [(2 * number, start, end)]
    bucket.publish(layout, [0] * len(logs), topic_id=topic_id)
    directory.mkdir()
    return bucket.write_to(directory)


def rows_by_kafka(spark: SparkSession, bootstrap: str) -> dict[str, list[tuple[Any, ...]]]:
    reader = spark.read.format("kafka").option("subscribe", TOPIC)
    reader = reader.option("kafka.bootstrap.servers", bootstrap).option("includeHeaders", "true")
    return {it: rows(reader.option("kafka.isolation.level", it).load()) for it in LEVELS}


@pytest.fixture(scope="module")
def world(
    spark: SparkSession, component: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    component(kafka_jars)
    directory = tmp_path_factory.mktemp("transactions")
    seed = random.randrange(1 << 32)
    with ApacheKafka(directory / "kafka", heap_mib=512) as kafka:
        admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
        config = {"message.timestamp.type": "CreateTime", "retention.ms": "-1"}
        topic = NewTopic(TOPIC, PARTITIONS, 1, config=config)
        admin.create_topics([topic])[TOPIC].result(30)
        end_offsets(kafka.bootstrap, TOPIC, PARTITIONS)
        kept_open = produce(kafka.bootstrap, random.Random(seed))
        by_kafka = rows_by_kafka(spark, kafka.bootstrap)
        cluster, topic_id, logs = fetched(kafka.bootstrap)
        whole = stored(directory / "whole", cluster, topic_id, logs, 1)
        half = stored(directory / "half", cluster, topic_id, logs, 0.5)
        yield World(kafka.bootstrap, seed, by_kafka, logs, whole, half)
        del kept_open


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("tail", ["none", "broker"])
def test_the_rows_are_those_of_the_kafka_source(
    spark: SparkSession, world: World, level: str, tail: str
) -> None:
    options = {
        "bucket": world.whole if tail == "none" else world.half,
        "subscribe": TOPIC,
        "includeHeaders": "true",
        "minPartitions": "5",
        "tail": tail,
        "kafka.bootstrap.servers": world.bootstrap,
        "kafka.isolation.level": level,
    }
    found = rows(spark.read.format("headrace").options(**options).load())
    assert found == world.by_kafka[level], f"random.Random({world.seed})"


def test_the_levels_differ(world: World) -> None:
    """Something was aborted, and something is behind an open transaction."""
    shown, decided = (world.by_kafka[it] for it in LEVELS)
    assert 0 < len(decided) < len(shown)
    assert [it for it in shown if it[4] == b"end"]
    assert not [it for it in decided if it[4] == b"end"]
