import random
from collections import Counter
from uuid import UUID

import pytest

from headrace.metadata.admin import topic_deletion
from headrace.metadata.controller.dispatch import decide
from headrace.metadata.controller.streams import STEP_STREAMS
from headrace.metadata.controller.topics import MAX_PARTITIONS_PER_REQUEST, new_topic_id
from headrace.metadata.image import MetadataImage
from headrace.metadata.images.topics import TopicImage
from headrace.metadata.levels import FACTOR_LEVEL
from headrace.metadata.rpc.requests import CreatePartitions, CreateTopics, DeleteTopics
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.pure_controller import PureController, topic_creation


def created(controller, *topics, validate_only=False):
    results = controller.do(CreateTopics(topics, validate_only)).results
    return [ErrorCode(result.error_code) for result in results]


def test_a_topic_is_created_with_two_streams_for_each_partition(controller):
    result = controller.create("orders", 3)

    topic = controller.image.topic("orders")
    assert result.error_code == 0
    assert topic == controller.image.topic_by_id(result.topic_id)
    assert [it.partition for it in topic.partitions] == [0, 1, 2]
    assert {it.leader for it in topic.partitions} == {1}
    assert {it.leader_epoch for it in topic.partitions} == {0}
    stream_ids = {it.data_stream_id for it in topic.partitions}
    stream_ids |= {it.meta_stream_id for it in topic.partitions}
    assert stream_ids == set(controller.image.streams)
    assert len(stream_ids) == 6
    for partition in topic.partitions:
        stream = controller.stream(partition.data_stream_id)
        assert (stream.topic_id, stream.partition) == (topic.topic_id, partition.partition)
        assert (stream.start_offset, stream.end_offset, stream.opened) == (0, 0, False)


def test_each_topic_of_a_request_succeeds_or_fails_on_its_own(controller):
    controller.create("old")

    codes = created(
        controller,
        topic_creation("good"),
        topic_creation("old"),
        topic_creation("bad name"),
        topic_creation("good-too", 2),
    )

    assert codes == [
        ErrorCode.NONE,
        ErrorCode.TOPIC_ALREADY_EXISTS,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        ErrorCode.NONE,
    ]
    assert set(controller.image.topic_ids) == {"old", "good", "good-too"}


def test_a_name_that_comes_twice_is_refused_both_times(controller):
    codes = created(controller, topic_creation("a"), topic_creation("b"), topic_creation("a"))

    assert codes == [ErrorCode.INVALID_REQUEST, ErrorCode.NONE, ErrorCode.INVALID_REQUEST]
    assert set(controller.image.topic_ids) == {"b"}


@pytest.mark.parametrize("name", ["", ".", "..", "a" * 250, "a b", "ä", "a/b", "a\n"])
def test_illegal_names_are_refused(controller, name):
    assert created(controller, topic_creation(name)) == [ErrorCode.INVALID_TOPIC_EXCEPTION]


@pytest.mark.parametrize(("first", "second"), [("a.b", "a_b"), ("a_b_c", "a.b_c")])
def test_names_that_collide_in_metric_names_are_refused(controller, first, second):
    controller.create(first)

    assert created(controller, topic_creation(second)) == [ErrorCode.INVALID_TOPIC_EXCEPTION]
    controller.delete(first)
    assert created(controller, topic_creation(second)) == [ErrorCode.NONE]


def test_names_collide_within_one_request(controller):
    codes = created(controller, topic_creation("a.b"), topic_creation("a_b"))

    assert codes == [ErrorCode.NONE, ErrorCode.INVALID_TOPIC_EXCEPTION]


@pytest.mark.parametrize("partitions", [0, -2])
def test_impossible_partition_counts_are_refused(controller, partitions):
    assert created(controller, topic_creation("a", partitions)) == [ErrorCode.INVALID_PARTITIONS]


def test_minus_one_partition_means_the_default(controller):
    controller.create("a", -1)

    assert len(controller.image.topic("a").partitions) == 1


@pytest.mark.parametrize("factor", [0, -2])
def test_impossible_replication_factors_are_refused(controller, factor):
    codes = created(controller, topic_creation("a", factor=factor))

    assert codes == [ErrorCode.INVALID_REPLICATION_FACTOR]


@pytest.mark.parametrize(("factor", "stored"), [(-1, 1), (1, 1), (2, 2)])
def test_a_replication_factor_is_stored(controller, factor, stored):
    controller.register(2)
    assert created(controller, topic_creation("a", factor=factor)) == [ErrorCode.NONE]
    assert controller.image.topic("a").replication_factor == stored


def test_there_are_no_more_replicas_than_brokers_and_kafka_says_so_last(controller):
    codes = created(
        controller,
        topic_creation("a", factor=2),
        topic_creation("b", 0, factor=2),
        topic_creation("c", factor=2, configs=[("no.such", "1")]),
    )
    assert codes == [
        ErrorCode.INVALID_REPLICATION_FACTOR,
        ErrorCode.INVALID_PARTITIONS,
        ErrorCode.INVALID_CONFIG,
    ]


def test_assigned_replicas_are_counted(controller):
    controller.register(2)
    assigned = topic_creation("a", -1, assignments=[(0, [2, 1]), (1, [1, 2])])
    assert created(controller, assigned) == [ErrorCode.NONE]
    assert controller.image.topic("a").replication_factor == 2


def test_below_its_level_every_factor_is_one():
    controller = PureController(level=FACTOR_LEVEL - 1)
    controller.register()
    controller.register(2)
    assert created(controller, topic_creation("a", factor=2)) == [ErrorCode.NONE]
    assert controller.image.topic("a").replication_factor == 1


def test_without_an_active_broker_nothing_is_created():
    controller = PureController()
    controller.register(serve=False)

    assert created(controller, topic_creation("a")) == [ErrorCode.INVALID_REPLICATION_FACTOR]


def test_configs_are_stored_and_checked(controller):
    codes = created(
        controller,
        topic_creation("a", configs=[("retention.ms", "5")]),
        topic_creation("b", configs=[("retention.ms", "soon")]),
        topic_creation("c", configs=[("no.such", "1")]),
        topic_creation("d", configs=[("retention.ms", None)]),
        topic_creation("e", configs=[("retention.ms", "1"), ("retention.ms", "2")]),
    )

    assert codes == [
        ErrorCode.NONE,
        ErrorCode.INVALID_CONFIG,
        ErrorCode.INVALID_CONFIG,
        ErrorCode.INVALID_CONFIG,
        ErrorCode.INVALID_REQUEST,
    ]
    assert dict(controller.image.topic_config("a")) == {"retention.ms": "5"}
    assert dict(controller.image.topic_config("b")) == {}


def test_validate_only_says_the_same_and_creates_nothing(controller):
    topics = (topic_creation("a", 2), topic_creation("b", 0))

    decision = controller.decide(CreateTopics(topics, True))

    assert decision.records == ()
    planned, refused = decision.response.results
    assert planned.error_code == ErrorCode.NONE
    assert planned.leaders == (1, 1)
    assert refused.error_code == ErrorCode.INVALID_PARTITIONS


def test_one_request_creates_a_bounded_number_of_partitions(controller):
    most = MAX_PARTITIONS_PER_REQUEST
    codes = created(controller, topic_creation("a", most - 1), topic_creation("b", 2))

    assert codes == [ErrorCode.NONE, ErrorCode.POLICY_VIOLATION]


def test_partitions_are_spread_over_the_active_brokers(controller):
    controller.register(2)
    controller.register(3)
    controller.register(4)
    controller.fence(3)

    result = controller.create("a", 9)

    assert sorted(result.leaders) == [1, 1, 1, 2, 2, 2, 4, 4, 4]


def test_brokers_that_cannot_open_partitions_get_none_while_others_can(controller):
    controller.register(2)
    controller.register(3)
    controller.unable = frozenset({1, 3})
    assert controller.create("a", 3).leaders == (2, 2, 2)

    controller.unable = frozenset({1, 2, 3})
    assert sorted(controller.create("b", 3).leaders) == [1, 2, 3]


def test_a_manual_assignment_names_the_leaders(controller):
    controller.register(2)

    result = controller.create("a", -1, assignments=((0, (2, 1)), (1, (1, 2))))

    assert result.leaders == (2, 1)


def test_of_a_manual_assignment_the_first_active_broker_leads(controller):
    controller.register(2)
    controller.fence(2)

    assert controller.create("a", -1, assignments=((0, (2, 1)),)).leaders == (1,)
    refused = controller.create("b", -1, assignments=((0, (2,)),))
    assert refused.error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT


@pytest.mark.parametrize(
    ("assignments", "code"),
    [
        (((1, (1,)),), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (((0, (1,)), (2, (1,))), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (((0, (1,)), (0, (1,))), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (((0, ()),), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (((0, (1, 1)),), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (((0, (9,)),), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (((0, (1, 2)), (1, (1,))), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ((), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
    ],
)
def test_faulty_manual_assignments_are_refused(controller, assignments, code):
    controller.register(2)

    assert controller.create("a", -1, assignments=assignments).error_code == code


@pytest.mark.parametrize(("partitions", "factor"), [(1, -1), (-1, 1)])
def test_a_manual_assignment_goes_with_no_counts(controller, partitions, factor):
    result = controller.create("a", partitions, factor=factor, assignments=((0, (1,)),))

    assert result.error_code == ErrorCode.INVALID_REQUEST


def test_deleting_a_topic_removes_streams_configs_and_name(controller):
    controller.create("a", 2, configs=[("retention.ms", "5")])
    controller.create("b", 1)
    kept = controller.image.topic("b").partitions

    assert [it.error_code for it in controller.delete("a")] == [ErrorCode.NONE]

    assert controller.image.topic("a") is None
    assert (2, "a") not in controller.image.configs
    assert set(controller.image.streams) == {
        stream_id for it in kept for stream_id in (it.data_stream_id, it.meta_stream_id)
    }


def test_a_topic_of_the_same_name_has_another_id_and_other_streams(controller):
    controller.create("a")
    before = controller.image.topic("a")
    controller.delete("a")
    controller.create("a")
    after = controller.image.topic("a")

    assert after.topic_id != before.topic_id
    assert after.partitions[0].data_stream_id > before.partitions[0].meta_stream_id


def test_deleting_answers_each_id(controller):
    controller.create("a")
    controller.create("b")
    a, b = (controller.image.topic(name).topic_id for name in "ab")

    asked = tuple(map(topic_deletion, (a, UUID(int=77), b, "b")))
    results = controller.do(DeleteTopics(asked)).results

    assert [(it.name, it.topic_id, it.error_code) for it in results] == [
        ("a", a, ErrorCode.NONE),
        (None, UUID(int=77), ErrorCode.UNKNOWN_TOPIC_ID),
        ("b", b, ErrorCode.INVALID_REQUEST),
        ("b", b, ErrorCode.INVALID_REQUEST),
    ]
    assert set(controller.image.topic_ids) == {"b"}


def test_deleting_by_name_finds_the_topic_that_has_it_now(controller):
    controller.create("a")
    controller.delete("a")
    controller.create("a")
    newest = controller.image.topic("a").topic_id

    found, gone = controller.delete("a", "b")

    assert (found.topic_id, found.error_code) == (newest, ErrorCode.NONE)
    assert (gone.name, gone.error_code) == ("b", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    assert not controller.image.topic_ids


def test_a_topic_of_many_partitions_is_deleted_in_steps(controller):
    controller.create("a", 5_000)
    request = DeleteTopics((topic_deletion("a"),))
    stops = sum(1 for _ in decide(request, controller.image, controller.inputs()))
    assert stops == 2 * 5_000 // STEP_STREAMS
    controller.do(request)
    assert not controller.image.streams


def test_partitions_are_added(controller):
    controller.create("a", 1)
    first = controller.image.topic("a").partitions[0]

    controller.do(CreatePartitions("a", 3, None, False))

    partitions = controller.image.topic("a").partitions
    assert partitions[0] == first
    assert [it.partition for it in partitions] == [0, 1, 2]
    assert len(controller.image.streams) == 6


def test_adding_partitions_as_assigned(controller):
    controller.register(2)
    controller.create("a", -1, assignments=((0, (1,)),))

    controller.do(CreatePartitions("a", 3, ((2,), (1,)), False))

    assert [it.leader for it in controller.image.topic("a").partitions] == [1, 2, 1]


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (CreatePartitions("no", 3, None, False), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (CreatePartitions("a", 2, None, False), ErrorCode.INVALID_PARTITIONS),
        (CreatePartitions("a", 1, None, False), ErrorCode.INVALID_PARTITIONS),
        (CreatePartitions("a", -1, None, False), ErrorCode.INVALID_PARTITIONS),
        (CreatePartitions("a", 20_000, None, False), ErrorCode.POLICY_VIOLATION),
        (CreatePartitions("a", 3, ((1,), (1,)), False), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (CreatePartitions("a", 3, ((5,),), False), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
    ],
)
def test_partitions_that_cannot_be_added(controller, request_, code):
    controller.create("a", 2)

    assert controller.refusal(request_) == code


def test_validating_an_addition_changes_nothing(controller):
    controller.create("a", 1)

    assert controller.decide(CreatePartitions("a", 2, None, True)).records == ()


class Scripted(random.Random):
    """Gives the numbers it was told to."""

    def __init__(self, numbers):
        super().__init__()
        self._numbers = list(numbers)

    def getrandbits(self, bits):
        return self._numbers.pop(0)


def test_topic_ids_are_not_taken_twice():
    taken = UUID(int=0x55 << 100, version=4)
    image = MetadataImage(topics=MetadataImage().topics.set(taken, TopicImage(taken, "a", ())))

    found = new_topic_id(image, Scripted([0x55 << 100, 0x66 << 100]))

    assert found == UUID(int=0x66 << 100, version=4)


def test_topics_of_one_request_are_spread_as_if_one_came_after_the_other(controller):
    controller.register(2)
    topics = tuple(topic_creation(f"t{number}") for number in range(6))

    results = controller.do(CreateTopics(topics, False)).results

    assert Counter(leader for it in results for leader in it.leaders) == {1: 3, 2: 3}


def test_partitions_that_are_added_go_where_the_topic_has_fewest(controller):
    controller.create("a", 1)
    controller.register(2)
    controller.register(3)

    controller.do(CreatePartitions("a", 3, None, False))

    assert sorted(it.leader for it in controller.image.topic("a").partitions) == [1, 2, 3]
