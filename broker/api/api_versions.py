"""ApiVersions (API key 18), versions 0 to 4.

Behaviour:
  * A version above 4 is answered by the dispatcher in the v0 body, with UNSUPPORTED_VERSION and the supported range.
  * The answer's header is always v0 (KIP-511).
  * From version 3 on also features: `metadata.version` at the level of Kafka whose wire this is, which nothing changes,
    and `headrace.metadata.version`, the levels that this release reads, and the level of the cluster.
Deviations from Apache Kafka:
  * No other feature is shown: clients then use classic groups and transactions of version 1.
Version notes:
  * 3: flexible, client software name and version.  4: features may have a minimum version of 0.
Source: ApiVersionsRequest.json, ApiVersionsResponse.json; KIP-35, KIP-511.
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

# MetadataVersion.IBP_4_3_IV0. Kafka's tools tell the release by it; what is behind it in Kafka's metadata is not here.
KAFKA_FEATURE = "metadata.version"
KAFKA_LEVEL = 30

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

    def __init__(
        self, versions: Mapping[ApiKey, ApiVersions], image: Callable[[], MetadataImage]
    ) -> None:
        self._image = image
        self._keys = [
            ApiVersionsResponse.ApiVersion(
                api_key=int(key),
                min_version=versions[key].min_version,
                max_version=versions[key].max_version,
            )
            for key in sorted(versions)
        ]

    async def handle(
        self, context: RequestContext, request: ApiVersionsRequest
    ) -> ApiVersionsResponse:
        """Answer with the ranges that this listener serves."""
        error = ErrorCode.NONE
        if context.version >= SOFTWARE_SINCE:
            names = (request.client_software_name, request.client_software_version)
            if not all(name and SOFTWARE_NAME.fullmatch(name) for name in names):
                error = ErrorCode.INVALID_REQUEST
        if error != ErrorCode.NONE:
            return ApiVersionsResponse(error_code=int(error), api_keys=[], throttle_time_ms=0)
        image = self._image()
        levels = {KAFKA_FEATURE: KAFKA_LEVEL, LEVEL_FEATURE: level_of(image.features)}
        return ApiVersionsResponse(
            error_code=0,
            api_keys=self._keys,
            throttle_time_ms=0,
            supported_features=_SUPPORTED,
            finalized_features_epoch=image.index,
            finalized_features=[
                ApiVersionsResponse.FinalizedFeatureKey(
                    name=name, max_version_level=level, min_version_level=level
                )
                for name, level in levels.items()
            ],
        )
