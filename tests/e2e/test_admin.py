"""Topics and configs through librdkafka's admin client: what is made, shown, changed and refused."""

from collections.abc import Callable
from concurrent.futures import Future

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    ResourceType,
)

from tests.e2e.client_programs import CONFLUENT
from tests.e2e.records import Record

UNKNOWN_TOPIC_OR_PARTITION = 3
INVALID_TOPIC = 17
TOPIC_ALREADY_EXISTS = 36
INVALID_PARTITIONS = 37
INVALID_REPLICATION_FACTOR = 38
INVALID_CONFIG = 40
NON_EMPTY_GROUP = 68
GROUP_ID_NOT_FOUND = 69


def error_code(future: Future[object]) -> int:
    """Return the error code with which an admin call failed."""
    with pytest.raises(KafkaException) as caught:
        future.result(30)
    return caught.value.args[0].code()


def topic_resource(topic: str) -> ConfigResource:
    """Name a topic's configs."""
    return ConfigResource(ResourceType.TOPIC, topic)


def describe(admin: AdminClient, resource: ConfigResource) -> dict[str, ConfigEntry]:
    """Return all configs of a resource."""
    return admin.describe_configs([resource])[resource].result(30)


def alter(
    admin: AdminClient, topic: str, name: str, kind: AlterConfigOpType, value: str | None
) -> Future[object]:
    """Change one config of a topic."""
    entry = ConfigEntry(name, value, incremental_operation=kind)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    return admin.incremental_alter_configs([resource])[resource]


def create(admin: AdminClient, topic: NewTopic, **options: object) -> Future[object]:
    """Create one topic."""
    return admin.create_topics([topic], **options)[topic.topic]


def test_the_cluster_describes_itself(admin: AdminClient, bootstrap: str) -> None:
    cluster = admin.describe_cluster().result(30)
    assert cluster.cluster_id
    assert [f"{node.host}:{node.port}" for node in cluster.nodes] == [bootstrap]
    assert cluster.controller.id == cluster.nodes[0].id


def test_a_new_topic_is_described_with_its_partitions_and_configs(
    admin: AdminClient, create_topic: Callable[..., str]
) -> None:
    name = create_topic("described", partitions=5, config={"retention.ms": "3600000"})
    partitions = admin.list_topics(name, timeout=10).topics[name].partitions
    assert sorted(partitions) == [0, 1, 2, 3, 4]
    assert {len(partition.replicas) for partition in partitions.values()} == {1}
    assert {tuple(p.isrs) == tuple(p.replicas) for p in partitions.values()} == {True}
    configs = describe(admin, topic_resource(name))
    assert configs["retention.ms"].value == "3600000"
    assert not configs["retention.ms"].is_default
    assert configs["cleanup.policy"].value == "delete"
    assert configs["cleanup.policy"].is_default


@pytest.mark.parametrize("name", [".", "..", "with/slash", "with space", "ü", "x" * 250])
def test_invalid_names_are_refused(admin: AdminClient, name: str) -> None:
    assert error_code(create(admin, NewTopic(name, 1, 1))) == INVALID_TOPIC


def test_an_existing_name_is_refused(admin: AdminClient, topic: str) -> None:
    assert error_code(create(admin, NewTopic(topic, 1, 1))) == TOPIC_ALREADY_EXISTS


def test_names_that_differ_by_dot_and_underscore_collide(
    admin: AdminClient, create_topic: Callable[..., str]
) -> None:
    """Metric names cannot tell the two apart, so Kafka refuses the second."""
    base = create_topic("collide")
    create(admin, NewTopic(f"{base}.x", 1, 1)).result(30)
    assert error_code(create(admin, NewTopic(f"{base}_x", 1, 1))) == INVALID_TOPIC


def test_impossible_topics_are_refused(admin: AdminClient) -> None:
    assert error_code(create(admin, NewTopic("none", 0, 1))) == INVALID_PARTITIONS
    assert error_code(create(admin, NewTopic("none", 1, 0))) == INVALID_REPLICATION_FACTOR
    unknown = NewTopic("none", 1, 1, config={"no.such.config": "1"})
    assert error_code(create(admin, unknown)) == INVALID_CONFIG
    wrong = NewTopic("none", 1, 1, config={"retention.ms": "soon"})
    assert error_code(create(admin, wrong)) == INVALID_CONFIG
    assert "none" not in admin.list_topics(timeout=10).topics


def test_validating_a_topic_does_not_create_it(admin: AdminClient, topic: str) -> None:
    other = f"{topic}-other"
    create(admin, NewTopic(other, 3, 1), validate_only=True).result(30)
    assert other not in admin.list_topics(timeout=10).topics
    existing = create(admin, NewTopic(topic, 3, 1), validate_only=True)
    assert error_code(existing) == TOPIC_ALREADY_EXISTS


def test_the_old_way_to_alter_configs_replaces_all_of_them(
    admin: AdminClient, create_topic: Callable[..., str]
) -> None:
    name = create_topic("replaced", config={"retention.ms": "3600000", "segment.ms": "7200000"})
    resource = ConfigResource(ResourceType.TOPIC, name, set_config={"retention.ms": "1800000"})
    with pytest.deprecated_call():  # as librdkafka's Python calls it
        admin.alter_configs([resource])[resource].result(30)
    configs = describe(admin, topic_resource(name))
    assert configs["retention.ms"].value == "1800000"
    assert configs["segment.ms"].is_default


def test_partitions_are_added_and_never_taken_away(
    admin: AdminClient, bootstrap: str, topic: str
) -> None:
    CONFLUENT.produce(bootstrap, topic, [Record(b"kept")])
    admin.create_partitions([NewPartitions(topic, 3)])[topic].result(30)
    CONFLUENT.produce(bootstrap, topic, [Record(b"new", partition=2)])
    stored = CONFLUENT.consume(bootstrap, topic, 2)
    assert {(item.partition, item.value) for item in stored} == {(0, b"kept"), (2, b"new")}
    fewer = admin.create_partitions([NewPartitions(topic, 2)])[topic]
    assert error_code(fewer) == INVALID_PARTITIONS


def test_configs_are_set_appended_subtracted_and_removed(admin: AdminClient, topic: str) -> None:
    operation = AlterConfigOpType
    alter(admin, topic, "max.message.bytes", operation.SET, "2000000").result(30)
    alter(admin, topic, "cleanup.policy", operation.APPEND, "compact").result(30)
    configs = describe(admin, topic_resource(topic))
    assert configs["max.message.bytes"].value == "2000000"
    assert set(configs["cleanup.policy"].value.split(",")) == {"delete", "compact"}
    alter(admin, topic, "cleanup.policy", operation.SUBTRACT, "compact").result(30)
    alter(admin, topic, "max.message.bytes", operation.DELETE, None).result(30)
    configs = describe(admin, topic_resource(topic))
    assert configs["cleanup.policy"].value == "delete"
    assert configs["max.message.bytes"].is_default


def test_wrong_configs_are_refused(admin: AdminClient, topic: str) -> None:
    operation = AlterConfigOpType
    assert error_code(alter(admin, topic, "retention.ms", operation.SET, "x")) == INVALID_CONFIG
    assert error_code(alter(admin, topic, "no.such", operation.SET, "1")) == INVALID_CONFIG
    configs = describe(admin, topic_resource(topic))
    assert configs["retention.ms"].value == "-1", "as the broker is configured"


def test_a_broker_shows_its_configs(admin: AdminClient) -> None:
    node = admin.describe_cluster().result(30).nodes[0].id
    configs = describe(admin, ConfigResource(ResourceType.BROKER, str(node)))
    assert configs["auto.create.topics.enable"].value == "true"
    assert configs["message.max.bytes"].value == "1048588"
    assert int(configs["node.id"].value) == node


def test_a_deleted_topic_is_gone_and_its_name_is_free(
    admin: AdminClient, bootstrap: str, create_topic: Callable[..., str]
) -> None:
    name = create_topic("deleted")
    CONFLUENT.produce(bootstrap, name, [Record(b"old")])
    admin.delete_topics([name])[name].result(30)
    assert name not in admin.list_topics(timeout=10).topics
    assert error_code(admin.delete_topics([name])[name]) == UNKNOWN_TOPIC_OR_PARTITION
    create(admin, NewTopic(name, 1, 1)).result(30)
    CONFLUENT.produce(bootstrap, name, [Record(b"new")])
    (stored,) = CONFLUENT.consume(bootstrap, name, 1)
    assert (stored.offset, stored.value) == (0, b"new")


def test_groups_are_listed_described_altered_and_deleted(
    admin: AdminClient, bootstrap: str, topic: str, group: str
) -> None:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group})
    consumer.subscribe([topic])
    while not consumer.assignment():
        consumer.poll(0.2)
    consumer.commit(offsets=[TopicPartition(topic, 0, 5)], asynchronous=False)

    listed = {item.group_id: item for item in admin.list_consumer_groups().result(30).valid}
    assert listed[group].state.name == "STABLE"
    described = admin.describe_consumer_groups([group])[group].result(30)
    (member,) = described.members
    assert [item.topic for item in member.assignment.topic_partitions] == [topic]
    assert error_code(admin.delete_consumer_groups([group])[group]) == NON_EMPTY_GROUP

    consumer.close()
    assert admin.describe_consumer_groups([group])[group].result(30).state.name == "EMPTY"
    wanted = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0, 2)])
    admin.alter_consumer_group_offsets([wanted])[group].result(30)
    asked = ConsumerGroupTopicPartitions(group)
    answer = admin.list_consumer_group_offsets([asked])[group].result(30)
    assert [item.offset for item in answer.topic_partitions] == [2]

    admin.delete_consumer_groups([group])[group].result(30)
    assert error_code(admin.delete_consumer_groups([group])[group]) == GROUP_ID_NOT_FOUND
