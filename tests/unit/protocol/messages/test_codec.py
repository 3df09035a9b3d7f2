"""Messages with their headers: known bytes and what is refused."""

import pytest

from headrace.protocol import messages
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode, ProtocolError
from headrace.protocol.headers import RequestHeader, parse_request_header
from headrace.protocol.primitives import MAX_ARRAY_ELEMENTS

HEARTBEAT_V0 = bytes.fromhex("0001 67 00000005 0001 6d")
HEARTBEAT_V4 = bytes.fromhex("02 67 00000005 02 6d 00 00")


def test_request_of_either_encoding() -> None:
    for version, body in ((0, HEARTBEAT_V0), (4, HEARTBEAT_V4)):
        request = messages.decode_request(ApiKey.HEARTBEAT, version, memoryview(body))
        assert (request.group_id, request.generation_id, request.member_id) == ("g", 5, "m")
        assert request.group_instance_id is None


def test_request_is_encoded_behind_its_header() -> None:
    request = messages.HeartbeatRequest(group_id="g", generation_id=5, member_id="m")
    for version, body in ((0, HEARTBEAT_V0), (4, HEARTBEAT_V4)):
        header = RequestHeader(ApiKey.HEARTBEAT, version, 7, "c")
        encoded = memoryview(messages.encode_request(request, header))
        parsed, position = parse_request_header(encoded)
        assert (parsed, bytes(encoded[position:])) == (header, body)


def test_decoded_message_can_be_encoded_again() -> None:
    request = messages.decode_request(ApiKey.HEARTBEAT, 0, memoryview(HEARTBEAT_V0))
    header = RequestHeader(ApiKey.HEARTBEAT, 4, 7, "c")
    assert messages.encode_request(request, header).endswith(HEARTBEAT_V4)


def test_response_has_the_header_of_its_version() -> None:
    response = messages.HeartbeatResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID)
    assert messages.encode_response(response, 0, 7) == bytes.fromhex("00000007 0019")
    assert messages.encode_response(response, 1, 7) == bytes.fromhex("00000007 00000000 0019")
    encoded = messages.encode_response(response, 4, 7)
    assert encoded == bytes.fromhex("00000007 00 00000000 0019 00")
    correlation_id, decoded = messages.decode_response(ApiKey.HEARTBEAT, 4, memoryview(encoded))
    assert (correlation_id, decoded.error_code) == (7, ErrorCode.UNKNOWN_MEMBER_ID)


def test_api_versions_response_header_has_no_tags() -> None:
    """KIP-511."""
    response = messages.ApiVersionsResponse(api_keys=[])
    assert messages.encode_response(response, 3, 7) == bytes.fromhex("00000007 0000 01 00000000 00")


def test_api_versions_in_an_unknown_version_is_answered_in_version_0() -> None:
    """KIP-511: with the range that is spoken, so that the client can ask again."""
    encoded = messages.encode_unsupported_api_versions(7)
    assert encoded == bytes.fromhex("00000007 0023 00000001 0012 0000 0005")
    for asked in (0, 3, 5):
        correlation_id, decoded = messages.decode_response(
            ApiKey.API_VERSIONS, asked, memoryview(encoded)
        )
        assert (correlation_id, decoded.error_code) == (7, ErrorCode.UNSUPPORTED_VERSION)
        assert decoded.api_keys[0].max_version == 5


@pytest.mark.parametrize(
    ("api_key", "version"),
    [(ApiKey.PRODUCE, 2), (ApiKey.METADATA, 14), (ApiKey.METADATA, -1), (ApiKey.VOTE, 0), (999, 0)],
)
def test_what_is_not_spoken_is_refused(api_key: int, version: int) -> None:
    with pytest.raises(ProtocolError, match="not supported"):
        messages.decode_request(api_key, version, memoryview(b""))
    with pytest.raises(ProtocolError, match="not supported"):
        messages.decode_response(api_key, version, memoryview(b""))


def test_only_a_whole_body_is_accepted() -> None:
    for version, body in ((0, HEARTBEAT_V0), (4, HEARTBEAT_V4)):
        for cut in range(len(body)):
            with pytest.raises(ProtocolError):
                messages.decode_request(ApiKey.HEARTBEAT, version, memoryview(body)[:cut])
        whole = messages.decode_request(ApiKey.HEARTBEAT, version, memoryview(body))
        longer = messages.decode_request(ApiKey.HEARTBEAT, version, memoryview(body + b"\0\1"))
        assert longer == whole


def test_what_librdkafka_sends_behind_a_metadata_request_is_passed_over() -> None:
    """Captured from librdkafka 2.15: all topics, version 13, and three bytes that mean nothing."""
    body = bytes.fromhex("0000000001 0000")
    assert messages.decode_request(ApiKey.METADATA, 13, memoryview(body)).topics is None


def test_a_response_is_exactly_its_bytes() -> None:
    encoded = messages.encode_response(messages.HeartbeatResponse(error_code=0), 4, 7)
    with pytest.raises(ProtocolError, match="1 bytes left over"):
        messages.decode_response(ApiKey.HEARTBEAT, 4, memoryview(encoded + b"\0"))


def test_tagged_array_of_a_response() -> None:
    """KIP-951: node endpoints."""
    node = messages.ProduceResponse.NodeEndpoint(node_id=1, host="h", port=9092, rack=None)
    for nodes in ([], [node]):
        response = messages.ProduceResponse(responses=[], node_endpoints=nodes)
        encoded = messages.encode_response(response, 10, 7)
        _, decoded = messages.decode_response(ApiKey.PRODUCE, 10, memoryview(encoded))
        assert decoded.node_endpoints == nodes


def test_response_is_bounded_by_its_bytes_alone() -> None:
    count = MAX_ARRAY_ELEMENTS + 1
    result = messages.DeleteGroupsResponse.DeletableGroupResult(group_id="g", error_code=0)
    response = messages.DeleteGroupsResponse(results=[result] * count)
    encoded = messages.encode_response(response, 0, 7)
    _, decoded = messages.decode_response(ApiKey.DELETE_GROUPS, 0, memoryview(encoded))
    assert len(decoded.results) == count


def test_large_response_is_encoded_whole() -> None:
    names = [f"topic-{number}" for number in range(20_000)]
    topic_class = messages.MetadataResponse.MetadataResponseTopic
    response = messages.MetadataResponse(
        brokers=[], topics=[topic_class(name=name, partitions=[]) for name in names]
    )
    encoded = messages.encode_response(response, 12, 1)
    _, decoded = messages.decode_response(ApiKey.METADATA, 12, memoryview(encoded))
    assert [topic.name for topic in decoded.topics] == names
