"""Strictness of the decoders: what is refused, and that decoding takes bounded steps."""

import pytest

from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ProtocolError
from headrace.protocol.message_reading import ELEMENT_BYTES
from headrace.protocol.messages.codec import (
    MAX_ELEMENTS,
    decode_request,
    decode_request_steps,
    decode_response,
)
from headrace.protocol.primitives import (
    MAX_ARRAY_ELEMENTS,
    MAX_MARKED_BYTES,
    MAX_STRING_BYTES,
    STEP_ELEMENTS,
    encode_uvarint,
)
from tests.unit.counted_steps import counted


@pytest.mark.parametrize(
    ("api_key", "version", "body"),
    [
        (ApiKey.HEARTBEAT, 0, "0001 67 00000005 0003 6d"),  # string ends early
        (ApiKey.HEARTBEAT, 0, "ffff 00000005 0001 6d"),  # null, but not nullable
        (ApiKey.HEARTBEAT, 4, "00 00000005 02 6d 00 00"),  # the same, compact
        (ApiKey.LIST_GROUPS, 4, "00 00"),  # null array
        (ApiKey.LIST_GROUPS, 4, "01 01 09 05 ab"),  # unknown tag ends early
        (ApiKey.LIST_GROUPS, 4, "01 01 09 05"),
        (ApiKey.LIST_GROUPS, 4, "01 02 09 01 ab"),  # fewer tags than said
        (ApiKey.DELETE_GROUPS, 0, "fffffffb"),  # negative length
        (ApiKey.DELETE_GROUPS, 0, "00000003 0000 0000"),  # more elements than there are
        (ApiKey.DELETE_GROUPS, 0, "7fffffff"),
        (ApiKey.DELETE_GROUPS, 2, "ffffffff0f 00"),
        (ApiKey.DELETE_GROUPS, 2, "ffffffff1f 00"),  # varint of more than 32 bits
        (ApiKey.SYNC_GROUP, 0, "0001 67 00000005 0001 6d 00000001 0001 6d 00000009 aabb"),
        (ApiKey.METADATA, 12, "02 0000 0000 0000 0000"),  # UUID ends early
    ],
)
def test_malformed_bodies_are_refused(api_key: ApiKey, version: int, body: str) -> None:
    with pytest.raises(ProtocolError):
        decode_request(api_key, version, memoryview(bytes.fromhex(body)))


def test_a_name_that_is_no_utf_8_is_read_as_java_does() -> None:
    """It can be written again; of a long one that might be too long."""
    body = bytes.fromhex("0003 67ff67 00000005 0001 fe")
    request = decode_request(ApiKey.HEARTBEAT, 0, memoryview(body))
    assert (request.group_id, request.member_id) == ("g\ufffdg", "\ufffd")
    for size, fits in ((MAX_MARKED_BYTES, True), (MAX_MARKED_BYTES + 1, False)):
        long = memoryview(b"\x02" + encode_uvarint(size + 1) + b"\xff" * size + b"\0")
        if fits:
            (name,) = decode_request(ApiKey.DELETE_GROUPS, 2, long).groups_names
            assert len(name.encode()) <= MAX_STRING_BYTES
        else:
            with pytest.raises(ProtocolError, match="UTF-8"):
                decode_request(ApiKey.DELETE_GROUPS, 2, long)


def test_null_is_accepted_where_the_schema_has_it() -> None:
    everything = decode_request(ApiKey.METADATA, 1, memoryview(b"\xff\xff\xff\xff"))
    assert everything.topics is None
    nothing = decode_request(ApiKey.METADATA, 1, memoryview(b"\0\0\0\0"))
    assert nothing.topics == []


def test_fields_of_other_versions_read_as_their_defaults() -> None:
    request = decode_request(ApiKey.METADATA, 1, memoryview(b"\xff\xff\xff\xff"))
    assert request.allow_auto_topic_creation is True
    assert request.include_topic_authorized_operations is False


def test_unknown_tags_are_skipped() -> None:
    request = decode_request(
        ApiKey.LIST_GROUPS, 4, memoryview(bytes.fromhex("01 02 09 01 ab 0a 00"))
    )
    assert request.states_filter == []


def test_known_tag_must_be_of_its_own_size() -> None:
    """FetchRequest has a nullable string in tag 0."""
    head = "ffffffff 000001f4 00000001 00100000 01 00000000 ffffffff 01 01 01"
    whole = bytes.fromhex(f"{head} 01 00 03 03 6162")
    assert decode_request(ApiKey.FETCH, 12, memoryview(whole)).cluster_id == "ab"
    for tag in ("00 04 03 6162 00", "00 02 03 6162"):
        with pytest.raises(ProtocolError):
            decode_request(ApiKey.FETCH, 12, memoryview(bytes.fromhex(f"{head} 01 {tag}")))


def test_nullable_struct_has_a_byte_of_its_own() -> None:
    """KIP-893, the cursor of DescribeTopicPartitions."""
    without = decode_request(
        ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, memoryview(bytes.fromhex("01 000007d0 ff 00"))
    )
    assert without.cursor is None
    cursor = bytes.fromhex("01 000007d0 01 02 74 00000003 00 00")
    request = decode_request(ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, memoryview(cursor))
    assert (request.cursor.topic_name, request.cursor.partition_index) == ("t", 3)


def test_authorized_operations_are_bits() -> None:
    def operations(bits: str) -> int:
        payload = bytes.fromhex(f"00000007 00000000 00000000 ffff 00000000 00000000 {bits}")
        response = decode_response(ApiKey.METADATA, 8, memoryview(payload))[1]
        return response.cluster_authorized_operations

    assert operations("80000000") == -(1 << 31)
    assert operations("00000108") == 1 << 3 | 1 << 8


def test_number_of_elements_is_bounded_over_all_arrays() -> None:
    """Two bytes on the wire would become an object each."""
    half = MAX_ELEMENTS[ApiKey.LIST_GROUPS] // 2
    states = encode_uvarint(half + 1) + b"\x01" * half
    within = memoryview(states + encode_uvarint(half + 1) + b"\x01" * half + b"\0")
    assert len(decode_request(ApiKey.LIST_GROUPS, 5, within).types_filter) == half
    beyond = memoryview(states + encode_uvarint(half + 2) + b"\x01" * (half + 1) + b"\0")
    with pytest.raises(ProtocolError, match="array elements"):
        decode_request(ApiKey.LIST_GROUPS, 5, beyond)


def test_a_string_is_as_long_as_one_of_kafka_at_most() -> None:
    def names(size: int) -> memoryview:
        return memoryview(b"\x02" + encode_uvarint(size + 1) + b"n" * size + b"\0")

    assert decode_request(ApiKey.DELETE_GROUPS, 2, names(32_767)).groups_names == ["n" * 32_767]
    with pytest.raises(ProtocolError, match="string has 32768 bytes"):
        decode_request(ApiKey.DELETE_GROUPS, 2, names(32_768))


def test_long_strings_count_as_many_elements() -> None:
    """Else a step of 256 strings would decode eight megabytes."""
    name = encode_uvarint(20_001) + b"n" * 20_000
    body = encode_uvarint(257) + name * 256 + b"\0"
    steps = decode_request_steps(ApiKey.DELETE_GROUPS, 2, memoryview(body))
    each = 1 + 20_000 // ELEMENT_BYTES
    assert sum(1 for _ in steps) == 256 * each // STEP_ELEMENTS


@pytest.mark.parametrize("topics", [1, 3, 40])
def test_a_large_body_is_decoded_in_steps(topics: int) -> None:
    """A step goes through a bounded number of elements, in whatever arrays they are."""
    partition = bytes(4) + bytes(8) + b"\0"
    each = 30_000 // topics
    topic = b"\x02t" + encode_uvarint(each + 1) + partition * each + b"\0"
    body = encode_uvarint(topics + 1) + topic * topics + bytes(4) + b"\0"
    request, stops = counted(decode_request_steps(ApiKey.DELETE_RECORDS, 2, memoryview(body)))
    assert [len(topic.partitions) for topic in request.topics] == [each] * topics
    assert stops == topics * (each + 1) // STEP_ELEMENTS


def test_long_varints_and_many_tags_take_linear_time() -> None:
    """Where time is quadratic, these take minutes."""
    with pytest.raises(ProtocolError):
        decode_request(ApiKey.DELETE_GROUPS, 2, memoryview(b"\x80" * 5_000_000))
    count = MAX_ARRAY_ELEMENTS
    topic = bytes(16) + b"\0" + b"\x01\x09\x01\xab"
    body = encode_uvarint(count + 1) + topic * count + b"\x01\x00\x00"
    request = decode_request(ApiKey.METADATA, 12, memoryview(body))
    assert len(request.topics) == count


def test_nothing_of_the_body_is_kept() -> None:
    body = bytearray.fromhex("0001 67 00000005 0001 6d 00000001 0001 6d 00000002 aabb")
    request = decode_request(ApiKey.SYNC_GROUP, 0, memoryview(body))
    body.clear()  # raises when a view of it is left
    assert request.assignments[0].assignment == b"\xaa\xbb"
