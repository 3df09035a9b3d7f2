"""ApiVersions (API key 18), versions 0 to 5.

Behaviour:
  * A version above 5 is answered by the dispatcher in the v0 body, with UNSUPPORTED_VERSION and the supported range.
  * The answer's header is always v0 (KIP-511).
  * From version 3 on also features: `metadata.version` at the level of Kafka whose wire this is, which nothing changes,
    and `headrace.metadata.version`, the levels that this release reads, and the level of the cluster.
  * A client that wants to reach another cluster or node is answered REBOOTSTRAP_REQUIRED: an address leads where it
    should not. One that tells the cluster without the node, or the node without the cluster: INVALID_REQUEST.
Deviations from Apache Kafka:
  * No other feature is shown: clients then use classic groups and transactions of version 1.
Version notes:
  * 3: flexible, client software name and version.  4: features may have a minimum version of 0.
  * 5: cluster id and node id that the client wants to reach.
Source: ApiVersionsRequest.json, ApiVersionsResponse.json; KIP-35, KIP-511, KIP-1242.
"""

import re
from collections.abc import Callable, Mapping

from headrace.broker.network.request_context import RequestContext
from headrace.metadata.image import MetadataImage
from headrace.metadata.levels import LEVEL_FEATURE, READ_HERE, level_of
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import ApiVersions
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import ApiVersionsRequest, ApiVersionsResponse

SOFTWARE_NAME = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
SOFTWARE_SINCE = 3
WANTED_NODE_SINCE = 5
NO_NODE = -1

# MetadataVersion.IBP_4_4_IV2, the newest that Apache Kafka 4.4 takes for production. Its tools tell the release by it;
# what is behind it in Kafka's metadata is not here.
KAFKA_FEATURE = "metadata.version"
KAFKA_LEVEL = 33

_SUPPORTED = [
    ApiVersionsResponse.SupportedFeatureKey(
        name=KAFKA_FEATURE, min_version=KAFKA_LEVEL, max_version=KAFKA_LEVEL
    ),
    ApiVersionsResponse.SupportedFeatureKey(
        name=LEVEL_FEATURE, min_version=READ_HERE.oldest, max_version=READ_HERE.newest
    ),
]


class ApiVersionsHandler:
    """Answers with the supported API versions."""

    api_key = ApiKey.API_VERSIONS
    requires = ()

    def __init__(
        self,
        versions: Mapping[ApiKey, ApiVersions],
        image: Callable[[], MetadataImage],
        node_id: int,
    ) -> None:
        self._image = image
        self._node_id = node_id
        self._keys = [
            ApiVersionsResponse.ApiVersion(
                api_key=int(key),
                min_version=versions[key].min_version,
                max_version=versions[key].max_version,
            )
            for key in sorted(versions)
        ]

    def handle(self, context: RequestContext, request: ApiVersionsRequest) -> ApiVersionsResponse:
        """Answer with the ranges that this listener serves."""
        image = self._image()
        error = self._error(context.version, request, image.cluster_id)
        if error != ErrorCode.NONE:
            return ApiVersionsResponse(error_code=int(error), api_keys=[])
        levels = {KAFKA_FEATURE: KAFKA_LEVEL, LEVEL_FEATURE: level_of(image.features)}
        return ApiVersionsResponse(
            error_code=0,
            api_keys=self._keys,
            supported_features=_SUPPORTED,
            finalized_features_epoch=image.index,
            finalized_features=[
                ApiVersionsResponse.FinalizedFeatureKey(
                    name=name, max_version_level=level, min_version_level=level
                )
                for name, level in levels.items()
            ],
        )

    def _error(self, version: int, request: ApiVersionsRequest, cluster_id: str) -> ErrorCode:
        if version >= SOFTWARE_SINCE:
            names = (request.client_software_name, request.client_software_version)
            if not all(name and SOFTWARE_NAME.fullmatch(name) for name in names):
                return ErrorCode.INVALID_REQUEST
        if version >= WANTED_NODE_SINCE:
            wanted = (request.cluster_id, request.node_id)
            if (wanted[0] is None) != (wanted[1] == NO_NODE):
                return ErrorCode.INVALID_REQUEST
            if wanted[0] is not None and wanted != (cluster_id, self._node_id):
                return ErrorCode.REBOOTSTRAP_REQUIRED
        return ErrorCode.NONE
