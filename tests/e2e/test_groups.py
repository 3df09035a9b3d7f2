"""Consumer groups: members share partitions, commit, leave, vanish, and come back."""

from collections.abc import Callable

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.e2e.admin_calls import committed_offsets
from tests.e2e.client_programs import AIOKAFKA, CONFLUENT, KAFKA_PYTHON, LIBRARIES, LibraryClient
from tests.e2e.group_member import GroupMember
from tests.e2e.records import Record

PARTITIONS = 4


@pytest.fixture
def shared_topic(create_topic: Callable[..., str]) -> str:
    """A topic for two members to share."""
    return create_topic("shared", partitions=PARTITIONS)


def write(bootstrap: str, topic: str, first: int, last: int) -> set[str]:
    """Write the numbers in [first, last) round the partitions, and return them as texts."""
    numbers = range(first, last)
    records = [Record(str(number).encode(), partition=number % PARTITIONS) for number in numbers]
    CONFLUENT.produce(bootstrap, topic, records)
    return {str(number) for number in numbers}


@pytest.mark.parametrize("client", LIBRARIES, ids=lambda client: client.name)
def test_two_members_share_and_the_second_takes_over(
    bootstrap: str, shared_topic: str, group: str, client: LibraryClient
) -> None:
    early = write(bootstrap, shared_topic, 0, 100)
    with GroupMember(client, bootstrap, shared_topic, group) as first:
        first.wait_until_assigned(PARTITIONS)
        first.wait_until_read(early)
        with GroupMember(client, bootstrap, shared_topic, group) as second:
            second.wait_until_assigned(PARTITIONS // 2)
            first.wait_until_assigned(PARTITIONS // 2)
            assert sorted(first.partitions + second.partitions) == list(range(PARTITIONS))
            middle = write(bootstrap, shared_topic, 100, 200)
            second.wait_until_read({v for v in middle if int(v) % PARTITIONS in second.partitions})
            first.wait_until_read({v for v in middle if int(v) % PARTITIONS in first.partitions})
        first.wait_until_assigned(PARTITIONS)
        first.wait_until_read(write(bootstrap, shared_topic, 200, 300) - set(second.values))
    everything = first.values + second.values
    assert sorted(everything, key=int) == [str(number) for number in range(300)]
    assert committed_offsets(bootstrap, group) == dict.fromkeys(
        range(PARTITIONS), 300 // PARTITIONS
    )


def test_members_of_different_libraries_share_one_group(
    bootstrap: str, shared_topic: str, group: str
) -> None:
    with GroupMember(CONFLUENT, bootstrap, shared_topic, group) as first:
        first.wait_until_assigned(PARTITIONS)
        with GroupMember(KAFKA_PYTHON, bootstrap, shared_topic, group) as second:
            second.wait_until_assigned(PARTITIONS // 2)
            first.wait_until_assigned(PARTITIONS // 2)
            values = write(bootstrap, shared_topic, 0, 100)
            first.wait_until_read({v for v in values if int(v) % PARTITIONS in first.partitions})
            second.wait_until_read({v for v in values if int(v) % PARTITIONS in second.partitions})


def test_a_killed_member_is_replaced_after_its_session(
    bootstrap: str, shared_topic: str, group: str
) -> None:
    values = write(bootstrap, shared_topic, 0, 40)
    with GroupMember(AIOKAFKA, bootstrap, shared_topic, group) as first:
        first.wait_until_read(values)
        with GroupMember(CONFLUENT, bootstrap, shared_topic, group) as second:
            second.wait_until_assigned(PARTITIONS // 2)
            first.kill()
            # Its session is 6 s; until then the partitions that it had stay unread.
            second.wait_until_assigned(PARTITIONS)
            more = write(bootstrap, shared_topic, 40, 80)
            second.wait_until_read(more)
        assert set(second.values) == more


def test_a_new_member_goes_on_from_the_commit(bootstrap: str, topic: str, group: str) -> None:
    with GroupMember(KAFKA_PYTHON, bootstrap, topic, group) as first:
        CONFLUENT.produce(bootstrap, topic, [Record(str(number).encode()) for number in range(10)])
        first.wait_until_read({str(number) for number in range(10)})
    CONFLUENT.produce(bootstrap, topic, [Record(str(number).encode()) for number in range(10, 20)])
    with GroupMember(CONFLUENT, bootstrap, topic, group) as second:
        second.wait_until_read({str(number) for number in range(10, 20)})
    assert second.values == [str(number) for number in range(10, 20)]


def test_commits_carry_metadata_and_can_go_back(bootstrap: str, topic: str, group: str) -> None:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group})
    wanted = TopicPartition(topic, 0, 7, metadata="seventh")
    consumer.commit(offsets=[wanted], asynchronous=False)
    consumer.commit(offsets=[TopicPartition(topic, 0, 3, metadata="third")], asynchronous=False)
    (found,) = consumer.committed([TopicPartition(topic, 0)], timeout=10)
    assert (found.offset, found.metadata) == (3, "third")
    (missing,) = consumer.committed([TopicPartition(topic, 99)], timeout=10)
    assert missing.offset < 0
    consumer.close()
