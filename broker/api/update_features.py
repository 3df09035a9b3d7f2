"""UpdateFeatures (API key 57), versions 0 to 2.

Behaviour:
  * The feature that changes is `headrace.metadata.version` (`metadata/levels.py`). It is raised once every node reads
    the higher level.
  * `metadata.version` is Kafka's. It is at Kafka's level whatever the metadata here are at, and stays there: the answer
    is what a cluster of Kafka says that supports this one level.
  * All updates take effect, or none: then the top-level error is INVALID_UPDATE_VERSION, and its message names the
    nodes that do not read the level.
Deviations from Apache Kafka:
  * No level is ever lowered, by no type of downgrade.
  * `timeout_ms` is not used: the broker waits as long as for any change of the metadata.
Version notes:
  * 0: allow_downgrade.  1: upgrade_type, validate_only.  2: no results for each feature.
Source: UpdateFeaturesRequest.json, UpdateFeaturesResponse.json; `FeatureControlManager`; KIP-584, KIP-778.
"""

from typing import Final

from msgspec.structs import replace

from headrace.broker.api.api_versions import KAFKA_FEATURE, KAFKA_LEVEL
from headrace.broker.network.request_context import RequestContext
from headrace.metadata.admin import error_of
from headrace.metadata.errors import MetadataError
from headrace.metadata.follower.quorum_admin import QuorumAdmin
from headrace.metadata.levels import LEVEL_FEATURE, METADATA_FEATURE
from headrace.metadata.rpc.requests import FeatureUpdate, UpgradeType
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import UpdateFeaturesRequest, UpdateFeaturesResponse

TYPES_SINCE: Final = 1


class UpdateFeaturesHandler:
    """Raises the level of the cluster."""

    api_key = ApiKey.UPDATE_FEATURES
    requires = (Access(AclOperation.ALTER, ResourceType.CLUSTER),)

    def __init__(self, quorum: QuorumAdmin) -> None:
        self._quorum = quorum

    async def handle(
        self, context: RequestContext, request: UpdateFeaturesRequest
    ) -> UpdateFeaturesResponse:
        """Forward the request to the quorum's leader, and wait until the local image shows the level."""
        updates = [
            FeatureUpdate(it.feature, it.max_version_level, _upgrade_type(context.version, it))
            async for it in context.turns.each(request.feature_updates)
        ]
        for update in updates:
            reason = _reason_against(update)
            if reason:
                message = f"{update.name} cannot be set to {update.level}: {reason}"
                return _answer(ErrorCode.INVALID_UPDATE_VERSION, message, [])
        wanted = [
            replace(it, name=METADATA_FEATURE) if it.name == LEVEL_FEATURE else it
            for it in updates
            if it.name != KAFKA_FEATURE
        ]
        try:
            if wanted:
                await self._quorum.update_features(
                    wanted, validate_only=bool(request.validate_only)
                )
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


def _reason_against(update: FeatureUpdate) -> str:
    """Why a level of Kafka's feature cannot be set; empty: it is there, or it is another feature."""
    if update.name != KAFKA_FEATURE:
        return ""
    if update.upgrade_type not in set(UpgradeType):
        return f"the upgrade type {update.upgrade_type} is not known"
    if update.level != KAFKA_LEVEL:
        return f"the brokers support {KAFKA_LEVEL} only"
    return ""


def _upgrade_type(version: int, update: UpdateFeaturesRequest.FeatureUpdateKey) -> int:
    if version >= TYPES_SINCE:
        return int(update.upgrade_type)
    return int(UpgradeType.SAFE_DOWNGRADE if update.allow_downgrade else UpgradeType.UPGRADE)


def _answer(
    code: ErrorCode,
    message: str | None,
    results: list[UpdateFeaturesResponse.UpdatableFeatureResult],
) -> UpdateFeaturesResponse:
    return UpdateFeaturesResponse(error_code=int(code), error_message=message, results=results)
