"""Whatever one client writes, with whatever compression, every client reads alike."""

from collections.abc import Callable

import pytest

from tests.e2e.client_programs import AIOKAFKA, CONFLUENT, JAVA, KAFKA_PYTHON, KCAT, ClientProgram
from tests.e2e.records import Headers, Record

CLIENTS = (KAFKA_PYTHON, CONFLUENT, AIOKAFKA, KCAT, JAVA)
COMPRESSIONS = ("none", "gzip", "snappy", "lz4", "zstd")
HEADERS = (("origin", b"test"), ("language", "français".encode()))
WRITTEN_AT_MS = 1_700_000_000_000

Written = tuple[str, list[Record]]

pytestmark = pytest.mark.usefixtures("java_tools", "kcat")


def text_records(compression: str) -> list[Record]:
    """Records that every client can write: text, with keys and the same two headers."""
    return [
        Record(
            key=f"{compression}-{number}".encode(),
            value=(f"wörth {number} " * (1 + 40 * (number % 3))).strip().encode(),
            headers=HEADERS,
        )
        for number in range(30)
    ]


def library_records(writer: ClientProgram, compression: str) -> list[Record]:
    """Records that take a library: nulls, empty strings, any byte, odd headers, own timestamps."""
    every_byte = bytes(range(256))
    odd_headers: Headers = (("", b""), ("twice", b"1"), ("twice", b"2"))
    if writer is not KAFKA_PYTHON:  # which refuses to write one
        odd_headers += (("null", None),)
    stems = [
        Record(key=None, value=every_byte),
        Record(key=every_byte, value=None),
        Record(key=b"", value=b"", headers=odd_headers),
        Record(key=compression.encode(), value=every_byte * 300, headers=(("x", every_byte),)),
    ]
    return [
        Record(stem.value, stem.key, stem.headers, timestamp_ms=WRITTEN_AT_MS + 1000 * number)
        for number, stem in enumerate(stems)
    ]


@pytest.fixture(scope="module")
def written(
    bootstrap: str, create_topic: Callable[..., str]
) -> dict[str, tuple[str, list[Record]]]:
    """Per client, the topic that it wrote with each compression in turn, and what it wrote."""
    topics = {}
    for client in CLIENTS:
        topic = create_topic(f"exchange-{client.name}")
        records: list[Record] = []
        for compression in COMPRESSIONS:
            batch = text_records(compression)
            client.produce(bootstrap, topic, batch, compression=compression)
            records += batch
        topics[client.name] = (topic, records)
    return topics


@pytest.mark.parametrize("reader", CLIENTS, ids=lambda client: client.name)
@pytest.mark.parametrize("writer", CLIENTS, ids=lambda client: client.name)
def test_every_client_reads_what_any_client_wrote(
    bootstrap: str,
    written: dict[str, Written],
    writer: ClientProgram,
    reader: ClientProgram,
) -> None:
    topic, records = written[writer.name]
    stored = reader.consume(bootstrap, topic, len(records))
    assert [item.content for item in stored] == [(r.key, r.value, r.headers) for r in records]
    assert [item.offset for item in stored] == list(range(len(records)))
    assert {item.timestamp_type for item in stored} == {0}


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("writer", [KAFKA_PYTHON, CONFLUENT, AIOKAFKA], ids=lambda c: c.name)
def test_nulls_headers_any_bytes_and_timestamps_survive(
    bootstrap: str, topic: str, writer: ClientProgram, compression: str
) -> None:
    records = library_records(writer, compression)
    acks = writer.produce(bootstrap, topic, records, compression=compression)
    assert [ack.offset for ack in acks] == [0, 1, 2, 3]
    stored = CONFLUENT.consume(bootstrap, topic, len(records))
    assert [item.content for item in stored] == [(r.key, r.value, r.headers) for r in records]
    assert [item.timestamp_ms for item in stored] == [r.timestamp_ms for r in records]


@pytest.mark.parametrize("reader", [KAFKA_PYTHON, AIOKAFKA], ids=lambda client: client.name)
def test_partitions_keep_their_own_order(
    bootstrap: str, create_topic: Callable[..., str], reader: ClientProgram
) -> None:
    topic = create_topic("order", partitions=3)
    records = [Record(value=str(number).encode(), partition=number % 3) for number in range(300)]
    CONFLUENT.produce(bootstrap, topic, records)
    stored = reader.consume(bootstrap, topic, 300)
    for partition in range(3):
        mine = [item for item in stored if item.partition == partition]
        assert [int(item.value) for item in mine] == list(range(partition, 300, 3))
        assert [item.offset for item in mine] == list(range(100))
