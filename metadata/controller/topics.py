"""Decisions about topics and partitions. Pure.

A partition is created with its two streams (data, meta) in one batch. Each topic of a request
succeeds or fails independently; all that succeed share one entry of the log.

The replication factor is stored for clients, which compare it with what they have asked for. It may not be above
the number of brokers, as in Kafka, and changes nothing else.

Source: ReplicationControlManager.java; KIP-516 for topic ids.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final
from uuid import UUID

from headrace.metadata.controller.configs import check_config, require_no_contradiction
from headrace.metadata.controller.decision import Decision, DecisionSteps, Inputs
from headrace.metadata.controller.placement import (
    active_brokers,
    assigned_leader,
    partitions_led,
    place,
)
from headrace.metadata.controller.streams import remove_streams
from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage, TopicImage
from headrace.metadata.images.configs import TOPIC_RESOURCE
from headrace.metadata.images.streams import NO_EPOCH
from headrace.metadata.levels import FACTOR_LEVEL, level_of
from headrace.metadata.records.ids import random_id
from headrace.metadata.records.record import MetadataRecord
from headrace.metadata.records.streams import StreamRecord
from headrace.metadata.records.topics import (
    ConfigRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from headrace.metadata.rpc.requests import (
    CreatePartitions,
    CreateTopics,
    DeleteTopics,
    TopicCreation,
    TopicDeletion,
)
from headrace.metadata.rpc.responses import (
    Done,
    TopicCreated,
    TopicDeleted,
    TopicsCreated,
    TopicsDeleted,
)
from headrace.metadata.topic_names import collision_key, topic_name_problem
from headrace.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from random import Random

MAX_PARTITIONS_PER_REQUEST: Final = 10_000  # as in Kafka: one entry of the log must stay bounded
PARTITIONS_DEFAULT: Final = 1
FACTOR_DEFAULT: Final = 1
UNSET: Final = -1
NO_TOPIC_ID: Final = UUID(int=0)
METADATA_TOPIC_ID: Final = UUID(int=1)  # of __cluster_metadata in Kafka


def create_topics(request: CreateTopics, image: MetadataImage, inputs: Inputs) -> Decision:
    """Create those topics of the request that can be created."""
    creation = _TopicsCreation(request, image, inputs)
    results = tuple(creation.create(topic) for topic in request.topics)
    records = () if request.validate_only else tuple(creation.records)
    return Decision(records, TopicsCreated(results))


def delete_topics(request: DeleteTopics, image: MetadataImage, inputs: Inputs) -> DecisionSteps:
    """Delete topics with their streams, and mark objects destroyed that only they used."""
    found = [_topic_to_delete(asked, image) for asked in request.topics]
    counts = Counter(topic.topic_id for topic in found if topic is not None)
    results: list[TopicDeleted] = []
    records: list[MetadataRecord] = []
    stream_ids: list[int] = []
    for asked, topic in zip(request.topics, found, strict=True):
        if topic is None:
            results.append(_missing(asked))
            continue
        code, message = ErrorCode.NONE, None
        if counts[topic.topic_id] > 1:
            code, message = ErrorCode.INVALID_REQUEST, "the topic is named more than once"
        else:
            records.append(RemoveTopicRecord(topic.topic_id))
            for partition in topic.partitions:
                stream_ids += (partition.data_stream_id, partition.meta_stream_id)
        results.append(TopicDeleted(topic.name, topic.topic_id, code, message))
    records += yield from remove_streams(stream_ids, image, inputs.now_ms)
    return Decision(tuple(records), TopicsDeleted(tuple(results)))


def _topic_to_delete(asked: TopicDeletion, image: MetadataImage) -> TopicImage | None:
    if asked.name is not None:
        return image.topic(asked.name)
    return None if asked.topic_id is None else image.topic_by_id(asked.topic_id)


def _missing(asked: TopicDeletion) -> TopicDeleted:
    if asked.name is not None:
        code, message = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {asked.name}"
    else:
        code, message = ErrorCode.UNKNOWN_TOPIC_ID, f"there is no topic with id {asked.topic_id}"
    return TopicDeleted(asked.name, asked.topic_id, code, message)


def create_partitions(request: CreatePartitions, image: MetadataImage, inputs: Inputs) -> Decision:
    """Raise the number of partitions of a topic."""
    topic = image.topic(request.name)
    if topic is None:
        raise RefusedError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic named {request.name}"
        )
    present = len(topic.partitions)
    added = request.count - present
    if added <= 0:
        raise RefusedError(
            ErrorCode.INVALID_PARTITIONS,
            f"topic {request.name} has {present} partitions, the new number {request.count} is not above that",
        )
    if added > MAX_PARTITIONS_PER_REQUEST:
        raise RefusedError(
            ErrorCode.POLICY_VIOLATION,
            f"one request creates at most {MAX_PARTITIONS_PER_REQUEST} partitions",
        )
    if request.assignments is None:
        leaders = place(
            added,
            active_brokers(image, inputs.unable),
            partitions_led(image),
            inputs.rng,
            of_topic=Counter(it.leader for it in topic.partitions),
        )
    else:
        if len(request.assignments) != added:
            raise RefusedError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"the request adds {added} partitions, but assigns {len(request.assignments)}",
            )
        leaders = _assigned_leaders(request.assignments, image)
    records = tuple(partition_records(topic.topic_id, present, leaders, image.next_stream_id))
    return Decision(() if request.validate_only else records, Done())


def partition_records(
    topic_id: UUID, first_partition: int, leaders: Sequence[int], first_stream_id: int
) -> Iterator[MetadataRecord]:
    """Yield the records of new partitions; each takes two stream ids."""
    for index, leader in enumerate(leaders):
        partition = first_partition + index
        data_stream_id = first_stream_id + 2 * index
        meta_stream_id = data_stream_id + 1
        yield StreamRecord(data_stream_id, topic_id, partition, NO_EPOCH, 0, 0)
        yield StreamRecord(meta_stream_id, topic_id, partition, NO_EPOCH, 0, 0)
        yield PartitionRecord(topic_id, partition, leader, 0, data_stream_id, meta_stream_id)


def new_topic_id(image: MetadataImage, rng: "Random") -> UUID:
    """A random id that is free and not reserved."""
    while True:
        candidate = random_id(rng)
        if candidate not in (NO_TOPIC_ID, METADATA_TOPIC_ID) and candidate not in image.topics:
            return candidate


class _TopicsCreation:
    """One CreateTopics request: the names, ids and placements used by the topics decided so far."""

    def __init__(self, request: CreateTopics, image: MetadataImage, inputs: Inputs) -> None:
        self._image = image
        self._inputs = inputs
        self._validate_only = request.validate_only
        self._counts = Counter(topic.name for topic in request.topics)
        self._next_stream_id = image.next_stream_id
        self._partitions_left = MAX_PARTITIONS_PER_REQUEST
        self._collisions: dict[str, str] = {}
        chosen = any(topic.assignments is None for topic in request.topics)
        self._led = partitions_led(image) if chosen else Counter[int]()
        self.records: list[MetadataRecord] = []

    def create(self, topic: TopicCreation) -> TopicCreated:
        try:
            self._check_name(topic.name)
            self._check_configs(topic)
            leaders = self._leaders(topic)
        except RefusedError as error:
            return TopicCreated(topic.name, int(error.code), error.message, NO_TOPIC_ID, ())
        key = collision_key(topic.name)
        if key is not None:
            self._collisions[key] = topic.name
        self._partitions_left -= len(leaders)
        self._led.update(leaders)
        if self._validate_only:
            return TopicCreated(topic.name, ErrorCode.NONE, None, NO_TOPIC_ID, leaders)
        topic_id = new_topic_id(self._image, self._inputs.rng)
        factor = self._replication_factor(topic)
        self.records.append(TopicRecord(topic_id, topic.name, factor))
        self.records += partition_records(topic_id, 0, leaders, self._next_stream_id)
        self._next_stream_id += 2 * len(leaders)
        self.records += (
            ConfigRecord(TOPIC_RESOURCE, topic.name, key, value) for key, value in topic.configs
        )
        return TopicCreated(topic.name, ErrorCode.NONE, None, topic_id, leaders)

    def _check_name(self, name: str) -> None:
        if self._counts[name] > 1:
            raise RefusedError(ErrorCode.INVALID_REQUEST, f"topic {name} is named more than once")
        if name in self._image.topic_ids:
            raise RefusedError(ErrorCode.TOPIC_ALREADY_EXISTS, f"topic {name} exists already")
        problem = topic_name_problem(name)
        if problem is not None:
            raise RefusedError(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
        key = collision_key(name)
        if key is None:
            return
        other = self._image.colliding_names.get(key) or self._collisions.get(key)
        if other is not None:
            raise RefusedError(
                ErrorCode.INVALID_TOPIC_EXCEPTION,
                f"topic {name} collides with {other}: '.' and '_' are the same in metric names",
            )

    def _check_configs(self, topic: TopicCreation) -> None:
        if len({key for key, _ in topic.configs}) != len(topic.configs):
            raise RefusedError(
                ErrorCode.INVALID_REQUEST, f"a config of topic {topic.name} is given twice"
            )
        overrides = {}
        for key, value in topic.configs:
            if value is None:
                raise RefusedError(ErrorCode.INVALID_CONFIG, f"config {key} has no value")
            check_config(self._inputs.configs.validate_topic, key, value)
            overrides[key] = value
        require_no_contradiction(self._inputs.configs, overrides)

    def _leaders(self, topic: TopicCreation) -> tuple[int, ...]:
        if topic.assignments is not None:
            leaders = self._manual_leaders(topic, topic.assignments)
            self._check_count(len(leaders))
            return leaders
        factor, count = topic.replication_factor, topic.partitions
        if factor == 0 or factor < UNSET:
            raise RefusedError(
                ErrorCode.INVALID_REPLICATION_FACTOR,
                f"the replication factor is {factor}, it must be positive or -1",
            )
        if count == 0 or count < UNSET:
            raise RefusedError(
                ErrorCode.INVALID_PARTITIONS,
                f"the number of partitions is {count}, it must be positive or -1",
            )
        if count == UNSET:
            count = PARTITIONS_DEFAULT
        self._check_count(count)
        brokers = active_brokers(self._image, self._inputs.unable)
        registered = len(self._image.brokers)
        if factor > registered:  # last, as in Kafka
            raise RefusedError(
                ErrorCode.INVALID_REPLICATION_FACTOR,
                f"the replication factor is {factor}, and {registered} brokers are registered",
            )
        return tuple(place(count, brokers, self._led, self._inputs.rng))

    def _replication_factor(self, topic: TopicCreation) -> int:
        """What is stored: nothing before the level has it."""
        if level_of(self._image.features) < FACTOR_LEVEL:
            return FACTOR_DEFAULT
        if topic.assignments is not None:
            return len(topic.assignments[0][1])
        return FACTOR_DEFAULT if topic.replication_factor == UNSET else topic.replication_factor

    def _manual_leaders(
        self, topic: TopicCreation, assignments: tuple[tuple[int, tuple[int, ...]], ...]
    ) -> tuple[int, ...]:
        if topic.partitions != UNSET or topic.replication_factor != UNSET:
            raise RefusedError(
                ErrorCode.INVALID_REQUEST,
                "a manual assignment excludes a partition count and a replication factor",
            )
        by_partition = dict(assignments)
        if not by_partition or sorted(it for it, _ in assignments) != list(
            range(len(by_partition))
        ):
            raise RefusedError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                "the partitions of a manual assignment must be numbered from 0 without gaps",
            )
        in_order = [by_partition[index] for index in range(len(by_partition))]
        return tuple(_assigned_leaders(in_order, self._image))

    def _check_count(self, count: int) -> None:
        if count > self._partitions_left:
            raise RefusedError(
                ErrorCode.POLICY_VIOLATION,
                f"one request creates at most {MAX_PARTITIONS_PER_REQUEST} partitions",
            )


def _assigned_leaders(assignments: Sequence[Sequence[int]], image: MetadataImage) -> list[int]:
    if len({len(replicas) for replicas in assignments}) > 1:
        raise RefusedError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "the partitions of a manual assignment must all have the same replication factor",
        )
    return [assigned_leader(replicas, image) for replicas in assignments]
