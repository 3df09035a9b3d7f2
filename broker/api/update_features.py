"""UpdateFeatures (API key 57), versions 0 to 2.

Behaviour:
  * The one feature is `metadata.version` (`metadata/levels.py`). It is raised once every node reads the higher level.
  * All updates take effect, or none: then the top-level error is INVALID_UPDATE_VERSION, and its message names the
    nodes that do not read the level.
Deviations from Apache Kafka:
  * No level is ever lowered, by no type of downgrade.
  * `timeout_ms` is not used: the broker waits as long as for any change of the metadata.
Version notes:
  * 0: allow_downgrade.  1: upgrade_type, validate_only.  2: no results for each feature.
Source: UpdateFeaturesRequest.json, UpdateFeaturesResponse.json; `FeatureControlManager`; KIP-584, KIP-778.
"""

from typing import Any, Final

from headrace.broker.network.request_context import RequestContext
from headrace.metadata.admin import error_of
from headrace.metadata.errors import MetadataError
from headrace.metadata.quorum_admin import QuorumAdmin
from headrace.metadata.rpc.requests import FeatureUpdate, UpgradeType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import UpdateFeaturesRequest, UpdateFeaturesResponse

TYPES_SINCE: Final = 1


class UpdateFeaturesHandler:
    """Raises the level of the cluster."""

    api_key = ApiKey.UPDATE_FEATURES

    def __init__(self, quorum: QuorumAdmin) -> None:
        self._quorum = quorum

    async def handle(self, context: RequestContext, request: UpdateFeaturesRequest) -> Any:
        """Forward the request to the quorum's leader, and wait until the local image shows the level."""
        updates = [
            FeatureUpdate(it.feature, it.max_version_level, _upgrade_type(context.version, it))
            async for it in context.turns.each(request.feature_updates)
        ]
        try:
            await self._quorum.update_features(updates, validate_only=bool(request.validate_only))
        except MetadataError as error:
            code, message = error_of(error)
            return _answer(code, message, [])
        names = dict.fromkeys(it.name for it in updates)
        result = UpdateFeaturesResponse.UpdatableFeatureResult
        return _answer(
            ErrorCode.NONE,
            None,
            [result(feature=name, error_code=0, error_message=None) for name in names],
        )


def _upgrade_type(version: int, update: Any) -> int:
    if version >= TYPES_SINCE:
        return int(update.upgrade_type)
    return int(UpgradeType.SAFE_DOWNGRADE if update.allow_downgrade else UpgradeType.UPGRADE)


def _answer(code: ErrorCode, message: str | None, results: list[Any]) -> Any:
    return UpdateFeaturesResponse(
        throttle_time_ms=0, error_code=int(code), error_message=message, results=results
    )
