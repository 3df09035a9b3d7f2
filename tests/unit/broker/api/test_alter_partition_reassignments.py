"""AlterPartitionReassignments: passed on to the controller, and answered partition by partition (KIP-455)."""

from typing import Any

import pytest

from headrace.broker.api.alter_partition_reassignments import AlterPartitionReassignmentsHandler
from headrace.metadata.errors import ControllerUnavailableError, RefusedError
from headrace.metadata.rpc.requests import AlterReassignments, Reassignment
from headrace.metadata.rpc.responses import ReassignmentAltered, ReassignmentsAltered
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import AlterPartitionReassignmentsRequest
from tests.unit.broker.cluster_scene import ask

TOPIC = AlterPartitionReassignmentsRequest.ReassignableTopic
PARTITION = TOPIC.ReassignablePartition
REFUSED = ErrorCode.INVALID_REPLICA_ASSIGNMENT


class Client:
    """Refuses each partition 1, or everything, and notes what was asked."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.asked: list[Any] = []
        self.failure = failure

    async def change(self, request: AlterReassignments, answered: type) -> Any:
        self.asked.append(request)
        if self.failure is not None:
            raise self.failure
        assert answered is ReassignmentsAltered
        return ReassignmentsAltered(
            tuple(
                ReassignmentAltered(int(REFUSED), "no")
                if it.partition
                else ReassignmentAltered(0, None)
                for it in request.reassignments
            )
        )


def alter(client: Client, version: int) -> Any:
    topics = [
        TOPIC(
            name="a",
            partitions=[
                PARTITION(partition_index=0, replicas=[2, 3]),
                PARTITION(partition_index=1, replicas=[]),
            ],
        ),
        TOPIC(name="b", partitions=[PARTITION(partition_index=0, replicas=None)]),
    ]
    request = AlterPartitionReassignmentsRequest(
        timeout_ms=1_000, allow_replication_factor_change=True, topics=topics
    )
    handler: Any = AlterPartitionReassignmentsHandler(client)  # type: ignore[arg-type]
    return ask(handler, version, request)


@pytest.mark.parametrize("version", [0, 1])
def test_each_partition_is_asked_for_and_answered(version: int) -> None:
    client = Client()
    told = alter(client, version)

    (asked,) = client.asked
    assert asked.reassignments == (
        Reassignment("a", 0, (2, 3)),
        Reassignment("a", 1, ()),
        Reassignment("b", 0, None),
    )
    assert (told.error_code, told.error_message) == (0, None)
    found = {
        (topic.name, it.partition_index): (it.error_code, it.error_message)
        for topic in told.responses
        for it in topic.partitions
    }
    assert found == {("a", 0): (0, None), ("a", 1): (REFUSED, "no"), ("b", 0): (0, None)}


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (RefusedError(ErrorCode.UNSUPPORTED_VERSION, "too early"), ErrorCode.UNSUPPORTED_VERSION),
        (ControllerUnavailableError("nobody answers"), ErrorCode.REQUEST_TIMED_OUT),
    ],
    ids=str,
)
def test_what_refuses_all_of_it_is_answered_for_all(failure: Exception, code: ErrorCode) -> None:
    told = alter(Client(failure), 1)
    assert told.error_code == code
    assert told.error_message
    assert not told.responses
