"""ListConfigResources: what DescribeConfigs can be asked about."""

import pytest

from headrace.broker.api.list_config_resources import ListConfigResourcesHandler
from headrace.broker.cluster.cluster_view import ClusterView
from headrace.config.node import NetworkConfig
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import ListConfigResourcesRequest
from tests.unit.broker.cluster_scene import NODE_ID, FakeClient, ask, broker_records, topic_records

TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32


def listed(version: int, *types: int) -> tuple[int, list[tuple[int, str]]]:
    client = FakeClient(
        *broker_records(), *broker_records(node_id=5, active=False), *topic_records("t", 1)
    )
    view = ClusterView(lambda: client.image, NODE_ID, NetworkConfig())
    request = ListConfigResourcesRequest(resource_types=list(types))
    told = ask(ListConfigResourcesHandler(view), version, request)
    found = sorted((it.resource_type, it.resource_name) for it in told.config_resources)
    return told.error_code, found


def test_version_0_lists_client_metrics_of_which_there_are_none() -> None:
    assert listed(0) == (0, [])


@pytest.mark.parametrize(
    ("types", "found"),
    [
        ([TOPIC], [(TOPIC, "t")]),
        ([BROKER], [(BROKER, str(NODE_ID))]),
        ([LOGGER, LOGGER], [(LOGGER, str(NODE_ID))]),
        ([CLIENT_METRICS, GROUP], []),
        ([], [(TOPIC, "t"), (BROKER, str(NODE_ID)), (LOGGER, str(NODE_ID))]),
    ],
    ids=str,
)
def test_version_1_lists_the_types_asked_for(
    types: list[int], found: list[tuple[int, str]]
) -> None:
    assert listed(1, *types) == (0, found)


@pytest.mark.parametrize("types", [[0], [TOPIC, 99], [-1]])
def test_other_types_are_not_there(types: list[int]) -> None:
    assert listed(1, *types) == (ErrorCode.UNSUPPORTED_VERSION, [])
