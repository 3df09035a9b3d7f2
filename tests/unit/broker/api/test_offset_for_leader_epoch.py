"""OffsetForLeaderEpoch: where an epoch ended, for consumers that look for truncation."""

from typing import Any

import pytest

from headrace.broker.api.offset_for_leader_epoch import OffsetForLeaderEpochHandler
from headrace.broker.partition.leader_epochs import LeaderEpochs
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import OffsetForLeaderEpochRequest
from headrace.protocol.partition_checkpoint import EpochStart
from tests.unit.broker.cluster_scene import FakeClient, FakeRegistry, ask, topic_records

_Topic = OffsetForLeaderEpochRequest.OffsetForLeaderTopic


def look_up(registry: FakeRegistry, version: int, epoch: int, *, current: int = -1) -> Any:
    partition = _Topic.OffsetForLeaderPartition(
        partition=0, current_leader_epoch=current, leader_epoch=epoch
    )
    request = OffsetForLeaderEpochRequest(
        replica_id=-1, topics=[_Topic(topic="t", partitions=[partition])]
    )
    handler = OffsetForLeaderEpochHandler(registry)  # type: ignore[arg-type]
    (answer,) = ask(handler, version, request).topics[0].partitions
    return answer.error_code, answer.leader_epoch, answer.end_offset


@pytest.fixture
def log() -> FakeRegistry:
    """Epoch 2 wrote offsets 0 and 1, epoch 5 offsets 2 to 4, and epoch 6, the current one, nothing yet."""
    registry = FakeRegistry()
    served = registry.serve("t", leader_epoch=6)
    served.fill(5)
    served.partition.state.epochs = LeaderEpochs([EpochStart(2, 0), EpochStart(5, 2)])
    return registry


@pytest.mark.parametrize("version", [2, 3, 4])
def test_the_largest_epoch_up_to_the_one_asked_for_is_answered_with_its_end(
    log: FakeRegistry, version: int
) -> None:
    assert look_up(log, version, 2) == (0, 2, 2)
    assert look_up(log, version, 4) == (0, 2, 2)
    assert look_up(log, version, 5) == (0, 5, 5)


def test_the_current_epoch_ends_where_the_log_does_though_it_wrote_nothing(
    log: FakeRegistry,
) -> None:
    assert look_up(log, 4, 6) == (0, 6, 5)


def test_an_epoch_before_any_data_ends_where_that_begins(log: FakeRegistry) -> None:
    assert look_up(log, 4, 1) == (0, 1, 0)


def test_a_consumer_of_an_empty_partition_does_not_see_a_restart_as_truncation() -> None:
    registry = FakeRegistry()
    registry.serve("t", leader_epoch=6)
    assert look_up(registry, 4, 5) == (0, 5, 0)


@pytest.mark.parametrize("epoch", [-1, 7])
def test_what_is_no_epoch_yet_has_no_end(log: FakeRegistry, epoch: int) -> None:
    assert look_up(log, 4, epoch) == (0, -1, -1)


@pytest.mark.parametrize(
    ("current", "error"),
    [(5, ErrorCode.FENCED_LEADER_EPOCH), (7, ErrorCode.UNKNOWN_LEADER_EPOCH)],
)
def test_a_client_with_other_metadata_is_told_so(
    log: FakeRegistry, current: int, error: ErrorCode
) -> None:
    assert look_up(log, 4, 2, current=current) == (error, -1, -1)


def test_partitions_that_are_not_here_say_why() -> None:
    registry = FakeRegistry()
    assert look_up(registry, 4, 0) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1, -1)
    registry = FakeRegistry(FakeClient(*topic_records("t", 1, leader=2)))
    assert look_up(registry, 4, 0) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1, -1)


def test_without_a_certain_lease_nothing_is_told(log: FakeRegistry) -> None:
    log.client.has_lease = False
    assert look_up(log, 4, 5) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1, -1)
