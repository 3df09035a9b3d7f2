"""UpdateFeatures: passed on to the controller (KIP-584, KIP-778)."""

from typing import Any

import pytest

from headrace.broker.api.update_features import UpdateFeaturesHandler
from headrace.metadata.errors import ControllerUnavailableError, RefusedError
from headrace.metadata.follower.quorum_admin import QuorumAdmin
from headrace.metadata.levels import METADATA_FEATURE
from headrace.metadata.rpc.requests import FeatureUpdate, UpdateFeatures, UpgradeType
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import UpdateFeaturesRequest
from tests.unit.broker.cluster_scene import ask

UPDATE = UpdateFeaturesRequest.FeatureUpdateKey
LEVEL = "headrace.metadata.version"
KAFKAS = "metadata.version"


class Client:
    """Answers what the test says, and notes what was asked."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.asked: list[Any] = []
        self.failure = failure

    async def change(self, request: Any, answered: type) -> Any:
        self.asked.append(request)
        if self.failure is not None:
            raise self.failure
        return answered()


def update(client: Any, version: int, *updates: Any, validate_only: bool = False) -> Any:
    request = UpdateFeaturesRequest(feature_updates=list(updates), validate_only=validate_only)
    return ask(UpdateFeaturesHandler(QuorumAdmin(client)), version, request)


@pytest.mark.parametrize("version", [0, 1, 2])
def test_levels_are_set_by_the_controller(version: int) -> None:
    client = Client()
    told = update(client, version, UPDATE(feature=LEVEL, max_version_level=2))

    assert (told.error_code, told.error_message) == (0, None)
    wanted = FeatureUpdate(METADATA_FEATURE, 2, UpgradeType.UPGRADE)
    assert client.asked == [UpdateFeatures((wanted,), validate_only=False)]
    if version < 2:
        assert [(it.feature, it.error_code) for it in told.results] == [(LEVEL, 0)]


@pytest.mark.parametrize("version", [0, 1, 2])
def test_kafka_s_feature_stays_at_kafka_s_level(version: int) -> None:
    """FeatureControlManager.updateFeature: the level that is there is no change, any other is refused."""
    client = Client()
    told = update(client, version, UPDATE(feature=KAFKAS, max_version_level=33))
    assert (told.error_code, client.asked) == (0, [])
    for level in (-1, 0, 3, 7, 32, 34):
        both = [UPDATE(feature=it, max_version_level=level) for it in (LEVEL, KAFKAS)]
        told = update(client, version, *both)
        assert told.error_code == ErrorCode.INVALID_UPDATE_VERSION
        assert "support 33 only" in told.error_message
    assert client.asked == []
    with_ours = [
        UPDATE(feature=KAFKAS, max_version_level=33),
        UPDATE(feature=LEVEL, max_version_level=2),
    ]
    assert update(client, version, *with_ours).error_code == 0
    assert [it.name for it in client.asked[0].updates] == [METADATA_FEATURE]
    assert [it.level for it in client.asked[0].updates] == [2]


def test_an_unknown_type_of_change_is_refused() -> None:
    told = update(Client(), 1, UPDATE(feature=KAFKAS, max_version_level=33, upgrade_type=4))
    assert told.error_code == ErrorCode.INVALID_UPDATE_VERSION


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_the_type_of_the_change_is_passed_on(kind: int) -> None:
    client = Client()
    update(client, 1, UPDATE(feature="f", max_version_level=1, upgrade_type=kind))
    assert client.asked[0].updates == (FeatureUpdate("f", 1, kind),)


def test_the_first_version_may_allow_a_downgrade() -> None:
    client = Client()
    update(client, 0, UPDATE(feature="f", max_version_level=1, allow_downgrade=True))
    assert client.asked[0].updates == (FeatureUpdate("f", 1, UpgradeType.SAFE_DOWNGRADE),)


def test_a_trial_is_passed_on_as_one() -> None:
    client = Client()
    update(client, 2, UPDATE(feature="f", max_version_level=1), validate_only=True)
    assert client.asked[0].validate_only


FAILURES = [
    (RefusedError(ErrorCode.INVALID_UPDATE_VERSION, "no"), ErrorCode.INVALID_UPDATE_VERSION, "no"),
    (ControllerUnavailableError("silent"), ErrorCode.REQUEST_TIMED_OUT, "silent"),
    (
        RefusedError(ErrorCode.INVALID_REQUEST, "at most 100 features"),
        ErrorCode.INVALID_REQUEST,
        "at most 100 features",
    ),
]


@pytest.mark.parametrize(("failure", "code", "message"), FAILURES)
@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_refusal_is_one_of_the_whole_request(
    failure: Exception, code: ErrorCode, message: str, version: int
) -> None:
    told = update(Client(failure), version, UPDATE(feature="f", max_version_level=2))

    assert told.error_code == code
    assert message in told.error_message
    if version < 2:
        assert list(told.results) == []
