"""The classes behind each key."""

from protocol import messages
from protocol.api_keys import ApiKey
from protocol.api_versions import VERSIONS
from protocol.messages.registry import REQUESTS, RESPONSES


def test_every_spoken_key_has_both_classes() -> None:
    assert set(REQUESTS) == set(RESPONSES) == set(VERSIONS)
    for table, kind in ((REQUESTS, "request"), (RESPONSES, "response")):
        for key, message_class in table.items():
            assert (message_class.API_KEY, message_class.type) == (key, kind)


def test_every_class_is_exported_under_its_schema_name() -> None:
    for message_class in (*REQUESTS.values(), *RESPONSES.values()):
        assert getattr(messages, message_class.name) is message_class
        assert message_class.name in messages.__all__


def test_nested_structs_are_attributes() -> None:
    broker = messages.MetadataResponse.MetadataResponseBroker(node_id=1, host="a", port=9092)
    response = messages.MetadataResponse(brokers=[broker], topics=[])
    encoded = messages.encode_response(response, 9, 5)
    _, decoded = messages.decode_response(ApiKey.METADATA, 9, memoryview(encoded))
    assert (decoded.brokers[0].host, decoded.brokers[0].port) == ("a", 9092)
