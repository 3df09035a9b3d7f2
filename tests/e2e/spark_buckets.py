"""What tests that read a bucket by Spark have in common."""

import random
import time
import urllib.request
from typing import Any

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import DataFrame

from headrace.pipeline.source.bucket import open_bucket
from headrace.pipeline.source.catalog import TopicPartition as SourcePartition
from headrace.pipeline.source.errors import SourceError
from headrace.pipeline.source.snapshots import newest_catalog
from headrace.protocol.records.batch import HEADER_BYTES, encode_header, parse_header
from headrace.protocol.records.record import BatchOptions, encode_batch
from headrace.protocol.records.record import Record as RawRecord
from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.client_programs import CONFLUENT
from tests.e2e.records import Record
from tests.e2e.wire import WireConnection

START_MS = 1_700_000_000_000
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")

# Of a broker: what is produced is in the bucket soon, and so is the snapshot that says so.
EARLY = {
    "s3.wal.upload.interval.ms": "500",
    "headrace.metadata.snapshot.publish.interval.ms": "1000",
}


def published(bucket: str) -> dict[tuple[str, int], int]:
    """Ends of partitions, by the newest metadata in the bucket."""
    try:
        catalog = newest_catalog(open_bucket(bucket))
    except SourceError:
        return {}  # there is none yet
    names = catalog.matching(".*")
    return {it: stored.end_offset for it in names if (stored := catalog.stored(it)) is not None}


def published_start(bucket: str, topic: str, partition: int) -> int:
    """Where a partition starts, by the newest metadata in the bucket."""
    stored = newest_catalog(open_bucket(bucket)).stored(SourcePartition(topic, partition))
    assert stored is not None
    return stored.start_offset


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    """All columns, comparable, by partition and offset."""
    found = []
    for row in frame.collect():
        headers = None
        if "headers" in row and row.headers is not None:
            headers = [
                (it.key, None if it.value is None else bytes(it.value)) for it in row.headers
            ]
        key, value = (None if it is None else bytes(it) for it in (row.key, row.value))
        place = (row.topic, row.partition, row.offset)
        time_ms = round(row.timestamp.timestamp() * 1_000)
        found.append((*place, key, value, time_ms, row.timestampType, headers))
    return sorted(found, key=lambda it: it[:3])


def records(number: int) -> list[Record]:
    """Nulls, empties, headers of all kinds, in three partitions."""
    kinds = [
        Record(b"value", b"key", (("a", b"1"), ("a", None))),
        Record(None, b"key"),
        Record(b"", b""),
        Record(b"x" * 2_000, None, (("", b""), ("h", b"\xff\xfe"))),
    ]
    return [
        Record(
            kinds[n % 4].value,
            kinds[n % 4].key,
            kinds[n % 4].headers,
            partition=n % 3,
            timestamp_ms=START_MS + 1_000 * n,
        )
        for n in range(number)
    ]


def random_records(rng: random.Random, count: int) -> list[Record]:
    """Any keys, values and headers, null and empty ones among them; times that go back."""

    def some_bytes() -> bytes | None:
        return rng.choice([None, b"", rng.randbytes(rng.randrange(1, 40)), b"x" * 3_000])

    def some_headers() -> tuple[tuple[str, bytes | None], ...]:
        names = ("", "a", "\u00e9\U00010000", "a", "long" * 20)
        return tuple((rng.choice(names), some_bytes()) for _ in range(rng.choice((0, 0, 1, 4))))

    return [
        Record(
            some_bytes(),
            some_bytes(),
            some_headers(),
            partition=rng.randrange(2),
            timestamp_ms=START_MS + rng.randrange(10**9),
        )
        for _ in range(count)
    ]


def consumed(bootstrap: str, topic: str, count: int) -> list[tuple[Any, ...]]:
    """What a consumer gets, as `rows` has it."""
    found = []
    for it in CONFLUENT.consume(bootstrap, topic, count):
        headers = list(it.headers) or None
        place = (topic, it.partition, it.offset)
        found.append((*place, it.key, it.value, it.timestamp_ms, it.timestamp_type, headers))
    return sorted(found, key=lambda it: it[:3])


def fill(broker: HeadraceProcess, rng: random.Random) -> None:
    """Make topics with records of all kinds."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    appended = {"message.timestamp.type": "LogAppendTime"}
    topics = [
        NewTopic("codecs", 3, 1),
        NewTopic("appended", 1, 1, config=appended),
        NewTopic("random", 2, 1),
        NewTopic("random-appended", 2, 1, config=appended),
        NewTopic("raw", 1, 1),
    ]
    for it in admin.create_topics(topics).values():
        it.result(30)
    add(broker, rng)


def add(broker: HeadraceProcess, rng: random.Random) -> None:
    """Add records to those topics, and delete some."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    for codec in CODECS:
        CONFLUENT.produce(broker.bootstrap, "codecs", records(120), compression=codec)
    CONFLUENT.produce(broker.bootstrap, "appended", [Record(b"a"), Record(b"b")])
    for topic in ("random", "random-appended"):
        for _ in range(4):
            sent = random_records(rng, rng.randrange(1, 120))
            CONFLUENT.produce(broker.bootstrap, topic, sent, compression=rng.choice(CODECS))
    low = rng.randrange(1, 5)  # within a batch, mostly
    for it in admin.delete_records([TopicPartition("random", 0, low)]).values():
        it.result(30)
    batch = encode_batch([RawRecord(0, START_MS, b"k", b"v", (("name", b"1"),))], BatchOptions())
    odd = bytes(batch).replace(b"name", b"\xff\x80\xe2\x28")  # a key of a header that is no UTF-8
    with WireConnection(broker.bootstrap) as connection:
        assert connection.produce("raw", with_crc(odd)).error_code == 0


def fill_cleaned(broker: HeadraceProcess) -> int:
    """Make the compacted topic "cleaned", have it cleaned, and return how many records it had."""
    config = {"cleanup.policy": "compact", "segment.ms": "1", "min.cleanable.dirty.ratio": "0.01"}
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.create_topics([NewTopic("cleaned", 1, 1, config=config)])["cleaned"].result(30)
    count = 0
    for turn, codec in enumerate((*CODECS, "none")):
        sent = [
            Record(
                None if number % 7 == 3 else b"%d of %d" % (number, turn),
                b"%d" % (number % 11),
                (("h", b"x"),) if number % 2 else (),
                timestamp_ms=START_MS + 1_000 * count + number,
            )
            for number in range(40)
        ]
        CONFLUENT.produce(broker.bootstrap, "cleaned", sent, compression=codec)
        count += len(sent)
    broker.restart()  # everything is uploaded
    deadline_s = time.monotonic() + 30
    while broker.metrics()["headrace_cleaning_passes_total"] == 0:
        assert time.monotonic() < deadline_s
        headers = {"Content-Type": "application/json"}
        url = broker.admin_url("/compact")
        with urllib.request.urlopen(urllib.request.Request(url, b"{}", headers), timeout=10):
            pass
        time.sleep(1.2)  # until the next page of metrics
    broker.restart()  # in memory the records are as they were written
    return count


def with_crc(batch: bytes) -> bytes:
    return bytes(encode_header(parse_header(batch), batch[HEADER_BYTES:]))
