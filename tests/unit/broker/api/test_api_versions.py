"""ApiVersions: what is advertised, and who may ask."""

import pytest

from headrace.broker.api.api_versions import ApiVersionsHandler
from headrace.metadata.image import MetadataImage
from headrace.metadata.levels import METADATA_FEATURE, NEWEST, OLDEST
from headrace.persistent_map import PersistentMap
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import advertised
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import ApiVersionsRequest
from tests.unit.broker.cluster_scene import ask

SERVED = (ApiKey.METADATA, ApiKey.PRODUCE, ApiKey.API_VERSIONS)
HANDLER = ApiVersionsHandler(
    advertised(SERVED),
    lambda: MetadataImage(
        index=7, cluster_id="here", features=PersistentMap({METADATA_FEATURE: 1})
    ),
    node_id=3,
)
VERSIONS = range(6)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_is_told_the_keys_that_are_served_and_no_others(version: int) -> None:
    """2.1: the answer lists only what the listener supports."""
    request = ApiVersionsRequest(client_software_name="test", client_software_version="1.0")
    told = ask(HANDLER, version, request)
    assert told.error_code == 0
    ranges = {row.api_key: (row.min_version, row.max_version) for row in told.api_keys}
    assert ranges == {0: (0, 13), 3: (0, 13), 18: (0, 5)}


@pytest.mark.parametrize("version", VERSIONS[3:])
def test_the_level_of_the_cluster_and_those_that_are_read_are_told(version: int) -> None:
    request = ApiVersionsRequest(client_software_name="test", client_software_version="1.0")
    told = ask(HANDLER, version, request)
    read = [(it.name, it.min_version, it.max_version) for it in told.supported_features]
    assert read == [("metadata.version", 33, 33), ("headrace.metadata.version", OLDEST, NEWEST)]
    assert [
        (it.name, it.min_version_level, it.max_version_level) for it in told.finalized_features
    ] == [("metadata.version", 33, 33), ("headrace.metadata.version", 1, 1)]
    assert told.finalized_features_epoch == 7


def test_produce_is_advertised_from_version_0() -> None:
    """1, trap: older librdkafka sends uncompressed batches otherwise (KAFKA-18659)."""
    (row,) = [row for row in ask(HANDLER, 0, ApiVersionsRequest()).api_keys if row.api_key == 0]
    assert row.min_version == 0


@pytest.mark.parametrize("name", ["librdkafka", "a", "apache-kafka.java", "1"])
def test_software_names_of_letters_digits_dots_and_dashes_are_taken(name: str) -> None:
    request = ApiVersionsRequest(client_software_name=name, client_software_version=name)
    assert ask(HANDLER, 3, request).error_code == 0


@pytest.mark.parametrize("name", ["", "-a", "a-", ".a", "a b", "a_b", "ä", "a\n", "a\x00b"])
@pytest.mark.parametrize("version", VERSIONS[3:])
def test_other_software_names_are_refused(version: int, name: str) -> None:
    """2.1: ApiVersions v3+ with a bad name is INVALID_REQUEST(42)."""
    for bad in (
        ApiVersionsRequest(client_software_name=name, client_software_version="1"),
        ApiVersionsRequest(client_software_name="test", client_software_version=name),
    ):
        told = ask(HANDLER, version, bad)
        assert told.error_code == ErrorCode.INVALID_REQUEST
        assert told.api_keys == []


def test_versions_without_a_software_name_are_not_asked_for_one() -> None:
    assert ask(HANDLER, 2, ApiVersionsRequest()).error_code == 0


@pytest.mark.parametrize(
    ("cluster_id", "node_id", "error"),
    [
        (None, -1, ErrorCode.NONE),
        ("here", 3, ErrorCode.NONE),
        ("elsewhere", 3, ErrorCode.REBOOTSTRAP_REQUIRED),
        ("here", 4, ErrorCode.REBOOTSTRAP_REQUIRED),
        ("", 3, ErrorCode.REBOOTSTRAP_REQUIRED),
        ("here", -1, ErrorCode.INVALID_REQUEST),
        (None, 3, ErrorCode.INVALID_REQUEST),
    ],
)
def test_a_client_that_wants_to_reach_another_node_is_told(
    cluster_id: str | None, node_id: int, error: ErrorCode
) -> None:
    """KIP-1242: an address that leads elsewhere, as behind a balancer or after a change of names."""
    request = ApiVersionsRequest(
        client_software_name="test",
        client_software_version="1.0",
        cluster_id=cluster_id,
        node_id=node_id,
    )
    told = ask(HANDLER, 5, request)
    assert (told.error_code, bool(told.api_keys)) == (error, error == ErrorCode.NONE)
    assert ask(HANDLER, 4, request).error_code == ErrorCode.NONE  # it has no such fields
