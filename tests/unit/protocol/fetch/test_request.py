"""Fetch requests by hand: known bytes and what is refused.

That all versions agree with the message classes is in tests/property/test_protocol_fast_paths.py.
"""

from uuid import UUID

import pytest

from headrace.protocol.errors import ProtocolError
from headrace.protocol.fetch.request import (
    MAX_FETCH_ELEMENTS,
    STEP_ELEMENTS,
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    decode_fetch,
    decode_fetch_steps,
)
from headrace.protocol.primitives import encode_uvarint
from tests.unit.counted_steps import counted

TOPIC_ID = UUID(int=7)
ID = TOPIC_ID.hex
HEAD = "000001f4 00000001 00100000 01"  # wait 500 ms for 1 byte, at most 1 MiB, read committed
V4 = bytes.fromhex(f"ffffffff {HEAD} 00000001 0001 74 00000001 00000002 0000000000000064 00010000")
V5 = bytes.fromhex(
    f"ffffffff {HEAD} 00000001 0001 74 0000000100000002 0000000000000064 ffffffffffffffff 00010000"
)
V11 = bytes.fromhex(
    f"ffffffff {HEAD} 00000009 00000003 00000001 0001 74 00000001"
    "00000002 00000006 0000000000000064 ffffffffffffffff 00010000"
    "00000001 0001 75 00000002 00000001 00000003 0001 72"
)
PARTITION = "00000002 00000006 0000000000000064 00000005 ffffffffffffffff 00010000"
V12 = bytes.fromhex(
    f"ffffffff {HEAD} 00000009 00000003 02 02 74 02 {PARTITION} 00 00"
    "02 02 75 03 00000001 00000003 00 02 72 00"
)
V17 = bytes.fromhex(
    f"{HEAD} 00000000 ffffffff 02 {ID} 02 {PARTITION} 00 00 02 {ID} 02 00000001 00 01 00"
)


def test_version_4() -> None:
    assert decode_fetch(4, memoryview(V4)) == FetchRequest(
        replica_id=-1,
        max_wait_ms=500,
        min_bytes=1,
        max_bytes=1 << 20,
        isolation_level=1,
        session_id=0,
        session_epoch=-1,
        topics=[FetchTopic("t", None, [FetchPartition(2, -1, 100, -1, -1, 65536)])],
        forgotten=[],
        rack_id="",
        cluster_id=None,
    )


def test_version_5_adds_the_log_start_offset() -> None:
    assert decode_fetch(5, memoryview(V5)) == decode_fetch(4, memoryview(V4))


def test_version_11_has_session_epoch_and_rack() -> None:
    request = decode_fetch(11, memoryview(V11))
    assert (request.session_id, request.session_epoch, request.rack_id) == (9, 3, "r")
    assert request.topics == [FetchTopic("t", None, [FetchPartition(2, 6, 100, -1, -1, 65536)])]
    assert request.forgotten == [ForgottenTopic("u", None, [1, 3])]


def test_version_12_is_flexible() -> None:
    request = decode_fetch(12, memoryview(V12))
    assert (request.session_id, request.session_epoch, request.rack_id) == (9, 3, "r")
    assert request.topics == [FetchTopic("t", None, [FetchPartition(2, 6, 100, 5, -1, 65536)])]
    assert request.forgotten == [ForgottenTopic("u", None, [1, 3])]


def test_version_17_goes_by_topic_id_and_has_no_replica_id() -> None:
    request = decode_fetch(17, memoryview(V17))
    assert request.replica_id == -1
    assert request.topics == [FetchTopic("", TOPIC_ID, [FetchPartition(2, 6, 100, 5, -1, 65536)])]
    assert request.forgotten == [ForgottenTopic("", TOPIC_ID, [1])]


def test_tags_of_a_follower() -> None:
    """KIP-595, KIP-903, KIP-853: cluster id, replica state, directory id of a partition."""
    state = "01 0d 00000004 0000000000000009 00"
    frame = bytes.fromhex(
        f"{HEAD} 00000000 ffffffff 02 {ID} 03"
        f"{PARTITION} 01 00 10 {ID} {PARTITION} 00 00 01 01"
        f"02 00 04 616263 {state}"
    )
    with pytest.raises(ProtocolError):  # the compact string in tag 0 says 3 bytes of 4
        decode_fetch(17, memoryview(frame))
    frame = bytes.fromhex(
        f"{HEAD} 00000000 ffffffff 02 {ID} 03"
        f"{PARTITION} 01 00 10 {ID} {PARTITION} 00 00 01 01"
        f"02 00 04 04616263 {state}"
    )
    request = decode_fetch(17, memoryview(frame))
    assert (request.cluster_id, request.replica_id) == ("abc", 4)
    assert len(request.topics[0].partitions) == 2
    assert request.topics[0].partitions[0] == request.topics[0].partitions[1]


def test_cluster_id_of_version_12() -> None:
    request = decode_fetch(12, memoryview(V12[:-1] + bytes.fromhex("01 00 04 04616263")))
    assert (request.cluster_id, request.replica_id) == ("abc", -1)


@pytest.mark.parametrize(
    ("version", "frame"),
    [(4, V4), (5, V5), (6, V5), (9, V11[:-3]), (11, V11), (12, V12), (17, V17), (18, V17)],
)
def test_only_a_whole_frame_is_accepted(version: int, frame: bytes) -> None:
    decode_fetch(version, memoryview(frame))
    for cut in range(len(frame)):
        with pytest.raises(ProtocolError):
            decode_fetch(version, memoryview(frame)[:cut])
    # Kafka passes over what stands behind a request, and librdkafka has sent such bytes.
    assert decode_fetch(version, memoryview(frame + b"\0")) == decode_fetch(
        version, memoryview(frame)
    )


@pytest.mark.parametrize("version", [-1, 0, 3, 19])
def test_other_versions_are_refused(version: int) -> None:
    with pytest.raises(ProtocolError, match="not supported"):
        decode_fetch(version, memoryview(V4))


@pytest.mark.parametrize(
    ("version", "frame"),
    [
        (4, f"ffffffff {HEAD} ffffffff"),  # topics are null
        (4, f"ffffffff {HEAD} 00000001 ffff 00000000"),  # a topic name is null
        (4, f"ffffffff {HEAD} 00000001 0001 74 ffffffff"),  # partitions are null
        (4, f"ffffffff {HEAD} 7fffffff"),  # more topics than bytes
        (7, f"ffffffff {HEAD} 00000000 ffffffff 00000000 ffffffff"),  # forgotten topics are null
        (12, f"ffffffff {HEAD} 00000000 ffffffff 00 01 01 00"),  # topics are null
        (12, f"ffffffff {HEAD} 00000000 ffffffff 02 00 01 00 01 01 00"),  # a topic name is null
        (12, f"ffffffff {HEAD} 00000000 ffffffff 01 01 00 00"),  # rack is null
        (12, f"ffffffff {HEAD} 00000000 ffffffff ffffffff0f 01 01 00"),  # more topics than bytes
    ],
)
def test_malformed_requests_are_refused(version: int, frame: str) -> None:
    with pytest.raises(ProtocolError):
        decode_fetch(version, memoryview(bytes.fromhex(frame)))


@pytest.mark.parametrize("version", [4, 12])
def test_number_of_partitions_is_bounded(version: int) -> None:
    count = MAX_FETCH_ELEMENTS + 1
    if version == 4:
        head = V4[:24] + count.to_bytes(4, "big")
        frame = head + bytes(16) * count
    else:
        head = bytes.fromhex(f"ffffffff {HEAD} 00000000 ffffffff 02 02 74")
        frame = head + encode_uvarint(count + 1) + bytes(33) * count + bytes.fromhex("00 01 01 00")
    with pytest.raises(ProtocolError, match="array elements"):
        decode_fetch(version, memoryview(frame))


@pytest.mark.parametrize("version", [11, 12, 17])
@pytest.mark.parametrize("shape", [(1, 3 * STEP_ELEMENTS), (3 * STEP_ELEMENTS, 1), (900, 0)])
@pytest.mark.parametrize("part", ["wanted", "forgotten"])
def test_a_long_request_is_decoded_in_steps(
    version: int, shape: tuple[int, int], part: str
) -> None:
    topics, partitions = shape
    flexible, by_id = version >= 12, version >= 13
    one = bytes(4) if part == "forgotten" else bytes(33 if flexible else 28)
    count = encode_uvarint(partitions + 1) if flexible else partitions.to_bytes(4, "big")
    name = bytes(16) if by_id else b"\2t" if flexible else b"\0\1t"
    elements = (name + count + one * partitions + bytes(flexible)) * topics
    of_topics = encode_uvarint(topics + 1) if flexible else topics.to_bytes(4, "big")
    none = b"\1" if flexible else bytes(4)
    head = bytes(25 if version < 15 else 21)
    listed = of_topics + elements
    body = head + (listed + none if part == "wanted" else none + listed)
    body += b"\1\0" if flexible else bytes(2)
    request, steps = counted(decode_fetch_steps(version, memoryview(body)))
    decoded = request.topics if part == "wanted" else request.forgotten
    assert [len(topic.partitions) for topic in decoded] == [partitions] * topics
    if part == "wanted" or topics > 1:  # the numbers of one topic to forget are a step
        assert steps >= 2


def test_a_name_that_is_no_utf_8_is_read_as_java_does() -> None:
    request = decode_fetch(
        4, memoryview(bytes.fromhex(f"ffffffff {HEAD} 00000001 0001 ff 00000000"))
    )
    assert [topic.name for topic in request.topics] == ["\ufffd"]
