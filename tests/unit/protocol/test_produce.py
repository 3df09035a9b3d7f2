"""Produce by hand: known bytes, views instead of copies, and what is refused.

That all versions agree with the message classes is in tests/property/test_protocol_fast_paths.py.
"""

from uuid import UUID

import pytest

from headrace.protocol import messages
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode, ProtocolError
from headrace.protocol.headers import RequestHeader, parse_request_header
from headrace.protocol.leader_discovery import CurrentLeader, NodeEndpoint
from headrace.protocol.primitives import MAX_ARRAY_ELEMENTS, encode_uvarint
from headrace.protocol.produce import (
    STEP_ELEMENTS,
    ProducePartitionResponse,
    ProduceRequest,
    ProduceTopic,
    ProduceTopicResponse,
    RecordError,
    decode_one_batch,
    decode_produce,
    decode_produce_steps,
    encode_appended,
    encode_produce_response,
)
from headrace.steps import completed

TOPIC_ID = UUID(int=7)
CLASSIC = bytes.fromhex(
    "0001 78 ffff 00000bb8"  # transactional id "x", acks -1, 3 s
    "00000001 0001 74"  # one topic "t"
    "00000002 00000000 00000003 aabbcc 00000001 ffffffff"  # records of 3 bytes, and null
)
FLEXIBLE = bytes.fromhex("00 ffff 00000bb8 02 02 74 03 00000000 04 aabbcc 00 00000001 00 00 00 00")
BY_ID = bytes.fromhex(
    "00 0001 00000bb8 02 00000000000000000000000000000007 02 00000009 01 00 00 00"
)


def topics_of(request: ProduceRequest) -> list[tuple]:
    return [
        (name, topic_id, [(index, records and bytes(records)) for index, records in partitions])
        for name, topic_id, partitions in request.topics
    ]


@pytest.mark.parametrize("version", range(3, 9))
def test_classic_request(version: int) -> None:
    request = decode_produce(version, memoryview(CLASSIC))
    assert request[:3] == ("x", -1, 3000)
    assert topics_of(request) == [("t", None, [(0, b"\xaa\xbb\xcc"), (1, None)])]


@pytest.mark.parametrize("version", range(9, 13))
def test_flexible_request(version: int) -> None:
    request = decode_produce(version, memoryview(FLEXIBLE))
    assert request[:3] == (None, -1, 3000)
    assert topics_of(request) == [("t", None, [(0, b"\xaa\xbb\xcc"), (1, None)])]


def test_request_by_topic_id() -> None:
    request = decode_produce(13, memoryview(BY_ID))
    assert request == ProduceRequest(
        None, 1, 3000, [ProduceTopic("", TOPIC_ID, [(9, memoryview(b""))])]
    )


def test_records_are_writable_views_into_the_frame() -> None:
    frame = bytearray(CLASSIC)
    records = decode_produce(7, memoryview(frame)).topics[0].partitions[0][1]
    assert records is not None
    records[0] = 0x11
    assert frame == CLASSIC.replace(b"\xaa\xbb\xcc", b"\x11\xbb\xcc")


def test_tags_are_skipped_at_every_level() -> None:
    tags = "01 05 02 abcd"
    frame = bytes.fromhex(f"00 ffff 00000bb8 02 02 74 02 00000000 04 aabbcc {tags} {tags} {tags}")
    request = decode_produce(9, memoryview(frame))
    assert topics_of(request) == [("t", None, [(0, b"\xaa\xbb\xcc")])]


@pytest.mark.parametrize(
    ("version", "frame"), [(3, CLASSIC), (8, CLASSIC), (9, FLEXIBLE), (12, FLEXIBLE), (13, BY_ID)]
)
def test_only_a_whole_frame_is_accepted(version: int, frame: bytes) -> None:
    for cut in range(len(frame)):
        with pytest.raises(ProtocolError):
            decode_produce(version, memoryview(frame)[:cut])
    # Kafka passes over what stands behind a request, and librdkafka has sent such bytes.
    assert decode_produce(version, memoryview(frame + b"\0")) == decode_produce(
        version, memoryview(frame)
    )


@pytest.mark.parametrize("version", [-1, 0, 2, 14])
def test_other_versions_are_refused(version: int) -> None:
    with pytest.raises(ProtocolError, match="not supported"):
        decode_produce(version, memoryview(CLASSIC))


@pytest.mark.parametrize(
    ("version", "frame"),
    [
        (3, "ffff ffff 00000bb8 ffffffff"),  # topics are null
        (3, "ffff ffff 00000bb8 00000001 ffff 00000000"),  # a topic name is null
        (3, "ffff ffff 00000bb8 00000001 0001 74 ffffffff"),  # partitions are null
        (3, "ffff ffff 00000bb8 7fffffff"),  # more topics than bytes
        (3, "ffff ffff 00000bb8 00000001 0001 74 00000001 00000000 00000001"),  # records are cut
        (9, "00 ffff 00000bb8 02 02 74 02 00000000 09 00 00"),  # records are cut
        (9, "00 ffff 00000bb8 00 00"),  # topics are null
        (9, "00 ffff 00000bb8 02 00 01 00 00"),  # a topic name is null
        (9, "00 ffff 00000bb8 02 02 74 00 00 00"),  # partitions are null
        (9, "00 ffff 00000bb8 ffffffff0f"),  # more topics than bytes
        (9, "00 ffff 00000bb8 02 02 74 ffffffff0f"),  # more partitions than bytes
    ],
)
def test_malformed_requests_are_refused(version: int, frame: str) -> None:
    with pytest.raises(ProtocolError):
        decode_produce(version, memoryview(bytes.fromhex(frame)))


@pytest.mark.parametrize(
    ("version", "frame"),
    [
        (3, "0001 ff ffff 00000bb8 00000001 0001 ff 00000001 00000000 ffffffff"),
        (3, "0001 ff ffff 00000bb8 00000002" + "0001 ff 00000001 00000000 ffffffff" * 2),
        (9, "02 ff ffff 00000bb8 02 02 ff 02 00000000 00 00 00 00"),
    ],
)
def test_names_that_are_no_utf_8_are_read_as_java_does(version: int, frame: str) -> None:
    request = decode_produce(version, memoryview(bytes.fromhex(frame)))
    assert request.transactional_id == "\ufffd"
    assert {topic.name for topic in request.topics} == {"\ufffd"}


@pytest.mark.parametrize("version", [3, 9])
def test_number_of_partitions_is_bounded(version: int) -> None:
    count = MAX_ARRAY_ELEMENTS + 1
    if version == 3:
        head = bytes.fromhex("ffff ffff 00000bb8 00000001 0001 74") + count.to_bytes(4, "big")
        frame = head + bytes.fromhex("00000000 ffffffff") * count
    else:
        head = bytes.fromhex("00 ffff 00000bb8 02 02 74") + encode_uvarint(count + 1)
        frame = head + bytes(6) * count + bytes(2)
    with pytest.raises(ProtocolError, match="array elements"):
        decode_produce(version, memoryview(frame))


def test_response_of_every_encoding() -> None:
    topics = [ProduceTopicResponse("t", TOPIC_ID, [ProducePartitionResponse(1, 0, 100, -1, 5)])]
    partition = "00000001 0000 0000000000000064 ffffffffffffffff"
    expected = {
        3: f"00000007 00000001 0001 74 00000001 {partition} 00000000",
        5: f"00000007 00000001 0001 74 00000001 {partition} 0000000000000005 00000000",
        8: f"00000007 00000001 0001 74 00000001 {partition} 0000000000000005 00000000 ffff 00000000",
        9: f"00000007 00 02 02 74 02 {partition} 0000000000000005 01 00 00 00 00000000 00",
        13: f"00000007 00 02 {TOPIC_ID.hex} 02 {partition} 0000000000000005 01 00 00 00 00000000 00",
    }
    for version, encoded in expected.items():
        assert completed(encode_produce_response(version, 7, topics)) == bytes.fromhex(encoded)


@pytest.mark.parametrize("version", range(3, 14))
def test_response_for_one_batch_is_the_same_encoded_at_once(version: int) -> None:
    # A name that holds what the fields of a partition are encoded as: their place is still found.
    names = ["t", "t" * 249, "\0" * 6 + "\x7f" * 24, "orders"]
    topic_id = TOPIC_ID if version >= 13 else None
    for number, name in enumerate(names * 2):
        topic = ProduceTopic("" if topic_id else name, topic_id, [])
        partition = ProducePartitionResponse(number, 0, 1 << number, 1000 - number, -number)
        topics = [ProduceTopicResponse(name, topic_id, [partition])]
        whole = completed(encode_produce_response(version, 70 + number, topics))
        encoded = encode_appended(version, 70 + number, topic, partition)
        assert encoded == len(whole).to_bytes(4, "big") + whole


def test_refused_records_are_told_one_by_one() -> None:
    """KIP-467."""
    refused = ProducePartitionResponse(
        1,
        ErrorCode.INVALID_RECORD,
        record_errors=[RecordError(3, "no key"), RecordError(4)],
        error_message="bad",
    )
    topics = [ProduceTopicResponse("t", None, [refused])]
    partition = "00000001 0057" + "ffffffffffffffff" * 3
    assert completed(encode_produce_response(8, 7, topics, throttle_time_ms=9)) == bytes.fromhex(
        f"00000007 00000001 0001 74 00000001 {partition}"
        "00000002 00000003 0006 6e6f206b6579 00000004 ffff 0003 626164 00000009"
    )
    assert completed(encode_produce_response(9, 7, topics, throttle_time_ms=9)) == bytes.fromhex(
        f"00000007 00 02 02 74 02 {partition}"
        "03 00000003 07 6e6f206b6579 00 00000004 00 00 04 626164 00 00 00000009 00"
    )


def test_new_leader_is_told_from_version_10_on() -> None:
    """KIP-951."""
    moved = ProducePartitionResponse(
        1, ErrorCode.NOT_LEADER_OR_FOLLOWER, current_leader=CurrentLeader(2, 8)
    )
    topics = [ProduceTopicResponse("t", None, [moved])]
    endpoints = [NodeEndpoint(2, "h", 9092)]
    partition = "00000001 0006" + "ffffffffffffffff" * 3 + "01 00"
    leader, nodes = "01 00 09 00000002 00000008 00", "01 00 0d 02 00000002 02 68 00002384 00 00"
    assert completed(
        encode_produce_response(10, 7, topics, node_endpoints=endpoints)
    ) == bytes.fromhex(f"00000007 00 02 02 74 02 {partition} {leader} 00 00000000 {nodes}")
    assert completed(
        encode_produce_response(9, 7, topics, node_endpoints=endpoints)
    ) == bytes.fromhex(f"00000007 00 02 02 74 02 {partition} 00 00 00000000 00")


def many(version: int, topics: int, partitions: int) -> memoryview:
    """The body of a request of so many topics, each of so many partitions without records."""
    topic = messages.ProduceRequest.TopicProduceData
    request = messages.ProduceRequest(
        acks=-1,
        topic_data=[
            topic(
                name="t",
                topic_id=TOPIC_ID,
                partition_data=[topic.PartitionProduceData(index=it) for it in range(partitions)],
            )
            for _ in range(topics)
        ],
    )
    header = RequestHeader(int(ApiKey.PRODUCE), version, 1, "")
    frame = memoryview(messages.encode_request(request, header))
    return frame[parse_request_header(frame)[1] :]


@pytest.mark.parametrize("version", [8, 12, 13])
@pytest.mark.parametrize(("topics", "partitions"), [(2_000, 0), (1_000, 1), (1, 2_000)])
def test_what_names_many_partitions_is_decoded_in_steps(
    version: int, topics: int, partitions: int
) -> None:
    """60,000 topics at once held the loop for half a second."""
    body = many(version, topics, partitions)
    assert decode_one_batch(version, body) is None
    steps = [*decode_produce_steps(version, body)]
    elements = topics * (1 + partitions)
    assert len(steps) >= elements // STEP_ELEMENTS - 1
    assert len(decode_produce(version, body).topics) == topics


@pytest.mark.parametrize("version", [8, 12, 13])
def test_one_batch_is_decoded_without_steps(version: int) -> None:
    found = decode_one_batch(version, one_batch(version))
    assert found == decode_produce(version, one_batch(version))
    assert found is not None
    assert found.topics[0].partitions == [(3, b"abc")]


def one_batch(version: int) -> memoryview:
    """The body of a request with three bytes for one partition."""
    topic = messages.ProduceRequest.TopicProduceData
    data = topic.PartitionProduceData(index=3, records=b"abc")
    request = messages.ProduceRequest(
        acks=-1, topic_data=[topic(name="t", topic_id=TOPIC_ID, partition_data=[data])]
    )
    frame = memoryview(
        messages.encode_request(request, RequestHeader(int(ApiKey.PRODUCE), version, 1, ""))
    )
    return frame[parse_request_header(frame)[1] :]
