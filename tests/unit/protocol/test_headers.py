"""Headers: known bytes, which version has tags, and truncation at every byte."""

import pytest

from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ProtocolError
from headrace.protocol.headers import (
    RequestHeader,
    encode_request_header,
    encode_response_header,
    parse_request_header,
    parse_response_header,
)

CLASSIC = RequestHeader(ApiKey.METADATA, 8, 7, "cli")
CLASSIC_BYTES = bytes.fromhex("0003 0008 00000007 0003 636c69")
FLEXIBLE = RequestHeader(ApiKey.METADATA, 9, 7, None)
FLEXIBLE_BYTES = bytes.fromhex("0003 0009 00000007 ffff 00")
TAGGED_BYTES = bytes.fromhex("0003 0009 00000007 ffff 01 05 02 abcd")


@pytest.mark.parametrize(
    ("encoded", "header"),
    [(CLASSIC_BYTES, CLASSIC), (FLEXIBLE_BYTES, FLEXIBLE), (TAGGED_BYTES, FLEXIBLE)],
)
def test_request_header(encoded: bytes, header: RequestHeader) -> None:
    frame = memoryview(encoded + b"body")
    assert parse_request_header(frame) == (header, len(encoded))
    for cut in range(len(encoded)):
        with pytest.raises(ProtocolError):
            parse_request_header(frame[:cut])


def test_request_header_is_encoded_as_it_is_read() -> None:
    assert encode_request_header(CLASSIC) == CLASSIC_BYTES
    assert encode_request_header(FLEXIBLE) == FLEXIBLE_BYTES


def test_a_client_id_that_is_no_utf_8_is_read_as_java_does() -> None:
    header, _ = parse_request_header(memoryview(CLASSIC_BYTES[:-1] + b"\xff"))
    assert CLASSIC.client_id is not None
    assert header.client_id == CLASSIC.client_id[:-1] + "\ufffd"


def test_header_of_an_unknown_key_or_version_still_tells_who_asks() -> None:
    unknown = bytes.fromhex("4e20 0063 00000007 0003 636c69")
    header, position = parse_request_header(memoryview(unknown))
    assert (header.api_key, header.client_id, position) == (20_000, "cli", 13)
    # KIP-511: an ApiVersions request of any later version has a flexible header.
    newer = bytes.fromhex("0012 0063 00000007 0003 636c69 00 ffff")
    header, position = parse_request_header(memoryview(newer))
    assert (header.api_version, position) == (99, 14)


@pytest.mark.parametrize(
    ("api_key", "version", "encoded"),
    [
        (ApiKey.METADATA, 8, "00000007"),
        (ApiKey.METADATA, 9, "00000007 00"),
        (ApiKey.SASL_HANDSHAKE, 1, "00000007"),
        (ApiKey.API_VERSIONS, 0, "00000007"),
        (ApiKey.API_VERSIONS, 4, "00000007"),
        (ApiKey.API_VERSIONS, 99, "00000007"),
    ],
)
def test_response_header_has_no_tags_in_api_versions(
    api_key: ApiKey, version: int, encoded: str
) -> None:
    expected = bytes.fromhex(encoded)
    assert encode_response_header(api_key, version, 7) == expected
    payload = memoryview(expected)
    assert parse_response_header(api_key, version, payload) == (7, len(expected))
    for cut in range(len(expected)):
        with pytest.raises(ProtocolError):
            parse_response_header(api_key, version, payload[:cut])
