"""Produce and fetch as the protocol has them: sequences, sizes, waiting, order of answers."""

import struct
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from kafka.protocol.metadata import ApiVersionsRequest, ApiVersionsResponse
from kafka.protocol.producer import ProduceResponse

from tests.e2e.client_programs import AIOKAFKA, CONFLUENT, KAFKA_PYTHON, LIBRARIES, LibraryClient
from tests.e2e.conftest import AnyBroker
from tests.e2e.records import Record
from tests.e2e.wire import PRODUCE_VERSION, WireConnection, batch, produce_request
from tests.environment.processes import cpu_seconds

CORRUPT_MESSAGE = 2
OFFSET_OUT_OF_RANGE = 1
UNKNOWN_TOPIC_OR_PARTITION = 3
MESSAGE_TOO_LARGE = 10
INVALID_REQUIRED_ACKS = 21
OUT_OF_ORDER_SEQUENCE_NUMBER = 45
INVALID_PRODUCER_EPOCH = 47
MIB = 1 << 20


@pytest.fixture
def wire(bootstrap: str) -> Iterator[WireConnection]:
    """A connection to the shared broker."""
    with WireConnection(bootstrap) as connection:
        yield connection


# --- idempotence (KIP-98) -----------------------------------------------------------------------


def test_a_repeated_batch_is_stored_once_and_acknowledged_alike(
    wire: WireConnection, topic: str
) -> None:
    producer = wire.new_producer_id()
    first = wire.produce(topic, batch([b"a", b"b"], producer=producer, sequence=0))
    again = wire.produce(topic, batch([b"a", b"b"], producer=producer, sequence=0))
    assert (first.error_code, first.base_offset) == (0, 0)
    assert (again.error_code, again.base_offset) == (0, 0)
    after = wire.produce(topic, batch([b"c"], producer=producer, sequence=2))
    assert (after.error_code, after.base_offset) == (0, 2)


def test_any_of_the_last_five_batches_may_be_repeated(wire: WireConnection, topic: str) -> None:
    producer = wire.new_producer_id()
    for sequence in range(6):
        wire.produce(topic, batch([b"x"], producer=producer, sequence=sequence))
    for sequence in range(1, 6):
        again = wire.produce(topic, batch([b"x"], producer=producer, sequence=sequence))
        assert (again.error_code, again.base_offset) == (0, sequence)


def test_a_gap_in_the_sequence_is_refused(wire: WireConnection, topic: str) -> None:
    producer = wire.new_producer_id()
    wire.produce(topic, batch([b"a"], producer=producer, sequence=0))
    gap = wire.produce(topic, batch([b"c"], producer=producer, sequence=2))
    assert gap.error_code == OUT_OF_ORDER_SEQUENCE_NUMBER
    assert wire.produce(topic, batch([b"b"], producer=producer, sequence=1)).base_offset == 1


def test_an_older_epoch_is_refused(wire: WireConnection, topic: str) -> None:
    producer_id, epoch = wire.new_producer_id()
    newer = (producer_id, epoch + 1)
    assert wire.produce(topic, batch([b"a"], producer=newer, sequence=0)).error_code == 0
    older = wire.produce(topic, batch([b"b"], producer=(producer_id, epoch), sequence=1))
    assert older.error_code == INVALID_PRODUCER_EPOCH


def test_producer_ids_are_never_given_twice(wire: WireConnection) -> None:
    ids = [wire.new_producer_id()[0] for _ in range(50)]
    assert len(set(ids)) == 50


@pytest.mark.parametrize("client", LIBRARIES, ids=lambda client: client.name)
def test_idempotent_producers_write_each_record_once(
    bootstrap: str, create_topic: Callable[..., str], client: LibraryClient
) -> None:
    topic = create_topic("idempotent", partitions=2)
    records = [Record(str(number).encode(), partition=number % 2) for number in range(2000)]
    acks = client.produce(bootstrap, topic, records, options=["--idempotent"])
    assert all(ack.error == 0 for ack in acks)
    stored = CONFLUENT.consume(bootstrap, topic, len(records))
    for partition in range(2):
        values = [int(item.value) for item in stored if item.partition == partition]
        assert values == list(range(partition, 2000, 2))


# --- acknowledgements ---------------------------------------------------------------------------


@pytest.mark.parametrize("acks", [0, 1, -1])
@pytest.mark.parametrize("client", LIBRARIES, ids=lambda client: client.name)
def test_each_level_of_acknowledgement(
    bootstrap: str, topic: str, client: LibraryClient, acks: int
) -> None:
    records = [Record(str(number).encode()) for number in range(50)]
    told = client.produce(bootstrap, topic, records, options=["--acks", str(acks)])
    assert all(ack.error == 0 for ack in told)
    if acks:
        assert [ack.offset for ack in told] == list(range(50))
    stored = KAFKA_PYTHON.consume(bootstrap, topic, 50)
    assert [int(item.value) for item in stored] == list(range(50))


def test_other_acks_are_refused(wire: WireConnection, topic: str) -> None:
    assert wire.produce(topic, batch([b"a"]), acks=2).error_code == INVALID_REQUIRED_ACKS


def test_pipelined_requests_are_answered_in_order(wire: WireConnection, topic: str) -> None:
    sent = []
    for number in range(40):
        request = produce_request(topic, batch([str(number).encode()]))
        sent.append(wire.send(request, PRODUCE_VERSION))
        if number % 10 == 0:
            versions = ApiVersionsRequest(client_software_name="wire", client_software_version="1")
            sent.append(wire.send(versions, 3))
    offsets, answered = [], []
    for position in range(len(sent)):
        if position % 11 == 1:
            answer = wire.receive(ApiVersionsResponse, 3)
        else:
            answer = wire.receive(ProduceResponse, PRODUCE_VERSION)
            offsets.append(answer.responses[0].partition_responses[0].base_offset)
        answered.append(answer.header.correlation_id)
    assert answered == sent
    assert offsets == list(range(40))


# --- what is refused ----------------------------------------------------------------------------


def test_a_batch_with_a_wrong_checksum_is_refused(wire: WireConnection, topic: str) -> None:
    damaged = bytearray(batch([b"a" * 100]))
    damaged[-1] ^= 1
    assert wire.produce(topic, bytes(damaged)).error_code == CORRUPT_MESSAGE
    assert wire.produce(topic, batch([b"whole"])).base_offset == 0


def test_a_partition_that_does_not_exist(wire: WireConnection, topic: str) -> None:
    answer = wire.produce(topic, batch([b"a"]), partition=7)
    assert answer.error_code == UNKNOWN_TOPIC_OR_PARTITION


def test_a_frame_of_absurd_size_closes_the_connection(bootstrap: str) -> None:
    with WireConnection(bootstrap) as connection:
        connection.send_bytes(struct.pack(">i", 2**31 - 1))
        assert connection.is_closed_by_peer()
    with WireConnection(bootstrap) as connection:
        connection.send_bytes(struct.pack(">i", -5))
        assert connection.is_closed_by_peer()


def test_a_newer_api_versions_request_is_answered_in_version_0(wire: WireConnection) -> None:
    """KIP-511: error 35 and the supported versions, so that the client can ask again."""
    header = struct.pack(">hhih", 18, 99, 5, -1)
    wire.send_bytes(struct.pack(">i", len(header) + 1) + header + b"\0")
    answer = wire.receive(ApiVersionsResponse, 0)
    assert answer.error_code == 35
    assert any(item.api_key == 18 for item in answer.api_keys)


# --- sizes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("client", LIBRARIES, ids=lambda client: client.name)
def test_large_records_pass_where_the_topic_lets_them(
    bootstrap: str, create_topic: Callable[..., str], client: LibraryClient
) -> None:
    topic = create_topic("large", config={"max.message.bytes": str(8 * MIB)})
    sizes = (1_000_000, 5 * MIB, 10, 3 * MIB)
    records = [Record(bytes([65 + i]) * size) for i, size in enumerate(sizes)]
    acks = client.produce(bootstrap, topic, records, options=["--max-request-bytes", str(8 * MIB)])
    assert [ack.offset for ack in acks] == [0, 1, 2, 3]
    # A consumer whose own limit is smaller than a record gets it all the same (KIP-74).
    stored = client.consume(bootstrap, topic, 4, ["--max-partition-fetch-bytes", "65536"])
    assert [item.value for item in stored] == [record.value for record in records]


@pytest.mark.parametrize("client", LIBRARIES, ids=lambda client: client.name)
def test_a_record_above_the_topics_limit_is_refused(
    bootstrap: str, topic: str, client: LibraryClient
) -> None:
    options = ["--max-request-bytes", str(8 * MIB)]
    (ack,) = client.produce(bootstrap, topic, [Record(b"x" * (2 * MIB))], options=options)
    assert ack.error == MESSAGE_TOO_LARGE
    (small,) = client.produce(bootstrap, topic, [Record(b"x")])
    assert small.offset == 0


# --- fetch --------------------------------------------------------------------------------------


def test_a_fetch_in_the_middle_of_a_batch_gives_the_whole_batch(
    wire: WireConnection, topic: str
) -> None:
    whole = batch([b"a", b"b", b"c"])
    wire.produce(topic, whole)
    answer = wire.fetch(topic, 2)
    assert answer.high_watermark == 3
    assert len(answer.records) == len(whole)
    assert bytes(answer.records[61:]) == whole[61:]


def test_offsets_outside_the_log(wire: WireConnection, topic: str) -> None:
    wire.produce(topic, batch([b"a"]))
    assert wire.fetch(topic, 5).error_code == OFFSET_OUT_OF_RANGE
    at_the_end = wire.fetch(topic, 1)
    assert (at_the_end.error_code, bytes(at_the_end.records or b"")) == (0, b"")


def test_limits_of_a_fetch_hold_but_for_one_batch(wire: WireConnection, topic: str) -> None:
    one = batch([b"x" * 10_000])
    for _ in range(10):
        wire.produce(topic, one)
    assert len(wire.fetch(topic, 0, partition_max_bytes=1).records) == len(one)
    assert len(wire.fetch(topic, 0, max_bytes=1).records) == len(one)
    some = wire.fetch(topic, 0, partition_max_bytes=35_000).records
    assert len(one) <= len(some) <= 35_000
    assert len(wire.fetch(topic, 0).records) == 10 * len(one)


def test_an_empty_fetch_waits_as_long_as_it_was_told(wire: WireConnection, topic: str) -> None:
    started = time.monotonic()
    answer = wire.fetch(topic, 0, max_wait_ms=1500)
    assert 1.4 <= time.monotonic() - started < 4
    assert (answer.error_code, answer.high_watermark) == (0, 0)


def test_a_waiting_fetch_is_answered_when_data_arrives(
    bootstrap: str, wire: WireConnection, topic: str
) -> None:
    waited: list[float] = []

    def wait() -> None:
        started = time.monotonic()
        assert wire.fetch(topic, 0, max_wait_ms=15_000).high_watermark == 1
        waited.append(time.monotonic() - started)

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.5)
    with WireConnection(bootstrap) as other:
        other.produce(topic, batch([b"a"]))
    waiting.join()
    assert 0.4 < waited[0] < 5


def test_a_fetch_waits_for_its_minimum_of_bytes(
    bootstrap: str, wire: WireConnection, topic: str
) -> None:
    wire.produce(topic, batch([b"x" * 100]))
    started = time.monotonic()
    answer = wire.fetch(topic, 0, max_wait_ms=1000, min_bytes=100_000)
    assert time.monotonic() - started >= 0.9
    assert len(answer.records) > 100  # what there is, once the time is up
    started = time.monotonic()
    wire.fetch(topic, 0, max_wait_ms=15_000, min_bytes=10)
    assert time.monotonic() - started < 5


def test_waiting_consumers_cost_nothing(broker: AnyBroker, topic: str) -> None:
    connections = [WireConnection(broker.bootstrap) for _ in range(20)]
    waiting = [
        threading.Thread(target=connection.fetch, args=(topic, 0), kwargs={"max_wait_ms": 3000})
        for connection in connections
    ]
    for thread in waiting:
        thread.start()
    before = cpu_seconds(broker.process.process_id)
    for thread in waiting:
        thread.join()
    # Both cores could have spent 6 s.
    assert cpu_seconds(broker.process.process_id) - before < 1


# --- topics that are made when they are named ---------------------------------------------------


@pytest.mark.parametrize("client", [KAFKA_PYTHON, CONFLUENT, AIOKAFKA], ids=lambda c: c.name)
def test_producing_creates_the_topic(bootstrap: str, client: LibraryClient) -> None:
    topic = f"made-by-{client.name}"
    (ack,) = client.produce(bootstrap, topic, [Record(b"first")])
    assert (ack.error, ack.offset) == (0, 0)
    assert [item.value for item in client.consume(bootstrap, topic, 1)] == [b"first"]


@pytest.mark.parametrize("client", LIBRARIES, ids=lambda client: client.name)
def test_seeking(bootstrap: str, topic: str, client: LibraryClient) -> None:
    CONFLUENT.produce(bootstrap, topic, [Record(str(number).encode()) for number in range(100)])
    stored = client.consume(bootstrap, topic, 10, ["--start", "42"])
    assert [item.offset for item in stored] == list(range(42, 52))
    # Past the end: the client starts where its reset policy says.
    stored = client.consume(bootstrap, topic, 1, ["--start", "1000"])
    assert [item.offset for item in stored] == [0]
