"""A client's Fetch: requests that a broker decodes, and answers as a broker encodes them."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.protocol.errors import ErrorCode, ProtocolError
from headrace.protocol.fetch.client import (
    FETCH_VERSION,
    decode_fetch_response,
    encode_fetch_request,
)
from headrace.protocol.fetch.request import FetchPartition, FetchTopic, decode_fetch
from headrace.protocol.fetch.response import (
    AbortedTransaction,
    FetchPartitionResponse,
    FetchTopicResponse,
    encode_fetch_response,
)
from headrace.protocol.headers import parse_response_header
from headrace.protocol.leader_discovery import CurrentLeader

TOPIC_ID = UUID(int=7)


def answer(*partitions: FetchPartitionResponse, error_code: int = 0) -> memoryview:
    topics = [FetchTopicResponse("t", TOPIC_ID, [*partitions])] if partitions else []
    buffers = encode_fetch_response(FETCH_VERSION, 3, 0, error_code, 0, topics)
    payload = memoryview(b"".join(buffers))[4:]
    return payload[parse_response_header(1, FETCH_VERSION, payload)[1] :]


def test_a_broker_reads_the_request() -> None:
    body = encode_fetch_request(
        TOPIC_ID, 5, 1 << 40, isolation_level=1, max_wait_ms=20, max_bytes=30
    )
    found = decode_fetch(FETCH_VERSION, memoryview(body))
    assert found.topics == [FetchTopic("", TOPIC_ID, [FetchPartition(5, -1, 1 << 40, -1, -1, 30)])]
    assert (found.replica_id, found.session_id, found.session_epoch) == (-1, 0, -1)
    assert (found.max_wait_ms, found.min_bytes, found.max_bytes) == (20, 1, 30)
    assert (found.isolation_level, found.forgotten, found.rack_id) == (1, [], "")


OFFSETS = st.integers(-1, 2**63 - 1)
ABORTED = st.lists(st.builds(AbortedTransaction, OFFSETS, OFFSETS), max_size=3)


@given(st.sampled_from(ErrorCode), OFFSETS, OFFSETS, OFFSETS, st.none() | ABORTED, st.binary())
def test_the_answer_of_a_broker_is_read(
    error: ErrorCode,
    high: int,
    stable: int,
    start: int,
    aborted: list[AbortedTransaction] | None,
    records: bytes,
) -> None:
    leader = CurrentLeader(1, 2) if error else None
    sent = FetchPartitionResponse(
        5, int(error), high, stable, start, aborted, records=[records], current_leader=leader
    )
    found = decode_fetch_response(answer(sent))
    assert (found.error_code, found.high_watermark) == (error, high)
    assert (found.last_stable_offset, found.log_start_offset) == (stable, start)
    assert found.aborted == tuple(aborted or ())
    assert found.records == records


def test_no_records_may_be_null() -> None:
    assert decode_fetch_response(answer(FetchPartitionResponse(0, records=None))).records == b""


def test_an_error_of_the_whole_request() -> None:
    found = decode_fetch_response(answer(error_code=ErrorCode.UNKNOWN_TOPIC_ID))
    assert (found.error_code, found.records) == (ErrorCode.UNKNOWN_TOPIC_ID, b"")


def test_any_other_bytes_are_refused() -> None:
    whole = answer(FetchPartitionResponse(5, aborted_transactions=[(1, 2)], records=[b"abc"]))
    for size in range(len(whole)):
        with pytest.raises(ProtocolError):
            decode_fetch_response(whole[:size])
    with pytest.raises(ProtocolError, match="another number of topics"):
        decode_fetch_response(answer())
    two = answer(FetchPartitionResponse(5), FetchPartitionResponse(6))
    with pytest.raises(ProtocolError, match="another number of partitions"):
        decode_fetch_response(two)
