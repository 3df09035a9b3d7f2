"""Admin requests as the rest of the broker sees them, and their conversion to RPCs and back. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from headrace.metadata.errors import (
    ControllerUnavailableError,
    MetadataError,
    NodeFencedError,
    RefusedError,
)
from headrace.metadata.image import MetadataImage, PartitionImage, TopicImage
from headrace.metadata.rpc.requests import ConfigChange, TopicCreation, TopicDeletion
from headrace.metadata.rpc.responses import TopicCreated
from headrace.protocol.errors import ErrorCode

NO_STREAM_ID: Final = -1
FIRST_LEADER_EPOCH: Final = 0


class NewTopic(msgspec.Struct, frozen=True):
    """A topic to create."""

    name: str
    partitions: int = -1  # -1: one, or as many as are assigned
    configs: Mapping[str, str | None] = msgspec.field(default_factory=dict)
    assignments: Mapping[int, Sequence[int]] | None = None  # partition -> brokers
    replication_factor: int = -1


class TopicResult(NamedTuple):
    """The result of creating one topic."""

    name: str
    error: ErrorCode
    message: str | None
    topic: TopicImage | None  # for validate_only: as planned, without ids; None on error


class DeletionResult(NamedTuple):
    """The result of deleting one topic: its name and id, as far as they are known."""

    name: str | None
    topic_id: UUID | None
    error: ErrorCode
    message: str | None


class ConfigOperation(NamedTuple):
    """One operation of IncrementalAlterConfigs (KIP-339)."""

    key: str
    op: int  # a ConfigOp; any other number is answered with INVALID_REQUEST
    value: str | None = None


def topic_creation(topic: NewTopic) -> TopicCreation:
    """The RPC's form of a topic to create."""
    assignments = None
    if topic.assignments is not None:
        assignments = tuple(
            (partition, tuple(brokers)) for partition, brokers in topic.assignments.items()
        )
    return TopicCreation(
        topic.name,
        topic.partitions,
        topic.replication_factor,
        tuple(topic.configs.items()),
        assignments,
    )


def topic_deletion(topic: str | UUID) -> TopicDeletion:
    """The RPC's form of a topic to delete, by name or by id."""
    return TopicDeletion(topic, None) if isinstance(topic, str) else TopicDeletion(None, topic)


def config_change(operation: ConfigOperation) -> ConfigChange:
    """The RPC's form of a config operation."""
    return ConfigChange(operation.key, operation.op, operation.value)


def topic_result(created: TopicCreated, image: MetadataImage) -> TopicResult:
    """The controller's answer, with the topic from an image that includes it."""
    error = ErrorCode(created.error_code)
    topic = None
    if error == ErrorCode.NONE:
        topic = image.topic_by_id(created.topic_id) or _planned_topic(created)
    return TopicResult(created.name, error, created.message, topic)


def error_of(error: MetadataError) -> tuple[ErrorCode, str]:
    """The error code and message that a client gets when a request fails as a whole."""
    if isinstance(error, RefusedError):
        return error.code, error.message
    if isinstance(error, ControllerUnavailableError | NodeFencedError):
        # The outcome is unknown, so clients may retry, at another broker if this one ends.
        return ErrorCode.REQUEST_TIMED_OUT, str(error)
    return ErrorCode.UNKNOWN_SERVER_ERROR, str(error)


def _planned_topic(created: TopicCreated) -> TopicImage:
    """The topic as it would be created, or as it was before another request removed it."""
    return TopicImage(
        created.topic_id,
        created.name,
        tuple(
            PartitionImage(partition, leader, FIRST_LEADER_EPOCH, NO_STREAM_ID, NO_STREAM_ID)
            for partition, leader in enumerate(created.leaders)
        ),
    )
