"""The table of versions against the schemas, and the exceptions that clients force."""

from typing import Final

import pytest
from kio.schema.index import api_key_map, schema_name_map
from kio.static.constants import EntityType

from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import NEVER, VERSIONS, accepts, advertised, is_flexible
from headrace.protocol.messages.registry import REQUESTS, RESPONSES

# kio ends at Apache Kafka 4.3; `tests/integration/test_messages_by_java.py` asks the jar of the newest.
NEWER: Final = {ApiKey.API_VERSIONS: 5, ApiKey.DELETE_GROUPS: 3, ApiKey.TXN_OFFSET_COMMIT: 6}


NEW: Final = {ApiKey.UNREGISTER_CONTROLLER}


@pytest.mark.parametrize("key", sorted(VERSIONS.keys() - NEW), ids=lambda key: key.name)
def test_ranges_are_those_of_kafka(key: ApiKey) -> None:
    versions = schema_name_map[api_key_map[key]]
    expected = [v for v, entities in versions.items() if EntityType.request in entities]
    row = VERSIONS[key]
    if key is ApiKey.PRODUCE:
        assert (row.min_version, row.max_version) == (0, max(expected))
    elif key is ApiKey.INIT_PRODUCER_ID:
        assert (row.min_version, row.max_version) == (0, 5)
        assert max(expected) == 6, "version 6 is no longer missing for a reason"
    else:
        newest = NEWER.get(key, max(expected))
        assert newest in (max(expected), max(expected) + 1)
        assert (row.min_version, row.max_version) == (min(expected), newest)


@pytest.mark.parametrize("key", sorted(VERSIONS), ids=lambda key: key.name)
def test_every_accepted_version_has_messages_of_the_same_flexibility(key: ApiKey) -> None:
    row = VERSIONS[key]
    for message_class in (REQUESTS[key], RESPONSES[key]):
        spoken = range(row.min_version, row.max_version + 1)
        last = message_class.MIN_VERSION + len(message_class.READ) - 1
        assert message_class.MIN_VERSION <= _lowest(key) <= row.max_version <= last
        for version in spoken:
            assert (version >= message_class.FLEXIBLE_SINCE) == is_flexible(key, version)


def _lowest(key: ApiKey) -> int:
    return next(version for version in range(20) if accepts(key, version))


def test_produce_is_advertised_from_0_but_accepted_from_3() -> None:
    """KAFKA-18659: older librdkafka does not compress otherwise."""
    assert advertised([ApiKey.PRODUCE])[ApiKey.PRODUCE].min_version == 0
    assert [accepts(ApiKey.PRODUCE, version) for version in (2, 3, 13, 14)] == [
        False,
        True,
        True,
        False,
    ]


def test_other_ranges_are_accepted_as_advertised() -> None:
    for key, row in VERSIONS.items():
        assert not accepts(key, row.max_version + 1)
        assert not accepts(key, -1)
        if key is not ApiKey.PRODUCE:
            assert accepts(key, row.min_version)
            assert not accepts(key, row.min_version - 1)


def test_unknown_keys_are_neither_accepted_nor_flexible() -> None:
    assert not accepts(ApiKey.VOTE, 0)
    assert not accepts(12_345, 0)
    assert not is_flexible(12_345, 99)


def test_only_what_is_served_is_advertised_in_key_order() -> None:
    served = (ApiKey.METADATA, ApiKey.FETCH, ApiKey.API_VERSIONS)
    assert list(advertised(served)) == [ApiKey.FETCH, ApiKey.METADATA, ApiKey.API_VERSIONS]
    with pytest.raises(KeyError):
        advertised([ApiKey.VOTE])


def test_handshake_and_offset_delete_are_never_flexible() -> None:
    assert VERSIONS[ApiKey.SASL_HANDSHAKE].flexible_since == NEVER
    assert VERSIONS[ApiKey.OFFSET_DELETE].flexible_since == NEVER
