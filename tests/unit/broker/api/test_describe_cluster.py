"""DescribeCluster: brokers through the client's listener."""

from typing import Any

import pytest

from headrace.broker.api.describe_cluster import DescribeClusterHandler
from headrace.broker.cluster.cluster_view import ClusterView
from headrace.config.node import Endpoint, NetworkConfig
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import DescribeClusterRequest
from tests.unit.broker.cluster_scene import CLUSTER_ID, FakeClient, ask, broker_records

ADVERTISED = (Endpoint("PLAINTEXT", "one", 9092), Endpoint("OUTSIDE", "gate", 19092))


def describe(version: int, *, listener: str = "PLAINTEXT", **fields: Any) -> Any:
    client = FakeClient(
        *broker_records(1, ("PLAINTEXT", "one", 9092), ("OUTSIDE", "gate", 19092), rack="a"),
        *broker_records(2, ("PLAINTEXT", "two", 9092), active=False),
    )
    network = NetworkConfig(advertised_listeners=ADVERTISED)
    handler = DescribeClusterHandler(ClusterView(lambda: client.image, 1, network))
    return ask(handler, version, DescribeClusterRequest(**fields), listener=listener)


@pytest.mark.parametrize("version", [0, 1, 2])
def test_live_brokers_are_described(version: int) -> None:
    told = describe(version)
    assert (told.error_code, told.cluster_id, told.controller_id) == (0, CLUSTER_ID, 1)
    assert [(it.broker_id, it.host, it.port, it.rack) for it in told.brokers] == [
        (1, "one", 9092, "a")
    ]


def test_the_listener_that_was_used_decides_the_address() -> None:
    told = describe(2, listener="OUTSIDE")
    assert [(it.host, it.port) for it in told.brokers] == [("gate", 19092)]


def test_fenced_brokers_are_shown_on_request() -> None:
    told = describe(2, include_fenced_brokers=True)
    assert [(it.broker_id, it.is_fenced) for it in told.brokers] == [(1, False), (2, True)]


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("endpoint_type", "error"),
    [(2, ErrorCode.MISMATCHED_ENDPOINT_TYPE), (3, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE)],
)
def test_controllers_are_not_described_on_a_brokers_listener(
    version: int, endpoint_type: int, error: ErrorCode
) -> None:
    told = describe(version, endpoint_type=endpoint_type)
    assert (told.error_code, list(told.brokers)) == (error, [])
    assert told.error_message


@pytest.mark.parametrize("version", [0, 1, 2])
@pytest.mark.parametrize(("asked", "allowed"), [(True, 8096), (False, -(1 << 31))])
def test_without_an_authorizer_every_operation_is_authorized(
    version: int, asked: bool, allowed: int
) -> None:
    told = describe(version, include_cluster_authorized_operations=asked)
    assert told.cluster_authorized_operations == allowed
