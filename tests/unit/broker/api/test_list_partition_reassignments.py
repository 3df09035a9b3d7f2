"""ListPartitionReassignments: always empty."""

from headrace.broker.api.list_partition_reassignments import ListPartitionReassignmentsHandler
from headrace.protocol.messages import ListPartitionReassignmentsRequest
from tests.unit.broker.cluster_scene import ask


def test_nothing_is_ever_being_reassigned() -> None:
    request = ListPartitionReassignmentsRequest(timeout_ms=1_000, topics=None)
    told = ask(ListPartitionReassignmentsHandler(), 0, request)
    assert (told.error_code, list(told.topics)) == (0, [])
