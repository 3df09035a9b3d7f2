"""The classes behind each key."""

import pytest

from headrace.protocol import messages
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import VERSIONS
from headrace.protocol.messages.registry import REQUESTS, RESPONSES


def test_every_spoken_key_has_both_classes() -> None:
    assert set(REQUESTS) == set(RESPONSES) == set(VERSIONS)
    for table, kind in ((REQUESTS, "request"), (RESPONSES, "response")):
        for key, message_class in table.items():
            assert (message_class.API_KEY, message_class.type) == (key, kind)


def test_every_class_is_found_under_its_schema_name() -> None:
    for message_class in (*REQUESTS.values(), *RESPONSES.values()):
        assert getattr(messages, message_class.name) is message_class


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


def test_shared_default_of_an_array_field_cannot_be_changed() -> None:
    for response in (messages.MetadataResponse(), messages.MetadataResponse(version=9)):
        assert response.topics == []
        with pytest.raises(TypeError):
            response.topics.append(messages.MetadataResponse.MetadataResponseTopic())
        with pytest.raises(TypeError):
            response.topics += [1]
    partition = messages.ProduceResponse.TopicProduceResponse.PartitionProduceResponse()
    with pytest.raises(TypeError):
        partition.record_errors.extend([1])


def test_list_that_a_message_was_given_or_decoded_with_can_be_changed() -> None:
    response = messages.MetadataResponse(topics=[])
    response.topics.append(1)
    request = messages.decode_request(ApiKey.METADATA, 1, memoryview(b"\0\0\0\0"))
    request.topics.append(1)
    assert messages.MetadataResponse().topics == messages.MetadataRequest().topics == []
