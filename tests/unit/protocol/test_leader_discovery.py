"""KIP-951 tags: known bytes."""

from headrace.protocol.leader_discovery import (
    CurrentLeader,
    NodeEndpoint,
    encode_current_leader,
    encode_response_tags,
)


def test_current_leader() -> None:
    expected = bytes.fromhex("01 09 00000005 00000007 00")
    assert encode_current_leader(1, CurrentLeader(5, 7)) == expected


def test_node_endpoints() -> None:
    endpoints = [NodeEndpoint(5, "ab", 9092, "r"), NodeEndpoint(6, "c", 1)]
    first = bytes.fromhex("00000005 03 6162 00002384 02 72 00")
    second = bytes.fromhex("00000006 02 63 00000001 00 00")
    value = b"\x03" + first + second
    assert encode_response_tags(endpoints) == b"\x01\x00" + bytes([len(value)]) + value


def test_no_endpoints_are_no_tags() -> None:
    assert encode_response_tags([]) == b"\x00"
