"""DescribeCluster (API key 60), versions 0 to 2.

Behaviour:
  * Authorised operations, when asked for: all that a cluster has, since there is no authorizer.
  * Endpoint type 1 (brokers) only; 2 (controllers) is MISMATCHED_ENDPOINT_TYPE on a broker's listener.
Version notes:
  * 1: endpoint type (KIP-919).  2: fenced brokers (KIP-1073).
Source: DescribeClusterRequest.json, DescribeClusterResponse.json; KIP-700.
"""

from headrace.broker.cluster.cluster_view import ClusterView
from headrace.broker.network.request_context import RequestContext
from headrace.protocol.acl import (
    CLUSTER_OPERATIONS,
    NO_OPERATIONS,
    Access,
    AclOperation,
    ResourceType,
)
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import DescribeClusterRequest, DescribeClusterResponse

BROKERS = 1
CONTROLLERS = 2


class DescribeClusterHandler:
    """Describes the cluster and its brokers."""

    api_key = ApiKey.DESCRIBE_CLUSTER
    requires = (
        Access(
            AclOperation.DESCRIBE,
            ResourceType.CLUSTER,
            when="it asks for the operations allowed on the cluster",
        ),
    )

    def __init__(self, cluster: ClusterView) -> None:
        self._cluster = cluster

    async def handle(
        self, context: RequestContext, request: DescribeClusterRequest
    ) -> DescribeClusterResponse:
        """Describe the cluster through the listener that was used."""
        endpoint_type = request.endpoint_type if context.version >= 1 else BROKERS
        if endpoint_type != BROKERS:
            mismatched = endpoint_type == CONTROLLERS
            return self._answer(
                endpoint_type,
                ErrorCode.MISMATCHED_ENDPOINT_TYPE
                if mismatched
                else ErrorCode.UNSUPPORTED_ENDPOINT_TYPE,
                [],
            )
        with_fenced = bool(context.version >= 2 and request.include_fenced_brokers)
        seen = self._cluster.seen_by(context.client, with_fenced=with_fenced)
        brokers = [
            DescribeClusterResponse.DescribeClusterBroker(
                broker_id=broker.node_id,
                host=broker.host,
                port=broker.port,
                rack=broker.rack,
                is_fenced=seen.image.brokers[broker.node_id].fenced,
            )
            for broker in seen.brokers.values()
        ]
        answer = self._answer(BROKERS, ErrorCode.NONE, brokers)
        if request.include_cluster_authorized_operations:
            answer.cluster_authorized_operations = CLUSTER_OPERATIONS
        return answer

    def _answer(
        self,
        endpoint_type: int,
        code: ErrorCode,
        brokers: list[DescribeClusterResponse.DescribeClusterBroker],
    ) -> DescribeClusterResponse:
        return DescribeClusterResponse(
            error_code=int(code),
            error_message=None if code == ErrorCode.NONE else "brokers do not describe controllers",
            endpoint_type=endpoint_type,
            cluster_id=self._cluster.image.cluster_id,
            controller_id=self._cluster.controller_id(),
            brokers=brokers,
            cluster_authorized_operations=NO_OPERATIONS,
        )
