"""Consumers of many partitions: real clients, and a fetch session across a topic's deletion."""

from collections.abc import Callable

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from kafka.protocol.consumer import FetchRequest, FetchResponse

from tests.e2e.admin_calls import end_offsets
from tests.e2e.client_programs import CONFLUENT, KAFKA_PYTHON, LibraryClient
from tests.e2e.group_member import GroupMember
from tests.e2e.records import Record
from tests.e2e.wire import FETCH_VERSION, Message, WireConnection, batch

PARTITIONS = 400
UNKNOWN_TOPIC_OR_PARTITION = 3
_Topic = FetchRequest.FetchTopic


@pytest.mark.parametrize("client", [CONFLUENT, KAFKA_PYTHON], ids=lambda client: client.name)
def test_every_partition_is_read_whichever_has_news(
    bootstrap: str, create_topic: Callable[..., str], group: str, client: LibraryClient
) -> None:
    topic = create_topic("many", partitions=PARTITIONS)
    with GroupMember(client, bootstrap, topic, group) as member:
        member.wait_until_assigned(PARTITIONS)
        for first in range(0, 3 * PARTITIONS, PARTITIONS):
            numbers = range(first, first + PARTITIONS, 7)
            records = [Record(str(it).encode(), partition=it % PARTITIONS) for it in numbers]
            CONFLUENT.produce(bootstrap, topic, records)
            member.wait_until_read({str(it) for it in numbers})
    assert len(member.values) == len(set(member.values))


def fetch(
    connection: WireConnection, topic: str, session: tuple[int, int], offsets: dict[int, int]
) -> Message:
    """Fetch in a session; names these partitions."""
    partitions = [
        _Topic.FetchPartition(
            partition=index,
            current_leader_epoch=-1,
            fetch_offset=offset,
            last_fetched_epoch=-1,
            log_start_offset=-1,
            partition_max_bytes=1 << 20,
        )
        for index, offset in offsets.items()
    ]
    request = FetchRequest(
        replica_id=-1,
        max_wait_ms=10_000 if session[1] else 0,
        min_bytes=1,
        max_bytes=50 << 20,
        isolation_level=0,
        session_id=session[0],
        session_epoch=session[1],
        topics=[_Topic(topic=topic, partitions=partitions)] if partitions else [],
        forgotten_topics_data=[],
        rack_id="",
    )
    answer = connection.ask(request, FetchResponse, FETCH_VERSION)
    assert answer.error_code == 0
    return answer


def news(answer: Message) -> dict[int, tuple[int, int, bool]]:
    """Error, high watermark and whether there are records, of each partition of an answer."""
    return {
        it.partition_index: (it.error_code, it.high_watermark, bool(it.records))
        for topic in answer.responses
        for it in topic.partitions
    }


def test_a_session_sees_its_topic_deleted_and_created_again(
    bootstrap: str, create_topic: Callable[..., str]
) -> None:
    topic = create_topic("again", partitions=PARTITIONS)
    admin = AdminClient({"bootstrap.servers": bootstrap})
    with WireConnection(bootstrap) as consumer, WireConnection(bootstrap) as producer:
        begun = fetch(consumer, topic, (0, 0), dict.fromkeys(range(PARTITIONS), 0))
        session = begun.session_id
        assert news(begun) == dict.fromkeys(range(PARTITIONS), (0, 0, False))
        producer.produce(topic, batch([b"1", b"2"]), partition=77)
        assert news(fetch(consumer, topic, (session, 1), {})) == {77: (0, 2, True)}
        producer.produce(topic, batch([b"3"]), partition=300)
        assert news(fetch(consumer, topic, (session, 2), {77: 2})) == {300: (0, 1, True)}
        admin.delete_topics([topic])[topic].result(30)
        gone = news(fetch(consumer, topic, (session, 3), {300: 1}))
        assert gone == dict.fromkeys(range(PARTITIONS), (UNKNOWN_TOPIC_OR_PARTITION, -1, False))
        admin.create_topics([NewTopic(topic, PARTITIONS)])[topic].result(30)
        end_offsets(bootstrap, topic, PARTITIONS)  # returns when all have their leaders
        producer.produce(topic, batch([b"4"]), partition=123)
        found = news(fetch(consumer, topic, (session, 4), {77: 0, 300: 0}))
        assert found.pop(123) == (0, 1, True)
        assert set(found.values()) == {(0, 0, False)}
        assert len(found) == PARTITIONS - 1
        producer.produce(topic, batch([b"5"]), partition=300)
        assert news(fetch(consumer, topic, (session, 5), {123: 1})) == {300: (0, 1, True)}
