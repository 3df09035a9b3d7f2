"""Bad batches, sent to Headrace and to Apache Kafka: answers and what is read afterwards differ by a committed list."""

import time
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from kafka.protocol.producer import ProduceResponse

from headrace.protocol.errors import ErrorCode
from headrace.protocol.records.batch import parse_header, split_batches
from headrace.protocol.records.errors import RecordsError
from headrace.protocol.records.record import decode_records
from tests.e2e.bad_batches import FORM_RECORDS, TOPICS, Case, cases
from tests.e2e.conftest import Pair
from tests.e2e.wire import WireConnection, produce_request

pytestmark = [pytest.mark.java, pytest.mark.usefixtures("java_tools")]

MAX_BYTES = 1 << 20


class Outcome(NamedTuple):
    """What a broker made of a case: the answer, and the records as they are read afterwards."""

    code: int | str
    records_in_error: tuple[int, ...]
    stored: tuple[object, ...] | None


class Difference(NamedTuple):
    """What is meant to differ: the cases, both error codes, and why."""

    cases: str  # as `fnmatch` has it
    ours: int
    kafkas: int
    why: str


_UNKNOWN = "Kafka has no error of its own for it, and answers UNKNOWN_SERVER_ERROR"
_OFFSETS = "two records would have one offset, or an offset no record"
_LENGTHS = "Kafka skips the length of a compressed record; nobody can decode what it stores"
_NULL = "librdkafka delivers nothing of such a batch, nor what is behind it"
NONE, INVALID, CODEC, UNKNOWN = (
    int(it)
    for it in (
        ErrorCode.NONE,
        ErrorCode.INVALID_RECORD,
        ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
        ErrorCode.UNKNOWN_SERVER_ERROR,
    )
)
DIFFERENCES = (
    Difference("* codec [57]", CODEC, UNKNOWN, _UNKNOWN),
    Difference("form of lz4, linked blocks", INVALID, UNKNOWN, _UNKNOWN),
    Difference("form of zstd, zeros behind", INVALID, UNKNOWN, _UNKNOWN),
    Difference("codec [1234] *", INVALID, UNKNOWN, _UNKNOWN),
    Difference("*: garbage", INVALID, UNKNOWN, _UNKNOWN),
    Difference("*: varint of six bytes", INVALID, UNKNOWN, _UNKNOWN),
    Difference("*: offset*", INVALID, NONE, _OFFSETS),
    Difference("* records: offset*", INVALID, UNKNOWN, _OFFSETS),
    Difference("* records: length *", INVALID, NONE, _LENGTHS),
    Difference("*: null * of length below -1", INVALID, NONE, _NULL),
    Difference("compact: null key of length below -1", INVALID, INVALID, "no record is named"),
    Difference("*: negative timestamps", NONE, UNKNOWN, "Kafka takes them unless it recompresses"),
)


def outcomes(bootstrap: str, wanted: list[Case], now_ms: int) -> dict[str, Outcome]:
    """Send every case, each to a partition of its own topic."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    made = admin.create_topics(
        [NewTopic(name, 1, 1, config=config) for name, config in TOPICS.items()]
    )
    for each in made.values():
        each.result(30)
    ends = dict.fromkeys(TOPICS, 0)
    found = {}
    connection = WireConnection(bootstrap)
    for topic in TOPICS:
        wait_for_leader(connection, topic)
    for case in wanted:
        request = produce_request(case.topic, case.batch)
        try:
            answer: Any = (
                connection.ask(request, ProduceResponse, case.version)
                .responses[0]
                .partition_responses[0]
            )
        except ConnectionError:
            found[case.name] = Outcome("closed", (), None)
            connection = WireConnection(bootstrap)
            continue
        errors = tuple(it.batch_index for it in getattr(answer, "record_errors", None) or ())
        stored = None
        if answer.error_code == 0:
            assert answer.base_offset == ends[case.topic], "offsets were skipped, or given twice"
            stored = read(connection, case.topic, answer.base_offset, now_ms)
            ends[case.topic] += parse_header(case.batch).records_count
        found[case.name] = Outcome(answer.error_code, errors, stored)
    return found


def wait_for_leader(connection: WireConnection, topic: str) -> None:
    """Topics are led a moment after they are created."""
    deadline = time.monotonic() + 30
    while connection.fetch(topic, 0).error_code != NONE:
        assert time.monotonic() < deadline, f"{topic} is not led"
        time.sleep(0.05)


def read(connection: WireConnection, topic: str, offset: int, now_ms: int) -> tuple[object, ...]:
    """The newest batch as a consumer sees it; times of the broker's own clock are only said to be that."""
    data = memoryview(connection.fetch(topic, offset).records)
    *_, (header, batch) = split_batches(data)
    is_stamped = header.is_log_append_time and header.max_timestamp >= now_ms
    facts: list[object] = [
        header.codec,
        header.attributes & 0xFF78,
        "now" if is_stamped else header.max_timestamp,
        header.next_offset - offset,
    ]
    try:
        for it in decode_records(batch, MAX_BYTES):
            at = "now" if is_stamped else it.timestamp_ms
            facts.append((it.offset - offset, at, it.key, it.value, it.headers))
    except RecordsError:
        facts.append("cannot be decoded")
    return tuple(facts)


def delivered(bootstrap: str, topic: str, records: int) -> int:
    """How many records librdkafka reads, which knows one plain stream of each codec only."""
    settings = {
        "bootstrap.servers": bootstrap,
        "group.id": "unused",
        "enable.auto.commit": False,
        "check.crcs": True,
    }
    consumer = Consumer(settings)
    found = 0
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        while found < records:
            messages = consumer.consume(records - found, timeout=30)
            assert messages, f"nothing came behind {found} of {records} records"
            for message in messages:
                assert message.error() is None, message.error()
            found += len(messages)
    finally:
        consumer.close()
    return found


@pytest.mark.timeout(300)
def test_apache_kafka_judges_and_stores_every_batch_alike(pair: Pair) -> None:
    now_ms = int(time.time() * 1000)
    wanted = cases(now_ms)
    assert len({case.name for case in wanted}) == len(wanted) >= 300
    here = outcomes(pair.ours.bootstrap, wanted, now_ms)
    there = outcomes(pair.kafka.bootstrap, wanted, now_ms)
    forms = sum(it.topic == "forms" and here[it.name].code == NONE for it in wanted)
    assert delivered(pair.ours.bootstrap, "forms", FORM_RECORDS * forms) == FORM_RECORDS * forms > 0
    unused, unexpected = set(DIFFERENCES), []
    for name in here:
        if here[name] == there[name]:
            continue
        codes = here[name].code, there[name].code
        reasons = {
            it
            for it in DIFFERENCES
            if fnmatchcase(name, it.cases) and codes == (it.ours, it.kafkas)
        }
        unused -= reasons
        if not reasons:
            unexpected.append(f"{name}: ours {here[name]}, Kafka's {there[name]}")
    assert not unexpected, "\n".join(unexpected)
    assert not unused, "these do not differ any more"
