"""ListOffsets: the ends of a partition, and what was written when."""

import pytest
from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec
from kafka import KafkaConsumer
from kafka import TopicPartition as PythonTopicPartition

from tests.e2e.client_programs import CONFLUENT
from tests.e2e.records import Record

START_MS = 1_700_000_000_000
# Not in the order of their offsets, as producers' clocks have it.
TIMES_MS = [START_MS + shift for shift in (0, 1000, 5000, 3000, 4000, 9000, 7000)]


@pytest.fixture
def timed_topic(bootstrap: str, topic: str) -> str:
    """A topic whose records have TIMES_MS, the first four in one batch and the others alone."""
    records = [Record(b"x", timestamp_ms=time_ms) for time_ms in TIMES_MS]
    CONFLUENT.produce(bootstrap, topic, records[:4])
    for record in records[4:]:
        CONFLUENT.produce(bootstrap, topic, [record])
    return topic


def asked(admin: AdminClient, topic: str, spec: OffsetSpec) -> tuple[int, int]:
    """Return offset and timestamp of the answer."""
    partition = TopicPartition(topic, 0)
    answer = admin.list_offsets({partition: spec})[partition].result(30)
    return answer.offset, answer.timestamp


def test_the_ends(admin: AdminClient, timed_topic: str) -> None:
    assert asked(admin, timed_topic, OffsetSpec.earliest())[0] == 0
    assert asked(admin, timed_topic, OffsetSpec.latest())[0] == len(TIMES_MS)


def test_the_highest_timestamp(admin: AdminClient, timed_topic: str, topic: str) -> None:
    assert asked(admin, timed_topic, OffsetSpec.max_timestamp()) == (5, START_MS + 9000)


@pytest.mark.parametrize(
    ("time_ms", "offset"),
    [
        (0, 0),
        (START_MS, 0),
        (START_MS + 1, 1),
        (START_MS + 1000, 1),
        (START_MS + 2000, 2),
        (START_MS + 5000, 2),
        (START_MS + 5001, 5),
        (START_MS + 9000, 5),
        (START_MS + 9001, -1),
    ],
)
def test_the_first_record_at_or_after_a_time(
    admin: AdminClient, bootstrap: str, topic: str, time_ms: int, offset: int
) -> None:
    records = [Record(b"x", timestamp_ms=at_ms) for at_ms in TIMES_MS]
    CONFLUENT.produce(bootstrap, topic, records[:4])
    CONFLUENT.produce(bootstrap, topic, records[4:])
    found = asked(admin, topic, OffsetSpec.for_timestamp(time_ms))
    assert found == (offset, TIMES_MS[offset] if offset >= 0 else -1)


def test_an_empty_partition(admin: AdminClient, topic: str) -> None:
    assert asked(admin, topic, OffsetSpec.earliest())[0] == 0
    assert asked(admin, topic, OffsetSpec.latest())[0] == 0
    assert asked(admin, topic, OffsetSpec.max_timestamp()) == (-1, -1)
    assert asked(admin, topic, OffsetSpec.for_timestamp(0)) == (-1, -1)


def test_a_partition_that_does_not_exist(admin: AdminClient, topic: str) -> None:
    partition = TopicPartition(topic, 8)
    with pytest.raises(KafkaException):
        admin.list_offsets({partition: OffsetSpec.latest()})[partition].result(30)


def test_kafka_python_asks_alike(bootstrap: str, timed_topic: str) -> None:
    partition = PythonTopicPartition(timed_topic, 0)
    consumer = KafkaConsumer(bootstrap_servers=bootstrap)
    found = consumer.offsets_for_times({partition: START_MS + 2000})[partition]
    assert (found.offset, found.timestamp) == (2, START_MS + 5000)
    assert consumer.beginning_offsets([partition]) == {partition: 0}
    assert consumer.end_offsets([partition]) == {partition: len(TIMES_MS)}
    consumer.close()
