"""An orderly restart: records, offsets, topics, configs, groups and producers go on."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType

from tests.e2e.admin_calls import end_offsets
from tests.e2e.client_programs import CONFLUENT, KAFKA_PYTHON
from tests.e2e.conftest import AnyBroker
from tests.e2e.group_member import GroupMember
from tests.e2e.records import Record
from tests.e2e.wire import WireConnection, batch


@pytest.fixture(scope="module")
def restartable(
    make_broker: Callable[[Path], AnyBroker], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[AnyBroker]:
    """A broker of this module alone."""
    with make_broker(tmp_path_factory.mktemp("restartable")) as running:
        yield running


def make_topic(broker: AnyBroker, name: str, **options: object) -> None:
    """Create a topic and wait until the broker leads its partitions."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.create_topics([NewTopic(name, **options)])[name].result(30)
    end_offsets(broker.bootstrap, name, options["num_partitions"])


def test_records_topics_and_configs(restartable: AnyBroker) -> None:
    make_topic(restartable, "kept", num_partitions=3, config={"retention.ms": "7200000"})
    records = [Record(f"{number}".encode() * 50, partition=number % 3) for number in range(3000)]
    CONFLUENT.produce(restartable.bootstrap, "kept", records, compression="lz4")
    before = KAFKA_PYTHON.consume(restartable.bootstrap, "kept", len(records))
    restartable.restart()
    after = KAFKA_PYTHON.consume(restartable.bootstrap, "kept", len(records))
    assert sorted(after, key=lambda s: (s.partition, s.offset)) == sorted(
        before, key=lambda s: (s.partition, s.offset)
    )
    resource = ConfigResource(ResourceType.TOPIC, "kept")
    admin = AdminClient({"bootstrap.servers": restartable.bootstrap})
    configs = admin.describe_configs([resource])[resource].result(30)
    assert configs["retention.ms"].value == "7200000"
    (ack,) = CONFLUENT.produce(restartable.bootstrap, "kept", [Record(b"more")])
    assert ack.offset == 1000


def test_committed_offsets(restartable: AnyBroker) -> None:
    make_topic(restartable, "committed", num_partitions=2)
    wanted = [TopicPartition("committed", 0, 11, metadata="m"), TopicPartition("committed", 1, 22)]
    consumer = Consumer({"bootstrap.servers": restartable.bootstrap, "group.id": "keeps"})
    consumer.commit(offsets=wanted, asynchronous=False)
    consumer.close()
    restartable.restart()
    admin = AdminClient({"bootstrap.servers": restartable.bootstrap})
    asked = ConsumerGroupTopicPartitions("keeps")
    answer = admin.list_consumer_group_offsets([asked])["keeps"].result(30)
    found = {item.partition: (item.offset, item.metadata or "") for item in answer.topic_partitions}
    assert found == {0: (11, "m"), 1: (22, "")}


def test_a_member_lives_through_it(restartable: AnyBroker) -> None:
    make_topic(restartable, "watched", num_partitions=1)
    records = [Record(str(number).encode()) for number in range(20)]
    with GroupMember(CONFLUENT, restartable.bootstrap, "watched", "watchers") as member:
        CONFLUENT.produce(restartable.bootstrap, "watched", records[:10])
        member.wait_until_read({str(number) for number in range(10)})
        restartable.restart()
        CONFLUENT.produce(restartable.bootstrap, "watched", records[10:])
        member.wait_until_read({str(number) for number in range(20)})
    assert member.values == [str(number) for number in range(20)]


def test_an_idempotent_producer_goes_on(restartable: AnyBroker) -> None:
    make_topic(restartable, "sequenced", num_partitions=1)
    producer = Producer(
        {"bootstrap.servers": restartable.bootstrap, "enable.idempotence": True, "linger.ms": 0}
    )
    for number in range(10):
        producer.produce("sequenced", str(number))
        producer.flush(30)
    restartable.restart()
    for number in range(10, 20):
        producer.produce("sequenced", str(number))
    assert producer.flush(60) == 0
    stored = CONFLUENT.consume(restartable.bootstrap, "sequenced", 20)
    assert [int(item.value) for item in stored] == list(range(20))


def test_a_repeated_batch_is_known_after_it(restartable: AnyBroker) -> None:
    make_topic(restartable, "repeated", num_partitions=1)
    with WireConnection(restartable.bootstrap) as wire:
        producer = wire.new_producer_id()
        sent = batch([b"a", b"b", b"c"], producer=producer, sequence=0)
        assert wire.produce("repeated", sent).base_offset == 0
    restartable.restart()
    assert end_offsets(restartable.bootstrap, "repeated", 1) == {0: 3}
    with WireConnection(restartable.bootstrap) as wire:
        again = wire.produce("repeated", sent)
        assert (again.error_code, again.base_offset) == (0, 0)
        other = wire.new_producer_id()
        assert other != producer
        assert (
            wire.produce("repeated", batch([b"d"], producer=producer, sequence=3)).base_offset == 3
        )
