"""The classes behind each key."""

import pytest

from headrace.protocol import messages
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import VERSIONS
from headrace.protocol.messages.registry import REQUESTS, RESPONSES


def test_every_spoken_key_has_both_classes() -> None:
    assert set(REQUESTS) == set(RESPONSES) == set(VERSIONS)
    for table, kind in ((REQUESTS, "Request"), (RESPONSES, "Response")):
        for key, message_class in table.items():
            assert key == message_class.API_KEY
            assert message_class.__name__.endswith(kind)


def test_every_class_is_found_under_its_schema_name() -> None:
    for message_class in (*REQUESTS.values(), *RESPONSES.values()):
        assert getattr(messages, message_class.__name__) is message_class


@pytest.mark.parametrize("name", ["NoSuchRequest", "Metadata", "MetadataRespons", "Request", ""])
def test_another_name_is_no_attribute(name: str) -> None:
    assert not hasattr(messages, name)


def test_another_key_has_no_class() -> None:
    for key in (ApiKey.LEADER_AND_ISR, 999):
        assert key not in REQUESTS
        with pytest.raises(KeyError):
            RESPONSES[key]


def test_nested_structs_are_attributes() -> None:
    broker = messages.MetadataResponse.MetadataResponseBroker(node_id=1, host="a", port=9092)
    response = messages.MetadataResponse(brokers=[broker], topics=[])
    encoded = messages.encode_response(response, 9, 5)
    _, decoded = messages.decode_response(ApiKey.METADATA, 9, memoryview(encoded))
    assert (decoded.brokers[0].host, decoded.brokers[0].port) == ("a", 9092)


def test_each_message_has_lists_of_its_own() -> None:
    response = messages.MetadataResponse()
    response.topics.append(1)
    assert messages.MetadataResponse().topics == messages.MetadataRequest().topics == []
    request = messages.decode_request(ApiKey.METADATA, 1, memoryview(b"\0\0\0\0"))
    request.topics.append(1)
    assert messages.decode_request(ApiKey.METADATA, 1, memoryview(b"\0\0\0\0")).topics == []


def test_a_misspelt_field_is_refused() -> None:
    response = messages.MetadataResponse()
    with pytest.raises(AttributeError):
        response.cluster = "c"
    with pytest.raises(TypeError):
        messages.MetadataResponse(cluster="c")
