"""Fetch responses by hand: known bytes, and records that are handed on as they are.

That all versions agree with the message classes is in tests/property/test_protocol_fast_paths.py.
"""

from uuid import UUID

from headrace.protocol.errors import ErrorCode
from headrace.protocol.fetch.response import (
    COPIED_BYTES,
    AbortedTransaction,
    EpochEndOffset,
    FetchPartitionResponse,
    FetchTopicResponse,
    SnapshotId,
    encode_fetch_response,
)
from headrace.protocol.leader_discovery import CurrentLeader, NodeEndpoint

TOPIC_ID = UUID(int=7)


def encode(version: int, *partitions: FetchPartitionResponse, endpoints: tuple = ()) -> bytes:
    topics = [FetchTopicResponse("t", TOPIC_ID, [*partitions])]
    frame = b"".join(encode_fetch_response(version, 3, 0, 0, 9, topics, endpoints))
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    return frame[4:]


def test_every_encoding() -> None:
    partition = FetchPartitionResponse(2, 0, 100, 90, 5, records=[b"abc", b"de"])
    offsets = "00000002 0000 0000000000000064 000000000000005a"
    start = "0000000000000005"
    expected = {
        4: f"00000003 00000000 00000001 0001 74 00000001 {offsets} ffffffff 00000005",
        5: f"00000003 00000000 00000001 0001 74 00000001 {offsets} {start} ffffffff 00000005",
        7: "00000003 00000000 0000 00000009 00000001 0001 74 00000001"
        f"{offsets} {start} ffffffff 00000005",
        11: "00000003 00000000 0000 00000009 00000001 0001 74 00000001"
        f"{offsets} {start} ffffffff ffffffff 00000005",
        12: f"00000003 00 00000000 0000 00000009 02 02 74 02{offsets} {start} 00 ffffffff 06",
        13: f"00000003 00 00000000 0000 00000009 02 {TOPIC_ID.hex} 02"
        f"{offsets} {start} 00 ffffffff 06",
    }
    for version, encoded in expected.items():
        end = "00 00 00" if version >= 12 else ""
        expected_bytes = bytes.fromhex(encoded) + b"abcde" + bytes.fromhex(end)
        assert encode(version, partition) == expected_bytes


def test_small_records_take_no_buffers_of_their_own() -> None:
    """Each buffer costs the socket more than the copy."""
    small = FetchPartitionResponse(2, records=[memoryview(bytes(COPIED_BYTES // 2))] * 2)
    topics = [FetchTopicResponse("t", None, [small] * 10)]
    for version in (4, 11, 12, 18):
        assert len(encode_fetch_response(version, 3, 0, 0, 0, topics)) == 1


def test_records_are_not_copied() -> None:
    batches = [memoryview(bytes(COPIED_BYTES)), memoryview(b"second")]
    partition = FetchPartitionResponse(2, records=batches)
    topics = [FetchTopicResponse("t", None, [partition, partition])]
    for version in (4, 11, 12, 18):
        buffers = encode_fetch_response(version, 3, 0, 0, 0, topics)
        assert [b for b in buffers if isinstance(b, memoryview)] == batches * 2
        assert all(any(b is batch for b in buffers) for batch in batches)


def test_records_may_be_empty_or_null() -> None:
    for version, empty, null in ((4, "00000000", "ffffffff"), (12, "01 00 00 00", "00 00 00 00")):
        assert encode(version, FetchPartitionResponse(2)).endswith(bytes.fromhex(empty))
        without = FetchPartitionResponse(2, records=None)
        assert encode(version, without).endswith(bytes.fromhex(null))


def test_aborted_transactions_are_an_array_or_null() -> None:
    partition = FetchPartitionResponse(2, aborted_transactions=[AbortedTransaction(8, 50)])
    pair = "0000000000000008 0000000000000032"
    for version, end in (
        (4, f"00000001 {pair} 00000000"),
        (5, f"00000001 {pair} 00000000"),
        (11, f"00000001 {pair} ffffffff 00000000"),
        (12, f"02 {pair} 00 ffffffff 01 00 00 00"),
    ):
        assert encode(version, partition).endswith(bytes.fromhex(end))
    none_aborted = FetchPartitionResponse(2, aborted_transactions=[])
    assert encode(11, none_aborted).endswith(bytes.fromhex("00000000 ffffffff 00000000"))


def test_tags_of_a_partition_stand_behind_its_records() -> None:
    partition = FetchPartitionResponse(
        2,
        ErrorCode.FENCED_LEADER_EPOCH,
        records=[b"abc"],
        diverging_epoch=EpochEndOffset(4, 70),
        current_leader=CurrentLeader(1, 6),
        snapshot_id=SnapshotId(60, 3),
    )
    tags = (
        "03 00 0d 00000004 0000000000000046 00"
        "01 09 00000001 00000006 00"
        "02 0d 000000000000003c 00000003 00"
    )
    nodes = "01 00 0d 02 00000001 02 68 00002384 00 00"
    endpoints = (NodeEndpoint(1, "h", 9092),)
    encoded = encode(16, partition, endpoints=endpoints)
    assert encoded.endswith(b"abc" + bytes.fromhex(f"{tags} 00 {nodes}"))
    # Node endpoints came later than the other tags.
    encoded = encode(15, partition, endpoints=endpoints)
    assert encoded.endswith(b"abc" + bytes.fromhex(f"{tags} 00 00"))
    assert encode(11, partition, endpoints=endpoints).endswith(b"abc")


def test_each_tag_of_a_partition_may_stand_alone() -> None:
    for partition, tag in (
        (FetchPartitionResponse(2, diverging_epoch=EpochEndOffset(4, 70)), "00 0d"),
        (FetchPartitionResponse(2, current_leader=CurrentLeader(1, 6)), "01 09"),
        (FetchPartitionResponse(2, snapshot_id=SnapshotId(60, 3)), "02 0d"),
    ):
        assert bytes.fromhex(f"01 {tag}") in encode(12, partition)


def test_failed_session_has_no_topics() -> None:
    """KIP-227: the error is at the top level."""
    buffers = encode_fetch_response(7, 3, 0, ErrorCode.FETCH_SESSION_ID_NOT_FOUND, 0, [])
    assert b"".join(buffers) == bytes.fromhex("00000012 00000003 00000000 0046 00000000 00000000")
